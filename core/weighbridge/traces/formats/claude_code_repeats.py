"""Removal of calls that lines of Claude Code's form repeat under other answer IDs, as iFlow CLI does while it streams."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import call_of, opened, result_in
from weighbridge.traces.fields import object_of, objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.chat.call_parts import Call


def calls_once(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines with each call once; an answer that repeats calls of the answer before it continues that answer.

    A call with a known ID is another call if it has other arguments, or if there is a further result for the ID.
    """
    results: Counter[str] = Counter()
    answers: dict[str, set[str | None]] = {}
    for line in lines:
        for kind, held in _blocks(line):
            if kind == "result":
                results[result_in(held, None).call_id or ""] += 1
            elif kind == "call":
                answers.setdefault(call_of(held).id or "", set()).add(_answer_id(line))
    repeated = {name for name, of in answers.items() if name and len(of) > max(1, results[name])}
    return list(_Repeats(repeated, results).without(lines)) if repeated else lines


def _blocks(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for block in objects_of(object_of(line.get("message")).get("content")):
        yield opened(block)


def _answer_id(line: dict[str, Any]) -> str | None:
    return string_of(object_of(line.get("message")).get("id"))


class _Repeats:
    def __init__(self, repeated: set[str], results: Counter[str]) -> None:
        self._repeated = repeated
        self._results = results
        self._counts: Counter[str] = Counter()  #: number of calls so far, by ID
        #: The last call with each ID, and the ID of its answer.
        self._asked: dict[str, tuple[str, Call]] = {}
        self._last: str | None = None  #: ID of the answer that may continue
        self._calls_of_last: set[str] = set()

    def without(self, lines: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the lines without repeated calls."""
        for line in lines:
            if line.get("type") == "assistant":
                if (kept := self._answer(line)) is not None:
                    yield kept
            else:
                if line.get("type") == "user":
                    self._last, self._calls_of_last = None, set()
                yield line

    def _answer(self, line: dict[str, Any]) -> dict[str, Any] | None:
        message, answer = object_of(line.get("message")), _answer_id(line)
        content = message.get("content")
        if answer is None or type(content) is not list:
            return line
        kept: list[Any] = []
        again: set[str] = set()
        calls: set[str] = set()
        for block in content:
            kind, held = opened(block) if type(block) is dict else ("", {})
            call = call_of(held) if kind == "call" else None
            if call is not None and call.id is not None:
                calls.add(call.id)
                if self._is_repeat(call, answer):
                    again.add(call.id)
                    continue
            kept.append(block)
        goes_on = not again.isdisjoint(self._calls_of_last)
        if goes_on and self._last is not None:
            answer = self._last
        if answer == self._last:
            self._calls_of_last |= calls
        else:
            self._last, self._calls_of_last = answer, calls
        if not again:
            return line
        if not kept:
            return None
        return {**line, "message": {**message, "id": answer, "content": kept}}

    def _is_repeat(self, call: Call, answer: str) -> bool:
        if call.id not in self._repeated:
            return False
        by, known = self._asked.get(call.id, (answer, None))
        if by != answer and call == known and self._counts[call.id] >= self._results[call.id]:
            return True
        self._counts[call.id] += 1
        self._asked[call.id] = (answer, call)
        return False

"""Sub-agents that Claude Code's lines mention, and whether the sub-agents' own lines are among them.

Old versions write a sub-agent's lines into the session's file, some as progress lines; newer versions write another file.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.traces.chat.call_parts import call_of, first_of, opened, result_in
from weighbridge.traces.fields import count_of, object_of, objects_of, string_of, word_of
from weighbridge.traces.formats.coding_agent_results import TOOL_USE_ERROR

if TYPE_CHECKING:
    from collections.abc import Iterator

_TOOLS = frozenset({"Task", "Agent"})
_STATED_CALLS = "totalToolUseCount"  #: the field with the number of a sub-agent's calls
#: Source of the number of a session's calls if some of them stand in other files.
SUM_OF_CALLS = f"the sum of the calls read and the further ones in {_STATED_CALLS}"
_TOKENS = "totalTokens"
_LAUNCHED = frozenset({"async_launched", "forked"})


class Unread(NamedTuple):
    """Numbers of sub-agents and calls that are not in the lines."""

    agents: int = 0
    calls: int | None = 0  #: number of their tool calls that are not in the lines; None if unknown


def callers_of(lines: list[dict[str, Any]]) -> dict[str, str]:
    """Return the calls that started sub-agents, by sub-agent ID: the result names the ID, or the prompt is the same."""
    callers: dict[str, str] = {}
    asked: dict[str, set[str]] = {}  #: IDs of calls, by prompt
    began: dict[str, str] = {}  #: prompts of sub-agents, by ID
    for line in lines:
        name = string_of(_stated_in(line).get("agentId"))
        own_id = string_of(line.get("agentId")) if line.get("isSidechain") is True else None
        if own_id and line.get("type") == "user":
            began.setdefault(own_id, _text_of(object_of(line.get("message"))))
        for kind, block in _blocks_of(line):
            if kind == "result" and name and (call_id := result_in(block, None).call_id):
                callers.setdefault(name, call_id)
            elif kind == "call" and (call := call_of(block)).id and call.name in _TOOLS:
                prompt = string_of(object_of(call.arguments).get("prompt"))
                asked.setdefault(prompt or "", set()).add(call.id)
    uses = Counter(began.values())
    named = set(callers.values())
    for own_id, prompt in began.items():
        calls = asked.get(prompt, set())
        if prompt and len(calls) == uses[prompt] == 1 and named.isdisjoint(calls):
            callers.setdefault(own_id, *calls)
    return callers


class SubAgents:
    """Collector of the sub-agents in a session's lines."""

    def __init__(self) -> None:
        #: Recorded data of sub-agents, by the call that started them.
        self._started: dict[str, dict[str, Any]] = {}
        self._asked: set[str] = set()  #: IDs of calls of tools that start a sub-agent
        #: IDs of the calls in a sub-agent's lines, by the ID in these lines: the starting call's or the sub-agent's.
        self._calls: dict[str | None, set[str]] = {}

    def read(self, line: dict[str, Any]) -> None:
        """Read a line with a message."""
        is_inner = line.get("isSidechain") is True
        own_id = string_of(line.get("agentId")) if is_inner else None
        names = [*filter(None, (string_of(line.get("parent_tool_use_id")), own_id))]
        if line["type"] == "assistant":
            for name in names:
                self._calls.setdefault(name, set())
            if is_inner and not names:
                self._calls.setdefault(None, set())
        stated, caller = _stated_in(line), self.caller_in(line)
        for kind, block in _blocks_of(line):
            if kind == "call":
                self._call(block, names)
            elif kind == "result":
                call_id = result_in(block, None).call_id
                self._result(block, call_id, stated if caller in {None, call_id} else {})

    def _call(self, block: dict[str, Any], names: list[str]) -> None:
        call = call_of(block)
        if call.id is None:
            return
        for name in names:
            self._calls.setdefault(name, set()).add(call.id)
        if call.name in _TOOLS:
            self._asked.add(call.id)
            self._started.setdefault(call.id, {})

    def _result(self, block: dict[str, Any], call_id: str | None, stated: dict[str, Any]) -> None:
        if call_id and (count_of(stated.get(_STATED_CALLS)) is not None or _is_launched(stated)):
            self._started[call_id] = stated
        elif call_id in self._started and _was_refused(block):
            del self._started[call_id]

    def caller_in(self, line: dict[str, Any]) -> str | None:
        """Return the first call among a line's results that started a sub-agent; the line's other data belong to it."""
        for kind, block in _blocks_of(line):
            call_id = result_in(block, None).call_id if kind == "result" else None
            if call_id and (
                call_id in self._calls or (call_id in self._asked and call_id in self._started)
            ):
                return call_id
        return None

    def unread(self) -> Unread:
        """Return the number of sub-agents with calls that are not in the lines, and the number of these calls."""
        agents, calls, is_stated = 0, 0, True
        for caller, stated in self._started.items():
            made, read = count_of(stated.get(_STATED_CALLS)), self._calls_of(caller)
            lacking = max(0, (made or 0) - len(read or ()))
            if read is None:
                is_whole = self.has_lines(caller) or stated.get(_TOKENS) == made == 0
            else:
                is_whole = lacking == 0
            if not is_whole:
                agents += 1
                calls += lacking
                is_stated = is_stated and made is not None
        return Unread(agents, calls if is_stated else None)

    def has_lines(self, caller: str) -> bool:
        """Return whether some lines are of the sub-agent that a call started, or may be: old lines do not name it."""
        is_unnamed = "agentId" not in self._started.get(caller, {})
        return self._calls_of(caller) is not None or (is_unnamed and None in self._calls)

    def _calls_of(self, caller: str) -> set[str] | None:
        """Return the ids of the calls in a sub-agent's lines; None if no line names the sub-agent."""
        own_id = string_of(self._started.get(caller, {}).get("agentId"))
        found = self._calls.get(caller)
        return self._calls.get(own_id) if found is None and own_id else found


def _stated_in(line: dict[str, Any]) -> dict[str, Any]:
    return object_of(first_of(line, ("toolUseResult", "tool_use_result")))


def _blocks_of(line: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    content = object_of(line.get("message")).get("content")
    for block in objects_of([content] if type(content) is dict else content):
        yield opened(block)


def _text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, or of its first part."""
    content = message.get("content")
    parts = objects_of(content)
    return string_of(parts[0].get("text") if parts else content) or ""


def _is_launched(stated: dict[str, Any]) -> bool:
    """Return whether a result, without totals, says that an agent runs in the background or ran a skill."""
    return word_of(stated.get("status")) in _LAUNCHED and type(stated.get("agentId")) is str


def _was_refused(block: dict[str, Any]) -> bool:
    """Return whether a result says that a call was not run, so that no agent was started."""
    return block.get("is_error") is True and _text_of(block).startswith(TOOL_USE_ERROR)

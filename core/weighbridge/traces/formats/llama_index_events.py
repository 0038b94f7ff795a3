"""Events of LlamaIndex's agent workflows, as `stream_events()` yields them: each `model_dump()`, alone, typed or with its name.

The events leave out the model's raw answer, which has its tokens.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.llama_index import with_content
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    content_of,
    missing_of,
    object_of,
    objects_of,
    parse_arguments,
    read_usage,
    string_of,
    word_of,
)
from weighbridge.traces.importer import Importer, objects_in
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

_LOOKED_AT = 20
#: Keys of the events by their kinds; the first kind of which an event has all keys is its own.
_KINDS = {
    "result": frozenset({"tool_name", "tool_id", "tool_output"}),
    "call": frozenset({"tool_name", "tool_id", "tool_kwargs"}),
    "piece": frozenset({"delta", "response", "current_agent_name"}),
    "answer": frozenset({"response", "current_agent_name"}),
    "input": frozenset({"input", "current_agent_name"}),
    "stop": frozenset({"result"}),
}
_HOLDERS = ("value", "data")  #: of JsonSerializer, and of those who write the name beside the event
_TYPED = "qualified_name"
_NAMES = ("event", "type", "event_type", "name")
_REASONS: dict[Capability, str] = {
    "token_usage": "events of LlamaIndex's agents leave out `raw`, which has the tokens of an answer",
    "timing": "events of LlamaIndex's agents have no times",
    "cost": "events of LlamaIndex's agents have no cost",
    "tool_definitions": "events of LlamaIndex's agents do not list the tools that were offered",
}


def _event(value: Any) -> dict[str, Any]:
    """Return an event without its wrapper; empty for a value that is no object."""
    held = object_of(value)
    for holder in _HOLDERS:
        inner = held.get(holder)
        if type(inner) is dict and (_TYPED in held or any(map(held.get, _NAMES))):
            return inner
    return held


def _kind(event: dict[str, Any]) -> str:
    return next((kind for kind, keys in _KINDS.items() if keys <= event.keys()), "")


def _is_input(value: Any) -> bool:
    event = _event(value)
    return _kind(event) == "input" and type(event["input"]) is list


def _matches(value: Any) -> bool:
    if type(value) is not list or not value or not _kind(_event(value[0])):
        return False
    kinds = [_kind(_event(item)) for item in value[:_LOOKED_AT]]
    return all(kinds) and ("input" in kinds or {"call", "result"} <= set(kinds))


def _read(value: list[Any]) -> list[Trace]:
    reader = _Reader()
    for event in map(_event, objects_in(value, "event")):
        reader.take(event)
    steps = tuple(reader.steps)
    return [
        Trace(
            id=None,
            steps=steps,
            format="llama-index-events",
            missing=missing_of(steps, _REASONS),
            not_carried=reader.notes.summaries(),
        )
    ]


class _Reader:
    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.notes = Notes()
        self._ids = StepIds()
        self._begins = True  #: whether the next input is the first of a run
        self._asked_by: str | None = None
        #: Indices of the calls without a result, by their IDs, which some models' calls share.
        self._waiting: defaultdict[str, list[int]] = defaultdict(list)

    def take(self, event: dict[str, Any]) -> None:
        kind = _kind(event)
        if kind == "input" and self._begins:
            self._input(objects_of(event["input"]))
        elif kind == "answer":
            self._answer(event)
        elif kind == "call":
            self._call(event)
        elif kind == "result":
            self._result(event)
        elif kind == "stop":
            self._begins = True
            self._waiting.clear()
        elif not kind:
            self.notes.add_fields(event, frozenset(), "event")

    def _add(self, step_id: Any, **fields: Any) -> str:
        name = self._ids.take(step_id, len(self.steps) + 1)
        self.steps.append(Step(id=name, **fields))
        return name

    def _input(self, messages: list[dict[str, Any]]) -> None:
        """Add the instructions and the last question; messages between them are of earlier runs."""
        said = with_content(messages)
        system = [each for each in said if each.get("role") == "system"]
        asked = [each for each in said if each.get("role") == "user"]
        if not self.steps:
            for message in system:
                self._add(None, type="system", output=self._text(message))
        for message in asked[-1:]:
            self._add(None, type="user", output=self._text(message))
        self._begins = False

    def _answer(self, event: dict[str, Any]) -> None:
        raw, [message] = object_of(event.get("raw")), with_content([object_of(event["response"])])
        self._asked_by = self._add(
            None,
            type="llm",
            name=string_of(event.get("current_agent_name")),
            output=self._text(message),
            model=string_of(raw.get("model")),
            usage=read_usage(raw.get("usage")),
        )

    def _text(self, message: dict[str, Any]) -> Any:
        content = message.get("content")
        if type(content) is list:
            content = [part for part in content if object_of(part).get("type") != "tool_call"]
        return content_of(content, self.notes) or None

    def _call(self, event: dict[str, Any]) -> None:
        call_id = word_of(event["tool_id"])
        self._waiting[call_id].append(len(self.steps))
        self._add(
            call_id,
            type="tool",
            parent_id=self._asked_by,
            name=string_of(event["tool_name"]),
            arguments=parse_arguments(event["tool_kwargs"]),
        )

    def _result(self, event: dict[str, Any]) -> None:
        output = object_of(event["tool_output"])
        call_id = word_of(event["tool_id"])
        if not self._waiting[call_id]:
            self._call({"tool_kwargs": None, **event})
        index = self._index_of(self._waiting[call_id], parse_arguments(event.get("tool_kwargs")))
        [message] = with_content([output])
        text = content_of(message.get("content"), self.notes)
        failed = output.get("is_error") is True
        error = (string_of(text) or "error") if failed else None
        self.steps[index] = structs.replace(self.steps[index], output=text, error=error)

    def _index_of(self, waiting: list[int], arguments: Any) -> int:
        """Return which of some calls of one ID has some arguments, or else the first; it waits no longer."""
        same = (each for each in waiting[:_LOOKED_AT] if self.steps[each].arguments == arguments)
        index = next(same, waiting[0])
        waiting.remove(index)
        return index


IMPORTER = Importer(
    id="llama-index-events",
    name="LlamaIndex agent events",
    matches=_matches,
    read=_read,
    is_line=_is_input,
    fields=(
        ("id of a tool call", "tool_id"),
        (
            "type",
            "AgentInput: the instructions and the last question of a run; AgentOutput is llm, ToolCall is tool",
        ),
        ("name", "current_agent_name, tool_name"),
        ("arguments", "tool_kwargs"),
        ("output", "response of AgentOutput; tool_output of ToolCallResult"),
        ("error", "is_error of the tool_output: its text"),
        ("model, usage", "raw of AgentOutput, if it was written"),
    ),
    lacks="times, cost and the tools offered; tokens and models, unless `raw` was written too",
    tried_on="events made with llama-index-core 0.14.25 and a scripted model",
)

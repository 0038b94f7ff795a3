"""Events of `astream_events` (v1 and v2) of LangChain and LangGraph: starts and ends of models and tools.

The streamed pieces of a model's answer are used only if no event has the whole answer.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.chat.chunked_messages import whole_messages
from weighbridge.traces.fields import id_of, object_of, read_usage, string_of, word_of
from weighbridge.traces.formats import langchain
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace
    from weighbridge.traces.spans.spans import Span

_LOOKED_AT = 20  #: number of events by which the format is recognised
_KINDS = {"chat_model": "llm", "llm": "llm", "tool": "tool", "retriever": "retriever"}
_KINDS |= dict.fromkeys(("chain", "prompt", "parser"), "chain")
_MOMENTS = frozenset({"start", "stream", "end", "error"})
_MODELS = ("model_name", "model", "model_id")
_UNREAD = "the events have answers as text, not as JSON: the calls in them cannot be read"


def _opened(item: Any) -> Any:
    """Return an event, taken out of the event in which a server sent it."""
    held = object_of(item).get("data")
    return held if type(held) is dict and "run_id" in held and "event" in held else item


def _kind(event: Any) -> tuple[str, str]:
    """Return the subject of an event, such as a model, and its moment, such as start or end; empty for other values."""
    name = word_of(object_of(event).get("event"))
    subject, _, moment = name.removeprefix("on_").rpartition("_")
    is_event = name.startswith("on_") and subject in _KINDS and moment in _MOMENTS
    return (subject, moment) if is_event else ("", "")


def _is_event(item: Any) -> bool:
    event = _opened(item)
    return (
        _kind(event) != ("", "")
        and type(event.get("run_id")) is str
        and type(event.get("data")) is dict
    )


def _matches(value: Any) -> bool:
    if type(value) is not list:
        return False
    return any(map(_is_event, value[:_LOOKED_AT])) and all(
        _is_event(item) or "event" in object_of(item) for item in value[:_LOOKED_AT]
    )


class _Call:
    """A call of a model, a tool or a chain, by its events."""

    def __init__(self, event: dict[str, Any], subject: str) -> None:
        self.id = event["run_id"]
        self.kind = _KINDS[subject]
        self.name = string_of(event.get("name"))
        above = event.get("parent_ids")
        self.above = [id_of(each) for each in above] if type(above) is list else []
        self.metadata = object_of(event.get("metadata"))
        self.sent: Any = None
        self.error: str | None = None
        self._answered: Any = None
        self._pieces: list[Any] = []

    def take(self, event: dict[str, Any], moment: str) -> None:
        """Add the data of an event."""
        recorded = event["data"]
        self.sent = recorded.get("input") if recorded.get("input") is not None else self.sent
        if moment == "end":
            self._answered = recorded.get("output")
        elif moment == "error":
            self.error = string_of(recorded.get("error")) or "error"
        elif moment == "stream" and self.kind == "llm":
            self._pieces.append(recorded.get("chunk"))

    @cached_property
    def answered(self) -> Any:
        """The answer, or else its streamed pieces."""
        if self._answered is not None or not self._pieces:
            return self._answered
        for message in whole_messages(self._pieces, langchain.fields_of):
            if langchain.role_of(message) == "assistant":
                return message
        texts = (object_of(piece).get("text", piece) for piece in self._pieces)
        return "".join(map(word_of, texts))

    @property
    def is_unread(self) -> bool:
        """Whether an answer is only its Python representation, as programs often write values that are not JSON."""
        return self.kind == "llm" and word_of(self.answered).startswith("content=")

    @property
    def run_id(self) -> str | None:
        """The ID of the run that it is part of; it may be its own."""
        return self.above[0] if self.above else self.id

    def span(self, *, has_parents: bool) -> Span:
        """Return the call as a span."""
        fields = _message_in(self.answered)
        about = object_of(fields.get("response_metadata"))
        about = about or object_of(object_of(self.answered).get("llm_output"))
        is_llm = self.kind == "llm"
        usage = (
            read_usage(fields.get("usage_metadata"))
            or read_usage(about.get("token_usage"))
            or read_usage(about.get("usage"))
        )
        model = first_of(about, _MODELS) or self.metadata.get("ls_model_name")
        span = recorded_span(
            self.run_id if has_parents else None,
            self.id,
            self.above[-1] if self.above else None,
            self.name,
            self.kind,
            sent=self.sent,
            answered=None if self.is_unread else self.answered,
            model=string_of(model) if is_llm else None,
            usage=usage if is_llm else None,
            error=self.error,
        )
        call_id = string_of(fields.get("tool_call_id")) if self.kind == "tool" else None
        if call_id:
            span.attributes["gen_ai.tool.call.id"] = call_id
        thread = string_of(self.metadata.get("thread_id"))
        if thread:
            span.attributes["session.id"] = thread
        return span


def _message_in(answered: Any) -> dict[str, Any]:
    """Return the fields of the message from a model or a tool; in v1, it stands in generations."""
    listed = object_of(answered).get("generations")
    while type(listed) is list:
        listed = listed[0] if listed else None
    held = object_of(listed).get("message", answered) if listed else answered
    return (langchain.fields_of(held) if type(held) is dict else None) or {}


def _calls(value: list[Any]) -> list[_Call]:
    calls: dict[str, _Call] = {}
    for item in value:
        event = _opened(item)
        if _is_event(item):
            subject, moment = _kind(event)
            call = calls.setdefault(event["run_id"], _Call(event, subject))
            call.take(event, moment)
    return list(calls.values())


def _read(value: list[Any]) -> list[Trace]:
    calls = _calls(value)
    has_parents = any(call.above for call in calls)
    traces = traces_of([call.span(has_parents=has_parents) for call in calls], "langchain-events")
    if not any(call.is_unread for call in calls):
        return traces
    return [replace(trace, missing={"tool_calls": _UNREAD, **trace.missing}) for trace in traces]


def _parts(value: list[Any]) -> list[tuple[str | None, Any]]:
    """Return the events of each run."""
    calls = {call.id: call for call in _calls(value)}
    groups: dict[str | None, list[Any]] = {}
    for item in value:
        call = calls.get(_opened(item)["run_id"]) if _is_event(item) else None
        if call is not None:
            groups.setdefault(call.run_id, []).append(item)
    is_one = len(groups) < 2 or not any(call.above for call in calls.values())
    return [(None, value)] if is_one else list(groups.items())


IMPORTER = Importer(
    id="langchain-events",
    name="LangChain events",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_event,
    fields=(
        ("id of the trace", "the first of parent_ids; of a step run_id"),
        ("parent_id", "the nearest step among the parent_ids"),
        ("type", "event: on_chat_model_... and on_llm_... are llm, on_tool_... is tool"),
        ("name, arguments", "name and data.input of a tool's events"),
        ("input, output", "data.input, data.output; without an end the data.chunk of the stream"),
        ("error", "data.error of on_tool_error, or the status error of the tool's message"),
        ("model", "response_metadata.model_name of the answer, or metadata.ls_model_name"),
        (
            "usage",
            "usage_metadata of the answer; else token_usage of its response_metadata, or of llm_output",
        ),
    ),
    tried_on="events of runs with LangGraph 1.2 and a made-up model",
    lacks="times, cost and tool definitions",
)

"""Traces that NeMo Guardrails writes to a file: an interaction with its rails, their actions, and the actions' model calls.

Until 0.16, each span has metrics; since then, there are also typed spans with attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    counted,
    duration_of,
    id_of,
    milliseconds_of,
    missing_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Usage

_LOOKED_AT = 20  #: number of spans by which the format is recognised
_INTERACTION, _LLM, _ACTION, _RAIL = "interaction", "LLM: ", "action: ", "rail: "
_TYPED_INTERACTION, _TYPED_LLM = "InteractionSpan", "LLMSpan"
_FIELDS = frozenset(
    {
        *("name", "span_id", "parent_id", "trace_id", "start_time", "end_time", "duration"),
        *("metrics", "span_type", "span_kind", "attributes", "events", "error"),
    }
)
_METRIC = "llm_call_"
_SENT, _RECEIVED = "_prompt_tokens_total", "_completion_tokens_total"
_MODELS = ("gen_ai.response.model", "gen_ai.request.model")
_NAMES = ("action.name", "rail.name")
_CACHED = "llm.cache.hit"
_COMPLETION, _USER_MESSAGE = "gen_ai.content.completion", "guardrails.user_message"
_CARRIED_EVENTS = frozenset({_COMPLETION, _USER_MESSAGE})
_NO_CALLS = (
    "the spans do not record which tools the models asked for; actions are what the rails run"
)
_REASONS: dict[Capability, str] = {
    "token_usage": "no span of a model call records its tokens",
    "timing": "the spans have times since the start of the interaction alone",
    "cost": "the spans carry no cost, and no tokens to compute it from",
    "tool_definitions": "the spans do not list the tools that were offered",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict or type(value.get("trace_id")) is not str:
        return False
    spans = value.get("spans")
    if type(spans) is not list or not spans or not all(map(_is_span, spans[:_LOOKED_AT])):
        return False
    first = spans[0]
    return bool(first.get("name") == _INTERACTION or first.get("span_type") == _TYPED_INTERACTION)


def _is_span(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("name")) is str
        and "span_id" in value
        and "duration" in value
        and (type(value.get("metrics")) is dict or type(value.get("span_type")) is str)
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    notes, ids = Notes(), StepIds()
    steps: list[Step] = []
    of_spans: dict[str, str] = {}  #: IDs of steps, by span ID
    for number, span in enumerate(value["spans"], 1):
        if not _is_span(span):
            raise damaged(f"span {number} has no name, span_id, duration or metrics")
        notes.add_fields(span, _FIELDS, "span")
        for event in objects_of(span.get("events")):
            _add_event(event, steps, ids, notes)
        if _is_interaction(span):
            continue
        span_id = id_of(span["span_id"])
        step_id = ids.take(span_id, len(steps) + 1)
        if span_id is not None:
            of_spans.setdefault(span_id, step_id)
        parent_id = of_spans.get(id_of(span.get("parent_id")) or "")
        steps.append(_step(span, step_id, parent_id))
    duration = next((span["duration"] for span in value["spans"] if _is_interaction(span)), None)
    trace = Trace(
        id=value["trace_id"],
        steps=tuple(steps),
        format="nemo-guardrails",
        metadata=scalars(duration=duration),
        duration_ms=milliseconds_of((duration_of(duration) or 0) * 1000),
        duration_from="duration of the interaction",
        missing={"tool_calls": _NO_CALLS, **missing_of(steps, _REASONS)},
        not_carried=notes.summaries(),
    )
    return [trace]


def _is_interaction(span: dict[str, Any]) -> bool:
    return span["name"] == _INTERACTION or span.get("span_type") == _TYPED_INTERACTION


def _add_event(event: dict[str, Any], steps: list[Step], ids: StepIds, notes: Notes) -> None:
    """Add an event with the user's message; note other events, which are not read."""
    name = word_of(event.get("name"))
    if name not in _CARRIED_EVENTS:
        notes.add_kind("events", name)
    said = _content(event)
    if name == _USER_MESSAGE and said is not None:
        steps.append(Step(id=ids.take(None, len(steps) + 1), type="user", output=said))


def _content(event: dict[str, Any]) -> str | None:
    return string_of(object_of(event.get("body")).get("content"))


def _step(span: dict[str, Any], step_id: str, parent_id: str | None) -> Step:
    name, attributes = span["name"], object_of(span.get("attributes"))
    error = string_of(object_of(span.get("error")).get("message"))
    is_call = name.startswith(_LLM) or span.get("span_type") == _TYPED_LLM
    if not is_call or attributes.get(_CACHED) is True:
        named = string_of(first_of(attributes, _NAMES))
        label = named or name.removeprefix(_ACTION).removeprefix(_RAIL)
        return Step(id=step_id, type="other", parent_id=parent_id, name=label, error=error)
    events = objects_of(span.get("events"))
    said = (_content(event) for event in events if event.get("name") == _COMPLETION)
    return Step(
        id=step_id,
        type="llm",
        parent_id=parent_id,
        output=next(filter(None, said), None),
        error=error,
        model=string_of(first_of(attributes, _MODELS)) or string_of(name.removeprefix(_LLM)),
        usage=_usage(object_of(span.get("metrics")), attributes),
    )


def _usage(metrics: dict[str, Any], attributes: dict[str, Any]) -> Usage | None:
    """Return the tokens of a model call: from attributes, or from metrics whose names contain the model's name."""
    sent, received, total = (
        attributes.get(f"gen_ai.usage.{name}_tokens") for name in ("input", "output", "total")
    )
    for name, count in metrics.items():
        if name.startswith(_METRIC):
            sent = count if name.endswith(_SENT) else sent
            received = count if name.endswith(_RECEIVED) else received
    return counted(usage_of(sent, received, total))


IMPORTER = Importer(
    id="nemo-guardrails",
    name="NeMo Guardrails traces",
    matches=_matches,
    read=_read,
    fields=(
        ("id of the trace", "trace_id; of a step span_id"),
        ("parent_id", "parent_id, apart from that of the interaction"),
        (
            "type",
            "a span `LLM: ...` or of span_type LLMSpan is llm, unless llm.cache.hit; rails and actions are other; guardrails.user_message events are user",
        ),
        ("name", "action.name, rail.name, or the name of the span"),
        ("output", "body.content of gen_ai.content.completion"),
        ("error", "error.message"),
        ("model", "gen_ai.response.model, gen_ai.request.model, or the name of the span"),
        (
            "usage",
            "metrics that begin with llm_call_ and end with _prompt_tokens_total or _completion_tokens_total; gen_ai.usage.input_tokens, output_tokens and total_tokens",
        ),
        ("duration_ms of the run", "duration of the interaction"),
        ("metadata", "duration of the interaction, in seconds"),
    ),
    tried_on="real traces with metrics in a public repository; typed spans by the source",
    lacks="times of day, cost, tool calls and tool definitions; with metrics all texts",
)

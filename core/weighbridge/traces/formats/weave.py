"""Calls of W&B Weave, as a list in the form of its API and exports.

A call's summary includes the usage of all nested calls; the innermost calls with usage are the model's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of, json_of
from weighbridge.traces.fields import (
    added,
    cost_of,
    counted,
    id_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace, Usage
    from weighbridge.traces.spans.spans import Span

_LOOKED_AT = 20
_LISTS = ("calls", "data")
_MODEL_OPS = (
    *(
        "chat.completions.create",
        "chat.completions.parse",
        "completions.create",
        "responses.create",
    ),
    *("responses.parse", "messages.create", "messages.stream", "generate_content", "completion"),
    *("acompletion", "chat_completion", "invoke_model", "converse", "chat.complete", "chat.stream"),
)
_TOOL_WORDS = ("tool", "function_call")


def _matches(value: Any) -> bool:
    listed = value
    if type(value) is dict:
        if _is_call(value):
            return True
        listed = next((value[key] for key in _LISTS if type(value.get(key)) is list), None)
    return type(listed) is list and bool(listed) and all(map(_is_call, listed[:_LOOKED_AT]))


def _is_call(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("op_name")) is str
        and ("trace_id" in value or "started_at" in value)
        and ("inputs" in value or "output" in value)
    )


def _listed(value: Any) -> list[dict[str, Any]]:
    if type(value) is dict and not _is_call(value):
        value = next((value[key] for key in _LISTS if type(value.get(key)) is list), [])
    return objects_of(value if type(value) is list else [value])


def _read(value: Any) -> list[Trace]:
    calls = _listed(value)
    usages = {id(call): _usage(call) for call in calls}
    by_id = {id_of(call.get("id")): call for call in calls}
    around: set[int] = set()  #: `id()` of calls that enclose another call with usage
    for call in calls:
        parent = by_id.get(id_of(call.get("parent_id"))) if usages[id(call)] else None
        while parent is not None and id(parent) not in around:
            around.add(id(parent))
            parent = by_id.get(id_of(parent.get("parent_id")))
    spans = [_span(call, None if id(call) in around else usages[id(call)]) for call in calls]
    return traces_of(spans, "weave")


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return listed calls by their trace."""
    groups: dict[str | None, list[Any]] = {}
    for call in _listed(value):
        groups.setdefault(id_of(call.get("trace_id")), []).append(call)
    return list(groups.items()) if len(groups) > 1 else [(None, value)]


def _usage(call: dict[str, Any]) -> Usage | None:
    models = object_of(object_of(call.get("summary")).get("usage"))
    usages = [counted(read_usage(held)) for held in models.values()]
    return added(usage for usage in usages if usage is not None)


def _op(call: dict[str, Any]) -> str:
    """Return an operation's name from `weave:///entity/project/op/NAME:digest`."""
    return str(call["op_name"]).rpartition("/")[2].partition(":")[0]


def _span(call: dict[str, Any], usage: Usage | None) -> Span:
    summary, sent = object_of(call.get("summary")), object_of(call.get("inputs"))
    op = _op(call)
    kind = _kind(call, op, usage)
    models: list[Any] = list(object_of(summary.get("usage")))
    answered = call.get("output")
    model = object_of(answered).get("model") or sent.get("model") or (models or [None])[0]
    sent = {key: item for key, item in sent.items() if key != "self"}
    return recorded_span(
        id_of(call.get("trace_id")),
        id_of(call.get("id")),
        id_of(call.get("parent_id")),
        string_of(call.get("display_name")) or op,
        kind,
        sent=sent,
        answered=answered,
        model=string_of(model) if kind == "llm" else None,
        usage=usage if kind == "llm" else None,
        cost_usd=_cost(summary) if kind == "llm" else None,
        tools=sent.get("tools") if kind == "llm" else None,
        error=_error(call.get("exception")),
        started_at=time_of(call.get("started_at")),
        ended_at=time_of(call.get("ended_at")),
    )


def _kind(call: dict[str, Any], op: str, usage: Usage | None) -> str:
    recorded = object_of(object_of(call.get("attributes")).get("weave")).get("kind")
    kind = string_of(recorded) or string_of(
        first_of(object_of(call.get("attributes")), ("kind", "type"))
    )
    if kind in {"llm", "tool", "agent"}:
        return str(kind)
    if usage is not None or op.endswith(_MODEL_OPS):
        return "llm"
    return "tool" if any(word in op.lower() for word in _TOOL_WORDS) else "chain"


def _error(exception: Any) -> str | None:
    """Return the reason of a failure, which newer versions write as JSON, with the calls that led to it."""
    held = object_of(json_of(exception))
    said = [text for name in ("type", "message") if (text := string_of(held.get(name)))]
    return ": ".join(said) or string_of(exception)


def _cost(summary: dict[str, Any]) -> float | None:
    costs = object_of(object_of(summary.get("weave")).get("costs"))
    recorded = [
        cost
        for held in costs.values()
        for key, item in object_of(held).items()
        if key.endswith("_total_cost") and (cost := cost_of(item)) is not None
    ]
    return sum(recorded) if recorded else None


IMPORTER = Importer(
    id="weave",
    name="Weave calls",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_call,
    fields=(
        ("id of the trace", "trace_id; of a step the call's id"),
        ("parent_id", "parent_id"),
        (
            "type",
            "attributes.weave.kind; else llm where no inner call records usage, tool by its name",
        ),
        ("name, arguments", "display_name or the operation's name; inputs"),
        ("input, output", "inputs, output"),
        ("error", "exception"),
        ("model", "output.model, inputs.model, or the name under summary.usage"),
        ("usage, cost_usd", "summary.usage, summary.weave.costs"),
        ("started_at, ended_at", "started_at, ended_at"),
        ("tools", "inputs.tools"),
    ),
    tried_on="calls that its Python client sent for a run of OpenAI's client with a made-up model; synthetic ones, modelled on the documentation of Weave's API",
    lacks="which calls are a tool's, where neither the operation's name nor its kind says it",
)

"""Weighbridge's own form of a trace: the model's fields by their own names."""

from __future__ import annotations

from typing import Any, get_args

from weighbridge.traces.importer import Importer
from weighbridge.traces.model import (
    CAPABILITIES,
    Capability,
    Step,
    StepType,
    ToolDefinition,
    Trace,
    Usage,
)
from weighbridge.traces.reading import (
    StepIds,
    cost_of,
    iso_time,
    parse_arguments,
    string_of,
    time_of,
    tools_of,
    usage_of,
)

_TYPES = frozenset(get_args(StepType))
_USAGE = ("input_tokens", "output_tokens", "total_tokens", "cached_tokens")


def _matches(value: Any) -> bool:
    if type(value) is not dict or type(value.get("steps")) is not list:
        return False
    if value.get("format") == "weighbridge":
        return True
    return all(type(step) is dict and step.get("type") in _TYPES for step in value["steps"][:20])


def _read(value: dict[str, Any]) -> list[Trace]:
    ids = StepIds()
    steps = tuple(_step(step, ids, place) for place, step in enumerate(value["steps"], 1))
    unknown = sorted({key for step in value["steps"] for key in step} - _STEP_KEYS)
    trace = Trace(
        id=string_of(value.get("id")),
        steps=steps,
        format="native",
        tools=tools_of(value.get("tools")),
        metadata=value["metadata"] if type(value.get("metadata")) is dict else {},
        usage=_usage(value.get("usage")),
        cost_usd=cost_of(value.get("cost_usd")),
        started_at=time_of(value.get("started_at")),
        ended_at=time_of(value.get("ended_at")),
        missing=_missing(value),
        not_carried=tuple(f"step field {key!r}" for key in unknown),
    )
    return [trace]


def _step(value: dict[str, Any], ids: StepIds, place: int) -> Step:
    kind: Any = value.get("type")
    if kind not in _TYPES:
        raise ValueError(f"step {place} has the type {kind!r}; known: {', '.join(sorted(_TYPES))}")
    get = value.get
    return Step(
        id=ids.take(get("id"), place),
        type=kind,
        parent_id=string_of(get("parent_id")),
        name=string_of(get("name")),
        input=get("input"),
        output=get("output"),
        arguments=parse_arguments(get("arguments")),
        error=_error(get("error")),
        model=string_of(get("model")),
        usage=_usage(get("usage")),
        cost_usd=cost_of(get("cost_usd")),
        started_at=time_of(get("started_at")),
        ended_at=time_of(get("ended_at")),
    )


def _error(value: Any) -> str | None:
    if value is True:
        return "error"
    return value if type(value) is str else None


def _usage(value: Any) -> Usage | None:
    return usage_of(*map(value.get, _USAGE)) if type(value) is dict else None


def _missing(value: dict[str, Any]) -> dict[Capability, str]:
    """Return what the trace says of itself that its source lacked; a trace that says nothing lacks nothing."""
    told = value.get("missing")
    if type(told) is not dict:
        return {}
    return {key: str(told[key]) for key in CAPABILITIES if key in told}


def to_native(trace: Trace) -> dict[str, Any]:
    """Return a trace as JSON data in the native form; fields that are not known are left out."""
    data: dict[str, Any] = {"format": "weighbridge", "id": trace.id}
    data["steps"] = [_step_data(step) for step in trace.steps]
    data |= {
        "tools": [_tool_data(tool) for tool in trace.tools] or None,
        "metadata": trace.metadata or None,
        "usage": _usage_data(trace.usage),
        "cost_usd": trace.cost_usd,
        "started_at": _time_data(trace.started_at),
        "ended_at": _time_data(trace.ended_at),
        "missing": trace.missing or None,
    }
    return _known(data)


def _step_data(step: Step) -> dict[str, Any]:
    return _known(
        {
            "id": step.id,
            "type": step.type,
            "parent_id": step.parent_id,
            "name": step.name,
            "input": step.input,
            "output": step.output,
            "arguments": step.arguments,
            "error": step.error,
            "model": step.model,
            "usage": _usage_data(step.usage),
            "cost_usd": step.cost_usd,
            "started_at": _time_data(step.started_at),
            "ended_at": _time_data(step.ended_at),
        }
    )


def _tool_data(tool: ToolDefinition) -> dict[str, Any]:
    return _known(
        {"name": tool.name, "description": tool.description or None, "parameters": tool.schema}
    )


def _usage_data(usage: Usage | None) -> dict[str, int] | None:
    return _known({name: getattr(usage, name) for name in _USAGE}) if usage else None


def _time_data(nanoseconds: int | None) -> str | None:
    return None if nanoseconds is None else iso_time(nanoseconds)


def _known(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value is not None}


_STEP_KEYS = frozenset(Step.__dataclass_fields__)
IMPORTER = Importer(
    id="native",
    name="Weighbridge's native form",
    matches=_matches,
    read=_read,
    fields=tuple((field, field) for field in Step.__dataclass_fields__),
)

"""From any JSON to traces: the format is known by its shape, never by a file's name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import (
    anthropic,
    atif,
    benchmarks,
    jaeger,
    native,
    openai_chat,
    openai_responses,
    otel,
    swe_agent,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.importer import Importer
    from weighbridge.traces.model import Trace

#: Every format, those with the most particular shapes first.
FORMATS: tuple[Importer, ...] = (
    native.IMPORTER,
    atif.IMPORTER,
    swe_agent.IMPORTER,
    otel.IMPORTER,
    jaeger.IMPORTER,
    *benchmarks.IMPORTERS,
    openai_responses.IMPORTER,
    anthropic.IMPORTER,
    openai_chat.IMPORTER,
)
_WRAPPERS = ("record", "trace", "trajectory")  #: keys that people put a trace under
_SHOWN_KEYS = 12


def read_traces(value: Any) -> Sequence[Trace]:
    """Return the traces in a JSON value, decoded or as text; at least one.

    Raises UnknownTraceFormatError when no format has its shape, and TraceError when it is damaged.
    """
    decoded = _decoded(value) if isinstance(value, (str, bytes, bytearray)) else value
    importer, found, trace_id = _find(decoded)
    try:
        traces = importer.read(found)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        raise TraceError(
            f"this looks like {importer.name}, but cannot be read: {reason}",
            "is the file whole, and written by the tool itself?",
        ) from error
    if not traces:
        raise TraceError(f"this {importer.name} holds no trace", "is the file whole?")
    if trace_id and len(traces) == 1 and traces[0].id is None:
        return (replace(traces[0], id=trace_id),)
    return traces


def read_trace(value: Any) -> Trace:
    """Return the one trace in a JSON value; see `read_traces`. Raises TraceError when there are several."""
    first, *others = read_traces(value)
    if others:
        raise TraceError(
            f"there are {len(others) + 1} traces in one value, and one is wanted",
            "`weighbridge trace convert` writes each on a line of its own",
        )
    return first


def _decoded(text: str | bytes | bytearray) -> Any:
    try:
        return orjson.loads(text)
    except (ValueError, RecursionError) as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [orjson.loads(line) for line in lines] if len(lines) > 1 else _raise(error)
        except (ValueError, RecursionError):
            raise TraceError(
                f"the trace is not JSON: {error}", "give JSON, or JSON Lines of one format"
            ) from None


def _raise(error: Exception) -> Any:
    raise error


def _find(value: Any) -> tuple[Importer, Any, str | None]:
    """Return the importer of a value, what to give it, and the id that stands beside a wrapped trace."""
    trace_id = None
    inner = value
    for _ in range(3):
        for importer in FORMATS:
            if importer.matches(inner):
                return importer, inner, trace_id
        if type(inner) is not dict:
            break
        beside = inner.get("id")
        trace_id = trace_id or (beside if type(beside) is str and beside else None)
        inner = next(
            (inner[key] for key in _WRAPPERS if type(inner.get(key)) in {dict, list}), None
        )
    known = ", ".join(importer.name for importer in FORMATS)
    raise UnknownTraceFormatError(
        f"no trace format has this shape: {_described(value)}", f"known formats: {known}"
    )


def _described(value: Any) -> str:
    """Say what was seen, by its keys alone."""
    if type(value) is dict:
        keys = [str(key)[:40] for key in value]
        more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
        return (
            f"an object with {', '.join(keys[:_SHOWN_KEYS])}{more}" if keys else "an empty object"
        )
    if type(value) is list:
        first = f", the first of them {_described(value[0])}" if value else ""
        return (
            f"an array of {len(value):,}{first}"
            if type(value[0] if value else 0) is dict
            else f"an array of {len(value):,}"
        )
    return "no object or array"

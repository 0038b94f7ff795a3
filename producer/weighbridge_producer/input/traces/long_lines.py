"""Shortens lines over the limit: a trace may fit in the native form, which omits data that no grader reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault, TraceError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.traces import read_traces
from weighbridge.traces.fields import json_in
from weighbridge.traces.formats.native import to_native
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_HINT = (
    "split the run, leave out what is large and not read (`weighbridge trace check` names it),"
    " or raise WEIGHBRIDGE_LINE_LIMIT_BYTES"
)


def in_native_form(lines: Iterable[SourceLine], limit_bytes: int) -> Iterator[SourceLine]:
    """Yield lines; those that are too long, but were kept, are replaced by their traces in the native form.

    A line keeps its fault if it is still too long, or has no trace.
    """
    for line in lines:
        if line.fault and len(line.raw) > limit_bytes:
            yield from _shortened(line, line.fault, limit_bytes)
        else:
            yield line


def _shortened(line: SourceLine, fault: Fault, limit_bytes: int) -> Iterator[SourceLine]:
    try:
        written = list(_native_lines(json_in(line.raw)))
    except (ValueError, TypeError, TraceError):
        yield SourceLine(b"\n", fault, line.size, line.origin)
        return
    longest = max(map(len, written))
    if longest > limit_bytes:
        message = f"{fault.message}; in the native form its trace has {longest:,}"
        fault = Fault(ErrorCode.LINE_TOO_LONG, message, _HINT)
        yield SourceLine(b"\n", fault, line.size, line.origin)
        return
    for number, text in enumerate(written):
        yield SourceLine(text + b"\n", None, 0 if number else line.size, line.origin)


def _native_lines(value: Any) -> Iterator[bytes]:
    """Yield the native form of the traces in a line, or of the one in its case."""
    inputs = value.get("inputs") if type(value) is dict else None
    if type(inputs) is dict and "trace" in inputs:
        (trace,) = read_traces(inputs["trace"])
        yield orjson.dumps({**value, "inputs": {**inputs, "trace": to_native(trace)}})
    else:
        for trace in read_traces(value):
            yield orjson.dumps(to_native(trace))

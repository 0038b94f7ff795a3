"""What a line seems to be that is no case, so that whoever wrote it is told what to do with it."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.read import advice_on
from weighbridge.traces.split import is_trace

_OF_RESULTS = frozenset({"grader_version", "receipt", "status"})


def hint_for(value: Any) -> str:
    """Return a hint for a JSON value that stands where a case should; empty if it is like nothing known."""
    if type(value) is dict and value.keys() >= _OF_RESULTS:
        return "this is a result that Weighbridge wrote: give the cases that it came from"
    if is_trace(value):
        return (
            "this is a trace, but the file has cases: to make it a case, put it into inputs.trace"
        )
    return advice_on(value)

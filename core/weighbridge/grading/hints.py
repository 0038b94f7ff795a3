"""Hints for a line that is not a case: what it seems to be, and how to submit it."""

from __future__ import annotations

from typing import Any

from weighbridge.jobs.result_line import is_result
from weighbridge.traces.recognition import advice_on
from weighbridge.traces.split import is_trace

_LOOKED_AT = 50  #: fields of an object
OWN_COLUMNS = "rows with columns of their own need a mapping: --map, or `mapping` over HTTP"
OWN_FORMAT = (
    "traces in a format of your own need a trace mapping, see docs/how-to/write-an-importer.md"
)
TRACE_AMONG_CASES = (
    "this is a trace, but the file has cases: to make it a case, put it into inputs.trace"
)
_OF_ANOTHER_FORMAT = (
    f'a case needs "custom_id" and "inputs"; {OWN_COLUMNS}; a trace of another format can be described in a mapping file '
    "(--trace-mapping), which `weighbridge trace map FILE` drafts, see docs/how-to/write-an-importer.md; and `weighbridge trace"
    " formats` lists the known ones"
)


def hint_for(value: Any) -> str:
    """Return a hint for a JSON value that is not a case; empty if it resembles nothing known."""
    if is_result(value):
        return "this is a result that Weighbridge wrote: give the cases that it came from"
    if is_trace(value):
        return TRACE_AMONG_CASES
    return advice_on(value) or (_OF_ANOTHER_FORMAT if _lists_objects(value) else "")


def _lists_objects(value: Any) -> bool:
    """Return whether a value is or contains a list of objects, as all records of runs do."""
    held = list(value.values())[:_LOOKED_AT] if type(value) is dict else [value]
    return any(type(each) is list and each and type(each[0]) is dict for each in held)

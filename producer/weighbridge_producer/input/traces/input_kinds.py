"""Kinds of input, and what the first line shows of the others: cases, traces, results, or a document on several lines."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import msgspec
import orjson

from weighbridge.grading.case import may_be_case
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.jobs.result_line import is_result
from weighbridge.traces.formats.batch_results import is_batch_result
from weighbridge.traces.split import opens_session, single_traces, spans_lines
from weighbridge_producer.input.traces.trace_wrapper import (
    Bare,
    NamedLine,
    named_line,
    value_of,
    with_ids_as_text,
)

_ABOUT_FILE = b'{"metadata"'
_OPENING = b"{[,"  #: last characters of the first line of a multi-line document
#: Fields of traces that have an `inputs` field like cases: LangSmith's runs, Weave's calls.
_RECORD_KEYS = frozenset({"run_type", "op_name"})
_RESULT_FIELD = b'"receipt"'


class InputKind(StrEnum):
    """What an input has."""

    CASES = "cases"  #: a case on each line
    TRACES = "traces"  #: a trace on each line
    RESULTS = "results"  #: a result on each line, with its case
    DOCUMENT = "document"  #: a JSON value over several lines, or lines of one session, with traces or cases
    ROWS = "rows"  #: rows of a table or of JSON that are mapped to cases
    DATABASE = "database"  #: an SQLite database
    LINES = "lines"  #: lines that are not known, because the first of them is too long
    NOTHING = "nothing"  #: no line that is not blank


def is_about_file(raw: bytes) -> bool:
    """Return whether a line only has metadata of the file's traces, as Invariant's first lines do."""
    if len(raw) > METADATA_LIMIT_BYTES or not raw.lstrip().startswith(_ABOUT_FILE):
        return False
    try:
        return list(orjson.loads(raw)) == ["metadata"]
    except ValueError:
        return False


def begins_document(raw: bytes) -> bool:
    """Return whether a file's first line starts a JSON value that continues on the next line."""
    try:
        orjson.loads(raw)
    except ValueError:
        return raw.strip(JSON_SPACE)[-1:] in _OPENING
    return False


def input_kind(raw: bytes) -> InputKind:
    """Return the kind of an input by its first line: cases, traces or results, one per line, or a document."""
    if _is_surely_case(raw):
        return InputKind.CASES
    try:
        value = value_of(with_ids_as_text(raw))
    except ValueError:
        goes_on = raw.strip(JSON_SPACE)[-1:] in _OPENING
        return InputKind.DOCUMENT if goes_on else InputKind.CASES
    if is_result(value):
        return InputKind.RESULTS
    if is_case(value):
        return InputKind.CASES
    if spans_lines(value) or are_cases(value) or opens_session(value):
        return InputKind.DOCUMENT
    found = single_traces(value)
    if not found:
        return InputKind.CASES
    return InputKind.TRACES if found[0][1] is value else InputKind.DOCUMENT


def is_case(value: Any) -> bool:
    """Return whether a value is a case, and not a record of traces that has inputs too."""
    if type(value) is not dict or not may_be_case(value):
        return False
    if "custom_id" in value:
        return not is_batch_result(value)
    return _RECORD_KEYS.isdisjoint(value)


def _is_surely_case(raw: bytes) -> bool:
    """Return whether a line has a case's id and inputs, and is no result; of a long line, in a fraction of the time of parsing it."""
    try:
        found: Bare = named_line.decode(raw)
    except DAMAGED_DATA:
        return False
    has_both = (
        isinstance(found, NamedLine) and found.custom_id is not msgspec.UNSET and found.inputs
    )
    return bool(has_both) and _RESULT_FIELD not in raw


def are_cases(value: Any) -> bool:
    """Return whether a value is a list of cases."""
    return type(value) is list and bool(value) and all(map(is_case, value))

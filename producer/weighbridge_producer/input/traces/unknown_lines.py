"""Lines of a file that are neither cases nor traces: one fault for all of them, instead of one for each."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import orjson

from weighbridge.errors import Fault
from weighbridge.grading.case import may_be_case
from weighbridge.grading.hints import OWN_COLUMNS
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.jobs.result_line import is_result
from weighbridge.settings import KIB, MIB
from weighbridge.traces.hints import lies_beside_traces
from weighbridge.traces.recognition import described, hint_for_unknown
from weighbridge.traces.split import is_trace, opens_session
from weighbridge_producer.input.source_lines import HeldLines, SourceLine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from typing import Any

_FEWEST = 3  #: lines of a file that are told together
_HELD_LINES = 1_000  #: that decide whether all lines of a file are told together
_HELD_BYTES = 8 * MIB  #: the same
_TOLD_OF = 50  #: values that the hint is made from
_SHOWN_BYTES = 16 * KIB  #: of a line that is among them


def is_unknown(raw: bytes) -> bool:
    """Return whether a line has a JSON object or array that is neither a case, nor a result, nor a trace or a part of one."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        return False
    if type(value) is dict and may_be_case(value) and not lies_beside_traces(value):
        return False
    if type(value) not in {dict, list}:
        return False
    return not (is_result(value) or is_trace(value) or opens_session(value))


def without_unknown(lines: Iterator[SourceLine], file: str) -> Iterator[SourceLine]:
    """Yield a file's lines unchanged, but one fault for its unknown ones if they are the first thousand, or all of them.

    The fault comes last, and has the place of the first line. Lines that are together too large to be kept are unchanged.
    """
    held = HeldLines()
    first: SourceLine | None = None
    shown: list[Any] = []
    shapes: set[frozenset[str]] = set()
    count = size = 0
    for line in lines:
        is_blank = not line.fault and not line.raw.strip(JSON_SPACE)
        is_decided = count >= _HELD_LINES
        is_kept = is_decided or size + line.size <= _HELD_BYTES
        if (
            line.fault
            or not is_kept
            or not (is_blank or _is_like(line.raw, shapes if is_decided else ()))
        ):
            if not is_decided:
                yield from held.lines()
                yield line
                yield from lines
                return
            yield line
            continue
        if not is_decided:
            held.add(line)
        size += line.size
        if not is_blank:
            first = first or line
            count += 1
            if not is_decided and len(line.raw) <= _SHOWN_BYTES:
                value = orjson.loads(line.raw)
                shapes.update([frozenset(value)] if type(value) is dict else ())
                shown += [value] if len(shown) < _TOLD_OF else []
    if first is None or count < _FEWEST:
        yield from held.lines()
        return
    yield SourceLine(first.raw, _fault(shown, count, file), size, first.origin)


def _is_like(raw: bytes, shapes: Collection[frozenset[str]]) -> bool:
    """Return whether a line is unknown; one with the keys of a line that was unknown is not examined further."""
    if shapes and b'"custom_id"' not in raw and b'"inputs"' not in raw:
        try:
            value = orjson.loads(raw)
        except ValueError:
            return False
        if type(value) is dict and frozenset(value) in shapes:
            return True
    return is_unknown(raw)


def _fault(shown: list[Any], count: int, file: str) -> Fault:
    first = described(shown[0]) if shown else "very long"
    text = f"{count:,} lines are neither cases nor traces in a known format; the first of them is {first}"
    return Fault(
        ErrorCode.MISSING_FIELD,
        text,
        f"{hint_for_unknown(shown, shlex.quote(file))}; {OWN_COLUMNS}",
    )

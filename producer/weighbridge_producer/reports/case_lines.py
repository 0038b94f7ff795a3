"""Result lines with their cases added, which can be used as input again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
import orjson

from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.result_line_parts import case_in, line_number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec

CaseAt = Callable[[int], bytes | None]
"""A function that returns the case submitted on an input line, or None if it is not available."""
_BLOCK_BYTES = 256 * 1024


class _Named(msgspec.Struct):
    grader: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    graders: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_named = msgspec.json.Decoder(_Named)
_ADDED = b',"case":'


def with_cases(
    results: Iterable[bytes], case_at: CaseAt, graders: Sequence[GraderSpec]
) -> Iterator[bytes]:
    """Yield blocks of result lines with their `case` added; a case without graders gets those of the run."""
    named = orjson.dumps([spec.as_dict() for spec in graders])
    block: list[bytes] = []
    size = 0
    for row in results:
        case = _graded_by(case_at(line_number_of(row)), named)
        block.append(b"%b%b%b}\n" % (row.rstrip(b"\n")[:-1], _ADDED, case))
        size += len(block[-1])
        if size >= _BLOCK_BYTES:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)


def _graded_by(case: bytes | None, graders: bytes) -> bytes:
    """Return a case with its graders, as JSON; null if the line is not a JSON object."""
    case = (case or b"").strip()
    try:
        named = _named.decode(case)
    except DAMAGED_DATA:
        return b"null"
    if named.grader is not msgspec.UNSET or named.graders is not msgspec.UNSET or graders == b"[]":
        return case
    comma = b"" if case[1:-1].strip() == b"" else b","
    return b'%b%b"graders":%b}' % (case[:-1], comma, graders)


def without_case(row: bytes) -> bytes:
    """Return a result line, without its line break, in the form before its case was added."""
    if _ADDED not in row:
        return row
    try:
        case = case_in(row)
    except ValueError:
        return row
    end = b"%b%b}" % (_ADDED, case or b"")
    return row.removesuffix(end) + b"}" if row.endswith(end) else row


def in_order(cases: Iterable[tuple[int, bytes]]) -> CaseAt:
    """Return a function that gets cases by line number, for requests in ascending order."""
    left = iter(cases)
    number, case = 0, b""

    def at(line: int) -> bytes | None:
        nonlocal number, case
        while number < line:
            number, case = next(left, (line + 1, b""))
        return case if number == line else None

    return at

"""Rejects an input before submission if neither the command nor its cases specify a grader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import LineError, NoGraderError
from weighbridge.grading.case import parse_case
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.source_lines import SourceLine

_LOOKED_AT_CASES = 100
_LOOKED_AT_BYTES = 8 * MIB


def refuse_ungraded(lines: Iterable[SourceLine]) -> tuple[GraderSpec, ...]:
    """Return the graders of the first case that specifies some; raise NoGraderError if none of the first cases does.

    If only some cases specify none, each of those becomes an error of its own. Invalid lines are ignored.
    """
    ungraded = looked_at = 0
    for line in lines:
        if ungraded >= _LOOKED_AT_CASES or looked_at > _LOOKED_AT_BYTES:
            break
        looked_at += line.size
        content = line.raw.strip(JSON_SPACE)
        if line.fault or not content:
            continue
        try:
            case = parse_case(content, ())
        except LineError as error:
            ungraded += error.fault.code == ErrorCode.NO_GRADER
        else:
            return case.graders
    if ungraded:
        raise NoGraderError(ungraded)
    return ()

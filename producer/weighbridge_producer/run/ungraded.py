"""Refusing an input for which no grader is named, neither with the input nor by its cases, before it is submitted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import LineError, NoGraderError
from weighbridge.grading.case import parse_case
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.jobs.model import ErrorCode
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.source_lines import SourceLine

_LOOKED_AT_CASES = 100
_LOOKED_AT_BYTES = 8 * MIB


def refuse_ungraded(lines: Iterable[SourceLine]) -> None:
    """Raise NoGraderError where none of the first cases names a grader.

    Where only some of them name none, these are errors of their own. Lines that are not cases say nothing.
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
            parse_case(content, ())
        except LineError as error:
            ungraded += error.fault.code == ErrorCode.NO_GRADER
        else:
            return
    if ungraded:
        raise NoGraderError(ungraded)

"""Refuses an input if neither the submission nor its cases specify a grader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import LineError, NoGraderError
from weighbridge.grading.case import parse_case
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.source_lines import SourceLine

_LOOKED_AT_CASES = 100
_LOOKED_AT_BYTES = 8 * MIB


class GraderSearch:
    """Looks in the first cases of an input for one that specifies a grader; invalid lines are ignored."""

    def __init__(self, asked: str = "command") -> None:
        """Prepare to look for what was `asked`, which the error names."""
        self._asked = asked
        self.graders: tuple[GraderSpec, ...] = ()  #: of the first case that specifies some
        self._ungraded = self._bytes = 0

    def ends_in(self, lines: Iterable[SourceLine]) -> bool:
        """Look at the next lines; return True if no more need to be looked at."""
        for line in lines:
            if self._ungraded >= _LOOKED_AT_CASES or self._bytes > _LOOKED_AT_BYTES:
                return True
            self._bytes += line.size
            content = line.raw.strip(JSON_SPACE)
            if line.fault or not content:
                continue
            try:
                case = parse_case(content, ())
            except LineError as error:
                self._ungraded += error.fault.code == ErrorCode.NO_GRADER
            else:
                self.graders = case.graders
                return True
        return False

    def refuse_if_none(self) -> None:
        """Raise NoGraderError if none of the cases so far specifies a grader.

        If only some specify none, each of those becomes an error of its own.
        """
        if self._ungraded and not self.graders:
            raise NoGraderError(self._ungraded, self._asked)


def refuse_ungraded(lines: Iterable[SourceLine], asked: str = "command") -> tuple[GraderSpec, ...]:
    """Return the graders of the first case that specifies some; raise NoGraderError if none of the first cases does."""
    search = GraderSearch(asked)
    search.ends_in(lines)
    search.refuse_if_none()
    return search.graders


def refusing_ungraded(lines: Iterable[SourceLine], asked: str) -> Iterator[SourceLine]:
    """Yield lines; raises NoGraderError as soon as it is known that none of the first cases specifies a grader."""
    search: GraderSearch | None = GraderSearch(asked)
    for read in lines:
        if search and search.ends_in(read.lines()):
            search.refuse_if_none()
            search = None
        yield read
    if search:
        search.refuse_if_none()

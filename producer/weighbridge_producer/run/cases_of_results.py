"""The cases that results belong to, reread from the input of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weighbridge_producer.input.source import Source
    from weighbridge_producer.reports.report import CasesOf


def cases_in(source: Source) -> CasesOf | None:
    """Return a function that rereads cases from an input; None if the input can be read only once."""
    if not source.rereadable:
        return None

    def cases(wanted: Mapping[int, str]) -> Iterator[tuple[int, bytes]]:
        last = max(wanted)
        for number, line in enumerate(source, start=1):
            if number in wanted:
                yield number, line.raw
            if number >= last:
                return

    return cases


def numbered_cases(source: Source) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of an input with their numbers, counted from 1 as in results."""
    for number, line in enumerate(source, start=1):
        yield number, line.raw

"""The cases behind results, read again from the input of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weighbridge_producer.input.source import Source
    from weighbridge_producer.reports.report import CasesOf


def cases_in(source: Source) -> CasesOf | None:
    """Return what reads cases again; None for an input that can be read once only."""
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
    """Yield every line of an input with its number, as results have it."""
    for number, line in enumerate(source, start=1):
        yield number, line.raw

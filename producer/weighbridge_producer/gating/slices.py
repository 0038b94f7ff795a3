"""Counts of the jobs with one value of a metadata field, in bounded memory."""

from __future__ import annotations

from collections import Counter
from heapq import nsmallest
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.outcome import VACUOUS, GraderSummary, Outcome
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.gating.fields import (
    EACH_ENTRY,
    MISSING,
    OTHER_VALUES,
    absence,
    all_leaves,
    field_name,
    list_in,
    note_fields,
    plain_name,
    value_at,
    values_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from weighbridge_producer.gating.fields import FieldPath

SLICES_LIMIT = 10_000  #: distinct values counted per field
SLICES_SHOWN = 20  #: the largest slices per field; the others are shown as one
OTHER_LABELS = "(other labels)"
_LOOKED_AT = 1_000  #: results whose fields a note considers
_COUNTS_LIMIT = 100_000  #: combinations of value, label and outcome, over all fields
_Combination = tuple[str, str | None, str]  #: value, label and outcome


class Slice(NamedTuple):
    """A value of a field, and the outcomes of its jobs under one label."""

    field: str  #: `metadata.topic`
    value: str
    summary: GraderSummary

    def as_dict(self) -> dict[str, Any]:
        """Return the slice in its JSON form."""
        counts = self.summary.as_dict()
        shown = ("label", *Outcome, VACUOUS)
        return {
            "field": self.field,
            "value": self.value,
            **{str(name): counts[name] for name in shown},
        }


def summary_of(label: str, counts: Mapping[str, int]) -> GraderSummary:
    """Return the summary for counts by outcome, which may include vacuous passes."""
    jobs: dict[str, Any] = {
        name: counts.get(name, 0) for name in (*(each.value for each in Outcome), VACUOUS)
    }
    return GraderSummary(label, "", **jobs)


class SliceTally:
    """Counts of jobs by the values of given metadata fields."""

    def __init__(self, by: Iterable[FieldPath]) -> None:
        self.by = tuple(dict.fromkeys(by))
        #: For each field, the jobs by value, label and outcome.
        self._jobs: dict[str, Counter[_Combination]] = {
            field_name(path): Counter() for path in self.by
        }
        self._combinations = 0
        self._values: dict[str, set[str]] = {field_name(path): set() for path in self.by}
        self._looked_at = 0
        #: Fields of the first results without a value of a field of `by`, and whether they have values.
        self.present: dict[str, bool] = {}

    def add_lines(self, lines: bytes) -> None:
        """Count complete result lines."""
        if not self.by:
            return
        for line in lines.splitlines():
            self.add_row(ResultRow.from_bytes(line))

    def add_row(self, row: ResultRow) -> None:
        """Count a result."""
        if self.by:
            values = {field_name(path): value_at(row.metadata, path) for path in self.by}
            if not all(values.values()) and self._looked_at < _LOOKED_AT:
                self._looked_at += 1
                note_fields(self.present, all_leaves(row.metadata))
            self.add(row.label, row.outcome, values, vacuous=row.cause == VACUOUS)

    def add(
        self, label: str | None, outcome: str, values: Mapping[str, str | None], *, vacuous: bool
    ) -> None:
        """Count a job."""
        for name, known in self._values.items():
            for value in values_in(name, values.get(name)):
                kept = value
                if kept not in known:
                    if len(known) >= SLICES_LIMIT:
                        kept = OTHER_VALUES
                    known.add(kept)
                self._count(name, kept, label, outcome)
                if vacuous and outcome == Outcome.PASSED:
                    self._count(name, kept, label, VACUOUS)

    def _count(self, name: str, value: str, label: str | None, outcome: str) -> None:
        counted = self._jobs[name]
        key: _Combination = (value, label, outcome)
        if key not in counted:
            if self._combinations >= _COUNTS_LIMIT:
                key = (OTHER_VALUES, OTHER_LABELS, outcome)
            self._combinations += key not in counted
        counted[key] += 1

    def values(self, name: str, *, of_cases: bool = False) -> dict[str, GraderSummary]:
        """Return the outcomes for each value of a field, over all labels; `of_cases` leaves out lines that are not cases."""
        found: dict[str, Counter[str]] = {}
        for (value, label, outcome), jobs in self._jobs.get(name, {}).items():
            if of_cases and value == MISSING and not label:
                continue
            found.setdefault(value, Counter())[outcome] += jobs
        return {value: summary_of("", counts) for value, counts in found.items()}

    def is_absent(self, name: str) -> bool:
        """Return whether there are jobs, and neither they nor the results looked at have a value of the field."""
        return self._values.get(name) == {MISSING} and not self.present.get(plain_name(name))

    def notes(self) -> list[str]:
        """Return a sentence about each field that no job has a value of, or that is a list."""
        absences = [absence(name, self.present) for name in self.absent]
        return absences + [
            f"{name} is a list, and each list is one value; {name}.{EACH_ENTRY} counts each of its entries"
            for name, values in self._values.items()
            if any(map(list_in, values))
        ]

    @property
    def absent(self) -> list[str]:
        """The names of the fields that no job has a value of."""
        return [name for name in self._values if self.is_absent(name)]

    def slices(self, most: int = SLICES_SHOWN) -> list[Slice]:
        """Return the slices of each field, the largest first; all beyond the first `most` are combined as `(other)`."""
        return [piece for name in self._jobs for piece in self._of_field(name, most)]

    def _of_field(self, name: str, most: int) -> Iterator[Slice]:
        finished: dict[str, int] = {}
        for (value, _, outcome), jobs in self._jobs[name].items():
            if outcome != VACUOUS and value != OTHER_VALUES:
                finished[value] = finished.get(value, 0) + jobs
        largest = nsmallest(most, finished, key=lambda value: (-finished[value], value))
        place = {value: index for index, value in enumerate(largest)}
        counts: dict[tuple[str, str], Counter[str]] = {}
        for (value, label, outcome), jobs in self._jobs[name].items():
            kept = value if value in place else OTHER_VALUES
            counts.setdefault((kept, label or ""), Counter())[outcome] += jobs
        for value, label in sorted(counts, key=lambda key: (place.get(key[0], most), key[1])):
            yield Slice(name, value, summary_of(label, counts[value, label]))


def slices_of_file(results: Path, by: Iterable[FieldPath]) -> SliceTally:
    """Return the slices of a results file; if `by` is empty, the file is not read."""
    tally = SliceTally(by)
    if tally.by:
        with results.open("rb") as file:
            for line in file:
                tally.add_lines(line)
    return tally

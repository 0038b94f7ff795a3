"""Tallies: counts of the outcomes of graded lines, for the batch's counts and its summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import orjson

from weighbridge.jobs.outcome import SCORE_BUCKETS, VACUOUS, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SCORE = "score "  #: prefix of summary rows that count scores, followed by the bucket's lower end


class SummaryRow(NamedTuple):
    """What a row of a summary counts. `str` returns the row's stored form, a JSON list."""

    label: str | None  #: None for lines that are not cases
    grader: str | None
    outcome: str  #: an Outcome, VACUOUS, or a row of scores; a newer release may have others
    cause: str  #: "" in the row that counts all jobs with the outcome

    @staticmethod
    def parse(text: bytes | str) -> SummaryRow:
        """Parse the stored form; raises one of DAMAGED_DATA."""
        return _parse_row(text)

    def __str__(self) -> str:
        return _write_row(self).decode()

    @staticmethod
    def is_row(field: bytes) -> bool:
        """Return whether a field of a batch's hash is a row of the summary rather than one of the batch's own."""
        return field.startswith(b"[")

    @staticmethod
    def pattern(outcome: Outcome, causes: Iterable[str]) -> str:
        """Return a pattern for HSCAN that matches the rows of an outcome with any of the causes, and a few others."""
        return f'*,"{outcome}","[{"".join({cause[0] for cause in causes})}]*'


_parse_row = msgspec.json.Decoder(SummaryRow).decode
_write_row = msgspec.json.Encoder().encode

Summary = Counter[SummaryRow]


@dataclass(slots=True)
class Tally:
    """Counts of jobs, in a form that takes a single step per job."""

    jobs_by: Counter[tuple[str | None, str | None, Outcome, str, int]] = field(
        default_factory=Counter
    )
    versions_used: set[str] = field(default_factory=set)
    grade_us: int = 0

    @property
    def jobs(self) -> int:
        """Number of jobs counted."""
        return self.jobs_by.total()

    @property
    def counts(self) -> dict[str, int]:
        """Jobs by outcome: `passed`, `failed`, `ungradable`, `errored` and so on."""
        counts: Counter[str] = Counter()
        for (_, _, outcome, _, _), count in self.jobs_by.items():
            counts[str(outcome)] += count
        return dict(counts)

    @property
    def summary(self) -> Summary:
        """Jobs by row: with the cause "" for all jobs with an outcome, and again by cause.

        Vacuous passes have an additional outcome beside `passed`. Each tenth of the score, such as "score 0.9", is an
        additional outcome beside `passed` and `failed`.
        """
        summary: Summary = Counter()
        for (label, grader, outcome, cause, tenth), count in self.jobs_by.items():
            summary[SummaryRow(label, grader, outcome, "")] += count
            if cause == VACUOUS and outcome is Outcome.PASSED:
                summary[SummaryRow(label, grader, VACUOUS, "")] += count
            elif cause:
                summary[SummaryRow(label, grader, outcome, cause)] += count
            if outcome.has_score:
                summary[SummaryRow(label, grader, score_row(tenth), "")] += count
        return summary

    @property
    def versions(self) -> str:
        """The graders used and their versions."""
        return " ".join(sorted(self.versions_used))

    def count(
        self,
        label: str | None,
        grader: str | None,
        outcome: Outcome,
        cause: str = "",
        score: float = 0.0,
    ) -> None:
        """Count one job; its `score` is ignored if it was not judged."""
        self.jobs_by[label, grader, outcome, cause, int(score * SCORE_BUCKETS)] += 1

    def pack(self) -> bytes:
        """Return the tally in the form for `record.lua`: each row of the summary with a substitute to use over the limit."""
        rows = [
            [str(row), count, _shared_row(row.outcome, bool(row.cause))]
            for row, count in self.summary.items()
        ]
        return orjson.dumps(
            {
                "counts": self.counts,
                "summary": sorted(rows),
                "jobs": self.jobs,
                "grade_us": self.grade_us,
            }
        )


@cache
def _shared_row(outcome: str, has_cause: bool) -> str:
    """Return the row that counts the jobs of all rows over the limit with an outcome, in its stored form."""
    return str(SummaryRow("(other labels)", "", outcome, "(other causes)" if has_cause else ""))


def packed_rows(tally: bytes | str) -> Iterator[tuple[SummaryRow, int]]:
    """Yield the rows of a tally that `pack` returned, and their counts; raises one of DAMAGED_DATA."""
    for row in orjson.loads(tally)["summary"]:
        yield SummaryRow.parse(row[0]), int(row[1])


def score_row(tenth: int) -> str:
    """Return the summary row for scores in a tenth, 0 to 9; the last includes 1.0."""
    return f"{SCORE}{min(tenth, SCORE_BUCKETS - 1) / SCORE_BUCKETS}"


def score_bucket(row: str) -> int | None:
    """Return the tenth that a summary row counts; None for other rows."""
    return _BUCKETS.get(row)


_BUCKETS = {score_row(tenth): tenth for tenth in range(SCORE_BUCKETS)}

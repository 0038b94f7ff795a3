"""Verification of results: grades the cases again, and compares the results."""

from __future__ import annotations

from array import array
from contextlib import closing
from typing import TYPE_CHECKING

import orjson
from msgspec.structs import replace

from weighbridge.errors import Fault
from weighbridge.graders.base import Verdict
from weighbridge.jobs.error_codes import RETRYABLE, ErrorCode
from weighbridge.jobs.line import JSON_SPACE, peek_custom_id
from weighbridge.jobs.outcome import JobStatus
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex
from weighbridge_producer.run.regrading import NOT_GRADED, LineToGrade, grade_here
from weighbridge_producer.run.result_index import ResultIndex
from weighbridge_producer.run.verification import LABEL_SHOWN, Verification
from weighbridge_producer.submit.id_conflict import ID_CONFLICT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from weighbridge.jobs.chunk import Line
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.source import Source
    from weighbridge_producer.input.source_lines import SourceLine
    from weighbridge_producer.run.regrading import Regraded

    Regrade = Callable[
        [Sequence[GraderSpec], Iterable[LineToGrade]], Generator[tuple[LineToGrade, Regraded]]
    ]

_FIELDS_SHOWN = 10
#: Error codes for past events, which grading again cannot reproduce.
_PAST_CODES: dict[str, frozenset[str]] = {
    JobStatus.ERRORED: RETRYABLE - {ErrorCode.CANCELLED, ErrorCode.EXPIRED},
    JobStatus.CANCELLED: frozenset({ErrorCode.CANCELLED}),
    JobStatus.EXPIRED: frozenset({ErrorCode.EXPIRED}),
}
#: Error codes of jobs that would hang or kill their process again.
_HARMFUL = frozenset({ErrorCode.TIMEOUT, ErrorCode.OUT_OF_MEMORY, ErrorCode.WORKER_KILLED})
_UNGRADED = b'"result":null'  #: in the row of each job that was not graded
#: Error codes of jobs that are not graded again, by their status.
_SKIPPED_CODES = {**_PAST_CODES, JobStatus.ERRORED: _HARMFUL}


def verify(
    results: Path,
    cases: Source,
    graders: Sequence[GraderSpec],
    *,
    allow_unproven: bool = False,
    regrade: Regrade = grade_here,
) -> Verification:
    """Grade all cases again and compare the results.

    Jobs that timed out, ran out of memory or killed their process are not graded again, nor are jobs that were cancelled or
    expired. Memory is constant except for the results of one line. Temporary files take about 15 bytes per result, to locate
    it, and about 50 per custom_id, to detect repeats and conflicts.
    """
    outcome = Verification(allow_unproven)
    labels = frozenset(spec.label for spec in graders)
    with (
        results.open("rb") as file,
        closing(ResultIndex(file, outcome)) as index,
        closing(DuplicateIndex()) as earlier_ids,
    ):
        lines = (
            _to_grade(number, line, earlier_ids, index)
            for number, line in enumerate(cases, start=1)
        )
        with closing(regrade(graders, lines)) as regraded:
            for given, rows in regraded:
                if isinstance(rows, Fault):
                    _note_not_regraded(given, rows, outcome)
                else:
                    _Comparison(given, rows, labels, index, outcome).settle()
        index.settle_rest(outcome)
    outcome.name_unnamed(graders)
    return outcome


def _to_grade(
    number: int, line: SourceLine, earlier_ids: DuplicateIndex, index: ResultIndex
) -> LineToGrade:
    """Return a line to be graded again, but not its jobs that were given up, nor a blank line, a repeat, or a line given up."""
    offsets = index.offsets(number)
    content = line.raw.strip(JSON_SPACE)
    if not line.fault:
        claim = _claim(content, earlier_ids)
        if not content or claim is Duplicate.REPEAT:
            return LineToGrade(line.as_job(number), offsets, known=[])
        line.fault = ID_CONFLICT if claim is Duplicate.CONFLICT else None
    rows = [*index.read(offsets)]
    # Decoding the rows of all lines would slow down verifying, and few lines have an ungraded job.
    skipped = _skipped(rows) if any(_UNGRADED in row for row in rows) else {}
    known = None
    if None in skipped and len(offsets) == 1:  # the whole line was given up
        given_up = ResultRow.ungraded(NOT_GRADED, number, custom_id=peek_custom_id(content))
        known = [given_up.to_bytes().rstrip(b"\n")]
    return LineToGrade(line.as_job(number), offsets, known, skipped)


def _claim(content: bytes, earlier_ids: DuplicateIndex) -> Duplicate:
    custom_id = peek_custom_id(content)
    return Duplicate.FIRST if custom_id is None else earlier_ids.claim(custom_id, content)


def _skipped(rows: Iterable[bytes]) -> dict[str | None, bool]:
    """Return the labels of jobs that must not be graded again, each with whether its grader had been created.

    A label that also has a row of another outcome is not among them.
    """
    found: dict[str | None, bool] = {}
    others: set[str | None] = set()
    for row in rows:
        result = _decoded(row)
        if result is None:
            continue
        error, codes = result.error, _SKIPPED_CODES.get(result.status, frozenset())
        if result.result is None and error and error.code in codes:
            found[result.label] = result.grader_version is not None
        else:
            others.add(result.label)
    return {label: created for label, created in found.items() if label not in others}


def _note_not_regraded(given: LineToGrade, why: Fault, outcome: Verification) -> None:
    """Count the results of a line for which grading again did not end."""
    outcome.changed += len(given.offsets)
    outcome.missing += not given.offsets
    outcome.add_problem(f"{_place(given.line)}: grading again ended with {why}")


def _place(line: Line) -> str:
    return f"line {line.number}" + (f" ({line.location})" if line.location else "")


class _Comparison:
    """Comparison of one line's expected results with its actual ones."""

    def __init__(
        self,
        given: LineToGrade,
        expected: list[bytes],
        labels: frozenset[str],
        index: ResultIndex,
        outcome: Verification,
    ) -> None:
        self._line, self._offsets = given.line, given.offsets
        self._skipped = given.skipped
        self._expected = expected
        self._labels = labels  #: of the graders that apply to cases which name none
        self._index = index
        self._outcome = outcome
        #: Expected results of jobs that were graded again, which a result of the file may equal.
        self._wanted = dict.fromkeys(row for row in expected if not self._is_skipped(row))
        self._open: dict[str | None, bytes] = {}  #: expected results not found yet, by label
        self._whole = False  #: True until one of the line's jobs is matched
        self._has_unnamed = False  #: whether a result is of a grader that is not named

    def settle(self) -> None:
        """Count the line's results, including missing ones."""
        jobs, rest = len(self._wanted), array("Q")
        for offset in self._offsets:
            [row] = self._index.read((offset,))
            if row in self._wanted:
                del self._wanted[row]
                self._note_label(row)
            else:
                rest.append(offset)
        self._outcome.proven += jobs - len(self._wanted)
        self._whole = jobs == len(self._wanted)
        for row in {**self._wanted, **dict.fromkeys(filter(self._is_skipped, self._expected))}:
            self._open[ResultRow.from_bytes(row).label] = row
        for row in self._index.read(rest):
            self._judge(row)
        self._outcome.missing += len(self._open)
        if self._has_unnamed and not self._labels:
            self._outcome.of_unnamed += len(self._open)  # the case has no grader without that one
            return
        for label in self._open:
            self._add_problem("no result", label, is_replaced=self._has_unnamed)

    def _note_label(self, row: bytes) -> None:
        if not self._outcome.has_labelled:
            self._outcome.has_labelled = ResultRow.from_bytes(row).label is not None

    def _is_skipped(self, row: bytes) -> bool:
        return bool(self._skipped) and ResultRow.from_bytes(row).label in self._skipped

    def _judge(self, row: bytes) -> None:
        """Count a result that differs from the expected ones."""
        found = _decoded(row)
        if found is None:
            self._outcome.surplus += 1
            self._add_problem("a row that is not a result")
        elif found.label in self._open:
            self._whole = False
            expected = self._open.pop(found.label)
            self._note_label(expected)
            job = ResultRow.from_bytes(expected)
            if _could_have_happened(row, found, job):
                self._note_unproven(found)
            else:
                self._outcome.changed += 1
                why = _regrading(found, job) or _difference(row, expected)
                self._add_problem(why, found.label)
        elif self._whole and self._covers_whole_line(row, found):
            self._open.clear()
            self._note_unproven(found)
        elif found.label and found.label not in self._labels and self._has_given_graders():
            self._has_unnamed = True
            self._outcome.add_unnamed(found.label, found.grader or found.label)
        else:
            self._outcome.surplus += 1
            self._add_problem("there is no such job", found.label)

    def _has_given_graders(self) -> bool:
        """Return whether the line is a case that names no graders, so that those that are given apply, if there are any."""
        jobs = [ResultRow.from_bytes(row) for row in self._expected]
        if self._labels:
            return {job.label for job in jobs} == self._labels
        return [job.error.code for job in jobs if job.error] == [ErrorCode.NO_GRADER]

    def _note_unproven(self, found: ResultRow) -> None:
        self._outcome.unproven += 1
        if found.error and not self._outcome.allow_unproven:
            self._add_problem(
                f"error {found.error.code} cannot be reproduced by grading again", found.label
            )

    def _covers_whole_line(self, row: bytes, found: ResultRow) -> bool:
        """Return whether a row is the only result of a line that a past error kept from being read at all."""
        if found.label is not None or found.status != JobStatus.ERRORED:
            return False
        nothing = {
            "label": None,
            "grader": None,
            "grader_version": None,
            "config_digest": None,
            "metadata": None,
        }
        jobs = map(ResultRow.from_bytes, self._open.values())
        return any(_could_have_happened(row, found, replace(job, **nothing)) for job in jobs)

    def _add_problem(
        self, what: str, label: str | None = None, *, is_replaced: bool = False
    ) -> None:
        named = "" if label is None else f", label {label[:LABEL_SHOWN]!r}"
        self._outcome.add_problem(f"{_place(self._line)}{named}: {what}", is_replaced=is_replaced)


def _decoded(row: bytes) -> ResultRow | None:
    try:
        return ResultRow.from_bytes(row)
    except ValueError:
        return None


def _regrading(found: ResultRow, job: ResultRow) -> str:
    """Return what grading again did otherwise: end in a limit, another verdict or grader; empty if none of these."""
    if job.error and job.error.code in _HARMFUL:
        return f"grading again ended with {job.error}"
    stated, verdict = found.verdict, job.verdict
    if stated != verdict and stated in tuple(Verdict) and verdict in tuple(Verdict):
        return f"the verdict is {stated}, and grading again gives {verdict}"
    version, installed = found.grader_version, job.grader_version
    if version and installed and version != installed:
        return (
            f"graded by version {version} of the grader, and version {installed} is installed here"
        )
    config, given = found.config_digest, job.config_digest
    if config and given and config != given:
        return f"graded with another configuration of the grader: {config}, not {given}"
    return ""


def _difference(row: bytes, expected: bytes) -> str:
    """Name the fields in which a row differs from the expected result of its job."""
    given, job = orjson.loads(row), orjson.loads(expected)
    fields = [name for name in job if given.get(name) != job[name]]
    fields += sorted(name[:LABEL_SHOWN] for name in given.keys() - job.keys())
    if not fields:
        return "changed; the values are equal, but the bytes differ"
    return f"changed; differs in: {', '.join(fields[:_FIELDS_SHOWN])}"


def _could_have_happened(row: bytes, found: ResultRow, job: ResultRow) -> bool:
    """Return whether a row equals, byte for byte, the result of a job that was cancelled, expired or interrupted.

    Only the error's message may differ, and whether the grader had been created by then.
    """
    error, codes = found.error, _PAST_CODES.get(found.status)
    if error is None or codes is None or error.code not in codes:
        return False
    is_errored = found.status == JobStatus.ERRORED
    was_built = is_errored and found.grader_version is not None
    # A worker that does not support a chunk's schema version cannot read its ids.
    is_unread = error.code == ErrorCode.SCHEMA_VERSION and found.custom_id is None
    happened = replace(
        job,
        custom_id=None if is_unread and job.label is None else job.custom_id,
        grader_version=job.grader_version if was_built else None,
        config_digest=job.config_digest if was_built else None,
        status=found.status,
        result=None,
        error=error,
        receipt=None,
    )
    return happened.to_bytes() == row + b"\n"

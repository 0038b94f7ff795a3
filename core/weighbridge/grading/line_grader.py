"""Grades lines to result lines: the only module in which jobs are graded, with or without a queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from weighbridge.errors import Fault, LineError
from weighbridge.grading.case import Case, parse_case
from weighbridge.grading.grader_cache import GraderCache, ReadyGrader, brief
from weighbridge.grading.grader_result import Graded, to_result_line
from weighbridge.grading.inputs import Inputs
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec, parse_specs
from weighbridge.jobs.line import peek_custom_id
from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from weighbridge.graders.registry import Registry

WHOLE_LINE = -1  #: job index that means all jobs of the line


class JobDeadlineError(BaseException):
    """Raised in a grader that exceeds the deadline; not caught by `except Exception`."""


class JobObserver(Protocol):
    """Is told which job runs, to identify a job that hangs or kills its process."""

    def begin(self, line: int, job: int) -> None:
        """Called when a job starts, with its line's index in the chunk and its own index among the line's jobs."""

    def end(self) -> None:
        """Called when a job ends."""


class _NoObserver:
    def begin(self, line: int, job: int) -> None:
        pass

    def end(self) -> None:
        pass


_NO_OBSERVER = _NoObserver()


class LineGrader:
    """Grades lines with the graders that they name or else with the batch's; caches graders."""

    def __init__(
        self,
        defaults: Sequence[GraderSpec] = (),
        registry: Registry | None = None,
        ready: GraderCache | None = None,
    ) -> None:
        """Create a line grader with the graders of a registry, or with an existing cache `ready`."""
        self._defaults = tuple(defaults)
        self._ready = ready or GraderCache(registry)

    def grade(
        self,
        line: Line,
        tally: Tally,
        observer: JobObserver = _NO_OBSERVER,
        quarantined: Mapping[int, Fault] | None = None,
    ) -> bytes:
        """Return the result lines of one line of input and count them.

        `quarantined` are errors of jobs that must not be tried again, by index among the line's jobs or WHOLE_LINE.
        """
        # Parsing the line may be what kills the process.
        case = (quarantined and quarantined.get(WHOLE_LINE)) or self._read(line, observer)
        if isinstance(case, Fault):
            return self._errored(line, tally, case)
        return self.grade_case(line, case, tally, observer, quarantined)

    def grade_case(
        self,
        line: Line,
        case: Case,
        tally: Tally,
        observer: JobObserver = _NO_OBSERVER,
        quarantined: Mapping[int, Fault] | None = None,
    ) -> bytes:
        """Return the result lines of a parsed line, and count them."""
        specs, inputs = case.graders, Inputs(case.inputs)
        if len(specs) == 1:
            return self._job(line, case, inputs, specs[0], 0, tally, observer, quarantined)
        return b"".join(
            self._job(line, case, inputs, spec, job, tally, observer, quarantined)
            for job, spec in enumerate(specs)
        )

    def close(self, line: Line, tally: Tally, outcome: Outcome) -> bytes:
        """Return the result lines of a line that was not graded in time, and count them."""
        fault = _CLOSED[outcome]
        case = self._case(line)
        if isinstance(case, Fault):
            tally.count(None, None, outcome)
            return _line_result(line, outcome, fault)
        out = b""
        for spec in case.graders:
            tally.count(spec.label, spec.grader, outcome)
            out += _job_result(line, case, spec, None, outcome, fault)
        return out

    def fault_of(self, line: Line) -> Fault | None:
        """Return the reason why a line cannot be graded, if that is known without grading it."""
        case = self._case(line)
        if isinstance(case, Fault):
            return case
        for spec in case.graders:
            ready = self._ready.get(spec)
            fault = ready if isinstance(ready, Fault) else ready.fault_of(case.inputs)
            if fault:
                return fault
        return None

    def _read(self, line: Line, observer: JobObserver) -> Case | Fault:
        """Parse a line's case, observed like a job, because a hostile line may be slow or large to parse."""
        try:
            try:
                observer.begin(line.index, WHOLE_LINE)
                return line.fault or parse_case(line.raw, self._defaults)
            finally:
                observer.end()
        except LineError as error:
            return error.fault
        except JobDeadlineError as error:
            return Fault(ErrorCode.TIMEOUT, str(error), "make the line smaller")
        except MemoryError:
            return _OUT_OF_MEMORY

    def jobs_of(self, line: Line) -> int:
        """Return the number of jobs of a line."""
        case = self._case(line)
        return 1 if isinstance(case, Fault) else len(case.graders)

    def _case(self, line: Line) -> Case | Fault:
        if line.fault:
            return line.fault
        try:
            return parse_case(line.raw, self._defaults)
        except LineError as error:
            return error.fault

    def _errored(self, line: Line, tally: Tally, error: Fault) -> bytes:
        tally.count(None, None, Outcome.ERRORED, error.code)
        return _line_result(line, Outcome.ERRORED, error.at(line.location))

    def _job(
        self,
        line: Line,
        case: Case,
        inputs: Inputs,
        spec: GraderSpec,
        job: int,
        tally: Tally,
        observer: JobObserver,
        quarantined: Mapping[int, Fault] | None,
    ) -> bytes:
        """Run one job, observed: create the grader, grade, and write the result; any exception becomes an error."""
        if quarantined and job in quarantined:
            return self._job_errored(line, case, spec, None, tally, quarantined[job])
        ready: ReadyGrader | Fault | None = None
        try:
            # Nested, because an interruption can arrive just as the job ends.
            try:
                observer.begin(line.index, job)
                ready = self._ready.get(spec)
                if isinstance(ready, Fault):
                    graded: Graded | Fault = ready
                # Nearly all lines have exactly the grader's parameters.
                elif inputs.given.keys() != ready.known and (fault := ready.fault_of(inputs.given)):
                    graded = fault
                else:
                    if ready.reads_trace:
                        named = inputs.with_trace_read
                    else:
                        named = inputs.given if ready.is_built_in else inputs.copied
                    graded = to_result_line(line, case, inputs, spec, ready, ready.grade(**named))
            finally:
                observer.end()
        except JobDeadlineError as error:
            hint = "raise WEIGHBRIDGE_JOB_DEADLINE_SECONDS, or correct the grader"
            graded = Fault(ErrorCode.TIMEOUT, str(error), hint)
        except MemoryError:
            graded = _OUT_OF_MEMORY
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
            graded = Fault(
                ErrorCode.GRADER_CRASHED,
                f"the grader raised {brief(error)}",
                "graders must not raise",
            )
        built = ready if isinstance(ready, ReadyGrader) else None
        if built:
            tally.versions_used.add(built.id_and_version)
        if isinstance(graded, Fault):
            return self._job_errored(line, case, spec, built, tally, graded)
        row, outcome, cause, score = graded
        tally.count(spec.label, spec.grader, outcome, cause, score)
        return row

    def _job_errored(
        self,
        line: Line,
        case: Case,
        spec: GraderSpec,
        ready: ReadyGrader | None,
        tally: Tally,
        error: Fault,
    ) -> bytes:
        tally.count(spec.label, spec.grader, Outcome.ERRORED, error.code)
        return _job_result(line, case, spec, ready, Outcome.ERRORED, error.at(line.location))


def _line_result(line: Line, outcome: Outcome, error: Fault) -> bytes:
    """Return the single result of a line that is not a case."""
    custom_id = peek_custom_id(line.raw)
    row = ResultRow.ungraded(error, line.number, outcome.status, custom_id=custom_id)
    return row.to_bytes()


def _job_result(
    line: Line,
    case: Case,
    spec: GraderSpec,
    ready: ReadyGrader | None,
    outcome: Outcome,
    error: Fault,
) -> bytes:
    """Return the result of a job that was not graded."""
    row = ResultRow.ungraded(
        error,
        line.number,
        outcome.status,
        custom_id=case.custom_id,
        label=spec.label,
        grader=spec.grader,
        grader_version=ready.version if ready else None,
        config_digest=ready.receipts.config_digest if ready else None,
        metadata=case.metadata,
    )
    return row.to_bytes()


def grade_lines(
    lines: Iterable[bytes], graders: Sequence[str | Mapping[str, Any] | GraderSpec] = ()
) -> Iterator[bytes]:
    """Grade raw lines in this process, without a queue, and yield the result lines of each.

    Unlike in a batch, repeated custom_ids are not detected.
    """
    grader = LineGrader(parse_specs(graders))
    tally = Tally()
    for index, raw in enumerate(lines):
        if raw.strip():
            yield grader.grade(Line(index, index + 1, raw.rstrip(b"\n")), tally)


_CLOSED = {
    Outcome.CANCELLED: Fault(
        ErrorCode.CANCELLED,
        "the batch was cancelled before this job was graded",
        "`weighbridge retry` grades it after all",
    ),
    Outcome.EXPIRED: Fault(
        ErrorCode.EXPIRED,
        "the batch expired before this job was graded",
        "`weighbridge retry` grades it after all; WEIGHBRIDGE_BATCH_EXPIRY_SECONDS gives more time",
    ),
}


_OUT_OF_MEMORY = Fault(
    ErrorCode.OUT_OF_MEMORY,
    "the grader needed more memory than a worker child may use",
    "split the case, or raise WEIGHBRIDGE_CHILD_MEMORY_LIMIT_BYTES",
)

"""CPU time of one grader for each case, stage by stage, in this process."""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.errors import Fault, LineError, WeighbridgeError
from weighbridge.grading.case import parse_case
from weighbridge.grading.grader_cache import GraderCache, brief
from weighbridge.grading.grader_result import to_result_line
from weighbridge.grading.inputs import Inputs
from weighbridge.jobs.error_codes import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.grading.grader_cache import ReadyGrader
    from weighbridge.jobs.chunk import Line
    from weighbridge.jobs.grader_spec import GraderSpec

STAGES = ("parse", "import", "grade", "encode")  #: in their order
_NANOSECONDS_IN_US = 1_000


class CaseTimes(NamedTuple):
    """The CPU time of one case."""

    custom_id: str
    line: int
    bytes: int
    stages: tuple[int, ...]  #: nanoseconds

    @property
    def total(self) -> int:
        """Nanoseconds of all stages."""
        return sum(self.stages)

    def as_dict(self) -> dict[str, Any]:
        """Return the times in microseconds, for JSON."""
        stages = zip(STAGES, map(microseconds, self.stages), strict=True)
        return {
            "custom_id": self.custom_id,
            "line": self.line,
            "bytes": self.bytes,
            "us": microseconds(self.total),
            "stages": dict(stages),
        }


@dataclass
class Times:
    """The CPU times of many cases, and the lines that were not graded."""

    cases: list[CaseTimes]
    faults: int = 0
    first_fault: Fault | None = None

    def of(self, stage: str) -> list[int]:
        """Return the sorted nanoseconds of a stage, or of `all`."""
        if stage == "all":
            return sorted(case.total for case in self.cases)
        place = STAGES.index(stage)
        return sorted(case.stages[place] for case in self.cases)


def microseconds(nanoseconds: int) -> float:
    """Return nanoseconds as microseconds with one decimal."""
    return round(nanoseconds / _NANOSECONDS_IN_US, 1)


def percentile(ordered: Sequence[int], share: float) -> int:
    """Return the value below which about that share of the sorted values lies; 0 for none."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0


def measure(spec: GraderSpec, lines: Iterable[Line], rounds: int) -> Times:
    """Grade each line some times with one grader; of each stage the least time counts.

    Raises WeighbridgeError if the grader cannot be created.
    """
    ready = GraderCache().get(spec)
    if isinstance(ready, Fault):
        raise WeighbridgeError(ready.message, ready.hint)
    times = Times([])
    for line in lines:
        every = [_measured(spec, ready, line) for _ in range(rounds)]
        faults = [each for each in every if isinstance(each, Fault)]
        if faults:
            times.faults += 1
            times.first_fault = times.first_fault or faults[0]
        else:
            times.cases.append(_least([each for each in every if isinstance(each, CaseTimes)]))
    return times


def _least(every: Sequence[CaseTimes]) -> CaseTimes:
    stages = tuple(map(min, zip(*(each.stages for each in every), strict=True)))
    return every[0]._replace(stages=stages)


def _measured(spec: GraderSpec, ready: ReadyGrader, line: Line) -> CaseTimes | Fault:
    """Grade one line as a worker does, with the clock read between the stages."""
    try:
        if line.fault:
            return line.fault
        began = thread_time_ns()
        case = parse_case(line.raw, (spec,), needs_grader=False)
        inputs = Inputs(case.inputs)
        if fault := ready.fault_of(inputs.given):
            return fault.at(line.location)
        imported = parsed = thread_time_ns()
        named = inputs.given
        if ready.reads_trace:
            named = inputs.with_trace_read
            imported = thread_time_ns()
        result = ready.grade(**named)
        graded = thread_time_ns()
        row = to_result_line(line, case, inputs, spec, ready, result)
        ended = thread_time_ns()
    except LineError as error:
        return error.fault.at(line.location)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in may raise anything
        raised = Fault(
            ErrorCode.GRADER_CRASHED, f"the grader raised {brief(error)}", "graders must not raise"
        )
        return raised.at(line.location)
    if isinstance(row, Fault):
        return row.at(line.location)
    stages = (parsed - began, imported - parsed, graded - imported, ended - graded)
    return CaseTimes(case.custom_id, line.number, len(line.raw), stages)

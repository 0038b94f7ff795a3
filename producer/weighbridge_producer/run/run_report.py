"""The result of a run, and its progress until then."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_producer.gating.exit_status import decide_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.exit_status import Decision
    from weighbridge_producer.gating.gates import Gate
    from weighbridge_producer.gating.slices import SliceTally
    from weighbridge_producer.reports.recorded_verdicts import RecordedVerdicts
    from weighbridge_producer.reports.weak_passes import WeakPasses
    from weighbridge_producer.run.examples import Examples
    from weighbridge_producer.run.first_errors import FirstErrors
    from weighbridge_producer.tool_limits import ToolLimit


@dataclass(frozen=True, slots=True)
class RunReport:
    """Result of a run."""

    state: BatchState
    summary: list[GraderSummary]
    seconds: float  #: from the first line read to the last result written
    source: str  #: name of the input
    server: str
    resumed: bool
    byte_order_mark: bool
    fail_fast: int  #: the N of --fail-fast if the rest was cancelled because of it, else 0
    errored: FirstErrors
    examples: Examples  #: one job for each of the commonest causes
    slices: SliceTally  #: by the requested metadata fields
    uncalled: list[ToolLimit]  #: limits on tools that no trace calls
    weak_passes: WeakPasses
    recorded_verdicts: RecordedVerdicts

    def decide(self, gates: Sequence[Gate]) -> Decision:
        """Return the exit status of the run."""
        given = (self.state, self.summary, gates, self.slices)
        return decide_on(*given, fail_fast=self.fail_fast)


@dataclass(slots=True)
class Progress:
    """Progress of a run, for display."""

    note: str = ""
    state: BatchState | None = None
    #: fraction of the input that was read; None if its size is unknown
    read_share: float | None = None

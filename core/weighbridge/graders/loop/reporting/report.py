"""The details and the score of the loop grader, and the numbers of steps that it examined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.finders.sequences.cycles import cycles
from weighbridge.graders.loop.reporting.reported_loop import id_of

if TYPE_CHECKING:
    from weighbridge.graders.loop.acceptance import Acceptance
    from weighbridge.graders.loop.config import LoopConfig
    from weighbridge.graders.loop.finders.exemptions.spared import Spared
    from weighbridge.graders.loop.history.actions import Call, Message
    from weighbridge.graders.loop.reporting.reported_loop import Loop

Steps = Sequence["Call | Message | None"]

LOOPS_LIMIT = 50  #: maximum loops listed in the details
SPARED_LIMIT = 20  #: the same of what is spared
DETAILED_IDS_LIMIT = 1_000  #: maximum step ids in the details, over all loops
_SEVERITY = (
    *("began_at", "recovered"),
    *("wasted_steps", "wasted_tokens", "wasted_ms", "wasted_usd"),
)


class Repetition(NamedTuple):
    """Range of a row of steps in which the same round of steps repeats."""

    row: Steps = ()
    indices: range = range(0)
    period: int = 1  #: steps in each round

    def steps(self) -> Steps:
        """Return the steps in the range."""
        return self.row[self.indices.start : self.indices.stop]


_NO_REPETITION = Repetition()


@dataclass(slots=True)
class Coverage:
    """Numbers of steps examined, and the longest repetitions among them."""

    steps: int = 0
    longest_repeat: int = 0  #: consecutive similar steps
    repeated: Repetition = _NO_REPETITION
    most_rounds: int = 0  #: full rounds of two or more steps
    in_rounds: Repetition = _NO_REPETITION

    def add(self, row: Sequence[int], steps: Steps, max_period: int) -> None:
        """Add a row of numbered steps; a negative number is not a step."""
        count = sum(number >= 0 for number in row)
        self.steps += count
        if not count:
            return
        self.longest_repeat = self.longest_repeat or 1
        for period, (start, end) in cycles(row, max_period):
            if row[start] < 0:
                continue
            rounds = (end - start) // period
            if period == 1 and rounds > self.longest_repeat:
                self.longest_repeat = rounds
                self.repeated = Repetition(steps, range(start, end))
            elif rounds > self.most_rounds and len(set(row[start : start + period])) > 1:
                self.most_rounds = rounds
                self.in_rounds = Repetition(steps, range(start, end), period)


def ids_in(steps: Steps) -> tuple[str, ...]:
    """Return the ids of the steps in a part of a row."""
    return tuple(id_of(step.step) for step in steps if step is not None)


def details(
    given: LoopConfig,
    loops: Sequence[Loop],
    coverage: Coverage,
    spared: Sequence[Spared] = (),
    calls: Steps = (),
    acceptance: Acceptance | None = None,
) -> dict[str, object]:
    """Return the details: the loops, what is spared of calls, the numbers of steps examined, and the thresholds."""
    return {
        "loops": _as_json(loops[:LOOPS_LIMIT]),
        "loops_found": len(loops),
        "spared": [_spared_as_json(each, calls) for each in spared[:SPARED_LIMIT]],
        "spared_found": len(spared),
        "steps_examined": coverage.steps,
        "steps_in_loops": len({step_id for loop in loops for step_id in loop.step_ids}),
        "max_repeats_without_loop": acceptance.accepted if acceptance else None,
        "longest_repeat": coverage.longest_repeat,
        "most_rounds": coverage.most_rounds,
        "max_repeats": given.max_repeats,
        "similarity_threshold": given.similarity_threshold,
        "max_period": given.max_period,
        "step_types": list(given.step_types),
        "compare_results": given.compare_results,
        "fail_on": given.fail_on,
    }


def score(loops: Sequence[Loop], coverage: Coverage) -> float:
    """Return the share of the examined steps that are in no loop; 1 if none was examined."""
    if not coverage.steps:
        return 1.0
    inside = len({step_id for loop in loops for step_id in loop.step_ids})
    return max(0, coverage.steps - inside) / coverage.steps


def _as_json(loops: Sequence[Loop]) -> list[dict[str, object]]:
    left = DETAILED_IDS_LIMIT
    shown: list[dict[str, object]] = []
    for loop in loops:
        step_ids = list(loop.step_ids[:left])
        left -= len(step_ids)
        shown.append(
            {
                "kind": str(loop.kind),
                "rule": loop.measure.rule.id,
                "observed": loop.measure.observed,
                "limit": loop.measure.limit,
                "period": loop.period,
                "repeats": loop.repeats,
                "steps": len(loop.step_ids),
                "step_ids": step_ids,
                "tools": list(loop.differences.tools),
                "differences": [each.as_dict() for each in loop.differences.arguments],
                "distinct_results": loop.differences.results,
                "outcome": loop.outcome.as_dict() if loop.outcome else None,
                "min_similarity": loop.min_similarity,
                **{field: getattr(loop.severity, field) for field in _SEVERITY},
            }
        )
    return shown


def _spared_as_json(spared: Spared, calls: Steps) -> dict[str, object]:
    ids = ids_in([calls[index] for index in spared.finding.indices])
    return {
        "rule": spared.finding.measure.rule.id,
        "reason": str(spared.reason),
        "steps": len(ids),
        "first_step_id": ids[0],
        "last_step_id": ids[-1],
    }

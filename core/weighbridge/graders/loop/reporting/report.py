"""The result of the loop grader: its details, its score and its evidence, for a trace with loops and for one without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.graders.loop.config import MAX_REPEATS_LIMIT
from weighbridge.graders.loop.finders.ordered_calls import least_without_results
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.finders.sequences.cycles import cycles
from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.reporting.differences import named
from weighbridge.graders.loop.reporting.reported_loop import id_of
from weighbridge.graders.loop.work_budget import STEPS_LIMIT
from weighbridge.graders.trace_grader import bounded, excerpt_of, first_ids
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from weighbridge.graders.base import Evidence
    from weighbridge.graders.loop.acceptance import Acceptance
    from weighbridge.graders.loop.config import LoopConfig
    from weighbridge.graders.loop.finders.exemptions.spared import Spared
    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.reporting.reported_loop import Loop
    from weighbridge.graders.loop.reporting.severity import Severity
    from weighbridge.graders.loop.work_budget import Limits
    from weighbridge.traces import Trace

Steps = Sequence["Call | Message | None"]

LOOPS_LIMIT = 50  #: maximum loops listed in the details
SPARED_LIMIT = 20  #: the same of what is spared
DETAILED_IDS_LIMIT = 1_000  #: maximum step ids in the details, over all loops
#: Of rules that count more than the steps of a loop: what these steps do not include, as it is said behind their number.
_NOT_INCLUDED = {
    Rule.REPEATED_TALK: ", without the replies",
    Rule.KNOWN_RESULTS: ", without the first",
}
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


def _ids(steps: Steps) -> tuple[str, ...]:
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
        "max_repeats_to_pass": acceptance.accepted if acceptance else None,
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
    """Return the share of the examined steps that are in no loop."""
    inside = len({step_id for loop in loops for step_id in loop.step_ids})
    return max(0, coverage.steps - inside) / max(1, coverage.steps)


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
                "min_similarity": loop.min_similarity,
                **{field: getattr(loop.severity, field) for field in _SEVERITY},
            }
        )
    return shown


def _spared_as_json(spared: Spared, calls: Steps) -> dict[str, object]:
    ids = _ids([calls[index] for index in spared.finding.indices])
    return {
        "rule": spared.finding.measure.rule.id,
        "reason": str(spared.reason),
        "steps": len(ids),
        "first_step_id": ids[0],
        "last_step_id": ids[-1],
    }


def evidence_of_loops(loops: Sequence[Loop], *, fail_on: str, remark: str = "") -> list[Evidence]:
    """Return an evidence entry for each loop; with `fail_on` for unrecovered loops only, a recovered loop passes.

    The description of the first loop that fails the run ends with the remark.
    """
    entries = []
    for loop in loops:
        entry = _entry(loop)
        if fail_on == "unrecovered" and loop.severity.recovered:
            entry["passed"] = True
            del entry["cause"]
        else:
            entry["description"] += remark
            remark = ""
        entries.append(entry)
    return bounded(entries, "loops")


def _entry(loop: Loop) -> Evidence:
    measure = loop.measure
    rule = measure.rule
    is_in_row = rule.is_in_row and measure.period == loop.period == 1
    times = f"{measure.observed:,} times{' in a row' if is_in_row else ''}"
    between = f", {rule.between}" if rule.between else ""
    count = len(loop.step_ids)
    shown = f" (the first {len(first_ids(loop.step_ids))} are named)" if count > 50 else ""
    tools, differing = (
        named(loop.differences.tools),
        loop.differences.describe(noise=loop.has_noise),
    )
    entry: Evidence = {
        "check": "loop",
        "description": f"{tools}{': ' if tools else ''}{rule.in_words(measure.period)} {times}, limit {measure.limit:,}{between}: "
        f"{pluralize(count, 'step')}{_compared_to_count(loop)}{shown}{_alike(loop)}{differing}; {_severity(loop.severity)}",
        "passed": False,
        "cause": loop.differences.cause_by(rule.id),
        "limit": measure.limit,
        "observed": measure.observed,
        "step_ids": first_ids(loop.step_ids),
    }
    excerpt = excerpt_of(loop.first_text)
    if excerpt:
        entry["excerpt"] = excerpt
    return entry


def remark_on(acceptance: Acceptance, max_repeats: int, steps: int) -> str:
    """Say with which larger `max_repeats` a run that fails would pass, or that none was found; empty if it is the largest."""
    accepted, refused = acceptance.accepted, acceptance.refused
    if accepted is not None:
        smaller = f", with {refused:,} one would" if refused > max_repeats else ""
        return f"; with max_repeats {accepted:,} no loop would fail the run{smaller}"
    if refused > max_repeats:
        return f"; with each larger max_repeats that was tried, up to {refused:,}, a loop would fail the run"
    if max_repeats == MAX_REPEATS_LIMIT:
        return ""
    return f"; no larger max_repeats was tried, because the run of {steps:,} steps is too large"


def _severity(severity: Severity) -> str:
    """Describe a loop's position, whether the agent recovered, and the cost of its repeats."""
    tokens, duration, usd = severity.wasted_tokens, severity.wasted_ms, severity.wasted_usd
    costs = [pluralize(severity.wasted_steps, "step")]
    costs += [] if tokens is None else [f"{tokens:,} tokens"]
    costs += [] if duration is None else [f"{duration / 1000:,.1f} s"]
    costs += [] if usd is None else [f"{usd:,.4f} USD"]
    first, last, count = severity.began_at, severity.last_at, severity.run_steps
    where = (
        f"steps {first:,} to {last:,} of {count:,}, then the agent left the loop"
        if severity.recovered
        else f"from step {first:,} of {count:,} to the end: the agent did not leave the loop"
    )
    return f"{where}; cost from the first repeat: {', '.join(costs)}"


def evidence_beyond_limits(trace: Trace, *, is_compared: bool) -> list[Evidence]:
    """Return evidence of the steps of a huge trace that were not examined, or compared only for equality."""
    beyond: list[Evidence] = []
    count = len(trace.steps)
    if count > STEPS_LIMIT:
        beyond.append(
            {
                "check": "max_steps_examined",
                "description": f"{count:,} steps, of which the first {STEPS_LIMIT:,} were examined",
                "passed": False,
                "limit": STEPS_LIMIT,
                "observed": count,
                "step_ids": [],
            }
        )
    if not is_compared:
        beyond.append(
            {
                "check": "likeness",
                "description": "too many steps are similar, or have noise in them, to compare all of them in full: "
                "later steps count as the same only if they are equal",
                "passed": True,
                "step_ids": [],
            }
        )
    return beyond


def evidence_of_others(reason: str) -> Evidence:
    """Return evidence, in place of that of missing calls, that only what the run's own agent did was examined."""
    return {
        "check": "made_by_others",
        "description": f"only what this agent did itself was examined: {reason}",
        "passed": True,
        "step_ids": [],
    }


def _compared_to_count(loop: Loop) -> str:
    """Describe how the steps of a loop differ from what its rule counts; empty if they are the same."""
    counted, count = loop.measure.counted, len(loop.step_ids)
    if counted < count:
        return " in the whole loop"
    return _NOT_INCLUDED.get(loop.measure.rule, "") if counted > count else ""


def _alike(loop: Loop) -> str:
    """Describe how alike the repeats are; empty if the rule says how they differ, or no step repeats another."""
    if loop.measure.rule.between or not loop.repeating:
        return ""
    is_all = loop.repeating == len(loop.step_ids)
    if loop.min_similarity < 1:
        share = f"at least {min(99, round(100 * loop.min_similarity))}% alike"
        return f", {share}" if is_all else f", {loop.repeating:,} of which are {share}"
    other = "the one before" if loop.period == 1 else "the one that it repeats"
    equal = f", each equal to {other}" if is_all else f", {loop.repeating:,} of which equal another"
    return f"{equal}{', ignoring noise in results' if loop.has_noise else ''}"


def evidence_of_none(
    coverage: Coverage, limits: Limits, spared: Sequence[Spared]
) -> list[Evidence]:
    """Return evidence for a trace without loops: the checks made, the longest repetitions, and why these are no loops."""
    if not coverage.steps:
        return [
            {
                "check": "vacuous",
                "description": "the trace has no step of the types examined, so nothing was checked",
                "passed": True,
                "observed": 0,
                "step_ids": [],
            }
        ]
    beyond, rounds_beyond = "", ""
    if coverage.longest_repeat > limits.max_repeats:
        beyond = _why_no_loop(coverage.repeated, limits, spared)
    if coverage.most_rounds >= limits.least_rounds:
        rounds_beyond = _why_no_loop(coverage.in_rounds, limits, spared)
    return [
        {
            "check": "repeated_steps",
            "description": f"{coverage.steps:,} steps examined; at most {coverage.longest_repeat:,} alike in a row, "
            f"limit {limits.max_repeats:,}{beyond}",
            "passed": True,
            "limit": limits.max_repeats,
            "observed": coverage.longest_repeat,
            "step_ids": first_ids(_ids(coverage.repeated.steps())),
        },
        {
            "check": "repeated_cycles",
            "description": f"at most {coverage.most_rounds:,} full rounds of a cycle of 2 to {limits.max_period:,} steps; "
            f"{limits.least_rounds:,} are a loop{rounds_beyond}",
            "passed": True,
            "limit": limits.least_rounds - 1,
            "observed": coverage.most_rounds,
            "step_ids": first_ids(_ids(coverage.in_rounds.steps())),
        },
    ]


def _why_no_loop(repetition: Repetition, limits: Limits, spared: Sequence[Spared]) -> str:
    """Say why repeats beyond the limit are no loop: results are missing, or they were spared; empty if it is neither."""
    calls = [step for step in repetition.steps() if isinstance(step, Call)]
    if not calls:
        return ""
    if least := least_without_results(calls, repetition.period, limits):
        missing = sum(call.result.text is None or call.result.omits_image for call in calls)
        known = (
            f": without results, {least:,} in a row are a loop" if repetition.period == 1 else ""
        )
        return f"; the trace lacks the results of {missing:,} of these {len(calls):,} steps, so each may have had another{known}"
    within = [
        (sum(index in repetition.indices for index in each.finding.indices), each.reason)
        for each in spared
    ]
    steps, reason = max(within, key=lambda each: each[0], default=(0, None))
    return f"; no loop, because {reason.in_words}" if steps and reason else ""

"""The evidence of the loop grader, for a trace with loops and for one without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.graders.loop.config import MAX_REPEATS_LIMIT
from weighbridge.graders.loop.finders.ordered_calls import least_without_results
from weighbridge.graders.loop.finders.rules import Rule
from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.reporting.differences import named
from weighbridge.graders.loop.reporting.report import ids_in
from weighbridge.graders.loop.work_budget import STEPS_LIMIT
from weighbridge.graders.trace_grader import bounded, excerpt_of, first_ids
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.graders.base import Evidence
    from weighbridge.graders.loop.acceptance import Acceptance
    from weighbridge.graders.loop.finders.exemptions.spared import Spared
    from weighbridge.graders.loop.reporting.report import Coverage, Repetition
    from weighbridge.graders.loop.reporting.reported_loop import Loop
    from weighbridge.graders.loop.reporting.severity import Severity
    from weighbridge.graders.loop.work_budget import Limits
    from weighbridge.traces import Trace

#: Of rules that count more than the steps of a loop: what these steps do not include, as it is said behind their number.
_NOT_INCLUDED = {
    Rule.REPEATED_TALK: ", without the replies",
    Rule.KNOWN_RESULTS: ", without the first",
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
    outcome = f"; {loop.outcome.describe()}" if loop.outcome else ""
    entry: Evidence = {
        "check": "loop",
        "description": f"{tools}{': ' if tools else ''}{rule.in_words(measure.period)} {times}, limit {measure.limit:,}{between}{outcome}; "
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


def remark_on(acceptance: Acceptance, max_repeats: int) -> str:
    """Say with which larger `max_repeats` a run that fails would pass, or that none was found; empty if it is the largest."""
    accepted, refused = acceptance.accepted, acceptance.refused
    if accepted is not None:
        smaller = f", with {refused:,} one would" if refused > max_repeats else ""
        return f"; with max_repeats {accepted:,} no loop would fail the run{smaller}"
    if refused > max_repeats:
        return f"; with each larger max_repeats that was tried, up to {refused:,}, a loop would fail the run"
    if max_repeats == MAX_REPEATS_LIMIT:
        return ""
    return "; no larger max_repeats was tried, because the run is too large"


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
            "step_ids": first_ids(ids_in(coverage.repeated.steps())),
        },
        {
            "check": "repeated_cycles",
            "description": f"at most {coverage.most_rounds:,} full rounds of a cycle of 2 to {limits.max_period:,} steps; "
            f"{limits.least_rounds:,} are a loop{rounds_beyond}",
            "passed": True,
            "limit": limits.least_rounds - 1,
            "observed": coverage.most_rounds,
            "step_ids": first_ids(ids_in(coverage.in_rounds.steps())),
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

"""Calls that a source counts or implies but that were not read: the trace is then incomplete."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from weighbridge.traces.fields import counted
from weighbridge.traces.model import COUNTED
from weighbridge.traces.text_actions import UNASKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from weighbridge.traces.model import Capability, Step, Trace, Usage


OTHER_AGENTS = "the lines of agents that this one started stand elsewhere"
SCRIPTS = "the session records only some of the calls that scripts made"
#: Reasons why calls are missing that other agents or scripts made; the calls of the run's own agent are complete.
MADE_BY_OTHERS = frozenset({OTHER_AGENTS, SCRIPTS})
#: Reason why calls are missing of which a session has only a summary. The call of the model that wrote it is missing, too.
_SUMMED_UP = "a summary stands for earlier messages, which the session no longer has"
#: Keys of the time at which a session was last written. A row of a data set with a summary has no such key.
_UPDATED = frozenset({"updated", "updated_at", "updatedAt", "last_updated", "lastUpdated"})


def with_unread_calls(trace: Trace) -> Trace:
    """Return a trace with calls marked as missing if its source counts or implies more of them than were read."""
    missing = {**_tool_calls(trace), **_model_calls(trace)}
    known = {
        name: reason
        for name, reason in trace.missing.items()
        if reason != UNASKED or name not in missing
    }
    return replace(trace, missing={**missing, **known}) if missing else trace


def with_unread_lines(trace: Trace, lines: int) -> Trace:
    """Return a session's trace with all totals marked as missing if some lines of the session were not read.

    Nor does it have the run's start and end where these are only times of its steps.
    """
    if not lines:
        return trace
    which = "a damaged line" if lines == 1 else f"{lines:,} damaged lines"
    reason = f"what {which} of the session recorded is not known"
    missing = {**dict.fromkeys(COUNTED, reason), **trace.missing}
    times = _times_of(trace.steps)
    return replace(
        trace,
        missing=missing,
        started_at=None if trace.started_at in times else trace.started_at,
        ended_at=None if trace.ended_at in times else trace.ended_at,
    )


def with_times_of_steps(trace: Trace, unread: Iterable[int | None]) -> Trace:
    """Return a trace with the first and the last time of its steps as those of a run that states none, if no call lies beyond.

    `unread` are the times at which calls that were not read had ended; None for an unknown one.
    """
    times = _times_of(trace.steps)
    if not times:
        return trace
    first, last = min(times), max(times)
    if not all(time is not None and first <= time <= last for time in unread):
        return trace
    return replace(trace, started_at=trace.started_at or first, ended_at=trace.ended_at or last)


def _times_of(steps: Sequence[Step]) -> set[int]:
    times = (time for step in steps for time in (step.started_at, step.ended_at))
    return {time for time in times if time is not None}


def with_unknown_part(trace: Trace, lacking: Mapping[Capability, str]) -> Trace:
    """Return a trace of a run of which a part is not known, with its totals marked as missing, each with the reason given.

    Where the source records no times at all, that reason stays.
    """
    if not lacking:
        return trace
    missing = {**trace.missing, **lacking}
    if "timing" in trace.missing:
        missing["timing"] = trace.missing["timing"]
    return replace(trace, missing=missing)


def missing_without_messages(runs: int) -> dict[Capability, str]:
    """Return all totals as missing, with the reason: the source keeps this number of runs without their messages."""
    which = "the run has" if runs == 1 else f"{runs:,} runs have"
    return dict.fromkeys(
        COUNTED, f"{which} no messages: what was called before it ended is not known"
    )


def with_unread_summaries(trace: Trace, summaries: int, *, in_totals: bool = True) -> Trace:
    """Return a trace with model calls, tokens and cost marked as missing if a model wrote summaries by calls that are not recorded.

    `in_totals`: whether totals that the source states for the run include them.
    """
    if not summaries:
        return trace
    which = "a summary" if summaries == 1 else f"{summaries:,} summaries"
    stated: list[Capability] = not_stated(trace) if in_totals else ["token_usage", "cost"]
    lacking: list[Capability] = ["llm_calls", *stated]
    reason = f"what the model used to write {which} of the context is not recorded"
    return replace(trace, missing={**dict.fromkeys(lacking, reason), **trace.missing})


def not_stated(trace: Trace) -> list[Capability]:
    """Return which of tokens and cost are known as the sum of the steps only, because the source states no total for the run."""
    if trace.usage:
        return []
    return ["token_usage"] if trace.cost_usd is not None else ["token_usage", "cost"]


def missing_before_summary(summary: object) -> dict[Capability, str]:
    """Return all totals as missing, with the reason, if a summary stands for earlier messages; empty if there is none."""
    is_summary = type(summary) is str and bool(summary.strip())
    return dict.fromkeys(COUNTED, _SUMMED_UP) if is_summary else {}


def missing_of_session(session: Mapping[str, object]) -> dict[Capability, str]:
    """Return all totals as missing, with the reason, if a session has a summary of earlier messages beside the last ones."""
    return {} if _UPDATED.isdisjoint(session) else missing_before_summary(session.get("summary"))


def missing_model_calls(steps: Sequence[Step], usage: Usage | None) -> dict[Capability, str]:
    """Return model calls as missing, with the reason, where none is recorded but other steps show that a model answered."""
    kinds = {step.type for step in steps}
    if "llm" in kinds:
        return {}
    if counted(usage) or any(counted(step.usage) for step in steps):
        shown_by = "tokens were used"
    elif "tool" in kinds:
        shown_by = "there are tool calls"
    elif "agent" in kinds:
        shown_by = "an agent ran"
    else:
        return {}
    return {"llm_calls": f"{shown_by}, but no model call is recorded"}


def _tool_calls(trace: Trace) -> dict[Capability, str]:
    stated = trace.counts.tool_calls if trace.counts else None
    if stated is None:
        return {}
    read = sum(step.type == "tool" for step in trace.steps)
    if stated <= read:
        return {}
    reason = f"{trace.totals_from or 'the source'} states {stated:,} tool calls, of which {read:,} were read"
    return {"tool_calls": reason}


def _model_calls(trace: Trace) -> dict[Capability, str]:
    if trace.format == "native" or (trace.counts and trace.counts.llm_calls is not None):
        return {}  # the importer of the native form has checked this already
    return missing_model_calls(trace.steps, trace.usage)

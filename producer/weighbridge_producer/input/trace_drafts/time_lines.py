"""The lines of a draft on when steps began and ended, and how long they took."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.added_lines import add
from weighbridge_producer.input.trace_drafts.observed import At, Observed, is_amount, is_word

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape

_CALLS = ("llm", "tool")
_LIKE_MILLISECONDS = 100  #: a median of numbers without a unit


def add_times(draft: Draft, shape: Shape) -> None:
    """Add when steps began and ended, and how long calls took.

    The span of a log of several runs is no run's duration: where its calls state theirs, its times are left out.
    """
    lines, seen = draft.lines, Observed(shape.entries)
    started = seen.find(names.STARTED, _is_time, depth=2)
    ended = seen.find(names.ENDED, _is_time, depth=2)
    if started and ended:
        add(lines, "started_at", started)
        add(lines, "ended_at", ended)
        return
    has_durations = _add_durations(draft, shape)
    remark = "" if started else "if it is the time at which a step began"
    at = started or seen.find(names.TIME, _is_time, depth=1)
    if has_durations and draft.is_log:
        left_out = "left out: with it the run lasts from the first line to the last, without it as long as its calls together"  # fmt: skip
        add(lines, "started_at", at, left_out, is_active=False)
        return
    add(lines, "started_at", at, remark)
    if not started:
        add(lines, "ended_at", ended)


def _add_durations(draft: Draft, shape: Shape) -> bool:
    """Add how long calls took, and return whether that is known."""
    is_added = False
    for section, of in (("step", _CALLS), ("results", ("result",))):
        seen = Observed(shape.of_type(*of))
        name, at, remark = duration_of(seen)
        elsewhere = Observed([each for each, has in zip(shape.entries, shape.type_of, strict=True) if has not in of])  # fmt: skip
        if at is None or (section == "step" and shape.thought):
            continue
        other = elsewhere.at(at.pointer) if section == "step" else None
        is_only_there = other is None or not any(other.values)
        beyond = "" if is_only_there else "steps of other types have it too, which would be added"
        add(draft.lines, name, at, remark or beyond, section=section, is_active=is_only_there)
        is_added |= is_only_there
    return is_added


def duration_of(seen: Observed, depth: int = 2) -> tuple[str, At | None, str]:
    """Return where durations are, the field for their unit, and a remark if that is a guess."""
    for name, wanted in (("duration_ms", names.DURATION_MS), ("duration_s", names.DURATION_S)):
        if at := seen.find(wanted, is_amount, depth=depth):
            return name, at, ""
    at = seen.find(names.DURATION, is_amount, depth=1)
    if at is None:
        return "duration_ms", None, ""
    is_like_ms = median(at.values) >= _LIKE_MILLISECONDS
    name, unit = ("duration_ms", "milliseconds") if is_like_ms else ("duration_s", "seconds")
    return name, at, f"if it is in {unit}"


def _is_time(value: Any) -> bool:
    return is_word(value) or is_amount(value)

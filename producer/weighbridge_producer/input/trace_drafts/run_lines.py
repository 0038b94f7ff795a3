"""The lines of a draft that say where the facts of a whole run are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.traces.json_pointers import unescaped
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.added_lines import (
    ESTIMATED,
    remark_on_cost,
    remark_on_total,
)
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.evidence import token_counts
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_amount,
    is_count,
    is_id,
    is_word,
)
from weighbridge_producer.input.trace_drafts.time_lines import duration_of

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape

_METADATA_SHOWN = 6


def run_lines(draft: Draft, owners: Sequence[Any], shape: Shape) -> None:
    """Add the lines on the runs, each of which is an object with an array of steps."""
    seen = Observed(owners)
    used = _id(draft, seen)
    has_model = any(line.name == "model" for line in draft.lines)
    model = seen.find(names.MODEL, is_word, depth=1)
    if model and not has_model and "llm" in shape.type_of:
        draft.lines.append(Line("", "model", (model.pointer,)))
    has_usage = any(line.name.startswith("usage.") and line.is_active for line in draft.lines)
    _usage(draft.lines, seen, has_usage=has_usage)
    _counts(draft.lines, seen)
    _duration(draft.lines, seen)
    _metadata(draft.lines, seen, used)


def totals_lines(draft: Draft, seen: Observed) -> None:
    """Add the lines on runs that are one object each, with totals."""
    used = _id(draft, seen)
    _usage(draft.lines, seen, has_usage=False, depth=3)
    _counts(draft.lines, seen)
    _duration(draft.lines, seen)
    model = seen.find(names.MODEL, is_word, depth=1)
    if model:
        draft.lines.append(Line("", "metadata.model", (model.pointer,)))
    _metadata(draft.lines, seen, used)


def _id(draft: Draft, seen: Observed) -> str:
    """Add the id of each run if they differ, and return its pointer."""
    if seen.count == 1:
        found = seen.find(names.TRACE_ID, is_id, depth=1)
        if found:
            draft.lines.append(Line("", "id", (found.pointer,)))
        return found.pointer if found else ""
    repeated = ""
    for name in names.TRACE_ID:
        at = seen.find((name,), is_id, depth=1)
        if at is None or len(at.values) < seen.count:
            continue
        if len(set(map(str, at.values))) == seen.count:
            draft.lines.append(Line("", "id", (at.pointer,)))
            return at.pointer
        repeated = repeated or at.pointer
    if repeated:
        draft.lines.append(
            Line("", "id", (repeated,), "several runs have the same", is_active=False)
        )
    return repeated


def _duration(lines: list[Line], seen: Observed) -> None:
    """Add how long a run took."""
    name, at, remark = duration_of(seen, depth=1)
    if at:
        lines.append(Line("", name, (at.pointer,), remark))


def _usage(lines: list[Line], seen: Observed, *, has_usage: bool, depth: int = 2) -> None:
    """Add the totals of tokens and cost that a run itself states."""
    given, made = token_counts(seen, depth)
    remark = "the run's own total" if has_usage else ""
    for name, at in (("input_tokens", given), ("output_tokens", made)):
        if at:
            lines.append(Line("", f"usage.{name}", (at.pointer,), remark))
    total = seen.find(names.TOTAL_TOKENS, is_count, depth=depth)
    if total and not (given or made):
        lines.append(Line("", "usage.total_tokens", (total.pointer,), remark_on_total(total)))
    estimate = seen.find(names.ESTIMATES, is_count, depth=1)
    if estimate and not (given or made or total):
        lines.append(Line("", "usage.total_tokens", (estimate.pointer,), ESTIMATED, is_active=False))  # fmt: skip
    cost = seen.find(names.COST, is_amount, depth=depth)
    if cost:
        lines.append(Line("", "cost_usd", (cost.pointer,), remark_on_cost(cost)))


def _counts(lines: list[Line], seen: Observed) -> None:
    for name, wanted in (("llm_calls", names.TOTALS_LLM), ("tool_calls", names.TOTALS_TOOL)):
        at: At | None = seen.find(wanted, is_count, depth=1)
        if at:
            lines.append(Line("", f"counts.{name}", (at.pointer,)))
        elif name == "llm_calls" and (unsure := seen.find(names.TOTALS_UNSURE, is_count, depth=1)):
            lines.append(
                Line("", "counts.llm_calls", (unsure.pointer,), "if each of them is one model call", is_active=False)
            )  # fmt: skip


def _metadata(lines: list[Line], seen: Observed, used: str) -> None:
    """Add short facts about the task and the outcome of a run."""
    kept = [
        at
        for at in seen.all()
        if len(at.keys) == 1
        and at.keys[0] in names.METADATA
        and at.pointer != used
        and all(is_word(value) or type(value) is bool for value in at.values)
    ]
    for at in kept[:_METADATA_SHOWN]:
        key = unescaped(at.pointer[1:])
        if "." not in key:
            lines.append(Line("", f"metadata.{key}", (at.pointer,)))

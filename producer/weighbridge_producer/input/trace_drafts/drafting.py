"""Makes the draft of a trace mapping from the beginning of a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.beside_steps import note_beside
from weighbridge_producer.input.trace_drafts.candidates import Candidate, candidates
from weighbridge_producer.input.trace_drafts.draft import Draft
from weighbridge_producer.input.trace_drafts.event_shapes import shape_of_events
from weighbridge_producer.input.trace_drafts.evidence import are_definitions
from weighbridge_producer.input.trace_drafts.guessed_shapes import guessed_shape
from weighbridge_producer.input.trace_drafts.kind_words import LLM, RESULT, TOOL
from weighbridge_producer.input.trace_drafts.line_runs import (
    remark_on_runs_within,
    set_lines,
    values_of_runs,
)
from weighbridge_producer.input.trace_drafts.missing_draft import no_draft
from weighbridge_producer.input.trace_drafts.observed import Observed
from weighbridge_producer.input.trace_drafts.row_shapes import (
    shape_of_rows,
    shape_of_totals,
    shape_of_turns,
)
from weighbridge_producer.input.trace_drafts.run_lines import run_lines
from weighbridge_producer.input.trace_drafts.shape import Shape
from weighbridge_producer.input.trace_drafts.step_lines import step_lines
from weighbridge_producer.input.trace_drafts.totals_draft import totals_draft, totals_of_whole
from weighbridge_producer.input.trace_drafts.unread_facts import notes_on_unread

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.beginning import Beginning

_RUNS_TRIED = 200
_ID_LIKE = re.compile(r"\d{3}|[0-9a-f]{8}-")


def draft_of(beginning: Beginning) -> Draft:
    """Return a draft; raises InputError, with what is needed, if nothing in a file is like the steps of a run."""
    arrays = candidates(beginning)
    ranked = _like_steps(arrays, _shape_of) or _like_steps(arrays, guessed_shape)
    if not ranked:
        if totals := totals_of_whole(beginning):
            return totals
        raise no_draft(arrays)
    candidate, shape = ranked[0]
    if shape.is_totals:
        return totals_draft(candidate.entries, _pointer_to(candidate))
    draft = Draft(candidate.steps, candidate.traces, kinds=shape.kinds, types=shape.types)
    _remark_on_place(draft, candidate, beginning)
    if beginning.unread:
        draft.notes.append(
            f"Not read: {beginning.unread}. The counts of a run with such a line are at least that."
        )
    draft.notes += shape.notes
    step_lines(draft, shape)
    if candidate.owners[0] is not None:
        run_lines(draft, candidate.owners, shape)
    _note_what_is_missing(draft, shape)
    draft.notes += notes_on_unread(draft, shape)
    _note_others(draft, ranked, candidate)
    if note := _beside(draft, candidate):
        draft.notes.append(note)
    draft.without_what_does_not_fit(values_of_runs(draft, candidate)[:_RUNS_TRIED])
    return draft


def _remark_on_place(draft: Draft, candidate: Candidate, beginning: Beginning) -> None:
    """Set which lines are of one run, and remark on what the arrays of steps and of runs may be else."""
    if id_like := next(filter(_ID_LIKE.search, candidate.steps.split("/")[1:]), ""):
        draft.steps_remark = (
            f"{id_like!r} may be an id: then other files have their steps elsewhere"
        )
    if names.normal((candidate.traces or "").rpartition("/")[2]) in names.STEPS_NOT_RUNS:
        draft.traces_remark = f"each of these {len(candidate.owners):,} objects is taken for one run, though the name is one of steps: the number of traces may be wrong, and calls may stand twice"  # fmt: skip
    if (candidate.traces or "").endswith("/*"):
        draft.traces_remark = "each value is taken for one run, and its key for the id"
    if candidate.without:
        draft.steps_remark = f"{candidate.without:,} of {len(candidate.runs) + candidate.without:,} runs have no such array, and are errors"  # fmt: skip
    if not beginning.is_whole:
        draft.notes.append("Further on in the file may be words for types that are not listed here; `trace check` names them.")  # fmt: skip
    if candidate.has_lines:
        set_lines(draft, candidate, beginning)
    elif not draft.steps_remark:
        remark_on_runs_within(draft, candidate)
        is_list = not candidate.steps and candidate.traces is None
        if is_list and len(candidate.runs[0]) > 1 and not draft.steps_remark:
            draft.steps_remark = 'all entries of the list are the steps of one run; if each is a run of its own, write traces: "" here'  # fmt: skip


def _pointer_to(candidate: Candidate) -> str | None:
    """Return the pointer to the array of objects of which each is a run; None for lines.

    Raises InputError if they are in an array within each of several objects.
    """
    if candidate.has_lines:
        return None
    if len(candidate.runs) > 1 or candidate.traces is not None:
        raise InputError(
            f"no draft can be made: the objects at {candidate.steps} have totals of runs, and are in arrays of several objects",
            "write each of them on a line, and draft the mapping for that",
        )
    return candidate.steps


def _like_steps(
    arrays: Sequence[Candidate], shape_of_entries: Callable[[Sequence[Any]], Shape | None]
) -> list[tuple[Candidate, Shape]]:
    """Return the arrays that are like steps, the likeliest first."""
    found = []
    for place, candidate in enumerate(arrays):
        shape = shape_of_entries(candidate.entries)
        if shape is not None and shape.score > 0:
            last = names.normal(candidate.steps.rpartition("/")[2])
            named = names.STEPS.index(last) if last in names.STEPS else len(names.STEPS)
            found.append(((-shape.score, named, place), candidate, shape))
    found.sort(key=lambda each: each[0])
    ranked = [(candidate, shape) for _, candidate, shape in found]
    return [each for each in ranked if not any(_is_within(each, other) for other in ranked)]


def _shape_of(entries: Sequence[Any]) -> Shape | None:
    """Return what the steps of an array are; None if nothing in them is like a call."""
    seen = Observed(entries)
    if are_definitions(seen):
        return None
    found = shape_of_events(entries, seen)
    is_chat = found is not None and found.is_chat and {LLM, "user"} <= set(found.type_of)
    if found is not None and (is_chat or found.calls or {TOOL, RESULT} & set(found.type_of)):
        return found
    reads = (shape_of_totals, shape_of_turns, shape_of_rows)
    others = (read(entries, seen) for read in reads)
    other = next((shape for shape in others if shape is not None), None)
    if found is None or (other is not None and TOOL in other.type_of and other.score > found.score):
        return other
    return found


def _is_within(inner: tuple[Candidate, Shape], outer: tuple[Candidate, Shape]) -> bool:
    """Return whether an array is a part of steps that are known to be calls: the messages given to a model, or its calls.

    An array of steps is none: then it is the objects with their totals that are no calls.
    """
    candidate, shape = inner
    holder, held_in = outer
    first = candidate.owners[0]
    is_inside = first is not None and first is holder.first_entry
    is_known = held_in.is_sure and not held_in.is_totals
    if not (is_inside and is_known and held_in.score * 2 > len(held_in.entries)):
        return False
    calls = held_in.calls
    is_its_calls = bool(calls) and calls is not None and candidate.steps == calls.pointer
    has_llm_rows = "llm" in held_in.type_of and not held_in.kinds and not calls
    return shape.is_chat or is_its_calls or not shape.is_sure or not has_llm_rows


def _note_what_is_missing(draft: Draft, shape: Shape) -> None:
    if "tool" not in shape.type_of and not shape.calls and not shape.thought:
        draft.notes.append("No tool calls: nothing in the steps is named like the call of a tool. If there are some, add them.")  # fmt: skip
    if "llm" not in shape.type_of:
        draft.notes.append("No model calls: nothing in the steps is like an answer of a model. If there are some, add them.")  # fmt: skip


def _note_others(draft: Draft, ranked: list[tuple[Candidate, Shape]], chosen: Candidate) -> None:
    others = []
    for other, shape in ranked[1:]:
        if shape.score * 2 < ranked[0][1].score or other.has_lines:
            continue
        place = f"{other.traces.removesuffix('/*')}/*{other.steps}" if other.traces else other.steps
        if place and (other.traces, other.steps) != (chosen.traces, chosen.steps):
            others.append(f"{place} ({sum(map(len, other.runs)):,} entries)")
    if others:
        draft.notes.append(f"Other arrays that may be the steps: {', '.join(others[:4])}")


def _beside(draft: Draft, candidate: Candidate) -> str:
    if candidate.has_lines or candidate.owners[0] is None:
        return ""
    read = [pointer for line in draft.lines if not line.section for pointer in line.pointers]
    return note_beside(candidate.owners, candidate.steps, read)

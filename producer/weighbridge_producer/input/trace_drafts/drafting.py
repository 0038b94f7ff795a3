"""Makes the draft of a trace mapping from the beginning of a file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InputError
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.candidates import Candidate, candidates
from weighbridge_producer.input.trace_drafts.draft import Draft
from weighbridge_producer.input.trace_drafts.observed import Observed, is_id
from weighbridge_producer.input.trace_drafts.run_lines import run_lines, totals_lines
from weighbridge_producer.input.trace_drafts.shape import Shape
from weighbridge_producer.input.trace_drafts.shapes import shape_of
from weighbridge_producer.input.trace_drafts.step_lines import step_lines

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.beginning import Beginning

_RUNS_TRIED = 200
_ID_LIKE = re.compile(r"\d{3}|[0-9a-f]{8}-")
_TOGETHER = "together"
_WHAT_IS_NEEDED = (
    "a mapping needs one array of objects, or lines of objects, of which each is a step: one call, or an event with a word"
    " that tells model calls and tool calls apart (type, kind, event, role), or the name of a tool, or the tokens of a model"
    " call; convert the file to that in a program of your own"
)


def draft_of(beginning: Beginning) -> Draft:
    """Return a draft; raises InputError, with what is needed, if nothing in a file is like the steps of a run."""
    ranked = _ranked(beginning)
    if not ranked:
        raise InputError(
            "no draft can be made: none of its arrays of objects is like the steps of a run",
            _WHAT_IS_NEEDED,
        )
    candidate, shape = ranked[0]
    draft = Draft(candidate.steps, candidate.traces, kinds=shape.kinds, types=shape.types)
    if id_like := next(filter(_ID_LIKE.search, candidate.steps.split("/")[1:]), ""):
        draft.steps_remark = (
            f"{id_like!r} may be an id: then other files have their steps elsewhere"
        )
    if names.normal((candidate.traces or "").rpartition("/")[2]) in names.STEPS_NOT_RUNS:
        draft.traces_remark = f"each of these {len(candidate.owners):,} objects is taken for one run, though the name is one of steps: the number of traces may be wrong, and calls may stand twice"  # fmt: skip
    if candidate.without:
        draft.steps_remark = f"{candidate.without:,} of {len(candidate.runs) + candidate.without:,} runs have no such array, and are errors"  # fmt: skip
    if not beginning.is_whole:
        draft.notes.append("Further on in the file may be words for types that are not listed here; `trace check` names them.")  # fmt: skip
    if candidate.has_lines:
        _set_lines(draft, candidate, beginning)
    elif not candidate.steps and len(candidate.runs[0]) > 1:
        draft.steps_remark = "all entries of the list are the steps of one run; if they are of several runs, write each run as one object or one line"  # fmt: skip
    if shape.is_totals:
        _set_totals(draft, candidate, shape)
    else:
        draft.notes += shape.notes
        step_lines(draft, shape)
        if candidate.owners[0] is not None:
            run_lines(draft, candidate.owners, shape)
        _note_what_is_missing(draft, shape)
    _note_others(draft, ranked, candidate)
    draft.without_what_does_not_fit(_values(draft, candidate)[:_RUNS_TRIED])
    return draft


def _ranked(beginning: Beginning) -> list[tuple[Candidate, Shape]]:
    """Return the arrays that are like steps, the likeliest first."""
    found = []
    for place, candidate in enumerate(candidates(beginning)):
        shape = shape_of(candidate.entries)
        if shape is not None and shape.score > 0:
            last = names.normal(candidate.steps.rpartition("/")[2])
            named = names.STEPS.index(last) if last in names.STEPS else len(names.STEPS)
            found.append(((-shape.score, named, place), candidate, shape))
    found.sort(key=lambda each: each[0])
    ranked = [(candidate, shape) for _, candidate, shape in found]
    return [each for each in ranked if not any(_is_within(each, other) for other in ranked)]


def _is_within(inner: tuple[Candidate, Shape], outer: tuple[Candidate, Shape]) -> bool:
    """Return whether an array is a part of steps that are known to be calls: the messages given to a model, or its calls.

    An array of steps is none: then it is the objects with their totals that are no calls.
    """
    candidate, shape = inner
    holder, held_in = outer
    first = candidate.owners[0]
    is_inside = first is not None and any(first is entry for entry in holder.entries[:1])
    is_known = held_in.is_sure and not held_in.is_totals
    if not (is_inside and is_known and held_in.score * 2 > len(held_in.entries)):
        return False
    calls = held_in.calls
    is_its_calls = bool(calls) and calls is not None and candidate.steps == calls.pointer
    has_llm_rows = "llm" in held_in.type_of and not held_in.kinds and not calls
    return shape.is_chat or is_its_calls or not shape.is_sure or not has_llm_rows


def _set_lines(draft: Draft, candidate: Candidate, beginning: Beginning) -> None:
    """Set which lines are of one run."""
    rows = candidate.runs[0]
    seen = Observed(rows)
    options = []
    for rank, name in enumerate(names.RUN_ID):
        at = seen.find((name,), is_id, depth=2)
        if at is None or len(at.values) < 0.9 * len(rows):
            continue
        distinct = len(set(map(str, at.values)))
        if distinct == len(rows) and (name in names.CALL_OR_RUN_ID or len(rows) == 1):
            continue
        kind = 0 if 1 < distinct < len(rows) else 1 if distinct == len(rows) else 2
        options.append((kind, rank, at, distinct))
    if not options:
        draft.by = _TOGETHER
        if len(rows) > 1:
            draft.by_remark = "all lines are one run: none of the usual ids of a run was found (lines: /run_id)"  # fmt: skip
        return
    kind, _, at, distinct = min(options, key=lambda each: each[:2])
    draft.by = at.pointer
    others = [each[2].pointer for each in options if each[2] is not at]
    remarks = []
    if kind == 1:
        remarks.append("each line has an id of its own here, and is one run")
    elif kind == 2 and not beginning.is_whole:
        remarks.append("the lines that were looked at have one id")
    if others:
        remarks.append(f"other ids in the lines: {', '.join(others[:4])}")
    if len(at.values) < len(rows):
        remarks.append(f"{len(rows) - len(at.values):,} lines have none, and are of the run of the line above")  # fmt: skip
    draft.by_remark = "; ".join(remarks)


def _set_totals(draft: Draft, candidate: Candidate, shape: Shape) -> None:
    """Set the totals of runs, where each object has those of a run instead of steps."""
    if (
        not candidate.has_lines
        or draft.by == _TOGETHER
        or not draft.by_remark.startswith("each line")
    ):
        raise InputError(
            "no draft can be made: its objects have totals of runs (tokens beside numbers of steps or calls), not their steps",
            _WHAT_IS_NEEDED,
        )
    draft.notes.append("Each line has the totals of a run, and no steps: graders of single steps find nothing in it.")  # fmt: skip
    totals_lines(draft, Observed(shape.entries))


def _note_what_is_missing(draft: Draft, shape: Shape) -> None:
    if "tool" not in shape.type_of and not shape.calls:
        draft.notes.append("No tool calls: nothing in the steps is named like the call of a tool. If there are some, add them.")  # fmt: skip
    if "llm" not in shape.type_of:
        draft.notes.append("No model calls: nothing in the steps is like an answer of a model. If there are some, add them.")  # fmt: skip


def _note_others(draft: Draft, ranked: list[tuple[Candidate, Shape]], chosen: Candidate) -> None:
    others = []
    for other, shape in ranked[1:]:
        if shape.score * 2 < ranked[0][1].score or other.has_lines:
            continue
        place = (
            "/*".join(filter(None, (other.traces, other.steps))) if other.traces else other.steps
        )
        if place and (other.traces, other.steps) != (chosen.traces, chosen.steps):
            others.append(f"{place} ({sum(map(len, other.runs)):,} entries)")
    if others:
        draft.notes.append(f"Other arrays that may be the steps: {', '.join(others[:4])}")


def _values(draft: Draft, candidate: Candidate) -> list[Any]:
    """Return the values that the mapping is applied to, each of one run."""
    if not candidate.has_lines:
        if candidate.owners[0] is None:
            return [candidate.runs[0]]
        return candidate.owners
    rows = candidate.runs[0]
    if draft.by == _TOGETHER:
        return [rows]
    from weighbridge.traces.fields import id_of
    from weighbridge.traces.mapped_pointers import resolve

    runs: dict[str, list[Any]] = {}
    run = ""
    for row in rows:
        run = id_of(resolve(row, draft.by)) or run
        runs.setdefault(run, []).append(row)
    return list(runs.values())

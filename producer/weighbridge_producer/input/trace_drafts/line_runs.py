"""Which lines of a file, or entries of an array, are of one run, by the ids in them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.key_roles import words_of
from weighbridge_producer.input.trace_drafts.observed import At, Observed, is_id
from weighbridge_producer.input.traces.mapped_traces import lines_by_run

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.beginning import Beginning
    from weighbridge_producer.input.trace_drafts.candidates import Candidate
    from weighbridge_producer.input.trace_drafts.draft import Draft

_TOGETHER = "together"
_MOST_LINES = 0.9  #: share of the lines that have the id of a run
_OF_SEVERAL, _OF_EACH, _OF_ALL = range(3)


def set_lines(draft: Draft, candidate: Candidate, beginning: Beginning) -> None:
    """Set which lines are of one run."""
    rows = candidate.runs[0]
    seen = Observed(rows)
    options: list[tuple[int, int, At, int]] = []
    guessed: At | None = None
    for rank, name in enumerate(names.RUN_ID):
        at = seen.find((name,), is_id, depth=2)
        if at is None or len(at.values) < _MOST_LINES * len(rows):
            continue
        distinct = len(set(map(str, at.values)))
        if distinct == len(rows) and (name in names.CALL_OR_RUN_ID or len(rows) == 1):
            continue
        kind = (
            _OF_SEVERAL
            if 1 < distinct < len(rows)
            else _OF_EACH
            if distinct == len(rows)
            else _OF_ALL
        )
        options.append((kind, rank, at, distinct))
    if not any(each[0] == _OF_SEVERAL for each in options) and (grouped := _grouping(seen)):
        options.append(
            (_OF_SEVERAL, len(names.RUN_ID), grouped, len(set(map(str, grouped.values))))
        )
        guessed = grouped
    if not options:
        draft.by, draft.is_log = _TOGETHER, True
        if len(rows) > 1:
            draft.by_remark = "all lines are one run: none of the usual ids of a run was found (lines: /run_id)"  # fmt: skip
        return
    kind, _, at, distinct = min(options, key=lambda each: each[:2])
    draft.by = at.pointer
    remarks = (
        [f"guessed: the lines with the same {at.pointer} stand together"] if at is guessed else []
    )
    others = [each[2].pointer for each in options if each[2] is not at]
    if kind == _OF_EACH:
        remarks.append("each line has an id of its own here, and is one run")
    elif kind == _OF_ALL and len(rows) > 1:
        draft.is_log = True
        remarks.append(
            f"all {len(rows):,} lines {'' if beginning.is_whole else 'looked at '}have the same id, and are one run: if they are of several, another pointer tells them apart"
        )
    if others:
        remarks.append(f"other ids in the lines: {', '.join(others[:4])}")
    if len(at.values) < len(rows):
        remarks.append(f"{len(rows) - len(at.values):,} lines have none, and are of the run of the line above")  # fmt: skip
    draft.by_remark = "; ".join(remarks)


def _grouping(seen: Observed) -> At | None:
    """Return ids under an unusual name that several lines have in common, which stand together, as those of runs do."""
    for at in seen.all():
        words = words_of(at.pointer.rpartition("/")[2])
        is_of_run = words[-1:] == ["id"] and not names.NOT_OF_RUNS & set(words)
        if (
            not is_of_run
            or len(at.keys) > 1
            or len(at.values) < seen.count
            or not all(map(is_id, at.values))
        ):
            continue
        distinct, changes = len(set(map(str, at.values))), _changes(at.values)
        if 1 < distinct == changes + 1 and 2 * distinct <= seen.count:
            return at
    return None


def _changes(values: list[Any]) -> int:
    return sum(one != other for one, other in pairwise(values))


def remark_on_runs_within(draft: Draft, candidate: Candidate) -> None:
    """Remark on ids in the entries of one array, which may be of several runs."""
    entries = candidate.runs[0]
    seen = Observed(entries)
    for name in names.RUN_ID:
        at = seen.find((name,), is_id, depth=2)
        distinct = len(set(map(str, at.values))) if at else 0
        if at and 1 < distinct < len(entries) and len(at.values) >= _MOST_LINES * len(entries):
            how = "write each entry on a line, and" if candidate.steps else "write"
            draft.steps_remark = f"{distinct:,} different ids at {at.pointer}: if each is a run of its own, {how} lines: {at.pointer} here"
            return


def values_of_runs(draft: Draft, candidate: Candidate) -> list[Any]:
    """Return the values that the mapping is applied to, each of one run."""
    if not candidate.has_lines:
        return [candidate.runs[0]] if candidate.owners[0] is None else candidate.owners
    rows = candidate.runs[0]
    return [rows] if draft.by == _TOGETHER else list(lines_by_run(rows, draft.by).values())

"""The lines of a file that are the steps of one run, by an id that they have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.observed import Observed, is_id
from weighbridge_producer.input.traces.mapped_traces import lines_by_run

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.beginning import Beginning
    from weighbridge_producer.input.trace_drafts.candidates import Candidate
    from weighbridge_producer.input.trace_drafts.draft import Draft

_TOGETHER = "together"
#: How ids are distributed, the likeliest of a run first.
_IN_SOME_LINES, _IN_EACH_LINE, _IN_ALL_LINES = range(3)


def set_lines(draft: Draft, candidate: Candidate, beginning: Beginning) -> bool:
    """Set which lines are of one run, and return whether each line is one."""
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
        kind = _kind_of_ids(distinct, len(rows))
        options.append((kind, rank, at, distinct))
    if not options:
        draft.by = _TOGETHER
        if len(rows) > 1:
            draft.by_remark = "all lines are one run: none of the usual ids of a run was found (lines: /run_id)"  # fmt: skip
        return False
    kind, _, at, distinct = min(options, key=lambda each: each[:2])
    draft.by = at.pointer
    others = [each[2].pointer for each in options if each[2] is not at]
    remarks = []
    if kind == _IN_EACH_LINE:
        remarks.append("each line has an id of its own here, and is one run")
    elif kind == _IN_ALL_LINES and not beginning.is_whole:
        remarks.append("the lines that were looked at have one id")
    if others:
        remarks.append(f"other ids in the lines: {', '.join(others[:4])}")
    if len(at.values) < len(rows):
        remarks.append(f"{len(rows) - len(at.values):,} lines have none, and are of the run of the line above")  # fmt: skip
    draft.by_remark = "; ".join(remarks)
    return kind == _IN_EACH_LINE


def _kind_of_ids(distinct: int, lines: int) -> int:
    if distinct == lines:
        return _IN_EACH_LINE
    return _IN_SOME_LINES if distinct > 1 else _IN_ALL_LINES


def values_of_runs(draft: Draft, candidate: Candidate) -> list[Any]:
    """Return the values that the mapping is applied to, each of one run."""
    if not candidate.has_lines:
        if candidate.owners[0] is None:
            return [candidate.runs[0]]
        return candidate.owners
    rows = candidate.runs[0]
    if draft.by == _TOGETHER:
        return [rows]
    return list(lines_by_run(rows, draft.by).values())

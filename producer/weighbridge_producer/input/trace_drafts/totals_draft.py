"""The draft of a mapping for objects that have the totals of runs instead of their steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.mapped_types import OTHERWISE, SKIP
from weighbridge_producer.input.trace_drafts.draft import Draft
from weighbridge_producer.input.trace_drafts.evidence import token_counts
from weighbridge_producer.input.trace_drafts.observed import Observed
from weighbridge_producer.input.trace_drafts.run_lines import totals_lines
from weighbridge_producer.input.trace_drafts.shape import Typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.trace_drafts.beginning import Beginning

_WHOLE = "taken for the totals of a run, because nothing in the file is like its steps"


def totals_draft(objects: Sequence[Any], traces: str | None) -> Draft:
    """Return the draft for objects that are each a run, in the array at a pointer; None for lines, or one document."""
    draft = Draft("", traces, types={OTHERWISE: Typed(SKIP)})
    draft.notes.append("Each object has the totals of a run, and no steps: graders of single steps find nothing in it.")  # fmt: skip
    seen = Observed(objects)
    totals_lines(draft, seen)
    counted = {number for at in token_counts(seen) if at for number in at.entries}
    if without := seen.count - len(counted):
        draft.steps_remark = f"each object counts as one run, but {without:,} of {seen.count:,} have no tokens, and may be none"
    draft.without_what_does_not_fit(objects)
    return draft


def totals_of_whole(beginning: Beginning) -> Draft | None:
    """Return the draft for lines, or a document, that have numbers of tokens; None for others."""
    objects = [value for value in beginning.values if type(value) is dict]
    counted = [at for at in token_counts(Observed(objects)) if at]
    if not any(2 * len(at.values) > len(beginning.values) for at in counted):
        return None
    draft = totals_draft(objects, None)
    draft.steps_remark = _WHOLE
    return draft

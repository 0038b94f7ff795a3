"""What the steps of an array are: model calls, tool calls or events of several kinds, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge_producer.input.trace_drafts.event_shapes import events
from weighbridge_producer.input.trace_drafts.evidence import are_definitions
from weighbridge_producer.input.trace_drafts.kind_words import RESULT, TOOL
from weighbridge_producer.input.trace_drafts.observed import Observed
from weighbridge_producer.input.trace_drafts.row_shapes import rows, totals, turns
from weighbridge_producer.input.trace_drafts.shape import Shape


def shape_of(entries: Sequence[Any]) -> Shape | None:
    """Return what the steps of an array are; None if nothing in them is like a call."""
    seen = Observed(entries)
    if are_definitions(seen):
        return None
    found = events(entries, seen)
    if found is not None and (found.calls or {TOOL, RESULT} & set(found.type_of)):
        return found
    others = (read(entries, seen) for read in (totals, turns, rows))
    other = next((shape for shape in others if shape is not None), None)
    if found is None or (other is not None and TOOL in other.type_of and other.score > found.score):
        return other
    return found

"""What the steps of an array are: model calls, tool calls or events of several kinds, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge_producer.input.trace_drafts.event_shapes import events
from weighbridge_producer.input.trace_drafts.evidence import are_definitions
from weighbridge_producer.input.trace_drafts.observed import Observed
from weighbridge_producer.input.trace_drafts.row_shapes import rows, totals, turns
from weighbridge_producer.input.trace_drafts.shape import Shape


def shape_of(entries: Sequence[Any]) -> Shape | None:
    """Return what the steps of an array are; None if nothing in them is like a call."""
    seen = Observed(entries)
    if are_definitions(seen):
        return None
    for read in (events, totals, turns, rows):
        shape = read(entries, seen)
        if shape is not None:
            return shape
    return None

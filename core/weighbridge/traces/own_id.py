"""The id that a trace has in its source, where it is called otherwise here, such as by its file and line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weighbridge.traces.model import Trace

TRACE_ID = "trace_id"  #: key of the id in metadata


def metadata_with_id(trace: Trace, name: str) -> dict[str, Any]:
    """Return the metadata of a trace, with its own id if that is not its name; a `trace_id` of the source comes first."""
    if trace.id is None or trace.id == name:
        return trace.metadata
    return {TRACE_ID: trace.id, **trace.metadata}


def own_ids(trace: Trace) -> tuple[Any, Any]:
    """Return the ids by which the source knows a trace; None for each that is not recorded."""
    return trace.id, trace.metadata.get(TRACE_ID)

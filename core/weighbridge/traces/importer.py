"""The importer interface: a format's name, how to recognise it by shape, and how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.traces.model import Trace


@dataclass(frozen=True, slots=True, eq=False)  # compared by identity, so that hashing is cheap
class Importer:
    """One format of traces."""

    id: str
    name: str  #: name for display
    matches: Callable[[Any], bool]  #: whether a JSON value has this shape; never raises
    read: Callable[[Any], Sequence[Trace]]  #: the traces in a value that matches
    #: Pairs: a field of the trace model, its source in the format.
    fields: tuple[tuple[str, str], ...]
    lacks: str = ""  #: description of what the format cannot represent
    is_general: bool = False  #: whether it accepts only what no more specific importer accepts
    #: Splits a matching value into its traces, each with its ID and as a value of its own; for formats with several traces.
    parts: Callable[[Any], list[tuple[str | None, Any]]] | None = None
    #: Whether a value is one line of a file whose lines together are one trace.
    is_line: Callable[[Any], bool] | None = None
    #: Description of the real records it was tested with, or that all records were made up.
    tried_on: str = ""


def damaged(what: str) -> TraceError:
    """Return the error for a trace that does not follow its format."""
    return TraceError(what, "check that the file is complete, and as the tool wrote it")


def objects_in(listed: Any, item: str) -> list[dict[str, Any]]:
    """Return the objects in a list; empty for a value that is not a list. Raises TraceError if one of its items is no object."""
    if type(listed) is not list:
        return []
    for number, each in enumerate(listed, 1):
        if type(each) is not dict:
            raise damaged(f"{item} {number} is not an object")
    return listed

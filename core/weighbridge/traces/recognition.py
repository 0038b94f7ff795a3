"""The format of a value, which is detected from its content, never from the name of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces.chat.role_words import with_known_roles
from weighbridge.traces.fields import Notes, count_of, object_of
from weighbridge.traces.hints import correction_for
from weighbridge.traces.known_formats import formats
from weighbridge.traces.nearest_formats import similar_formats
from weighbridge.traces.wrappers import UNREAD_LINES, unwrapped

if TYPE_CHECKING:
    from weighbridge.traces.importer import Importer

_WRAPPINGS_LIMIT = 3
_SHOWN_KEYS = 12


class FoundFormat(NamedTuple):
    """A value that matches an importer, with the data found around it."""

    importer: Importer
    value: Any
    trace_id: str | None = None  #: ID that stands beside a wrapped trace
    notes: Notes | None = None  #: notes on the other data beside it
    metadata: dict[str, Any] | None = None  #: metadata that stand beside it
    unread_lines: int = 0  #: number of damaged lines of the session, which are not in the value


def find_format(value: Any) -> FoundFormat:
    """Return the importer for a value, as `recognised` does; raises UnknownTraceFormatError when no format has its shape."""
    found = recognised(value)
    if found is None:
        raise UnknownTraceFormatError(
            f"not a recognised trace format: {described(value)}", hint_for_unknown(value)
        )
    return found


def recognised(value: Any) -> FoundFormat | None:
    """Return the importer for a value, with the value to pass to it, unwrapped if necessary; None if no format has its shape."""
    trace_id = None
    notes = Notes()
    metadata: dict[str, Any] = {}
    inner = value
    unread_lines = count_of(object_of(value).get(UNREAD_LINES)) or 0
    for _ in range(_WRAPPINGS_LIMIT):
        for importer in formats():
            if importer.matches(inner):
                return FoundFormat(importer, inner, trace_id, notes, metadata, unread_lines)
        if type(inner) is list and (chat := with_known_roles(inner)) and chat != inner:
            inner = chat
            continue
        if type(inner) is not dict:
            break
        beside = inner.get("id")
        trace_id = trace_id or (beside if type(beside) is str and beside else None)
        inner = unwrapped(inner, notes, metadata)
        if inner is None:
            break
    return None


def hint_for_unknown(value: Any, file: str = "FILE") -> str:
    """Return the hint for a value of unknown shape: advice on it if there is any, and how other formats are read.

    `file` is the name of its file as a word of a command.
    """
    advice = advice_on(value)
    others = (
        f"a mapping file describes other formats (--trace-mapping): {hint_command(file)} drafts one, and "
        "docs/how-to/write-an-importer.md explains it; `weighbridge trace formats` lists the known ones"
    )
    return f"{advice}; {others}" if advice else others


def hint_command(file: str = "FILE") -> str:
    """Return the command that drafts a mapping file, as hints have it."""
    return f"`weighbridge trace map {file}`"


def advice_on(value: Any) -> str:
    """Return advice on a value of unknown shape: a likely correction, or else the nearest formats."""
    return correction_for(value) or similar_formats(value, formats())


def described(value: Any) -> str:
    """Return a description of a value by its keys alone."""
    if type(value) is dict:
        keys = [(key[:40] or '""') if type(key) is str else "?" for key in value]
        more = f" and {len(keys) - _SHOWN_KEYS} more" if len(keys) > _SHOWN_KEYS else ""
        return (
            f"an object with {', '.join(keys[:_SHOWN_KEYS])}{more}" if keys else "an empty object"
        )
    if type(value) is list:
        first = value[0] if value else None
        if type(first) is str:
            return f"a list of {len(value):,}, the first of them a text"
        more = f", the first of them {described(first)}" if type(first) is dict else ""
        return f"a list of {len(value):,}{more}"
    return "neither an object nor a list"

"""The importer interface: a format's name, how to recognise it by shape, and how to read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.traces.model import Trace


@dataclass(frozen=True, slots=True, eq=False)  # each is one of its kind: its hash is cheap
class Importer:
    """One format of traces."""

    id: str
    name: str  #: for a person
    matches: Callable[[Any], bool]  #: whether a JSON value has this shape; never raises
    read: Callable[[Any], Sequence[Trace]]  #: the traces in a value that matches
    fields: tuple[tuple[str, str], ...]  #: where the model's fields come from: (ours, the format's)
    lacks: str = ""  #: description of what the format cannot represent
    is_general: bool = False  #: whether it claims only what no other importer claims
    #: The traces in a value that matches, each as a value of its own with its id, for formats that hold several.
    parts: Callable[[Any], list[tuple[str | None, Any]]] | None = None
    #: Whether a value is a line of which all lines of its file together are one trace.
    is_line: Callable[[Any], bool] | None = None
    tried_on: str = (
        ""  #: the real records that it was tried on; or says that there were only made ones
    )


def damaged(what: str) -> TraceError:
    """Return the error for a trace that does not follow its format."""
    return TraceError(what, "check that the file is complete, and as the tool wrote it")

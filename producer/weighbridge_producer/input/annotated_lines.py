"""Lines for upload to a service: unchanged, except that a fault or location found by the sender precedes its line.

Such an annotation is a line with the byte 0x1E (RS) and a JSON object; it applies to the next line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
import orjson

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

RECORD_SEPARATOR = b"\x1e"  #: starts a JSON text in RFC 7464
_Text = Annotated[str, msgspec.Meta(max_length=4_000)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=2**50)]


class _SentFault(msgspec.Struct):
    """A Fault within the limits that any sender must keep."""

    code: ErrorCode
    message: _Text
    hint: _Text


class _Note(msgspec.Struct):
    """Information of the sender about a line that is not in the line itself."""

    fault: _SentFault | None = None
    size: _Count = 0  #: bytes of input; the line itself may be empty because it was far too long
    origin: tuple[_Text, _Count] | None = None


_decode = msgspec.json.Decoder(_Note).decode


def annotate(lines: Iterable[SourceLine]) -> Iterator[bytes]:
    """Encode lines in the format that `read_annotated` reads."""
    for line in lines:
        if line.fault or line.origin or line.raw.startswith(RECORD_SEPARATOR):
            note = {"fault": line.fault, "size": line.size, "origin": line.origin}
            yield RECORD_SEPARATOR + orjson.dumps(note, option=orjson.OPT_APPEND_NEWLINE)
        yield line.raw if line.raw.endswith(b"\n") else line.raw + b"\n"


def read_annotated(lines: Iterable[SourceLine]) -> Iterator[SourceLine]:
    """Decode the output of `annotate`; raises InputError for an invalid annotation."""
    noted = iter(lines)
    for line in noted:
        if line.fault or not line.raw.startswith(RECORD_SEPARATOR):
            yield line
            continue
        following = next(noted, None)
        if following is None:
            raise _broken("nothing follows the last annotation")
        try:
            yield _with_note(following, _decode(line.raw[1:]))
        except msgspec.MsgspecError as error:
            raise _broken(str(error)) from None


def _with_note(line: SourceLine, note: _Note) -> SourceLine:
    if found := note.fault:
        line.fault = Fault(found.code, found.message, found.hint)
        line.size = max(line.size, note.size)
    line.origin = note.origin
    return line


def _broken(why: str) -> InputError:
    return InputError(
        f"invalid annotation in an upload with `framed=true`: {why[:200]}",
        "send JSON lines without `framed`",
    )

"""The beginning of a JSON file: its document, or its first lines or entries."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError
from weighbridge.grading.strict_json import utf8_fault
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB, Settings
from weighbridge.text import pluralize
from weighbridge.traces.fields import json_in
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.files.lines import damage_fault, plain_stream
from weighbridge_producer.input.files.non_json_files import binary_fault

READ_BYTES = 16 * MIB
ENTRIES = 2_000  #: lines, or entries of a list that is not read whole
_BOM = b"\xef\xbb\xbf"
_BETWEEN = re.compile(r"[ \t\r\n,]*")  #: two entries of a list
_HEAD_BYTES = 4_096
_UNREAD_FIRST = 20  #: lines that are no JSON before the first that is
_UNREAD_MOST = 2  #: lines that are no JSON for each that is
_CUT = 12  #: characters of a word or an escape that the end of a text cuts off
_NOT_JSON_WORDS = (b"NaN", b"Infinity")


@dataclass(frozen=True, slots=True)
class Beginning:
    """What was read of a file."""

    values: list[Any]  #: of its lines, or its one document
    has_lines: bool  #: True if each line has a value of its own
    is_whole: bool  #: False if the file goes on after what was read
    is_one_line: bool = False  #: True of a document on one line
    text: bytes = b""  #: what was read, if the file goes on
    unread: str = ""  #: which of the lines are not JSON, in words

    @property
    def what(self) -> str:
        """What was read, in words."""
        if self.has_lines:
            return f"{'' if self.is_whole else 'the first '}{pluralize(len(self.values), 'line')}"
        if self.is_whole:
            return "the whole document"
        return f"the first {pluralize(len(self.values[0]), 'entry', 'entries')} of its list"


def read_beginning(path: Path) -> Beginning:
    """Return the beginning of a file, plain or compressed; raises InputError, with what is needed, if that is not JSON."""
    head = _head(path)
    is_whole = len(head) <= READ_BYTES
    head = head.removeprefix(_BOM)
    if not head.strip(JSON_SPACE):
        raise _no_draft("the file is empty", "give a file with at least one run")
    if is_whole:
        try:
            value = json_in(head)
            is_one_line = b"\n" not in head.strip(JSON_SPACE)
            return Beginning([value], has_lines=False, is_whole=True, is_one_line=is_one_line)
        except ValueError as error:
            whole_error = str(error)
    else:
        whole_error = f"its first value has more than {READ_BYTES // MIB} MiB"
    lines = _lines(head, is_whole=is_whole)
    if lines is not None:
        return lines
    if not is_whole and head.lstrip(JSON_SPACE).startswith(b"["):
        return _entries(head[:READ_BYTES])
    if fault := binary_fault(head[:_HEAD_BYTES]) or utf8_fault(head, 1):
        raise _no_draft(fault.message, fault.hint or "save the file as UTF-8")
    raise _no_draft(
        f"it is not JSON that can be read: {_not_json(head) or whole_error}",
        "a mapping describes JSON: write one document, or one JSON value per line; of a very large document, make the draft"
        " from a smaller one of the same format",
    )


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, which may be compressed."""
    try:
        with path.open("rb") as file:
            return plain_stream(file, Settings()).read(READ_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except DAMAGE as error:
        raise _no_draft(damage_fault(error).message, "create the archive again") from None
    except ExpansionError:
        raise _no_draft("it expands too much", "decompress it yourself") from None


def _lines(head: bytes, *, is_whole: bool) -> Beginning | None:
    """Return the first lines; None if too few are JSON."""
    lines = head.split(b"\n")
    if not is_whole:
        lines.pop()  # it may go on
    values: list[Any] = []
    read: list[bytes] = []
    unread: list[str] = []
    for number, line in enumerate(lines, 1):
        if not line.strip(JSON_SPACE):
            continue
        if len(values) == ENTRIES:
            is_whole = False
            break
        read.append(line)
        try:
            values.append(json_in(line))
        except ValueError as error:
            unread.append(f"line {number:,} is not JSON: {_not_json(line) or error}")
            if len(unread) > len(values) + _UNREAD_FIRST:
                return None
    if not values or len(unread) > _UNREAD_MOST * sum(type(value) is dict for value in values):
        return None
    text = b"" if is_whole else b"\n".join(read)
    more = f", and {pluralize(len(unread) - 1, 'further line')}" if len(unread) > 1 else ""
    told = f"{unread[0]}{more}" if unread else ""
    return Beginning(values, has_lines=True, is_whole=is_whole, text=text, unread=told)


def _entries(head: bytes) -> Beginning:
    """Return the first entries of a list that goes on."""
    text = head.decode(errors="replace").lstrip()
    decoder = json.JSONDecoder()
    entries: list[Any] = []
    at = 1  # after the bracket
    while len(entries) < ENTRIES:
        between = _BETWEEN.match(text, at)
        try:
            entry, at = decoder.raw_decode(text, between.end() if between else at)
        except json.JSONDecodeError as error:
            if not _is_cut_off(error, text):
                raise _no_draft(
                    f"entry {len(entries) + 1:,} of its list is not JSON: {error.msg}",
                    "write JSON; the file is not read at all otherwise",
                ) from None
            break
        except (ValueError, RecursionError):
            break
        entries.append(entry)
    if not entries:
        raise _no_draft(
            f"the first entry of its list is not JSON, or has more than {READ_BYTES // MIB} MiB",
            "make the draft from a smaller file of the same format",
        )
    return Beginning([entries], has_lines=False, is_whole=False, text=f"{text[:at]}]".encode())


def _is_cut_off(error: json.JSONDecodeError, text: str) -> bool:
    """Return whether a value is not JSON because the text ends in it."""
    return error.msg.startswith("Unterminated string") or len(text) - error.pos < _CUT


def _not_json(text: bytes) -> str:
    """Return what Python writes beyond JSON, if a text has it."""
    found = next((word.decode() for word in _NOT_JSON_WORDS if word in text), "")
    return f"it may have {found}, which JSON does not have; write null" if found else ""


def _no_draft(why: str, hint: str) -> InputError:
    return InputError(f"no draft can be made: {why}", hint)

"""The beginning of a JSON file: its document, or its first lines or entries."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.text import pluralize
from weighbridge.traces.fields import json_in

READ_BYTES = 16 * MIB
ENTRIES = 2_000  #: lines, or entries of a list that is not read whole
_BOM = b"\xef\xbb\xbf"
_BETWEEN = re.compile(r"[ \t\r\n,]*")  #: two entries of a list
_NOT_JSON_WORDS = (b"NaN", b"Infinity")


@dataclass(frozen=True, slots=True)
class Beginning:
    """What was read of a file."""

    values: list[Any]  #: of its lines, or its one document
    has_lines: bool  #: True if each line has a value of its own
    is_whole: bool  #: False if the file goes on after what was read
    is_one_line: bool = False  #: True of a document on one line

    @property
    def what(self) -> str:
        """What was read, in words."""
        if self.has_lines:
            return f"{'' if self.is_whole else 'the first '}{pluralize(len(self.values), 'line')}"
        if self.is_whole:
            return "the whole document"
        return f"the first {pluralize(len(self.values[0]), 'entry', 'entries')} of its list"


def read_beginning(path: Path) -> Beginning:
    """Return the beginning of a file; raises InputError, with what is needed, if that is not JSON."""
    try:
        with path.open("rb") as file:
            head = file.read(READ_BYTES + 1)
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {error.strerror}") from None
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
    raise _no_draft(
        f"it is not JSON that can be read: {_not_json(head) or whole_error}",
        "a mapping describes JSON: write one document, or one JSON value per line; of a very large document, make the draft"
        " from a smaller one of the same format",
    )


def _lines(head: bytes, *, is_whole: bool) -> Beginning | None:
    """Return the first lines; None if the first is not JSON. Raises InputError if a later one is not."""
    lines = head.split(b"\n")
    if not is_whole:
        lines.pop()  # it may go on
    values: list[Any] = []
    for number, line in enumerate(lines, 1):
        if not line.strip(JSON_SPACE):
            continue
        if len(values) == ENTRIES:
            return Beginning(values, has_lines=True, is_whole=False)
        try:
            values.append(json_in(line))
        except ValueError as error:
            if not values:
                return None
            raise _no_draft(
                f"line {number:,} is not JSON: {_not_json(line) or error}",
                "every line has to be JSON: leave out other lines, or write them as JSON strings in objects",
            ) from None
    return Beginning(values, has_lines=True, is_whole=is_whole) if values else None


def _entries(head: bytes) -> Beginning:
    """Return the first entries of a list that goes on."""
    text = head.decode(errors="replace").lstrip().removeprefix("[")
    decoder = json.JSONDecoder()
    entries: list[Any] = []
    at = 0
    while len(entries) < ENTRIES:
        between = _BETWEEN.match(text, at)
        try:
            entry, at = decoder.raw_decode(text, between.end() if between else at)
        except (ValueError, RecursionError):
            break
        entries.append(entry)
    if not entries:
        raise _no_draft(
            f"the first entry of its list is not JSON, or has more than {READ_BYTES // MIB} MiB",
            "make the draft from a smaller file of the same format",
        )
    return Beginning([entries], has_lines=False, is_whole=False)


def _not_json(text: bytes) -> str:
    """Return what Python writes beyond JSON, if a text has it."""
    found = next((word.decode() for word in _NOT_JSON_WORDS if word in text), "")
    return f"it may have {found}, which JSON does not have; write null" if found else ""


def _no_draft(why: str, hint: str) -> InputError:
    return InputError(f"no draft can be made: {why}", hint)

"""Logs with something before the JSON of each line, such as a container's name or a time: it is removed, and so are lines without JSON.

A log may also have nothing before its JSON, and begin with other lines, as programs write them when they start. One JSON document
on many lines may stand between such lines.
"""

from __future__ import annotations

import re
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.text import shorten
from weighbridge.traces.fields import object_of, objects_of
from weighbridge.traces.split import is_trace, opens_session
from weighbridge_producer.input.files.documents_behind_text import (
    before_bracket,
    has_lines_of_json_behind,
    is_text_behind,
    may_be_cut_off,
    may_follow_opening,
    may_have_ended,
    may_open_document,
)
from weighbridge_producer.input.files.log_prefixes import (
    LogLine,
    begins_with_tag,
    log_line,
    without_prefix,
    wrapped_line,
)
from weighbridge_producer.input.files.text_logs import begins_text_log
from weighbridge_producer.input.source_lines import SourceLine, length_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_FIRST_LINES = 200  #: with content, of which one has JSON after a prefix
_LINES_READ = 10_000  #: limit of the lines, including blank ones, in which the first JSON of a log is searched
_LINES_OF_OPENING = 2  #: with content, by which a log that is text is recognised
_JSON_STARTS = (b"{", b"[", b'"')
_OF_TABLES = (b"\t", b"|")
_OBJECT = re.compile(rb'\{\s{0,9}"')
_FIRST_FIELD = re.compile(rb'[\[\s]{0,9}\{\s{0,9}"([^"\\]{1,100})"')
_FIELDS_LIMIT = 1_000
_OBJECTS_TRIED = 5  #: places in a text where an object may begin
_AFTER_DOCUMENT = "content after document"  #: how the JSON library says that something follows
_SHOWN_CHARACTERS = 60


class LogLines:
    """What was removed from the lines of a log."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self.prefix = ""  #: the first one; empty if the file is no such log
        self.texts = 0  #: lines without JSON, which became blank
        self.first_text = ""  #: the first of them
        self._fields: set[str] = set()  #: of the first object, and the first one of others

    def of(self, lines: Iterator[SourceLine]) -> Iterator[SourceLine]:
        """Return the lines of a file; those of a log without what stands before their JSON, and without other text.

        A log is a file in whose first lines there is JSON only after a prefix, or which begins with other text. A long line that a container's log has in
        parts is put together. Lines of a log have the process that wrote them, if their prefix names it.
        """
        read: list[SourceLine] = []
        found = first_in(_each(lines, read))
        every = chain(read, lines)
        if found is None:
            return every
        if found.texts_before is not None:
            return self._document_of(every, found.texts_before)
        self.prefix = found.prefix.decode(errors="replace").strip()
        self._fields.update(_fields_of(found.text))
        return self._json_of(every)

    def _document_of(self, lines: Iterator[SourceLine], texts: int) -> Iterator[SourceLine]:
        """Return the lines of a document without the text on its first line, and with blank ones in place of text around it.

        `texts` is the number of lines of text before it.
        """
        each = (line for read in lines for line in read.lines())
        for line in each:
            is_first = self.texts == texts and bool(line.raw.strip(JSON_SPACE))
            end = before_bracket(line.raw) if is_first else len(line.raw)
            shown = line.raw[:end].decode(errors="replace").strip()
            self.texts += bool(shown)
            self.first_text = self.first_text or shown
            yield SourceLine(line.raw[end:] or b"\n", line.fault, line.size, line.origin)
            if is_first:
                break
        is_ended = False
        for line in each:
            is_text = is_ended and line.fault is None and is_text_behind(line.raw)
            yield self._text(LogLine(line.raw, b""), line) if is_text else line
            is_ended = may_have_ended(line.raw, before=is_ended)

    def _json_of(self, lines: Iterator[SourceLine]) -> Iterator[SourceLine]:
        parts: dict[tuple[tuple[str, ...], str], _Parts] = {}
        for line in (each for read in lines for each in read.lines()):
            wrapped = wrapped_line(line.raw)
            found = without_prefix(wrapped) if wrapped else log_line(line.raw)
            if found is None or (line.fault and not found.has_json):
                is_text = not (line.fault or _is_json_or_blank(line.raw))
                is_text = is_text and (bool(self.prefix) or _is_plain(line.raw))
                yield self._text(LogLine(line.raw, b""), line) if is_text else line
            elif wrapped is None:
                yield self._json(found, None, line)
            else:
                place = (wrapped.process, wrapped.stream)
                begun = parts.pop(place, None)
                if wrapped.is_part:
                    begun = begun or _Parts()
                    begun.add(wrapped.text, self._limit_bytes)
                    if wrapped.may_be_last and begun.is_whole():
                        yield self._json(begun.ended_by(wrapped._replace(text=b"\n")), begun, line)
                        continue
                    parts[place] = begun
                    yield SourceLine(b"\n", None, line.size)
                else:
                    yield self._json(begun.ended_by(wrapped) if begun else found, begun, line)
        for (process, _), begun in parts.items():
            cut_off = b"".join(begun.texts) + b"\n"
            yield self._json(LogLine(cut_off, b"", process), begun, SourceLine(cut_off))

    def _json(self, found: LogLine, begun: _Parts | None, line: SourceLine) -> SourceLine:
        """Return a line of a log that is whole, in place of the one that it ends with."""
        fault = line.fault
        if begun and begun.size > self._limit_bytes:
            fault = length_fault(begun.size, self._limit_bytes)
            return SourceLine(b"\n", fault, line.size, line.origin)
        if fault or found.has_json or not found.text.strip(JSON_SPACE):
            if len(self._fields) < _FIELDS_LIMIT and (field := _FIRST_FIELD.match(found.text)):
                self._fields.add(field[1].decode(errors="replace"))
            return SourceLine(
                found.text,
                fault,
                line.size,
                line.origin,
                process=found.process,
                thread=found.thread,
            )
        return self._text(found, line)

    def _text(self, found: LogLine, line: SourceLine) -> SourceLine:
        """Return a blank line in place of one without JSON, or a fault if it has an object that may be of a run."""
        value = _object_in(found.text)
        if value is not None and self._may_be_of_run(value):
            # The text stays, so that the line is no JSON.
            raw = found.text if found.text.endswith(b"\n") else found.text + b"\n"
            before = found.prefix + found.text[: found.text.find(b"{")]
            return SourceLine(
                raw,
                _unread_fault(before),
                line.size,
                line.origin,
                process=found.process,
                thread=found.thread,
                is_unread=True,
            )
        self.texts += 1
        self.first_text = self.first_text or line.raw.decode(errors="replace").strip()
        return SourceLine(b"\n", None, line.size)

    def _may_be_of_run(self, value: dict[str, Any]) -> bool:
        """Return whether an object after other text may be a trace, a case, or a line of a session."""
        is_flat = all(type(held) not in {dict, list} for held in value.values())
        is_other = is_flat and self._fields.isdisjoint(value)
        return not is_other or opens_session(value) or is_trace(value)


class _Parts:
    """The parts of a long line of a container, of which the last one ends it."""

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        self.size = 0  #: of all parts
        self._was_tried = False

    def add(self, text: bytes, limit_bytes: int) -> None:
        """Add a part; beyond the limit only its size."""
        self.size += len(text)
        if self.size <= limit_bytes:
            self.texts.append(text)

    def is_whole(self) -> bool:
        """Return whether the parts are JSON; of parts that are not, it is asked once, because that takes time."""
        if self._was_tried:
            return False
        self._was_tried = True
        text = without_prefix(LogLine(b"".join(self.texts), b"")).text
        return text.lstrip(JSON_SPACE).startswith(b"{") and _is_object(text)

    def ended_by(self, last: LogLine) -> LogLine:
        """Return the whole line, which the parts begin."""
        self.size += len(last.text.rstrip(b"\n"))
        text = b"".join([*self.texts, last.text])
        return without_prefix(last._replace(text=text, is_part=False))


def is_log(head: bytes) -> bool:
    """Return whether the beginning of a file is that of a log with JSON after a prefix."""
    return first_in(head.split(b"\n")) is not None


def first_in(lines: Iterable[bytes]) -> LogLine | None:
    """Return the first line with JSON of a log; None if the first lines are not those of one."""
    texts: list[tuple[bytes, LogLine | None]] = []
    opening: LogLine | None = None
    lines = islice(lines, _LINES_READ)
    for raw in lines:
        if not raw.strip(JSON_SPACE):
            continue
        if opening and may_follow_opening(raw):
            return None if has_lines_of_json_behind(lines) else opening
        if opening and opening.text.lstrip().startswith(_JSON_STARTS):
            return None
        opening = _opening(raw, texts)
        above = [text for text, _ in texts[:_LINES_OF_OPENING]]
        if len(above) < _LINES_OF_OPENING and begins_text_log(b"\n".join([*above, raw])):
            return None
        found = log_line(raw)
        if found is not None and (found.has_json or _may_be_in_parts(found)):
            return found if all(_may_precede(*text, found) for text in texts) else None
        if opening and raw.lstrip().startswith(_JSON_STARTS):
            continue
        if _is_json(raw, found):
            is_log = bool(texts) and all(_is_plain(text) for text, _ in texts)
            return LogLine(raw, b"") if is_log and _is_of_run(raw) else None
        texts.append((raw, found))
        if len(texts) == _FIRST_LINES:
            break
    return None


def _opening(raw: bytes, texts: list[tuple[bytes, LogLine | None]]) -> LogLine | None:
    """Return a line that may be the first one of a document behind text; None for another line."""
    has_bracket = before_bracket(raw) < len(raw)
    if has_bracket and may_open_document(raw, [text for text, _ in texts]):
        return LogLine(raw, b"", texts_before=len(texts))
    return None


def _may_be_in_parts(found: LogLine) -> bool:
    return found.is_part and found.text.startswith((b"{", b"["))


def _may_precede(raw: bytes, found: LogLine | None, first: LogLine) -> bool:
    """Return whether a line without JSON may stand before the first one with JSON, and is no row of a table."""
    if found is None:
        return not any(separator in raw for separator in _OF_TABLES)
    # Compose pads the names of containers to one width, which cells of a table have not.
    bar = first.prefix.find(b"|")
    return bar < 0 or found.prefix.find(b"|") == bar


def _is_json(raw: bytes, found: LogLine | None) -> bool:
    """Return whether a line begins like JSON, and is it if it may begin with a word in brackets too."""
    if found is None or not raw.startswith(_JSON_STARTS) or found.stream:
        return found is None and raw.lstrip(JSON_SPACE).startswith(_JSON_STARTS)
    try:
        orjson.loads(raw)
    except ValueError:
        return False
    return True


def _is_plain(raw: bytes) -> bool:
    """Return whether a line is neither a row of a table nor the rest of a line of JSON that was cut off."""
    return not (may_be_cut_off(raw) or any(separator in raw for separator in _OF_TABLES))


def _is_of_run(raw: bytes) -> bool:
    """Return whether a line is a trace, or one of a session."""
    try:
        value = orjson.loads(raw)
    except ValueError:
        return False
    return type(value) in {dict, list} and (opens_session(value) or is_trace(value))


def _object_in(text: bytes) -> dict[str, Any] | None:
    """Return the first object of JSON after other text; None if there is none in the first places where one may begin."""
    for start in islice(_OBJECT.finditer(text), _OBJECTS_TRIED):
        # Text, because the library counts characters.
        rest = text[start.start() :].decode(errors="replace")
        try:
            return object_of(orjson.loads(rest)) or None
        except orjson.JSONDecodeError as error:
            if _AFTER_DOCUMENT in error.msg:
                return object_of(orjson.loads(rest[: error.pos])) or None
    return None


def _fields_of(text: bytes) -> list[str]:
    try:
        value = orjson.loads(text)
    except ValueError:
        return []
    return list(object_of(objects_of(value)[0] if objects_of(value) else value))


def _is_object(text: bytes) -> bool:
    try:
        return type(orjson.loads(text)) is dict
    except ValueError:
        return False


def _unread_fault(before: bytes) -> Fault:
    shown = shorten(before.decode(errors="replace").strip(), _SHOWN_CHARACTERS)
    return Fault(
        ErrorCode.INVALID_JSON,
        f"the line has other text before its JSON: {shown!r}",
        "remove the text, or the line if it is none of a run",
    )


def _is_json_or_blank(raw: bytes) -> bool:
    content = raw.lstrip(JSON_SPACE)
    return not content or (content.startswith(_JSON_STARTS) and not begins_with_tag(content))


def _each(lines: Iterator[SourceLine], read: list[SourceLine]) -> Iterator[bytes]:
    """Yield the lines one by one; what was read is added to a list, because it may be in blocks."""
    for block in lines:
        read.append(block)
        for line in block.lines():
            yield line.raw

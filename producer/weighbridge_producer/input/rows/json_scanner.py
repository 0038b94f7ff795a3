"""A scanner of one JSON document in constant memory: it steps over values, and returns the text of the requested ones.

Parsers that yield events keep the path of each open value, so that their memory grows with the square of the depth. Outside
the requested values, the scanner checks brackets, strings and characters, but not every separator.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from weighbridge.grading.strict_json import DEPTH_LIMIT
from weighbridge.jobs.line import BYTE_ORDER_MARK
from weighbridge.settings import KIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_CHUNK_BYTES = 64 * KIB
NAME_BYTES = 4 * KIB  #: maximum length of a member's name that is read
_SPACE = re.compile(rb"[ \t\r\n]*+")
_WORD = re.compile(rb"[\w.+-]*+")
_IN_STRING = re.compile(rb'(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+')
#: Whole strings, numbers, words and separators up to the next bracket, or to a string that is cut off. The number of repeats
#: is limited, since each takes memory. `*+` would take none, but Python before 3.11.5 matches it wrongly here.
_FLAT = re.compile(rb'(?:[\w \t\r\n,:.+-]++|"(?:[^"\\\x00-\x1f]++|\\[^\x00-\x1f])*+"){0,1000}')
_PLAIN_NAME = re.compile(rb'"([^"\\\x00-\x1f]{0,4096}+)"[ \t\r\n]*+:')
_QUOTE, _OPENING, _CLOSING = ord('"'), b"[{", b"]}"
_TO_CLOSING = 2  #: difference between the codes of a closing and an opening bracket


class ScanError(Exception):
    """Error for a document that cannot be read from the given byte on."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.offset = offset


class TooDeepError(ScanError):
    """Error for a value, other than the requested ones, that is nested too deeply."""


class JsonScanner:
    """A position in a JSON document, and the brackets that are open there.

    Raises ScanError if the document is not JSON, and TooDeepError if it is nested too deeply.
    """

    def __init__(self, read: Callable[[int], bytes], depth_limit: int | None = DEPTH_LIMIT) -> None:
        self._read = read
        self._depth_limit = depth_limit  # maximum depth of skipped values; None for any depth
        self._text = b""
        self._at = 0
        self._before = 0  # number of bytes of the document before the text
        self._open = bytearray()  # closing brackets of the open values
        self._pieces: list[bytes] | None = None  # pieces of the value that is being cut out
        self._from = 0  # start of the value, or of its next piece, in the text
        self._room = 0  # number of further bytes that the value may have
        if self.peek() == BYTE_ORDER_MARK[:1]:
            self._skip_mark()

    @property
    def offset(self) -> int:
        """The number of bytes before the position."""
        return self._before + self._at

    def peek(self) -> bytes:
        """Step to the next byte that is not whitespace, and return it; empty at the end."""
        while True:
            self._at = _end(_SPACE, self._text, self._at)
            if self._at < len(self._text):
                return self._text[self._at : self._at + 1]
            if not self._more():
                return b""

    def members(self) -> Iterator[str | None]:
        """Yield the name of each member of an object, None if it is too long or not text; the caller then takes the value."""
        self._enter(b"{")
        if self.peek() == b"}":
            self._leave()
            return
        while True:
            yield self._name()
            if self._take(b",}") == b"}":
                self._open.pop()
                return

    def items(self) -> Iterator[None]:
        """Yield at each item of a list; the caller then takes the item."""
        self._enter(b"[")
        if self.peek() == b"]":
            self._leave()
            return
        while True:
            yield
            if self._take(b",]") == b"]":
                self._open.pop()
                return

    def skip(self) -> None:
        """Step over the next value."""
        self._step_over(self._depth_limit)

    def cut(self, limit_bytes: int) -> bytes | None:
        """Step over the next value of any depth, and return its text; None if it has more than `limit_bytes`."""
        self.peek()
        self._pieces, self._from, self._room = [], self._at, limit_bytes
        try:
            self._step_over(most=None)
            return self._kept()
        finally:
            self._pieces = None

    def skip_rest(self) -> None:
        """Step over the rest of the innermost open value, including its end."""
        self._step_out(len(self._open) - 1, self._depth_limit)

    def end(self) -> None:
        """Require that nothing follows."""
        if self.peek():
            raise self._error("something follows its end")

    def _name(self) -> str | None:
        if self.peek() != b'"':
            raise self._error("the name of a member is missing")
        if plain := _PLAIN_NAME.match(self._text, self._at):
            self._at = plain.end()
            return _decoded(plain[1])
        text = self.cut(NAME_BYTES)
        self._take(b":")
        try:
            return None if text is None else str(orjson.loads(text))
        except orjson.JSONDecodeError:
            return None

    def _enter(self, bracket: bytes) -> None:
        self._take(bracket)
        self._open.append(bracket[0] + _TO_CLOSING)

    def _leave(self) -> None:
        self._at += 1
        self._open.pop()

    def _take(self, allowed: bytes) -> bytes:
        found = self.peek()
        if not found or found not in allowed:
            raise self._error(f"{' or '.join(map(chr, allowed))} is missing")
        self._at += 1
        return found

    def _step_over(self, most: int | None) -> None:
        first = self.peek()
        if first == b'"':
            self._skip_string()
        elif first and first in _OPENING:
            self._step_out(len(self._open), most)
        else:
            self._skip_word()

    def _step_out(self, floor: int, most: int | None) -> None:
        """Step over at least one bracket, and on until `floor` values are open."""
        opened, beyond = self._open, 0
        while True:
            start, self._at = self._at, _end(_FLAT, self._text, self._at)
            if self._at == len(self._text):
                if not self._more():
                    raise self._error("it ends early")
                continue
            byte = self._text[self._at]
            if byte == _QUOTE:
                self._skip_string()
                continue
            if byte in _OPENING:
                if most is not None and len(opened) >= most:
                    raise TooDeepError(
                        f"nested deeper than {most} levels at byte {self.offset + 1:,} of the document",
                        self.offset,
                    )
                if len(opened) < DEPTH_LIMIT:
                    opened.append(byte + _TO_CLOSING)
                else:
                    beyond += 1  # the reader of the value checks the kinds of these brackets
            elif beyond and byte in _CLOSING:
                beyond -= 1
            elif byte == opened[-1]:
                opened.pop()
            elif self._at > start:
                continue  # the pattern has reached its limit of repeats
            else:
                raise self._error(f"unexpected {chr(byte)!r}")
            self._at += 1
            if floor == len(opened) and not beyond:
                return

    def _skip_string(self) -> None:
        self._at += 1
        while True:
            self._at = _end(_IN_STRING, self._text, self._at)
            if self._text[self._at : self._at + 1] == b'"':
                self._at += 1
                return
            left = self._text[self._at :]
            if left not in (b"", b"\\"):
                raise self._error("a control character in a string")
            if not self._more():
                raise self._error("it ends early")

    def _skip_word(self) -> None:
        start = self.offset
        while True:
            self._at = _end(_WORD, self._text, self._at)
            if self._at < len(self._text) or not self._more():
                break
        if self.offset == start:
            raise self._error("a value is missing")

    def _skip_mark(self) -> None:
        while len(self._text) - self._at < len(BYTE_ORDER_MARK) and self._more():
            pass
        if self._text.startswith(BYTE_ORDER_MARK, self._at):
            self._at += len(BYTE_ORDER_MARK)

    def _more(self) -> bool:
        """Read on, and drop the text before the position; return False at the end of the document."""
        self._keep()
        data = self._read(_CHUNK_BYTES)
        self._before += self._at
        self._text = self._text[self._at :] + data
        self._at = self._from = 0
        return bool(data)

    def _kept(self) -> bytes | None:
        """Return the value that has been cut out; None if it is too long."""
        self._keep()
        return None if self._pieces is None else b"".join(self._pieces)

    def _keep(self) -> None:
        """Add the text before the position to the value that is being cut out."""
        if self._pieces is None:
            return
        self._room -= self._at - self._from
        if self._room < 0:
            self._pieces = None
        else:
            self._pieces.append(self._text[self._from : self._at])
            self._from = self._at

    def _error(self, reason: str) -> ScanError:
        return ScanError(reason if self.peek() else "it ends early", self.offset)


def _decoded(name: bytes) -> str | None:
    try:
        return name.decode()
    except UnicodeDecodeError:
        return None


def _end(pattern: re.Pattern[bytes], text: bytes, start: int) -> int:
    found = pattern.match(text, start)
    return found.end() if found else start

"""Terminals as outputs: what a stranger wrote must not control them."""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, BinaryIO, cast

from weighbridge.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONE_RETURN = re.compile(r"\r(?!\n)")


def safe_for_terminals(file: BinaryIO) -> BinaryIO:
    """Return a file for bytes, which files and pipes get unchanged, and terminals with control characters escaped."""
    return cast("BinaryIO", _TerminalBytes(file)) if file.isatty() else file


class _TerminalBytes:
    """A terminal to which UTF-8 is written with control characters as escapes, except line breaks and tabs."""

    def __init__(self, terminal: BinaryIO) -> None:
        self._terminal = terminal
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._held = ""  #: a carriage return, which a line feed may follow

    def write(self, data: bytes) -> int:
        self._show(self._held + self._decoder.decode(data))
        return len(data)

    def _show(self, text: str, *, is_last: bool = False) -> None:
        self._held = "\r" if text.endswith("\r") and not is_last else ""
        text = _LONE_RETURN.sub(r"\\r", visible(text.removesuffix(self._held)))
        self._terminal.write(text.encode())

    def writelines(self, blocks: Iterable[bytes]) -> None:
        for block in blocks:
            self.write(block)

    def flush(self) -> None:
        self._show(self._held + self._decoder.decode(b"", final=True), is_last=True)
        self._terminal.flush()

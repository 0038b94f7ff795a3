"""Splits one stream into lines in constant memory: plain, gzip or zstd."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from weighbridge.errors import Fault, InputError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import BYTE_ORDER_MARK, JSON_SPACE
from weighbridge_producer.input.files.databases.sqlite_file import SIGN
from weighbridge_producer.input.files.databases.sqlite_rows import DatabaseError
from weighbridge_producer.input.files.databases.stored_sessions import session_lines
from weighbridge_producer.input.files.decompress import (
    DAMAGE,
    HEAD_BYTES,
    ExpansionError,
    check_expansion,
    unpacked,
)
from weighbridge_producer.input.files.eval_archive import SIGNS, sample_lines
from weighbridge_producer.input.files.event_streams import with_events_as_list
from weighbridge_producer.input.files.log_lines import LogLines
from weighbridge_producer.input.files.non_json_files import HELD_LINES, readable_lines
from weighbridge_producer.input.files.quoted_json import without_quotes
from weighbridge_producer.input.files.text_logs import with_sessions_as_lines
from weighbridge_producer.input.source_lines import LineBlock, SourceLine, length_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.settings import Settings

BLOCK_BYTES = 256 * 1024


class StreamLines:
    """The lines of one stream, to be read once; an unreadable line is replaced by a fault."""

    def __init__(
        self,
        stream: BinaryIO,
        name: str,
        settings: Settings,
        on_bytes: Callable[[int], None] = lambda _: None,
        kept_bytes: int = 0,
    ) -> None:
        self._stream = _Counted(stream, on_bytes)
        #: lines over the limit, but not over this length, are kept with their fault
        self._kept_bytes = kept_bytes
        self._name = name
        self._settings = settings
        self.byte_order_mark = False  #: True if a BOM was skipped at the start
        #: what a log has beside the JSON of its lines
        self.log = LogLines(settings.line_limit_bytes)
        self.empty_sessions = 0  #: number of sessions in a database in which nothing was said
        self._in_blocks = self._begins_in_blocks = False

    def begin_in_blocks(self) -> None:
        """Yield blank lines before the first other one in blocks, beyond the lines by which the kind of a file is found."""
        self._begins_in_blocks = self._settings.line_limit_bytes >= BLOCK_BYTES

    def read_in_blocks(self) -> None:
        """Yield the lines that are read from now on in blocks, which takes less time, unless one could be too long."""
        self._in_blocks = self._settings.line_limit_bytes >= BLOCK_BYTES

    def __iter__(self) -> Iterator[SourceLine]:
        """Yield all lines, with newlines."""
        try:
            if self._stream.peek().startswith(SIGNS):
                yield from sample_lines(self._stream.whole(), self._settings)
                return
            if self._is_database():
                yield from self._sessions_in(self._stream.whole(), is_packed=False)
                return
            unpacking = unpacked(self._stream, self._stream.peek())
            raw: io.RawIOBase = unpacking or self._stream
            plain = io.BufferedReader(raw, BLOCK_BYTES)
            self.byte_order_mark = plain.peek(len(BYTE_ORDER_MARK)).startswith(BYTE_ORDER_MARK)
            if unpacking and plain.peek(len(SIGN)).startswith(SIGN):
                yield from self._sessions_in(cast("BinaryIO", plain), is_packed=True)
                return
            if self.byte_order_mark:
                plain.read(len(BYTE_ORDER_MARK))
            lines = self._split(plain, packed=unpacking is not None)
            lines = without_quotes(lines)
            lines = self.log.of(lines)
            lines = with_events_as_list(lines, self._settings.line_limit_bytes)
            lines = with_sessions_as_lines(lines, self._settings.line_limit_bytes)
            yield from readable_lines(lines)
        except ExpansionError:
            yield SourceLine(b"\n", bomb_fault(self._settings.expansion_limit))
        except DAMAGE as error:
            yield SourceLine(b"\n", damage_fault(error))
        except OSError as error:
            raise InputError(f"reading {self._name!r} failed: {error.strerror or error}") from None

    def _is_database(self) -> bool:
        head = self._stream.peek()
        return SIGN.startswith(head) and self._stream.peek(len(SIGN)) == SIGN

    def _sessions_in(self, stream: BinaryIO, *, is_packed: bool) -> Iterator[SourceLine]:
        """Yield the sessions in a database."""
        settings = self._settings

        def check_size(size: int) -> None:
            if is_packed:
                self._check_expansion(size)
            if size > settings.batch_limit_bytes:
                text = f"the SQLite database has more than {settings.batch_limit_bytes:,} bytes"
                hint = "raise WEIGHBRIDGE_BATCH_LIMIT_BYTES"
                raise DatabaseError(Fault(ErrorCode.INPUT_TOO_LARGE, text, hint))

        limit_bytes, kept_bytes = settings.line_limit_bytes, self._kept_bytes
        yield from session_lines(stream, check_size, limit_bytes, kept_bytes, self._count_empty)

    def _count_empty(self, sessions: int) -> None:
        self.empty_sessions += sessions

    def _split(
        self, plain: io.BufferedReader[io.RawIOBase], *, packed: bool
    ) -> Iterator[SourceLine]:
        limit = self._settings.line_limit_bytes
        readline, most = plain.readline, limit + 2
        total = blank = 0
        begins = self._begins_in_blocks
        while True:
            if begins and not self._in_blocks and blank >= HELD_LINES:
                block = _next_block(plain, is_blank=True)
            else:
                block = _next_block(plain) if self._in_blocks else None
            if block:
                yield from self._within_limit(block, total) if packed else (block,)
                total += block.size
            line = readline(most)
            if not line:
                return
            begins = begins and not line.strip(JSON_SPACE)
            blank += begins
            size = len(line)
            if size > limit and not (size == limit + 1 and line.endswith(b"\n")):
                source_line = self._skip_rest(plain, line, total, packed=packed)
                size = source_line.size
            else:
                source_line = SourceLine(line, None, size)
            total += size
            if packed:
                self._check_expansion(total)
            yield source_line

    def _skip_rest(
        self, plain: io.BufferedReader[io.RawIOBase], line: bytes, before: int, *, packed: bool
    ) -> SourceLine:
        size = len(line)
        pieces = [line]
        while line and not line.endswith(b"\n"):
            line = plain.readline(BLOCK_BYTES)
            size += len(line)
            if size <= self._kept_bytes:
                pieces.append(line)
            else:
                pieces.clear()
            if packed:
                self._check_expansion(before + size)
        raw = b"".join(pieces) if size <= self._kept_bytes else b"\n"
        return SourceLine(raw, length_fault(size, self._settings.line_limit_bytes), size)

    def _within_limit(self, block: LineBlock, before: int) -> Iterator[SourceLine]:
        """Yield a block, or if it expands too much, its lines up to the limit."""
        try:
            self._check_expansion(before + block.size)
        except ExpansionError:
            for line in block.lines():
                before += line.size
                self._check_expansion(before)
                yield line
        else:
            yield block

    def _check_expansion(self, plain_bytes: int) -> None:
        check_expansion(plain_bytes, self._stream.consumed, self._settings.expansion_limit)


def _next_block(
    plain: io.BufferedReader[io.RawIOBase], *, is_blank: bool = False
) -> LineBlock | None:
    """Return the complete lines that have been read, or that the next reading gives; None if there are none.

    If `is_blank`, they end at the first that is not blank.
    """
    held = plain.peek()
    if is_blank:
        held = held[: len(held) - len(held.lstrip(JSON_SPACE))]
    end = held.rfind(b"\n") + 1
    return LineBlock.of(plain.read(end)) if end else None


def plain_stream(
    stream: BinaryIO, settings: Settings, on_bytes: Callable[[int], None] = lambda _: None
) -> io.BufferedReader:
    """Return a stream's content, decompressed if necessary.

    Reading it raises one of `DAMAGE` if the data is damaged or truncated, and ExpansionError for a decompression bomb.
    """
    counted = _Counted(stream, on_bytes)
    unpacking = unpacked(counted, counted.peek())
    raw = _Checked(unpacking, counted, settings.expansion_limit) if unpacking else counted
    return io.BufferedReader(raw, BLOCK_BYTES)


class _Checked(io.RawIOBase):
    """Decompressed content with a check of its expansion."""

    def __init__(self, plain: io.RawIOBase, packed: _Counted, limit: int) -> None:
        self._plain = plain
        self._packed = packed
        self._limit = limit
        self._total = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self._plain.readinto(buffer) or 0
        self._total += size
        check_expansion(self._total, self._packed.consumed, self._limit)
        return size


class _Counted(io.RawIOBase):
    """Counts the bytes read from a stream, and allows a peek at the first ones."""

    def __init__(self, stream: BinaryIO, on_bytes: Callable[[int], None]) -> None:
        self._stream = stream
        self._on_bytes = on_bytes
        self._head = b""
        self.consumed = 0  #: bytes read before decompression

    def peek(self, size: int = HEAD_BYTES) -> bytes:
        while len(self._head) < size and (more := self._stream.read(size - len(self._head))):
            self._head += more
        return self._head

    def whole(self) -> BinaryIO:
        """Return a stream of all the content from its start; it is seekable if the original stream is."""
        if self._stream.seekable():
            self._stream.seek(-len(self._head), io.SEEK_CUR)
            return self._stream
        return cast("BinaryIO", self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head or _read_some(self._stream, len(buffer))
        data, self._head = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(data)] = data
        self.consumed += len(data)
        self._on_bytes(len(data))
        return len(data)


def _read_some(stream: BinaryIO, size: int) -> bytes:
    # read1 returns what a pipe has; read would delay lines until the buffer is full.
    read1 = getattr(stream, "read1", None)
    return cast("bytes", read1(size) if read1 else stream.read(size))


def bomb_fault(limit: int) -> Fault:
    """Return the fault for compressed input that expands beyond the limit."""
    return Fault(
        ErrorCode.INPUT_TOO_LARGE,
        f"the compressed input expands more than {limit}-fold: it is not read beyond this line",
        "if the input is trustworthy, decompress it yourself, or raise WEIGHBRIDGE_EXPANSION_LIMIT",
    )


def damage_fault(error: Exception) -> Fault:
    """Return the fault for compressed input that is damaged or truncated."""
    return Fault(
        ErrorCode.INPUT_TRUNCATED,
        f"the compressed input ends early or is damaged here: {error}",
        "the lines before it are graded; for the rest, create the archive again",
    )

"""Input: lines from files, pipes, archives or Python objects, at constant memory whatever they hold."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import orjson
import zstandard

from weighbridge.errors import InputError
from weighbridge.jobs.codec import BYTE_ORDER_MARK
from weighbridge.jobs.model import ErrorCode, JobError
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from weighbridge.settings import Settings

Cases = str | Path | BinaryIO | Iterable[Mapping[str, Any] | bytes]

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_BLOCK = 256 * 1024
_EXPANSION_JUDGED_AFTER = 64 * MIB
_ZSTD_WINDOW = 128 * MIB  #: what the zstd command itself accepts; more is a memory bomb


class _Bomb(Exception):
    """Compressed input that expands beyond reason."""


@dataclass(slots=True)
class SourceLine:
    """One line of input as it came, newline included; or, in its place, why it cannot be had."""

    raw: bytes
    fault: JobError | None = None
    size: int = 0  #: bytes of input that it took


class Source:
    """Where cases come from; iterating yields its lines, from the first each time if it can be read again."""

    def __init__(self, cases: Cases, settings: Settings) -> None:
        self._cases = cases
        self._settings = settings
        self.byte_order_mark = False  #: whether one was skipped at the start
        self.consumed = 0  #: bytes read of the file as it lies there, compressed or not
        self.size: int | None = None  #: of the same, where it is known
        if isinstance(cases, (str, Path)) and str(cases) != "-":
            path = Path(cases)
            if not path.is_file():
                what = "is a directory" if path.is_dir() else "does not exist"
                raise InputError(
                    f"the input {str(path)!r} {what}",
                    "give a JSONL file, plain, .gz or .zst, or - for a pipe",
                )
            self.size = path.stat().st_size

    @property
    def name(self) -> str:
        """What to call the input."""
        if isinstance(self._cases, (str, Path)):
            return "standard input" if str(self._cases) == "-" else str(self._cases)
        return str(getattr(self._cases, "name", "cases"))

    @property
    def rereadable(self) -> bool:
        """Whether it can be read again from its start."""
        return isinstance(self._cases, (str, Path)) and str(self._cases) != "-"

    def __iter__(self) -> Iterator[SourceLine]:
        """Yield every line; what cannot be read becomes a fault in its place, and the last one says if it ended early."""
        if isinstance(self._cases, (str, Path)):
            with self._opened() as stream:
                yield from self._lines(stream)
        elif hasattr(self._cases, "readline"):
            yield from self._lines(cast("BinaryIO", self._cases))
        else:
            yield from map(_encode, self._cases)

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if str(self._cases) == "-":
            yield sys.stdin.buffer
            return
        try:
            stream = open(cast("str", self._cases), "rb", buffering=_BLOCK)  # noqa: SIM115
        except OSError as error:
            raise InputError(f"the input {self.name!r} cannot be read: {error.strerror}") from None
        with stream:
            yield stream

    def _lines(self, stream: BinaryIO) -> Iterator[SourceLine]:
        counted = _Counted(stream, self)
        plain, packed = self._decompressed(counted)
        limit = self._settings.line_limit_bytes
        total = 0
        try:
            while line := plain.readline(limit + 2):
                if not total and line.startswith(BYTE_ORDER_MARK):
                    self.byte_order_mark = True
                    total, line = len(BYTE_ORDER_MARK), line[len(BYTE_ORDER_MARK) :]
                if len(line) > limit and not (len(line) == limit + 1 and line.endswith(b"\n")):
                    source_line = self._skip_rest(plain, line, packed=packed)
                else:
                    source_line = SourceLine(line, size=len(line))
                total += source_line.size
                if packed:
                    self._judge_expansion(total)
                yield source_line
        except _Bomb:
            yield SourceLine(b"\n", _bomb_fault(self._settings.expansion_limit))
        except (EOFError, gzip.BadGzipFile, zlib.error, zstandard.ZstdError) as error:
            yield SourceLine(b"\n", _damage_fault(error))
        except OSError as error:
            raise InputError(f"reading {self.name!r} failed: {error.strerror or error}") from None

    def _decompressed(self, counted: _Counted) -> tuple[BinaryIO, bool]:
        head = counted.peek()
        if head.startswith(_GZIP):
            # GzipFile reads on its own terms; the buffer is what makes readline quick.
            return cast("BinaryIO", io.BufferedReader(gzip.GzipFile(fileobj=counted), _BLOCK)), True
        if head.startswith(_ZSTD):
            reader = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW).stream_reader(
                counted, read_across_frames=True
            )
            return cast("BinaryIO", io.BufferedReader(reader, _BLOCK)), True
        return cast("BinaryIO", io.BufferedReader(counted, _BLOCK)), False

    def _skip_rest(self, plain: BinaryIO, line: bytes, *, packed: bool) -> SourceLine:
        size = len(line)
        while line and not line.endswith(b"\n"):
            line = plain.readline(_BLOCK)
            size += len(line)
            if packed:
                self._judge_expansion(size)
        limit = self._settings.line_limit_bytes
        fault = JobError(
            ErrorCode.LINE_TOO_LONG,
            f"the line has {size:,} bytes, at most {limit:,} are allowed",
            "split the case, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
        )
        return SourceLine(b"\n", fault, size)

    def _judge_expansion(self, plain_bytes: int) -> None:
        if (
            plain_bytes > _EXPANSION_JUDGED_AFTER
            and plain_bytes > self._settings.expansion_limit * self.consumed
        ):
            raise _Bomb


class _Counted(io.RawIOBase):
    """Counts what is read of a stream, and lets its head be seen first."""

    def __init__(self, stream: BinaryIO, source: Source) -> None:
        self._stream = stream
        self._source = source
        self._head = b""

    def peek(self) -> bytes:
        while len(self._head) < len(_ZSTD) and (
            more := self._stream.read(len(_ZSTD) - len(self._head))
        ):
            self._head += more
        return self._head

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head or _read_some(self._stream, len(buffer))
        data, self._head = data[: len(buffer)], data[len(buffer) :]
        buffer[: len(data)] = data
        self._source.consumed += len(data)
        return len(data)


def _read_some(stream: BinaryIO, size: int) -> bytes:
    # A pipe gives what it has: waiting for a full buffer would hold lines back.
    read1 = getattr(stream, "read1", None)
    return cast("bytes", read1(size) if read1 else stream.read(size))


def _encode(case: Mapping[str, Any] | bytes) -> SourceLine:
    if isinstance(case, bytes):
        line = case.rstrip(b"\r\n")
        if b"\n" in line:
            fault = JobError(
                ErrorCode.INVALID_JSON,
                "a case given as bytes has a line break in it",
                "give one line a case",
            )
            return SourceLine(b"\n", fault, len(case))
        return SourceLine(line + b"\n", size=len(line) + 1)
    try:
        line = orjson.dumps(case, option=orjson.OPT_APPEND_NEWLINE)
    except (TypeError, RecursionError) as error:
        fault = JobError(
            ErrorCode.INVALID_JSON,
            f"the case cannot be written as JSON: {error}",
            "use plain JSON types",
        )
        return SourceLine(b"\n", fault, 1)
    return SourceLine(line, size=len(line))


def _bomb_fault(limit: int) -> JobError:
    return JobError(
        ErrorCode.INPUT_TOO_LARGE,
        f"the compressed input expands more than {limit}-fold: it is not read beyond this line",
        "decompress it yourself if it is what it should be, or raise WEIGHBRIDGE_EXPANSION_LIMIT",
    )


def _damage_fault(error: Exception) -> JobError:
    return JobError(
        ErrorCode.INPUT_TRUNCATED,
        f"the compressed input ends early or is damaged here: {error}",
        "what came before is graded; make the archive again for the rest",
    )

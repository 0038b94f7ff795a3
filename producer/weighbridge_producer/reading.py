"""Input: lines from files, pipes, archives or Python objects, at constant memory whatever they hold."""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from weighbridge.errors import InputError
from weighbridge.jobs.codec import BYTE_ORDER_MARK
from weighbridge.jobs.model import ErrorCode, JobError
from weighbridge.settings import MIB
from weighbridge_producer.encoding import SourceLine, encode_case
from weighbridge_producer.unpacking import DAMAGE, HEAD_BYTES, unpacked

if TYPE_CHECKING:
    from weighbridge.settings import Settings

Cases = str | Path | BinaryIO | Iterable[Mapping[str, Any] | bytes | str]

_BLOCK = 256 * 1024
_EXPANSION_JUDGED_AFTER = 8 * MIB  #: little enough to pass in seconds, whatever the lines are


class _BombError(Exception):
    """Compressed input that expands beyond reason."""


class Source:
    """Where cases come from; iterating yields its lines, from the first each time if it can be read again."""

    def __init__(self, cases: Cases, settings: Settings) -> None:
        self._cases = cases
        self._settings = settings
        self.byte_order_mark = False  #: whether one was skipped at the start
        self.consumed = 0  #: bytes read of the file as it lies there, compressed or not
        self.size: int | None = None  #: of the same, where it is known
        if isinstance(cases, (str, Path)) and str(cases) != "-":
            self.size = _size_of(Path(cases))

    @property
    def name(self) -> str:
        """What to call the input."""
        if isinstance(self._cases, (str, Path)):
            return "standard input" if str(self._cases) == "-" else str(self._cases)
        return str(getattr(self._cases, "name", "cases"))

    @property
    def rereadable(self) -> bool:
        """Whether it can be read again from its start."""
        # A named pipe has no size.
        return self.size is not None

    def __iter__(self) -> Iterator[SourceLine]:
        """Yield every line; what cannot be read becomes a fault in its place.

        The last line says if there were more than can be read, or than a batch may have.
        """
        self.consumed = 0
        if isinstance(self._cases, (str, Path)):
            with self._opened() as stream:
                yield from self._lines(stream)
        elif hasattr(self._cases, "readline") and not isinstance(self._cases, io.TextIOBase):
            yield from self._lines(cast("BinaryIO", self._cases))
        else:
            total = 0
            for count, case in enumerate(self._cases, start=1):
                line = self._encoded(case)
                total += line.size
                settings = self._settings
                if count > settings.batch_limit_lines or total > settings.batch_limit_bytes:
                    yield self._too_large(line.size)
                    return
                yield line

    @contextmanager
    def _opened(self) -> Iterator[BinaryIO]:
        if str(self._cases) == "-":
            yield sys.stdin.buffer
            return
        try:
            stream = Path(self.name).open("rb", buffering=_BLOCK)  # noqa: SIM115 - closed below
        except OSError as error:
            raise InputError(f"the input {self.name!r} cannot be read: {error.strerror}") from None
        with stream:
            yield stream

    def _lines(self, stream: BinaryIO) -> Iterator[SourceLine]:
        try:
            plain, packed = self._decompressed(_Counted(stream, self))
            self.byte_order_mark = plain.peek(len(BYTE_ORDER_MARK)).startswith(BYTE_ORDER_MARK)
            if self.byte_order_mark:
                plain.read(len(BYTE_ORDER_MARK))
            yield from self._split(plain, packed=packed)
        except _BombError:
            yield SourceLine(b"\n", _bomb_fault(self._settings.expansion_limit))
        except DAMAGE as error:
            yield SourceLine(b"\n", _damage_fault(error))
        except OSError as error:
            raise InputError(f"reading {self.name!r} failed: {error.strerror or error}") from None

    def _split(self, plain: io.BufferedReader, *, packed: bool) -> Iterator[SourceLine]:
        limit = self._settings.line_limit_bytes
        most_lines, most_bytes = self._settings.batch_limit_lines, self._settings.batch_limit_bytes
        readline, most = plain.readline, limit + 2
        total = count = 0
        while line := readline(most):
            size = len(line)
            count += 1
            if size > limit and not (size == limit + 1 and line.endswith(b"\n")):
                source_line = self._skip_rest(plain, line, total, packed=packed)
                size = source_line.size
            else:
                source_line = SourceLine(line, None, size)
            total += size
            if packed:
                self._judge_expansion(total)
            if count > most_lines or total > most_bytes:
                yield self._too_large(size)
                return
            yield source_line

    def _too_large(self, size: int) -> SourceLine:
        settings = self._settings
        fault = JobError(
            ErrorCode.INPUT_TOO_LARGE,
            f"the batch ends here: at most {settings.batch_limit_lines:,} lines"
            f" and {settings.batch_limit_bytes:,} bytes",
            "submit the rest as another batch",
        )
        return SourceLine(b"\n", fault, size)

    def _decompressed(self, counted: _Counted) -> tuple[io.BufferedReader, bool]:
        plain = unpacked(counted, counted.peek())
        return io.BufferedReader(plain or counted, _BLOCK), plain is not None

    def _skip_rest(
        self, plain: io.BufferedReader, line: bytes, before: int, *, packed: bool
    ) -> SourceLine:
        size = len(line)
        while line and not line.endswith(b"\n"):
            line = plain.readline(_BLOCK)
            size += len(line)
            if packed:
                self._judge_expansion(before + size)
        return SourceLine(b"\n", _length_fault(size, self._settings.line_limit_bytes), size)

    def _encoded(self, case: Mapping[str, Any] | bytes | str) -> SourceLine:
        line = encode_case(case)
        if line.size > self._settings.line_limit_bytes + 1:
            fault = _length_fault(line.size - 1, self._settings.line_limit_bytes)
            return SourceLine(b"\n", fault, line.size)
        return line

    def _judge_expansion(self, plain_bytes: int) -> None:
        if (
            plain_bytes > _EXPANSION_JUDGED_AFTER
            and plain_bytes > self._settings.expansion_limit * self.consumed
        ):
            raise _BombError


class _Counted(io.RawIOBase):
    """Counts what is read of a stream, and lets its head be seen first."""

    def __init__(self, stream: BinaryIO, source: Source) -> None:
        self._stream = stream
        self._source = source
        self._head = b""

    def peek(self) -> bytes:
        while len(self._head) < HEAD_BYTES and (
            more := self._stream.read(HEAD_BYTES - len(self._head))
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


def _size_of(path: Path) -> int | None:
    """Return a file's size, None for a pipe or a device; raise InputError for what cannot be read."""
    hint = "give a JSONL file, plain, .gz or .zst, or - for a pipe"
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"the input {str(path)!r} does not exist", hint) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the input {str(path)!r} cannot be read: {why}", hint) from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"the input {str(path)!r} is a directory", hint)
    return status.st_size if stat.S_ISREG(status.st_mode) else None


def _length_fault(size: int, limit: int) -> JobError:
    return JobError(
        ErrorCode.LINE_TOO_LONG,
        f"the line has {size:,} bytes, at most {limit:,} are allowed",
        "split the case, or raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
    )


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

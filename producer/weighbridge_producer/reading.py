"""Input: lines from files, folders, pipes, archives or Python objects, at constant memory whatever they hold."""

from __future__ import annotations

import glob
import io
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from weighbridge.errors import InputError
from weighbridge.jobs.model import ErrorCode, JobError
from weighbridge_producer.encoding import SourceLine, encode_case
from weighbridge_producer.lines import BLOCK_BYTES, StreamLines, length_fault
from weighbridge_producer.owners import Owners
from weighbridge_producer.trace_cases import as_cases

if TYPE_CHECKING:
    from weighbridge.settings import Settings

Cases = str | Path | BinaryIO | Iterable[Mapping[str, Any] | bytes | str]

_HINT = (
    "give a JSONL file, plain, .gz or .zst, a folder or a pattern of such files, or - for a pipe"
)
_READ_IN_FOLDERS = (".jsonl", ".ndjson", ".json", ".traj")
_PACKED = (".gz", ".zst")
_OURS = ".results.jsonl"  #: what `run` writes beside its input


class Source:
    """Where cases come from; iterating yields its lines, from the first each time if it can be read again.

    Files, folders and patterns of files may hold cases or bare traces; each trace becomes a case.
    """

    def __init__(self, cases: Cases, settings: Settings) -> None:
        self._cases = cases
        self._settings = settings
        self.byte_order_mark = False  #: whether one was skipped at the start
        self.consumed = 0  #: bytes read of the files as they lie there, compressed or not
        self.size: int | None = None  #: of the same, where it is known
        self.files: tuple[Path, ...] = ()  #: what is read, in order
        if isinstance(cases, (str, Path)) and str(cases) != "-":
            self.files = _files_of(Path(cases))
            sizes = [_size_of(file) for file in self.files]
            self.size = None if None in sizes else sum(map(int, filter(None, sizes)))

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

    def fingerprint(self) -> list[list[str | int]]:
        """Return what tells whether the files are those of before: their paths, sizes and times."""
        found = [(file.absolute(), file.stat()) for file in self.files]
        return [[str(path), status.st_size, status.st_mtime_ns] for path, status in found]

    def __iter__(self) -> Iterator[SourceLine]:
        """Yield every line; what cannot be read becomes a fault in its place.

        The last line says if there were more than can be read, or than a batch may have.
        """
        settings = self._settings
        total = 0
        for count, line in enumerate(self._every_line(), start=1):
            total += line.size
            if count > settings.batch_limit_lines or total > settings.batch_limit_bytes:
                yield self._too_large(line.size)
                return
            yield line

    def _every_line(self) -> Iterator[SourceLine]:
        self.consumed = 0
        with closing(Owners()) as ids:
            yield from self._lines_of_all(ids)

    def _lines_of_all(self, ids: Owners) -> Iterator[SourceLine]:
        if self.files:
            for file in self.files:
                with self._opened(file) as stream:
                    yield from self._lines(stream, self._short_name(file), ids)
        elif isinstance(self._cases, (str, Path)):
            yield from self._lines(sys.stdin.buffer, "stdin", ids)
        elif hasattr(self._cases, "readline") and not isinstance(self._cases, io.TextIOBase):
            yield from self._lines(cast("BinaryIO", self._cases), self.name, ids)
        else:
            yield from map(self._encoded, self._cases)

    @contextmanager
    def _opened(self, file: Path) -> Iterator[BinaryIO]:
        try:
            stream = file.open("rb", buffering=BLOCK_BYTES)
        except OSError as error:
            raise InputError(f"the input {str(file)!r} cannot be read: {error.strerror}") from None
        with stream:
            yield stream

    def _short_name(self, file: Path) -> str:
        """Return what the ids of a file's traces are made of."""
        folder = Path(str(self._cases))
        return (
            file.relative_to(folder).as_posix()
            if file.is_relative_to(folder) and file != folder
            else file.name
        )

    def _lines(self, stream: BinaryIO, name: str, ids: Owners) -> Iterator[SourceLine]:
        lines = StreamLines(stream, self.name, self._settings, self._count)
        for line in as_cases(iter(lines), name, ids):
            self.byte_order_mark |= lines.byte_order_mark
            yield line

    def _count(self, size: int) -> None:
        self.consumed += size

    def _too_large(self, size: int) -> SourceLine:
        settings = self._settings
        fault = JobError(
            ErrorCode.INPUT_TOO_LARGE,
            f"the batch ends here: at most {settings.batch_limit_lines:,} lines"
            f" and {settings.batch_limit_bytes:,} bytes",
            "submit the rest as another batch",
        )
        return SourceLine(b"\n", fault, size)

    def _encoded(self, case: Mapping[str, Any] | bytes | str) -> SourceLine:
        line = encode_case(case)
        if line.size > self._settings.line_limit_bytes + 1:
            fault = length_fault(line.size - 1, self._settings.line_limit_bytes)
            return SourceLine(b"\n", fault, line.size)
        return line


def _files_of(path: Path) -> tuple[Path, ...]:
    """Return the files that a path means: itself, a folder's, or those that a pattern matches; sorted."""
    if _is_folder(path):
        found = [file for file in sorted(path.rglob("*")) if _is_read(file) and file.is_file()]
        if not found:
            raise InputError(
                f"the folder {str(path)!r} has no file to read",
                f"files are read that end in {', '.join(_READ_IN_FOLDERS)}, also with .gz or .zst",
            )
        return tuple(found)
    text = str(path)
    if glob.has_magic(text) and not _exists(path):
        found = [Path(name) for name in sorted(glob.glob(text, recursive=True))]  # noqa: PTH207 - absolute ones too
        files = tuple(file for file in found if file.is_file())
        if not files:
            raise InputError(f"no file matches the pattern {text!r}", _HINT)
        return files
    return (path,)


def _is_read(file: Path) -> bool:
    name = file.name
    for suffix in _PACKED:
        name = name.removesuffix(suffix)
    return name.endswith(_READ_IN_FOLDERS) and not name.startswith(".") and not name.endswith(_OURS)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _size_of(path: Path) -> int | None:
    """Return a file's size, None for a pipe or a device; raise InputError for what cannot be read."""
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"the input {str(path)!r} does not exist", _HINT) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"the input {str(path)!r} cannot be read: {why}", _HINT) from None
    return status.st_size if stat.S_ISREG(status.st_mode) else None

"""Runs: the sources of the results that are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from weighbridge.errors import InputError
from weighbridge.jobs.result import ResultRow
from weighbridge_producer.comparison.entries import Entry, read_entry
from weighbridge_producer.input.lines import StreamLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.gating.fields import FieldPath

_LINES_PER_CASE_LINE = 4  #: a result may quote its case more than once, so its line may be longer
_HINT = "give JSON Lines as `run -o NAME.jsonl` and `results` write them (plain, .gz or .zst)"


@runtime_checkable
class HasPages(Protocol):
    """A batch, as far as a comparison asks: its results as pages of lines."""

    @property
    def id(self) -> str:
        """The batch's id."""

    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterable[Any]:
        """Yield pages, each with its `lines`."""


@dataclass(slots=True)
class Run:
    """The results of one run, read once."""

    name: str
    read: Callable[[tuple[FieldPath, ...] | None], Iterator[Entry]]
    results: int = 0  #: read so far
    unnamed: int = field(
        default=0
    )  #: of them: lines without a custom_id, which nothing can be paired with
    repeated: int = 0  #: of them: a custom_id and label that an earlier one has

    def entries(self, wanted: tuple[FieldPath, ...] | None = ()) -> Iterator[Entry]:
        """Yield every result that has a custom_id, with the fields of its metadata that are wanted, or all (None)."""
        for entry in self.read(wanted):
            self.results += 1
            if entry.custom_id is None:
                self.unnamed += 1
            else:
                yield entry

    def as_dict(self) -> dict[str, Any]:
        """Return what is known of the run as JSON shows it."""
        return {
            "name": self.name,
            "results": self.results,
            "unnamed": self.unnamed,
            "repeated": self.repeated,
        }


def lines_of_file(path: Path, settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a JSON Lines file, plain, gzip or zstd, each with where it is; raises InputError."""
    if not path.is_file():
        raise InputError(f"the results {str(path)!r} do not exist", _HINT)
    longest = settings.line_limit_bytes * _LINES_PER_CASE_LINE
    allowed = settings.model_copy(update={"line_limit_bytes": longest})
    with path.open("rb") as stream:
        for number, line in enumerate(StreamLines(stream, str(path), allowed), start=1):
            where = f"line {number} of {str(path)!r}"
            if line.fault:
                raise InputError(f"{where}: {line.fault.message}", _HINT)
            yield where, line.raw


def lines_of_batch(batch: HasPages) -> Iterator[tuple[str, bytes]]:
    """Yield the result lines that a batch has now, each with where it is."""
    for page in batch.pages(follow=False):
        for line in page.lines.splitlines():
            yield f"a result of batch {batch.id}", line


def rows_of(lines: Iterable[tuple[str, bytes]]) -> Iterator[ResultRow]:
    """Yield each line as the result that it is; raises InputError."""
    for where, line in lines:
        try:
            yield ResultRow.from_bytes(line)
        except ValueError as error:
            raise InputError(f"{where}: {error}"[:400], _HINT) from None


def run_of_file(path: Path, settings: Settings) -> Run:
    """Return the run whose results are in a JSON Lines file, plain, gzip or zstd; reading it raises InputError."""
    return _run_of(str(path), lambda: lines_of_file(path, settings))


def run_of_batch(batch: HasPages) -> Run:
    """Return the run whose results a batch has now."""
    return _run_of(batch.id, lambda: lines_of_batch(batch))


def run_of_lines(name: str, lines: Iterable[bytes]) -> Run:
    """Return the run whose result lines are given."""
    return _run_of(
        name, lambda: ((f"line {n} of {name}", line) for n, line in enumerate(lines, start=1))
    )


def _run_of(name: str, lines: Callable[[], Iterable[tuple[str, bytes]]]) -> Run:
    def read(wanted: tuple[FieldPath, ...] | None) -> Iterator[Entry]:
        for where, line in lines():
            try:
                yield read_entry(line, wanted)
            except ValueError as error:
                raise InputError(f"{where}: {error}"[:400], _HINT) from None

    return Run(name, read)

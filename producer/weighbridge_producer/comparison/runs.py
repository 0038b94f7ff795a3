"""Runs: the sources of results for a comparison."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from weighbridge.errors import InputError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.comparison.compared_results import Entry, read_entry
from weighbridge_producer.gating.fields import note_fields
from weighbridge_producer.input.files.input_paths import opened_input
from weighbridge_producer.input.files.lines import StreamLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.gating.fields import FieldPath

_LINES_PER_CASE_LINE = 4  #: a result may quote its case several times, so its line may be longer
_LOOKED_AT = 1_000  #: results whose fields a message considers
_LABELS_NAMED = 10
_HINT = "give JSON Lines as `run -o NAME.jsonl` and `results` write them (plain, .gz or .zst)"


@runtime_checkable
class HasPages(Protocol):
    """The part of a batch's interface that a comparison uses."""

    @property
    def id(self) -> str:
        """The batch's id."""

    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterable[Any]:
        """Yield pages, each with its `lines`."""


class ReadEntries(Protocol):
    """A function that reads the results of a run."""

    def __call__(
        self, wanted: tuple[FieldPath, ...] | None, *, in_full: bool = False
    ) -> Iterator[Entry]:
        """Yield each result, as `read_entry` returns it."""


@dataclass(slots=True)
class Run:
    """The results of one run, read once."""

    name: str
    read: ReadEntries
    results: int = 0  #: results read so far
    unnamed: int = field(default=0)  #: results without a custom_id, which cannot be paired
    repeated: int = 0  #: results with the custom_id and label of an earlier one
    #: why jobs of a batch lack results, such as `in_progress`; empty otherwise
    incomplete: str = ""
    label: str | None = None  #: of the results to read; None for all
    #: the first ones and `label`, if only that is read
    labels: dict[str, None] = field(default_factory=dict)

    def entries(
        self,
        wanted: tuple[FieldPath, ...] | None = (),
        *,
        in_full: bool = False,
        with_unnamed: bool = False,
    ) -> Iterator[Entry]:
        """Yield the results with a custom_id, or all of them, as `read_entry` returns them."""
        for entry in self.read(wanted, in_full=in_full):
            if self._leaves_out(entry.label):
                continue
            self.results += 1
            self.unnamed += entry.custom_id is None
            if with_unnamed or entry.custom_id is not None:
                yield entry

    def _leaves_out(self, label: str | None) -> bool:
        """Return whether a result is of another label than is read; a line that is no case is of each."""
        if self.label is None or label is None:
            return False
        if label == self.label or len(self.labels) < _LABELS_NAMED:
            self.labels[label] = None
        return label != self.label

    def note_fields(self, present: dict[str, bool]) -> None:
        """Add the metadata fields of the first results, for a message about a field that no result has a value of."""
        counted = self.results, self.unnamed  # reading a baseline resets these
        for entry in islice(self.read(None), _LOOKED_AT):
            note_fields(present, entry.fields)
        self.results, self.unnamed = counted

    def as_dict(self) -> dict[str, Any]:
        """Return the run's description in its JSON form."""
        return {
            "name": self.name,
            "results": self.results,
            "unnamed": self.unnamed,
            "repeated": self.repeated,
        }


def lines_of_file(path: Path, settings: Settings) -> Iterator[tuple[str, bytes]]:
    """Yield the lines of a JSON Lines file (plain, gzip or zstd), each with its location; raises InputError."""
    if not path.is_file():
        raise InputError(f"the results {str(path)!r} do not exist", _HINT)
    longest = settings.line_limit_bytes * _LINES_PER_CASE_LINE
    allowed = settings.model_copy(update={"line_limit_bytes": longest})
    with opened_input(path) as stream:
        for number, line in enumerate(StreamLines(stream, str(path), allowed), start=1):
            where = f"line {number} of {str(path)!r}"
            if line.fault:
                raise InputError(f"{where}: {line.fault.message}", _HINT)
            yield where, line.raw


def lines_of_batch(batch: HasPages) -> Iterator[tuple[str, bytes]]:
    """Yield the result lines recorded so far in a batch, each with its location."""
    for page in batch.pages(follow=False):
        for line in page.lines.splitlines():
            yield f"a result of batch {batch.id}", line


def rows_of(lines: Iterable[tuple[str, bytes]]) -> Iterator[ResultRow]:
    """Parse result lines; raises InputError for a line that is not a result."""
    for where, line in lines:
        try:
            yield ResultRow.from_foreign_bytes(line)
        except ValueError as error:
            raise InputError(f"{where}: {error}"[:400], _HINT) from None


def run_of_file(path: Path, settings: Settings) -> Run:
    """Return a run from a JSON Lines file (plain, gzip or zstd); reading it may raise InputError."""
    return _run_of(str(path), lambda: lines_of_file(path, settings))


def run_of_batch(batch: HasPages, status: BatchStatus = BatchStatus.COMPLETED) -> Run:
    """Return a run from the results recorded so far in a batch; of one that is not completed, `incomplete` says so."""
    run = _run_of(batch.id, lambda: lines_of_batch(batch))
    run.incomplete = "" if status is BatchStatus.COMPLETED else str(status)
    return run


def run_of_lines(name: str, lines: Iterable[bytes]) -> Run:
    """Return a run from result lines."""
    return _run_of(
        name, lambda: ((f"line {n} of {name}", line) for n, line in enumerate(lines, start=1))
    )


def _run_of(name: str, lines: Callable[[], Iterable[tuple[str, bytes]]]) -> Run:
    def read(wanted: tuple[FieldPath, ...] | None, *, in_full: bool = False) -> Iterator[Entry]:
        for where, line in lines():
            try:
                yield read_entry(line, wanted, in_full=in_full)
            except ValueError as error:
                raise InputError(f"{where}: {error}"[:400], _HINT) from None

    return Run(name, read)

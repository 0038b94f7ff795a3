"""The handle to a batch: one class for users, and a subclass for each backend."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import ConfigError, NotDoneError
from weighbridge.store.result_filter import ResultFilter
from weighbridge.text import pluralize, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from weighbridge.errors import Fault
    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge.store import BatchOptions, Durability
    from weighbridge.store.result_filter import ResultPage
    from weighbridge_producer.input.source import Cases

Result = dict[str, Any]  #: one result line, decoded
ANYTHING = ResultFilter()
_LOOK_SECONDS = 0.5  #: between two polls of a batch's status
_NAMES_CHARACTERS = 200  #: of graders in an error


@dataclass(frozen=True, slots=True)
class Page:
    """Some complete result lines, and the cursor that follows them."""

    lines: bytes
    cursor: str  #: pass it back to continue after this page


class Batch(ABC):
    """A handle to one batch."""

    id: str
    #: How durably the sealed batch was stored in Redis; None if it was not submitted through this handle.
    durability: Durability | None = None
    #: Why the input was not read to its end, although what was read is submitted; None if it was.
    unread: Fault | None = None

    def __repr__(self) -> str:
        return f"Batch({self.id!r})"

    @abstractmethod
    def fill(
        self,
        cases: Cases,
        *,
        resumed: bool = False,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> Durability:
        """Submit cases to the open batch, skipping those that it already has, and seal it.

        If the cases break off, the batch has those before, and `unread` says why. `resumed` means that an earlier attempt was
        interrupted. `on_wait` is called with the reason when this has to wait. Raises ChunkConflictError if the batch was
        started with other cases, ServerError if a retry may succeed.
        """

    @abstractmethod
    def status(self) -> BatchState:
        """Return the batch's current state."""

    def states(self) -> Iterator[BatchState]:
        """Yield the batch's state now and after each change, ending with its final state."""
        while not (state := self.status()).status.final:
            yield state
            self._waited(_LOOK_SECONDS)
        yield state

    @abstractmethod
    def summary(self) -> list[GraderSummary]:
        """Return the counts of outcomes so far, one summary per grader label."""

    @abstractmethod
    def options(self) -> BatchOptions:
        """Return the options that the batch was submitted with."""

    @abstractmethod
    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Page]:
        """Yield pages of result lines as bytes, each with the cursor that follows it."""

    def results(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Result]:
        """Yield results as they are recorded, until the batch ends; without `follow`, only those recorded so far."""
        for page in self.pages(cursor, follow=follow):
            for line in page.lines.splitlines():
                yield orjson.loads(line)

    @abstractmethod
    def result(self, custom_id: str) -> list[Result]:
        """Return the results of one case, one per grader.

        Raises NoSuchResultError if no case has that id, or the case is not finished.
        """

    @abstractmethod
    def search(
        self, wanted: ResultFilter = ANYTHING, cursor: str | None = None, limit: int = 50
    ) -> ResultPage:
        """Return a page of the results recorded so far that match a filter.

        Raises StaleCursorError for a cursor from before a retry, InvalidFilterError for an invalid limit.
        """

    @abstractmethod
    def case(self, custom_id: str) -> bytes | None:
        """Return the line of a case as it was submitted; None if the batch's inputs have been freed.

        A trace that was submitted on its own is returned as the case made from it. Raises NoSuchResultError if no case
        has that id.
        """

    @abstractmethod
    def case_finder(self) -> Callable[[int], bytes | None]:
        """Return a function that gets an input line by its number, counted from 1; sequential access is the fastest.

        The function returns None for a line that is blank, missing, or freed.
        """

    def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch ends and return its state.

        Raises NotDoneError after `timeout_seconds`, which is a TimeoutError and says what holds the batch up: no worker is
        running, it is paused, or its input is not complete.
        """
        state = self._waited(timeout_seconds)
        if state.status.final:
            return state
        left, hints = [_left(state)], []
        if state.counts.pending and self._running_workers() == 0:
            left.append("no worker is running")
            hints.append("start one with `weighbridge worker`")
        if state.paused:
            left.append("it is paused")
            hints.append("`unpause()` continues it")
        if lacking := state.lacking_input(time.time()):
            left.append(lacking)
            hints.append(
                f"if its producer has ended, `submit(cases, resume={self.id!r})` with the same cases continues it"
            )
        raise NotDoneError(
            f"batch {self.id} is not done after {timeout_seconds:g} s: {', and '.join(left)}",
            "; ".join(hints) or "wait again, or see what holds it up with `weighbridge doctor`",
        )

    @abstractmethod
    def _waited(self, timeout_seconds: float | None) -> BatchState:
        """Wait until the batch ends, for at most so long, and return its state."""

    @abstractmethod
    def _running_workers(self) -> int | None:
        """Return the number of running workers; None if it cannot be found out."""

    @abstractmethod
    def cancel(self) -> BatchState:
        """Cancel the jobs that are not graded yet and keep the results of the others; no effect on an ended batch."""

    @abstractmethod
    def retry(self, *, dead_letters: bool = False) -> int:
        """Grade again the chunks with jobs whose errors may be transient; return the number of such jobs.

        With `dead_letters`, instead retry jobs that crashed their worker process, timed out, or used too much memory. A batch
        that ended as failed because its cases broke off ends so again, when the jobs that it has are graded.
        """

    @abstractmethod
    def pause(self) -> None:
        """Stop workers from starting more of the batch until `unpause`; BatchError if it has ended."""

    @abstractmethod
    def unpause(self) -> None:
        """Let workers resume the batch."""

    @abstractmethod
    def delete(self) -> bool:
        """Delete the batch with its inputs and results; return False if there was nothing to delete."""


def _left(state: BatchState) -> str:
    """Return what is left to do of what has arrived of a batch."""
    if not state.counts.total:
        return "no jobs have arrived"
    if not state.counts.pending:
        return "all jobs that have arrived are done"
    return f"{pluralize(state.counts.pending, 'job')} still to be graded"


def note_failed(error: BaseException, state: BatchState) -> None:
    """Add to an error of reading the cases what became of their batch."""
    cancelled = state.counts.cancelled
    error.add_note(
        f"batch {state.batch_id} ended as {state.status}, with the first {pluralize(state.lines, 'case')}"
        + (f"; {pluralize(cancelled, 'job')} cancelled" if cancelled else "")
    )


def check_same_graders(batch: Batch, graders: Sequence[GraderSpec]) -> None:
    """Raise ConfigError if graders are given for a batch to resume that are not its own, because it keeps these."""
    if not graders:
        return
    own, given = _by_label(batch.options().graders), _by_label(graders)
    changed = [
        label
        for label in own.keys() & given.keys()
        if own[label] != given[label] and own[label][0] == given[label][0]
    ]
    if changed:
        labels = shorten(", ".join(map(repr, sorted(changed))), _NAMES_CHARACTERS)
        what = f"has another configuration of {labels}"
    elif own != given:
        what = f"is graded by {_listed(own)}, not by {_listed(given)}"
    else:
        return
    raise ConfigError(
        f"batch {batch.id} {what}",
        "a batch keeps its graders: leave them out to continue it, or submit the cases as a new batch",
    )


def _by_label(graders: Sequence[GraderSpec]) -> dict[str, tuple[str, bytes]]:
    """Return the id and the configuration of each grader by its label."""
    return {spec.label: (spec.grader, _encoded(spec.config)) for spec in graders}


def _encoded(config: Mapping[str, Any] | None) -> bytes:
    """Return a configuration as JSON; empty if it has no such form, which no batch has."""
    try:
        return orjson.dumps(dict(config or {}), option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return b""


def _listed(graders: Mapping[str, tuple[str, bytes]]) -> str:
    """Return graders as text, such as `loop, short=budget` with a label; of a batch without, that its cases name them."""
    names = [
        label if label == grader else f"{label}={grader}" for label, (grader, _) in graders.items()
    ]
    return shorten(", ".join(names), _NAMES_CHARACTERS) or "those that its cases name"

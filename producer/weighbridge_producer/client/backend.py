"""What the handles on batches share, whichever backend they ask: Redis itself, or a service over HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.jobs.model import GraderSpec
from weighbridge.store.result_filter import ResultFilter
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.jobs.model import BatchState
    from weighbridge.store import Durability

Graders = Sequence[str | Mapping[str, Any] | GraderSpec]
Result = dict[str, Any]  #: one result line, decoded
ANYTHING = ResultFilter()
_LOOK_SECONDS = 0.5  #: between two looks at a batch that is followed


@dataclass(frozen=True, slots=True)
class ListedBatch:
    """A batch in a list."""

    state: BatchState
    source: str  #: what the input was called
    project: str
    submitted_by: str

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        return {
            **self.state.as_dict(),
            "source": self.source,
            "project": self.project,
            "submitted_by": self.submitted_by,
        }


@dataclass(frozen=True, slots=True)
class Page:
    """Some result lines, whole, and the cursor after them."""

    lines: bytes
    cursor: str  #: give it back to go on after the page


class BackendBatch(ABC):
    """A handle on one batch at a backend."""

    id: str
    #: How safe the batch was in Redis when it was sealed; None where this handle has not submitted it.
    durability: Durability | None = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.id!r})"

    @abstractmethod
    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Page]:
        """Yield result lines as bytes, some at a time, each page with the cursor after it."""

    @abstractmethod
    def status(self) -> BatchState:
        """Return the batch's state at this moment."""

    @abstractmethod
    def wait(self, timeout_seconds: float | None = None) -> BatchState:
        """Wait until the batch has ended and return its state; TimeoutError after `timeout_seconds`."""

    def states(self) -> Iterator[BatchState]:
        """Yield the batch's state now and as it changes, the last once it has ended."""
        while not (state := self.status()).status.final:
            yield state
            with suppress(TimeoutError):
                self.wait(_LOOK_SECONDS)
        yield state

    def results(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Result]:
        """Yield results as they are recorded, until the batch has ended; without `follow`, those there are now."""
        for page in self.pages(cursor, follow=follow):
            for line in page.lines.splitlines():
                yield orjson.loads(line)

    def _not_done(self, state: BatchState) -> TimeoutError:
        return TimeoutError(
            f"batch {self.id} is not done: {pluralize(state.counts.pending, 'job')} still to be graded"
        )

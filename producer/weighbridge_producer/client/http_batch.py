"""Batch handle for the HTTP backend."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict
from http import HTTPStatus
from math import inf
from types import NoneType
from typing import TYPE_CHECKING, Any

import httpx2
import msgspec

from weighbridge.errors import (
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    InputsFreedError,
    ServerError,
    WeighbridgeError,
)
from weighbridge.store.cursor import ResultCursor
from weighbridge.store.result_filter import ResultFilter, ResultPage, check_limit
from weighbridge_producer.batch_shapes import (
    BatchDetails,
    BatchSummary,
    CaseResults,
    InputLines,
    ResultsPage,
    RetriedBatch,
    SubmittedBatch,
    WorkerList,
)
from weighbridge_producer.client.batch import ANYTHING, Batch, Page, note_failed
from weighbridge_producer.client.collector import lines_of, without_repeats
from weighbridge_producer.client.http_session import RetryableError, decoded, error_of, in_path
from weighbridge_producer.client.http_upload import Upload
from weighbridge_producer.client.line_intervals import IntervalSet
from weighbridge_producer.input.annotated_lines import RECORD_SEPARATOR
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge.settings import Settings
    from weighbridge.store import BatchOptions, Durability
    from weighbridge_producer.client.batch import Result
    from weighbridge_producer.client.http_session import HttpSession, Params
    from weighbridge_producer.input.source import Cases

_MARK: Any = str | dict[str, str] | None  #: a cursor, an error, or a heartbeat
_SILENT_SECONDS = 5.0  #: without an event, after which the status is requested
_LOOK_SECONDS = 0.25  #: between status requests when too little time is left to follow events
_REFUSED_SECONDS = 1.0  #: between status requests when events are refused


class HttpBatch(Batch):
    """A handle to one batch of an HTTP service."""

    def __init__(self, session: HttpSession, batch_id: str, settings: Settings) -> None:
        self.id = batch_id
        self._session = session
        self._settings = settings

    @property
    def _path(self) -> str:
        if "/" in self.id:  # the service would take it for a path separator
            raise BatchNotFoundError(
                f"{self.id[:80]!r} is not a batch id", "`weighbridge batches` lists them"
            )
        return f"api/batches/{in_path(self.id)}"

    def fill(
        self,
        cases: Cases,
        *,
        resumed: bool = False,  # noqa: ARG002 - known to the service
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> Durability:
        source = Source.of(cases, self._settings)
        if source.mapping:
            source.graders = self.options().graders
        upload = Upload(source, (), self._settings, metadata=None, strict=False, resume=self.id)
        if not upload.rereadable:
            self.status()  # check the service first: the cases can be read only once
        try:
            return self.note_submitted(upload.send(self._session, on_wait=on_wait))
        except Exception as error:
            if upload.failure and not upload.rereadable:
                note_failed(error, self._give_up(upload.failure))
            raise

    def note_submitted(self, submitted: SubmittedBatch) -> Durability:
        """Keep what the service said about the input when it had submitted it; return its durability."""
        self.unread = submitted.unread.fault() if submitted.unread else None
        self.durability = submitted.durability.durability()
        return self.durability

    def status(self) -> BatchState:
        return self._session.request("GET", self._path, BatchSummary).state()

    def summary(self) -> list[GraderSummary]:
        rows = self._session.request("GET", self._path, BatchDetails).graders
        return [row.summary() for row in rows]

    def options(self) -> BatchOptions:
        """Return the options that the batch was submitted with; the queue is left at its default."""
        return self._session.request("GET", self._path, BatchDetails).options.options()

    def pages(self, cursor: str | None = None, *, follow: bool = True) -> Iterator[Page]:
        """Yield pages of result lines as bytes, one chunk each, with the cursor that follows the page.

        If the connection breaks, a new one resumes after the last page.
        """
        delivered = IntervalSet()
        pauses = self._session.pauses()
        while True:
            try:
                for page in self._marked(cursor, follow=follow):
                    pauses = self._session.pauses()
                    if page is None:
                        continue
                    cursor = page.cursor
                    start, end = lines_of(ResultCursor.parse(cursor).chunk)
                    if lines := without_repeats(page.lines, start, end, delivered):
                        yield Page(lines, cursor)
                return
            except RetryableError as error:
                pauses.before_next(error)

    def _marked(self, cursor: str | None, *, follow: bool) -> Iterator[Page | None]:
        """Yield the pages of one result stream, and None for each heartbeat."""
        params: Params = {"format": "ndjson", "marked": "true", "follow": str(follow).lower()}
        if cursor:
            params["cursor"] = cursor
        with self._session.stream("GET", f"{self._path}/results", params=params) as answer:
            yield from pages_in(answer.iter_bytes())

    def result(self, custom_id: str) -> list[Result]:
        path = f"{self._path}/results/{in_path(custom_id)}"
        return self._session.request("GET", path, CaseResults).results

    def search(
        self, wanted: ResultFilter = ANYTHING, cursor: str | None = None, limit: int = 50
    ) -> ResultPage:
        check_limit(limit)
        params: Params = {name: value for name, value in asdict(wanted).items() if value}
        params["limit"] = limit
        if cursor:
            params["cursor"] = cursor
        found = self._session.request("GET", f"{self._path}/results", ResultsPage, params=params)
        return ResultPage(list(map(bytes, found.results)), found.next_cursor, found.complete)

    def case(self, custom_id: str) -> bytes | None:
        try:
            path = f"{self._path}/cases/{in_path(custom_id)}"
            return bytes(self._session.request("GET", path, msgspec.Raw))
        except InputsFreedError:
            return None

    def case_finder(self) -> Callable[[int], bytes | None]:
        return ServedLines(self._session, f"{self._path}/lines").at

    def _waited(self, timeout_seconds: float | None) -> BatchState:
        deadline = inf if timeout_seconds is None else time.monotonic() + timeout_seconds
        while not (state := self.status()).status.final:
            left = deadline - time.monotonic()
            if left <= 0:
                break
            if left < 2 * _SILENT_SECONDS:
                time.sleep(min(_LOOK_SECONDS, left))
            elif not self._listen(deadline - _SILENT_SECONDS):
                time.sleep(_REFUSED_SECONDS)
        return state

    def _running_workers(self) -> int | None:
        with suppress(WeighbridgeError):
            return len(self._session.request("GET", "api/workers", WorkerList).workers)
        return None

    def states(self) -> Iterator[BatchState]:
        while not (state := self.status()).status.final:
            yield state
            began = time.monotonic()
            yield from self._event_states()
            if time.monotonic() - began < _REFUSED_SECONDS:
                time.sleep(_REFUSED_SECONDS)  # do not spin when events are refused
        yield state

    def _event_states(self) -> Iterator[BatchState]:
        """Yield the states in the batch's event stream until the batch ends or the stream goes silent."""
        state: BatchState | None = None
        with suppress(RetryableError):
            for line in self._events():
                if line == "event: end":
                    return
                if line.startswith("data: {"):
                    state = decoded(line.removeprefix("data: ").encode(), BatchSummary).state()
                    if state.status.final:
                        return
                    yield state
                elif line.startswith(":") and state:  # nothing has changed, and time has passed
                    yield state

    def _listen(self, until: float) -> bool:
        """Read events until the batch ends, the stream goes silent, or `until`; return False if events are refused."""
        began = time.monotonic()
        try:
            for line in self._events():
                if line == "event: end" or time.monotonic() > until:
                    return True
        except RetryableError:
            # A stream that went silent counts as read; an immediate refusal does not, so that the caller pauses.
            return time.monotonic() - began > _LOOK_SECONDS
        return False

    def _events(self) -> Iterator[str]:
        """Yield the lines of the batch's event stream; RetryableError if it is silent for too long."""
        timeout = httpx2.Timeout(_SILENT_SECONDS)
        with self._session.stream("GET", f"{self._path}/events", timeout=timeout) as answer:
            yield from answer.iter_lines()

    def cancel(self) -> BatchState:
        return self._session.request("POST", f"{self._path}/cancel", BatchSummary).state()

    def _give_up(self, failure: BaseException) -> BatchState:
        """End the batch as failed and return its state, because the rest of its cases will never come."""
        params: Params = {"failure": f"{type(failure).__name__}: {failure}"[:300]}
        return self._session.request(
            "POST", f"{self._path}/cancel", BatchSummary, params=params
        ).state()

    def retry(self, *, dead_letters: bool = False) -> int:
        params: Params = {"dead_letters": "true"} if dead_letters else {}
        # Not idempotent: a second request would be refused, because the batch is running again.
        return self._session.request(
            "POST", f"{self._path}/retry", RetriedBatch, params=params, idempotent=False
        ).retried

    def pause(self) -> None:
        self._session.request("POST", f"{self._path}/pause", BatchSummary)

    def unpause(self) -> None:
        self._session.request("POST", f"{self._path}/unpause", BatchSummary)

    def delete(self) -> bool:
        try:
            self._session.request("DELETE", self._path, NoneType)
        except (BatchNotFoundError, BatchExpiredError, BatchLostError):
            return False
        return True


class ServedLines:
    """The input lines of a batch, fetched from the service in blocks that start at the requested line."""

    def __init__(self, session: HttpSession, path: str) -> None:
        self._session = session
        self._path = path
        self._lines: dict[int, bytes] = {}
        self._known = range(0)

    def at(self, line: int) -> bytes | None:
        """Return a line by its number, counted from 1; None if it is blank, missing, or freed."""
        if line not in self._known:
            found = self._session.request("GET", self._path, InputLines, params={"first": line})
            self._known = range(line, max(line, found.last) + 1)
            self._lines = {each.line: each.text.encode() for each in found.lines}
        return self._lines.get(line)


def pages_in(pieces: Iterable[bytes]) -> Iterator[Page | None]:
    """Yield the pages of a stream with cursor marks, each as soon as its mark arrives; None for a heartbeat.

    Raises the error that a mark has.
    """
    held, looked = bytearray(), 0
    for piece in pieces:
        held += piece
        while (mark := held.find(RECORD_SEPARATOR, looked)) >= 0 and (
            end := held.find(b"\n", mark)
        ) >= 0:
            text = bytes(held[mark + 1 : end])
            cursor = decoded(text, _MARK)
            if isinstance(cursor, dict):
                raise error_of(HTTPStatus.OK, text)
            yield Page(bytes(held[:mark]), cursor) if cursor else None
            del held[: end + 1]
            looked = 0
        looked = mark if mark >= 0 else len(held)
    if held:
        raise ServerError("the results ended without a final cursor", "request them again")

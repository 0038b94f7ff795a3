"""Queries of a batch's state, log and results, and of the lists of batches."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.errors import BatchError, ServerError
from weighbridge.grading.tally import SummaryRow, score_bucket
from weighbridge.jobs.batch_state import BatchState, BatchStatus
from weighbridge.jobs.chunk import DAMAGED_BLOB, decompress
from weighbridge.jobs.outcome import SCORE_BUCKETS, VACUOUS, Counts, GraderSummary, Outcome
from weighbridge.store.base import StoreBase, readable
from weighbridge.store.connection import translate_errors
from weighbridge.store.cursor import BatchCursor, ResultsVersion
from weighbridge.store.key_names import is_batch_id, key, listing, opened_at, text
from weighbridge.store.records import BatchOptions, BatchPage, LogEntry, is_recorded, project_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_ENTRIES_AT_ONCE = 1_000  #: read from the log in one command
_COUNTED = (
    *Counts.__dataclass_fields__,
    "chunks",
    "lines",
    "offset",
    "duplicates",
    "nondeterministic",
    "grade_us",
    "epoch",
)

_STATE = (
    *("created_ms", "status", "expires_ms", "ended_ms", "sealed", "closing", "reason", "paused"),
    "arrived_ms",
    *_COUNTED,
)


@dataclass(frozen=True, slots=True)
class LogPage:
    """Some log entries with the results of their chunks."""

    entries: list[LogEntry]
    #: Result lines of each entry's chunk; None for an entry without a chunk, and for results that were freed.
    results: Iterator[bytes | None]
    #: Status and version of the batch at the same moment, and the number of its lines; None if the last entry has a chunk, as
    #: more will follow.
    status: BatchStatus | None = None
    version: ResultsVersion | None = None
    lines: int | None = None


class _Group:
    """Accumulated summary rows of one label and grader."""

    def __init__(self) -> None:
        self._outcomes = dict.fromkeys(map(str, (*Outcome, VACUOUS)), 0)
        self._causes: Counter[str] = Counter()
        self._scores = [0] * SCORE_BUCKETS

    def add(self, outcome: str, cause: str, count: int) -> None:
        bucket = score_bucket(outcome)
        if cause:
            self._causes[cause] += count
        elif bucket is not None:
            self._scores[bucket] += count
        elif outcome in self._outcomes:  # a newer release may have more counts
            self._outcomes[outcome] += count

    def summary(self, label: str, grader: str) -> GraderSummary:
        causes = sorted(self._causes.items(), key=lambda cause: (-cause[1], cause[0]))
        return GraderSummary(
            label, grader, causes=tuple(causes), scores=tuple(self._scores), **self._outcomes
        )


def _summary(meta: Mapping[bytes, bytes]) -> list[GraderSummary]:
    groups: dict[tuple[str, str], _Group] = {}
    for field, count in meta.items():
        if not SummaryRow.is_row(field):
            continue
        label, grader, outcome, cause = SummaryRow.parse(field)
        group = groups.setdefault((label or "", grader or ""), _Group())
        group.add(outcome, cause, int(count))
    return [group.summary(*names) for names, group in sorted(groups.items())]


class Queries(StoreBase):
    """Read access to batches."""

    def state(self, batch: str) -> BatchState:
        """Return a batch's current state."""
        with translate_errors():
            values = self.redis.hmget(key(batch, "meta"), _STATE)
        return self._state_of(batch, values)

    def _state_of(self, batch: str, values: list[bytes | None]) -> BatchState:
        if values[0] is None:
            raise self.missing(batch)
        with readable(batch):
            found = zip(_STATE, values, strict=True)
            return self._state(batch, {name: text(value or b"") for name, value in found})

    def _state(self, batch: str, meta: dict[str, str]) -> BatchState:
        number = {name: int(meta.get(name) or 0) for name in _COUNTED}
        return BatchState(
            batch_id=batch,
            status=_status(batch, meta["status"]),
            counts=Counts(**{name: number[name] for name in Counts.__dataclass_fields__}),
            created_at=int(meta["created_ms"]) / 1000,
            expires_at=int(meta["expires_ms"]) / 1000,
            ended_at=int(meta["ended_ms"]) / 1000 if meta["ended_ms"] else None,
            sealed=meta["sealed"] == "1",
            chunks=number["chunks"],
            lines=number["lines"],
            input_bytes=number["offset"],
            duplicates=number["duplicates"],
            nondeterministic=number["nondeterministic"],
            grading_seconds=number["grade_us"] / 1e6,
            epoch=number["epoch"],
            closing=_status(batch, meta["closing"]) if meta["closing"] else None,
            reason=meta.get("reason", ""),
            paused=meta["paused"] == "1",
            arrived_at=int(meta["arrived_ms"]) / 1000 if meta["arrived_ms"] else None,
        )

    def summary(self, batch: str) -> list[GraderSummary]:
        """Return the counts of outcomes for each label and grader, sorted by label."""
        with translate_errors():
            return _summary(self.redis.hgetall(key(batch, "meta")))

    def state_and_summary(self, batch: str) -> tuple[BatchState, list[GraderSummary]]:
        """Return a consistent snapshot of a batch's state and summary."""
        with translate_errors():
            raw = self.redis.hgetall(key(batch, "meta"))
        return self._state_of(batch, [raw.get(name.encode()) for name in _STATE]), _summary(raw)

    def read_log(
        self, batch: str, after: str, wait_seconds: float, most: int = 64
    ) -> list[LogEntry]:
        """Return log entries after a position, blocking up to `wait_seconds` for the first (0: not at all)."""
        with translate_errors():
            answer = _read_log(self._blocking, batch, after, wait_seconds, most)
        rows = answer[0][1] if answer else []
        with readable(batch):
            return [_log_entry(text(at), row) for at, row in rows]

    def read_results(self, batch: str, after: str, wait_seconds: float, most: int) -> LogPage:
        """Return log entries after a position with their results in one round trip; waits as `read_log` does."""
        asked = (after, most, "status", "epoch", "reopened", "lines")

        def wait(pipe: Any) -> None:
            _read_log(pipe, batch, after, wait_seconds, most=1)

        if self.is_cluster:
            if wait_seconds:
                self.read_log(batch, after, wait_seconds, most=1)
            answer = self._run("read_results", batch, *asked, client=self._blocking)
        else:
            [answer] = self._run_all(
                batch,
                [("read_results", *asked)],
                after=wait if wait_seconds else None,
                client=self._blocking,
            )
        rows, blobs, after_last = answer
        if after_last[:1] == [None]:
            raise self.missing(batch)
        with readable(batch):
            entries = [
                _log_entry(text(at), dict(zip(row[::2], row[1::2], strict=True)))
                for at, row in rows
            ]
            results = self._unpacked(batch, [entry.chunk or "" for entry in entries], blobs)
            if not after_last:
                return LogPage(entries, results)
            status, epoch, reopened, lines = after_last
            version = ResultsVersion(int(epoch), int(reopened or 0))
            return LogPage(entries, results, _status(batch, text(status)), version, int(lines))

    def log(self, batch: str, after: str = "") -> Iterator[list[LogEntry]]:
        """Yield blocks of the log entries recorded so far after a position."""
        while entries := self.read_log(batch, after, 0, most=_ENTRIES_AT_ONCE):
            yield entries
            after = entries[-1].position

    def log_has(self, batch: str, entry: LogEntry) -> bool:
        """Return whether the log still has an entry that was read before."""
        for again in (True, False):
            with translate_errors():
                rows = self.redis.xrange(key(batch, "log"), entry.position, entry.position)
            if _is_entry(rows, entry):
                return True
            if again:
                # The connection may still be to a demoted primary, whose data is out of date.
                self.forget_connections()
        return False

    def is_behind(self, batch: str, entry: LogEntry) -> bool:
        """Return whether the server lags behind: it lacks an entry read before, or its chunk's record.

        A chunk that a retry has reopened also counts as lacking its record.
        """
        with translate_errors():
            pipe = self.redis.pipeline()
            pipe.xrange(key(batch, "log"), entry.position, entry.position)
            pipe.hget(key(batch, "chunks"), entry.chunk or "")
            rows, record = pipe.execute()
        with readable(batch):
            return not _is_entry(rows, entry) or is_recorded(record)

    def has_lost_results(self, batch: str) -> bool:
        """Return whether the server lacks the key of the batch's log or of its chunks, which every batch has."""
        with translate_errors():
            return int(self.redis.exists(key(batch, "chunks"), key(batch, "log"))) < 2

    def results(self, batch: str, chunks: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the result lines of each finished chunk; None if it has none or they were freed."""
        with translate_errors():
            names = [f"{chunk} results" for chunk in chunks]
            blobs = self.redis.hmget(key(batch, "chunks"), names) if names else []
        yield from self._unpacked(batch, chunks, blobs)

    def _unpacked(
        self, batch: str, chunks: Sequence[str], blobs: Sequence[bytes | None]
    ) -> Iterator[bytes | None]:
        for chunk, blob in zip(chunks, blobs, strict=True):
            try:
                yield None if blob is None else decompress(blob)
            except DAMAGED_BLOB as error:
                raise ServerError(f"the results of chunk {chunk} of {batch} are damaged") from error

    def finished(self, batch: str, chunks: Sequence[str]) -> list[str]:
        """Return the chunks that are still recorded; a retry or a rollback of the server reopens chunks."""
        with translate_errors():
            records = self.redis.hmget(key(batch, "chunks"), list(chunks)) if chunks else []
        with readable(batch):
            return [
                chunk for chunk, record in zip(chunks, records, strict=True) if is_recorded(record)
            ]

    def freed(self, batch: str, chunks: Sequence[str]) -> list[str]:
        """Return the chunks that are recorded but whose results were freed; open chunks are left out."""
        fields = [field for chunk in chunks for field in (chunk, f"{chunk} results")]
        with translate_errors():
            values = self.redis.hmget(key(batch, "chunks"), fields) if fields else []
        with readable(batch):
            return [
                chunk
                for chunk, record, results in zip(chunks, values[::2], values[1::2], strict=True)
                if results is None and is_recorded(record)
            ]

    def batches(self, most: int = 100, *, project: str | None = None) -> list[str]:
        """Return the ids of the most recent batches, of one project or all."""
        return self._newest(most, None, project)

    def batch_page(
        self, limit: int, cursor: str | None = None, *, project: str | None = None
    ) -> BatchPage:
        """Return the ids of up to `limit` batches after a cursor, of one project or all. Raises StaleCursorError."""
        after = BatchCursor.parse(cursor).after if cursor else None
        found = self._newest(limit + 1, after, project)
        has_more = len(found) > limit
        return BatchPage(found[:limit], str(BatchCursor(found[limit - 1])) if has_more else None)

    def _newest(self, most: int, before: str | None, project: str | None) -> list[str]:
        """Return the ids of the most recent batches or, with `before`, of those that were opened before that batch."""
        newest = "+inf" if before is None else opened_at(before)
        found: list[str] = []
        passed = 0
        while len(found) < most:
            with translate_errors():
                rows = self.redis.zrevrangebyscore(listing(project), newest, "-inf", passed, most)
            # Batches opened in the same millisecond are ordered by id.
            found += [batch for batch in map(text, rows) if before is None or batch < before]
            passed += len(rows)
            if len(rows) < most:
                break
        return found[:most]

    def listed(self, batches: Sequence[str]) -> list[tuple[BatchState, BatchOptions]]:
        """Return states and options of batches in one round trip; batches that cannot be read are left out."""
        with translate_errors():
            pipe = self.redis.pipeline(transaction=False)
            for batch in batches:
                pipe.hmget(key(batch, "meta"), (*_STATE, "options"))
            answers = pipe.execute(raise_on_error=False)
        found = []
        for batch, answer in zip(batches, answers, strict=True):
            with suppress(BatchError), readable(batch):
                *values, options = answer
                found.append((self._state_of(batch, values), BatchOptions.unpack(options)))
        return found

    def input_bytes(self, project: str) -> int:
        """Return the total input bytes, before compression, of a project's existing batches."""
        with translate_errors():
            batches = [text(batch) for batch in self.redis.zrange(listing(project), 0, -1)]
            pipe = self.redis.pipeline(transaction=False)
            for batch in batches:
                pipe.hget(key(batch, "meta"), "offset")
            return sum(int(offset or 0) for offset in pipe.execute())

    def belongs_to(self, batch: str, project: str) -> bool:
        """Return whether a batch belongs, or belonged, to a project; takes the same time either way."""
        if not is_batch_id(batch):
            return False
        with translate_errors():
            pipe = self.redis.pipeline(transaction=False)
            pipe.hget(key(batch, "meta"), "options")
            pipe.zscore(listing(project), batch)
            options, listed = pipe.execute()
        return project_in(options) == project if options else listed is not None

    def is_deleted(self, batch: str) -> bool:
        """Return whether the batch has been deleted or is being deleted."""
        with translate_errors():
            return bool(self.redis.exists(key(batch, "deleted")))


def _read_log(redis: Any, batch: str, after: str, wait_seconds: float, most: int) -> Any:
    block = max(1, int(wait_seconds * 1000)) if wait_seconds else None
    return redis.xread({key(batch, "log"): after or "0"}, count=most, block=block)


def _log_entry(position: str, row: dict[bytes, bytes]) -> LogEntry:
    chunk = text(row[b"chunk"]) if b"chunk" in row else None
    return LogEntry(position, chunk, text(row[b"after"]), int(row[b"epoch"]))


def _is_entry(rows: Sequence[tuple[bytes, dict[bytes, bytes]]], entry: LogEntry) -> bool:
    chunk = None if entry.chunk is None else entry.chunk.encode()
    return bool(rows) and rows[0][1].get(b"chunk") == chunk


def _status(batch: str, name: str) -> BatchStatus:
    try:
        return BatchStatus(name)
    except ValueError:
        raise BatchError(
            f"batch {batch} has an unknown status: {name[:40]!r}",
            "was it submitted by a newer release?",
        ) from None

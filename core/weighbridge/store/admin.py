"""Administration of batches: sweeps, pausing, closing, retries and deletion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from weighbridge.errors import BatchClosedError, ServerError
from weighbridge.grading.tally import SummaryRow, packed_rows
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.store.base import StoreBase
from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import (
    ACTIVE,
    DUE,
    PAUSED,
    SWEEPER,
    expires_at,
    key,
    listing,
    text,
    turns,
)
from weighbridge.store.leasing import decoded_info
from weighbridge.store.records import HeldChunk, HeldChunks, is_recorded, project_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_RECORDS_AT_ONCE = 500


class Administration(StoreBase):
    """Operations on whole batches."""

    def lead_sweep(self, worker: str, seconds: float) -> bool:
        """Acquire or extend the lock of the only worker that sweeps; return False if another holds it."""
        with translate_errors():
            milliseconds = int(seconds * 1000)
            if self.redis.set(SWEEPER, worker, nx=True, px=milliseconds):
                return True
            if self.redis.get(SWEEPER) != worker.encode():
                return False
            self.redis.pexpire(SWEEPER, milliseconds)
            return True

    def now(self) -> float:
        """Return the server's time in seconds since the epoch."""
        with translate_errors():
            seconds, micros = self.redis.time()
        return float(seconds + micros / 1e6)

    def due_batches(self, before: float, most: int) -> list[str]:
        """Return up to `most` batches that the sweeper must check before a time, soonest first."""
        with translate_errors():
            found = self.redis.zrangebyscore(DUE, "-inf", before * 1000, 0, most)
        return list(map(text, found))

    def postpone_check(self, batch: str, seconds: float) -> None:
        """Delay the sweeper's next check of a batch after a check has failed."""
        with translate_errors():
            self.redis.zadd(DUE, {batch: int((self.now() + seconds) * 1000)})

    def active_count(self) -> int:
        """Return the number of batches that have not ended."""
        with translate_errors():
            return int(self.redis.zcard(ACTIVE))

    def without_due_time(self, first: int, most: int) -> list[str]:
        """Return those among `most` active batches, from rank `first` on, for which no check is scheduled."""
        with translate_errors():
            some = self.redis.zrange(ACTIVE, first, first + most - 1)
            times = self.redis.zmscore(DUE, some) if some else []
        return [text(batch) for batch, when in zip(some, times, strict=True) if when is None]

    def held(self, batch: str, most: int = 1000) -> HeldChunks:
        """Return the chunks of a batch that are leased or held for other reasons."""
        now, waiting, *rows = self._run("held_chunks", batch, most)
        chunks = [
            HeldChunk(ChunkId.parse(text(name)), float(until) / 1000, decoded_info(info))
            for name, until, info in zip(rows[::3], rows[1::3], rows[2::3], strict=True)
        ]
        return HeldChunks(now / 1000, bool(waiting), chunks)

    def reschedule_check(self, batch: str) -> None:
        """Schedule the sweeper's next check of a batch for the end of its first lease or pause, or for its expiry."""
        due = int(self._run("reschedule_check", batch))
        if self.is_cluster and due:
            with translate_errors():
                self.redis.zadd(DUE, {batch: due})
                # A chunk claimed meanwhile may be due earlier; later claims update the time themselves.
                self.redis.zadd(
                    DUE, {batch: int(self._run("reschedule_check", batch)) or due}, lt=True
                )
            self._take_turn(batch)

    def waiting_chunks(self, queue: str, most: int) -> int:
        """Return the number of chunks of a queue that can be claimed, or `most` if there are more."""
        with translate_errors():
            if self.redis.hexists(PAUSED, queue):
                return 0
            batches = self.redis.zrange(turns(queue), 0, 31)
            pipe = self.redis.pipeline(transaction=False)
            for batch in batches:
                pipe.zcount(key(text(batch), "open"), "-inf", "(0")
            counts = pipe.execute(raise_on_error=False)
        return min(sum(count for count in counts if isinstance(count, int)), most)

    def close_batch(self, batch: str, status: BatchStatus, reason: str = "") -> bool:
        """Stop submissions to a batch and claims of its chunks; return False if it had ended before."""
        answer = text(self._run("close", batch, str(status), reason))
        if answer == "lost":
            raise self.missing(batch)
        self._schedule_check(batch, 0)
        return answer != "ended"

    def pause_batch(self, batch: str, *, paused: bool) -> bool:
        """Stop or resume claims of a batch's chunks; return False if the batch has ended."""
        answer = text(self._run("pause", batch, int(paused)))
        if answer == "lost":
            raise self.missing(batch)
        if self.is_cluster:
            if paused:
                with translate_errors():
                    self.redis.zrem(turns(self.options(batch).queue), batch)
            else:
                self._take_turn(batch)
        return answer == "done"

    def pause_queue(self, queue: str, *, paused: bool) -> None:
        """Stop or resume claims of chunks of all batches of a queue."""
        with translate_errors():
            if paused:
                self.redis.hset(PAUSED, queue, 1)
            else:
                self.redis.hdel(PAUSED, queue)

    def is_queue_paused(self, queue: str) -> bool:
        """Return whether a queue is paused."""
        with translate_errors():
            return bool(self.redis.hexists(PAUSED, queue))

    def is_closing(self, batch: str, ending: BatchStatus) -> bool:
        """Return whether a batch is being closed, or was closed, with a final status, and no retry has reopened it."""
        with translate_errors():
            return bool(self.redis.hget(key(batch, "meta"), "closing") == ending.encode())

    def open_chunks(self, batch: str, most: int = 0) -> list[ChunkId]:
        """Return the chunks that have no results yet, up to `most`; 0 means all."""
        with translate_errors():
            return [
                ChunkId.parse(text(chunk))
                for chunk in self.redis.zrange(key(batch, "open"), 0, most - 1)
            ]

    def active_batches(self) -> list[str]:
        """Return the batches that have not ended."""
        with translate_errors():
            return [batch.decode(errors="replace") for batch in self.redis.zrange(ACTIVE, 0, -1)]

    def retire(self, batch: str) -> None:
        """Remove an ended batch from the active ones."""
        with translate_errors():
            self.redis.zrem(ACTIVE, batch)
            self.redis.zrem(DUE, batch)
            # Checked last, so that a concurrent retry is not missed.
            if self.redis.hget(key(batch, "meta"), "ended_ms") == b"":
                self._activate(batch)

    def retire_ended(self, batches: Sequence[str]) -> list[str]:
        """Remove those among batches that have ended from the active ones, in two round trips; return the others.

        The others include those whose data is damaged or gone, and all of a cluster, whose nodes run commands in any order.
        """
        if self.is_cluster:
            return [*batches]
        retired = {*self._ended_among(batches)}
        if ended := [*retired]:
            with translate_errors():
                pipe = self.redis.pipeline(transaction=False)
                pipe.zrem(ACTIVE, *ended)
                pipe.zrem(DUE, *ended)
                # Read last, so that a concurrent retry is not missed.
                for batch in ended:
                    pipe.hget(key(batch, "meta"), "ended_ms")
                of_active, of_due, *ended_ms = pipe.execute(raise_on_error=False)
                for removal in (of_active, of_due):
                    if isinstance(removal, Exception):
                        raise removal
            for batch, at in zip(ended, ended_ms, strict=True):
                is_damaged = isinstance(at, Exception)
                if is_damaged or at == b"":
                    self._activate(batch)
                if is_damaged:
                    retired.remove(batch)
        return [batch for batch in batches if batch not in retired]

    def _ended_among(self, batches: Sequence[str]) -> list[str]:
        """Return the batches that have ended; one whose data is damaged or gone is not among them."""
        with translate_errors():
            pipe = self.redis.pipeline(transaction=False)
            for batch in batches:
                pipe.hget(key(batch, "meta"), "ended_ms")
            found = pipe.execute(raise_on_error=False)
        return [batch for batch, at in zip(batches, found, strict=True) if type(at) is bytes and at]

    def _activate(self, batch: str) -> None:
        with translate_errors():
            self.redis.zadd(ACTIVE, {batch: int(self.now())})
            self.redis.zadd(DUE, {batch: 0})

    def records(self, batch: str) -> Iterator[tuple[ChunkId, list[tuple[SummaryRow, int]]]]:
        """Yield each finished chunk with the rows of its tally and their counts."""
        after = "-"
        while True:
            with translate_errors():
                rows = self.redis.xrange(key(batch, "log"), after, "+", count=_RECORDS_AT_ONCE)
                names = [row[b"chunk"] for _, row in rows if b"chunk" in row]
                records = self.redis.hmget(key(batch, "chunks"), names) if names else []
            for name, record in zip(names, records, strict=True):
                # A chunk without a record was reopened, by a retry or by a rollback of the server.
                if is_recorded(record):
                    tally = orjson.loads(record)["tally"]
                    yield ChunkId.parse(text(name)), list(packed_rows(tally))
            if len(rows) < _RECORDS_AT_ONCE:
                return
            after = f"({text(rows[-1][0])}"

    def reopen(self, batch: str, chunk: ChunkId, epoch: int, expiry_seconds: int) -> bool:
        """Reopen a finished chunk so that it is graded again; return False if its lines are gone.

        Raises BatchClosedError if the batch was cancelled after the retry began.
        """
        expires = int((self.now() + expiry_seconds) * 1000)
        answer = self._run("reopen", batch, str(chunk), str(chunk.of_epoch(epoch)), epoch, expires)
        if answer < 0:
            raise BatchClosedError(f"batch {batch} was cancelled while it was retried")
        if answer:
            self._activate(batch)
            self._take_turn(batch)
        return bool(answer)

    def delete(self, batch: str) -> bool:
        """Delete all keys of a batch; return False if there were none."""
        with translate_errors():
            exists, options = self.redis.hmget(key(batch, "meta"), "chunks", "options")
            if exists is None:
                return False
            project = project_in(options)
            # Stops further claims.
            self._run("close", batch, str(BatchStatus.CANCELLED), "deleted")
            lanes = self._lanes(batch)
            self._forget_turns(batch, lanes)
            left = max(int(expires_at(batch) - self.now()), 0)
            lists = [listing(), ACTIVE, DUE, *([listing(project)] if project else [])]
            if self.is_cluster:
                # First, because an interrupted deletion can be repeated only while the batch has its keys.
                for name in lists:
                    self.redis.zrem(name, batch)
            self._run("delete", batch, left, len(lists), *lists, *lanes)
        return True

    def _lanes(self, batch: str) -> set[str]:
        """Return the lanes that hold chunks of a batch; none if its data is damaged."""
        try:
            return {held.info.lane for held in self.held(batch).chunks if held.info.lane}
        except (*DAMAGED_DATA, ServerError):
            return set()  # these keys expire with the batch

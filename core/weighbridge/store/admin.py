"""Watching over batches: what is stuck goes out again, what is over is ended, retried or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import BatchClosedError
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.model import BatchStatus
from weighbridge.store.base import StoreBase
from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import (
    ACTIVE,
    DUE,
    PAUSED,
    SWEEPER,
    dies_at,
    key,
    listing,
    text,
    turns,
)
from weighbridge.store.leasing import decoded_info
from weighbridge.store.records import HeldChunk, HeldChunks, is_recorded, project_in

if TYPE_CHECKING:
    from collections.abc import Iterator

_RECORDS_AT_ONCE = 500


class Administration(StoreBase):
    """What is done with batches as a whole."""

    def lead_sweep(self, worker: str, seconds: float) -> bool:
        """Take, or keep, the role of the one worker that sweeps; False while another has it."""
        with translate_errors():
            milliseconds = int(seconds * 1000)
            if self.redis.set(SWEEPER, worker, nx=True, px=milliseconds):
                return True
            if self.redis.get(SWEEPER) != worker.encode():
                return False
            self.redis.pexpire(SWEEPER, milliseconds)
            return True

    def now(self) -> float:
        """Return the time of the server's clock, in seconds."""
        with translate_errors():
            seconds, micros = self.redis.time()
        return float(seconds + micros / 1e6)

    def due_batches(self, before: float, most: int) -> list[str]:
        """Return the batches in which something is due before a time, soonest first."""
        with translate_errors():
            found = self.redis.zrangebyscore(DUE, "-inf", before * 1000, 0, most)
        return list(map(text, found))

    def postpone(self, batch: str, seconds: float) -> None:
        """Do not look at a batch for some time: looking at it failed."""
        with translate_errors():
            self.redis.zadd(DUE, {batch: int((self.now() + seconds) * 1000)})

    def active_count(self) -> int:
        """Return how many batches have not ended."""
        with translate_errors():
            return int(self.redis.zcard(ACTIVE))

    def without_due_time(self, first: int, most: int) -> list[str]:
        """Return those of some active batches, by rank, at which the sweeper would never look."""
        with translate_errors():
            some = self.redis.zrange(ACTIVE, first, first + most - 1)
            times = self.redis.zmscore(DUE, some) if some else []
        return [text(batch) for batch, when in zip(some, times, strict=True) if when is None]

    def held(self, batch: str, most: int = 1000) -> HeldChunks:
        """Return what of a batch is leased, or held back for other reasons."""
        now, waiting, *rows = self._run("held_chunks", batch, most)
        chunks = [
            HeldChunk(ChunkId.parse(text(name)), float(until) / 1000, decoded_info(info))
            for name, until, info in zip(rows[::3], rows[1::3], rows[2::3], strict=True)
        ]
        return HeldChunks(now / 1000, bool(waiting), chunks)

    def watch(self, batch: str) -> None:
        """Note when something is due in a batch next: what is held back there, or its expiry."""
        due = int(self._run("schedule_sweep", batch))
        if self.is_cluster and due:
            with translate_errors():
                self.redis.zadd(DUE, {batch: due})
                # What was claimed meanwhile may be due before; a claim from now on notes that itself.
                self.redis.zadd(
                    DUE, {batch: int(self._run("schedule_sweep", batch)) or due}, lt=True
                )
            self._take_turn(batch)

    def waiting_chunks(self, queue: str, most: int) -> int:
        """Return how many chunks of a queue wait to be claimed, or `most` where there are more."""
        with translate_errors():
            batches = self.redis.zrange(turns(queue), 0, 31)
            if not batches or text(batches[0]) == PAUSED:
                return 0
            pipe = self.redis.pipeline(transaction=False)
            for batch in batches:
                pipe.zcount(key(text(batch), "open"), "-inf", "(0")
            counts = pipe.execute(raise_on_error=False)
        return min(sum(count for count in counts if isinstance(count, int)), most)

    def close_batch(self, batch: str, status: BatchStatus, reason: str = "") -> bool:
        """Take nothing more in and let nothing more be claimed; False when the batch had ended already."""
        answer = text(self._run("close", batch, str(status), reason))
        if answer == "lost":
            raise self.missing(batch)
        self._look_at(batch, 0)
        return answer != "ended"

    def pause_batch(self, batch: str, *, paused: bool) -> bool:
        """Let no chunk of a batch be claimed, or let them be again; False when the batch has ended."""
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
        """Let no chunk of any batch of a queue be claimed, or let them be again."""
        with translate_errors():
            if paused:
                self.redis.zadd(turns(queue), {PAUSED: float("-inf")})
            else:
                self.redis.zrem(turns(queue), PAUSED)

    def is_queue_paused(self, queue: str) -> bool:
        """Whether the queue is paused."""
        with translate_errors():
            return self.redis.zscore(turns(queue), PAUSED) is not None

    def open_chunks(self, batch: str, most: int = 0) -> list[ChunkId]:
        """Return the chunks that have no results yet, at `most` so many; 0: all."""
        with translate_errors():
            return [
                ChunkId.parse(text(chunk))
                for chunk in self.redis.zrange(key(batch, "open"), 0, most - 1)
            ]

    def active_batches(self) -> list[str]:
        """Return the batches that may still have something to do."""
        with translate_errors():
            return [batch.decode(errors="replace") for batch in self.redis.zrange(ACTIVE, 0, -1)]

    def retire(self, batch: str) -> None:
        """Take an ended batch off the list of active ones."""
        with translate_errors():
            self.redis.zrem(ACTIVE, batch)
            self.redis.zrem(DUE, batch)
            # Last, so that a retry in between is seen by one of the two.
            if self.redis.hget(key(batch, "meta"), "ended_ms") == b"":
                self._activate(batch)

    def _activate(self, batch: str) -> None:
        with translate_errors():
            self.redis.zadd(ACTIVE, {batch: int(self.now())})
            self.redis.zadd(DUE, {batch: 0})

    def records(self, batch: str) -> Iterator[tuple[ChunkId, dict[str, Any]]]:
        """Yield each finished chunk with its tally."""
        after = "-"
        while True:
            with translate_errors():
                rows = self.redis.xrange(key(batch, "log"), after, "+", count=_RECORDS_AT_ONCE)
                names = [row[b"chunk"] for _, row in rows if b"chunk" in row]
                held = self.redis.hmget(key(batch, "chunks"), names) if names else []
            for name, record in zip(names, held, strict=True):
                # Without a record the chunk was opened again: by a retry under another name, by a rollback under its own.
                if is_recorded(record):
                    yield ChunkId.parse(text(name)), orjson.loads(orjson.loads(record)["tally"])
            if len(rows) < _RECORDS_AT_ONCE:
                return
            after = f"({text(rows[-1][0])}"

    def reopen(self, batch: str, chunk: ChunkId, epoch: int, expiry_seconds: int) -> bool:
        """Open a finished chunk to grade it again; False when its lines are gone.

        Raises BatchClosedError when the batch was cancelled since the retry began.
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
        """Drop everything of a batch; False when there was nothing."""
        with translate_errors():
            exists, options = self.redis.hmget(key(batch, "meta"), "chunks", "options")
            if exists is None:
                return False
            project = project_in(options)
            # Nobody begins more of it.
            self._run("close", batch, str(BatchStatus.CANCELLED), "deleted")
            lanes = self._lanes(batch)
            self._forget_turns(batch, lanes)
            left = max(int(dies_at(batch) - self.now()), 0)
            self._run("delete", batch, left, *lanes)
            for listed in filter(None, (listing(), ACTIVE, DUE, project and listing(project))):
                self.redis.zrem(listed, batch)
        return True

    def _lanes(self, batch: str) -> set[str]:
        """Return the lanes in which a batch's chunks may wait."""
        return {held.info.lane for held in self.held(batch).chunks if held.info.lane}

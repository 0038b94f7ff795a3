"""Watching over batches: what is stuck goes out again, what is over is ended, retried or dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import BatchClosedError
from weighbridge.jobs.chunk import ChunkId
from weighbridge.jobs.connection import plain_errors
from weighbridge.jobs.model import BatchStatus
from weighbridge.jobs.store.base import StoreBase
from weighbridge.jobs.store.keys import ACTIVE, BATCHES, KEYS, dies_at, key, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class Watching(StoreBase):
    """What is done with batches as a whole."""

    def sweep(
        self, batch: str, alive: Sequence[str], waiting_seconds: float | None, most: int = 500
    ) -> list[ChunkId]:
        """Return the chunks to publish again; the waiting ones only when `waiting_seconds` is given."""
        patience = -1 if waiting_seconds is None else int(waiting_seconds * 1000)
        return [
            ChunkId.parse(text(chunk))
            for chunk in self._run("sweep", batch, patience, most, *alive)
        ]

    def close_batch(self, batch: str, status: BatchStatus, reason: str = "") -> bool:
        """Take nothing more in and let nothing more be claimed; False when the batch had ended already."""
        answer = text(self._run("close", batch, str(status), reason))
        if answer == "lost":
            raise self.missing(batch)
        return answer != "ended"

    def open_chunks(self, batch: str, most: int = 0) -> list[ChunkId]:
        """Return the chunks that have no results yet, at `most` so many; 0: all."""
        with plain_errors():
            return [
                ChunkId.parse(text(chunk))
                for chunk in self.redis.zrange(key(batch, "open"), 0, most - 1)
            ]

    def active_batches(self) -> list[str]:
        """Return the batches that may still have something to do."""
        with plain_errors():
            return [batch.decode(errors="replace") for batch in self.redis.zrange(ACTIVE, 0, -1)]

    def retire(self, batch: str) -> None:
        """Take an ended batch off the list of active ones."""
        with plain_errors():
            self.redis.zrem(ACTIVE, batch)
            # Last, so that a retry in between is seen by one of the two.
            if self.redis.hget(key(batch, "meta"), "ended_ms") == b"":
                self.redis.zadd(ACTIVE, {batch: int(self.now())})

    def records(self, batch: str) -> Iterator[tuple[ChunkId, dict[str, Any]]]:
        """Yield each finished chunk with its tally."""
        with plain_errors():
            for name, record in self.redis.hscan_iter(key(batch, "records"), count=500):
                if not name.startswith(b"prior "):
                    yield ChunkId.parse(text(name)), orjson.loads(orjson.loads(record)["tally"])

    def reopen(self, batch: str, chunk: ChunkId, epoch: int, expiry_seconds: int) -> bool:
        """Open a finished chunk to grade it again; False when its lines are gone.

        Raises BatchClosedError when the batch was cancelled since the retry began.
        """
        expires = int((self.now() + expiry_seconds) * 1000)
        answer = self._run(
            *("reopen", batch, str(chunk), epoch, expires),
            more_keys=[f"result:{chunk}", f"prior:{chunk}", f"chunk:{chunk.number}"],
        )
        if answer < 0:
            raise BatchClosedError(f"batch {batch} was cancelled while it was retried")
        if answer:
            with plain_errors():
                self.redis.zadd(ACTIVE, {batch: int(self.now())})
        return bool(answer)

    def delete(self, batch: str) -> bool:
        """Drop everything of a batch; False when there was nothing."""
        with plain_errors():
            count = self.redis.hget(key(batch, "meta"), "chunks")
            if count is None:
                return False
            left = dies_at(batch) - self.now()
            if left > 1:
                # A full server refuses SET, but not in a script that has begun with a write that frees.
                mark = "redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[1], 1, 'EX', ARGV[1])"
                self.redis.eval(mark, 1, key(batch, "deleted"), int(left))
            self._run(
                "close", batch, str(BatchStatus.CANCELLED), "deleted"
            )  # nobody begins more of it
            for name, _ in self.redis.hscan_iter(key(batch, "records"), count=500):
                self.redis.unlink(key(batch, "result:" + text(name)))
                self.redis.unlink(key(batch, "prior:" + text(name).removeprefix("prior ")))
            for first in range(0, int(count), 500):
                numbers = range(first, min(first + 500, int(count)))
                self.redis.unlink(*(key(batch, f"chunk:{number}") for number in numbers))
            # What the rest is found by goes last, so that an interrupted deletion can be finished.
            self.redis.unlink(*(key(batch, name) for name in KEYS[1:]))
            self.redis.unlink(key(batch, "meta"))
            self.redis.zrem(BATCHES, batch)
            self.redis.zrem(ACTIVE, batch)
        return True

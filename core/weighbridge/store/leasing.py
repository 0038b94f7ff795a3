"""The worker's operations on chunks: claim, renew, release, record and split."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import msgspec
import orjson

from weighbridge.jobs.chunk import (
    DAMAGED_BLOB,
    Chunk,
    ChunkId,
    compress,
    content_checksum,
    decompress,
)
from weighbridge.store.base import StoreBase, readable
from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import DUE, LANE_SECONDS, PAUSED, key, text, turns
from weighbridge.store.prior_results import results_of_part
from weighbridge.store.records import ChunkInfo, ClaimResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.grading.tally import Tally
    from weighbridge.store.records import FailureCount, Recorded

_BATCHES_TRIED = 8  #: by one claim on a cluster, each with its own round trip
CLAIM_SECONDS = 0.2  #: estimated work that a claim is charged with; `charge` corrects it


class Leasing(StoreBase):
    """A worker's operations on chunks."""

    def claim_next(
        self, queue: str, token: str, lease_seconds: float, lane: str = ""
    ) -> ClaimResult | None:
        """Lease the next chunk of the batch whose turn it is; None if no chunk can be claimed."""
        if self.is_cluster:
            return self._claim_on_cluster(queue, token, lease_seconds, lane)
        keys = [turns(queue, lane), turns(queue, lane), DUE]
        args: list[str | float] = ["", token, int(lease_seconds * 1000), lane, CLAIM_SECONDS, queue]
        with translate_errors():
            return _claimed(self._scripts["claim_next"](keys=keys, args=args), token)

    def _claim_on_cluster(
        self, queue: str, token: str, lease_seconds: float, lane: str
    ) -> ClaimResult | None:
        """Do the same on a cluster, where turns and batches are on different nodes."""
        order = turns(queue, lane)
        for _ in range(_BATCHES_TRIED):
            with translate_errors():
                if self.redis.hexists(PAUSED, queue):
                    return None
                first = [text(batch) for batch in self.redis.zrange(order, 0, 1)]
            if not first:
                return None
            batch, contended = first[0], len(first) > 1
            self._schedule_check(batch, lease_seconds)
            answer = self._run(
                "claim_next", batch, token, int(lease_seconds * 1000), lane, CLAIM_SECONDS, queue
            )
            if answer:
                claim = _claimed([*answer[:5], contended], token)
                if contended:
                    self.charge(batch, queue, CLAIM_SECONDS, lane)
                return claim
            with translate_errors():
                self.redis.zrem(order, batch)
                # Checked after the removal, so that a concurrent submission is not missed.
                if not lane and self.redis.zcount(key(batch, "open"), "-inf", "(0"):
                    self.redis.zadd(order, {batch: 0}, nx=True)
        return None

    def charge(self, batch: str, queue: str, seconds: float, lane: str = "") -> None:
        """Delay a batch's next turn by the seconds of work done, divided by its weight."""
        with translate_errors():
            weight = float(self.redis.hget(key(batch, "meta"), "weight") or 1)
            self.redis.zadd(turns(queue, lane), {batch: seconds / weight}, xx=True, incr=True)

    def renew(self, batch: str, chunk: str, token: str, lease_seconds: float, at: str = "") -> bool:
        """Extend a lease, and save the running job ("line job"); return False if the lease was lost."""
        return bool(self._run("renew", batch, chunk, token, int(lease_seconds * 1000), at))

    def release(
        self, batch: str, chunk: str, token: str, *, suspect: bool = False, pause_seconds: float = 0
    ) -> bool:
        """Return a chunk to the open ones without counting a failure; return False if the lease was lost.

        A chunk is `suspect` if its whole worker died while grading it.
        """
        pause_ms = int(pause_seconds * 1000)
        given = bool(self._run("release", batch, chunk, token, int(suspect), pause_ms))
        self._take_turn(batch)
        return given

    def set_aside(
        self, batch: str, chunk: str, token: str, queue: str, lane: str, seconds: float = 1.0
    ) -> bool:
        """Put a chunk in the lane of the capability it needs; with an empty lane, any worker may claim it."""
        order, check_ms = turns(queue, lane), int(seconds * 1000)
        done = bool(self._run("set_aside", batch, chunk, token, lane, check_ms, order=order))
        if self.is_cluster and lane:
            with translate_errors():
                self.redis.zadd(order, {batch: 0}, nx=True)
                self.redis.expire(order, LANE_SECONDS)
        self._take_turn(batch)
        return done

    def chunk(self, batch: str, chunk: ChunkId) -> Chunk:
        """Return a chunk as submitted; if it cannot be read, a chunk of lost lines."""
        names = [f"{chunk.number} lines", str(chunk)]
        with translate_errors():
            blob, raw = self.redis.hmget(key(batch, "chunks"), names)
        if blob is None and raw is None:
            raise self.missing(batch)
        with readable(batch):
            return unpacked(blob, decoded_info(raw).jobs if raw else 1)

    def info(self, batch: str, chunk: ChunkId) -> ChunkInfo | None:
        """Return the state of a chunk without results; None if there is no such chunk."""
        with translate_errors():
            raw = self.redis.hget(key(batch, "chunks"), str(chunk))
        with readable(batch):
            return decoded_info(raw) if raw else None

    def record(
        self,
        batch: str,
        chunk: ChunkId,
        results: bytes,
        tally: Tally,
        rest: Sequence[tuple[ChunkId, int]] = (),
        *,
        closing: str = "",
    ) -> Recorded:
        """Store a chunk's first results and open its ungraded rest, atomically.

        With a `rest`, the results are those of the lines before it. With the final status of a batch that is `closing`,
        they are recorded only while it is.
        `new`: stored. `recorded`: the same results were stored before. `late`: other results were stored before, or
        the chunk is not open under this name because it was cancelled, split, or reopened by a retry.
        """
        done = chunk.part(chunk.start, rest[0][0].start) if rest else chunk
        return self._record(
            *(batch, chunk, done, tally.versions, compress(results), tally.pack()),
            rest,
            closing=closing,
        )

    def restore(self, batch: str, chunk: ChunkId, *, closing: str) -> bool:
        """Restore the results that an open chunk had before a retry; return False if there are none.

        A part of the chunk that was reopened gets those of its lines. They are recorded only while the batch is `closing`.
        """
        info = self.info(batch, chunk)
        if info is None or not info.prior:
            return False
        name = info.prior_name or str(chunk)
        with translate_errors():
            fields = [f"prior {name}", f"prior {name} results"]
            raw, blob = self.redis.hmget(key(batch, "chunks"), fields)
        if raw is None or blob is None:
            return False
        prior = orjson.loads(raw)
        versions, tally = prior["versions"], prior["tally"]
        if info.prior_name:
            try:
                results, of_part = results_of_part(decompress(blob), versions, chunk)
            except DAMAGED_BLOB:
                return False
            blob, tally = compress(results), of_part.pack()
        self._record(batch, chunk, chunk, versions, blob, tally, closing=closing)
        return True

    def _record(
        self,
        batch: str,
        chunk: ChunkId,
        done: ChunkId,
        versions: str,
        blob: bytes,
        tally: bytes | str,
        rest: Sequence[tuple[ChunkId, int]] = (),
        *,
        closing: str = "",
    ) -> Recorded:
        checksum = content_checksum(blob)
        answer = self._run(
            *("record", batch, str(chunk), versions, checksum, blob, tally),
            *(_packed(rest), str(done), closing),
        )
        if rest:
            self._take_turn(batch)
        return cast("Recorded", text(answer))

    def split(
        self,
        batch: str,
        chunk: ChunkId,
        token: str,
        parts: Sequence[tuple[ChunkId, int]],
        suspect: str,
        failure: FailureCount,
    ) -> bool:
        """Replace a chunk on which a child died by its parts; return False if the lease was lost."""
        done = bool(
            self._run(
                "split", batch, str(chunk), token, _packed(parts), suspect, *failure.as_arguments()
            )
        )
        self._take_turn(batch)
        return done

    def count_failure(self, batch: str, chunk: ChunkId, token: str, failure: FailureCount) -> int:
        """Count a death on a chunk of one line and return the number so far; 0 if the lease was lost."""
        count = int(self._run("count_failure", batch, str(chunk), token, *failure.as_arguments()))
        self._take_turn(batch)
        return count


def unpacked(blob: bytes | None, jobs: int) -> Chunk:
    """Return a stored chunk; if it cannot be read, a chunk of `jobs` lost lines."""
    if blob is not None:
        with suppress(*DAMAGED_BLOB):
            return Chunk.unpack(blob)
    return Chunk.lost(jobs)


def decoded_info(raw: bytes) -> ChunkInfo:
    """Decode a ChunkInfo; Lua encodes empty objects and empty lists alike."""
    return _decode_info(raw.replace(b"[]", b"{}"))


_decode_info = msgspec.json.Decoder(ChunkInfo, strict=False).decode


def _claimed(answer: list[Any], token: str) -> ClaimResult | None:
    if not answer:
        return None
    batch, name, raw, blob, options, contended = answer
    chunk, info = ChunkId.parse(text(name)), decoded_info(raw)
    return ClaimResult(text(batch), chunk, token, info, blob, options, bool(contended))


def _packed(parts: Sequence[tuple[ChunkId, int]]) -> bytes:
    return orjson.dumps([[str(part), jobs] for part, jobs in parts])

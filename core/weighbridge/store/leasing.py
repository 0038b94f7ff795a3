"""Claiming, grading and recording: the worker's side."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

import msgspec
import orjson

from weighbridge.jobs.chunk import UNREADABLE, Chunk, ChunkId, compress
from weighbridge.store.base import StoreBase, readable
from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import DUE, key, text, turns
from weighbridge.store.records import ChunkInfo, ClaimResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.grading.tally import Tally
    from weighbridge.store.records import FailureCount, Recorded

_BATCHES_TRIED = 8  #: by one claim on a cluster, each in a round trip of its own
_LANE_SECONDS = 3600  #: as in `set_aside.lua`
CLAIM_SECONDS = 0.2  #: of work, that a batch is charged with a claim; `charge` corrects it


class Leasing(StoreBase):
    """What a worker does with a chunk."""

    def claim_next(
        self, queue: str, token: str, lease_seconds: float, lane: str = ""
    ) -> ClaimResult | None:
        """Lease the next chunk of the batch whose turn it is to one execution; None when nothing waits."""
        if self.is_cluster:
            return self._claim_on_cluster(queue, token, lease_seconds, lane)
        keys = [turns(queue, lane), turns(queue, lane), DUE]
        args: list[str | float] = ["", token, int(lease_seconds * 1000), lane, CLAIM_SECONDS]
        with translate_errors():
            return _claimed(self._scripts["claim_next"](keys=keys, args=args), token)

    def _claim_on_cluster(
        self, queue: str, token: str, lease_seconds: float, lane: str
    ) -> ClaimResult | None:
        """Do the same where turns and batches lie on different nodes."""
        order = turns(queue, lane)
        for _ in range(_BATCHES_TRIED):
            with translate_errors():
                first = [text(batch) for batch in self.redis.zrange(order, 0, 1)]
            if not first or not first[0]:
                return None
            batch, contended = first[0], len(first) > 1
            self._look_at(batch, lease_seconds)
            answer = self._run(
                "claim_next", batch, token, int(lease_seconds * 1000), lane, CLAIM_SECONDS
            )
            if answer:
                claim = _claimed([*answer[:4], contended], token)
                if contended:
                    self.charge(batch, queue, CLAIM_SECONDS, lane)
                return claim
            with translate_errors():
                self.redis.zrem(order, batch)
                # What was submitted in between is seen by one of the two.
                if not lane and self.redis.zcount(key(batch, "open"), "-inf", "(0"):
                    self.redis.zadd(order, {batch: 0}, nx=True)
        return None

    def charge(self, batch: str, queue: str, seconds: float, lane: str = "") -> None:
        """Put off a batch's next turn, by the seconds of work that it had and its priority."""
        with translate_errors():
            weight = float(self.redis.hget(key(batch, "meta"), "weight") or 1)
            self.redis.zadd(turns(queue, lane), {batch: seconds / weight}, xx=True, incr=True)

    def renew(self, batch: str, chunk: str, token: str, lease_seconds: float, at: str = "") -> bool:
        """Extend a lease, and note what runs ("line job"); False when it is no longer ours."""
        return bool(self._run("renew", batch, chunk, token, int(lease_seconds * 1000), at))

    def release(
        self, batch: str, chunk: str, token: str, *, suspect: bool = False, pause_seconds: float = 0
    ) -> bool:
        """Give a chunk back, for no fault of a job's; False when it was no longer ours.

        It is `suspect` when its whole worker died with it.
        """
        pause_ms = int(pause_seconds * 1000)
        given = bool(self._run("release", batch, chunk, token, int(suspect), pause_ms))
        self._take_turn(batch)
        return given

    def set_aside(
        self, batch: str, chunk: str, token: str, queue: str, lane: str, seconds: float = 1.0
    ) -> bool:
        """Leave a chunk to workers that have a capability; with no lane, to whoever is there."""
        done = bool(
            self._run("set_aside", batch, chunk, token, lane, int(seconds * 1000), queue=queue)
        )
        if self.is_cluster:
            with translate_errors():
                self.redis.zadd(turns(queue, lane), {batch: 0}, nx=True)
                self.redis.expire(turns(queue, lane), _LANE_SECONDS)
        self._take_turn(batch)
        return done

    def chunk(self, batch: str, chunk: ChunkId) -> Chunk:
        """Return a chunk as submitted; if it cannot be read any more, one whose lines say so."""
        names = [f"{chunk.number} lines", str(chunk)]
        with translate_errors():
            blob, held = self.redis.hmget(key(batch, "chunks"), names)
        if blob is None and held is None:
            raise self.missing(batch)
        with readable(batch):
            return unpacked(blob, decoded_info(held).jobs if held else 1)

    def info(self, batch: str, chunk: ChunkId) -> ChunkInfo | None:
        """Return what the store knows of a chunk without results; None when there is no such chunk."""
        with translate_errors():
            held = self.redis.hget(key(batch, "chunks"), str(chunk))
        with readable(batch):
            return decoded_info(held) if held else None

    def record(
        self,
        batch: str,
        chunk: ChunkId,
        results: bytes,
        tally: Tally,
        rest: Sequence[tuple[ChunkId, int]] = (),
    ) -> Recorded:
        """Keep a chunk's first results, and reopen what is still to do of it, at once.

        With a rest the results are those of a part: what came before the rest.
        `new`: kept. `recorded`: these very results were there. `late`: others were, or the chunk is not open under
        this name: it was cancelled, cut anew, or opened again by a retry.
        """
        done = chunk.part(chunk.start, rest[0][0].start) if rest else chunk
        return self._record(
            batch, chunk, done, tally.versions, tally.digest, compress(results), tally.pack(), rest
        )

    def restore(self, batch: str, chunk: ChunkId) -> bool:
        """Give an open chunk back the results that it had before a retry; False when it had none."""
        names = [f"prior {chunk}", f"prior {chunk} results"]
        with translate_errors():
            held, blob = self.redis.hmget(key(batch, "chunks"), names)
        if held is None or blob is None:
            return False
        prior = orjson.loads(held)
        self._record(batch, chunk, chunk, prior["versions"], prior["digest"], blob, prior["tally"])
        return True

    def _record(
        self,
        batch: str,
        chunk: ChunkId,
        done: ChunkId,
        versions: str,
        digest: str,
        blob: bytes,
        tally: bytes | str,
        rest: Sequence[tuple[ChunkId, int]] = (),
    ) -> Recorded:
        answer = self._run(
            *("record", batch, str(chunk), versions, digest, blob, tally, _packed(rest), str(done))
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
        charge: FailureCount,
    ) -> bool:
        """Replace a chunk that a child died on by its parts; False when the lease was no longer this execution's."""
        done = bool(
            self._run(
                "split", batch, str(chunk), token, _packed(parts), suspect, *charge.as_arguments()
            )
        )
        self._take_turn(batch)
        return done

    def count_failure(self, batch: str, chunk: ChunkId, token: str, charge: FailureCount) -> int:
        """Count a death on a chunk of one line and return the deaths so far; 0 when the lease was gone."""
        count = int(self._run("count_failure", batch, str(chunk), token, *charge.as_arguments()))
        self._take_turn(batch)
        return count


def unpacked(blob: bytes | None, jobs: int) -> Chunk:
    """Return a stored chunk; in place of one that cannot be read any more, one of `jobs` lines that say so."""
    if blob is not None:
        with suppress(*UNREADABLE):
            return Chunk.unpack(blob)
    return Chunk.lost(jobs)


def decoded_info(held: bytes) -> ChunkInfo:
    """Read what the store knows of a chunk; Lua writes an empty object and an empty list alike."""
    return _decode_info(held.replace(b"[]", b"{}"))


_decode_info = msgspec.json.Decoder(ChunkInfo, strict=False).decode


def _claimed(answer: list[Any], token: str) -> ClaimResult | None:
    if not answer:
        return None
    batch, name, held, blob, contended = answer
    info = decoded_info(held)
    return ClaimResult(text(batch), ChunkId.parse(text(name)), token, info, blob, bool(contended))


def _packed(parts: Sequence[tuple[ChunkId, int]]) -> bytes:
    return orjson.dumps([[str(part), jobs] for part, jobs in parts])

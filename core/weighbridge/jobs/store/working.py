"""Claiming, grading and recording: the worker's side."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

import orjson

from weighbridge.jobs.chunk import UNREADABLE, Chunk, ChunkId, compress
from weighbridge.jobs.connection import plain_errors
from weighbridge.jobs.store.base import StoreBase
from weighbridge.jobs.store.keys import key, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.store.shapes import Charge, Claim, Recorded
    from weighbridge.jobs.tally import Tally


class Working(StoreBase):
    """What a worker does with a chunk."""

    def claim(self, batch: str, chunk: ChunkId, token: str, lease_seconds: float) -> Claim:
        """Lease a chunk to one execution."""
        return cast(
            "Claim", text(self._run("claim", batch, str(chunk), token, int(lease_seconds * 1000)))
        )

    def renew(self, batch: str, chunk: str, token: str, lease_seconds: float) -> bool:
        """Extend a lease; False when it is no longer ours."""
        return bool(self._run("renew", batch, chunk, token, int(lease_seconds * 1000)))

    def release(self, batch: str, chunk: str, token: str) -> bool:
        """Give a lease back unused; False when it was no longer ours."""
        return bool(self._run("release", batch, chunk, token))

    def chunk(self, batch: str, chunk: ChunkId) -> Chunk:
        """Return a chunk as submitted; if it cannot be read any more, one whose lines say so."""
        with plain_errors():
            blob = self.redis.get(key(batch, f"chunk:{chunk.number}"))
            if blob is not None:
                with suppress(*UNREADABLE):
                    return Chunk.unpack(blob)
            jobs = self.redis.hget(key(batch, "sizes"), str(chunk))
            if jobs is None or not self.redis.exists(key(batch, "meta")):
                raise self.missing(batch)
        return Chunk.lost(chunk, int(jobs))

    def condemned(self, batch: str, chunk: ChunkId) -> dict[int, str]:
        """Return the jobs, by their place on a chunk's only line or WHOLE_LINE, that died too often, and of what."""
        with plain_errors():
            data = self.redis.hget(key(batch, "strikes"), f"condemned {chunk}")
        return {int(job): verdict for job, verdict in orjson.loads(data).items()} if data else {}

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
        `new`: kept. `recorded`: these very results were there. `late`: others were, or the chunk was cancelled.
        """
        done = chunk.part(chunk.start, rest[0][0].start) if rest else chunk
        return self._record(
            batch, chunk, done, tally.versions, tally.digest, compress(results), tally.pack(), rest
        )

    def restore(self, batch: str, chunk: ChunkId) -> bool:
        """Give an open chunk back the results that it had before a retry; False when it had none."""
        with plain_errors():
            held = self.redis.hget(key(batch, "records"), f"prior {chunk}")
            blob = self.redis.get(key(batch, f"prior:{chunk}"))
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
            *("record", batch, str(chunk), versions, digest, blob, tally, _packed(rest), str(done)),
            more_keys=[f"result:{done}", f"prior:{done}"],
        )
        return cast("Recorded", text(answer))

    def split(
        self,
        batch: str,
        chunk: ChunkId,
        token: str,
        parts: Sequence[tuple[ChunkId, int]],
        suspect: str,
        charge: Charge,
    ) -> bool:
        """Replace a chunk that a child died on by its parts; False when the lease was no longer this execution's."""
        return bool(self._run("split", batch, str(chunk), token, _packed(parts), suspect, *charge))

    def strike(self, batch: str, chunk: ChunkId, token: str, charge: Charge) -> int:
        """Count a death on a chunk of one line and return the deaths so far; 0 when the lease was gone."""
        return int(self._run("strike", batch, str(chunk), token, *charge))


def _packed(parts: Sequence[tuple[ChunkId, int]]) -> bytes:
    return orjson.dumps([[str(part), jobs] for part, jobs in parts])

"""The store: every Redis key and script of a batch, behind typed methods that may each be called twice.

The keys of a batch, all under `wb:{<batch id>}:` and all dying together:

meta      hash    status, counts, the producer's place in its input, options
open      zset    chunks without results: minus the time last published, or, leased, the lease's end
claims    hash    leased chunk -> the execution's token, `<worker>/<random>`
sizes     hash    open chunk -> how many jobs it is counted as
records   hash    finished chunk -> grader versions, digest and tally of its results
log       stream  finished chunks in the order of their results; `end` once the batch has ended
summary   hash    ["label", "grader", "count", "cause"] -> jobs
ids       hash    index of custom_ids, 65,536 buckets of packed digests (see taken.lua)
fresh     hash    chunk number -> packed digests of its custom_ids, not in the index yet
digests   hash    chunk number -> digest of what was submitted under it
parts     hash    chunk number -> the parts that have results, where it was split
strikes   hash    deaths of worker children by chunk and job, and the jobs condemned for them
chunk:N   string  the chunk itself
result:C  string  the result lines of a chunk or part, compressed
prior:C   string  those of before a retry, until there are new ones
"""

from __future__ import annotations

import re
import secrets
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import orjson

from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    BatchExpiredError,
    BatchLostError,
    BatchNotFoundError,
    ChunkConflictError,
    ServerError,
)
from weighbridge.jobs.chunk import UNREADABLE, Chunk, ChunkId, compress, decompress
from weighbridge.jobs.connection import connect, plain_errors
from weighbridge.jobs.model import (
    BatchState,
    BatchStatus,
    Counts,
    GraderSpec,
    GraderSummary,
    parse_specs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis.commands.core import Script

    from weighbridge.jobs.grading import Tally

_KEYS = (
    "meta",
    "open",
    "claims",
    "sizes",
    "records",
    "log",
    "summary",
    "ids",
    "fresh",
    "digests",
    "parts",
    "strikes",
)
ID_BYTES = 12  #: that a packed id takes
_BATCHES, _ACTIVE = "wb:batches", "wb:active"
_LISTED_SECONDS = 366 * 24 * 3600  #: the longest that a list of batches looks back
_LUA = files("weighbridge.jobs") / "lua"
_BATCH_ID = re.compile(r"wb_([0-9a-f]{8})_([0-9a-f]{1,8})_[0-9a-f]{20}")

Claim = Literal["work", "done", "leased", "stop", "lost"]
Recorded = Literal["new", "recorded", "late"]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """What a batch was submitted with."""

    graders: tuple[GraderSpec, ...] = ()
    source: str = ""  #: what the input was called
    metadata: dict[str, str] | None = None

    def pack(self) -> bytes:
        """Return the options as the store keeps them."""
        graders = [spec.as_dict() for spec in self.graders]
        return orjson.dumps(
            {"graders": graders, "source": self.source, "metadata": self.metadata or {}}
        )

    @classmethod
    def unpack(cls, data: bytes) -> BatchOptions:
        """Undo `pack`."""
        value = orjson.loads(data)
        return cls(parse_specs(value["graders"]), value["source"], value["metadata"])


@dataclass(frozen=True, slots=True)
class Position:
    """How far a batch's producer has come."""

    chunks: int = 0
    offset: int = 0  #: bytes of input, decompressed
    lines: int = 0
    prefix: str = ""  #: digest of the input up to the offset
    sealed: bool = False


@dataclass(frozen=True, slots=True)
class Submission:
    """One chunk on its way in, and where the producer stands after it."""

    number: int
    digest: str
    jobs: int
    after: Position
    payload: bytes
    ids: bytes  #: packed: ID_BYTES each, 8 of the id's digest, 4 of its line's
    duplicates: int


@dataclass(frozen=True, slots=True)
class Taken:
    """An id that an earlier chunk has already."""

    position: int  #: among the ids asked about
    same_line: bool


@dataclass(frozen=True, slots=True)
class Pace:
    """What grading took so far."""

    grade_us: int = 0
    jobs: int = 0


class Charge(NamedTuple):
    """What a death at a job counts towards."""

    job: int  #: its place on its line
    limit: int  #: deaths at which it is condemned
    verdict: str  #: then; code, message and hint, a line each


class GapError(Exception):
    """The server lacks chunks before the one submitted; `expected` is the first of them."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"the server expects chunk {expected}")
        self.expected = expected


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A chunk that got its results, or, with no chunk, the end of the batch."""

    position: str
    chunk: str | None


class Store:
    """Batches on one Redis server."""

    def __init__(self, url: str, *, patient: bool = True) -> None:
        self.url = url
        self._patient = patient
        # redis-py types every answer as a union over client kinds and protocols; ours is known, and checked by tests.
        self.redis: Any = connect(url, patient=patient)
        prelude = (_LUA / "prelude.lua").read_text()
        self._scripts: dict[str, Script] = {
            name: self.redis.register_script(prelude + (_LUA / f"{name}.lua").read_text())
            for name in (
                *("open_batch", "submit_chunk", "taken", "seal", "claim", "renew", "release"),
                *("record", "split", "strike", "sweep", "close", "reopen"),
            )
        }

    def close(self) -> None:
        """Drop the connections."""
        self.redis.close()

    @cached_property
    def _blocking(self) -> Any:
        # A read that waits for news must not hold the connection that others need.
        return connect(self.url, patient=self._patient)

    def _run(self, script: str, batch: str, *args: Any, more_keys: Sequence[str] = ()) -> Any:
        keys = [_key(batch, name) for name in (*_KEYS, *more_keys)]
        with plain_errors():
            return self._scripts[script](keys=keys, args=args)

    # Opening, filling and sealing: the producer's side.

    def open_batch(
        self, options: BatchOptions, *, expiry_seconds: int, ttl_seconds: int, batch: str = ""
    ) -> str:
        """Register a batch and return its id, which carries its times."""
        created = int(time.time())
        batch = batch or new_batch_id(created, expiry_seconds + ttl_seconds)
        dies = (created + expiry_seconds + ttl_seconds) * 1000
        self._run(
            "open_batch",
            batch,
            dies,
            (created + expiry_seconds) * 1000,
            created * 1000,
            options.pack(),
        )
        with plain_errors():
            pipe = self.redis.pipeline(transaction=False)
            pipe.zadd(_BATCHES, {batch: created})
            pipe.zadd(_ACTIVE, {batch: created})
            pipe.zremrangebyscore(_BATCHES, "-inf", created - _LISTED_SECONDS)
            pipe.execute()
        return batch

    def submit_chunk(self, batch: str, chunk: Submission) -> Pace:
        """Store the next chunk, whose ids no earlier one may have (see `taken`), and return the pace so far.

        Raises GapError, ChunkConflictError, BatchClosedError, ServerFullError, or that the batch is lost.
        """
        after = chunk.after
        answer = self._run(
            *("submit_chunk", batch, chunk.number, chunk.digest, chunk.jobs),
            *(after.offset, after.lines, after.prefix, chunk.payload, chunk.duplicates, chunk.ids),
            more_keys=[f"chunk:{chunk.number}"],
        )
        match [_text(answer[0]), *answer[1:]]:
            case ["new", us, jobs]:
                return Pace(int(us), int(jobs))
            case ["same"]:
                return Pace()
            case ["gap", expected]:
                raise GapError(int(expected))
            case ["conflict"]:
                raise ChunkConflictError(
                    f"chunk {chunk.number} of {batch} is there already, with other lines",
                    "another producer fills this batch, or the input has changed: submit it as a new batch",
                )
            case ["closed", *_]:
                raise _closed(batch)
            case _:
                raise self.missing(batch)

    def taken(self, batch: str, ids: bytes) -> list[Taken]:
        """Return which of some packed ids the batch has already.

        Ids are put in the index only when this is asked, a chunk at a time, so that the server stays free for others.
        """
        while (answer := self._run("taken", batch, ids))[0] == b"behind":
            pass
        if answer[0] == b"lost":
            raise self.missing(batch)
        rest = answer[1:]
        return [Taken(int(at), bool(same)) for at, same in zip(rest[::2], rest[1::2], strict=True)]

    def seal(self, batch: str, chunks: int) -> None:
        """Say that all chunks have arrived. Raises GapError when some have not."""
        match self._run("seal", batch, chunks):
            case [b"gap", expected]:
                raise GapError(int(expected))
            case [b"closed"]:
                raise _closed(batch)
            case [b"lost"]:
                raise self.missing(batch)

    def memory_share(self) -> float:
        """Return how full the server is, 0.0 to 1.0; 0.0 when it has no limit."""
        with plain_errors():
            memory = self.redis.info("memory")
        return (
            float(memory["used_memory"]) / memory["maxmemory"] if memory.get("maxmemory") else 0.0
        )

    def position(self, batch: str) -> Position:
        """Return how far the batch's producer has come."""
        with plain_errors():
            fields = self.redis.hmget(
                _key(batch, "meta"), ["chunks", "offset", "lines", "prefix", "sealed"]
            )
        if fields[0] is None:
            raise self.missing(batch)
        chunks, offset, lines, prefix, sealed = map(_text, fields)
        return Position(int(chunks), int(offset), int(lines), prefix, sealed == "1")

    # Claiming, grading and recording: the worker's side.

    def claim(self, batch: str, chunk: ChunkId, token: str, lease_seconds: float) -> Claim:
        """Lease a chunk to one execution."""
        return cast(
            "Claim", _text(self._run("claim", batch, str(chunk), token, int(lease_seconds * 1000)))
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
            blob = self.redis.get(_key(batch, f"chunk:{chunk.number}"))
            if blob is not None:
                with suppress(*UNREADABLE):
                    return Chunk.unpack(blob)
            jobs = self.redis.hget(_key(batch, "sizes"), str(chunk))
            if jobs is None or not self.redis.exists(_key(batch, "meta")):
                raise self.missing(batch)
        return Chunk.lost(chunk, int(jobs))

    def options(self, batch: str) -> BatchOptions:
        """Return what a batch was submitted with."""
        with plain_errors():
            data = self.redis.hget(_key(batch, "meta"), "options")
        if data is None:
            raise self.missing(batch)
        return BatchOptions.unpack(data)

    def condemned(self, batch: str, chunk: ChunkId) -> dict[int, str]:
        """Return the jobs, by their place on a chunk's only line or WHOLE_LINE, that died too often, and of what."""
        with plain_errors():
            data = self.redis.hget(_key(batch, "strikes"), f"condemned {chunk}")
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
            held = self.redis.hget(_key(batch, "records"), f"prior {chunk}")
            blob = self.redis.get(_key(batch, f"prior:{chunk}"))
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
        return cast("Recorded", _text(answer))

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

    # Watching over batches.

    def sweep(
        self, batch: str, alive: Sequence[str], waiting_seconds: float | None, most: int = 500
    ) -> list[ChunkId]:
        """Return the chunks to publish again; the waiting ones only when `waiting_seconds` is given."""
        patience = -1 if waiting_seconds is None else int(waiting_seconds * 1000)
        return [
            ChunkId.parse(_text(chunk))
            for chunk in self._run("sweep", batch, patience, most, *alive)
        ]

    def close_batch(self, batch: str, status: BatchStatus, reason: str = "") -> bool:
        """Take nothing more in and let nothing more be claimed; False when the batch had ended already."""
        answer = _text(self._run("close", batch, str(status), reason))
        if answer == "lost":
            raise self.missing(batch)
        return answer != "ended"

    def open_chunks(self, batch: str, most: int = 0) -> list[ChunkId]:
        """Return the chunks that have no results yet, at `most` so many; 0: all."""
        with plain_errors():
            return [
                ChunkId.parse(_text(chunk))
                for chunk in self.redis.zrange(_key(batch, "open"), 0, most - 1)
            ]

    def active_batches(self) -> list[str]:
        """Return the batches that may still have something to do."""
        with plain_errors():
            return [batch.decode(errors="replace") for batch in self.redis.zrange(_ACTIVE, 0, -1)]

    def retire(self, batch: str) -> None:
        """Take an ended batch off the list of active ones."""
        with plain_errors():
            self.redis.zrem(_ACTIVE, batch)
            # Last, so that a retry in between is seen by one of the two.
            if self.redis.hget(_key(batch, "meta"), "ended_ms") == b"":
                self.redis.zadd(_ACTIVE, {batch: int(time.time())})

    def records(self, batch: str) -> Iterator[tuple[ChunkId, dict[str, Any]]]:
        """Yield each finished chunk with its tally."""
        with plain_errors():
            for name, record in self.redis.hscan_iter(_key(batch, "records"), count=500):
                if not name.startswith(b"prior "):
                    yield ChunkId.parse(_text(name)), orjson.loads(orjson.loads(record)["tally"])

    def reopen(self, batch: str, chunk: ChunkId, epoch: int, expiry_seconds: int) -> bool:
        """Open a finished chunk to grade it again; False when its lines are gone.

        Raises BatchClosedError when the batch was cancelled since the retry began.
        """
        expires = int((time.time() + expiry_seconds) * 1000)
        answer = self._run(
            *("reopen", batch, str(chunk), epoch, expires),
            more_keys=[f"result:{chunk}", f"prior:{chunk}", f"chunk:{chunk.number}"],
        )
        if answer < 0:
            raise BatchClosedError(f"batch {batch} was cancelled while it was retried")
        if answer:
            with plain_errors():
                self.redis.zadd(_ACTIVE, {batch: int(time.time())})
        return bool(answer)

    # Reading.

    def state(self, batch: str) -> BatchState:
        """Return a batch's state at this moment."""
        with plain_errors():
            raw = self.redis.hgetall(_key(batch, "meta"))
        if not raw:
            raise self.missing(batch)
        meta = {_text(name): _text(value) for name, value in raw.items()}
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
        )

    def summary(self, batch: str) -> list[GraderSummary]:
        """Return what each label's jobs came to, labels in order."""
        with plain_errors():
            raw = self.redis.hgetall(_key(batch, "summary"))
        groups: dict[tuple[str, str], dict[str, Any]] = {}
        for field, count in raw.items():
            label, grader, name, cause = orjson.loads(field)
            group = groups.setdefault((label or "", grader or ""), {"causes": {}})
            if cause:
                group["causes"][cause] = group["causes"].get(cause, 0) + int(count)
            else:
                group[name] = group.get(name, 0) + int(count)
        return [
            GraderSummary(
                label,
                grader,
                causes=tuple(sorted(causes.items(), key=lambda c: (-c[1], c[0]))),
                **group,
            )
            for (label, grader), group in sorted(groups.items())
            for causes in [group.pop("causes")]
        ]

    def read_log(
        self, batch: str, after: str, wait_seconds: float, most: int = 64
    ) -> list[LogEntry]:
        """Return what was recorded after a place in the log, waiting for it up to `wait_seconds` (0: not at all)."""
        block = max(1, int(wait_seconds * 1000)) if wait_seconds else None
        with plain_errors():
            answer = self._blocking.xread(
                {_key(batch, "log"): after or "0"}, count=most, block=block
            )
        rows = answer[0][1] if answer else []
        return [
            LogEntry(_text(at), _text(row[b"chunk"]) if b"chunk" in row else None)
            for at, row in rows
        ]

    def log_has(self, batch: str, entry: LogEntry) -> bool:
        """Whether the log still holds an entry read before."""
        with plain_errors():
            rows = self.redis.xrange(_key(batch, "log"), entry.position, entry.position)
        return bool(rows) and rows[0][1].get(b"chunk") == (entry.chunk or "").encode()

    def results(self, batch: str, chunks: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the result lines of finished chunks; None for one that has none, or no longer."""
        with plain_errors():
            blobs = self.redis.mget([_key(batch, f"result:{chunk}") for chunk in chunks])
        for chunk, blob in zip(chunks, blobs, strict=True):
            try:
                yield None if blob is None else decompress(blob)
            except UNREADABLE as error:
                raise ServerError(f"the results of chunk {chunk} of {batch} are damaged") from error

    def free(self, batch: str, chunks: Sequence[str]) -> None:
        """Drop chunks' results, and their lines where the chunk is whole: they are written elsewhere now."""
        keys = [_key(batch, f"result:{chunk}") for chunk in chunks]
        keys += [_key(batch, f"chunk:{chunk}") for chunk in chunks if ":" not in chunk]
        with plain_errors():
            self.redis.unlink(*keys)

    def chunks_of_id(self, batch: str, digest: bytes) -> list[str]:
        """Return the finished chunks that may hold the result of a custom_id (8 bytes of its digest)."""
        with plain_errors():
            # In this order: an id that is moved meanwhile is found in the index.
            numbers = [
                int(number)
                for number, packed in self.redis.hscan_iter(_key(batch, "fresh"), count=64)
                if _has_id(packed, digest)
            ]
            held = self.redis.hget(_key(batch, "ids"), digest[:2]) or b""
            entries = [held[at : at + 13] for at in range(0, len(held), 13)]
            numbers += [int.from_bytes(entry[10:]) for entry in entries if entry[:6] == digest[2:]]
            numbers = sorted(set(numbers))
            parts = [self.redis.hget(_key(batch, "parts"), str(number)) for number in numbers]
        return [
            f"{number}:{part}" if part else str(number)
            for number, listed in zip(numbers, parts, strict=True)
            for part in (_text(listed).split() if listed else [""])
        ]

    def batches(self, most: int = 100) -> list[str]:
        """Return the ids of the newest batches, newest first."""
        with plain_errors():
            return [_text(batch) for batch in self.redis.zrevrange(_BATCHES, 0, most - 1)]

    def delete(self, batch: str) -> bool:
        """Drop everything of a batch; False when there was nothing."""
        with plain_errors():
            count = self.redis.hget(_key(batch, "meta"), "chunks")
            if count is None:
                return False
            left = dies_at(batch) - time.time()
            if left > 1:
                self.redis.set(_key(batch, "deleted"), 1, ex=int(left))
            self._run(
                "close", batch, str(BatchStatus.CANCELLED), "deleted"
            )  # nobody begins more of it
            for name, _ in self.redis.hscan_iter(_key(batch, "records"), count=500):
                self.redis.unlink(_key(batch, "result:" + _text(name)))
                self.redis.unlink(_key(batch, "prior:" + _text(name).removeprefix("prior ")))
            for first in range(0, int(count), 500):
                numbers = range(first, min(first + 500, int(count)))
                self.redis.unlink(*(_key(batch, f"chunk:{number}") for number in numbers))
            # What the rest is found by goes last, so that an interrupted deletion can be finished.
            self.redis.unlink(*(_key(batch, name) for name in _KEYS[1:]))
            self.redis.unlink(_key(batch, "meta"))
            self.redis.zrem(_BATCHES, batch)
            self.redis.zrem(_ACTIVE, batch)
        return True

    def missing(self, batch: str) -> BatchNotFoundError | BatchExpiredError | BatchLostError:
        """Say why a batch is not there."""
        try:
            dies = dies_at(batch)
        except ValueError:
            return BatchNotFoundError(
                f"{batch[:80]!r} is no batch id", "`weighbridge batches` lists them"
            )
        if time.time() >= dies:
            return BatchExpiredError(
                f"batch {batch} has expired, and its results are gone", "submit its input again"
            )
        with plain_errors():
            deleted = self.redis.exists(_key(batch, "deleted"))
        if deleted:
            return BatchNotFoundError(f"batch {batch} was deleted", "submit its input again")
        return BatchLostError(
            f"batch {batch} should be on this server until {time.strftime('%F %T', time.gmtime(dies))} UTC and is not",
            "is this the right server? If it is, it has lost its data: is its append-only file on?",
        )


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


def new_batch_id(created: int, lives_seconds: int) -> str:
    """Return a fresh batch id: when it was made, how long it lives, both in hexadecimal seconds, and 80 random bits."""
    return f"wb_{created:08x}_{lives_seconds:x}_{secrets.token_hex(10)}"


def dies_at(batch: str) -> float:
    """Return when a batch's keys die, in seconds since the epoch; ValueError when it is no batch id."""
    found = _BATCH_ID.fullmatch(batch)
    if not found:
        raise ValueError(batch)
    return int(found[1], 16) + int(found[2], 16)


def _status(batch: str, name: str) -> BatchStatus:
    try:
        return BatchStatus(name)
    except ValueError:
        raise BatchError(
            f"batch {batch} has a status that is not known here: {name[:40]!r}",
            "is it of a newer release?",
        ) from None


def _closed(batch: str) -> BatchClosedError:
    return BatchClosedError(
        f"batch {batch} was ended and takes no more jobs",
        "submit them as a new batch, or `retry` it first to go on with it",
    )


def _has_id(packed: bytes, digest: bytes) -> bool:
    at = packed.find(digest)
    while at % ID_BYTES and at >= 0:
        at = packed.find(digest, at + 1)
    return at >= 0


def _packed(parts: Sequence[tuple[ChunkId, int]]) -> bytes:
    return orjson.dumps([[str(part), jobs] for part, jobs in parts])


def _key(batch: str, name: str) -> str:
    return f"wb:{{{batch}}}:{name}"


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)

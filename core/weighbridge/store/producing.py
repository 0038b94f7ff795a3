"""The producer's operations on a batch: open, submit, seal, and free collected results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.errors import BatchClosedError, BatchLostError, ChunkConflictError
from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.jobs.error_codes import RETRY_REOPENS
from weighbridge.store.audit import ENTRIES_LIMIT, Action, Entry, add_to_stream, write_to_log
from weighbridge.store.base import StoreBase
from weighbridge.store.connection import (
    evicting_policy,
    memory_share,
    server_time,
    translate_errors,
)
from weighbridge.store.durability import Durability, confirm
from weighbridge.store.key_names import (
    ACTIVE,
    BATCHES,
    LISTED_SECONDS,
    expires_at,
    key,
    listing,
    new_batch_id,
    text,
)
from weighbridge.store.records import (
    WEIGHTS,
    BatchOptions,
    ChunkUpload,
    DuplicateId,
    GapError,
    Pace,
    Position,
    Submitted,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.store.audit import Actor
    from weighbridge.store.records import Push


class PlannedBatch(NamedTuple):
    """A batch that is yet to be created."""

    id: str
    options: BatchOptions
    arguments: tuple[Any, ...]  #: of `open_batch.lua`, after the batch
    created: float
    lists: tuple[str, ...]  #: the lists of batches that contain it
    entry: Entry | None  #: of its creation, for the audit log
    packed_entry: bytes


class Producing(StoreBase):
    """A producer's operations on a batch."""

    def plan_batch(
        self,
        options: BatchOptions,
        *,
        expiry_seconds: int,
        ttl_seconds: int,
        actor: Actor | None = None,
        batch: str = "",
        now: float | None = None,
    ) -> PlannedBatch:
        """Return a batch that can be created, alone or with its first chunk; `now` is the server's time if known.

        With an `actor`, the audit log gets an entry when it is created. The id encodes the batch's times.
        """
        created_ms = round((server_time(self.redis) if now is None else now) * 1000)
        created = created_ms / 1000
        batch = batch or new_batch_id(created, expiry_seconds + ttl_seconds)
        expires_ms = created_ms + expiry_seconds * 1000
        dies_ms = expires_ms + ttl_seconds * 1000
        lists, listed_since = (BATCHES, listing(options.project)), created - LISTED_SECONDS
        entry = Entry(Action.SUBMIT, actor, options.project, batch) if actor else None
        packed = entry.pack() if entry else b""
        arguments = (
            *(dies_ms, expires_ms, created_ms, options.pack()),
            *(options.queue, WEIGHTS[options.priority], packed, ENTRIES_LIMIT),
            *(created, listed_since, ACTIVE, *lists),
        )
        return PlannedBatch(batch, options, arguments, created, lists, entry, packed)

    def create_batch(self, planned: PlannedBatch) -> None:
        """Create a batch without chunks."""
        self._run("open_batch", planned.id, *planned.arguments)
        self._note_created(planned)

    def _note_created(self, planned: PlannedBatch) -> None:
        if planned.entry:
            write_to_log(planned.entry)
        if self.is_cluster:
            self._list_on_cluster(planned)

    def _list_on_cluster(self, planned: PlannedBatch) -> None:
        """Add a batch to the lists, and its entry to the audit log, which are on other nodes than the batch."""
        with translate_errors():
            pipe = self.redis.pipeline(transaction=False)
            for name in (ACTIVE, *planned.lists):
                pipe.zadd(name, {planned.id: planned.created})
            for name in planned.lists:
                pipe.zremrangebyscore(name, "-inf", planned.created - LISTED_SECONDS)
            if planned.packed_entry:
                add_to_stream(pipe, planned.packed_entry)
            pipe.execute()

    def submit_chunk(self, batch: str, chunk: ChunkUpload) -> Pace:
        """Store the next chunk and return the pace so far; earlier chunks must not have its ids (`find_duplicates`).

        Raises GapError, ChunkConflictError, BatchClosedError, ServerFullError, and BatchLostError.
        """
        answer = self._run("submit_chunk", batch, *_stored_as(chunk))
        self._take_turn(batch)
        return self._submitted(batch, chunk, answer)

    def submit(
        self,
        batch: str,
        chunk: ChunkUpload,
        *,
        planned: PlannedBatch | None = None,
        is_last: bool = False,
        push: Push | None = None,
    ) -> Submitted:
        """Do all that belongs to the next chunk in one round trip, on one server.

        That is to create the batch if it is only `planned`, to store the chunk, to seal the batch if the chunk is its
        last, and to `push` the message that announces it. Raises the errors of `submit_chunk` and `seal`.
        """
        if self.is_cluster:
            if planned:
                self.create_batch(planned)
            pace = self.submit_chunk(batch, chunk)
            if is_last:
                self.seal(batch, chunk.after.chunks, chunk.after.prefix)
            return Submitted(pace, is_announced=False)
        calls = [
            *([("open_batch", *planned.arguments)] if planned else []),
            ("submit_chunk", *_stored_as(chunk)),
            *([("seal", chunk.after.chunks, chunk.after.prefix)] if is_last else []),
        ]
        # A worker that the message wakes must find the chunk, so the message is last, and a server that may lack a script
        # is not sent one: it would store the chunk later.
        is_safe = self._found_loaded.issuperset(name for name, *_ in calls)
        last = [("LPUSH", *push)] if push and is_safe else []
        replies = self._run_all(batch, calls, last=last)
        announced = [replies.pop()] if last else []
        if planned:
            del replies[0]
            self._note_created(planned)
        pace = self._submitted(batch, chunk, replies[0])
        if is_last:
            self._sealed(batch, replies[1])
        # A full server refuses the message.
        return Submitted(pace, any(isinstance(reply, int) for reply in announced))

    def _submitted(self, batch: str, chunk: ChunkUpload, answer: list[Any]) -> Pace:
        match [text(answer[0]), *answer[1:]]:
            case ["new", us, jobs]:
                return Pace(int(us), int(jobs))
            case ["same"]:
                return Pace()
            case ["gap", expected]:
                raise GapError(int(expected))
            case ["conflict"]:
                raise ChunkConflictError(
                    f"chunk {chunk.id.number} of {batch} is already stored with other lines",
                    "another producer submits to this batch, or the input has changed: submit it as a new batch",
                )
            case ["closed", how]:
                raise closed_error(batch, text(how))
            case _:
                raise self.missing(batch)

    def find_duplicates(self, batch: str, ids: bytes) -> list[DuplicateId]:
        """Return those of some packed ids that the batch already has.

        Ids are indexed only by this call, one chunk per script call, so that the server is not blocked for long.
        """
        while (answer := self._run("find_duplicates", batch, ids))[0] == b"behind":
            pass
        if answer[0] == b"lost":
            raise self.missing(batch)
        rest = answer[1:]
        return [
            DuplicateId(int(at), bool(same)) for at, same in zip(rest[::2], rest[1::2], strict=True)
        ]

    def seal(self, batch: str, chunks: int, prefix: str) -> None:
        """Mark the batch as complete, given its number of chunks and the digest of all lines.

        Raises GapError if chunks are missing, ChunkConflictError if the digest differs.
        """
        self._sealed(batch, self._run("seal", batch, chunks, prefix))
        self._take_turn(batch)

    def _sealed(self, batch: str, answer: list[Any]) -> None:
        match answer:
            case [b"gap", expected]:
                raise GapError(int(expected))
            case [b"conflict"]:
                raise ChunkConflictError(
                    f"the lines of batch {batch} are not those submitted here",
                    "another producer submits to this batch: submit the input as a new batch",
                )
            case [b"closed", how]:
                raise closed_error(batch, text(how))
            case [b"lost"]:
                raise self.missing(batch)

    def confirm_seal(self, batch: str, timeout_seconds: float) -> Durability:
        """Wait for the server's confirmations, and return the durability of a sealed batch.

        Raises BatchLostError if the server has lost the seal.
        """
        meta, dies_ms = key(batch, "meta"), round(expires_at(batch) * 1000)
        with translate_errors():
            # The write has no effect, as this is the key's expiry anyway, and a full server does not refuse it.
            found, sealed = confirm(
                self.redis,
                lambda pipe: pipe.pexpireat(meta, dies_ms),
                lambda pipe: pipe.hget(meta, "sealed"),
                timeout_seconds,
            )
        if sealed is None:
            raise self.missing(batch)
        if sealed != b"1":
            raise BatchLostError(
                f"Redis has lost the end of batch {batch} since it was submitted",
                "submit the same input again, to resume the batch",
            )
        return found

    def memory_share(self) -> float:
        """Return the used share of the server's memory limit, 0.0 to 1.0; 0.0 if it has no limit."""
        return memory_share(self.redis)

    def evicting_policy(self) -> str:
        """Return the policy by which the server drops keys when it is full; empty if it drops none, or does not report it."""
        return evicting_policy(self.redis)

    def position(self, batch: str) -> Position:
        """Return the position of the batch's producer in its input."""
        with translate_errors():
            fields = self.redis.hmget(
                key(batch, "meta"),
                ["chunks", "offset", "lines", "prefix", "sealed", "closing", "given_up"],
            )
        if fields[0] is None:
            raise self.missing(batch)
        chunks, offset, lines, prefix, sealed, closing, given_up = (
            text(field or b"") for field in fields
        )
        closed_as = str(BatchStatus.FAILED) if given_up else closing
        return Position(int(chunks), int(offset), int(lines), prefix, sealed == "1", closed_as)

    def free(self, batch: str, chunks: Sequence[str]) -> None:
        """Delete the results of recorded chunks, and the lines of unsplit ones, after they were saved elsewhere."""
        if chunks:
            self._run("free", batch, *chunks)


def _stored_as(chunk: ChunkUpload) -> tuple[Any, ...]:
    """Return the arguments of `submit_chunk.lua` after the batch."""
    after = chunk.after
    return (
        *(chunk.id.number, str(chunk.id), chunk.jobs, after.offset, after.lines, after.prefix),
        *(chunk.payload, chunk.duplicates, chunk.ids),
    )


def closed_error(batch: str, closed_as: str) -> BatchClosedError:
    """Return the error for a batch that is not to be filled further, with the status that it was closed with, if any."""
    if closed_as == BatchStatus.FAILED:
        return BatchClosedError(
            f"batch {batch} ended as failed, because its input broke off, and accepts no more jobs",
            "submit all cases as a new batch; `retry` grades the jobs that it has and that were cancelled",
        )
    return BatchClosedError(
        f"batch {batch} has ended and accepts no more jobs",
        f"submit them as a new batch; {RETRY_REOPENS}",
    )

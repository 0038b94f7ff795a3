"""Submitting: lines into chunks, chunks into the store, in order, each exactly once."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.errors import (
    BatchLostError,
    ChunkConflictError,
    ServerFullError,
)
from weighbridge.jobs.chunk import Chunk, ChunkId
from weighbridge.jobs.codec import JSON_SPACE, peek_custom_id
from weighbridge.jobs.model import ErrorCode, JobError
from weighbridge.jobs.store import GapError, Pace, Position, Submission
from weighbridge_producer.seen import SeenIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge.jobs.broker import Publisher
    from weighbridge.jobs.store import Store
    from weighbridge.settings import Settings
    from weighbridge_producer.encoding import SourceLine
    from weighbridge_producer.reading import Source

_ID_BYTES, _LINE_BYTES = 8, 4  #: of the digests in the index of ids
_FIRST_JOBS = 64  #: in the first chunk, when nothing is known of how long a job takes
_MEMORY_CHECKED_EVERY = 16  #: chunks
_FULL_PAUSE_SECONDS = 0.25
ID_CONFLICT = JobError(
    ErrorCode.ID_CONFLICT,
    "an earlier, different line has the same custom_id",
    "give each case its own custom_id; results are found by it",
)


def id_digest(batch: str, custom_id: str) -> bytes:
    """Return the 8 bytes by which a custom_id is indexed; keyed, so that nobody can prepare collisions."""
    return blake2b(custom_id.encode(), digest_size=_ID_BYTES, key=_key(batch)).digest()


def _key(batch: str) -> bytes:
    return batch.encode()[-64:]


_Line = tuple[int, bytes]  #: its index in the chunk, and its content
IdClaim = tuple[str, int, bytes]  #: an id, and the line that claims it


@dataclass(slots=True)
class Draft:
    """A chunk being filled."""

    chunk: Chunk
    lines: list[bytes] = field(default_factory=list)
    size: int = 0  #: in bytes
    cases: int = 0  #: lines that are jobs
    faults: int = 0
    _claims: dict[str, _Line] = field(default_factory=dict)  #: the first with each custom_id
    _later: dict[str, list[_Line]] = field(default_factory=dict)  #: the others with it

    def add(self, line: SourceLine) -> None:
        """Take a line in, and note what an id or a fault makes of it."""
        raw, chunk = line.raw, self.chunk
        index = chunk.line_count
        if line.origin:
            chunk.note_origin(*line.origin)
        chunk.line_count = index + 1
        self.lines.append(raw)
        self.size += len(raw)
        if line.fault:
            chunk.faults[index] = line.fault
            self.faults += 1
            return
        content = raw.strip(JSON_SPACE)
        if not content:
            return
        self.cases += 1
        custom_id = peek_custom_id(content)
        if custom_id is None:
            return
        claim = (index, content)
        first = self._claims.setdefault(custom_id, claim)
        if first is not claim:
            self._later.setdefault(custom_id, []).append(claim)
            self._leave_out(index, same_line=first[1] == content)

    def claims(self) -> list[IdClaim]:
        """Return the ids that the chunk's lines claim, each with its line."""
        return [(custom_id, *line) for custom_id, line in self._claims.items()]

    def take_back(self, claim: IdClaim, *, same_line: bool) -> list[IdClaim]:
        """Give up an id that an earlier chunk has: the line is a repeat of that one, or in conflict with it.

        In conflict, the lines after it in this chunk were compared with the wrong one. They are returned, and stand
        as cases of their own until the server was asked about them too.
        """
        custom_id, index, _ = claim
        later: list[_Line] = []
        if self._claims.get(custom_id, (-1,))[0] == index:
            del self._claims[custom_id]
            later = self._later.pop(custom_id, later)
        self._leave_out(index, same_line=same_line)
        if same_line:
            return []
        for other, _ in later:
            self._take_in(other)
        return [(custom_id, *line) for line in later]

    def _leave_out(self, index: int, *, same_line: bool) -> None:
        self.cases -= 1
        if same_line:
            self.chunk.repeats.add(index)
        else:
            self.chunk.faults[index] = ID_CONFLICT
            self.faults += 1

    def _take_in(self, index: int) -> None:
        self.cases += 1
        if index in self.chunk.repeats:
            self.chunk.repeats.remove(index)
        else:
            del self.chunk.faults[index]
            self.faults -= 1


def pack_ids(batch: str, claims: Iterable[IdClaim]) -> bytes:
    """Return claimed ids as the store takes them: 8 bytes for each id, and 4 for its line."""
    # To copy a keyed hash is half the work of making one.
    of_id = blake2b(digest_size=_ID_BYTES, key=_key(batch))
    of_line = blake2b(digest_size=_LINE_BYTES, key=_key(batch))
    digests = []
    for custom_id, _, line in claims:
        for keyed, data in ((of_id, custom_id.encode()), (of_line, line)):
            digest = keyed.copy()
            digest.update(data)
            digests.append(digest.digest())
    return b"".join(digests)


class Feeder:
    """Feeds one source into one batch; stopped anywhere, another feeder can go on from what the server has."""

    def __init__(
        self,
        store: Store,
        publisher: Publisher,
        batch: str,
        source: Source,
        settings: Settings,
        *,
        on_wait: Callable[[str], None] = lambda _: None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._batch = batch
        self._source = source
        self._settings = settings
        self._on_wait = on_wait
        self._should_stop = should_stop
        self._jobs_a_line = max(1, len(store.options(batch).graders))
        self._pace = Pace()
        self._last_jobs = _FIRST_JOBS // 2
        self._position = Position()
        self._prefix = blake2b(digest_size=16)
        self._seen = SeenIds()

    def feed(self) -> None:
        """Submit what the server does not have yet, and seal the batch."""
        while True:
            try:
                self._feed_from(self._store.position(self._batch))
                if not self._should_stop():
                    self._store.seal(self._batch, self._position.chunks)
            except GapError as gap:
                # The server came back without its last writes.
                if not self._source.rereadable:
                    raise BatchLostError(
                        f"the server has lost the end of batch {self._batch} (from chunk {gap.expected})",
                        "submit the input again: a pipe or an iterator cannot be read twice",
                    ) from None
                continue
            return

    def _feed_from(self, position: Position) -> None:
        self._prefix = blake2b(digest_size=16)
        self._seen = SeenIds()
        lines = iter(self._source)
        self._skip_to(position, lines)
        for draft in self._drafts(lines):
            if self._should_stop():
                return
            self._submit(draft)

    def _skip_to(self, position: Position, lines: Iterator[SourceLine]) -> None:
        """Pass over what the server has, making sure that it is the same, and all of it if it is said to be."""
        for line in islice(lines, position.lines):
            self._prefix.update(line.raw)
            if not line.fault and (custom_id := peek_custom_id(line.raw)):
                self._seen.add(custom_id)
        same = not position.lines or self._prefix.hexdigest() == position.prefix
        if not same or (position.sealed and next(lines, None)):
            raise ChunkConflictError(
                f"{self._source.name} is not what batch {self._batch} was begun with",
                "submit it as a new batch, or give the unchanged input to resume",
            )
        self._position = position

    def _drafts(self, lines: Iterator[SourceLine]) -> Iterator[Draft]:
        """Gather lines into chunks."""
        offset = self._position.offset
        draft, goal = Draft(Chunk(self._position.lines + 1)), self._lines_goal()
        for line in lines:
            draft.add(line)
            offset += line.size
            if draft.cases + draft.faults >= goal or draft.size >= self._settings.chunk_limit_bytes:
                yield self._placed(draft, offset)
                draft, goal = Draft(Chunk(self._position.lines + 1)), self._lines_goal()
        if draft.lines:
            yield self._placed(draft, offset)

    def _placed(self, draft: Draft, offset: int) -> Draft:
        draft.chunk.raw = b"".join(draft.lines)
        draft.lines.clear()
        self._prefix.update(draft.chunk.raw)
        self._position = Position(
            self._position.chunks + 1,
            offset,
            self._position.lines + draft.chunk.line_count,
            self._prefix.hexdigest(),
        )
        return draft

    def _submit(self, draft: Draft) -> None:
        number = self._position.chunks - 1
        self._wait_for_room(number)
        self._settle_ids(draft)
        answer = self._patiently(
            Submission(
                number=number,
                digest=self._position.prefix,
                jobs=draft.cases * self._jobs_a_line + draft.faults,
                after=self._position,
                payload=draft.chunk.pack(),
                ids=pack_ids(self._batch, draft.claims()),
                duplicates=len(draft.chunk.repeats),
            )
        )
        if answer.jobs:
            self._pace = answer
        # The chunk is stored: a message that a full broker refuses is sent by the sweeper, once there is room.
        with suppress(ServerFullError):
            self._publisher.publish(self._batch, ChunkId(number))

    def _settle_ids(self, draft: Draft) -> None:
        """Take the ids out of a draft that earlier chunks have; the server knows, where the filter does not."""
        doubted = [claim for claim in draft.claims() if self._seen.add(claim[0])]
        while doubted:
            taken = self._store.taken(self._batch, pack_ids(self._batch, doubted))
            doubted = [
                later
                for found in taken
                for later in draft.take_back(doubted[found.position], same_line=found.same_line)
            ]

    def _patiently(self, chunk: Submission) -> Pace:
        deadline = time.monotonic() + self._settings.full_server_patience_seconds
        while True:
            try:
                return self._store.submit_chunk(self._batch, chunk)
            except ServerFullError as error:
                if time.monotonic() > deadline or self._should_stop():
                    raise ServerFullError(
                        f"{error.message}, and none came free in {self._settings.full_server_patience_seconds:g} s",
                        f"what was submitted is safe; make room, then resume batch {self._batch}",
                    ) from None
            self._on_wait("the server is full")
            time.sleep(_FULL_PAUSE_SECONDS)

    def _wait_for_room(self, number: int) -> None:
        """Leave the workers room for their results on a server that fills up."""
        if number % _MEMORY_CHECKED_EVERY != _MEMORY_CHECKED_EVERY - 1:
            return
        deadline = time.monotonic() + self._settings.full_server_patience_seconds
        while (
            self._store.memory_share() > self._settings.memory_high_water
            and not self._should_stop()
        ):
            if time.monotonic() > deadline:
                raise ServerFullError(
                    f"the server is over {self._settings.memory_high_water:.0%} full, and none of it came free",
                    f"collect or delete finished batches, then resume batch {self._batch}",
                )
            self._on_wait("the server is nearly full")
            time.sleep(_FULL_PAUSE_SECONDS)

    def _lines_goal(self) -> int:
        """Return how many lines the next chunk should have, by what grading took so far."""
        settings = self._settings
        goal = self._last_jobs * 2
        if self._pace.jobs and self._pace.grade_us:
            fitting = settings.chunk_target_seconds * 1e6 * self._pace.jobs / self._pace.grade_us
            goal = min(goal, int(fitting)) if self._pace.jobs >= _FIRST_JOBS // 4 else goal
        self._last_jobs = min(max(goal, 1), settings.chunk_limit_jobs)
        return max(1, self._last_jobs // self._jobs_a_line)

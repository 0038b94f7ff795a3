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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.jobs.broker import Publisher
    from weighbridge.jobs.store import Store, Taken
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


_Claim = tuple[int, bytes]  #: a line with an id: its index, and its content


@dataclass(slots=True)
class Draft:
    """A chunk being filled."""

    chunk: Chunk
    batch: str
    lines: list[bytes] = field(default_factory=list)
    size: int = 0  #: in bytes
    cases: int = 0  #: lines that are jobs
    faults: int = 0
    _claims: dict[str, _Claim] = field(default_factory=dict)  #: the first with each custom_id
    _later: dict[str, list[_Claim]] = field(default_factory=dict)  #: the others with it
    _doubted: dict[int, tuple[str, _Claim]] = field(
        default_factory=dict
    )  #: by index; see `take_back`

    def add(self, line: SourceLine) -> None:
        """Take a line in, and note what an id or a fault makes of it."""
        raw, chunk = line.raw, self.chunk
        index = chunk.line_count
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

    def claims(self) -> list[tuple[str, _Claim]]:
        """Return what to ask the server about: the ids that the chunk's lines claim, each with its line."""
        return [*self._claims.items(), *self._doubted.values()]

    def take_back(self, custom_id: str, claim: _Claim, *, same_line: bool) -> None:
        """Give up an id that an earlier chunk has: the line is a repeat of that one, or in conflict with it.

        In conflict, the lines after it in this chunk were compared with the wrong one, and are in doubt until the
        server is asked about them too.
        """
        if self._claims.get(custom_id) is claim:
            del self._claims[custom_id]
            later = self._later.pop(custom_id, ())
        else:
            del self._doubted[claim[0]]
            later = ()
        self._leave_out(claim[0], same_line=same_line)
        if not same_line:
            for other in later:
                self._take_in(other[0])
                self._doubted[other[0]] = custom_id, other

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

    def packed_ids(self) -> bytes:
        """Return the claimed ids as the index takes them: 8 bytes for each id, and 4 for its line."""
        # To copy a keyed hash is half the work of making one.
        of_id = blake2b(digest_size=_ID_BYTES, key=_key(self.batch))
        of_line = blake2b(digest_size=_LINE_BYTES, key=_key(self.batch))
        digests = []
        for custom_id, (_, line) in self.claims():
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
        draft, goal = Draft(Chunk(self._position.lines + 1), self._batch), self._lines_goal()
        for line in lines:
            draft.add(line)
            offset += line.size
            if draft.cases + draft.faults >= goal or draft.size >= self._settings.chunk_limit_bytes:
                yield self._placed(draft, offset)
                draft, goal = (
                    Draft(Chunk(self._position.lines + 1), self._batch),
                    self._lines_goal(),
                )
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
        while True:
            payload = draft.chunk.pack()
            chunk = Submission(
                number=number,
                digest=self._position.prefix,
                jobs=draft.cases * self._jobs_a_line + draft.faults,
                after=self._position,
                payload=payload,
                ids=draft.packed_ids(),
                duplicates=len(draft.chunk.repeats),
            )
            answer = self._patiently(chunk)
            if isinstance(answer, Pace):
                break
            claims = draft.claims()
            for taken in answer:
                draft.take_back(*claims[taken.position], same_line=taken.same_line)
        if answer.jobs:
            self._pace = answer
        # The chunk is stored: a message that a full broker refuses is sent by the sweeper, once there is room.
        with suppress(ServerFullError):
            self._publisher.publish(self._batch, ChunkId(number))

    def _patiently(self, chunk: Submission) -> Pace | list[Taken]:
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

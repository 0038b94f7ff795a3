"""Submits the chunks of a source in order, each exactly once."""

from __future__ import annotations

import time
from collections import deque
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

from weighbridge.errors import (
    BatchLostError,
    ChunkConflictError,
    Fault,
    NoCasesError,
    ServerFullError,
)
from weighbridge.jobs.chunk import DIGEST_CHARACTERS, ChunkId, Line
from weighbridge.jobs.error_codes import UNREAD_INPUT
from weighbridge.jobs.line import JSON_SPACE, peek_custom_id
from weighbridge.settings import MIB
from weighbridge.store import ChunkUpload, GapError, Pace, Position, Push, closed_error
from weighbridge.text import pluralize
from weighbridge_producer.submit.chunk_draft import ChunkDraft
from weighbridge_producer.submit.digests import DIGEST_BYTES, Digester
from weighbridge_producer.submit.line_reader import LineReader
from weighbridge_producer.submit.seen_ids import SeenIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.broker.publisher import Publisher
    from weighbridge.settings import Settings
    from weighbridge.store import BatchOptions, PlannedBatch, Store
    from weighbridge_producer.input.source import Source

_FIRST_JOBS = 64  #: in the first chunk, before the duration of a job is known
_FIRST_BYTES = MIB  #: in a chunk until then; jobs of unknown duration are mostly traces of some kB, which take 0.2 s
_MOST_LINES = 50_000  #: in a chunk; blank lines and repeats are not jobs, but use memory
_AT_ONCE = 4  #: chunks submitted without delay at the start, when workers have none yet
_HELD = 2  #: chunks held back, to be split into smaller ones if they are the last
_LAST_PARTS = 16  #: the smallest of the last chunks is a sixteenth of the held lines
_MEMORY_CHECKED_EVERY = 16  #: chunks
_FULL_PAUSE_SECONDS = 0.25


class Feeder:
    """Submits one source to one batch; after an interruption, another feeder can continue from the server's state."""

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
        opened_with: BatchOptions | None = None,
        planned: PlannedBatch | None = None,
    ) -> None:
        """Prepare to feed a batch; `opened_with` are the options of a new batch, whose position need not be read.

        A batch that is only `planned` is created with its first chunk.
        """
        self._store = store
        self._publisher = publisher
        self._batch = batch
        self._source = source
        self._settings = settings
        self._on_wait = on_wait
        self._should_stop = should_stop
        self._is_new = opened_with is not None
        self.planned = planned  #: None once the batch is created
        options = opened_with or store.options(batch)
        self._queue = options.queue
        self._jobs_a_line = max(1, len(options.graders))
        self._pace = Pace()
        self._last_jobs = _FIRST_JOBS // 2
        self._is_sealed = False
        self._position = Position()
        self._digester = Digester(batch)
        self._prefix = blake2b(digest_size=DIGEST_BYTES)
        self._seen = SeenIds()
        self.has_jobs = False  #: True if a job was submitted
        self.unread: Fault | None = None  #: why the source was not read to its end

    def feed(self) -> None:
        """Submit the lines that the server does not have yet, and seal the batch.

        Raises NoCasesError if there are no lines and the batch is not created yet.
        """
        while True:
            try:
                position = Position() if self._is_new else self._store.position(self._batch)
                self._is_new = False
                if position.closed_as and not position.sealed:  # before the input is read
                    raise closed_error(self._batch, position.closed_as)
                self._feed_from(position)
                if not self._is_sealed and not self._should_stop():
                    if self.planned:
                        raise NoCasesError(self._source.name)
                    self._store.seal(self._batch, self._position.chunks, self._position.prefix)
            except GapError as gap:
                # The server has lost its last writes.
                if not self._source.rereadable:
                    raise self._lost(gap.expected) from None
                continue
            return

    def resubmit_lost(self) -> None:
        """After `feed`, check whether the server has lost the seal or the last chunks, and submit them again.

        Raises BatchLostError if the source cannot be read again.
        """
        held = self._store.position(self._batch)
        if held.sealed:
            return
        self._on_wait("Redis has lost its last writes, which are submitted again")
        if held.chunks == self._position.chunks:
            self._store.seal(self._batch, held.chunks, self._position.prefix)
        elif self._source.rereadable:
            self.feed()
        else:
            raise self._lost(held.chunks)
        self._on_wait("")

    def _lost(self, chunk: int) -> BatchLostError:
        return BatchLostError(
            f"Redis has lost the end of batch {self._batch} (from chunk {chunk})",
            "submit the input again: a pipe or an iterator cannot be read twice",
        )

    def _feed_from(self, position: Position) -> None:
        self._is_sealed = False
        self._prefix = blake2b(digest_size=DIGEST_BYTES)
        self._seen = SeenIds()
        lines = LineReader(self._source.blocks())
        self._skip_to(position, lines)
        for draft in self._drafts(lines):
            if self._should_stop():
                return
            self._submit(draft)

    def _skip_to(self, position: Position, lines: LineReader) -> None:
        """Skip the lines that the server has, after checking that their digests are the same."""
        offset = number = 0
        ids: list[str] = []
        skipped = (each for read in lines.read(position.lines) for each in read.lines())
        for number, line in enumerate(skipped, 1):
            offset += line.size
            if line.fault:
                self._note_unread(line.as_job(number))
            content = line.raw.strip(JSON_SPACE)
            self._prefix.update(self._digester.of_line(content))
            if not line.fault and (custom_id := line.custom_id or peek_custom_id(content)):
                ids.append(custom_id)
            if len(ids) == _MOST_LINES:
                self._seen.add(ids, self._digester.of_ids(ids))
                ids.clear()
        self._seen.add(ids, self._digester.of_ids(ids))
        read = Position(position.chunks, offset, number, self._prefix.hexdigest())
        difference = _difference(read, position)
        if not difference and position.sealed and any(lines.read(1)):
            difference = f"it has more than the batch's {pluralize(position.lines, 'line')}"
        if difference:
            raise ChunkConflictError(
                f"{self._source.name} is not what batch {self._batch} was started with: {difference}",
                "submit it as a new batch, or give the unchanged input to resume; lines are compared by their bytes, and a dict as"
                " JSON without spaces",
            )
        self._position = position

    def _drafts(self, lines: LineReader) -> Iterator[ChunkDraft]:
        """Split lines into chunks; the last ones are smaller, so that the workers finish at the same time."""
        held: deque[ChunkDraft] = deque()
        at_once = self._position.chunks + _AT_ONCE
        while (draft := self._filled(lines, self._lines_goal())).lines:
            held.append(draft)
            # Input that can be read only once may arrive slowly, and lines read from it must not be lost.
            hurried = self._position.chunks < at_once or not self._source.rereadable
            if hurried or len(held) > _HELD:
                first = held.popleft()
                first.is_last = first.ends_source and not held
                yield first
        left = sum(draft.chunk.line_count for draft in held)
        rest = LineReader(line for draft in held for line in draft.lines)
        least = -(-left // _LAST_PARTS)
        while left:
            most = max(-(-left // 2), least)
            draft = self._filled(rest, min(self._lines_goal(), most))
            left -= draft.chunk.line_count
            draft.is_last = not left
            yield draft

    def _filled(self, lines: LineReader, goal: int) -> ChunkDraft:
        """Return a draft with at most `goal` lines; it is empty at the end of the input."""
        draft = ChunkDraft(self._digester)
        most_bytes = self._settings.chunk_limit_bytes
        if not self._pace.jobs:
            most_bytes = min(_FIRST_BYTES, most_bytes)
        draft.fill(lines, goal, most_bytes, _MOST_LINES)
        return draft

    def _append(self, draft: ChunkDraft) -> None:
        """Advance the position past a draft, and complete its chunk."""
        before = self._position
        self._prefix.update(b"".join(draft.digests))
        self._position = Position(
            before.chunks + 1,
            before.offset + draft.taken,
            before.lines + draft.chunk.line_count,
            self._prefix.hexdigest(),
        )
        draft.number_lines(before.lines + 1)

    def _submit(self, draft: ChunkDraft) -> None:
        first_line = self._position.lines + 1
        self._append(draft)
        after = self._position
        chunk = ChunkId(
            *(after.chunks - 1, first_line, after.lines + 1), after.prefix[:DIGEST_CHARACTERS]
        )
        self._wait_for_room(chunk.number)
        ids = self._digester.of_ids(draft.owners)
        if self._withdraw_known_ids(draft, ids):
            ids = self._digester.of_ids(draft.owners)
        for index, fault in draft.chunk.faults.items():
            self._note_unread(Line(index, first_line + index, b"", fault, draft.chunk.origins))
        jobs = draft.cases * self._jobs_a_line + draft.faults
        self.has_jobs |= jobs > 0
        is_announced = self._with_retries(
            ChunkUpload(
                id=chunk,
                jobs=jobs,
                after=after,
                payload=draft.chunk.pack(),
                ids=draft.pack(ids, draft.owners.values()),
                duplicates=len(draft.chunk.repeats),
            ),
            is_last=draft.is_last,
        )
        if not is_announced:
            # The chunk is stored: if a full broker rejects the message, the sweeper sends it later.
            with suppress(ServerFullError):
                self._publisher.wake(self._queue)

    def _note_unread(self, line: Line) -> None:
        """Keep the first fault from which on the source was not read, with its place."""
        if not self.unread and line.fault and line.fault.code in UNREAD_INPUT:
            self.unread = line.fault.at(line.location or f"line {line.number}")

    def _withdraw_known_ids(self, draft: ChunkDraft, digests: bytes) -> bool:
        """Withdraw ids owned by earlier chunks, and return whether there may have been any.

        The server is asked only about ids that the filter may have seen.
        """
        ids = list(draft.owners)
        doubted = [(ids[index], draft.owners[ids[index]]) for index in self._seen.add(ids, digests)]
        has_doubted = bool(doubted)
        while doubted:
            names, indices = zip(*doubted, strict=True)
            taken = self._store.find_duplicates(
                self._batch, draft.pack(self._digester.of_ids(names), indices)
            )
            doubted = [
                later
                for found in taken
                for later in draft.take_back(doubted[found.position], same_line=found.same_line)
            ]
        return has_doubted

    def _with_retries(self, chunk: ChunkUpload, *, is_last: bool) -> bool:
        """Store a chunk; return whether workers know of it already."""
        deadline = time.monotonic() + self._settings.full_server_timeout_seconds
        while True:
            try:
                submitted = self._store.submit(
                    self._batch,
                    chunk,
                    planned=self.planned,
                    is_last=is_last,
                    push=self._push(),
                )
            except ServerFullError as error:
                if time.monotonic() > deadline or self._should_stop():
                    raise ServerFullError(
                        f"{error.message}, and no memory was freed within {self._settings.full_server_timeout_seconds:g} s",
                        "nothing was submitted; make room, then submit the cases again"
                        if self.planned
                        else f"what was submitted is safe; make room, then resume batch {self._batch}",
                    ) from None
            else:
                self.planned = None
                self._is_sealed = is_last
                self._pace = submitted.pace if submitted.pace.jobs else self._pace
                return submitted.is_announced
            self._on_wait("Redis is full")
            time.sleep(_FULL_PAUSE_SECONDS)

    def _push(self) -> Push | None:
        """Return the message that announces a chunk, if it can be sent with the chunk."""
        if self._publisher.url != self._store.url:
            return None
        return Push(self._queue, self._publisher.message(self._queue))

    def _wait_for_room(self, number: int) -> None:
        """Wait while the server is nearly full, to leave memory for the workers' results."""
        if number % _MEMORY_CHECKED_EVERY != _MEMORY_CHECKED_EVERY - 1:
            return
        deadline = time.monotonic() + self._settings.full_server_timeout_seconds
        while (
            self._store.memory_share() > self._settings.memory_high_water
            and not self._should_stop()
        ):
            if time.monotonic() > deadline:
                raise ServerFullError(
                    f"Redis is over {self._settings.memory_high_water:.0%} full, and no memory was freed",
                    f"collect or delete finished batches, then resume batch {self._batch}",
                )
            self._on_wait("Redis is nearly full")
            time.sleep(_FULL_PAUSE_SECONDS)

    def _lines_goal(self) -> int:
        """Return the number of lines for the next chunk, based on the grading time so far."""
        settings = self._settings
        goal = self._last_jobs * 2
        if self._pace.jobs and self._pace.grade_us:
            fitting = settings.chunk_target_seconds * 1e6 * self._pace.jobs / self._pace.grade_us
            goal = min(goal, int(fitting)) if self._pace.jobs >= _FIRST_JOBS // 4 else goal
        self._last_jobs = min(max(goal, 1), settings.chunk_limit_jobs)
        return max(1, self._last_jobs // self._jobs_a_line)


def _difference(read: Position, stored: Position) -> str:
    """Return in words how the lines that were read differ from those that a batch has; empty if they are the same."""
    if not stored.lines or (read.offset, read.prefix) == (stored.offset, stored.prefix):
        return ""
    if read.lines < stored.lines:
        return f"it has {pluralize(read.lines, 'line')}, and the batch has {stored.lines:,}"
    if read.prefix == stored.prefix:
        return "its lines are the same, apart from white space at their ends"
    return f"its first {pluralize(stored.lines, 'line')} differ from the batch's, perhaps only in white space or in the order of keys"

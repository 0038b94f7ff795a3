"""The scoreboard: memory shared by the parent and its children, in which each child records its current job.

The parent reads there what a child was doing when it hangs or has died.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass

_SLOTS_SPARE = 64  #: for dead children not handled yet, and to reduce collisions
_SLOT_BYTES = 512
_WORDS = _SLOT_BYTES // 8
_TEXT_BYTES = 400
(
    _PID,
    _SEQUENCE,
    _LINE,
    _JOB,
    _RUNNING,
    _BUSY,
    _JOBS_DONE,
    _CHUNKS_DONE,
    _TEXT_LENGTH,
    _MEMORY,
    _MESSAGES,
    _CHUNKS_LEFT,
) = range(12)
_TEXT_OFFSET = _SLOT_BYTES - _TEXT_BYTES


@dataclass(frozen=True, slots=True)
class Assignment:
    """A child's execution of a chunk."""

    batch: str
    chunk: str
    token: str

    def __str__(self) -> str:
        """Return the chunk and the batch, without the token."""
        return f"chunk {self.chunk} of batch {self.batch}"


@dataclass(frozen=True, slots=True)
class SlotSnapshot:
    """The content of a slot at one moment."""

    pid: int
    sequence: int  #: incremented by each job
    line: int | None  #: the running job's line, by index in its chunk; None between jobs
    job: int
    work: Assignment | None


class Slot:
    """One child's slot on the scoreboard; writes take nanoseconds, because each job needs several."""

    def __init__(self, memory: memoryview, index: int) -> None:
        start = index * _SLOT_BYTES
        self._words = memory[start : start + _SLOT_BYTES].cast("q")
        self._text = memory[start + _TEXT_OFFSET : start + _SLOT_BYTES]

    def begin(self, line: int, job: int) -> None:
        """Record that a job starts."""
        words = self._words
        words[_LINE] = line
        words[_JOB] = job
        words[_SEQUENCE] += 1
        words[_RUNNING] = 1

    def end(self) -> None:
        """Record that no job is running."""
        self._words[_RUNNING] = 0

    def enter(self, work: Assignment) -> None:
        """Record that the child starts a chunk."""
        text = f"{work.batch}\n{work.chunk}\n{work.token}".encode()[:_TEXT_BYTES]
        self._words[_BUSY] = 0
        self._text[: len(text)] = text
        self._words[_TEXT_LENGTH] = len(text)
        self._words[_SEQUENCE] += 1
        self._words[_RUNNING] = 0
        self._words[_BUSY] = 1

    def leave(self, jobs: int) -> None:
        """Record that the child is done with its chunk, and how many jobs it graded; 0 if it gave the chunk back."""
        self._words[_BUSY] = 0
        self._words[_RUNNING] = 0
        self._words[_JOBS_DONE] += jobs
        self._words[_CHUNKS_DONE] += jobs > 0
        self._words[_CHUNKS_LEFT] += 1

    def note_message(self) -> None:
        """Count a message received by the child, with or without work."""
        self._words[_MESSAGES] += 1

    @property
    def messages(self) -> int:
        """Number of messages received by the child."""
        return self._words[_MESSAGES]

    def note_memory(self, used_bytes: int) -> None:
        """Record the child's memory use at start-up."""
        self._words[_MEMORY] = used_bytes

    @property
    def memory_at_start(self) -> int:
        """The child's memory use at start-up in bytes; 0 if it has not started, or if unknown."""
        return self._words[_MEMORY]

    @property
    def pid(self) -> int:
        """The child's process id; 0 if the slot is free."""
        return self._words[_PID]

    @property
    def sequence(self) -> int:
        """A number that is incremented by each job."""
        return self._words[_SEQUENCE]

    @property
    def line(self) -> int:
        """The line index of the most recent job."""
        return self._words[_LINE]

    @property
    def busy(self) -> bool:
        """True if the child has a chunk."""
        return bool(self._words[_BUSY])

    @property
    def running(self) -> bool:
        """True if a job is running."""
        return bool(self._words[_RUNNING])

    @property
    def done(self) -> tuple[int, int]:
        """Numbers of jobs and chunks graded by the child."""
        return self._words[_JOBS_DONE], self._words[_CHUNKS_DONE]

    @property
    def chunks_left(self) -> int:
        """Number of chunks that the child is done with, graded or not."""
        return self._words[_CHUNKS_LEFT]

    def take(self, pid: int) -> None:
        """Assign the slot to a child."""
        for word in range(_WORDS):
            self._words[word] = 0
        self._words[_PID] = pid

    def read(self) -> SlotSnapshot:
        """Return the current content of the slot."""
        words = self._words
        work = None
        if words[_BUSY]:
            text = bytes(self._text[: words[_TEXT_LENGTH]]).decode(errors="replace").split("\n")
            work = Assignment(*text) if len(text) == 3 else None
        line = words[_LINE] if words[_RUNNING] else None
        return SlotSnapshot(words[_PID], words[_SEQUENCE], line, words[_JOB], work)


class Scoreboard:
    """All slots, created by the parent before it forks."""

    def __init__(self, children: int) -> None:
        count = 4 * children + _SLOTS_SPARE
        memory = memoryview(mmap.mmap(-1, count * _SLOT_BYTES))
        self._slots = [Slot(memory, index) for index in range(count)]

    def take(self, pid: int) -> Slot:
        """Assign a free slot to a new child; a dead child's slot is not free until the parent has read it."""
        count = len(self._slots)
        for step in range(count):
            # Start at an index from the pid, so that children that start together take different slots.
            slot = self._slots[(pid + step) % count]
            if slot.pid == 0:
                slot.take(pid)
                return slot
        raise RuntimeError(f"all {count} slots for children are taken")

    def taken(self) -> list[Slot]:
        """Return the slots that are assigned to children."""
        return [slot for slot in self._slots if slot.pid]

    def of(self, pid: int) -> Slot | None:
        """Return a child's slot."""
        return next((slot for slot in self._slots if slot.pid == pid), None)

    def free(self, slot: Slot) -> None:
        """Release a dead child's slot."""
        slot.take(0)

"""The board: memory that the parent shares with its children, where each child notes what it is at.

A child that hangs or dies cannot say so; the parent reads it here.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass

_SLOTS_SPARE = 64  #: for the dead that are not yet buried, and so that few look for the same one
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
) = range(11)
_TEXT_OFFSET = _SLOT_BYTES - _TEXT_BYTES


@dataclass(frozen=True, slots=True)
class Assignment:
    """The execution of a chunk that a child is at."""

    batch: str
    chunk: str
    token: str


@dataclass(frozen=True, slots=True)
class SlotSnapshot:
    """What a slot says at one moment."""

    pid: int
    sequence: int  #: goes up with every job
    line: int | None  #: the running job's line, by index in its chunk; None between jobs
    job: int
    work: Assignment | None


class Slot:
    """One child's slot on the board; its writes cost nanoseconds, because there are some for every job."""

    def __init__(self, memory: memoryview, index: int) -> None:
        start = index * _SLOT_BYTES
        self._words = memory[start : start + _SLOT_BYTES].cast("q")
        self._text = memory[start + _TEXT_OFFSET : start + _SLOT_BYTES]

    def begin(self, line: int, job: int) -> None:
        """Note that a job begins."""
        words = self._words
        words[_LINE] = line
        words[_JOB] = job
        words[_SEQUENCE] += 1
        words[_RUNNING] = 1

    def end(self) -> None:
        """Note that no job runs."""
        self._words[_RUNNING] = 0

    def enter(self, work: Assignment) -> None:
        """Note that the child begins a chunk."""
        text = f"{work.batch}\n{work.chunk}\n{work.token}".encode()[:_TEXT_BYTES]
        self._words[_BUSY] = 0
        self._text[: len(text)] = text
        self._words[_TEXT_LENGTH] = len(text)
        self._words[_SEQUENCE] += 1
        self._words[_RUNNING] = 0
        self._words[_BUSY] = 1

    def leave(self, jobs: int) -> None:
        """Note that the child has ended its chunk, and how many jobs it graded."""
        self._words[_BUSY] = 0
        self._words[_RUNNING] = 0
        self._words[_JOBS_DONE] += jobs
        self._words[_CHUNKS_DONE] += 1

    def note_message(self) -> None:
        """Note that the child was woken, whether or not it finds something to do."""
        self._words[_MESSAGES] += 1

    @property
    def messages(self) -> int:
        """How often the child was woken."""
        return self._words[_MESSAGES]

    def note_memory(self, held_bytes: int) -> None:
        """Note what the child holds at start-up."""
        self._words[_MEMORY] = held_bytes

    @property
    def memory_at_start(self) -> int:
        """The bytes that the child held at start-up; 0 until it has started, or where that is not known."""
        return self._words[_MEMORY]

    @property
    def pid(self) -> int:
        """Whose slot it is; 0 when free."""
        return self._words[_PID]

    @property
    def sequence(self) -> int:
        """Goes up with every job."""
        return self._words[_SEQUENCE]

    @property
    def line(self) -> int:
        """The index of the line of the job that began last."""
        return self._words[_LINE]

    @property
    def busy(self) -> bool:
        """Whether the child has a chunk at this moment."""
        return bool(self._words[_BUSY])

    @property
    def running(self) -> bool:
        """Whether a job runs at this moment."""
        return bool(self._words[_RUNNING])

    @property
    def done(self) -> tuple[int, int]:
        """Jobs and chunks that the child has done."""
        return self._words[_JOBS_DONE], self._words[_CHUNKS_DONE]

    def take(self, pid: int) -> None:
        """Make the slot a child's."""
        for word in range(_WORDS):
            self._words[word] = 0
        self._words[_PID] = pid

    def read(self) -> SlotSnapshot:
        """Return what the child noted last."""
        words = self._words
        work = None
        if words[_BUSY]:
            text = bytes(self._text[: words[_TEXT_LENGTH]]).decode(errors="replace").split("\n")
            work = Assignment(*text) if len(text) == 3 else None
        line = words[_LINE] if words[_RUNNING] else None
        return SlotSnapshot(words[_PID], words[_SEQUENCE], line, words[_JOB], work)


class Scoreboard:
    """All slots, made by the parent before it forks."""

    def __init__(self, children: int) -> None:
        count = 4 * children + _SLOTS_SPARE
        memory = memoryview(mmap.mmap(-1, count * _SLOT_BYTES))
        self._slots = [Slot(memory, index) for index in range(count)]

    def take(self, pid: int) -> Slot:
        """Return a free slot for a new child. A dead child's stays its own until the parent has read it."""
        count = len(self._slots)
        for step in range(count):
            # By pid, so that two children that start at once do not take the same one.
            slot = self._slots[(pid + step) % count]
            if slot.pid == 0:
                slot.take(pid)
                return slot
        raise RuntimeError(f"all {count} slots for children are taken")

    def taken(self) -> list[Slot]:
        """Return the slots that are some child's."""
        return [slot for slot in self._slots if slot.pid]

    def of(self, pid: int) -> Slot | None:
        """Return a child's slot."""
        return next((slot for slot in self._slots if slot.pid == pid), None)

    def free(self, slot: Slot) -> None:
        """Give a dead child's slot back."""
        slot.take(0)

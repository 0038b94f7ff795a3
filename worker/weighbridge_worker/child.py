"""What happens in a worker child: claim a chunk, grade it line by line, record it."""

from __future__ import annotations

import gc
import logging
import secrets
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from weighbridge.errors import WeighbridgeError
from weighbridge.jobs.chunk import unknown_version
from weighbridge.jobs.grading import (
    WHOLE_LINE,
    LineGrader,
    Tally,
    digest_of,
)
from weighbridge.jobs.model import SCHEMA_VERSION, ErrorCode, JobError
from weighbridge.jobs.ready import MESSAGE_LIMIT
from weighbridge.jobs.store import Store
from weighbridge.process import collect_garbage_seldom
from weighbridge_worker.board import Slot, Work
from weighbridge_worker.child_memory import ChildMemory
from weighbridge_worker.deadline import Deadline
from weighbridge_worker.deaths import Death, handle
from weighbridge_worker.endings import Endings, deferring

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.jobs.chunk import Chunk, ChunkId, Line
    from weighbridge.settings import Settings

_REST_PARTS = 64
#: Of grading, after which what graders left behind is looked for; that takes about 0.2 ms.
_GARBAGE_SECONDS = 0.02
_REST_SECONDS = 1.0  #: of work in each part of a chunk that was too slow to end
_log = logging.getLogger("weighbridge.worker")


class Child:
    """One worker child: graders built once, one connection, one slot on the board."""

    def __init__(self, settings: Settings, url: str, worker: str, slot: Slot) -> None:
        self.settings = settings
        self.slot = slot
        self._worker = worker
        self._store = Store(url)
        self._deadline = Deadline(
            slot, settings.job_deadline_seconds, settings.chunk_soft_limit_seconds / 2
        )
        self._grader_for = lru_cache(maxsize=64)(self._make_grader)
        self.endings = Endings()
        self._memory = ChildMemory(slot, settings.child_memory_limit_bytes)
        collect_garbage_seldom()
        self._memory.note_start()

    @deferring
    def grade(
        self, batch: str, chunk: ChunkId, version: int, publish: Callable[[str, ChunkId], None]
    ) -> str:
        """Grade a chunk, unless it is done or somebody else's, and return what became of it."""
        token = f"{self._worker}/{secrets.token_hex(8)}"
        claim = self._store.claim(batch, chunk, token, self.settings.lease_seconds)
        if claim != "work":
            return claim
        work = Work(batch, str(chunk), token)
        self.slot.enter(work)
        jobs = 0
        try:
            stored = self._store.chunk(batch, chunk)
            if version != SCHEMA_VERSION:
                stored.refuse(unknown_version(version))
            results, tally, rest = self._grade_lines(batch, chunk, stored)
            recorded = self._store.record(batch, chunk, results, tally, rest)
            jobs = tally.jobs
        except (WeighbridgeError, SystemExit):
            # No job's fault (billiard ends a child by SystemExit): whoever is next may do better.
            self._store.release(batch, str(chunk), token)
            raise
        except BaseException as error:  # noqa: BLE001 - a grader may raise anything
            # As if the child had died of it: given back as it is, the chunk would come round for ever.
            _log.exception("grading chunk %s of %s failed", chunk, batch)
            handle(_failure(work, error), self._store, publish, self.settings.observed_deaths_limit)
            return "failed"
        finally:
            gc.collect()
            self.slot.leave(jobs)
            if self._memory.keeps_too_much():
                _log.info("this child keeps memory of its jobs, and is replaced")
                self.endings.ask()
        if recorded != "late":
            for part, _ in rest:
                publish(batch, part)
        return recorded

    def _grade_lines(
        self, batch: str, chunk: ChunkId, stored: Chunk
    ) -> tuple[bytes, Tally, list[tuple[ChunkId, int]]]:
        grader = self._grader_for(batch)
        condemned = {
            job: JobError(*verdict.split("\n"))
            for job, verdict in self._store.condemned(batch, chunk).items()
        }
        tally, results, start = Tally(), [], time.perf_counter()
        rest: list[tuple[ChunkId, int]] = []
        collected = 0.0
        lines = list(stored.lines(chunk))
        with self._deadline.watching():
            for done, line in enumerate(lines):
                elapsed = time.perf_counter() - start
                if elapsed > self.settings.chunk_budget_seconds and done:
                    rest = _rest_of(
                        chunk, stored, grader, lines[done:], per_part=_REST_SECONDS * done / elapsed
                    )
                    break
                if elapsed - collected > _GARBAGE_SECONDS:
                    gc.collect()
                    collected = elapsed
                refused = self._memory.refusal(line) or condemned
                results.append(grader.grade(line, tally, self.slot, refused))
        tally.grade_us = int((time.perf_counter() - start) * 1e6)
        blob = b"".join(results)
        tally.digest = digest_of(blob)
        return blob, tally, rest

    def _make_grader(self, batch: str) -> LineGrader:
        return LineGrader(self._store.options(batch).graders)


def _failure(work: Work, error: BaseException) -> Death:
    memory = isinstance(error, MemoryError)
    cause = ErrorCode.OUT_OF_MEMORY if memory else ErrorCode.GRADER_CRASHED
    return Death(work, None, WHOLE_LINE, cause, f"{type(error).__name__}: {error}"[:MESSAGE_LIMIT])


def _rest_of(
    chunk: ChunkId, stored: Chunk, grader: LineGrader, lines: list[Line], *, per_part: float
) -> list[tuple[ChunkId, int]]:
    """Cut what is left of a chunk into parts that other children can take."""
    size = max(1, int(per_part), -(-len(lines) // _REST_PARTS))
    starts = list(range(0, len(lines), size))
    ends = [lines[start].index for start in starts[1:]] + [stored.end_of(chunk)]
    return [
        (chunk.part(lines[start].index, end), sum(map(grader.jobs_of, lines[start : start + size])))
        for start, end in zip(starts, ends, strict=True)
    ]

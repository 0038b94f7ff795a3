"""The work of a worker child: claim a chunk, grade it line by line, record the results."""

from __future__ import annotations

import logging
import secrets
import time
from functools import cache, partial
from typing import TYPE_CHECKING

from weighbridge.child_process import RecentGarbage, collect_garbage_seldom
from weighbridge.errors import BatchError, WeighbridgeError
from weighbridge.graders.registry import default_registry
from weighbridge.grading.grader_cache import MESSAGE_LIMIT, GraderCache
from weighbridge.grading.line_grader import WHOLE_LINE, LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.capabilities import Lane, Need
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.store import CLAIM_SECONDS, Store, unpacked
from weighbridge.store.worker_registry import WorkerRegistry
from weighbridge_worker.child.child_memory import ChildMemory
from weighbridge_worker.child.deadline import Deadline
from weighbridge_worker.child.deferred_signals import DeferredSignals, deferring
from weighbridge_worker.poison_isolation import Death, put_back_after_death
from weighbridge_worker.scoreboard import Assignment, Slot

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from weighbridge.jobs.chunk import Chunk, ChunkId, Line
    from weighbridge.settings import Settings
    from weighbridge.store import ClaimResult
    from weighbridge_worker.child_cgroups import ChildCgroups
    from weighbridge_worker.child_lock import ChildLock

_REST_PARTS = 64  #: parts, at most, into which the rest of a chunk over its time budget is split
_BATCHES_KEPT = 64  #: most recent batches whose graders are kept
_HOPS = 100  #: how often a message that only other workers can process is forwarded, at most
_HOP_SECONDS = 0.05  #: pause before it is forwarded
_UNREADABLE_SECONDS = 30.0  #: pause before a chunk of a batch with unreadable data is claimed again
#: Grading time between garbage collections.
_GARBAGE_SECONDS = 0.02
_REST_SECONDS = 1.0  #: grading time per part of a chunk that exceeded its time budget
_log = logging.getLogger("weighbridge.worker")


class Child:
    """One worker child, with cached graders, one connection, and one slot on the scoreboard."""

    def __init__(
        self,
        settings: Settings,
        url: str,
        worker: str,
        slot: Slot,
        lock: ChildLock,
        cgroups: ChildCgroups,
        wake: Callable[[str, int], None],
    ) -> None:
        self.settings = settings
        self.slot = slot
        self._worker = worker
        self._store = Store(url)
        self._worker_registry = WorkerRegistry(self._store.redis)
        self._lock = lock
        self._wake = wake
        self._deadline = Deadline(
            slot, settings.job_deadline_seconds, settings.chunk_soft_limit_seconds / 2
        )
        self._ready = GraderCache()  # for all batches, because most use the same few graders
        self._graders: dict[str, tuple[LineGrader, Mapping[str, int]]] = {}  #: by batch
        self.endings = DeferredSignals()
        self._memory = ChildMemory(slot, settings.child_memory_limit_bytes, cgroups)
        self._garbage = RecentGarbage()
        collect_garbage_seldom()
        self._memory.note_start()

    @deferring
    def grade_next(self, lane: str, hops: int) -> str:
        """Grade the next chunk that is due, and return the outcome for the log."""
        self.slot.note_message()
        if lane and not Lane.parse(lane).is_met_by(_own_graders()):
            self._forward(lane, hops)
            return "handed on"
        token = f"{self._worker}/{secrets.token_hex(8)}"
        claim = self._store.claim_next(
            self.settings.queue, token, self.settings.lease_seconds, lane
        )
        if claim is None:
            return "nothing to do"
        if lane:
            self._wake(lane, 0)  # each message stands for all chunks in the lane
        started = time.monotonic()
        outcome = self._grade(claim)
        if claim.contended:
            seconds = time.monotonic() - started - CLAIM_SECONDS
            self._store.charge(claim.batch, self.settings.queue, seconds, lane)
        return outcome

    def _forward(self, lane: str, hops: int) -> None:
        """Forward a message to workers with the capabilities that this one lacks."""
        if hops < _HOPS:
            time.sleep(_HOP_SECONDS)
            self._wake(lane, hops + 1)

    def _grade(self, claim: ClaimResult) -> str:
        work = Assignment(claim.batch, str(claim.chunk), claim.token)
        self.slot.enter(work)
        suspect = bool(claim.info.suspicions)
        jobs = 0
        try:
            with self._lock.exclusive() if suspect else self._lock.shared():
                outcome, jobs = self._grade_and_record(claim)
        except (WeighbridgeError, SystemExit) as error:
            # Not caused by a job (billiard ends a child by SystemExit): another worker may succeed.
            pause = _UNREADABLE_SECONDS if isinstance(error, BatchError) else 0.0
            self._store.release(claim.batch, str(claim.chunk), claim.token, pause_seconds=pause)
            raise
        except BaseException as error:  # noqa: BLE001 - a grader may raise anything
            # Handled like a child's death, because an unchanged chunk would fail again and again.
            _log.exception("unexpected error in grading %s, which is put back", work)
            put_back_after_death(
                _failure(work, error), self._store, self.settings.observed_deaths_limit
            )
            self._wake("", 0)
            return "failed"
        finally:
            self._garbage.collect_all()
            self.slot.leave(jobs)
            if self._memory.keeps_too_much():
                _log.info("replacing this child: it still uses much memory after its jobs")
                self.endings.request_end()
        return outcome

    def _grade_and_record(self, claim: ClaimResult) -> tuple[str, int]:
        """Return the outcome of a chunk, and the number of its jobs that were graded."""
        batch, chunk = claim.batch, claim.chunk
        stored = unpacked(claim.payload, claim.info.jobs)
        if not claim.info.anyway and (lane := self._lane_for(self._missing(claim, stored))):
            return self._set_aside(claim, lane), 0
        results, tally, rest = self._grade_lines(claim, stored)
        if not claim.info.anyway and (lane := self._lane_for(_unknown_graders(tally))):
            return self._set_aside(claim, lane), 0
        recorded = self._store.record(batch, chunk, results, tally, rest)
        if recorded != "late":
            for _ in rest:
                self._wake("", 0)
        return recorded, tally.jobs

    def _missing(self, claim: ClaimResult, stored: Chunk) -> list[Need]:
        """Return the capabilities for a chunk that this worker is already known to lack before grading it."""
        if stored.schema_version != SCHEMA_VERSION:
            return [Need(version=stored.schema_version)]
        versions, own = self._grader_for(claim)[1], _own_graders()
        needs = [Need(grader, version) for grader, version in versions.items()]
        return [need for need in needs if not need.is_met_by(own, SCHEMA_VERSION)]

    def _lane_for(self, missing: Sequence[Need]) -> str:
        """Return the lane of the workers with the missing capabilities; "" if there are no such workers."""
        lane = Lane.of(missing)
        timeout = self.settings.capability_timeout_seconds
        return (
            str(lane)
            if missing and self._worker_registry.has_had(self.settings.queue, lane, timeout)
            else ""
        )

    def _set_aside(self, claim: ClaimResult, lane: str) -> str:
        _log.info("chunk %s of batch %s is left to workers with %s", claim.chunk, claim.batch, lane)
        self._store.set_aside(claim.batch, str(claim.chunk), claim.token, self.settings.queue, lane)
        self._wake(lane, 0)
        return "set aside"

    def _grade_lines(
        self, claim: ClaimResult, stored: Chunk
    ) -> tuple[bytes, Tally, list[tuple[ChunkId, int]]]:
        chunk = claim.chunk
        grader = self._grader_for(claim)[0]
        quarantined = claim.info.faults
        observer = (
            _JobRecorder(self.slot, partial(self._record_job, claim))
            if claim.info.suspicions
            else self.slot
        )
        largest = self._memory.largest_line_bytes
        tally, results, start = Tally(), [], time.perf_counter()
        rest: list[tuple[ChunkId, int]] = []
        collected = 0.0
        lines = list(stored.lines(chunk))
        with self._deadline.enforced():
            for done, line in enumerate(lines):
                elapsed = time.perf_counter() - start
                if elapsed > self.settings.chunk_budget_seconds and done:
                    rest = _rest_of(
                        chunk, stored, grader, lines[done:], per_part=_REST_SECONDS * done / elapsed
                    )
                    break
                if elapsed - collected > _GARBAGE_SECONDS:
                    self._garbage.collect()
                    collected = elapsed
                refused = quarantined
                if len(line.raw) > largest:
                    refused = self._memory.refusal(line) or quarantined
                results.append(grader.grade(line, tally, observer, refused))
        tally.grade_us = int((time.perf_counter() - start) * 1e6)
        return b"".join(results), tally, rest

    def _record_job(self, claim: ClaimResult, line: int, job: int) -> None:
        """Record the current job of a suspect chunk in the store, in case it kills the whole worker."""
        lease, at = self.settings.lease_seconds, f"{line} {job}"
        self._store.renew(claim.batch, str(claim.chunk), claim.token, lease, at)

    def _grader_for(self, claim: ClaimResult) -> tuple[LineGrader, Mapping[str, int]]:
        """Return the grader of the lines of a claim's batch, and the least versions of its graders."""
        made = self._graders.pop(claim.batch, None)
        if made is None:
            options = self._store.options(claim.batch, claim.options)
            made = LineGrader(options.graders, ready=self._ready), options.versions
        self._graders[claim.batch] = made
        if len(self._graders) > _BATCHES_KEPT:
            del self._graders[next(iter(self._graders))]
        return made


class _JobRecorder:
    """Records each job in the store, and then on the scoreboard."""

    def __init__(self, slot: Slot, record_job: Callable[[int, int], None]) -> None:
        self._slot = slot
        self._record_job = record_job

    def begin(self, line: int, job: int) -> None:
        self._record_job(line, job)
        self._slot.begin(line, job)

    def end(self) -> None:
        self._slot.end()


@cache
def _own_graders() -> dict[str, int]:
    return default_registry().versions()


def _unknown_graders(tally: Tally) -> list[Need]:
    """Return the graders of jobs that this worker does not have."""
    return [
        Need(grader)
        for _, grader, _, cause, _ in tally.jobs_by
        if cause == ErrorCode.UNKNOWN_GRADER and grader
    ]


def _failure(work: Assignment, error: BaseException) -> Death:
    memory = isinstance(error, MemoryError)
    cause = ErrorCode.OUT_OF_MEMORY if memory else ErrorCode.GRADER_CRASHED
    how = f"{type(error).__name__}: {error}"[:MESSAGE_LIMIT]
    return Death(work, None, WHOLE_LINE, cause, how, was_survived=True)


def _rest_of(
    chunk: ChunkId, stored: Chunk, grader: LineGrader, lines: list[Line], *, per_part: float
) -> list[tuple[ChunkId, int]]:
    """Split the rest of a chunk into parts that other children can grade."""
    size = max(1, int(per_part), -(-len(lines) // _REST_PARTS))
    starts = list(range(0, len(lines), size))
    numbers = [stored.first_line + lines[start].index for start in starts]
    ends = [*numbers[1:], chunk.end]
    return [
        (chunk.part(number, end), sum(map(grader.jobs_of, lines[start : start + size])))
        for start, number, end in zip(starts, numbers, ends, strict=True)
    ]

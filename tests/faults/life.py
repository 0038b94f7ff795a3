"""The life of one batch: submitted, watched, collected, perhaps cancelled and retried, judged, and deleted."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from faults.checker import (
    Row,
    Violation,
    check_collected,
    check_counts,
    check_results,
    check_tally,
    finished,
    parse,
)
from faults.surfaces import CliReader, HttpReader, PythonReader, Reader, Refused

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from faults.incidents import Incidents
    from faults.surfaces import Submissions
    from faults.workload import Plan

FINAL = frozenset({"completed", "cancelled", "expired", "failed"})
GONE = frozenset({"BATCH_LOST", "BATCH_NOT_FOUND", "BATCH_EXPIRED"})
#: refusals of a server that is away, full or being changed, and of a producer that was killed: ask again
PASSING = frozenset(
    {
        "",
        "KILLED",
        "REDIS_ERROR",
        "REDIS_UNAVAILABLE",
        "REDIS_FULL",
        "IDEMPOTENCY_KEY_IN_USE",
        "TOO_MANY_UPLOADS",
        "TOO_MANY_STREAMS",
        "UPLOAD_SILENT",
        "INTERNAL_ERROR",
    }
)
_POLL_SECONDS = 0.4
_COLLECTED_SECONDS = 150.0
_SLACK_SECONDS = 1.0  #: between an answer and the time that we note it


@dataclass
class Surroundings:
    """What every batch of a soak shares."""

    folder: Path
    incidents: Incidents
    submissions: Submissions
    cli: CliReader
    http: HttpReader
    redis_url: str
    patience_seconds: float = 300.0
    #: set once a batch has a result
    working: threading.Event = field(default_factory=threading.Event)


@dataclass
class Outcome:
    """What became of one batch."""

    name: str
    kind: str
    end: str = ""  #: judged, or lost where that was allowed, or stuck
    jobs: int = 0  #: results that were found right
    resumed: int = 0
    retried: int = 0
    started_over: int = 0  #: collections that a rolled-back server had outdated
    violations: list[Violation] = field(default_factory=list)
    batch: str | None = None


class Lost(Exception):  # noqa: N818 - an outcome, not an error
    """The batch is gone, as its server's forgetting allows."""


class Life:
    """One batch from its submission to its deletion: `Life(plan, surroundings, rng).live()`."""

    def __init__(self, plan: Plan, around: Surroundings, rng: random.Random) -> None:
        self._plan = plan
        self._around = around
        self._rng = rng
        self._python = PythonReader(around.redis_url)
        self._began = time.monotonic()
        self._sealed_at = self._known_at = 0.0
        self._counts: dict[str, int] | None = None
        self._counts_at = 0.0
        self._path = plan.write(around.folder)
        self.outcome = Outcome(plan.name, plan.kind)

    def live(self) -> Outcome:
        """Do all of it; whatever must not be is among the outcome's violations."""
        try:
            self._submit()
            self._watch_and_judge()
        except Lost:
            self.outcome.end = "lost"
        except TimeoutError as stuck:
            self.outcome.end = "stuck"
            self._object("stuck", str(stuck))
        finally:
            self._python.close()
            self._path.unlink(missing_ok=True)
        return self.outcome

    @property
    def _id(self) -> str:
        assert self.outcome.batch
        return self.outcome.batch

    def _object(self, kind: str, detail: str) -> None:
        self.outcome.violations.append(
            Violation(kind, self.outcome.batch or self._plan.name, detail)
        )

    def _reader(self) -> Reader:
        """Return one of the ways to ask; the command is the dearest, and asked the least."""
        dice = self._rng.random()
        if dice < 0.05:
            return self._around.cli
        return self._python if dice < 0.6 else self._around.http

    # Submitting

    def _submit(self) -> None:
        """Submit the file, by as many producers as it takes."""
        while True:
            try:
                batch = self._submit_once()
            except Refused as refused:
                self._after_refusal(refused)
            else:
                if self.outcome.batch is None:
                    self.outcome.batch, self._known_at = batch, time.monotonic()
                self._sealed_at = time.monotonic()
                return

    def _submit_once(self) -> str:
        around = self._around
        if self._plan.surface == "http" and self.outcome.batch is None:
            return around.http.upload(self._path, self._plan.name)
        return around.submissions.run(self._plan.surface, self._path, self.outcome.batch)

    def _after_refusal(self, refused: Refused) -> None:
        """Find the batch that an interrupted producer has begun, to go on with it."""
        self._pause(f"submitting: {refused}")
        self.outcome.resumed += 1
        if refused.code in GONE or refused.code == "IDEMPOTENCY_KEY_SPENT":
            self._gone(refused)
        if refused.code not in PASSING:
            self._object("refused", f"submitting: {refused}")
        if self.outcome.batch is None and self._plan.surface != "http":
            began = time.monotonic()
            listed = self._ask(self._around.cli.batches)
            ours = [told["batch_id"] for told in listed if told["source"] == self._path.name]
            if ours:
                self.outcome.batch, self._known_at = ours[0], began

    def _gone(self, refused: Refused) -> None:
        """Accept that a batch is gone if what opened it may be forgotten; else object."""
        incidents = self._around.incidents
        excused = (
            incidents.excuse(self._known_at - _SLACK_SECONDS)
            if self._known_at
            else incidents.any_since(self._began)
        )
        if not excused:
            self._object("lost", f"the batch is gone: {refused}")
        raise Lost

    def _ask(self, question: Any, *arguments: Any) -> Any:
        """Ask until there is an answer."""
        while True:
            try:
                return question(*arguments)
            except Refused as refused:
                if refused.code in GONE:
                    self._gone(refused)
                if refused.code not in PASSING:
                    raise
                self._pause(str(refused))

    def _pause(self, why: str) -> None:
        """Wait a little before asking again."""
        if time.monotonic() > self._began + self._around.patience_seconds:
            raise TimeoutError(f"after {self._around.patience_seconds:g} s, {why}; {self._counts}")
        time.sleep(_POLL_SECONDS)

    # Watching

    def _status(self) -> dict[str, Any]:
        """Return the status, having judged its counts."""
        asked_at = time.monotonic()
        status: dict[str, Any] = self._ask(self._reader().status, self._id)
        may_fall = self._around.incidents.any_since(self._counts_at)
        before = None if may_fall else self._counts
        self.outcome.violations += check_counts(self._id, status["counts"], before)
        if status["nondeterministic"]:
            self._object("wrong", f"{status['nondeterministic']} chunks came out differently")
        self._counts, self._counts_at = status["counts"], asked_at
        if finished(status["counts"]):
            self._around.working.set()
        return status

    def _watch_and_judge(self) -> None:
        collector = Collector(self._python, self._around, self._id, self._rng)
        if self._plan.reading == "follow":
            collector.start_following()
        try:
            self._until_ended(collector)
        finally:
            collector.stop()
        if self._plan.cancelled:
            self._retry_until_completed()
        self._delete()
        self.outcome.end = "judged"

    def _until_ended(self, collector: Collector) -> None:
        """Watch the batch to its end, and judge it there."""
        cancelled = False
        while True:
            mark = time.monotonic()
            status = self._status()
            if status["status"] in FINAL:
                if self._judge(status, mark, collector):
                    return
            else:
                self._see_to_its_seal(status, mark)
                collector.step()
                if self._plan.cancelled and not cancelled and finished(status["counts"]):
                    self._ask(self._reader().cancel, self._id)
                    cancelled = True
            self._pause(f"the batch says {status}")

    def _see_to_its_seal(self, status: dict[str, Any], mark: float) -> None:
        """Resume a batch whose end the server has forgotten; nothing else may unseal one."""
        if status["sealed"] or status["status"] == "cancelling":
            return
        if not self._around.incidents.excuse(self._sealed_at - _SLACK_SECONDS):
            self._object("claim", f"not sealed, though nothing was forgotten: {status}")
        if not self._around.incidents.excuse(mark):
            self._submit()

    def _judge(self, status: dict[str, Any], mark: float, collector: Collector) -> bool:
        """Judge an ended batch; return False if the server forgot something meanwhile: look again."""
        rows = self._read_afresh()
        if self._around.incidents.any_since(mark):
            return False
        undone_allowed = self._plan.cancelled and status["status"] == "cancelled"
        if status["status"] != "completed" and not undone_allowed:
            self._object("claim", f"the batch ended as {status}")
        self.outcome.violations += [
            *check_results(self._id, self._plan.expected, rows, undone_allowed=undone_allowed),
            *check_tally(self._id, status["counts"], rows),
        ]
        collected = collector.finish()
        if collected is None and not self._around.incidents.any_since(mark):
            self._object("cursor", "the results could not be collected to their end")
        if collected is not None and not self._around.incidents.any_since(mark):
            self.outcome.started_over += collector.started_over
            repeats = self._around.incidents.any_since(collector.began)
            if collector.started_over and not repeats:
                self._object("cursor", "a cursor was stale, though nothing was forgotten")
            self.outcome.violations += check_collected(
                self._id, collected, rows, repeats_allowed=repeats
            )
        self.outcome.jobs = len(rows)
        return True

    def _read_afresh(self) -> list[Row]:
        dice = self._rng.random()
        if dice < 0.3:
            lines = self._ask(self._around.http.all_lines, self._id)
        elif dice < 0.4:
            lines = self._ask(self._around.cli.page, self._id, None)[0]
        else:
            lines = self._ask(self._python.page, self._id, None)[0]
        return [parse(line) for line in lines]

    # Ending

    def _retry_until_completed(self) -> None:
        """Have what was cancelled graded after all."""
        while True:
            mark = time.monotonic()
            status = self._ask(self._reader().status, self._id)
            if status["status"] == "cancelled":
                self._ask(self._reader().retry, self._id)
                self.outcome.retried += 1
            elif status["status"] == "completed":
                rows = self._read_afresh()
                if not self._around.incidents.any_since(mark):
                    break
            self._see_to_its_seal(status, mark)
            self._pause(f"after the retry the batch says {status}")
        self.outcome.violations += [
            *check_counts(self._id, status["counts"]),
            *check_results(self._id, self._plan.expected, rows),
            *check_tally(self._id, status["counts"], rows),
        ]

    def _delete(self) -> None:
        """Delete the batch; that it is gone already is what a lost answer leaves behind."""
        while True:
            try:
                self._reader().delete(self._id)
            except Refused as refused:
                if refused.code in GONE:
                    return
                if refused.code not in PASSING:
                    raise
                self._pause(f"deleting: {refused}")
            else:
                return


class Collector:
    """Collects the results of one batch while they come, interrupted and resumed by cursor."""

    def __init__(
        self, reader: PythonReader, around: Surroundings, batch: str, rng: random.Random
    ) -> None:
        self._reader = reader
        self._around = around
        self._batch = batch
        self._rng = rng
        self._rows: list[Row] = []
        self._cursor: str | None = None
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._failed: Refused | None = None
        self.began = time.monotonic()
        self.started_over = 0

    def start_following(self) -> None:
        """Follow the results from a thread of their own."""
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def step(self) -> None:
        """Collect what is there, if it is not followed."""
        if self._thread is None:
            self._collect(follow=False)

    def stop(self) -> None:
        """Follow no longer."""
        self._stopped.set()

    def finish(self) -> list[Row] | None:
        """Return all that was collected of an ended batch; None when it never got to the end."""
        if self._thread is None:
            deadline = time.monotonic() + _COLLECTED_SECONDS
            while not self._collect(follow=False):
                if time.monotonic() > deadline or self._failed:
                    return None
                time.sleep(_POLL_SECONDS)
            return self._rows
        self._thread.join(_COLLECTED_SECONDS)
        return None if self._thread.is_alive() or self._failed else self._rows

    def _follow(self) -> None:
        while not self._collect(follow=True) and not self._stopped.is_set():
            time.sleep(_POLL_SECONDS)

    def _collect(self, *, follow: bool) -> bool:
        """Collect from where it stopped; whether it got to the end of what there is."""
        try:
            for lines, cursor in self._reader.pages(self._batch, self._cursor, follow=follow):
                self._rows += map(parse, lines)
                self._cursor = cursor
                if self._rng.random() < 0.05:
                    return False  # stop here, and go on from the cursor
        except Refused as refused:
            if refused.code == "STALE_CURSOR":
                self._rows, self._cursor = [], None
                self.started_over += 1
            elif refused.code in GONE:
                self._failed = refused
                self._stopped.set()
            return False
        return True

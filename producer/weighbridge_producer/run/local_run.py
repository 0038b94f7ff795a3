"""`weighbridge run`: a whole run on this machine, from reading the input to writing the outputs."""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weighbridge.embedded.server import EmbeddedServer
from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    ChunkConflictError,
    ResultsIncompleteError,
    ServerFullError,
    WeighbridgeError,
)
from weighbridge.settings import GIB, masked
from weighbridge.text import pluralize
from weighbridge_producer.client.line_intervals import IntervalSet
from weighbridge_producer.gating.slices import slices_of_file
from weighbridge_producer.reports.forms import absolute, goes_to_stdout, is_plain_stdout
from weighbridge_producer.reports.recorded_verdicts import recorded_verdicts
from weighbridge_producer.reports.report import Report
from weighbridge_producer.reports.weak_passes import weak_passes
from weighbridge_producer.run.cases_of_results import cases_in, numbered_cases
from weighbridge_producer.run.checkpoints import Checkpoints
from weighbridge_producer.run.examples import first_examples
from weighbridge_producer.run.first_errors import NO_ERRORS, first_errors
from weighbridge_producer.run.judging import judging
from weighbridge_producer.run.local_worker import LocalWorker
from weighbridge_producer.run.outputs import deliver, write_each
from weighbridge_producer.run.result_file import (
    GrowingFile,
    SortedPart,
    add_cases,
    copy_out,
    results_path,
    sort_by_line,
)
from weighbridge_producer.run.run_folder import Collected, RunState, state_root
from weighbridge_producer.run.run_report import Progress, RunReport
from weighbridge_producer.run.run_workers import (
    await_ready,
    release_chunks_of_dead_workers,
    release_chunks_of_run_before,
)
from weighbridge_producer.run.uncalled_tools import uncalled_tools

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.settings import Settings
    from weighbridge_producer.client.collector import Collector
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.client.redis_client import RedisClient
    from weighbridge_producer.run.options import RunOptions

_LOOK_SECONDS = 0.2
_WATCH_SECONDS = 1.0  #: between checks that the server still has all submitted chunks
#: with --fail-fast, because a chunk that has begun is graded to its end
_FAIL_FAST_CHUNK_JOBS = 256
#: A private server is always its own broker, and its batches need not expire early to free memory.
_PRIVATE = {"broker_url": None, "batch_expiry_seconds": 30 * 24 * 3600}
_CAUSES_WITH_EXAMPLES = 10  #: per label
_LEAVE_SECONDS = 5.0  #: limit for the threads to end; a thread that is reading a pipe may not


class LocalRun:
    """One run: `report = LocalRun(...).go()`; if interrupted, it leaves a folder from which the next run resumes."""

    def __init__(
        self,
        options: RunOptions,
        settings: Settings,
        show: Callable[[Progress], None],
        stdout: BinaryIO | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
        on_restart: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Prepare a run; `on_wait` is called with the reason when an output has to wait.

        `on_restart` is called with the reason when an interrupted run cannot be continued, so that this one starts at
        the first line.
        """
        self._options = options
        self._settings = settings
        self._show = show
        self._stdout = stdout
        self._on_wait = on_wait
        self._on_restart = on_restart
        self._source = options.source
        self._rereadable = self._source.rereadable and not options.once
        self._in_order = options.sort or options.with_cases
        #: True if result lines go to standard output as they arrive
        self._streams = not self._in_order and any(map(is_plain_stdout, options.outputs))
        root = state_root(settings)
        self.state = RunState.begin(root, self._key(), resumable=self._rereadable)
        self.server = masked(options.url) if options.url else ""
        self.stuck = False  #: True if a thread is still waiting for input that may never come
        self._progress = Progress()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._cut_short = False
        self._started = 0.0

    def _key(self) -> dict[str, Any]:
        options = self._options
        return {
            **(self._source.identity() if self._rereadable else {}),
            **judging(options.graders, self._settings),
            "outputs": list(map(absolute, options.outputs)),
            "server": masked(options.url or ""),
        }

    @property
    def saved_nothing(self) -> bool:
        """True if the run has saved no result, and none is on a shared server."""
        return self._options.url is None and not self.state.collected.rows

    @property
    def finished_nothing(self) -> bool:
        """True if no result has reached the run, and none is on a shared server."""
        path = Path(self.state.results) if self.state.results else None
        has_results = path is not None and path.is_file() and path.stat().st_size > 0
        return self.saved_nothing and not has_results

    def go(self) -> RunReport:
        """Run to the end and return the report; after an exception the run can be resumed from `state.folder`."""
        private = self._options.url is None
        with ExitStack() as stack:
            if self._options.url:
                from weighbridge_producer.client.connection_check import check_connection

                check_connection(self._options.url)
            url = self._options.url or stack.enter_context(self._private_server()).url
            settings = self._batch_settings(private=private)
            broker = settings.broker_url.get_secret_value() if settings.broker_url else None
            worker = LocalWorker(
                url, self._options.workers, self.state.folder / "worker.log", broker
            )
            # On a shared server the worker may be grading others' batches, and must finish its chunks.
            stack.callback(worker.stop, at_once=private)
            # Imported here, so that the import overlaps with the start of the worker.
            from weighbridge_producer.client.redis_client import RedisClient

            client = stack.enter_context(RedisClient(url, settings=settings))
            batch, resumed = self._batch(client)
            self._report_progress("starting workers")
            await_ready(worker, client, self.state.folder / "worker.log")
            if private and resumed:
                release_chunks_of_run_before(batch, client, worker)
            try:
                report = self._grade(client, batch, worker, resumed=resumed)
            except ChunkConflictError as error:
                if not resumed:
                    raise
                batch = self._batch_for_changed_lines(client, batch, error)
                report = self._grade(client, batch, worker, resumed=False)
            if not private:
                batch.delete()
        self.state.remove()
        return report

    def _batch_settings(self, *, private: bool) -> Settings:
        changed: dict[str, Any] = dict(_PRIVATE) if private else {}
        if self._options.fail_fast:
            most = min(self._settings.chunk_limit_jobs, _FAIL_FAST_CHUNK_JOBS)
            changed["chunk_limit_jobs"] = most
        return self._settings.model_copy(update=changed)

    def _private_server(self) -> EmbeddedServer:
        server = EmbeddedServer.start(self.state.folder / "server", maxmemory_bytes=2 * GIB)
        self.server = f"a private {server.binary.name} {server.binary.version}"
        return server

    def _batch(self, client: RedisClient) -> tuple[RedisBatch, bool]:
        if not self.state.batch:
            return self._new_batch(client), False
        batch = client.batch(self.state.batch)
        if why := self._why_not_resumed(batch):
            batch.delete()
            self._on_restart(why)
            return self._new_batch(client), False
        return batch, True

    def _new_batch(self, client: RedisClient) -> RedisBatch:
        # A file name may not be valid UTF-8, but the store's JSON must be.
        name = self._source.name.encode(errors="backslashreplace").decode()
        batch = client.open(name, self._options.graders)
        self.state.collected = Collected()
        self.state.batch, self.state.results = (
            batch.id,
            str(results_path(self._options.outputs, self.state.folder)),
        )
        self.state.save()
        return batch

    def _batch_for_changed_lines(
        self, client: RedisClient, batch: RedisBatch, conflict: ChunkConflictError
    ) -> RedisBatch:
        """Return a new batch in place of one that was started with other lines, and discard that one's results.

        Raises ChunkConflictError if some of these have been printed.
        """
        batch.delete()
        if self._streams:
            self.state.batch = ""  # nothing is left to resume
            self.state.save()
            raise ChunkConflictError(
                f"{conflict.message}; some of its results have been printed",
                "run the same command again: it starts at the first line",
            ) from conflict
        self._on_restart(f"{self._source.name} has changed since the interrupted run")
        self._stop, self._failure, self._cut_short = threading.Event(), None, False
        return self._new_batch(client)

    def _why_not_resumed(self, batch: RedisBatch) -> str:
        """Return why an interrupted run cannot be continued, as a clause; empty if it can, without loss of a result."""
        path = Path(self.state.results)
        if (path.stat().st_size if path.is_file() else 0) < self.state.collected.written_bytes:
            return f"the results of the interrupted run, {path}, are gone or cut short"
        try:
            self._collector(batch).check_nothing_was_freed()
            closing = batch.status().closing
        except BatchError as error:
            return error.message
        return f"the batch of the interrupted run was closed ({closing})" if closing else ""

    def _collector(self, batch: RedisBatch) -> Collector:
        collected = self.state.collected
        return batch.collector(collected.cursor or None, IntervalSet(collected.delivered))

    def _grade(
        self, client: RedisClient, batch: RedisBatch, worker: LocalWorker, *, resumed: bool
    ) -> RunReport:
        self._started = time.perf_counter()
        threads = [
            threading.Thread(target=self._guarded, args=work, name=name, daemon=True)
            for name, work in (
                ("feeder", (self._feed, batch)),
                ("monitor", (self._monitor, client, batch, worker)),
            )
        ]
        for thread in threads:
            thread.start()
        try:
            results, parts = self._collect(batch)
        finally:
            self._leave(threads)
        if self._failure:
            raise self._failure
        state = batch.status()
        self._check_complete(state)
        if self._in_order:
            sort_by_line(results, parts)
        summary = batch.summary()
        report = RunReport(
            state=state,
            summary=summary,
            seconds=time.perf_counter() - self._started,
            source=self._source.name,
            server=self.server,
            resumed=resumed,
            byte_order_mark=self._source.byte_order_mark,
            fail_fast=self._options.fail_fast if self._cut_short else 0,
            errored=first_errors(results, names_locations=self._source.has_locations)
            if state.counts.errored
            else NO_ERRORS,
            examples=first_examples(results, summary, _CAUSES_WITH_EXAMPLES),
            slices=slices_of_file(results, self._options.by),
            uncalled=uncalled_tools(results, self._options.graders),
            weak_passes=weak_passes(results, self._options.graders),
            recorded_verdicts=recorded_verdicts(results),
        )
        if state.counts.total:
            self._write_outputs(results, report)
        else:
            results.unlink()  # what an earlier run wrote stays
        return report

    def _write_outputs(self, results: Path, report: RunReport) -> None:
        options = self._options
        decision = report.decide(options.gates)
        if options.with_cases:
            # After a crash, a resumed run must not take the extended file for the results.
            self.state.collected = Collected()
            self.state.save()
            add_cases(results, numbered_cases(self._source), options.graders)
        made_of = Report(
            results,
            self._source.name,
            options.by_case,
            tuple(decision.gates),
            slices=tuple(report.slices.slices()),
            cases_of=cases_in(self._source),
        )
        if self._stdout and not self._streams:
            write_each(made_of, filter(goes_to_stdout, options.outputs), self._stdout)
        deliver(made_of, options.outputs, self._on_wait)

    def _check_complete(self, state: BatchState) -> None:
        """Raise ResultsIncompleteError and discard the saved progress unless every job has its result line."""
        rows = self.state.collected.rows
        if state.status.final and rows == state.counts.total:
            return
        self.state.collected = Collected()
        self.state.save()
        raise ResultsIncompleteError(
            f"{pluralize(rows, 'result line')} received for {pluralize(state.counts.total, 'job')} of batch"
            f" {state.batch_id}, which is {state.status}: Redis has lost some of them",
            "run the same command again: it grades the missing jobs again",
        )

    def _leave(self, threads: list[threading.Thread]) -> None:
        self._stop.set()
        self.stuck = True  # until the threads have ended: a second Ctrl-C may come before that
        deadline = time.monotonic() + _LEAVE_SECONDS
        for thread in threads:
            # A thread that reads a silent pipe cannot be stopped.
            waits = not self._rereadable and thread.name == "feeder"
            thread.join(0.5 if waits else max(0.0, deadline - time.monotonic()))
        self.stuck = any(thread.is_alive() for thread in threads)

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            work(*arguments)
        except BaseException as error:  # noqa: BLE001 - raised again by the collecting thread
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._stop.set()

    def _feed(self, batch: RedisBatch) -> None:
        try:
            feeder = batch.feed(
                self._source,
                on_wait=self._report_progress,
                should_stop=lambda: self._stop.is_set() or self._cut_short,
            )
        except (BatchClosedError, ServerFullError):
            if self._cut_short:
                return
            raise
        self._report_progress("")
        # If the server is restored to an older state, only this process can resubmit what is missing.
        while not self._stop.wait(_WATCH_SECONDS) and not self._cut_short:
            feeder.resubmit_lost()

    def _monitor(self, client: RedisClient, batch: RedisBatch, worker: LocalWorker) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            if worker.revive():
                self._report_progress("the workers exited and were restarted")
                if not self._options.url:  # on a shared server, other workers may be alive
                    release_chunks_of_dead_workers(client, worker)
            with suppress(WeighbridgeError):
                self._progress.state = batch.status()
            if self._source.size:
                self._progress.read_share = self._source.consumed / self._source.size
            self._show(self._progress)

    def _cancel_if_failing(self, batch: RedisBatch) -> None:
        """Cancel the remaining jobs when the number of failures recorded so far reaches `fail_fast`."""
        most = self._options.fail_fast
        if not most or self._cut_short:
            return
        state = batch.status()
        if state.counts.failed >= most and not state.status.final:
            self._cut_short = True
            batch.cancel()

    def _report_progress(self, note: str) -> None:
        self._progress.note = note
        self._show(self._progress)

    def _collect(self, batch: RedisBatch) -> tuple[Path, list[SortedPart]]:
        growing = GrowingFile(
            Path(self.state.results), keep_bytes=self.state.collected.written_bytes
        )
        stdout = self._stdout if self._streams else None
        try:
            if stdout:
                copy_out(growing.path, stdout)
            pages = self._collector(batch).pages(should_stop=self._stop.is_set)
            with Checkpoints(self.state, growing, batch.free, self._fail) as checkpoints:
                for page in pages:
                    self._cancel_if_failing(batch)
                    checkpoints.add(page)
                    if stdout:
                        stdout.write(page.lines)
                        stdout.flush()
        finally:
            growing.close()
        return growing.path, checkpoints.parts

"""Real worker processes, which reliably end with the tests."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import psutil

from support.preloaded import WORKER, ForkedProcess
from support.waiting import eventually
from weighbridge.store import Store
from weighbridge.store.worker_registry import WorkerRegistry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.store.worker_registry import WorkerInfo

PLUGINS = Path(__file__).parent / "plugins"
BY_MODULE = (sys.executable, "-m", "weighbridge_worker", "run", "--concurrency")
BY_CELERY = (
    *(sys.executable, "-m", "celery", "-A", "weighbridge_worker", "worker"),
    *("--loglevel", "info", "--concurrency"),
)


def environment(url: str, *, plug_ins: bool = True, **settings: object) -> dict[str, str]:
    """Return the environment for a process that uses a server, optionally with the misbehaving graders installed.

    Keywords are settings: `job_deadline_seconds=1` sets WEIGHBRIDGE_JOB_DEADLINE_SECONDS.
    """
    kept = {name: value for name, value in os.environ.items() if "WEIGHBRIDGE_" not in name}
    paths = [str(PLUGINS)] if plug_ins else []
    paths += [str(PLUGINS.parents[1]), kept.get("PYTHONPATH", "")]
    kept["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    kept["WEIGHBRIDGE_REDIS_URL"] = url
    return kept | {f"WEIGHBRIDGE_{name.upper()}": str(value) for name, value in settings.items()}


class WorkerProcess:
    """One worker with its children, in its own process group, which ends with the tests."""

    def __init__(
        self,
        url: str,
        concurrency: int,
        env: dict[str, str],
        log: Path,
        command: Sequence[str] = (),
    ) -> None:
        """Start it with a command, to which the concurrency is added, or else fork a preloaded worker."""
        self.url = url
        self._log = log
        self._lifeline_end, self._lifeline = multiprocessing.Pipe(duplex=False)
        start = partial(self._execute, command) if command else self._fork
        self._process = start(str(concurrency), env)
        self.pid = self._process.pid
        self._known: dict[int, psutil.Process] = {}

    def _execute(
        self, command: Sequence[str], concurrency: str, env: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        end = self._lifeline_end.fileno()
        with self._log.open("wb") as records, self._log.with_suffix(".out").open("wb") as output:
            return subprocess.Popen(
                [*command, concurrency],
                env=env | {"WEIGHBRIDGE_LIFELINE_FD": str(end)},
                pass_fds=[end],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=records,
                start_new_session=True,
            )

    def _fork(self, concurrency: str, env: dict[str, str]) -> ForkedProcess:
        output = self._log.with_suffix(".out"), self._log
        for path in output:
            path.touch()
        return ForkedProcess(
            *(WORKER, ["run", "--concurrency", concurrency], env, self._log.parent, output),
            lifeline=self._lifeline_end,
        )

    @property
    def log(self) -> str:
        """Its log so far."""
        return self._log.read_text()

    @property
    def output(self) -> str:
        """Its standard output so far."""
        return self._log.with_suffix(".out").read_text()

    def await_heartbeat(self, seconds: float = 30.0) -> WorkerInfo:
        """Wait for its first heartbeat and return it."""
        store = Store(self.url)
        try:
            return eventually(lambda: self._info(store), seconds, "the worker's heartbeat")
        finally:
            store.close()

    def info(self) -> WorkerInfo | None:
        """Return its heartbeat, or None."""
        store = Store(self.url)
        try:
            return self._info(store)
        finally:
            store.close()

    def _info(self, store: Store) -> WorkerInfo | None:
        assert self._process.poll() is None, f"the worker has ended:\n{self.log}"
        alive = WorkerRegistry(store.redis).alive()
        return next((worker for worker in alive if worker.pid == self.pid), None)

    def children(self) -> list[psutil.Process]:
        """Return its live children."""
        with suppress(psutil.NoSuchProcess):
            for child in psutil.Process(self.pid).children(recursive=True):
                self._known[child.pid] = child
        return [child for child in self._known.values() if child.is_running()]

    def await_children(self, count: int, seconds: float = 20.0) -> list[psutil.Process]:
        """Wait until it has `count` children, and return them."""
        return eventually(
            lambda: found if len(found := self.children()) >= count else [],
            seconds,
            f"{count} worker children",
        )

    def kill(self) -> None:
        """Kill the worker's main process with SIGKILL, but not its children."""
        self.children()
        self._process.kill()
        self._process.wait(10)

    def ask_to_stop(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def poll(self) -> int | None:
        """Return its exit status, or None if it is running."""
        return self._process.poll()

    def has_ended(self) -> bool:
        """Return whether it has ended."""
        self.children()
        return self._process.poll() is not None

    def await_end(self, seconds: float = 40.0) -> int:
        """Wait for its end and return its exit status."""
        self.children()
        return self._process.wait(seconds)

    def clean_up(self) -> None:
        """End all of its processes."""
        self.children()
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.kill()
        for child in self._known.values():
            with suppress(psutil.NoSuchProcess):
                child.kill()
        self._process.wait(10)
        eventually(lambda: all(map(has_ended, self._known.values())), 10, "the children's end")
        self._lifeline_end.close()
        self._lifeline.close()


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended, whether or not it was reaped."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class StartWorker(Protocol):
    """Starts a worker and, unless told otherwise, waits for its heartbeat; the worker ends with the test."""

    def __call__(
        self,
        url: str,
        concurrency: int = 2,
        *,
        command: Sequence[str] = (),
        plug_ins: bool = True,
        is_awaited: bool = True,
        **settings: object,
    ) -> WorkerProcess: ...


class KeptWorker:
    """A worker that is restarted whenever it ends, as by systemd or a container runtime."""

    def __init__(self, url: str, concurrency: int, folder: Path, **settings: object) -> None:
        self._url = url
        self._concurrency = concurrency
        self._env = environment(url, **settings)
        self._folder = folder
        self._stop = threading.Event()
        self._workers = [self._start()]
        self._thread = threading.Thread(target=self._keep, daemon=True)
        self._thread.start()

    @property
    def starts(self) -> int:
        """Number of starts."""
        return len(self._workers)

    @property
    def log(self) -> str:
        """The logs of all starts so far."""
        return "".join(worker.log for worker in self._workers)

    def stop(self) -> None:
        """Stop restarting it, and end all of its processes."""
        self._stop.set()
        self._thread.join(30)
        self._workers[-1].clean_up()

    def _start(self) -> WorkerProcess:
        log = self._folder / f"worker-{time.monotonic_ns()}.log"
        return WorkerProcess(self._url, self._concurrency, self._env, log)

    def _keep(self) -> None:
        while not self._stop.wait(0.1):
            if self._workers[-1].poll() is not None:
                self._workers[-1].clean_up()
                self._workers.append(self._start())

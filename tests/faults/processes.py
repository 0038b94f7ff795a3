"""The processes of a soak test: workers that are restarted when they end, and the HTTP service."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psutil

from support import requests
from support.preloaded import WORKER, ForkedProcess
from support.servers import free_port
from support.waiting import eventually
from support.workers import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from faults.proxy import Link

CLOCK = Path(__file__).parent / "clock"
CONCURRENCY = 2
_LOG_TAIL_BYTES = 4_000
SETTINGS = {"job_deadline_seconds": 5, "child_memory_limit_bytes": 192 << 20}


class Worker:
    """One `python -m weighbridge_worker` on a separate link and in a separate process group."""

    def __init__(
        self,
        link: Link,
        password: str,
        log: Path,
        *,
        prefix: Sequence[str] = (),
        clock_shift_seconds: float = 0,
        concurrency: int = CONCURRENCY,
        plugins: bool = True,
        preloaded: bool = False,
        **settings: object,
    ) -> None:
        """Start the worker, forked from a process with the code imported unless it has a prefix or a shifted clock."""
        self.link, self._log = link, log
        env = environment(link.url(password), **settings)
        if not plugins:
            del env["PYTHONPATH"]
        if clock_shift_seconds:
            env["FAULTS_CLOCK_SHIFT_SECONDS"] = str(clock_shift_seconds)
            env["PYTHONPATH"] = os.pathsep.join([str(CLOCK), env["PYTHONPATH"]])
        words = ["run", "--concurrency", str(concurrency)]
        self.ended_by_us = False  #: True if it was asked to end
        if preloaded:
            output = log.with_suffix(".out"), log
            self.process: subprocess.Popen[bytes] | ForkedProcess = ForkedProcess(
                WORKER, words, env, Path.cwd(), output
            )
            return
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [*prefix, sys.executable, "-m", "weighbridge_worker", *words],
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    @property
    def alive(self) -> bool:
        """True if the main process is running."""
        return self.process.poll() is None

    def exit_report(self) -> str:
        """Return the exit status of an ended worker, and the end of its log."""
        tail = self._log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace")
        return f"exit status {self.process.poll()}; the end of its log:\n{tail}"

    def main_pid(self) -> int:
        """Return the id of the process that forks the children."""
        return self.process.pid

    def children(self) -> list[psutil.Process]:
        """Return the running children."""
        with suppress(psutil.NoSuchProcess):
            return psutil.Process(self.main_pid()).children(recursive=True)
        return []

    def kill_one_child(self, rng: random.Random, how: signal.Signals) -> int | None:
        """Send a signal to one child and return its pid; None if there is no child."""
        children = self.children()
        if not children:
            return None
        child = rng.choice(children)
        with suppress(psutil.NoSuchProcess):
            child.send_signal(how)
        return child.pid

    def signal_all(self, how: signal.Signals) -> None:
        """Send a signal to the worker and all its children, as systemd does."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, how)

    def end(self, seconds: float = 60) -> None:
        """Ask the worker to finish, and kill processes that remain."""
        self.ended_by_us = True
        if self.alive:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(seconds)
        self.destroy()

    def destroy(self) -> None:
        """Kill all its processes."""
        self.ended_by_us = True
        children = self.children()
        self.signal_all(signal.SIGKILL)
        self.process.kill()
        psutil.wait_procs(children, timeout=10)
        self.process.wait(10)


class Workers:
    """Workers that are restarted when they end, as by a service manager."""

    def __init__(self, count: int, start: Callable[[], Worker]) -> None:
        self._start = start
        self._lock = threading.Lock()
        self.living = [start() for _ in range(count)]
        #: exit reports of workers that ended without being asked to
        self.unasked_ends: list[str] = []

    def __iter__(self) -> object:
        return iter(list(self.living))

    def choose(self, rng: random.Random) -> Worker:
        """Return a random worker."""
        return rng.choice(self.living)

    def replace_the_ended(self) -> None:
        """Replace each worker that has ended."""
        with self._lock:
            for place, worker in enumerate(self.living):
                if not worker.alive:
                    if not worker.ended_by_us:
                        self.unasked_ends.append(worker.exit_report())
                    worker.destroy()
                    self.living[place] = self._start()

    def end(self) -> None:
        """End all workers without restarting them."""
        with self._lock:
            for worker in self.living:
                worker.ended_by_us = True
                worker.process.terminate()
            for worker in self.living:
                worker.end()


class Service:
    """`weighbridge serve` on a port that it keeps across restarts."""

    def __init__(self, redis_url: str, log: Path) -> None:
        self._log = log
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._env = environment(redis_url)
        self._lock = threading.Lock()  # both a fault and the keeper may restart the service
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        script = Path(sys.executable).with_name("weighbridge")
        with self._log.open("ab") as output:
            return subprocess.Popen(
                [str(script), "serve", "--port", str(self.port)],
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def await_answer(self, seconds: float = 60) -> None:
        """Wait until the service answers."""

        def answers() -> bool:
            with suppress(httpx.HTTPError):
                return requests.get(f"{self.url}/healthz", timeout=5).status_code == 200
            return False

        eventually(answers, seconds, "the service's answer")

    def restart_if_ended(self) -> None:
        """Restart the service if it has ended."""
        with self._lock:
            if self.process.poll() is not None:
                self.process = self._start()

    def kill(self) -> None:
        """Send SIGKILL to the service."""
        self.process.kill()
        self.process.wait(10)

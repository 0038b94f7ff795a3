"""Weighbridge itself, used in three ways."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.task import task
from benchmarks.ways.way import READY_SECONDS, Way
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.memory import keep_freed_memory
from weighbridge.settings import read_settings
from weighbridge_producer import Client
from weighbridge_producer.input.source import Source
from weighbridge_producer.run.local_run import LocalRun
from weighbridge_producer.run.local_worker import LocalWorker
from weighbridge_producer.run.options import RunOptions
from weighbridge_producer.run.run_report import RunReport

if TYPE_CHECKING:
    from contextlib import ExitStack
    from typing import Any

    from benchmarks.turn import Clock
    from weighbridge.embedded.server import EmbeddedServer

CLI = (sys.executable, "-c", "from weighbridge_producer.cli import main; main()")


class Run(Way):
    """Equivalent of `weighbridge run` in this process, because the command cannot be paused before the measurement."""

    def take_turn(self, stack: ExitStack, clock: Clock) -> None:
        """Run, and measure from the first line read to the last result written."""
        collect_garbage_seldom()  # as the command does
        keep_freed_memory()
        os.environ["WEIGHBRIDGE_STATE_DIR"] = str(Path(task().folder) / "state")
        settings = read_settings()
        options = RunOptions(
            Source(task().cases, settings),
            parse_specs(list(task().graders)),
            (str(task().out),),
            task().workers,
        )
        way = self

        class TimedRun(LocalRun):
            def _private_server(self) -> EmbeddedServer:
                way.server = super()._private_server()
                return way.server

            def _grade(self, *given: Any, **named: Any) -> RunReport:
                clock.begin(way)
                report = super()._grade(*given, **named)
                clock.end()
                return report

        TimedRun(options, settings, lambda _: None).go()

    def start(self, stack: ExitStack) -> None:
        """Raise an error, because a run starts its own processes."""
        raise NotImplementedError

    def grade_all(self) -> None:
        """Raise an error, because a run includes its start and end."""
        raise NotImplementedError


class OverRedis(Way):
    """Python client on Redis: `submit`, then the result lines page by page."""

    numbers_each_line_1 = True

    def start(self, stack: ExitStack) -> None:
        """Start server and workers, and grade a few lines."""
        url = self.start_server(stack)
        log = Path(task().folder) / "worker.log"
        stack.enter_context(LocalWorker(url, task().workers, log))
        self._client = stack.enter_context(Client(self.address(stack, url)))
        deadline = time.monotonic() + READY_SECONDS
        while not self._client.workers():
            assert time.monotonic() < deadline, "no worker"
            time.sleep(0.02)
        with Path(task().cases).open("rb") as source:
            self._grade(list(islice(source, 4)))

    def address(self, stack: ExitStack, url: str) -> str:
        """Return the server address for the client."""
        return url

    def grade_all(self) -> None:
        """Submit the file and write the results."""
        batch = self._client.submit(Path(task().cases), graders=list(task().graders))
        with task().out.open("wb") as target:
            for page in batch.pages():
                target.write(page.lines)

    def grade_one(self, number: int, line: bytes) -> bytes:
        """Submit a batch of one line, and return its result."""
        return self._grade([line])

    def _grade(self, lines: list[bytes]) -> bytes:
        batch = self._client.submit(lines, graders=list(task().graders))
        return b"".join(page.lines for page in batch.pages())


class OverHttp(OverRedis):
    """Python client on `weighbridge serve`."""

    def address(self, stack: ExitStack, url: str) -> str:
        """Start the service and return its address."""
        command = [*CLI, "serve", "--port", "0", "--redis-url", url]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        service = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        stack.callback(service.wait)
        stack.callback(service.kill)
        assert service.stdout is not None
        return next(line for line in service.stdout if "is at" in line).split()[-1].rstrip("/")

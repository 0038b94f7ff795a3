"""The real command line as a subprocess, with folders of its own, and every process that it brings about."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import psutil

from support.preloaded import COMMAND_LINE, ForkedProcess
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Mapping

_SCRIPT = Path(sys.executable).with_name("weighbridge")
_COMMAND = (
    [str(_SCRIPT)]
    if _SCRIPT.exists()
    else [sys.executable, "-c", "from weighbridge_producer.cli import main; main()"]
)


@dataclass(frozen=True)
class Ended:
    """What a command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its standard output, which must be one JSON value and nothing else."""
        return orjson.loads(self.out)


class Cli:
    """`weighbridge` in a folder of its own; `cli("run", "cases.jsonl")` runs it to its end.

    `preloaded`, what runs to its end is forked from a process that has loaded it, unless it has input, or settings of
    the interpreter.
    """

    def __init__(self, folder: Path, *, preloaded: bool = False) -> None:
        self.folder = folder
        self._preloaded = preloaded
        self.state = folder / "state"
        # Not in pytest's folder: a socket's path must be short.
        self.temporary = Path(tempfile.mkdtemp(prefix="wb-"))
        kept = {name: value for name, value in os.environ.items() if "WEIGHBRIDGE_" not in name}
        self.environment = kept | {
            "WEIGHBRIDGE_STATE_DIR": str(self.state),
            "TMPDIR": str(self.temporary),
        }

    def __call__(
        self, *arguments: object, stdin: bytes = b"", seconds: float = 90, **settings: object
    ) -> Ended:
        """Run a command to its end; keywords are settings, `redis_url=...`."""
        words, environment = list(map(str, arguments)), self.environment | _variables(settings)
        if self._preloaded and not stdin and _interpreter(environment) == _interpreter(os.environ):
            return self._fork(words, environment, seconds)
        ended = subprocess.run(
            [*_COMMAND, *words],
            input=stdin,
            capture_output=True,
            timeout=seconds,
            cwd=self.folder,
            env=environment,
            check=False,
        )
        return Ended(ended.returncode, ended.stdout.decode(), ended.stderr.decode())

    def _fork(self, words: list[str], environment: dict[str, str], seconds: float) -> Ended:
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "out", Path(folder) / "err"
            process = ForkedProcess(COMMAND_LINE, words, environment, self.folder, output)
            try:
                status = process.wait(seconds)
            finally:
                process.kill()
            return Ended(status, *(path.read_text("utf-8") for path in output))

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command and leave it running; its output goes to pipes."""
        settings = options.pop("settings", {})
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [*_COMMAND, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment | _variables(settings),
            start_new_session=True,
            **(pipes | options),
        )

    def processes(self) -> list[psutil.Process]:
        """Return every living process that one of our commands brought about."""
        return [process for process in psutil.process_iter() if self._is_ours(process)]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            return process.environ().get("WEIGHBRIDGE_STATE_DIR") == str(self.state)
        except psutil.Error:
            return False

    def worker(self) -> psutil.Process | None:
        """Return the main process of the worker of the command that runs."""
        ours = {process.pid: process for process in self.processes()}
        workers = {
            pid for pid, process in ours.items() if "weighbridge_worker" in process.cmdline()
        }
        # A child whose parent was killed lives a moment longer, and is nobody's worker any more.
        starters = ours.keys() - workers
        return next((ours[pid] for pid in workers if ours[pid].ppid() in starters), None)

    def await_silence(self, seconds: float = 2.0) -> None:
        """Make sure that soon nothing of any command lives."""
        eventually(lambda: not self.processes(), seconds, f"the end of {self.processes()}")

    def left_over(self) -> list[Path]:
        """Return every file and folder left of runs, but for what they were asked to write."""
        found = [*self.state.rglob("*"), *self.temporary.iterdir()]
        return found + list(self.folder.glob(".weighbridge-*"))

    def partial(self) -> int:
        """Return how many bytes of results a run that goes on has written."""
        sizes = [path.stat().st_size for path in self.folder.glob(".weighbridge-*.partial")]
        return max(sizes, default=0)

    def clean_up(self) -> None:
        """Leave nothing of it behind."""
        for process in self.processes():
            process.kill()
        shutil.rmtree(self.temporary, ignore_errors=True)


def _variables(settings: Mapping[str, object]) -> dict[str, str]:
    return {f"WEIGHBRIDGE_{name.upper()}": str(value) for name, value in settings.items()}


def _interpreter(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what Python reads of an environment at its start, and a process that is forked does not."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("PYTHON") and name != "PYTHONPATH"
    }

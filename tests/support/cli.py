"""The real command line as a subprocess in its own folders, and all processes that it starts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import psutil

from support.preloaded import COMMAND_LINE, ForkedProcess, program_folder
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
    """Result of a command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Parse its standard output, which must be a single JSON value."""
        return orjson.loads(self.out)


class Cli:
    """`weighbridge` in its own folder; `cli("run", "cases.jsonl")` runs a command until it ends.

    With `preloaded`, such a command is forked from a process that has imported the code, unless it has settings of the
    interpreter; there, `main` is called.
    """

    def __init__(self, folder: Path, *, preloaded: bool = False) -> None:
        self.folder = folder
        self._preloaded = preloaded
        self.main = COMMAND_LINE
        self.state = folder / "state"
        # Not in pytest's folder, because a socket's path must be short.
        self.temporary = Path(tempfile.mkdtemp(prefix="wb-"))
        # Looking at all processes of the machine takes 10 ms.
        self._others = frozenset(psutil.process_iter())
        kept = {name: value for name, value in os.environ.items() if "WEIGHBRIDGE_" not in name}
        self.environment = kept | {
            "WEIGHBRIDGE_STATE_DIR": str(self.state),
            "TMPDIR": str(self.temporary),
        }

    def __call__(
        self, *arguments: object, stdin: bytes = b"", seconds: float = 90, **settings: object
    ) -> Ended:
        """Run a command until it ends; keywords are settings, such as `redis_url=...`."""
        words, environment = list(map(str, arguments)), self.environment | _variables(settings)
        is_loaded = self._preloaded and _interpreter(environment) == _interpreter(os.environ)
        if is_loaded and not stdin:
            return self._fork(words, environment, seconds)
        ended = subprocess.run(
            [*(_forking() if is_loaded else _COMMAND), *words],
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
            process = ForkedProcess(self.main, words, environment, self.folder, output)
            try:
                status = process.wait(seconds)
            finally:
                process.kill()
            return Ended(status, *(path.read_text("utf-8") for path in output))

    def start(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command in the background, with its output in pipes."""
        return self._start(_COMMAND, arguments, options)

    def fork(self, *arguments: object, **options: Any) -> subprocess.Popen[bytes]:
        """Do as `start` does, in a process with the code imported; `pid` is that of one which forwards to it."""
        return self._start(_forking(), arguments, options)

    def _start(
        self, command: list[str], arguments: tuple[object, ...], options: dict[str, Any]
    ) -> subprocess.Popen[bytes]:
        settings = options.pop("settings", {})
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        return subprocess.Popen(
            [*command, *map(str, arguments)],
            cwd=self.folder,
            env=self.environment | _variables(settings),
            start_new_session=True,
            **(pipes | options),
        )

    def processes(self) -> list[psutil.Process]:
        """Return all live processes started by the commands."""
        return [
            process
            for process in psutil.process_iter()
            if process not in self._others and self._is_ours(process)
        ]

    def _is_ours(self, process: psutil.Process) -> bool:
        try:
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            if process.environ().get("WEIGHBRIDGE_STATE_DIR") == str(self.state):
                return True
            # The system shows a forked process with the environment of the one it was forked from; it has a session of
            # its own, unlike that one, which may have been started in the same folder.
            is_forked = os.getsid(process.pid) != os.getsid(0)
            return is_forked and process.cwd() == str(self.folder)
        except (psutil.Error, ProcessLookupError):
            return False

    def worker(self) -> psutil.Process | None:
        """Return the main process of the running command's worker."""
        workers: list[tuple[int, psutil.Process]] = []
        forked: list[tuple[int, psutil.Process, list[str]]] = []
        starters: dict[int, list[str]] = {}
        for process in self.processes():
            with suppress(psutil.NoSuchProcess, ProcessLookupError):
                words, parent = process.cmdline(), process.ppid()
                if "weighbridge_worker" in words:
                    workers.append((parent, process))
                else:
                    starters[process.pid] = words
                    # A forked worker shows the words of the command that forked it, and has a session of its own.
                    if os.getsid(process.pid) == process.pid:
                        forked.append((parent, process, words))
        workers += [
            (parent, process) for parent, process, words in forked if starters.get(parent) == words
        ]
        # A child whose parent was killed lives for a moment longer, but is not a worker any more.
        return next((process for parent, process in workers if parent in starters), None)

    def await_silence(self, seconds: float = 2.0) -> None:
        """Wait until all processes of the commands have ended; fail on timeout."""
        eventually(lambda: not self.processes(), seconds, f"the end of {self.processes()}")

    def left_over(self) -> list[Path]:
        """Return all files and folders left by runs, except their outputs."""
        found = [*self.state.rglob("*"), *self.temporary.iterdir()]
        return found + list(self.folder.glob(".weighbridge-*"))

    def partial(self) -> int:
        """Return the size in bytes of the results written so far by a run."""
        sizes = [path.stat().st_size for path in self.folder.glob(".weighbridge-*.partial")]
        return max(sizes, default=0)

    def saved_bytes(self) -> int:
        """Return how many bytes of results the last checkpoint of the only run covers; 0 before the first."""
        states = [orjson.loads(path.read_bytes()) for path in self.state.glob("*/run.json")]
        return max((state["collected"]["written_bytes"] for state in states), default=0)

    def clean_up(self) -> None:
        """End all processes, and remove all files."""
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        shutil.rmtree(self.temporary, ignore_errors=True)


def _variables(settings: Mapping[str, object]) -> dict[str, str]:
    return {f"WEIGHBRIDGE_{name.upper()}": str(value) for name, value in settings.items()}


def _forking() -> list[str]:
    return [str(program_folder() / "weighbridge")]


def _interpreter(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that Python reads only at its start, and so not in a forked process."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith("PYTHON") and name != "PYTHONPATH"
    }

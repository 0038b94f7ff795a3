"""Worker processes on this machine, which end when the process that started them ends.

`prepare_worker` starts a worker early, so that its imports, which take half a second, run in parallel with those of
the calling process. The next LocalWorker uses the prepared process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from weighbridge.errors import ServerError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

_STOP_SECONDS = 40.0  #: longer than the worker's own soft shutdown
_RESTARTS = 5


class _Started:
    """A worker process that ends with this one: it reads a pipe whose only writer is this process."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: int) -> None:
        lifeline, self.held_end = os.pipe()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "weighbridge_worker", *arguments],
                env={**os.environ, **environment, "WEIGHBRIDGE_LIFELINE_FD": str(lifeline)},
                pass_fds=(lifeline,),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C must reach only this process, which stops the worker itself
            )
        except BaseException:
            os.close(self.held_end)
            raise
        finally:
            os.close(lifeline)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.held_end)


_prepared: list[_Started] = []  #: at most one worker, not yet used by a LocalWorker


def prepare_worker() -> None:
    """Start a worker process that imports its modules and then waits for its arguments."""
    _prepared.append(_Started(["prepared"], {}, subprocess.DEVNULL))


def discard_prepared_worker() -> None:
    """End the prepared worker if no LocalWorker has used it."""
    while _prepared:
        _prepared.pop().kill()


class LocalWorker:
    """A `python -m weighbridge_worker` process with its children, which logs to a file."""

    def __init__(
        self, url: str, concurrency: int, log_path: Path, broker_url: str | None = None
    ) -> None:
        self._url = url
        self._broker_url = broker_url
        self._concurrency = concurrency
        self._log_path = log_path
        self._restarts = 0
        self._stopped = False
        self._worker = self._start()

    def _start(self) -> _Started:
        arguments = [f"--concurrency={self._concurrency}"]
        environment = {
            "WEIGHBRIDGE_REDIS_URL": self._url,
            # An empty value means unset.
            "WEIGHBRIDGE_BROKER_URL": self._broker_url or "",
            # Leftovers of a killed worker are removed together with the log's folder.
            "TMPDIR": str(self._log_path.parent.absolute()),
        }
        with self._log_path.open("ab") as log:
            if _prepared:
                worker = _prepared.pop()
                orders = {"arguments": arguments, "environment": environment, "log": log.name}
                # If the process has died already, `revive` restarts it.
                with suppress(BrokenPipeError):
                    os.write(worker.held_end, json.dumps(orders).encode() + b"\n")
                return worker
            return _Started(arguments, environment, log.fileno())

    @property
    def pid(self) -> int:
        """The worker's main process."""
        return self._worker.process.pid

    def revive(self) -> bool:
        """Restart the worker if it has died and return whether it had; ServerError if it dies repeatedly."""
        status = self._worker.process.poll()
        if status is None or self._stopped:
            return False
        os.close(self._worker.held_end)
        if self._restarts == _RESTARTS:
            tail = "\n".join(self._log_path.read_text(errors="replace").splitlines()[-5:])
            self._stopped = True
            raise ServerError(
                f"the workers exited {_RESTARTS + 1} times, the last time with status {status}; their log ends:\n{tail}"
            )
        self._restarts += 1
        self._worker = self._start()
        return True

    def stop(self, *, at_once: bool = False) -> None:
        """Stop the worker after its current chunks or, with `at_once`, immediately."""
        if self._stopped:
            return
        self._stopped = True
        try:
            if not at_once:
                self._worker.process.terminate()
                self._worker.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Also reached by a second Ctrl-C; the children die with their parent.
            self._worker.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

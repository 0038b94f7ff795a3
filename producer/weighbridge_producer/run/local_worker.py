"""Worker processes on this machine: started as a user would start them, and gone when their starter is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Self

from weighbridge.errors import ServerError

if TYPE_CHECKING:
    from types import TracebackType

_STOP_SECONDS = 40.0  #: over the worker's own soft shutdown
_RESTARTS = 5


class LocalWorker:
    """One `python -m weighbridge_worker`, with its children; its log goes to a file."""

    def __init__(
        self, url: str, concurrency: int, log_path: Path, broker_url: str | None = None
    ) -> None:
        self._url = url
        self._broker_url = broker_url
        self._concurrency = concurrency
        self._log_path = log_path
        self._restarts = 0
        self._stopped = False
        self._process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        # Only we hold the other end: the worker ends when it does, however we end.
        lifeline, self._held_end = os.pipe()
        environment = os.environ | {
            "WEIGHBRIDGE_REDIS_URL": self._url,
            "WEIGHBRIDGE_LIFELINE_FD": str(lifeline),
            # What a worker that is killed leaves goes with the folder of its log.
            "TMPDIR": str(self._log_path.parent.absolute()),
        }
        if self._broker_url:
            environment["WEIGHBRIDGE_BROKER_URL"] = self._broker_url
        else:
            environment.pop("WEIGHBRIDGE_BROKER_URL", None)
        with self._log_path.open("ab") as log:
            try:
                return subprocess.Popen(
                    [
                        sys.executable,
                        "-m",
                        "weighbridge_worker",
                        f"--concurrency={self._concurrency}",
                    ],
                    env=environment,
                    pass_fds=(lifeline,),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is ours to hand on
                )
            finally:
                os.close(lifeline)

    @property
    def pid(self) -> int:
        """The worker's main process."""
        return self._process.pid

    def revive(self) -> bool:
        """Start the worker again if it has died; True when it had. ServerError when it dies again and again."""
        status = self._process.poll()
        if status is None or self._stopped:
            return False
        os.close(self._held_end)
        if self._restarts == _RESTARTS:
            tail = "\n".join(self._log_path.read_text(errors="replace").splitlines()[-5:])
            self._stopped = True
            raise ServerError(
                f"the workers died {_RESTARTS + 1} times, at last with status {status}; their log ends:\n{tail}"
            )
        self._restarts += 1
        self._process = self._start()
        return True

    def stop(self, *, at_once: bool = False) -> None:
        """End the worker: what it has begun is finished, unless `at_once`."""
        if self._stopped:
            return
        self._stopped = True
        try:
            if not at_once:
                self._process.terminate()
                self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # A second Ctrl-C comes here too; the children die with their parent.
            self._process.kill()
            self._process.wait()
            os.close(self._held_end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

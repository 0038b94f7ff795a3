"""The private server and workers of `weighbridge serve --embedded`."""

from __future__ import annotations

import shutil
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from weighbridge.embedded.server import EmbeddedServer
from weighbridge.errors import WeighbridgeError
from weighbridge.settings import GIB
from weighbridge_producer.run.local_worker import LocalWorker
from weighbridge_producer.run.run_folder import state_root

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.settings import Settings

_LOOK_SECONDS = 1.0


def default_folder(settings: Settings) -> Path:
    """Return the folder in which batches are stored between runs of the service."""
    root = state_root(settings)
    return (root if settings.state_dir else root.parent) / "serve"


class LocalService:
    """A private server that stores its data in a folder, and a worker that is restarted when it dies."""

    def __init__(
        self, folder: Path, workers: int, on_failure: Callable[[WeighbridgeError], None]
    ) -> None:
        self.folder = folder
        self._workers = workers
        self._on_failure = on_failure
        self._stack = ExitStack()
        self._stop = threading.Event()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            server = stack.enter_context(EmbeddedServer.start(self.folder, maxmemory_bytes=2 * GIB))
            self.url = server.url
            self._worker = LocalWorker(
                server.url, self._workers, self._fresh_scratch() / "worker.log"
            )
            # Unfinished chunks are graded again after the next start.
            stack.callback(self._worker.stop, at_once=True)
            monitor = threading.Thread(target=self._monitor, name="monitor", daemon=True)
            monitor.start()
            stack.callback(monitor.join)
            stack.callback(self._stop.set)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _fresh_scratch(self) -> Path:
        """Return an empty temporary folder for the worker, without leftovers of killed workers."""
        scratch = self.folder / "worker"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(mode=0o700)
        return scratch

    def _monitor(self) -> None:
        while not self._stop.wait(_LOOK_SECONDS):
            try:
                self._worker.revive()
            except WeighbridgeError as error:
                self._on_failure(error)
                return

"""The environment of a soak test: a server behind a proxy, workers, the HTTP service, and clients of each kind."""

from __future__ import annotations

import itertools
import re
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

from faults.incidents import Incidents
from faults.processes import SETTINGS, Service, Worker, Workers
from faults.proxy import Proxy
from faults.store_server import PASSWORD, StoreServer
from faults.surfaces import CliReader, HttpReader, Submissions
from faults.surroundings import Surroundings
from support.cli import Cli

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from faults.proxy import Link

#: Keys that may remain on the server after all batches are deleted and all workers have stopped.
TOMBSTONES = (
    r"wb:\{[^}]+\}:deleted",  # marks a deleted batch
    r"wb:\{fleet\}:idempotency:.*",  # for a day: the batch of an idempotency key
    r"wb:\{fleet\}:rate.*",  # for a minute
    r"wb:\{fleet\}:(workers|beats|drains|dead)",  # for a minute after the last worker's heartbeat or death
    r"wb:\{fleet\}:ending:.*",  # for ten minutes: a worker that was asked to stop
    r"wb:\{fleet\}:sweeper",  # for seconds
    r"wb:\{fleet\}:capabilities:.*",  # for an hour: capabilities of the last workers
    r"wb:\{fleet\}:audit",  # the audit log
)
_OURS = "wb:*"


class World:
    """The environment of a soak test: `with World(folder, workers=3) as world`."""

    def __init__(self, folder: Path, workers: int = 2, lives_seconds: float = 300) -> None:
        self.folder = folder
        self._worker_count = workers
        self._timeout_seconds = lives_seconds
        self._numbers = itertools.count()
        self._stack = ExitStack()
        self.incidents = Incidents()

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.server = StoreServer(self.folder / "server-0").start()
        self._stack.callback(self._kill_server)
        self.proxy = self._stack.enter_context(Proxy(self.server.port))
        self.producing, self.reading, self.serving = (self.proxy.link() for _ in range(3))
        cli = Cli(self.folder)
        self._stack.callback(cli.clean_up)
        self.service = Service(self.serving.url(PASSWORD), self.folder / "service.log")
        self._stack.callback(self.service.kill)
        self.workers = Workers(self._worker_count, self.start_worker)
        self._stack.callback(self.workers.end)
        self.submissions = Submissions(cli, self.producing.url(PASSWORD))
        reading = self.reading.url(PASSWORD)
        self.around = Surroundings(
            self.folder,
            self.incidents,
            self.submissions,
            CliReader(cli, reading),
            HttpReader(self.service.url),
            reading,
            self._timeout_seconds,
        )
        self.service.await_answer()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _kill_server(self) -> None:
        """Kill the current server."""
        self.server.kill()

    def start_worker(
        self,
        *,
        host: str = "127.0.0.1",
        prefix: Sequence[str] = (),
        clock_shift_seconds: float = 0,
    ) -> Worker:
        """Start another worker on a separate link."""
        return Worker(
            self.proxy.link(host),
            PASSWORD,
            self.folder / f"worker-{next(self._numbers)}.log",
            prefix=prefix,
            clock_shift_seconds=clock_shift_seconds,
            **SETTINGS,
        )

    def links(self) -> list[Link]:
        """Return the links that are in use."""
        workers = [worker.link for worker in self.workers.living]
        return [self.producing, self.reading, self.serving, *workers]

    def lead_to(self, server: StoreServer) -> StoreServer:
        """Redirect all new connections to another server, and return the previous one."""
        before, self.server = self.server, server
        self.proxy.lead_to(server.port)
        return before

    def new_folder(self, what: str) -> Path:
        """Create and return a new folder."""
        folder = self.folder / f"{what}-{next(self._numbers)}"
        folder.mkdir()
        return folder

    def keep_up(self) -> None:
        """Restart processes that have ended."""
        self.workers.replace_the_ended()
        self.service.restart_if_ended()

    def delete_all_batches(self, seconds: float = 60) -> list[str]:
        """Delete all listed batches, and return their ids."""
        listed = [told["batch_id"] for told in self.around.cli.batches()]
        for batch in listed:
            self.around.cli.delete(batch)
        return listed

    def leftovers(self) -> list[str]:
        """Return Weighbridge's keys on the server that must not remain; the only check of internal data."""
        tombstones = re.compile("|".join(TOMBSTONES))
        with self.server.admin() as admin:
            keys = sorted(admin.scan_iter(_OURS, count=1000))
        return [key for key in keys if not tombstones.fullmatch(key)]

    def await_no_leftovers(self, seconds: float) -> list[str]:
        """Wait up to some seconds until no leftovers remain, and return those that do."""
        deadline = time.monotonic() + seconds
        while (left := self.leftovers()) and time.monotonic() < deadline:
            time.sleep(0.5)
        return left

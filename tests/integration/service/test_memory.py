"""Resident memory of the service while clients request large responses without reading them, and afterwards."""

from __future__ import annotations

import base64
import random
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import orjson
import pytest

from support import requests
from support.http import ServeProcess
from support.resident import Growth
from support.uploads import NDJSON
from support.waiting import eventually
from support.workers import environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="what is resident is read from /proc"),
]
CASE_BYTES = 12_000_000
CLIENTS = 32
#: Of answers that wait, and four reads at once with a few copies of their case each.
GROWTH_BYTES = 330_000_000
DEPTH = 100_000
KEPT_BYTES = 120_000_000


@pytest.fixture
def served(own_server: EmbeddedServer) -> Iterator[ServeProcess]:
    with ServeProcess(environment(own_server.url)) as served:
        yield served


def large_case(seed: int) -> bytes:
    text = base64.b64encode(random.Random(seed).randbytes(75_000)).decode()  # 100,000 characters
    text *= CASE_BYTES // len(text)
    return orjson.dumps({"custom_id": f"c{seed}", "inputs": {"agent_response": text}}) + b"\n"


def submit(served: ServeProcess, body: bytes) -> str:
    address = f"{served.url}/api/batches?grader=string-match"
    return requests.post(address, content=body, headers=NDJSON, timeout=100).json()["batch_id"]


def unread(served: ServeProcess, path: str) -> socket.socket:
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", int(served.url.rsplit(":", 1)[1])))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


def test_many_who_ask_for_one_large_case_and_do_not_read_take_little(
    served: ServeProcess,
) -> None:
    path = f"/api/batches/{submit(served, large_case(1))}/cases/c1"
    assert len(requests.get(served.url + path, timeout=60).content) > CASE_BYTES
    with Growth(served.pid) as growth:
        with ExitStack() as stack:
            for _ in range(CLIENTS):
                stack.callback(unread(served, path).close)
            eventually(lambda: growth.most > CASE_BYTES, 30, "the first answers")
            assert requests.get(f"{served.url}/api/batches", timeout=60).status_code == 200
            threading.Event().wait(5.0)  # all have been served that will be
        assert growth.most < GROWTH_BYTES
        eventually(lambda: growth.now() < KEPT_BYTES, 30, "memory given back")
    assert len(requests.get(served.url + path, timeout=60).content) > CASE_BYTES


def test_uploads_of_large_lines_give_their_memory_back(served: ServeProcess) -> None:
    body = large_case(1) + large_case(2)
    with Growth(served.pid) as growth:
        with ThreadPoolExecutor(6) as pool:
            assert len(set(pool.map(submit, [served] * 6, [body] * 6))) == 6
        assert growth.most < GROWTH_BYTES
        eventually(lambda: growth.now() < KEPT_BYTES, 30, "memory given back")


@pytest.mark.parametrize("mapping", ["", "auto", "custom_id=id,agent_response=a,expected_output=b"])
def test_a_deep_document_takes_little(served: ServeProcess, mapping: str) -> None:
    query = {"grader": "string-match", "source": "x.json", "mapping": mapping}
    with Growth(served.pid) as growth:
        for opening, closing in ((b"[", b"]"), (b'{"a":', b"}")):
            deep = opening * DEPTH + b"1" + closing * DEPTH
            for body in (deep, b'{"deep": %b, "rows": [{"id": "1", "a": 1, "b": 1}]}' % deep):
                answer = requests.post(
                    f"{served.url}/api/batches",
                    params=query,
                    content=body,
                    headers={"content-type": "application/octet-stream"},
                    timeout=60,
                )
                assert answer.status_code == 201
        assert growth.most < 80_000_000

"""Attacks that try to exhaust the service's memory, threads and time."""

from __future__ import annotations

import gzip
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
import zstandard

from support import requests
from support.grading import graded
from support.http import HttpServer
from support.uploads import problem
from support.waiting import eventually
from weighbridge_producer.service.limits import bounded_protocol, slow_readers
from weighbridge_producer.service.limits.slots import ByteBudget, too_many
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from weighbridge.embedded.server import EmbeddedServer

HTML = {"Accept": "text/html"}


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, keys_required=True, rate_limit_per_minute=0) as service:
        yield service


# --- Forms and bodies that fill memory or take time -------------------------------------------------

BOUNDARY = "b"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}


def part(name: str, content: str = "", more: str = "") -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n{more}\r\n'
    return f"{head}{content}\r\n".encode()


@pytest.mark.parametrize(
    "body",
    [
        part("grader", "loop") * 5_000,
        part("grader", "loop", "X: y\r\n" * 5_000),
        part("grader", "loop", f"X: {'y' * 1_000_000}\r\n"),
        part("g" * 1_000_000),
        b"x" * 1_000_000,
        b"--b\r\n" * 100_000,
    ],
    ids=["parts", "headers of a part", "a long header", "a long name", "no part", "boundaries"],
)
@pytest.mark.parametrize("path", ["/api/batches", "/new", "/new/preview", "/sign-in"])
def test_a_form_of_too_many_parts_is_refused_at_once(
    service: HttpServer, guarded: HttpServer, path: str, body: bytes
) -> None:
    asked = guarded if path == "/sign-in" else service
    began = time.monotonic()
    answer = requests.post(asked.url + path, content=body, headers=FORM, timeout=60)
    assert 400 <= answer.status_code < 500
    assert time.monotonic() - began < 20


BOMBS: dict[str, Callable[[], bytes]] = {
    "blank lines, gzip": lambda: gzip.compress(b"\n" * 60_000_000, 1),
    "blank lines, zstd": lambda: zstandard.compress(b"\n" * 60_000_000),
    "one line": lambda: zstandard.compress(b" " * 200_000_000),
    "many parts": lambda: gzip.compress(
        b'{"custom_id":"a","inputs":{"trace":[' + b"[]," * 1_200_000 + b"[]]}}\n", 1
    ),
}


@pytest.mark.parametrize("make_bomb", BOMBS.values(), ids=BOMBS)
def test_a_look_at_a_bomb_takes_no_longer_than_at_anything_else(
    service: HttpServer, make_bomb: Callable[[], bytes]
) -> None:
    bomb = make_bomb()
    began = time.process_time()  # of the service too, which is in this process
    answer = requests.post(
        f"{service.url}/new/preview", files={"file": ("x.jsonl", bomb)}, headers=HTML, timeout=60
    )
    assert answer.status_code == 200
    assert time.process_time() - began < 5


def test_what_arrives_at_once_is_held_within_a_limit() -> None:
    held = ByteBudget(10, 10, too_many("BODIES", 10, 10))
    with held.account("default") as one, held.account("default") as other:
        one(6)
        with pytest.raises(ProblemError) as refused:
            other(5)
        assert refused.value.problem.status == 503
        other(4)
    with held.account("default") as third:
        third(10)


def test_bodies_that_do_not_fit_are_told_to_come_again(service: HttpServer) -> None:
    with service.service.arriving_bytes.account("default") as take:
        take(256 * 1024 * 1024)
        answer = requests.post(f"{service.url}/api/graders/loop/grade", json={"inputs": {}})
        assert problem(answer) == (503, "TOO_MANY_BODIES")
        assert "retry-after" in answer.headers
    answer = requests.post(f"{service.url}/api/graders/loop/grade", json={"inputs": {}}, timeout=60)
    assert problem(answer)[0] == 422


def test_a_body_that_drips_on_after_the_answer_is_cut(
    service: HttpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounded_protocol, "REST_SECONDS", 0.3)
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as connection:
        connection.sendall(head)
        eventually(lambda: is_cut(connection), 20, "its end")


def is_cut(connection: socket.socket) -> bool:
    try:
        connection.sendall(b"x")
    except OSError:
        return True
    return False


# --- Responses that the client does not read --------------------------------------------------------


def unread(service: HttpServer, path: str) -> socket.socket:
    """Send a request without reading the response."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(30)
    connection.connect(("127.0.0.1", service.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return connection


@pytest.fixture(scope="module")
def large(service: HttpServer) -> str:
    """A batch of results that no socket's buffers hold."""
    cases = (
        {"custom_id": f"c{n}", "inputs": {"agent_response": "n" * 3_000, "expected_output": "x" * 3_000}}
        for n in range(4_000)
    )  # fmt: skip
    return graded(service, cases, "?grader=string-match")


@pytest.mark.parametrize("form", ["format=ndjson", "limit=1000"])
def test_who_stops_reading_an_answer_is_cut_off(
    service: HttpServer, large: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_readers, "STALL_SECONDS", 0.5)
    with unread(service, f"/api/batches/{large}/results?{form}") as connection:
        assert connection.recv(12) == b"HTTP/1.1 200"
        port = connection.getsockname()[1]
        eventually(lambda: port not in service.connected_ports, 20, "the end of the connection")


def test_who_has_not_read_for_longest_is_cut_off_when_too_much_waits_for_all(
    service: HttpServer, large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_readers, "_HELD_BYTES", 100_000)  # one connection holds 64 KiB or more
    path = f"/api/batches/{large}/results?limit=1000"
    with unread(service, path) as first:
        assert first.recv(12) == b"HTTP/1.1 200"
        with unread(service, path) as second:
            ports = [connection.getsockname()[1] for connection in (first, second)]
            eventually(lambda: ports[0] not in service.connected_ports, 20, "the first one's end")
            assert ports[1] in service.connected_ports


def test_who_reads_slowly_but_reads_gets_all(
    service: HttpServer, large: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_readers, "STALL_SECONDS", 1.0)
    lines = 0
    with requests.stream(
        "GET", f"{service.url}/api/batches/{large}/results?format=ndjson", timeout=60
    ) as answer:
        for piece in answer.iter_bytes(1_000_000):
            lines += piece.count(b"\n")
            time.sleep(0.1)  # slower than it comes
    assert lines == 4_000


def test_streams_of_results_have_a_limit_for_each_key_and_give_their_places_back(
    service: HttpServer, large: str
) -> None:
    path = f"/api/batches/{large}/results?format=ndjson"
    waiting = [unread(service, path) for _ in range(32)]
    try:
        for connection in waiting:
            assert connection.recv(12) == b"HTTP/1.1 200"
        answer = requests.get(service.url + path)
        assert problem(answer) == (503, "TOO_MANY_STREAMS")
        assert requests.get(f"{service.url}/api/batches/{large}/results").status_code == 200
    finally:
        for connection in waiting:
            connection.close()
    eventually(lambda: requests.get(service.url + path).status_code == 200, 30, "places")


def test_pages_of_large_cases_leave_threads_to_others(service: HttpServer) -> None:
    steps = [{"role": "user", "content": "x"} for _ in range(22_000)]
    batch = graded(
        service, [{"custom_id": "a", "inputs": {"trace": {"messages": steps}}}], "?grader=loop"
    )
    page = f"{service.url}/batches/{batch}/result?custom_id=a"
    with ThreadPoolExecutor(24) as pool:
        pages = [pool.submit(requests.get, page, headers=HTML, timeout=100) for _ in range(24)]
        eventually(lambda: any(each.done() for each in pages), 60, "the first page")
        for path in ("/readyz", "/api/batches"):
            assert requests.get(service.url + path, timeout=10).status_code == 200
        answers = [each.result() for each in pages]
    assert {answer.status_code for answer in answers} == {200}
    assert any("load the page again" in answer.text for answer in answers)


# --- What takes long to look for ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "(a+)+$" * 100,
        ".*" * 500,
        "n" * 1_000,
        "\\" * 1_000,
        "%",
        "[",
        '"',
        "\u0130" * 1_000,
        "\x00",
    ],
)
def test_no_text_takes_long_to_look_for(service: HttpServer, large: str, text: str) -> None:
    began = time.monotonic()
    answer = requests.get(
        f"{service.url}/api/batches/{large}/results", params={"text": text}, timeout=60
    )
    assert answer.status_code == 200
    assert time.monotonic() - began < 5

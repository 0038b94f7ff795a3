"""Operations: probes, metrics, and a correct description of the API."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from typing import TYPE_CHECKING

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from support import requests
from support.http import HttpServer
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers import TcpServer
    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

CASE = {
    "custom_id": "one",
    "grader": "string-match",
    "inputs": {"agent_response": "a", "expected_output": "a"},
}


@pytest.fixture
def service(own_server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(own_server.url) as service:
        yield service


def metrics(service: HttpServer) -> dict[str, dict[tuple[str, ...], float]]:
    """Return every sample by its name and label values."""
    answer = requests.get(f"{service.url}/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sample.labels.values())] = sample.value
    return found


def test_it_lives_without_the_store_and_is_ready_only_with_it(tcp_server: TcpServer) -> None:
    with HttpServer(tcp_server.url) as service:
        assert requests.get(f"{service.url}/readyz").json() == {"status": "ok"}
        tcp_server.kill()
        assert requests.get(f"{service.url}/healthz").json() == {"status": "ok"}
        answer = requests.get(f"{service.url}/readyz", timeout=30)
        assert answer.status_code == 503
        assert answer.json()["code"] == "REDIS_UNAVAILABLE"
        assert answer.elapsed.total_seconds() < 5


def test_requests_are_counted_by_route_and_never_by_what_is_in_an_address(
    service: HttpServer,
) -> None:
    for secret in ("geheim-1", "geheim-2", "%22"):
        requests.get(f"{service.url}/api/graders/{secret}")
        requests.get(f"{service.url}/{secret}")
        requests.get(f"{service.url}/healthz", headers={"Host": secret})
        requests.request("MKCOL", f"{service.url}/{secret}")
    requests.head(f"{service.url}/api/graders")
    text = requests.get(f"{service.url}/metrics").text
    assert "geheim" not in text
    counted = metrics(service)["weighbridge_http_requests_total"]
    by_route = {labels: int(count) for labels, count in counted.items()}
    assert by_route[("GET", "/api/graders/{grader_id}", "404")] == 3
    assert by_route[("GET", "none", "404")] == 3
    assert by_route[("GET", "none", "421")] == 3
    assert by_route[("other", "none", "404")] == 3
    assert by_route[("HEAD", "/api/graders", "200")] == 1


def test_request_times_are_a_histogram(service: HttpServer) -> None:
    requests.get(f"{service.url}/healthz")
    found = metrics(service)
    assert found["weighbridge_http_request_seconds_count"][("GET", "/healthz")] == 1
    assert 0 < found["weighbridge_http_request_seconds_sum"][("GET", "/healthz")] < 10


def test_the_work_on_the_store_is_measured(service: HttpServer, start_worker: StartWorker) -> None:
    client = service.service.client
    client.submit([CASE | {"custom_id": str(number)} for number in range(5)])
    waiting = metrics(service)
    assert waiting["weighbridge_queue_length"][()] == 1
    assert waiting["weighbridge_workers"][()] == 0
    assert waiting["weighbridge_batches_active"][()] == 1
    assert waiting["weighbridge_active_jobs"][("pending",)] == 5
    start_worker(client.url, 2)
    client.batch(client.batches()[0].batch_id).wait(60)
    # A worker looks over the active batches every now and then.
    done = eventually(
        lambda: (
            found if (found := metrics(service))["weighbridge_batches_active"][()] == 0 else None
        ),
        30,
        "the end of the batch",
    )
    assert done["weighbridge_queue_length"][()] == 0
    assert done["weighbridge_workers"][()] == 1
    assert done["weighbridge_worker_children"][()] == 2
    assert done["weighbridge_active_jobs"][("pending",)] == 0


def test_metrics_ask_for_a_key_where_keys_are_required(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url, keys_required=True) as service:
        assert requests.get(f"{service.url}/metrics").status_code == 401
        headers = {"Authorization": f"Bearer {service.make_key('read')}"}
        assert requests.get(f"{service.url}/metrics", headers=headers).status_code == 200


def test_the_description_of_the_api_is_whole(service: HttpServer) -> None:
    document = requests.get(f"{service.url}/api/openapi.json").json()
    assert document["openapi"].startswith("3.")
    assert {"/api/graders", "/api/batches", "/healthz", "/readyz", "/metrics"} <= set(
        document["paths"]
    )
    schemas = document["components"]["schemas"]
    assert {"type", "title", "status", "detail", "code", "hint"} <= set(
        schemas["Problem"]["properties"]
    )
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            assert operation.get("summary"), (method, path)
            assert "application/problem+json" in operation["responses"]["404"]["content"]


def test_a_service_that_ends_lets_a_request_end_that_it_is_answering(
    own_server: EmbeddedServer,
) -> None:
    body = threading.Event()
    begun = threading.Event()
    answers: list[httpx.Response] = []

    def slowly() -> Iterator[bytes]:
        yield b'{"inputs": {"agent_response": "a", '
        begun.set()
        assert body.wait(20)
        yield b'"expected_output": "a"}}'

    with HttpServer(own_server.url) as service:

        def ask() -> None:
            address = f"{service.url}/api/graders/string-match/grade"
            answers.append(requests.post(address, content=slowly(), timeout=60))

        asking = threading.Thread(target=ask)
        asking.start()
        assert begun.wait(20)
        service.ask_to_stop()
        threading.Timer(0.5, body.set).start()
        asking.join(30)
    assert [answer.status_code for answer in answers] == [200]


def test_a_connection_that_never_says_what_it_wants_is_closed(
    own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weighbridge_producer.service.limits import bounded_protocol

    monkeypatch.setattr(bounded_protocol, "HEAD_SECONDS", 0.3)
    with HttpServer(own_server.url) as service:
        for data in (b"", b"GET /healthz HTTP/1.1\r\nHost: local"):
            with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
                connection.sendall(data)
                started = time.monotonic()
                assert connection.recv(1) == b""
                assert time.monotonic() - started < 5


@pytest.mark.slow
def test_a_store_that_is_silent_keeps_nobody_waiting_for_long(tcp_server: TcpServer) -> None:
    with HttpServer(tcp_server.url) as service:
        assert requests.get(f"{service.url}/readyz").status_code == 200
        os.kill(tcp_server.pid, signal.SIGSTOP)
        try:
            answer = requests.get(f"{service.url}/readyz", timeout=60)
            assert requests.get(f"{service.url}/healthz").status_code == 200
        finally:
            os.kill(tcp_server.pid, signal.SIGCONT)
        assert answer.status_code == 503
        assert answer.json()["code"] == "REDIS_UNAVAILABLE"
        assert answer.elapsed.total_seconds() < 30
        assert requests.get(f"{service.url}/readyz", timeout=60).status_code == 200

"""What no request gets past, and what every answer says."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.http import HttpServer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer

GRADE = "/api/graders/string-match/grade"
JOB = {"inputs": {"agent_response": "a", "expected_output": "a"}}


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    hosts = "grading.example, Other.Example"
    with HttpServer(
        server.url, keys_required=True, public_hosts=hosts, rate_limit_per_minute=0
    ) as service:
        yield service


def send(service: HttpServer, data: bytes, seconds: float = 10.0) -> bytes:
    """Send bytes as they are, and return everything that comes back."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        received = b""
        try:
            connection.sendall(data)
            while part := connection.recv(65536):
                received += part
        except (TimeoutError, ConnectionError):
            pass
        return received


# --- Every answer -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/healthz", {}, 200),
        ("HEAD", "/healthz", {}, 200),
        ("GET", "/api/graders", {}, 200),
        ("GET", "/api/openapi.json", {}, 200),
        ("GET", "/static/style.css", {}, 200),
        ("GET", "/graders", {"Accept": "text/html"}, 200),
        ("GET", "/nowhere", {}, 404),
        ("GET", "/nowhere", {"Accept": "text/html"}, 404),
        ("GET", "/static/nothing.css", {}, 404),
        ("PUT", "/api/graders", {}, 405),
        ("GET", "/healthz", {"Host": "evil.example"}, 421),
        ("POST", GRADE, {"Origin": "http://evil.example"}, 403),
        ("GET", "/api/graders?" + "x" * 9000, {}, 414),
    ],
)
def test_every_answer_has_the_security_headers(
    service: HttpServer, method: str, path: str, headers: dict[str, str], status: int
) -> None:
    answer = requests.request(method, service.url + path, headers=headers)
    assert answer.status_code == status
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-frame-options"] == "DENY"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"
    assert "server" not in answer.headers
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_what_may_change_is_not_kept_and_what_never_changes_is(service: HttpServer) -> None:
    assert requests.get(f"{service.url}/api/graders").headers["cache-control"] == "no-store"
    assert "immutable" in requests.get(f"{service.url}/static/style.css").headers["cache-control"]


def test_cors_is_off(service: HttpServer) -> None:
    headers = {
        "Origin": "http://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    answer = httpx.options(f"{service.url}{GRADE}", headers=headers)
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control-")]


@pytest.mark.parametrize(
    "path", ["/healthz", "/api/graders", "/api/openapi.json", "/static/style.css"]
)
def test_head_answers_as_get_does_without_a_body(service: HttpServer, path: str) -> None:
    get, head = requests.get(service.url + path), requests.head(service.url + path)
    assert head.status_code == 200
    assert head.content == b""
    for name in ("content-type", "content-length"):
        assert head.headers[name] == get.headers[name]


def test_head_of_what_streams_for_ever_ends_at_once(service: HttpServer) -> None:
    batch = service.service.client.open("empty", ())
    with httpx.Client(verify=False, base_url=service.url, timeout=10) as client:
        head = client.head(f"/api/batches/{batch.id}/events")
        assert head.status_code == 200
        assert head.headers["content-type"].startswith("text/event-stream")
        assert client.get("/healthz").status_code == 200
    batch.cancel()


def test_a_slash_too_many_is_another_address(service: HttpServer) -> None:
    assert requests.get(f"{service.url}/api/graders/").status_code in {404, 405}
    assert requests.get(f"{service.url}/healthz/").status_code == 404


# --- Names ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST", "page.localhost"]
)
def test_without_keys_this_machines_own_names_are_answered(service: HttpServer, host: str) -> None:
    headers = {"Host": host.format(port=service.port)}
    assert requests.get(f"{service.url}/healthz", headers=headers).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "evil.example:127.0.0.1",
        "localhost@evil.example",
        "192.168.0.1",
        "0.0.0.0",
        "[::1",
        "",
    ],
)
def test_without_keys_no_other_name_is_answered_so_that_no_page_can_rebind_its_own(
    service: HttpServer, host: str
) -> None:
    answer = requests.get(f"{service.url}/api/batches", headers={"Host": host})
    assert answer.status_code == 421
    assert answer.json()["code"] == "WRONG_HOST"


def test_a_request_without_a_name_is_not_answered(service: HttpServer) -> None:
    assert b" 421 " in send(service, b"GET /healthz HTTP/1.0\r\n\r\n").split(b"\r\n")[0]


@pytest.mark.parametrize("name", ["Forwarded", "X-Forwarded-For", "X-Real-IP", "X-Forwarded-Host"])
def test_without_keys_no_proxy_can_let_others_in(service: HttpServer, name: str) -> None:
    answer = requests.get(f"{service.url}/api/batches", headers={name: "for=203.0.113.9"})
    assert answer.status_code == 403
    assert answer.json()["code"] == "PROXY_WITHOUT_KEYS"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("grading.example", 200),
        ("other.example:443", 200),
        ("localhost", 200),
        ("evil.example", 421),
    ],
)
def test_with_keys_the_names_that_are_set_are_answered(
    guarded: HttpServer, host: str, status: int
) -> None:
    assert requests.get(f"{guarded.url}/healthz", headers={"Host": host}).status_code == status


# --- Other sites ------------------------------------------------------------------------------------

FOREIGN = [
    {"Origin": "http://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": "http://["},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "nonsense"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_another_sites_page_can_change_nothing_where_keys_are_off(
    service: HttpServer, headers: dict[str, str]
) -> None:
    for method, path in (("POST", GRADE), ("POST", "/api/batches"), ("DELETE", "/api/batches/x")):
        answer = requests.request(method, service.url + path, headers=headers)
        assert answer.status_code == 403
        assert answer.json()["code"] == "CROSS_SITE"


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_another_sites_page_can_change_nothing_by_a_browsers_cookie(
    guarded: HttpServer, headers: dict[str, str]
) -> None:
    cookies = {"weighbridge_key": guarded.make_key("admin")}
    with httpx.Client(verify=False, base_url=guarded.url, cookies=cookies) as browser:
        assert browser.post(GRADE, json=JOB, headers=headers).status_code == 403
        assert browser.post(GRADE, json=JOB).status_code == 200


def test_a_name_and_password_in_an_address_are_no_way_around_that(guarded: HttpServer) -> None:
    cookies = {"weighbridge_key": guarded.make_key("admin")}
    headers = {"Origin": "http://evil.example", "Authorization": "Basic eDp5"}
    with httpx.Client(verify=False, base_url=guarded.url, cookies=cookies) as browser:
        assert browser.post(GRADE, json=JOB, headers=headers).status_code == 403


def test_the_services_own_pages_may(service: HttpServer) -> None:
    for headers in (
        {"Origin": service.url, "Sec-Fetch-Site": "same-origin"},
        {"Sec-Fetch-Site": "none"},
    ):
        assert (
            requests.post(service.url + GRADE, json=JOB, headers=headers, timeout=60).status_code
            == 200
        )


def test_pages_behind_a_load_balancer_may_by_the_name_that_the_browser_knows(
    guarded: HttpServer,
) -> None:
    cookies = {"weighbridge_key": guarded.make_key("admin")}
    headers = {"Origin": "https://grading.example", "Host": "localhost"}
    with httpx.Client(verify=False, base_url=guarded.url, cookies=cookies) as browser:
        assert browser.post(GRADE, json=JOB, headers=headers).status_code == 200


def test_a_program_with_a_key_is_no_page(guarded: HttpServer) -> None:
    headers = {
        "Authorization": f"Bearer {guarded.make_key('admin')}",
        "Origin": "http://evil.example",
    }
    assert requests.post(guarded.url + GRADE, json=JOB, headers=headers).status_code == 200


# --- Addresses and heads ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/static/../rendering.py",
        "/static/..%2frendering.py",
        "/static/%2e%2e/rendering.py",
        "/static/..%5c..%5crendering.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/%ff",
        "/static/" + "a" * 5000,
        "/static/",
        "/static",
        "/api/graders/%00",
        "/api/graders/%ff%fe",
        "/api/graders/%0d%0aSet-Cookie:%20a=b",
        "/api/graders/" + "%f0%9f%98%80" * 300,
        "/api/graders/<script>alert(1)</script>",
        "/api/batches/..%2f..%2f",
        "/api/batches/wb:meta*",
        "/api/batches/%7b%7d",
        "//evil.example/%2f..",
        "/%",
        "/%zz",
        "/\\..\\",
        "/api//graders",
    ],
)
def test_no_address_gets_at_files_or_breaks_anything(service: HttpServer, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    head, _, body = send(service, request).partition(b"\r\n\r\n")
    status = int(head.split()[1])
    assert status in {400, 404, 405, 410, 414}, head
    assert b"root:" not in body
    assert b"def page(" not in body
    assert b"set-cookie" not in head.lower()


def test_no_path_shows_up_as_html(service: HttpServer) -> None:
    for accept in ("text/html", "*/*"):
        answer = requests.get(
            f"{service.url}/<script>alert(1)</script>", headers={"Accept": accept}
        )
        assert answer.status_code == 404
        assert "<script>alert" not in answer.text


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: a\r\n" * 40_000 + b"\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X" * 200_000,
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
    ids=["one header", "many headers", "no end", "address"],
)
def test_a_head_that_is_too_large_is_refused_before_it_fills_the_memory(
    service: HttpServer, data: bytes
) -> None:
    began = time.monotonic()
    status = send(service, data)[:12]
    assert time.monotonic() - began < 10  # until then, `send` waits for an answer
    # If data is still being sent when the connection is closed, the response may be lost.
    assert status in {b"HTTP/1.1 431", b"HTTP/1.1 414", b""}
    assert requests.get(f"{service.url}/healthz").status_code == 200


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GET\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused_and_harms_nobody(service: HttpServer, data: bytes) -> None:
    answer = send(service, data, seconds=2.0)
    assert b" 500 " not in answer[:20]
    assert requests.get(f"{service.url}/healthz").status_code == 200


def test_a_websocket_is_not_spoken(service: HttpServer) -> None:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Key": "a",
        "Sec-WebSocket-Version": "13",
    }
    assert requests.get(f"{service.url}/api/nothing", headers=headers).status_code == 404

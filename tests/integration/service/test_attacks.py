"""Attacks on the service: without a key, with a key of too low a role, or with hostile content."""

from __future__ import annotations

import json
import logging
import re
import socket
from itertools import product
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.cases import true_false_cases
from support.grading import graded
from support.http import HttpServer
from support.uploads import NDJSON, lines_of, problem, upload
from weighbridge.store.api_keys import Role
from weighbridge_producer.service.access.auth import address_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import APIRouter

    from support.servers import TcpServer
    from weighbridge.embedded.server import EmbeddedServer

OPEN = None
#: The role that each route requires; a route missing here fails the tests.
ROLES: dict[tuple[str, str], Role | None] = {
    ("GET", "/api/graders"): OPEN,
    ("GET", "/api/graders/{grader_id}"): OPEN,
    ("GET", "/api/openapi.json"): OPEN,
    ("GET", "/healthz"): OPEN,
    ("GET", "/readyz"): OPEN,
    ("GET", "/graders"): OPEN,
    ("GET", "/graders/{grader_id}"): OPEN,
    ("GET", "/graders/{grader_id}/try"): OPEN,
    ("GET", "/sign-in"): OPEN,
    ("POST", "/sign-in"): OPEN,
    ("POST", "/shortcuts"): OPEN,
    ("POST", "/theme"): OPEN,
    ("POST", "/sign-out"): OPEN,
    ("GET", "/metrics"): Role.READ,
    ("GET", "/api/batches"): Role.READ,
    ("GET", "/api/batches/{batch_id}"): Role.READ,
    ("GET", "/api/batches/{batch_id}/cases/{custom_id:path}"): Role.READ,
    ("GET", "/api/batches/{batch_id}/events"): Role.READ,
    ("GET", "/api/batches/{batch_id}/lines"): Role.READ,
    ("GET", "/api/batches/{batch_id}/results"): Role.READ,
    ("GET", "/api/batches/{batch_id}/results/{custom_id:path}"): Role.READ,
    ("GET", "/api/batches/{batch_id}/slices"): Role.READ,
    ("GET", "/api/health"): Role.READ,
    ("GET", "/api/workers"): Role.READ,
    ("GET", "/"): Role.READ,
    ("GET", "/batches/{batch_id}"): Role.READ,
    ("GET", "/api/compare"): Role.READ,
    ("GET", "/compare"): Role.READ,
    ("GET", "/compare/case"): Role.READ,
    ("GET", "/batches/{batch_id}/case"): Role.READ,
    ("GET", "/batches/{batch_id}/causes"): Role.READ,
    ("GET", "/batches/{batch_id}/live"): Role.READ,
    ("GET", "/batches/{batch_id}/result"): Role.READ,
    ("GET", "/batches/{batch_id}/results"): Role.READ,
    ("GET", "/batches/{batch_id}/slices"): Role.READ,
    ("GET", "/batches/{batch_id}/step"): Role.READ,
    ("GET", "/batches/{batch_id}/{act}/confirm"): Role.READ,
    ("GET", "/workers"): Role.READ,
    ("GET", "/workers/live"): Role.READ,
    ("POST", "/api/batches"): Role.SUBMIT,
    ("POST", "/api/open-batches"): Role.SUBMIT,
    ("POST", "/api/batches/{batch_id}/cancel"): Role.SUBMIT,
    ("POST", "/api/batches/{batch_id}/pause"): Role.SUBMIT,
    ("POST", "/api/batches/{batch_id}/retry"): Role.SUBMIT,
    ("POST", "/api/batches/{batch_id}/unpause"): Role.SUBMIT,
    ("POST", "/api/graders/{grader_id}/grade"): Role.SUBMIT,
    ("POST", "/batches/{batch_id}/cancel"): Role.SUBMIT,
    ("POST", "/batches/{batch_id}/retry"): Role.SUBMIT,
    ("GET", "/new"): Role.SUBMIT,
    ("GET", "/new/preview"): Role.SUBMIT,
    ("POST", "/new"): Role.SUBMIT,
    ("POST", "/new/preview"): Role.SUBMIT,
    ("POST", "/graders/{grader_id}/try"): Role.SUBMIT,
    ("GET", "/api/audit"): Role.MANAGE,
    ("DELETE", "/api/batches/{batch_id}"): Role.MANAGE,
    ("GET", "/api/doctor"): Role.ADMIN,
    ("GET", "/api/keys"): Role.ADMIN,
    ("POST", "/api/keys"): Role.ADMIN,
    ("DELETE", "/api/keys/{key_id}"): Role.ADMIN,
    ("POST", "/api/queues/{queue:path}/pause"): Role.ADMIN,
    ("POST", "/api/queues/{queue:path}/unpause"): Role.ADMIN,
    ("POST", "/api/workers/{name:path}/drain"): Role.ADMIN,
    ("POST", "/batches/{batch_id}/delete"): Role.MANAGE,
}
GUARDED = [(*route, role) for route, role in ROLES.items() if role]
HTML = {"Accept": "text/html"}
SECRET = "s3cr3t-that-no-log-may-have"


@pytest.fixture(scope="module")
def large(service: HttpServer) -> str:
    """A batch of results of many pages."""
    cases = (
        {"custom_id": f"c{n}", "inputs": {"agent_response": "n", "expected_output": "x"}}
        for n in range(400)
    )  # fmt: skip
    return graded(service, cases, "?grader=string-match")


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, keys_required=True, rate_limit_per_minute=0) as service:
        yield service


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def send(service: HttpServer, data: bytes, seconds: float = 10.0) -> bytes:
    """Send bytes as they are, and return everything that comes back until the connection is closed."""
    with socket.create_connection(("127.0.0.1", service.port), timeout=seconds) as connection:
        connection.sendall(data)
        received = b""
        while part := connection.recv(65536):
            received += part
    return received


def address(path: str) -> str:
    """Return an address that matches a route's path."""
    return (
        path.replace("{grader_id}", "loop").replace("{act}", "delete").replace(":path", "")
        .replace("{batch_id}", "no-batch").replace("{custom_id}", "x").replace("{name}", "x")
    )  # fmt: skip


def routes_of(router: APIRouter) -> Iterator[tuple[str, str]]:
    for route in router.routes:
        inner = getattr(route, "original_router", None)
        if inner is not None:
            yield from routes_of(inner)
        else:
            for method in (getattr(route, "methods", None) or set()) - {"HEAD"}:
                yield method, route.path


# --- Roles ------------------------------------------------------------------------------------------


def test_every_route_has_a_role_that_is_written_down(guarded: HttpServer) -> None:
    assert sorted(routes_of(guarded.app.router)) == sorted(ROLES)


@pytest.mark.parametrize(("method", "path", "role"), GUARDED)
def test_a_route_opens_to_its_role_and_to_none_below(
    guarded: HttpServer, method: str, path: str, role: Role
) -> None:
    url = guarded.url + address(path)
    assert requests.request(method, url, timeout=60).status_code == 401
    for has in Role:
        key = guarded.make_key(has)
        by_header = requests.request(method, url, headers=bearer(key), timeout=60)
        by_cookie = requests.request(
            method, url, headers={"Cookie": f"weighbridge_key={key}"}, timeout=60
        )
        for answer in (by_header, by_cookie):
            assert answer.status_code != 401
            assert (answer.status_code == 403) == (not has.includes(role)), (has, answer.text)
            assert answer.status_code < 500


@pytest.mark.parametrize(
    ("method", "path"), [route for route in ROLES if route[0] not in {"GET", "HEAD"}]
)
def test_no_route_that_changes_anything_takes_it_from_another_site(
    guarded: HttpServer, method: str, path: str
) -> None:
    headers = {"Cookie": f"weighbridge_key={guarded.make_key('admin')}"}
    for foreign in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = requests.request(method, guarded.url + address(path), headers=headers | foreign)
        assert problem(answer) == (403, "CROSS_SITE")


@pytest.mark.parametrize("path", [path for (method, path) in ROLES if method == "GET"])
def test_nothing_private_stays_in_a_cache(guarded: HttpServer, path: str) -> None:
    headers = bearer(guarded.make_key("admin")) | HTML
    answer = requests.get(guarded.url + address(path), headers=headers, timeout=60)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "smuggled", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"]
)
def test_a_method_in_a_header_is_none(guarded: HttpServer, smuggled: str) -> None:
    headers = bearer(guarded.make_key("read")) | {smuggled: "DELETE"}
    assert requests.get(f"{guarded.url}/api/batches", headers=headers).status_code == 200
    assert requests.post(f"{guarded.url}/api/batches/x", headers=headers).status_code == 405


# --- Keys -------------------------------------------------------------------------------------------


def test_no_log_and_no_answer_has_a_key_in_it(
    tcp_server: TcpServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with HttpServer(tcp_server.url, keys_required=True) as service:
        right = service.make_key("admin")
        token = f"wbk_0123456789ab_{SECRET}"
        answers = [
            requests.get(f"{service.url}/api/batches", headers=bearer(token)),
            requests.get(f"{service.url}/", headers=HTML | {"Cookie": f"weighbridge_key={token}"}),
            requests.post(f"{service.url}/sign-in", data={"key": token}, headers=HTML),
            requests.get(f"{service.url}/nowhere", headers=bearer(right)),
            requests.post(f"{service.url}/api/batches?grader={right}", headers=bearer(token)),
        ]
        tcp_server.kill()
        answers.append(
            requests.get(f"{service.url}/api/batches", headers=bearer(right), timeout=60)
        )
        answers.append(
            requests.get(f"{service.url}/api/batches", headers=bearer(token), timeout=60)
        )
        for answer in answers:
            assert SECRET not in answer.text
            assert SECRET not in str(answer.headers)
            assert right.split("_", 2)[2] not in answer.text
        assert SECRET not in caplog.text.replace("httpx", "")
        assert right.split("_", 2)[2] not in "".join(
            record.getMessage() for record in caplog.records if record.name != "httpx"
        )


def test_guesses_by_header_cookie_and_form_count_together(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url, keys_required=True) as service:
        statuses = []
        for number in range(14):
            token = f"wbk_0123456789ab_{number}"
            cookie = {"Cookie": f"weighbridge_key={token}"}
            statuses += [
                requests.get(f"{service.url}/api/batches", headers=bearer(token)).status_code,
                requests.get(f"{service.url}/api/batches", headers=cookie).status_code,
                requests.post(f"{service.url}/sign-in", data={"key": token}).status_code,
            ]
        assert set(statuses) == {401, 429}


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("a name", "a name"),
    ],
)
def test_all_addresses_of_one_network_are_one_who_asks(host: str, counted: str) -> None:
    from starlette.requests import Request

    assert address_of(Request({"type": "http", "client": (host, 1)})) == counted


def test_one_keys_idempotency_key_says_nothing_of_anothers_batch(guarded: HttpServer) -> None:
    batches = set()
    for _ in range(2):
        headers = {**bearer(guarded.make_key("submit")), "idempotency-key": "the-same"}
        answer = upload(guarded.url, lines_of(true_false_cases(1)), **headers)
        assert answer.status_code == 201
        batches.add(answer.json()["batch_id"])
    assert len(batches) == 2


# --- Requests that are read differently by others ---------------------------------------------------

ODD_HEADS = {
    "two lengths": b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "length and chunks": b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1\r\n\r\n",
    "chunks, then not": b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    "unknown encoding": b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    "length with a sign": b"Content-Length: +3\r\n\r\nabc",
    "list of lengths": b"Content-Length: 3,3\r\n\r\nabc",
    "huge length": b"Content-Length: 99999999999999999999999\r\n\r\nabc",
    "blank before the colon": b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    "folded line": b"X: a\r\n b\r\n\r\n",
    "bare newlines": b"X: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "bare return": b"X: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "null": b"X: a\x00b\r\n\r\n",
    "broken chunk": b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
}


@pytest.mark.parametrize("head", ODD_HEADS.values(), ids=ODD_HEADS)
def test_what_a_proxy_may_read_otherwise_is_refused_and_nothing_after_it_is_read(
    service: HttpServer, head: bytes
) -> None:
    answer = send(service, b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\n" + head)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "hosts",
    [
        ["localhost", "evil.example"],
        ["localhost/api/?"],
        ["localhost#evil.example"],
        ["evil@localhost"],
        ["localhost:80:80"],
        ["localhost, evil.example"],
        ["localhost:99999999"],
        [],
    ],
)
def test_a_host_that_may_be_read_otherwise_is_not_answered(
    service: HttpServer, hosts: list[str]
) -> None:
    named = "".join(f"Host: {host}\r\n" for host in hosts)
    head = f"GET /api/graders HTTP/1.1\r\n{named}Connection: close\r\n\r\n"
    assert send(service, head.encode()).startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize(
    "path",
    [
        "/sign-in?next=/%0d%0aSet-Cookie:%20a=b",
        "/sign-in?next=%0d%0a%0d%0a<script>",
        "/workers?a=%0d%0aSet-Cookie:%20a=b",
        "/batches/%0dSet-Cookie:%20a=b",
    ],
)
def test_no_address_writes_a_header(guarded: HttpServer, service: HttpServer, path: str) -> None:
    for asked in (guarded, service):
        answer = requests.get(asked.url + path, headers=HTML)
        assert answer.status_code < 500
        assert "set-cookie" not in answer.headers


def test_no_name_of_a_file_writes_a_header_or_leaves_its_place(service: HttpServer) -> None:
    name = "../../etc/x%0d%0aSet-Cookie: a=b\u202e\x1b[2J.jsonl"
    answer = requests.post(
        f"{service.url}/api/batches", files={"file": (name, lines_of(true_false_cases(1)))}
    )
    assert answer.status_code == 201
    assert "set-cookie" not in answer.headers
    shown = requests.get(service.url + answer.headers["location"]).json()["options"]["source"]
    assert "/" not in shown
    assert shown.isprintable()


# --- Ids, places and filters ------------------------------------------------------------------------

ODD_BATCHES = [
    *("wb_00000000_1_00000000000000000000", "*", "wb:*", "x}:meta", "{x}", "a%00b", "a%0ab"),
    *("a%0d%0aDEL%20x", "wb_6b01ec32_a8c00_%7bx%7d", "..%2f..%2fapi_keys", "%2e%2e"),
]


def test_no_id_reaches_another_key_of_the_store(own_server: EmbeddedServer) -> None:
    with HttpServer(own_server.url) as service:
        service.make_key("admin")
        graded(service, true_false_cases(3))
        redis = service.service.client.store.redis
        before = {name: redis.type(name) for name in redis.keys("*")}
        with httpx.Client(verify=False, base_url=service.url, timeout=60) as client:
            for batch, (method, path) in product(ODD_BATCHES, ROLES):
                if "{batch_id}" in path:
                    asked = f"{address(path).replace('no-batch', batch)}?custom_id=c1&step=1"
                    answer = client.request(method, asked, headers=HTML)
                    assert answer.status_code < 500, (asked, answer.text)
                    # As a whole word: the addresses of styles and scripts contain hashes.
                    assert not re.search(r"\bc1\b", answer.text.replace("custom_id=c1", ""))
        assert {name: redis.type(name) for name in redis.keys("*")} == before


@pytest.mark.parametrize(
    "cursor",
    [
        *("0.0.0-0.0_0-1.0123456789abcdef.0", "0.0.1-1.0_0-1.0123456789abcdef.end", "a", "{}"),
        *("0.0.99999999999999-1.0_0-1.0123456789abcdef.5", "-1.0.0-0.0_0-1.0123456789abcdef.0"),
        *(
            "0.0.0-0.0_0-1.0123456789abcdef.0;",
            "'; DROP",
            "\u0660.0.0-0.0.0",
            "0" * 400,
            "9.9.9-9.9-9-9.9",
        ),
    ],
)
@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_a_place_that_nobody_gave_leads_nowhere(
    service: HttpServer, large: str, cursor: str, form: str
) -> None:
    answer = requests.get(
        f"{service.url}/api/batches/{large}/results",
        params={"cursor": cursor, "format": form},
        timeout=60,
    )
    assert problem(answer) in {(410, "STALE_CURSOR"), (422, "INVALID_REQUEST")}


def test_a_place_in_one_batch_is_none_in_another(service: HttpServer, large: str) -> None:
    other = graded(service, true_false_cases(3))
    cursor = requests.get(f"{service.url}/api/batches/{large}/results?limit=7").json()[
        "next_cursor"
    ]
    answer = requests.get(f"{service.url}/api/batches/{other}/results", params={"cursor": cursor})
    assert problem(answer) == (410, "STALE_CURSOR")


# --- What others are given to read ------------------------------------------------------------------

INJECTIONS = [
    '"}\n{"custom_id":"forged"}', "\u2028\u2029\x85", '\\",\\"status\\":\\"graded', "</script><!--",
    "\U0001f600\x7f", '],"next_cursor":"forged","x":[',
]  # fmt: skip


def test_what_cases_say_stays_within_its_json(service: HttpServer) -> None:
    cases = [
        {
            "custom_id": f"{number}{text}".translate({10: "\u2424", 127: "d", 0x85: "n"}),
            "inputs": {"agent_response": text, "expected_output": "x"},
            "metadata": {text: text},
        }
        for number, text in enumerate(INJECTIONS)
    ]
    batch = graded(service, cases, "?grader=string-match")
    page = requests.get(f"{service.url}/api/batches/{batch}/results").json()
    stream = requests.get(f"{service.url}/api/batches/{batch}/results?format=ndjson").content
    told = [json.loads(line) for line in stream.split(b"\n") if line]
    assert page["results"] == told
    assert page["next_cursor"] is None
    assert {each["custom_id"] for each in told} == {case["custom_id"] for case in cases}
    assert all(
        list(each["metadata"]) == [text] for each, text in zip(told, INJECTIONS, strict=True)
    )


def test_no_browser_takes_what_was_submitted_for_a_page(service: HttpServer) -> None:
    evil = "<html><script>alert(1)</script>"
    case = {"custom_id": evil, "inputs": {"agent_response": evil, "expected_output": evil}}
    batch = graded(service, [case], "?grader=string-match")
    for path in (
        f"/api/batches/{batch}/results",
        f"/api/batches/{batch}/results?format=ndjson",
        f"/batches/{batch}/case?custom_id=%3Chtml%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        f"/api/batches/{batch}/cases/%3Chtml%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
        f"/api/batches/{batch}/events",
        f"/api/batches/{batch}",
    ):
        answer = requests.get(service.url + path, headers=HTML, timeout=60)
        assert answer.status_code == 200
        kind = answer.headers["content-type"].partition(";")[0]
        assert kind in {"application/json", "application/x-ndjson", "text/event-stream"}
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"


def test_no_address_method_or_name_makes_metrics_grow(service: HttpServer) -> None:
    def names() -> set[str]:
        told = requests.get(f"{service.url}/metrics").text
        return {line.rpartition(" ")[0] for line in told.splitlines() if not line.startswith("#")}

    with httpx.Client(verify=False, base_url=service.url) as client:
        client.get("/nowhere")
        client.request("PROPFIND", "/nowhere")
        client.get("/api/batches/nothing")
        client.get("/api/graders/nothing")
        before = names()
        for number in range(50):
            client.get(f"/{number}")
            client.get(f"/api/batches/{number}")
            client.get(f"/api/graders/{number}?x={number}", headers={"X-Name": str(number)})
            client.request(("LOCK", "MKCOL", "SEARCH")[number % 3], f"/{number}")
        assert names() - before <= {name for name in names() if 'route="/metrics"' in name}


def test_an_upload_that_names_another_batch_to_go_on_with_changes_nothing_of_it(
    service: HttpServer,
) -> None:
    batch = graded(service, true_false_cases(3))
    before = requests.get(f"{service.url}/api/batches/{batch}").json()
    answer = requests.post(
        f"{service.url}/api/batches?resume={batch}",
        content=lines_of(true_false_cases(9)),
        headers=NDJSON,
        timeout=60,
    )
    assert 400 <= answer.status_code < 500
    assert requests.get(f"{service.url}/api/batches/{batch}").json() == before

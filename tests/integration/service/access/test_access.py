"""Access control: keys, roles and rate limits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.http import HttpServer
from weighbridge.store.api_keys import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers import TcpServer
    from weighbridge.embedded.server import EmbeddedServer

GRADE = "/api/graders/string-match/grade"
JOB = {"inputs": {"agent_response": "a", "expected_output": "a"}}
#: One route for each role, and its status for a key with that role.
ROUTES = {
    "read": ("GET", "/api/batches", 200),
    "submit": ("POST", GRADE, 200),
    "manage": ("DELETE", "/api/batches/no-such-batch", 404),
    "admin": ("POST", "/api/workers/no-such-worker/drain", 404),
}


@pytest.fixture(scope="module")
def guarded(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, keys_required=True, rate_limit_per_minute=0) as service:
        yield service


@pytest.fixture
def limited(own_server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(own_server.url, keys_required=True, rate_limit_per_minute=5) as service:
        yield service


def ask(
    service: HttpServer, method: str, path: str, token: str = "", **options: object
) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    if method == "POST":
        options.setdefault("json", JOB)
    return requests.request(method, service.url + path, headers=headers, timeout=60, **options)


def problem(answer: httpx.Response) -> str:
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["status"] == answer.status_code
    assert document["detail"]
    return document["code"]


@pytest.mark.parametrize("needed", ROUTES)
@pytest.mark.parametrize("role", ROUTES)
def test_a_role_opens_its_own_routes_and_those_of_lower_roles_only(
    guarded: HttpServer, role: str, needed: str
) -> None:
    method, path, status = ROUTES[needed]
    answer = ask(guarded, method, path, guarded.make_key(role))
    if Role(role).includes(Role(needed)):
        assert answer.status_code == status
    else:
        assert answer.status_code == 403
        assert problem(answer) == "ROLE_TOO_LOW"


@pytest.mark.parametrize("needed", ROUTES)
def test_without_a_key_every_route_but_the_public_ones_is_closed(
    guarded: HttpServer, needed: str
) -> None:
    method, path, _ = ROUTES[needed]
    answer = ask(guarded, method, path)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert problem(answer) == "KEY_REQUIRED"


@pytest.mark.parametrize("path", ["/api/graders", "/api/graders/loop", "/healthz", "/readyz"])
def test_the_catalogue_and_the_probes_need_no_key(guarded: HttpServer, path: str) -> None:
    assert ask(guarded, "GET", path).status_code == 200


def test_every_route_of_the_api_but_the_public_ones_asks_for_a_key(guarded: HttpServer) -> None:
    document = ask(guarded, "GET", "/api/openapi.json").json()
    public = {"/api/graders", "/api/graders/{grader_id}", "/healthz", "/readyz"}
    unguarded = []
    for path, methods in document["paths"].items():
        for method in methods:
            if path in public:
                continue
            address = re.sub(r"\{[^}]*\}", "x", path)
            answer = requests.request(method, guarded.url + address, timeout=60)
            if answer.status_code != 401:
                unguarded.append((method, path, answer.status_code))
    assert unguarded == []


@pytest.mark.parametrize(
    "token",
    [
        "wrong",
        "wbk_0123456789ab_" + "A" * 43,
        "wbk__",
        "wbk_../../x_y",
        "wbk_*_*",
        "x" * 5_000,
        "\u00e9".encode().decode("latin-1"),
    ],
)
def test_a_wrong_key_is_refused_whatever_it_looks_like(guarded: HttpServer, token: str) -> None:
    guarded.service.client.store.redis.delete(
        *guarded.service.client.store.redis.keys("wb:{fleet}:rate:*") or ["x"]
    )
    headers = {b"Authorization": b"Bearer " + token.encode("latin-1")}
    answer = requests.get(f"{guarded.url}/api/batches", headers=headers)
    assert answer.status_code == 401
    assert problem(answer) == "KEY_REFUSED"


def test_half_a_right_key_is_a_wrong_one(guarded: HttpServer) -> None:
    token = guarded.make_key("admin")
    assert ask(guarded, "GET", "/api/batches", token[:-1]).status_code == 401
    assert ask(guarded, "GET", "/api/batches", token).status_code == 200


def test_a_revoked_key_opens_nothing_from_then_on(guarded: HttpServer) -> None:
    key, token = guarded.service.keys.make("revoked", Role.ADMIN)
    assert ask(guarded, "GET", "/api/batches", token).status_code == 200
    guarded.service.keys.revoke(key.id)
    answer = ask(guarded, "GET", "/api/batches", token)
    assert answer.status_code == 401
    assert problem(answer) == "KEY_REFUSED"


def test_an_expired_key_opens_nothing(guarded: HttpServer) -> None:
    _, token = guarded.service.keys.make("expired", Role.ADMIN, lives_seconds=1e-6)
    assert ask(guarded, "GET", "/api/batches", token).status_code == 401


@pytest.mark.parametrize("scheme", ["Basic", "Token", ""])
def test_a_key_counts_only_as_a_bearer(guarded: HttpServer, scheme: str) -> None:
    token = guarded.make_key("admin")
    headers = {"Authorization": f"{scheme} {token}".strip()}
    answer = requests.get(f"{guarded.url}/api/batches", headers=headers)
    assert answer.status_code == 401


def test_the_cookie_of_a_browser_is_a_key_as_well(guarded: HttpServer) -> None:
    cookies = {"weighbridge_key": guarded.make_key("read")}
    with httpx.Client(verify=False, base_url=guarded.url, cookies=cookies) as browser:
        assert browser.get("/api/batches").status_code == 200
        assert browser.post(GRADE, json=JOB).status_code == 403


def test_a_key_in_the_address_opens_nothing(guarded: HttpServer) -> None:
    token = guarded.make_key("admin")
    for name in ("key", "token", "api_key", "access_token", "weighbridge_key"):
        assert ask(guarded, "GET", f"/api/batches?{name}={token}").status_code == 401


def test_no_answer_repeats_the_key(guarded: HttpServer) -> None:
    token = guarded.make_key("read")
    for answer in (
        ask(guarded, "POST", GRADE, token),
        ask(guarded, "GET", "/api/batches", token + "x"),
    ):
        assert token not in answer.text
        assert token.split("_", 2)[2] not in str(answer.headers)


def test_where_keys_are_off_everybody_on_this_machine_may_do_everything(
    server: EmbeddedServer,
) -> None:
    with HttpServer(server.url) as service:
        for method, path, status in ROUTES.values():
            assert ask(service, method, path).status_code == status


def test_a_page_sends_whoever_has_no_key_to_sign_in_and_knows_the_way_back(
    guarded: HttpServer,
) -> None:
    answer = requests.get(f"{guarded.url}/workers?a=1", headers={"Accept": "text/html"})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2Fworkers%3Fa%3D1"


# --- How often --------------------------------------------------------------------------------------


def test_a_key_that_asks_too_often_is_told_when_to_ask_again(limited: HttpServer) -> None:
    token = limited.make_key("read")
    answers = [ask(limited, "GET", "/api/batches", token) for _ in range(12)]
    refused = [answer for answer in answers if answer.status_code == 429]
    # A minute may end between the requests, and the limit is per minute.
    assert 2 <= len(refused) <= 7
    assert problem(refused[0]) == "RATE_LIMITED"
    assert 1 <= int(refused[0].headers["retry-after"]) <= 60


def test_keys_have_limits_of_their_own(limited: HttpServer) -> None:
    greedy, modest = limited.make_key("read"), limited.make_key("read")
    for _ in range(12):
        ask(limited, "GET", "/api/batches", greedy)
    assert ask(limited, "GET", "/api/batches", modest).status_code == 200


def test_copies_of_the_service_count_together(own_server: EmbeddedServer) -> None:
    settings = {"keys_required": True, "rate_limit_per_minute": 5}
    with (
        HttpServer(own_server.url, **settings) as one,
        HttpServer(own_server.url, **settings) as other,
    ):
        token = one.make_key("read")
        for _ in range(12):
            ask(one, "GET", "/api/batches", token)
        assert ask(other, "GET", "/api/batches", token).status_code == 429


def test_who_has_no_key_has_a_limit_by_address(limited: HttpServer) -> None:
    answers = [ask(limited, "GET", "/api/graders").status_code for _ in range(12)]
    assert 429 in answers


def test_who_tries_keys_is_slowed_down_and_a_right_key_is_not(limited: HttpServer) -> None:
    answers = [ask(limited, "GET", "/api/batches", f"wbk_x_{n}") for n in range(42)]
    codes = [answer.status_code for answer in answers]
    assert codes[0] == 401
    assert 429 in codes
    assert ask(limited, "GET", "/api/batches", limited.make_key("read")).status_code == 200


def test_probes_have_no_limit(limited: HttpServer) -> None:
    assert {ask(limited, "GET", "/healthz").status_code for _ in range(12)} == {200}


def test_a_store_that_does_not_answer_is_no_fault_of_the_request(tcp_server: TcpServer) -> None:
    with HttpServer(tcp_server.url, keys_required=True) as service:
        token = service.make_key("admin")
        tcp_server.kill()
        for method, path in (("GET", "/readyz"), ("GET", "/api/batches"), ("POST", GRADE)):
            answer = ask(service, method, path, token)
            assert answer.status_code == 503
            assert problem(answer) == "REDIS_UNAVAILABLE"
            assert "retry-after" in answer.headers
        assert ask(service, "GET", "/healthz").status_code == 200
        tcp_server.start()
        assert ask(service, "GET", "/readyz").status_code == 200


def test_nobody_escapes_a_limit_by_naming_another_address(limited: HttpServer) -> None:
    statuses = [
        requests.get(
            f"{limited.url}/api/graders", headers={"X-Forwarded-For": f"203.0.113.{number}"}
        ).status_code
        for number in range(12)
    ]
    assert 429 in statuses


def test_a_proxy_that_is_trusted_tells_who_asks(own_server: EmbeddedServer) -> None:
    settings = {"rate_limit_per_minute": 5, "trusted_proxies": "127.0.0.1"}
    with HttpServer(own_server.url, keys_required=True, **settings) as service:
        statuses = {
            requests.get(
                f"{service.url}/api/graders", headers={"X-Forwarded-For": f"203.0.113.{number}"}
            ).status_code
            for number in range(12)
        }
    assert statuses == {200}

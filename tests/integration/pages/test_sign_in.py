"""Signing in to the pages of the real service with an API key."""

from __future__ import annotations

from http.cookies import SimpleCookie
from typing import TYPE_CHECKING

import httpx
import pytest

from support import requests
from support.http import HttpServer
from support.pages import Page
from weighbridge.embedded.server import EmbeddedServer
from weighbridge.settings import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

AS_PAGE = {"Accept": "text/html"}
ATTACK = '"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    # On a separate store, because it counts wrong keys, including those of other tests.
    with (
        EmbeddedServer.start(tmp_path_factory.mktemp("keys"), maxmemory_bytes=64 * MIB) as store,
        HttpServer(store.url, keys_required=True) as served,
    ):
        yield served


@pytest.fixture
def http(served: HttpServer) -> Iterator[httpx.Client]:
    with httpx.Client(verify=False, base_url=served.url, headers=AS_PAGE, timeout=60) as http:
        yield http


def sign_in(http: httpx.Client, key: str, target: str = "/") -> httpx.Response:
    return http.post("/sign-in", data={"key": key, "next": target})


def test_who_has_no_key_is_asked_for_one_and_then_led_on(
    served: HttpServer, http: httpx.Client
) -> None:
    asked = http.get("/new")
    assert asked.status_code == 303
    form = Page.of(http.get(asked.headers["location"]).text).root
    target = form.one("input", name="next").attributes["value"] or ""
    assert target == "/new"
    assert form.one("input", id="key").attributes["type"] == "password"
    answer = sign_in(http, f"  {served.make_key('submit')}\n", target)
    assert (answer.status_code, answer.headers["location"]) == (303, "/new")
    assert http.get("/new").status_code == 200


def test_no_script_and_no_other_site_can_have_the_cookie(
    served: HttpServer, http: httpx.Client
) -> None:
    key = served.make_key("read")
    cookie = SimpleCookie(sign_in(http, key).headers["set-cookie"])["weighbridge_key"]
    assert cookie.value == key
    assert cookie["httponly"]
    assert cookie["samesite"].lower() == "strict"
    assert cookie["path"] == "/"
    assert not cookie["secure"], "over plain HTTP a browser would not send it back"


def test_over_https_the_cookie_never_goes_over_plain_http(server: EmbeddedServer) -> None:
    with HttpServer(server.url, keys_required=True, trusted_proxies="127.0.0.1") as served:
        answer = requests.post(
            f"{served.url}/sign-in",
            data={"key": served.make_key("read")},
            headers=AS_PAGE | {"X-Forwarded-Proto": "https"},
        )
    assert SimpleCookie(answer.headers["set-cookie"])["weighbridge_key"]["secure"]


def test_signing_out_forgets_the_key(served: HttpServer, http: httpx.Client) -> None:
    sign_in(http, served.make_key("submit"))
    page = Page.of(http.get("/new").text).root
    assert page.one("form", class_="sign-out").attributes["method"] == "post"
    answer = http.post("/sign-out")
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "weighbridge_key" not in http.cookies
    assert http.get("/new").status_code == 303


@pytest.mark.parametrize(
    "key", ["", "wrong", "wbk_0_0", "wbk_" + "x" * 5_000, ATTACK, "\u00e9\u202e"]
)
def test_a_wrong_key_is_told_and_not_repeated(http: httpx.Client, key: str) -> None:
    answer = sign_in(http, key, "/graders")
    assert answer.status_code == 401
    assert "www-authenticate" not in answer.headers
    assert "set-cookie" not in answer.headers
    page = Page.of(answer.text)
    assert page.intruders() == []
    assert page.root.one(id="key-problem").text
    assert page.root.one("input", name="next").attributes["value"] == "/graders"
    assert not key or key not in answer.text


def test_who_guesses_keys_is_slowed_down(own_server: EmbeddedServer) -> None:
    with (
        HttpServer(own_server.url, keys_required=True) as served,
        httpx.Client(verify=False, base_url=served.url, headers=AS_PAGE) as http,
    ):
        answers = [sign_in(http, f"wbk_0_{guess}") for guess in range(60)]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert refused
    assert all(int(answer.headers["retry-after"]) > 0 for answer in refused)


@pytest.mark.parametrize(
    "target",
    [
        *(
            "//evil.example",
            "https://evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "javascript:alert(1)",
        ),
        *("/\t/evil.example", "/\r\nSet-Cookie: a=b", "evil", "", "/\u202e", ATTACK),
    ],
)
def test_signing_in_leads_to_no_other_site(
    served: HttpServer, http: httpx.Client, target: str
) -> None:
    page = Page.of(http.get("/sign-in", params={"next": target}).text)
    assert page.root.one("input", name="next").attributes["value"] == "/"
    assert page.intruders() == []
    assert sign_in(http, served.make_key("read"), target).headers["location"] == "/"


def test_who_is_signed_in_with_too_low_a_role_is_told_so(
    served: HttpServer, http: httpx.Client
) -> None:
    sign_in(http, served.make_key("read", "night shift"))
    asked = http.get("/new")
    page = Page.of(http.get(asked.headers["location"]).text).root
    assert "night shift" in page.text
    assert "higher role" in page.text


def test_another_sites_page_can_neither_sign_in_nor_out(
    served: HttpServer, http: httpx.Client
) -> None:
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    data = {"key": served.make_key("read")}
    assert http.post("/sign-in", data=data, headers=foreign).status_code == 403
    assert http.post("/sign-out", headers=foreign).status_code == 403


def test_a_form_that_is_too_large_is_refused(http: httpx.Client) -> None:
    assert sign_in(http, "x" * 100_000).status_code == 413


def test_where_keys_are_off_nobody_is_asked_for_one(server: EmbeddedServer) -> None:
    with HttpServer(server.url) as served:
        answer = requests.get(f"{served.url}/sign-in?next=/graders", headers=AS_PAGE)
        assert (answer.status_code, answer.headers["location"]) == (303, "/graders")
        answer = requests.post(f"{served.url}/sign-in", data={"key": "x"}, headers=AS_PAGE)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_pages_of_problems_keep_what_the_address_says_as_text(http: httpx.Client) -> None:
    answer = http.get(f"/{ATTACK}/x")
    assert answer.status_code == 404
    page = Page.of(answer.text)
    assert page.intruders() == []
    assert page.root.one(id="problem").text

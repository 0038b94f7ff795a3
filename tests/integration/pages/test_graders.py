"""The pages of graders, as a browser gets them from the real service."""

from collections.abc import Iterator

import httpx
import orjson
import pytest

from support import requests
from support.http import HttpServer
from support.pages import Element, Page
from weighbridge.embedded.server import EmbeddedServer
from weighbridge.graders import default_registry
from weighbridge_producer.pages.config_form import ConfigForm

AS_PAGE = {"Accept": "text/html"}
ATTACK = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'</textarea><svg onload=alert(3)>"


@pytest.fixture(scope="module")
def http(server: EmbeddedServer) -> Iterator[httpx.Client]:
    with (
        HttpServer(server.url) as served,
        httpx.Client(verify=False, base_url=served.url, headers=AS_PAGE, timeout=60) as http,
    ):
        yield http


def page_of(answer: httpx.Response, status: int = 200) -> Element:
    assert answer.status_code == status, answer.text[:500]
    assert answer.headers["content-type"].startswith("text/html")
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page.root


def tried(http: httpx.Client, grader: str, **fields: str) -> httpx.Response:
    """Send the form as a browser does: as multipart."""
    parts = {name.replace("__", "."): (None, value) for name, value in fields.items()}
    return http.post(f"/graders/{grader}/try", files=parts)


def test_the_catalogue_shows_every_grader_and_what_it_needs(http: httpx.Client) -> None:
    root = page_of(http.get("/graders"))
    links = [link.attributes["href"] for link in root.all("a")]
    for grader in default_registry().catalogue():
        assert f"/graders/{grader['id']}" in links
        assert grader["name"] in root.text
        assert grader["description"] in root.text
    assert "token usage, tool calls" in root.text


@pytest.mark.parametrize("grader", default_registry().ids())
def test_a_graders_page_has_a_labelled_control_for_each_setting_and_input(
    http: httpx.Client, grader: str
) -> None:
    root = page_of(http.get(f"/graders/{grader}"))
    labelled = {label.attributes["for"] for label in root.all("label")}
    controls = [
        one for tag in ("input", "textarea", "select") for one in root.one(id="main").all(tag)
    ]
    assert {one.attributes["id"] for one in controls} == labelled
    names = {one.attributes["name"] for one in controls}
    assert {control.name for control in ConfigForm.of(grader).controls} <= names
    inputs = default_registry().get(grader).inputs_schema()["properties"]
    assert {f"input.{name}" for name in inputs} <= names
    for one in controls:
        for aid in (one.attributes.get("aria-describedby") or "").split():
            root.one(id=aid)


@pytest.mark.parametrize("grader", default_registry().ids())
def test_the_example_on_a_graders_page_can_be_tried_as_it_stands(
    http: httpx.Client, grader: str
) -> None:
    root = page_of(http.get(f"/graders/{grader}"))
    fields = {}
    for one in [*root.all("textarea"), *root.all("input")]:
        name = one.attributes["name"] or ""
        if one.attributes.get("type") != "checkbox":
            fields[name] = (None, one.text.removeprefix("\n") or one.attributes.get("value") or "")
        elif "checked" in one.attributes:
            fields[name] = (None, one.attributes["value"] or "")
    root = page_of(http.post(f"/graders/{grader}/try", files=fields))
    assert root.one(class_="stamp").text == "pass"
    assert root.one("ol", class_="evidence").all("li")


def test_where_keys_are_asked_for_the_page_says_which_key_a_try_takes(
    server: EmbeddedServer, http: httpx.Client
) -> None:
    with HttpServer(server.url, keys_required=True) as served:
        asking = page_of(requests.get(f"{served.url}/graders/budget", headers=AS_PAGE))
    assert "needs a key with the role submit" in asking.one(id="try").text
    assert "needs a key" not in page_of(http.get("/graders/budget")).one(id="try").text


def test_a_failure_is_drawn_with_its_evidence(http: httpx.Client) -> None:
    steps = [
        {
            "id": "s1",
            "type": "llm",
            "model": "m",
            "usage": {"input_tokens": 60, "output_tokens": 60},
        }
    ]
    trace = orjson.dumps({"format": "weighbridge", "steps": steps}).decode()
    root = page_of(tried(http, "budget", input__trace=trace, budget__max_tokens="100"))
    assert root.one(class_="stamp").text == "fail"
    (evidence,) = root.one("ol", class_="evidence").all("li")[:1]
    assert "max_tokens" in evidence.text
    assert [fact.text for fact in evidence.all("dd")][:2] == ["100", "120"]
    assert "s1" in evidence.text
    assert root.one("input", name="budget.max_tokens").attributes["value"] == "100"


def test_traces_are_taken_in_any_form_that_is_known(http: httpx.Client) -> None:
    lines = '{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}'
    root = page_of(tried(http, "loop", input__trace=lines, loop__step_types="llm"))
    assert root.one(class_="stamp").text in {"pass", "ungradable"}
    root = page_of(tried(http, "loop", input__trace="this is no trace", loop__step_types="llm"))
    assert root.one(class_="stamp").text == "ungradable"


def test_an_answer_is_a_text_unless_it_is_said_to_be_json(http: httpx.Client) -> None:
    text = {"input__agent_response": "true", "input__expected_output": "true"}
    root = page_of(tried(http, "true-false", **text, input__agent_response__json="true"))
    assert root.one(class_="stamp").text == "pass"
    root = page_of(
        tried(
            http,
            "string-match",
            **{**text, "input__agent_response": "{", "input__agent_response__json": "true"},
        ),
        422,
    )
    assert "not valid JSON" in root.one(id="input-agent_response-problem").text


def test_a_wrong_configuration_is_told_beside_its_field_and_nothing_is_lost(
    http: httpx.Client,
) -> None:
    root = page_of(
        tried(http, "budget", input__trace="[1]", budget__max_tokens="-1", budget__max_steps="x"),
        422,
    )
    assert "greater than or equal to 0" in root.one(id="budget-max_tokens-problem").text
    assert "must be an integer" in root.one(id="budget-max_steps-problem").text
    field = root.one("input", name="budget.max_steps")
    assert field.attributes["value"] == "x"
    assert field.attributes["aria-invalid"] == "true"
    assert "budget-max_steps-problem" in (field.attributes["aria-describedby"] or "")
    assert root.one("textarea", name="input.trace").text == "\n[1]"


@pytest.mark.parametrize("grader", default_registry().ids())
def test_markup_in_any_field_stays_text(http: httpx.Client, grader: str) -> None:
    names = [control.name for control in ConfigForm.of(grader).controls]
    names += [
        f"input.{name}" for name in default_registry().get(grader).inputs_schema()["properties"]
    ]
    for is_valid_config in (False, True):
        sent = (
            names if not is_valid_config else [name for name in names if name.startswith("input.")]
        )
        answer = http.post(f"/graders/{grader}/try", files=dict.fromkeys(sent, (None, ATTACK)))
        root = page_of(answer, answer.status_code)
        assert answer.status_code in {200, 422}
        assert "alert(1)" in root.text + str([one.attributes for one in root.all("input")])
        assert not root.all("svg")


def test_markup_in_a_trace_stays_text_in_the_evidence(http: httpx.Client) -> None:
    step = {
        "id": ATTACK,
        "type": "tool",
        "name": ATTACK,
        "arguments": {ATTACK: ATTACK},
        "output": ATTACK,
    }
    trace = orjson.dumps({"format": "weighbridge", "id": ATTACK, "steps": [step] * 5}).decode()
    for grader, config in (
        ("loop", {"loop__step_types": "tool"}),
        ("tool-schema", {"tool-schema__allowlist": "search"}),
        ("budget", {"budget__max_tool_calls": "1"}),
    ):
        root = page_of(tried(http, grader, input__trace=trace, **config))
        assert root.one(class_="stamp").text in {"fail", "ungradable"}


def test_a_grader_that_does_not_exist_is_not_found_on_a_page_that_says_which_do(
    http: httpx.Client,
) -> None:
    root = page_of(http.get("/graders/budgt"), 404)
    assert "did you mean 'budget'" in root.text
    page_of(tried(http, "budgt"), 404)


def test_a_form_past_the_limit_is_refused_on_a_page(server: EmbeddedServer) -> None:
    with HttpServer(server.url, try_it_limit_bytes=10_000) as served:
        answer = requests.post(
            f"{served.url}/graders/loop/try",
            files={"input.trace": (None, "x" * 20_000)},
            headers=AS_PAGE,
        )
    assert "10,000 bytes" in page_of(answer, 413).text


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "multipart/form-data; boundary=x"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"--x", "multipart/form-data"),
        (b"a=%ff%fe&b", "application/x-www-form-urlencoded"),
        (
            b'--x\r\nContent-Disposition: form-data; name="input.trace"\r\n\r\n\xff\xfe\r\n--x--\r\n',
            "multipart/form-data; boundary=x",
        ),
        (
            b'--x\r\nContent-Disposition: form-data; name="input.trace"\r\n\r\nab\r\n--x--\r\n',
            "multipart/form-data; boundary=x; charset=undefined",
        ),
        (
            b"--x\r\nContent-Disposition: form-data\r\n\r\nab\r\n--x--\r\n",
            "multipart/form-data; boundary=x",
        ),
        (b"{}", "application/json"),
    ],
)
def test_a_form_that_is_none_is_refused_and_never_fails_the_service(
    http: httpx.Client, content: bytes, kind: str
) -> None:
    answer = http.post("/graders/loop/try", content=content, headers={"Content-Type": kind})
    assert answer.status_code in {200, 400, 415, 422}
    page_of(answer, answer.status_code)


def test_every_page_has_its_landmarks_and_runs_nothing_inline(http: httpx.Client) -> None:
    answer = http.get("/graders")
    root = page_of(answer)
    assert root.one("html").attributes["lang"] == "en"
    assert root.one("a", class_="skip").attributes["href"] == "#main"
    assert root.one("main").attributes["id"] == "main"
    assert root.one("nav").one("a", **{"aria-current": "page"}).text == "Graders"
    for one in [*root.all("link"), *root.all("script")]:
        address = one.attributes.get("href") or one.attributes.get("src") or ""
        assert http.get(address).status_code == 200
    assert "unsafe" not in answer.headers["content-security-policy"]

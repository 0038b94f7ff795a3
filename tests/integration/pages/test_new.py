"""The page to submit a batch, served by the real service: preview, submission, and errors."""

from __future__ import annotations

import gzip
import socket
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import orjson
import pytest

from support import claude_sessions, databases, requests
from support.http import HttpServer
from support.pages import Element, Page
from support.tool_results import LAYOUTS, LONG
from weighbridge_producer.input.source import Source
from weighbridge_producer.pages.input_head import HEAD_BYTES
from weighbridge_producer.service.uploads import folder_upload, request_bodies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer
    from weighbridge_producer import Client

EXAMPLES = Path(__file__).parents[3] / "examples"
AS_PAGE = {"Accept": "text/html"}
ATTACK = "\"><script>alert(1)</script><img src=x onerror=alert(2)>'</textarea>"
CASE = b'{"custom_id": "q1", "inputs": {"agent_response": "Paris", "expected_output": "Paris"}}\n'
STRINGS = [("grader", "string-match"), ("string-match.case_sensitive", "true")]
BUDGET = [
    ("grader", "budget"),
    ("budget.max_tokens", "4000"),
    ("budget.missing_usage", "ungradable"),
]


@pytest.fixture(scope="module")
def http(server: EmbeddedServer) -> Iterator[httpx.Client]:
    with (
        HttpServer(server.url) as served,
        httpx.Client(verify=False, base_url=served.url, headers=AS_PAGE, timeout=60) as http,
    ):
        yield http


def sent(
    http: httpx.Client,
    path: str,
    fields: list[tuple[str, str]] | None = None,
    file: bytes = b"",
    name: str = "",
    files: dict[str, bytes] | None = None,
) -> httpx.Response:
    """Send the form as a browser does: its fields in their order, and the files last."""
    boundary = "0f3c41c5"
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
        for field, value in fields or []
    ]
    for file_name, content in (files or {name: file}).items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file_name}"\r\n'
        kind = b"Content-Type: application/octet-stream\r\n\r\n"
        parts.append(head.encode() + kind + content + b"\r\n")
    parts.append(f"--{boundary}--\r\n".encode())
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    return http.post(path, content=b"".join(parts), headers=headers)


def page_of(answer: httpx.Response, status: int = 200) -> Element:
    assert answer.status_code == status, answer.text[:500]
    page = Page.of(answer.text)
    assert page.intruders() == []
    return page.root


def test_the_form_offers_every_grader_with_its_configuration(http: httpx.Client) -> None:
    root = page_of(http.get("/new"))
    boxes = [box.attributes["value"] for box in root.all("input", name="grader")]
    assert boxes == ["string-match", "true-false", "budget", "loop", "tool-schema"]
    assert not any("checked" in box.attributes for box in root.all("input", name="grader"))
    labelled = {label.attributes["for"] for label in root.all("label")}
    controls = [
        one
        for tag in ("input", "textarea", "select", "progress")
        for one in root.one(id="main").all(tag)
    ]
    assert {one.attributes["id"] for one in controls} <= labelled
    ids = [one.attributes["id"] for one in root.all() if "id" in one.attributes]
    assert len(ids) == len(set(ids))
    names = [one.attributes.get("name") for one in root.one("form", id="new-batch").all()]
    assert [name for name in names if name][-1] == "file", "what comes after it would be refused"


def test_a_file_becomes_a_batch_with_the_graders_chosen(
    http: httpx.Client, client: Client, worker: WorkerProcess
) -> None:
    file = (EXAMPLES / "traces" / "shop_agent.jsonl").read_bytes()
    answer = sent(http, "/new", [*BUDGET, ("label.budget", "cheap")], file, "shop_agent.jsonl")
    assert answer.status_code == 303
    folder, _, batch_id = answer.headers["location"].rpartition("/")
    assert folder == "/batches"
    state = client.batch(batch_id).wait(60)
    assert state.counts.total == len(file.strip().split(b"\n"))
    assert state.counts.failed > 0
    assert [row.label for row in client.batch(batch_id).summary()] == ["cheap"]


def case(custom_id: str) -> bytes:
    return CASE.replace(b"q1", custom_id.encode())


def graded(answer: httpx.Response, client: Client) -> tuple[str, list[dict[str, Any]]]:
    """Return the source and the results, in the order of the input, of the batch that a form became."""
    assert answer.status_code == 303, answer.text[:500]
    batch = client.batch(answer.headers["location"].rpartition("/")[2])
    batch.wait(60)
    rows = [orjson.loads(line) for page in batch.pages() for line in page.lines.splitlines()]
    return batch.options().source, sorted(rows, key=lambda row: row["line"])


@pytest.mark.parametrize("counted", [True, False], ids=["with scripts", "without"])
@pytest.mark.parametrize("strict", [True, False], ids=["all or none", "those that can be graded"])
def test_several_files_become_one_batch_whose_bad_lines_are_told_with_their_file(
    counted: bool, strict: bool, http: httpx.Client, client: Client, worker: WorkerProcess
) -> None:
    fields = [*STRINGS, *([("file_count", "4")] if counted else [])]
    fields += [("strict", "true")] if strict else []
    files = {
        "a.jsonl": case("a1") + case("a2"),
        "empty.jsonl": b"",
        "b.jsonl.gz": gzip.compress(case("b1")),
    }
    files["c/d.jsonl"] = b"\n" + case("d1") if strict else case("d1") + b"no case\n"
    source, rows = graded(sent(http, "/new", fields, files=files), client)
    assert source == ("a.jsonl and 3 more" if counted else "a.jsonl")
    assert [row["custom_id"] for row in rows if row["status"] == "graded"] == [
        "a1",
        "a2",
        "b1",
        "d1",
    ]
    errors = [row["error"]["message"] for row in rows if row["status"] == "errored"]
    assert [error[:18] for error in errors] == ([] if strict else ["c/d.jsonl, line 2:"])


def agent_files(folder: Path) -> dict[str, bytes]:
    """Write what agents keep in a folder, and return its files by their names, as a page sends them."""
    project = folder / "projects" / ".hidden"
    agents = project / claude_sessions.SESSION / "subagents"
    agents.mkdir(parents=True)
    for place, lines in (
        (project / f"{claude_sessions.SESSION}.jsonl", claude_sessions.MAIN),
        (agents / "agent-a1.jsonl", claude_sessions.lines_of("a1")),
        (project / "sessions-index.json", [{"version": 1, "entries": []}]),
        (folder / "a_case.jsonl", [orjson.loads(CASE)]),
    ):
        place.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    databases.write(folder / "stored.db", databases.STORES["LangGraph"][0])
    databases.write(folder / "other.db", {"things": [{"id": 1}]})
    (folder / "README.md").write_text("# Runs\n")
    files = [file for file in sorted(folder.rglob("*")) if file.is_file()]
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.mark.parametrize("strict", [True, False], ids=["all or none", "those that can be graded"])
def test_a_folder_is_read_as_the_command_line_reads_it(
    strict: bool, http: httpx.Client, client: Client, worker: WorkerProcess, tmp_path: Path
) -> None:
    files = agent_files(tmp_path)
    if strict:
        (tmp_path / "a_case.jsonl").unlink()
        del files["a_case.jsonl"]
    limit = [("grader", "budget"), ("budget.max_tokens", "300")]
    fields = [*limit, ("folder", "runs"), *([("strict", "true")] if strict else [])]
    answer = sent(http, "/new", fields, files=files)
    source, rows = graded(answer, client)
    assert source == "runs"
    expected = [orjson.loads(line.raw) for line in Source(tmp_path, client.settings)]
    assert [row["custom_id"] for row in rows] == [case["custom_id"] for case in expected]
    assert len(rows) == (2 if strict else 3), "the session with its sub-agent, and the database"
    session = next(row for row in rows if row["custom_id"] == claude_sessions.SESSION)
    assert not session["result"]["passed"], "the session's 220 tokens and 220 of its sub-agent"
    batch = client.batch(answer.headers["location"].rpartition("/")[2])
    skipped = (batch.options().metadata or {})["skipped"]
    assert all(name in skipped for name in ("README.md", "other.db"))


def test_the_columns_of_a_folder_are_those_of_its_tables(
    http: httpx.Client, client: Client, worker: WorkerProcess
) -> None:
    rows = b"custom_id,agent_response,expected_output\nq%d,Graz,Graz\n"
    files = {"a/rows.csv": rows % 1, "b/rows.csv": rows % 2, "notes.md": b"# Notes\n"}
    answer = sent(http, "/new", [*STRINGS, ("folder", "runs")], files=files)
    _, found = graded(answer, client)
    assert [row["custom_id"] for row in found] == ["q1", "q2"]
    mapping = ("mapping", "custom_id=custom_id,agent_response=agent_response,expected_output=gold")
    answer = sent(http, "/new", [*STRINGS, ("folder", "runs"), mapping], files=files)
    assert "gold" in page_of(answer, 400).one(id="problem").text


@pytest.mark.parametrize(
    ("files", "status", "said"),
    [
        ({"../a.jsonl": CASE}, 422, "'../a.jsonl' is not the path of a file in a folder"),
        ({"/etc/a.jsonl": CASE}, 422, "'/etc/a.jsonl' is not the path of a file in a folder"),
        ({"a": CASE, "a/b.jsonl": CASE}, 422, "'a/b.jsonl' cannot be kept: "),
        ({f"{'a' * 300}.jsonl": CASE}, 422, "cannot be kept: "),
        ({"big.jsonl": 3000 * b" "}, 413, "the folder has over 2,000 bytes"),
        ({f"{number}.jsonl": CASE for number in range(4)}, 413, "more than 3 files"),
        ({"README.md": b"# Runs"}, 400, "the folder 'runs' has no file to read, only README.md"),
    ],
)
def test_a_folder_that_cannot_be_kept_or_read_is_refused_with_the_reason(
    files: dict[str, bytes],
    status: int,
    said: str,
    http: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(folder_upload, "FOLDER_LIMIT_BYTES", 2000)
    monkeypatch.setattr(folder_upload, "FILES_LIMIT", 3)
    answer = sent(http, "/new", [*STRINGS, ("folder", "runs")], files=files)
    assert said in page_of(answer, status).one(id="problem").text


def test_a_folder_is_refused_where_nothing_can_be_kept_and_leaves_nothing_behind(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    fields = [*STRINGS, ("folder", "runs")]
    answer = sent(http, "/new", fields, files={"a.jsonl": CASE})
    assert "has no room for the folder" in page_of(answer, 507).one(id="problem").text
    (tmp_path / "none").mkdir()
    assert sent(http, "/new", fields, files={"a.jsonl": CASE}).status_code == 303
    assert list((tmp_path / "none").iterdir()) == []


def test_the_mapping_found_in_the_first_file_is_that_of_all(
    http: httpx.Client, client: Client, worker: WorkerProcess
) -> None:
    row = b"custom_id,agent_response,expected_output\n%s,Paris,Paris\n"
    files = {"a.csv": row % b"a", "b.csv": row % b"b"}
    fields = [*STRINGS, ("file_count", "2")]
    _, rows = graded(sent(http, "/new", fields, files=files), client)
    assert [row["custom_id"] for row in rows] == ["a", "b"]


def test_a_look_at_several_files_shows_the_first(http: httpx.Client) -> None:
    files = {"a.jsonl": case("a1"), "b.jsonl": case("b1")}
    root = page_of(sent(http, "/new/preview", [*STRINGS, ("file_count", "2")], files=files))
    preview = root.one("section", id="preview").text
    assert "This is the first of 2 files" in preview
    assert "a1" in preview
    assert "b1" not in preview


def test_pasted_lines_become_a_batch(
    http: httpx.Client, client: Client, worker: WorkerProcess
) -> None:
    answer = sent(http, "/new", [*STRINGS, ("text", CASE.decode().replace("\n", "\r\n"))])
    batch = client.batch(answer.headers["location"].rpartition("/")[2])
    assert batch.wait(60).counts.passed == 1


def test_one_grader_can_be_had_twice_under_two_labels(
    http: httpx.Client, client: Client, worker: WorkerProcess
) -> None:
    more = orjson.dumps([{"grader": "string-match", "label": "second"}, "true-false"]).decode()
    answer = sent(http, "/new", [*STRINGS, ("more_graders", more), ("text", CASE.decode())])
    batch = client.batch(answer.headers["location"].rpartition("/")[2])
    assert batch.wait(60).counts.total == 3


def test_what_is_wrong_with_the_form_is_told_and_what_was_typed_is_kept(http: httpx.Client) -> None:
    fields = [
        ("grader", "budget"),
        ("budget.max_tokens", "-7"),
        ("label.budget", "cheap"),
        ("strict", "true"),
    ]
    root = page_of(sent(http, "/new", [*fields, ("text", CASE.decode())]), 422)
    assert "budget: max_tokens must be" in root.one(id="problem").text
    assert "greater than or equal to 0" in root.one(id="budget-max_tokens-problem").text
    assert root.one("input", name="budget.max_tokens").attributes["value"] == "-7"
    assert root.one("input", name="label.budget").attributes["value"] == "cheap"
    assert "checked" in root.one("input", id="pick-budget").attributes
    assert "checked" in root.one("input", name="strict").attributes
    assert root.one("textarea", name="text").text == "\n" + CASE.decode()


@pytest.mark.parametrize(
    ("fields", "file", "told"),
    [
        ([], b"", "there are no cases"),
        ([("text", "{}")], CASE, "both pasted lines and a file"),
        (
            [*STRINGS, *BUDGET, ("label.budget", "x"), ("label.string-match", "x")],
            CASE,
            "two graders are labelled",
        ),
        ([("more_graders", '["budgt"]')], CASE, "no grader 'budgt'; did you mean 'budget'"),
        ([("grader", "gone")], CASE, "no grader 'gone' is installed here"),
        ([("more_graders", '"loop"')], CASE, "more graders: it must be a list"),
        ([("more_graders", "[1]")], CASE, "more graders: 'graders.0' must be a grader's id"),
        ([("more_graders", "{")], CASE, "more graders: it is not valid JSON"),
        ([("grader", "budget")], CASE, "budget: "),
        ([*STRINGS, ("label.string-match", "\x07")], CASE, "must be without control characters"),
        ([*STRINGS, ("strict", "true")], b"not json\n", "cannot be graded"),
    ],
)
@pytest.mark.parametrize("path", ["/new", "/new/preview"])
def test_a_form_that_makes_no_sense_is_refused_with_the_reason(
    http: httpx.Client, path: str, fields: list[tuple[str, str]], file: bytes, told: str
) -> None:
    is_looked_at = path == "/new/preview"
    if is_looked_at and told in {
        "there are no cases",
        "both pasted lines and a file",
        "no grader 'budgt'; did you mean 'budget'",
        "cannot be graded",
    }:
        # A preview shows the content; whether it can be graded is only reported on submission.
        page_of(sent(http, path, fields, file, "cases.jsonl" if file else ""))
        return
    answer = sent(http, path, fields, file, "cases.jsonl" if file else "")
    root = page_of(answer, answer.status_code)
    assert 400 <= answer.status_code < 500
    assert told in root.one(id="problem").text


def test_lines_that_nobody_would_judge_are_not_submitted(http: httpx.Client) -> None:
    last_look = [("submitting", "true"), ("text", CASE.decode())]
    refused = page_of(sent(http, "/new/preview", last_look), 422).one(id="problem").text
    assert "none of the first lines names a grader, and none is chosen" in refused
    assert "choose a grader" in refused
    named = CASE.replace(b'"inputs"', b'"grader": "string-match", "inputs"').decode()
    for fields in ([*STRINGS, *last_look], [*last_look, ("text", named + CASE.decode())]):
        trouble = page_of(sent(http, "/new/preview", fields)).one(id="problem")
        assert trouble.text.strip() == ""


def test_a_look_shows_the_first_cases_and_what_is_wrong_with_lines(http: httpx.Client) -> None:
    file = (EXAMPLES / "traces" / "shop_agent.jsonl").read_bytes() + b"not json\n"
    root = page_of(sent(http, "/new/preview", BUDGET, file, "shop_agent.jsonl")).one(id="preview")
    assert "OpenAI chat messages" in root.text
    first, faults = root.all("table")
    assert len(first.one("tbody").all("tr")) == 5
    assert "shop-refund-1" in first.text
    assert "INVALID_JSON" in faults.text
    assert [cell.attributes.get("scope") for cell in root.all("th")].count(None) == 0


def test_a_look_says_that_there_are_both_pasted_lines_and_a_file(http: httpx.Client) -> None:
    fields = [*STRINGS, ("text", CASE.decode())]
    root = page_of(sent(http, "/new/preview", fields, b"", "cases.jsonl")).one(id="preview")
    assert "both pasted lines and a file: remove one of them" in root.text
    assert "1 case, all of them" in root.text
    last_look = [*fields, ("submitting", "true")]
    root = page_of(sent(http, "/new/preview", last_look, b"", "cases.jsonl"), 422)
    assert "both pasted lines and a file" in root.one(id="problem").text


def test_a_look_says_what_becomes_of_a_line_that_is_no_trace_and_no_case(
    http: httpx.Client,
) -> None:
    traces = (EXAMPLES / "traces" / "shop_agent.jsonl").read_bytes()
    file = traces + b'{"id": "nothing", "foo": "bar"}\n'
    root = page_of(sent(http, "/new/preview", BUDGET, file, "mixed.jsonl")).one(id="preview")
    told = " ".join(root.one("p", class_="ungradable").text.split())
    assert told.startswith("1 trace of these (the first in line 11) has no known format")
    assert "ungradable" in told
    root = page_of(sent(http, "/new/preview", BUDGET, traces, "traces.jsonl")).one(id="preview")
    assert root.all("p", class_="ungradable") == []


def test_a_look_at_the_beginning_of_a_large_file_needs_no_more_of_it(http: httpx.Client) -> None:
    content = b"".join(CASE.replace(b"q1", b"q%d" % number) for number in range(20_000))
    fields = [*STRINGS, ("file_size", str(len(content)))]
    root = page_of(sent(http, "/new/preview", fields, content[:HEAD_BYTES], "cases.jsonl"))
    assert "200 cases, the first ones" in root.one(id="preview").text
    assert "0 of them" in root.one(id="preview").text


def test_a_look_reads_compressed_files(http: httpx.Client) -> None:
    root = page_of(sent(http, "/new/preview", STRINGS, gzip.compress(CASE), "cases.jsonl.gz"))
    assert "cases, one per line, gzip" in root.one(id="preview").text


def test_markup_in_cases_fields_and_file_names_stays_text(http: httpx.Client) -> None:
    case = orjson.dumps({"custom_id": ATTACK, "inputs": {ATTACK: ATTACK}, "grader": ATTACK})
    name = ATTACK.replace('"', "%22")
    lines = case + b"\n" + b"<script>alert(1)</script>\n" + CASE.replace(b"inputs", b"<script>")
    root = page_of(sent(http, "/new/preview", STRINGS, lines, name))
    assert "<script>alert(1)</script>" in root.one(id="preview").text
    fields = [
        *(
            ("grader", ATTACK),
            ("more_graders", ATTACK),
            ("text", ATTACK),
            (ATTACK.replace('"', ""), ATTACK),
        ),
        *(("grader", "budget"), ("budget.max_tokens", ATTACK), ("label.budget", ATTACK)),
    ]
    for path in ("/new", "/new/preview"):
        root = page_of(sent(http, path, fields), 422)
        assert root.one("textarea", name="text").text == "\n" + ATTACK
        assert root.one("input", name="label.budget").attributes["value"] == ATTACK


@pytest.mark.parametrize("path", ["/new", "/new/preview"])
@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"", "multipart/form-data; boundary=x"),
        (b"--x\r\nbroken", "multipart/form-data; boundary=x"),
        (b"--x--", "multipart/form-data"),
        (b"text=a", "application/x-www-form-urlencoded"),
        (CASE, "application/x-ndjson"),
        (b"\x00" * 100, "multipart/form-data; boundary=\xff".encode("latin-1").decode("latin-1")),
    ],
)
def test_a_body_that_is_not_the_form_is_refused_on_the_page(
    http: httpx.Client, path: str, content: bytes, kind: str
) -> None:
    headers = {"Content-Type": kind.encode("latin-1")}
    answer = http.post(path, content=content, headers=headers)
    assert answer.status_code in {200, 400, 415, 422}
    page_of(answer, answer.status_code)


def test_only_who_may_submit_sees_the_form(server: EmbeddedServer) -> None:
    with HttpServer(server.url, keys_required=True) as served:
        reader = {"Authorization": f"Bearer {served.make_key('read')}"}
        sender = {"Authorization": f"Bearer {served.make_key('submit')}"}
        for headers in ({}, reader):
            answer = requests.get(f"{served.url}/new", headers=AS_PAGE | headers)
            assert answer.status_code == 303
            assert answer.headers["location"] == "/sign-in?next=%2Fnew"
        assert requests.get(f"{served.url}/new", headers=AS_PAGE | sender).status_code == 200
        script = requests.post(
            f"{served.url}/new/preview",
            headers=AS_PAGE | {"HX-Request": "true", "HX-Current-URL": f"{served.url}/new?a=b"},
        )
        assert script.headers["hx-redirect"] == "/sign-in?next=%2Fnew%3Fa%3Db"


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("/new/preview", "multipart/form-data; boundary=x"),
        ("/api/graders/string-match/grade", "application/json"),
    ],
)
def test_who_never_sends_the_rest_is_not_waited_for(
    http: httpx.Client, monkeypatch: pytest.MonkeyPatch, path: str, media_type: str
) -> None:
    monkeypatch.setattr(request_bodies, "_BODY_SECONDS", 0.2)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {media_type}\r\n"
    with socket.create_connection((http.base_url.host, http.base_url.port), 10) as connection:
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n--x\r\n".encode())
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    assert received.startswith(b"HTTP/1.1 408 ")
    assert b"within 0.2 s" in received


TABLE = b"id;output;gold;topic\n1;Paris;Paris;geo\n2;lima;Lima;geo\n3;4\n"
PICKS = [
    *STRINGS,
    ("map.custom_id", "id"),
    ("map.agent_response", "output"),
    ("map.expected_output", "gold"),
    ("map.metadata", "topic"),
]


def picked(page: Element) -> dict[str, list[str]]:
    """Return the selected values of the column pickers."""
    return {
        select.attributes["name"]: [
            option.attributes["value"]
            for option in select.all("option")
            if "selected" in option.attributes
        ]
        for select in page.all("select")
        if select.attributes.get("name", "").startswith("map.")
    }


def test_columns_of_ones_own_are_offered_with_what_they_likely_are(http: httpx.Client) -> None:
    page = page_of(sent(http, "/new/preview", STRINGS, TABLE, "answers.csv"))
    assert picked(page) == {
        "map.custom_id": ["id"],
        "map.agent_response": ["output"],
        "map.expected_output": ["gold"],
        "map.metadata": ["topic"],
    }
    columns = page.one("fieldset", id="columns")
    assert "hidden" not in columns.attributes
    assert "CSV (UTF-8, semicolon-separated)" in columns.text
    assert "rows with columns of their own" in page.one("section", id="preview").text
    assert "INVALID_ROW" in page.one("section", id="preview").text


def test_what_was_picked_decides_how_rows_are_graded(http: httpx.Client, client: Client) -> None:
    answer = sent(http, "/new", PICKS, TABLE, "answers.csv")
    assert answer.status_code == 303, answer.text[:2000]
    batch = client.batch(answer.headers["Location"].rpartition("/")[2])
    assert batch.status().counts.total == 3


def test_rows_without_a_mapping_are_refused_with_what_to_do(http: httpx.Client) -> None:
    page = page_of(sent(http, "/new", STRINGS, TABLE, "answers.csv"), 422)
    assert "MAPPING_NEEDED" in page.one("div", id="problem").text


def test_steps_of_a_format_of_ones_own_are_told_how_they_become_traces(http: httpx.Client) -> None:
    rows = b'{"at": 1, "phase": "plan", "note": "a"}\n{"at": 2, "phase": "act", "note": "b"}\n'
    told = page_of(sent(http, "/new/preview", BUDGET, rows, "log.jsonl"))
    assert "weighbridge trace map FILE" in told.one("fieldset", id="columns").text
    answers = page_of(sent(http, "/new/preview", STRINGS, TABLE, "answers.csv"))
    assert "trace map" not in answers.one("fieldset", id="columns").text


MESSAGES = [{"role": "user", "content": "Which?"}, {"role": "assistant", "content": "Graz"}]
#: A file of each tool with one answer, its name, and the id of its case.
OTHER_TOOLS = {
    "promptfoo results": (
        {"results": {"results": [{
            "promptIdx": 0, "testIdx": 4, "vars": {"expected": "Graz"}, "response": {"output": "Graz"}, "testCase": {},
        }]}},
        "results.json",
        "4-0",
    ),
    "Inspect samples": (
        {"version": 2, "samples": [{
            "id": "s1", "epoch": 1, "input": "Which?", "target": "Graz", "messages": MESSAGES,
            "output": {"model": "m", "completion": "Graz"},
        }]},
        "log.json",
        "s1/1",
    ),
    "OpenAI batch output": (
        {"custom_id": "r1", "response": {"status_code": 200, "body": {"choices": [{"message": MESSAGES[1]}]}}},
        "batch_output.jsonl",
        "r1",
    ),
    "a DeepEval dataset": (
        [{"input": "Which?", "actual_output": "Graz", "expected_output": "Graz"}], "dataset.json", "1",
    ),
    "LangSmith experiment results": (
        [{"example_id": "e1", "outputs": {"output": "Graz"}, "reference_outputs": {"output": "Graz"}}],
        "experiment.json",
        "e1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("tool", OTHER_TOOLS)
def test_a_file_of_another_tool_is_recognised_and_graded_without_a_mapping(
    http: httpx.Client, client: Client, tool: str
) -> None:
    value, name, custom_id = OTHER_TOOLS[tool]
    has_expected = tool != "OpenAI batch output"
    grader = STRINGS if has_expected else [("more_graders", '["loop"]')]
    file = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    preview = page_of(sent(http, "/new/preview", grader, file, name)).one("section", id="preview")
    assert custom_id in preview.text
    answer = sent(http, "/new", grader, file, name)
    assert answer.status_code == 303, answer.text[:2000]
    batch = client.batch(answer.headers["Location"].rpartition("/")[2])
    assert batch.case(custom_id)
    if has_expected:
        assert tool in preview.text
        assert b'"agent_response":"Graz","expected_output":"Graz"' in (batch.case(custom_id) or b"")


BATCH_OUTPUT = orjson.dumps(OTHER_TOOLS["OpenAI batch output"][0]) + b"\n"
PICKED_ANSWER = [
    *STRINGS,
    ("map.custom_id", "custom_id"),
    ("map.agent_response", "response.body.choices.0.message.content"),
]


def test_a_recognised_file_without_expected_answers_is_named_with_how_to_join_them(
    http: httpx.Client,
) -> None:
    page = page_of(sent(http, "/new/preview", STRINGS, BATCH_OUTPUT, "batch_output.jsonl"))
    lacking = "OpenAI batch output, which has no expected_output"
    assert lacking in page.one("section", id="preview").text
    columns = page.one("fieldset", id="columns").text
    assert lacking in columns
    assert "weighbridge submit --join NAME=FILE" in columns
    for fields in (STRINGS, PICKED_ANSWER):
        submitting = [*fields, ("submitting", "true")]
        answer = sent(http, "/new/preview", submitting, BATCH_OUTPUT, "batch_output.jsonl")
        problem = page_of(answer, 422).one("div", id="problem").text
        assert "expected_output" in problem
        assert "weighbridge submit --join NAME=FILE" in problem


def test_the_api_recognises_a_file_of_another_tool_where_the_mapping_is_auto(
    http: httpx.Client, client: Client
) -> None:
    value, name, custom_id = OTHER_TOOLS["promptfoo results"]
    # More of them than are looked at.
    rows = [value["results"]["results"][0] | {"testIdx": n} for n in range(4000)]
    answer = http.post(
        "/api/batches",
        params={"grader": "string-match", "mapping": "auto", "source": name},
        content=gzip.compress(orjson.dumps({"results": {"results": rows}})),
        headers={"Content-Type": "application/octet-stream"},
    )
    assert answer.status_code == 201, answer.text
    assert answer.json()["counts"]["total"] == 4000
    assert client.batch(answer.json()["batch_id"]).case(custom_id)
    refused = http.post(
        "/api/batches",
        params={"grader": "string-match", "mapping": "auto", "source": "answers.csv"},
        content=TABLE,
        headers={"Content-Type": "application/octet-stream"},
    )
    assert (refused.status_code, refused.json()["code"]) == (422, "MAPPING_NEEDED")


LARGE = {"id": "q1", "output": "Graz", "gold": "Graz", "context": "x" * 400_000}
BEYOND_PREVIEW = {
    "a.jsonl": orjson.dumps(LARGE) + b"\n",
    "a.json": orjson.dumps({"about": "x" * 400_000, "rows": [LARGE]}, option=orjson.OPT_INDENT_2),
    "a.csv": b"id,output,gold,context\nq1,Graz,Graz,%b\n" % (b"x" * 400_000),
}


@pytest.mark.parametrize("name", BEYOND_PREVIEW)
def test_rows_that_begin_behind_what_is_previewed_can_be_submitted_with_a_mapping_as_text(
    http: httpx.Client, client: Client, name: str
) -> None:
    content = BEYOND_PREVIEW[name]
    fields = [*STRINGS, ("file_size", str(len(content)))]
    page = page_of(sent(http, "/new/preview", fields, content[:HEAD_BYTES], name))
    told = " ".join(page.one("section", id="preview").text.split())
    assert "not previewed" in told
    assert "Rows with columns of their own need a mapping, as text, above." in told
    for misleading in ("nothing that can be graded", "Cannot be graded", "INVALID"):
        assert misleading not in told
    columns = page.one("fieldset", id="columns")
    assert "hidden" not in columns.attributes
    assert columns.attributes["data-key"]  # the page takes over the columns if this changes
    assert "open" in columns.one("details").attributes
    written = ("mapping", "custom_id=id,agent_response=output,expected_output=gold")
    answer = sent(http, "/new", [*STRINGS, written], content, name)
    assert answer.status_code == 303, answer.text[:2000]
    batch = client.batch(answer.headers["Location"].rpartition("/")[2])
    assert batch.status().counts.total == 1
    assert batch.case("q1")


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("what", LONG)
def test_rows_far_behind_are_found_by_the_page_and_by_the_api(
    http: httpx.Client, client: Client, what: tuple[str, str], layout: str
) -> None:
    file = orjson.dumps(LONG[what], option=LAYOUTS[layout])
    answer = http.post(
        "/api/batches",
        params={"grader": "string-match", "mapping": "auto", "source": "a.json"},
        content=file,
        headers={"Content-Type": "application/octet-stream"},
    )
    assert (answer.status_code, answer.json()["counts"]["total"]) == (201, 3), answer.text
    page = page_of(sent(http, "/new/preview", STRINGS, file, "a.json"))
    assert "Choose the columns" not in page.one("section", id="preview").text
    answer = sent(http, "/new", STRINGS, file, "a.json")
    assert answer.status_code == 303, answer.text[:2000]
    batch = client.batch(answer.headers["Location"].rpartition("/")[2])
    assert batch.status().counts.total == 3
    assert batch.case("s0/1" if what[0] == "/samples" else "0-0")


def test_each_text_of_a_list_is_accepted_as_the_expected_output(
    http: httpx.Client, client: Client
) -> None:
    answer = http.post(
        "/api/batches",
        params={
            "grader": "string-match",
            "mapping": "custom_id=id,agent_response=output,expected_output=gold",
            "source": "a.jsonl",
        },
        content=b'{"id": "1", "output": "b", "gold": ["a", "b"]}\n',
        headers={"Content-Type": "application/octet-stream"},
    )
    case = orjson.loads(client.batch(answer.json()["batch_id"]).case("1") or b"")
    assert case["inputs"]["expected_output"] == "a"
    assert case["graders"][0]["config"] == {"expected_any": ["b"]}


def test_a_mapping_as_text_goes_before_what_is_picked(http: httpx.Client) -> None:
    fields = [
        *PICKS,
        ("mapping", "custom_id={topic}-{id},agent_response=output,expected_output=gold"),
    ]
    page = page_of(sent(http, "/new/preview", fields, TABLE, "answers.csv"))
    assert "geo-1" in page.one("section", id="preview").text


def test_a_mapping_that_is_wrong_is_reported(http: httpx.Client) -> None:
    page = page_of(sent(http, "/new", [*STRINGS, ("mapping", "nonsense")], TABLE, "a.csv"), 422)
    assert "INVALID_MAPPING" in page.one("div", id="problem").text


@pytest.mark.parametrize(
    ("fields", "said", "hint"),
    [
        (
            "agent_response=output",
            "the mapping has no expected_output, which string-match needs",
            "add expected_output=COLUMN to the mapping",
        ),
        (
            "agent_respons=output,expected_output=gold",
            "no grader has an input 'agent_respons'; did you mean 'agent_response'?",
            "inputs of string-match: agent_response, expected_output",
        ),
    ],
)
def test_a_mapping_that_does_not_fit_the_graders_is_refused_and_makes_no_batch(
    http: httpx.Client, client: Client, fields: str, said: str, hint: str
) -> None:
    before = [batch.batch_id for batch in client.batches(1)]
    mapping = f"custom_id=id,{fields}"
    for path, more in (("/new/preview", [("submitting", "on")]), ("/new", [])):
        chosen = [*STRINGS, *more, ("mapping", mapping)]
        told = page_of(sent(http, path, chosen, TABLE, "a.csv"), 422).one("div", id="problem").text
        assert (said in told, hint in told) == (True, True)
    params = {"grader": "string-match", "mapping": mapping, "source": "a.csv"}
    opened = http.post("/api/open-batches", json={"graders": ["string-match"]}).json()["batch_id"]
    resumed = {"resume": opened, "mapping": mapping, "source": "a.csv"}
    for query in (params, resumed):
        problem = http.post("/api/batches", params=query, content=TABLE).json()
        assert (problem["code"], problem["detail"]) == ("INVALID_MAPPING", said)
        assert problem["hint"] == hint
    assert client.batch(opened).delete()
    assert [batch.batch_id for batch in client.batches(1)] == before


def test_a_join_is_refused_because_a_service_opens_no_other_files(http: httpx.Client) -> None:
    mapping = "custom_id=id,agent_response=output,expected_output=gold --join gold=/etc/passwd"
    page = page_of(sent(http, "/new", [*STRINGS, ("mapping", mapping)], TABLE, "a.csv"), 422)
    assert "a service opens no other files" in page.one("div", id="problem").text
    for name in ("join", "on"):
        query = http.post("/api/batches", params={name: "gold=/etc/passwd"}, content=TABLE)
        form = http.post("/api/batches", data={name: "x"}, files={"file": TABLE})
        for refused in (query, form):
            problem = refused.json()
            assert refused.status_code == 422
            assert "is for the command line only" in problem["detail"]
            assert "weighbridge submit --join" in problem["hint"]


@pytest.mark.parametrize("name", ["trace_mapping", "trace-mapping"])
def test_a_trace_mapping_is_refused_with_what_applies_it(http: httpx.Client, name: str) -> None:
    query = http.post("/api/batches", params={name: "acme.yaml"}, content=TABLE)
    form = http.post("/api/batches", data={name: "x"}, files={"file": TABLE})
    for refused in (query, form):
        problem = refused.json()
        assert refused.status_code == 422
        assert "is for the command line only" in problem["detail"]
        assert "weighbridge trace convert --trace-mapping FILE" in problem["hint"]


def test_the_api_takes_rows_with_a_mapping(http: httpx.Client, client: Client) -> None:
    mapping = "custom_id=id,agent_response=output,expected_output=gold"
    for content in (TABLE, gzip.compress(TABLE)):
        answer = http.post(
            "/api/batches",
            params={"grader": "string-match", "mapping": mapping, "source": "answers.csv"},
            content=content,
            headers={"Content-Type": "application/octet-stream"},
        )
        assert answer.status_code == 201, answer.text
        assert answer.json()["counts"]["total"] == 3

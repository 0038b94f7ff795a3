"""The catalogue over HTTP, and single jobs graded at once, however hostile they are."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import orjson
import psutil
import pytest

from support import requests
from support.http import HttpServer, ServeProcess
from support.waiting import eventually
from support.workers import environment
from weighbridge.graders.registry import default_registry
from weighbridge.grading.line_grader import grade_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer

PASSING = {"agent_response": "Paris", "expected_output": "Paris"}


@pytest.fixture(scope="module")
def service(server: EmbeddedServer) -> Iterator[HttpServer]:
    with HttpServer(server.url, job_deadline_seconds=2.0) as service:
        yield service


@pytest.fixture(scope="module")
def hazardous(server: EmbeddedServer) -> Iterator[ServeProcess]:
    """A service with the plug-in of graders that do what graders must not."""
    limits = {"job_deadline_seconds": 0.5, "child_memory_limit_bytes": 256 << 20}
    with ServeProcess(environment(server.url, **limits)) as service:
        yield service


def grade(url: str, grader: str, body: bytes | dict[str, object]) -> httpx.Response:
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    return requests.post(f"{url}/api/graders/{grader}/grade", content=content, timeout=60)


# --- The catalogue ----------------------------------------------------------------------------------


def test_the_catalogue_has_every_grader_with_what_describes_it(service: HttpServer) -> None:
    answer = requests.get(f"{service.url}/api/graders")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    [name] = answer.json()
    assert name == "graders"
    graders = {grader["id"]: grader for grader in answer.json()["graders"]}
    assert list(graders) == default_registry().ids()
    assert {fact: graders["true-false"][fact] for fact in ("id", "name")} == {
        "id": "true-false",
        "name": "True/False",
    }
    for grader in graders.values():
        assert isinstance(grader["description"], str)
        assert grader["version"] >= 1
        assert grader["config_schema"]["type"] == grader["inputs_schema"]["type"] == "object"
        assert set(grader["requirements"]) == {"step_types", "capabilities"}
        assert set(grader["example"]) >= {"config", "inputs"}


def test_one_grader_is_as_it_is_in_the_catalogue(service: HttpServer) -> None:
    for grader in requests.get(f"{service.url}/api/graders").json()["graders"]:
        assert requests.get(f"{service.url}/api/graders/{grader['id']}").json() == grader


def test_a_grader_that_nobody_knows_is_not_found_and_the_known_ones_are_named(
    service: HttpServer,
) -> None:
    for answer in (
        requests.get(f"{service.url}/api/graders/budgt"),
        grade(service.url, "budgt", {"inputs": {}}),
    ):
        assert answer.status_code == 404
        assert answer.json()["code"] == "UNKNOWN_GRADER"
        assert "did you mean 'budget'" in answer.json()["detail"]


# --- One job ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("grader", default_registry().ids())
def test_a_graders_own_example_is_graded_as_in_a_batch(service: HttpServer, grader: str) -> None:
    example = requests.get(f"{service.url}/api/graders/{grader}").json()["example"]
    job = {"inputs": example["inputs"], "config": example["config"]}
    answer = grade(service.url, grader, job)
    assert answer.status_code == 200, answer.text
    case = {"custom_id": "example", "grader": grader, **job}
    line = orjson.loads(next(iter(grade_lines([orjson.dumps(case)]))))
    expected = {
        name: line[name]
        for name in ("grader", "grader_version", "config_digest", "status", "result", "receipt")
    }
    assert answer.json() == expected


def test_no_config_means_the_graders_own(service: HttpServer) -> None:
    for job in ({"inputs": PASSING}, {"inputs": PASSING, "config": None}):
        answer = grade(service.url, "string-match", job)
        assert answer.status_code == 200
        assert answer.json()["result"]["verdict"] == "pass"


HOSTILE = {
    "nothing": (b"", "INVALID_JSON"),
    "no JSON": (b"inputs=1", "INVALID_JSON"),
    "half of it": (b'{"inputs": {', "INVALID_JSON"),
    "two values": (b'{"inputs": {}} {}', "INVALID_JSON"),
    "deep": (b'{"inputs": {"a": ' + b"[" * 100_000, "TOO_DEEP"),
    "deep objects": (b'{"inputs":' * 100_000, "TOO_DEEP"),
    "NaN": (b'{"inputs": {"agent_response": NaN}}', "NUMBER_OUT_OF_RANGE"),
    "infinite": (
        b'{"inputs": {"agent_response": 1e999, "expected_output": 1}}',
        "NUMBER_OUT_OF_RANGE",
    ),
    "huge integer": (
        b'{"inputs": {"agent_response": ' + b"9" * 5_000 + b"}}",
        "NUMBER_OUT_OF_RANGE",
    ),
    "over 64 bits": (
        b'{"inputs": {"agent_response": 18446744073709551616}}',
        "NUMBER_OUT_OF_RANGE",
    ),
    "lone surrogate": (rb'{"inputs": {"agent_response": "\ud800"}}', "LONE_SURROGATE"),
    "not UTF-8": (b'{"inputs": {"agent_response": "\xff\xfe"}}', "INVALID_UTF8"),
    "byte-order mark": (b'\xef\xbb\xbf{"inputs": {}}', "BYTE_ORDER_MARK"),
    "a key twice": (b'{"inputs": {}, "inputs": {}}', "DUPLICATE_KEY"),
    "an array": (b"[]", "NOT_AN_OBJECT"),
    "a string": (b'"inputs"', "NOT_AN_OBJECT"),
    "null": (b"null", "NOT_AN_OBJECT"),
    "no inputs": (b"{}", "MISSING_FIELD"),
    "inputs of the wrong type": (b'{"inputs": [1]}', "MISSING_FIELD"),
    "too few inputs": (b'{"inputs": {"agent_response": "a"}}', "MISSING_FIELD"),
    "too many inputs": (
        b'{"inputs": {"agent_response": 1, "expected_output": 1, "x": 1}}',
        "UNKNOWN_FIELD",
    ),
    "another field": (b'{"inputs": {}, "grader": "loop"}', "UNKNOWN_FIELD"),
    "self": (
        b'{"inputs": {"self": 1, "agent_response": 1, "expected_output": 1}}',
        "UNKNOWN_FIELD",
    ),
    "config of the wrong type": (b'{"inputs": {}, "config": []}', "INVALID_FIELD"),
    "unknown config": (
        b'{"inputs": {"agent_response": 1, "expected_output": 1}, "config": {"nope": 1}}',
        "INVALID_CONFIG",
    ),
    "a large config": (
        b'{"inputs": {"agent_response": 1, "expected_output": 1}, "config": {"x": "'
        + b"a" * 300_000
        + b'"}}',
        "INVALID_CONFIG",
    ),
    "NUL": (b'{"inputs": {}}\x00', "INVALID_JSON"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_job_is_told_in_words(service: HttpServer, name: str) -> None:
    body, code = HOSTILE[name]
    answer = grade(service.url, "string-match", body)
    assert answer.status_code == 422, answer.text
    document = answer.json()
    assert document["code"] == code, document
    assert document["detail"]
    assert len(answer.content) < 10_000


def test_a_body_over_the_limit_is_refused_before_all_of_it_is_read(service: HttpServer) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while sent < 200 << 20:
            sent += 1 << 20
            yield b" " * (1 << 20)

    try:
        answer = requests.post(
            f"{service.url}/api/graders/string-match/grade", content=endless(), timeout=60
        )
    except httpx.TransportError:
        pass  # the answer came while it was sending, and the connection is closed
    else:
        assert answer.status_code == 413
        assert answer.json()["code"] == "BODY_TOO_LARGE"
    assert sent < 50 << 20


def test_who_sends_a_little_too_much_hears_why(service: HttpServer) -> None:
    limit = service.service.settings.try_it_limit_bytes
    for content in (b" " * 2 * limit, iter([b" " * limit] * 3)):
        answer = requests.post(
            f"{service.url}/api/graders/string-match/grade", content=content, timeout=60
        )
        assert answer.status_code == 413
        assert answer.json()["code"] == "BODY_TOO_LARGE"


def test_a_body_at_the_limit_is_graded(service: HttpServer) -> None:
    limit = service.service.settings.try_it_limit_bytes
    body = orjson.dumps({"inputs": PASSING})
    assert grade(service.url, "string-match", body.ljust(limit)).status_code == 200
    assert grade(service.url, "string-match", body.ljust(limit + 1)).status_code == 413


def test_a_pattern_that_would_take_for_ever_takes_no_longer_than_a_job_may(
    service: HttpServer,
) -> None:
    tools = [
        {
            "name": "find",
            "parameters": {
                "type": "object",
                "properties": {"text": {"type": "string", "pattern": "^(a+)+$|(?=b)(x*)*y\\1"}},
            },
        }
    ]
    trace = {
        "steps": [
            {"id": "1", "type": "tool", "name": "find", "arguments": {"text": "a" * 50_000 + "!"}}
        ]
    }
    answer = grade(
        service.url, "tool-schema", {"inputs": {"trace": trace}, "config": {"tools": tools}}
    )
    assert answer.status_code == 200, answer.text
    [undecided] = answer.json()["result"]["evidence"]
    assert undecided["check"] == "arguments_are_judged"
    assert answer.elapsed.total_seconds() < 10
    assert requests.get(f"{service.url}/healthz").status_code == 200


# --- Graders that do what graders must not ----------------------------------------------------------

DEADLY = {
    "kills-itself": {"WORKER_KILLED"},
    "exits-hard": {"WORKER_KILLED"},
    "segfaults": {"WORKER_KILLED"},
    "exits": {"GRADER_CRASHED"},
    "raises": {"GRADER_CRASHED"},
    "loops": {"TIMEOUT"},
    "loops-stubbornly": {"TIMEOUT"},
    "loops-deafly": {"TIMEOUT"},
    "hangs-natively": {"TIMEOUT"},
    "eats-memory": {"OUT_OF_MEMORY", "TIMEOUT"},  # a busy machine may not come to its end in time
}


@pytest.mark.slow
@pytest.mark.parametrize("grader", DEADLY)
def test_a_grader_that_misbehaves_takes_down_its_own_process_only(
    hazardous: ServeProcess, grader: str
) -> None:
    harm = {"inputs": {"agent_response": "go", "expected_output": ""}}
    answer = grade(hazardous.url, grader, harm)
    assert answer.status_code == 422
    assert answer.json()["code"] in DEADLY[grader]
    assert answer.elapsed.total_seconds() < 15
    harmless = {"inputs": {"agent_response": "stay", "expected_output": ""}}
    assert grade(hazardous.url, grader, harmless).json()["result"]["verdict"] == "pass"


@pytest.mark.slow
def test_trials_that_hang_do_not_keep_others_from_anything_else(hazardous: ServeProcess) -> None:
    harm = {"inputs": {"agent_response": "go", "expected_output": ""}}
    address = f"{hazardous.url}/api/graders/hangs-natively/grade"
    with httpx.Client(verify=False, timeout=60) as client, ThreadPoolExecutor(16) as pool:
        trials = [pool.submit(client.post, address, json=harm) for _ in range(16)]
        asked = client.get(f"{hazardous.url}/readyz")
        assert asked.status_code == 200
        assert asked.elapsed.total_seconds() < 5
        assert not all(trial.done() for trial in trials)
        answers = [trial.result() for trial in trials]
    assert {answer.status_code for answer in answers} == {422, 503}
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert refused.json()["code"] == "TRIALS_BUSY"
    assert "retry-after" in refused.headers


def test_no_process_that_tries_a_grader_outlives_the_service(server: EmbeddedServer) -> None:
    harm = {"inputs": {"agent_response": "go", "expected_output": ""}}
    with ServeProcess(environment(server.url)) as service, ThreadPoolExecutor() as pool:
        assert grade(service.url, "string-match", {"inputs": PASSING}).status_code == 200
        [idle] = psutil.Process(service.pid).children(recursive=True)
        trials = [pool.submit(grade, service.url, "loops-deafly", harm) for _ in range(2)]
        children = eventually(
            lambda: psutil.Process(service.pid).children(recursive=True)[1:], 10, "a second child"
        )
        service.kill()
        eventually(lambda: not any(map(_runs, [idle, *children])), 5, "the end of the children")
        assert all(isinstance(trial.exception(), httpx.TransportError) for trial in trials)


def _runs(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False

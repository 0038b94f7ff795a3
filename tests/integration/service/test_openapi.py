"""The service's responses match its OpenAPI document.

Schemathesis generates requests from the document, valid and invalid ones, and follows links from one response to the
next request.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from support import requests
from support.cases import true_false_cases
from support.http import HttpServer
from support.uploads import lines_of, upload
from weighbridge_producer.service.access import auth

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.workers import StartWorker
    from weighbridge.embedded.server import EmbeddedServer

PUBLIC = {"/api/graders", "/api/graders/{grader_id}", "/healthz", "/readyz"}
#: Number of requests per operation; more take longer and find more.
EXAMPLES = 5
_SECONDS = 280
#: A batch that has ended, so that its events and its stream of results end; another one to be deleted; and a worker and
#: a key that are none, so that the real ones stay.
_CONFIG = """
[parameters]
"path.batch_id" = "{batch}"
"path.custom_id" = "c1"
"path.grader_id" = "true-false"

[checks.positive_data_acceptance]
# The document cannot say that one parameter rules out another, that a cursor is one that was given, or what a line is.
expected-statuses = ["2xx", 404, 409, 410, 422]

[checks.negative_data_rejection]
# An address that is too long is refused before its parameters are read.
expected-statuses = [400, 401, 403, 404, 405, 406, 409, 414, 415, 422, 428, 429, "5xx"]

[checks.ensure_resource_availability]
enabled = false  # the ids above stand in for those of what was just made

[[operations]]
include-method = "DELETE"
[operations.parameters]
"path.batch_id" = "{doomed}"
"path.key_id" = "nobody"

[[operations]]
include-path = "/api/workers/{{name}}/drain"
[operations.parameters]
"path.name" = "nobody"
[operations.phases.stateful]
enabled = false
"""


@pytest.fixture
def guarded(own_server: EmbeddedServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    monkeypatch.setattr(auth, "WRONG_KEYS_PER_MINUTE", 10_000)  # each operation is tried with some
    settings = {"rate_limit_per_minute": 0, "upload_silence_seconds": 5}
    with HttpServer(own_server.url, keys_required=True, **settings) as service:
        yield service


def graded(service: HttpServer, key: str) -> str:
    """Return a batch that has ended."""
    answer = upload(service.url, lines_of(true_false_cases(9)), authorization=f"Bearer {key}")
    batch: str = answer.json()["batch_id"]
    service.service.client.batch(batch).wait(60)
    return batch


def document_of(service: HttpServer) -> dict[str, Any]:
    document: dict[str, Any] = requests.get(f"{service.url}/api/openapi.json", timeout=60).json()
    return document


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_whatever_is_asked_the_answer_is_one_that_the_document_tells_of(
    guarded: HttpServer, own_server: EmbeddedServer, start_worker: StartWorker, tmp_path: Path
) -> None:
    start_worker(own_server.url, 1)
    key = guarded.make_key("admin")
    config = _CONFIG.format(batch=graded(guarded, key), doomed=graded(guarded, key))
    (tmp_path / "schemathesis.toml").write_text(config)
    command = Path(sys.executable).with_name("schemathesis")
    ended = subprocess.run(
        [
            *(command, "run", f"{guarded.url}/api/openapi.json", "--no-color"),
            *("--header", f"Authorization: Bearer {key}"),
            *("--max-examples", str(EXAMPLES), "--seed", "1", "--generation-deterministic"),
            *("--no-shrink", "--request-timeout", "20"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    operations = sum(len(methods) for methods in document_of(guarded)["paths"].values())
    assert f"Tested: {operations}\n" in ended.stdout


def test_the_document_says_what_takes_a_key(guarded: HttpServer) -> None:
    document = document_of(guarded)
    open_to_all = set()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            answer = requests.request(method, guarded.url + path, timeout=60)
            if answer.status_code != 401:
                open_to_all.add(path)
            assert ("security" in operation) == (answer.status_code == 401), (method, path)
    assert open_to_all == PUBLIC
    assert document["components"]["securitySchemes"]["key"]["scheme"] == "bearer"


def test_what_the_address_says_holds_beside_a_form_too(guarded: HttpServer) -> None:
    headers = {"Authorization": f"Bearer {guarded.make_key('submit')}"}
    files = {"file": ("cases.jsonl", lines_of(true_false_cases(1)))}

    def submitted(query: str) -> httpx.Response:
        return requests.post(f"{guarded.url}/api/batches?{query}", files=files, headers=headers)

    assert submitted("framed=null").status_code == 422
    assert submitted("gradr=loop").status_code == 422
    batch = submitted("grader=true-false").json()["batch_id"]
    options = requests.get(f"{guarded.url}/api/batches/{batch}", headers=headers).json()["options"]
    assert [spec["grader"] for spec in options["graders"]] == ["true-false"]

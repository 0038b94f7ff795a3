"""Comparing two batches over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from support import requests
from support.http import HttpServer
from support.uploads import lines_of, upload
from weighbridge_producer.service.api import comparisons

if TYPE_CHECKING:
    import httpx

    from support.workers import WorkerProcess

ANSWERS = ({"a": "Graz", "b": "Graz", "c": "Linz"}, {"a": "Linz", "b": "Graz", "c": "Graz"})


@pytest.fixture(scope="module")
def two(service: HttpServer, worker: WorkerProcess) -> list[str]:
    """Two batches: one case regressed, and one was repaired."""
    found = []
    for answers in ANSWERS:
        cases = [
            {
                "custom_id": name,
                "grader": "string-match",
                "inputs": {"agent_response": answer, "expected_output": "Graz"},
                "metadata": {"topic": name},
            }
            for name, answer in answers.items()
        ]
        batch = upload(service.url, lines_of(cases)).json()["batch_id"]
        service.service.client.batch(batch).wait(60)
        found.append(batch)
    return found


def compared(service: HttpServer, two: list[str], **query: Any) -> httpx.Response:
    asked = {"before": two[0], "after": two[1]} | query
    return requests.get(f"{service.url}/api/compare", params=asked, timeout=60)


def test_what_changed_is_told_as_the_command_tells_it(service: HttpServer, two: list[str]) -> None:
    found = compared(service, two, by="metadata.topic").json()
    assert found["groups"]["regressed"] == found["groups"]["repaired"] == 1
    assert [pair["custom_id"] for pair in found["examples"]["regressed"]] == ["a"]
    assert {each["value"] for each in found["labels"][0]["slices"]} == {"a", "b", "c"}
    assert found["gates"] == []


def test_results_are_paired_by_a_field(service: HttpServer, two: list[str]) -> None:
    found = compared(service, two, pair_by="metadata.topic").json()
    assert found["groups"] == compared(service, two).json()["groups"]
    nowhere = compared(service, two, pair_by="metadata.file")
    assert (nowhere.status_code, nowhere.json()["code"]) == (422, "INVALID_FILTER")


def test_gates_are_checked(service: HttpServer, two: list[str]) -> None:
    [met] = compared(service, two, max_regressions="1").json()["gates"]
    [missed] = compared(service, two, max_regressions="0").json()["gates"]
    assert (met["met"], missed["met"]) == (True, False)
    assert "| ❌ not met |" in compared(service, two, max_regressions="0", format="md").text


def test_a_batch_that_is_not_completed_meets_no_gate(service: HttpServer, two: list[str]) -> None:
    unfinished = service.service.client.open("cases", ())
    found = compared(service, two, before=unfinished.id, max_regressions="0").json()["gates"]
    assert found[-1]["seen"] == f"batch {unfinished.id} is validating"
    assert not found[-1]["met"]
    assert compared(service, two, before=unfinished.id).json()["gates"] == []


@pytest.mark.parametrize(
    ("form", "kind"),
    [
        ("jsonl", "application/x-ndjson"),
        ("csv", "text/csv; charset=utf-8"),
        ("tsv", "text/tab-separated-values; charset=utf-8"),
        ("parquet", "application/vnd.apache.parquet"),
        ("junit", "application/xml"),
        ("html", "text/html; charset=utf-8"),
    ],
)
def test_changes_come_in_the_forms_of_output(
    service: HttpServer, two: list[str], form: str, kind: str
) -> None:
    answer = compared(service, two, format=form)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == kind
    assert f"{two[0]}_{two[1]}" in answer.headers["content-disposition"]
    if form == "jsonl":
        groups = {orjson.loads(line)["change"] for line in answer.content.splitlines()}
        assert groups == {"regressed", "repaired"}
    assert answer.content


@pytest.mark.parametrize(
    "query",
    [
        {"max_regressions": "some"},
        {"min_effect": "0.1"},
        {"min_effect": "many", "fail_on_regression": "true"},
        {"pair_by": "topic"},
        {"by": "topic"},
        {"format": "xlsx"},
        {"wrong": "1"},
    ],
)
def test_a_wrong_request_is_refused(
    service: HttpServer, two: list[str], query: dict[str, str]
) -> None:
    assert compared(service, two, **query).status_code == 422


def test_batches_that_are_too_large_are_left_to_the_command_line(
    service: HttpServer, two: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparisons, "RESULTS_LIMIT", 5)
    answer = compared(service, two)
    assert answer.status_code == 422
    assert f"weighbridge compare {two[0]} {two[1]}" in answer.text
    assert compared(service, [two[0], "wb_no_such"]).status_code == 404

"""Large jobs on real workers with default settings: those that fit are graded, the others are errored alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from weighbridge_producer import Client

if TYPE_CHECKING:
    from support.cases import Case
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

MB = 1_000_000
SENTENCE = "The quick brown fox jumps over the lazy dog. "
#: Texts with different ratios of memory to the line's bytes: 1 to 1 in many characters, 1 to 1 in few, and 1 to 6.
TEXTS = {
    "plain": SENTENCE,
    "emoji": "\U0001f600\U0001f680",
    "control characters": "\u0001",
}


class Row(msgspec.Struct):
    """A part of a result."""

    custom_id: str
    grader: str
    error: dict[str, Any] | None


def answer(custom_id: str, text: str, size: int) -> Case:
    """Return a case whose answer has about `size` bytes as JSON."""
    width = max(len(text.encode()), 6 * text.count("\u0001"))
    inputs = {"agent_response": text * (size // width), "expected_output": "true"}
    return {"custom_id": custom_id, "inputs": inputs}


@pytest.mark.slow
def test_plain_answers_of_31_megabytes_are_graded_with_default_settings(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url)
    graders = ("true-false", "string-match")
    with Client(own_server.url) as client:
        # Both jobs of a line are graded one after the other, from the same line in memory.
        batch = client.submit(
            (answer(name, text, 31 * MB) for name, text in TEXTS.items()), graders=graders
        )
        batch.wait(180)
        # Only what is asked of the results, which have the answers in them.
        rows = [
            msgspec.json.decode(line, type=Row)
            for page in batch.pages(follow=False)
            for line in page.lines.splitlines()
        ]
        errors = {(row.custom_id, row.grader): row.error for row in rows}
    assert len(rows) == len(errors)
    assert errors == {(name, grader): None for name in TEXTS for grader in graders}
    assert "a child died" not in worker.log


def recorded_trace(size: int) -> dict[str, Any]:
    """Return a chat of about `size` bytes in which an agent reads files of 5,000 bytes."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Find the fault."}]
    for number in range(size // 5_300):
        function = {"name": "read_file", "arguments": f'{{"path": "src/part_{number}.py"}}'}
        call = {"id": f"call_{number}", "type": "function", "function": function}
        usage = {"prompt_tokens": 900 + number, "completion_tokens": 40}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call], "usage": usage},
            {
                "role": "tool",
                "tool_call_id": call["id"],
                "content": f"# {number}\n" + SENTENCE * 111,
            },
        ]
    return {"model": "gpt-4o-mini", "messages": messages}


@pytest.mark.slow
def test_recorded_traces_of_31_megabytes_are_graded_with_default_settings(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker, trace = start_worker(own_server.url), recorded_trace(31 * MB)
    configs: dict[str, Any] = {
        "budget": {"max_tool_calls": 12},
        "loop": None,
        "tool-schema": {"blocklist": ["delete_*"]},
    }
    with Client(own_server.url) as client:
        batch = client.submit(
            {"custom_id": name, "inputs": {"trace": trace}, "grader": name, "config": config}
            for name, config in configs.items()
        )
        batch.wait(120)
        errors = {row["custom_id"]: row["error"] for row in batch.results(follow=False)}
    assert errors == dict.fromkeys(configs)
    assert "a child died" not in worker.log


AROUND = 300


def outcomes(worker: WorkerProcess, *poison: Case) -> list[dict[str, Any]]:
    """Grade cases in the middle of ordinary ones, check the ordinary ones, and return the results of the others."""
    around = list(true_false_cases(AROUND))
    with Client(worker.url) as client:
        batch = client.submit([*around[: AROUND // 2], *poison, *around[AROUND // 2 :]])
        batch.wait(120)
        results = results_by_id(batch)
        # The worker continues, and so do the other jobs.
        client.submit(true_false_cases(20)).wait(30)
    assert_graded_right(results, AROUND)
    return [results[case["custom_id"]] for case in poison]


@pytest.mark.parametrize("grader", ["fills-memory", "fills-memory-natively"])
def test_a_job_that_fills_the_memory_is_out_of_memory_after_one_death_with_default_settings(
    own_server: EmbeddedServer, start_worker: StartWorker, grader: str
) -> None:
    worker = start_worker(own_server.url)
    (result,) = outcomes(worker, hazard_case("hog", grader))
    assert result["error"]["code"] == "OUT_OF_MEMORY"
    assert "a worker child may hold 512 MiB" in result["error"]["message"]
    assert worker.log.count("a child died by") == 1


def test_jobs_that_fill_the_memory_each_cost_one_death_and_one_result(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, child_memory_limit_bytes=128 << 20)
    hogs = [hazard_case(f"hog-{number}", "fills-memory") for number in range(4)]
    results = outcomes(worker, *hogs)
    assert {result["error"]["code"] for result in results} == {"OUT_OF_MEMORY"}
    assert worker.log.count("a child died by") == 4


def test_a_line_too_large_for_the_memory_limit_is_out_of_memory_without_being_tried(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, child_memory_limit_bytes=64 << 20)
    (result,) = outcomes(worker, {**answer("large", SENTENCE, 20 * MB), "grader": "true-false"})
    assert result["error"]["code"] == "OUT_OF_MEMORY"
    assert "lines of up to 16,777,216 bytes can be graded" in result["error"]["message"]
    assert "a child died" not in worker.log


def test_jobs_are_not_blamed_for_memory_that_others_left_behind(
    own_server: EmbeddedServer, start_worker: StartWorker
) -> None:
    worker = start_worker(own_server.url, 1, child_memory_limit_bytes=128 << 20)
    # Each job keeps 20 MB, so the seventh job in one process exceeds the limit, whichever job it is.
    hoards = [hazard_case(f"hoard-{number}", "hoards", expected=20) for number in range(24)]
    assert {result["status"] for result in outcomes(worker, *hoards)} == {"graded"}

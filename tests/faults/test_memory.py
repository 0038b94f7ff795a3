"""Large jobs under real workers with default settings: what fits is graded, what does not is errored once, alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.cases import assert_graded_right, hazard_case, results_by_id, true_false_cases
from weighbridge_producer import Client

if TYPE_CHECKING:
    from support.cases import Case
    from support.workers import StartWorker, WorkerProcess
    from weighbridge.embedded import EmbeddedServer

MB = 1_000_000
SENTENCE = "The quick brown fox jumps over the lazy dog. "
#: Texts by what they need in memory for a byte of the line: one byte, two for three, four for four and four for one.
TEXTS = {
    "plain": SENTENCE,
    "Chinese": "\u4e2d\u6587\u7b54\u6848",
    "emoji": "\U0001f600\U0001f680",
    "control characters": "\u0001",
}


def answer(custom_id: str, grader: str, text: str, size: int) -> Case:
    """Return a case whose answer takes about so many bytes as JSON."""
    width = max(len(text.encode()), 6 * text.count("\u0001"))
    inputs = {"agent_response": text * (size // width), "expected_output": "true"}
    return {"custom_id": custom_id, "inputs": inputs, "grader": grader}


@pytest.mark.slow
@pytest.mark.parametrize("grader", ["true-false", "string-match"])
def test_plain_answers_of_up_to_31_megabytes_are_graded_with_default_settings(
    own_server: EmbeddedServer, start_worker: StartWorker, grader: str
) -> None:
    worker = start_worker(own_server.url)
    sizes = (20 * MB, 31 * MB)
    with Client(own_server.url) as client:
        batch = client.submit(
            answer(f"{name} {size}", grader, text, size)
            for name, text in TEXTS.items()
            for size in sizes
        )
        batch.wait(180)
        statuses = {row["custom_id"]: row["error"] for row in batch.results(follow=False)}
    assert statuses == {f"{name} {size}": None for name in TEXTS for size in sizes}
    assert "a child died" not in worker.log

"""Cases to submit, and their expected results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge_producer import Batch

Case = dict[str, Any]


def true_false_cases(count: int, first: int = 0) -> Iterator[Case]:
    """Yield `count` true-false cases named `c0`, `c1` and so on; every third one fails."""
    for number in range(first, first + count):
        yield {
            "custom_id": f"c{number}",
            "inputs": {
                "agent_response": "no" if number % 3 == 0 else "yes",
                "expected_output": "true",
            },
            "grader": "true-false",
        }


def expected_verdict(custom_id: str) -> str:
    """Return the expected verdict of a case from `true_false_cases`."""
    return "fail" if int(custom_id[1:]) % 3 == 0 else "pass"


def hazard_case(
    custom_id: str, grader: str, response: object = "go", expected: object = ""
) -> Case:
    """Return a case for one of the graders in `plugins/hazard_graders.py`."""
    return {
        "custom_id": custom_id,
        "inputs": {"agent_response": response, "expected_output": expected},
        "grader": grader,
    }


def sleepy_cases(count: int, seconds: float) -> list[Case]:
    """Return `count` cases that take `seconds` each, for workers with that plug-in."""
    return [hazard_case(f"s{number}", "sleeps", expected=seconds) for number in range(count)]


def write_cases(path: Path, cases: Iterable[Case]) -> Path:
    """Write cases as a JSONL file."""
    with path.open("wb") as file:
        file.writelines(orjson.dumps(case, option=orjson.OPT_APPEND_NEWLINE) for case in cases)
    return path


def results_by_id(batch: Batch) -> dict[str, dict[str, Any]]:
    """Return the results of an ended batch by custom_id, after asserting that each occurs once.

    This also asserts that the batch's counts agree with the result lines.
    """
    state = batch.status()
    results = list(batch.results(follow=False))
    times = Counter(result["custom_id"] for result in results)
    assert {custom_id: n for custom_id, n in times.items() if n != 1} == {}
    assert_counts_agree(state, results)
    return {result["custom_id"]: result for result in results}


def assert_counts_agree(state: BatchState, results: Iterable[dict[str, Any]]) -> None:
    """Assert that an ended batch's counts agree with its result lines."""
    counts = state.counts
    found = Counter(
        result["result"]["verdict"] if result["status"] == "graded" else result["status"]
        for result in results
    )
    assert counts.as_dict() == {
        "total": found.total(),
        "graded": found["pass"] + found["fail"] + found["ungradable"],
        "passed": found["pass"],
        "failed": found["fail"],
        "ungradable": found["ungradable"],
        "errored": found["errored"],
        "cancelled": found["cancelled"],
        "expired": found["expired"],
        "pending": 0,
    }


def assert_graded_right(results: dict[str, dict[str, Any]], count: int) -> None:
    """Assert that the first `count` cases of `true_false_cases` have the expected verdicts."""
    wrong = {
        custom_id: result
        for custom_id in (f"c{number}" for number in range(count))
        for result in [results.get(custom_id)]
        if result is None
        or result["status"] != "graded"
        or result["result"]["verdict"] != expected_verdict(custom_id)
    }
    assert wrong == {}

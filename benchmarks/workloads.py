"""Workloads: the lines to grade, and the ways that grade them by default."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from benchmarks.generated_traces import ordinary, text_of
from weighbridge.settings import read_settings
from weighbridge_producer.input.source import Source

EXAMPLES = Path(__file__).resolve().parents[1] / "examples" / "traces"
RESPONSES = ("yes", "no", "True", "false", "maybe", "1", "0", " YES ")
LIMITS = {"max_tokens": 5_000_000, "max_tool_calls": 2_000, "max_steps": 5_000}
TRACE_GRADERS = ({"grader": "budget", "config": LIMITS}, "loop", "tool-schema")
ALL = ("product", "pool", "chunked", "cluster", "single", "tool")
LARGE_STEPS = 8_300  #: steps in a trace of 5 MB


@dataclass(frozen=True, slots=True)
class Workload:
    """Lines to grade."""

    name: str
    title: str
    lines: int
    graders: tuple[Any, ...]
    cases: Callable[[int], Iterator[dict[str, Any]]]  #: yields a number of cases
    groups: tuple[str, ...]  #: groups of the ways that grade it
    one_by_one: bool = False
    usual: bool = True  #: whether it is measured by default

    def write(self, path: Path, lines: int) -> None:
        """Write a number of lines."""
        with path.open("wb") as file:
            for case in self.cases(lines):
                file.write(orjson.dumps(case, option=orjson.OPT_APPEND_NEWLINE))


def case_of(number: int, **inputs: Any) -> dict[str, Any]:
    """Return a case."""
    return {"custom_id": f"job-{number:07d}", "inputs": inputs}


def booleans(lines: int) -> Iterator[dict[str, Any]]:
    """Yield small true-false cases of about 90 bytes each."""
    for number in range(lines):
        expected = ("true", "false")[number // 3 % 2]
        yield case_of(number, agent_response=RESPONSES[number % 8], expected_output=expected)


def strings(lines: int) -> Iterator[dict[str, Any]]:
    """Yield string-match cases of two texts of 2,000 characters, which differ in one of ten cases."""
    for number in range(lines):
        text = text_of(random.Random(number), 2_100)[:2_000]
        answer = f"{text[:1_500]}?{text[1_501:]}" if number % 10 == 0 else text
        yield case_of(number, agent_response=answer, expected_output=text)


def stored_traces(lines: int, folder: str | Path = EXAMPLES) -> Iterator[dict[str, Any]]:
    """Yield stored traces repeatedly; raises ValueError for a folder without any."""
    stored = list(traces_in(folder))
    if not stored:
        raise ValueError(f"{folder} has no traces")
    for number in range(lines):
        yield case_of(number, trace=stored[number % len(stored)])


def traces_in(files: str | Path) -> Iterator[Any]:
    """Yield the traces in a file or folder, as JSON values in their own formats; what is none is left out."""
    for line in Source(files, read_settings()):
        case = orjson.loads(line.raw) if line.fault is None and line.raw.strip() else None
        if type(case) is dict and "trace" in case.get("inputs", {}):
            yield case["inputs"]["trace"]


def large_traces(lines: int) -> Iterator[dict[str, Any]]:
    """Yield traces of about 5 MB."""
    for number in range(lines):
        yield case_of(number, trace=json.loads(ordinary(LARGE_STEPS, seed=number)))


def skewed(lines: int) -> Iterator[dict[str, Any]]:
    """Yield traces that are small, except about one in 200, which has 4,000 steps."""
    chance = random.Random(1)
    for number in range(lines):
        steps = 4_000 if chance.random() < 0.005 else chance.randrange(4, 40)
        yield case_of(number, trace=json.loads(ordinary(steps, seed=number)))


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("booleans", "Small booleans", 200_000, ("true-false",), booleans, ALL),
        Workload("strings", "Strings of 2,000 characters", 50_000, ("string-match",), strings, ALL[:3]),
        Workload("traces", "Stored traces, three graders", 5_000, TRACE_GRADERS, stored_traces, ALL[:3]),
        Workload("large-traces", "Traces of 5 MB, three graders", 20, TRACE_GRADERS, large_traces, ALL[:3]),
        Workload("skewed", "A skewed mix of traces, three graders", 2_000, TRACE_GRADERS, skewed, ALL[:2]),
        Workload("latency", "One line at a time, workers idle", 150, ("true-false",), booleans, ALL, one_by_one=True),
        Workload("million", "1,000,000 small booleans", 1_000_000, ("true-false",), booleans, ALL[:2], usual=False),
    )
}  # fmt: skip

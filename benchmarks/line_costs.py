"""CPU time of a line through parsing, validation, grading, receipt, counting and encoding, beside what cannot be left out.

    python -m benchmarks.line_costs [--rounds 7]

What cannot be left out is the grader's `grade`, one `orjson.loads` of the line and one `orjson.dumps` of the result. The kinds
of lines take turns, and medians of ratios are printed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import orjson

from benchmarks.generated_traces import ordinary
from benchmarks.workloads import LIMITS, RESPONSES
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.graders.registry import Registry
from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import parse_specs

LINES = 2_000
SHORT, LONG = 35, 2_000  #: characters of a text


class Kind(NamedTuple):
    """Lines of one kind, and the grader that judges them."""

    name: str
    grader: str
    inputs: Callable[[int], dict[str, Any]]
    config: dict[str, Any] = {}  # noqa: RUF012 - never changed
    lines: int = LINES


def answers(number: int) -> dict[str, Any]:
    """Return a pair for `true-false`."""
    return {"agent_response": RESPONSES[number % 8], "expected_output": "true"}


def texts(characters: int, *, are_equal: bool) -> Callable[[int], dict[str, Any]]:
    """Return what makes pairs of texts of some length."""

    def inputs(number: int) -> dict[str, Any]:
        text = (f"{number} words " * characters)[:characters]
        return {"agent_response": text if are_equal else f"{text[:-1]}?", "expected_output": text}

    return inputs


def traces(number: int) -> dict[str, Any]:
    """Return a trace of 20 steps."""
    return {"trace": json.loads(ordinary(20, seed=number))}


KINDS = (
    Kind("true-false", "true-false", answers),
    Kind(f"string-match, {SHORT} characters, equal", "string-match", texts(SHORT, are_equal=True)),
    Kind(f"string-match, {LONG} characters, equal", "string-match", texts(LONG, are_equal=True)),
    Kind(f"string-match, {SHORT} characters, different", "string-match", texts(SHORT, are_equal=False)),
    Kind("budget, 20 steps", "budget", traces, LIMITS, 200),
    Kind("loop, 20 steps", "loop", traces, {}, 200),
    Kind("tool-schema, 20 steps", "tool-schema", traces, {}, 200),
)  # fmt: skip


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


class Lines:
    """The lines of a kind."""

    def __init__(self, kind: Kind) -> None:
        cases = [{"custom_id": f"job-{n}", "inputs": kind.inputs(n)} for n in range(kind.lines)]
        self.raw = [orjson.dumps(case) for case in cases]
        spec = {"grader": kind.grader, "config": kind.config}
        self._grader = LineGrader(parse_specs([spec]))
        self._own = Registry().get(kind.grader)(config=kind.config)

    def grade(self) -> None:
        """Grade the lines as a worker does."""
        tally = Tally()
        for number, raw in enumerate(self.raw):
            self._grader.grade(Line(number, number + 1, raw), tally)

    def do_the_least(self) -> None:
        """Read the lines, call the grader, and write its results."""
        for raw in self.raw:
            orjson.dumps(self._own.grade(**orjson.loads(raw)["inputs"]))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    collect_garbage_seldom()  # as in a worker's child
    lines = [Lines(kind) for kind in KINDS]
    took: list[list[tuple[float, float]]] = [[] for _ in KINDS]
    for _ in range(rounds):
        for each, times in zip(lines, took, strict=True):
            times.append((seconds(each.grade), seconds(each.do_the_least)))
    for kind, times in zip(KINDS, took, strict=True):
        cost = statistics.median(whole for whole, _ in times) / kind.lines * 1e6
        ratio = statistics.median(whole / least for whole, least in times)
        print(f"{kind.name}: {cost:,.1f} us a line, {ratio:.1f} times the least")


if __name__ == "__main__":
    main()

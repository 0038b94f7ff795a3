"""Time of the import and the three graders, as a multiple of reading the same bytes with `json.loads`.

    python -m benchmarks.traces [--rounds 7]

The kinds of traces take turns, and medians of ratios are compared. With a folder of traces, it prints a Markdown table
of the CPU time per step for each format and grader, with the shortest time of all rounds for each trace and stage.

    python -m benchmarks.traces --data FOLDER
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial

import orjson

from benchmarks.generated_traces import failing, giant, ordinary
from benchmarks.workloads import LIMITS, traces_in
from weighbridge.child_process import collect_garbage_seldom
from weighbridge.errors import TraceError
from weighbridge.graders import BudgetGrader, LoopGrader, ToolSchemaGrader
from weighbridge.graders.loop.config import LoopConfig
from weighbridge.graders.loop.history.actions import history_of
from weighbridge.graders.loop.history.identity import CallNumbering
from weighbridge.graders.loop.work_budget import WorkBudget
from weighbridge.traces import Trace, read_trace


def read(data: bytes) -> Trace:
    """Import a trace from its bytes."""
    return read_trace(orjson.loads(data))


def grade_all(data: bytes) -> None:
    """Import a trace from its bytes, and grade it with all three graders."""
    trace = read(data)
    for grader in (BUDGET, LOOP, TOOL_SCHEMA):
        grader.grade(trace)


def number_calls(trace: Trace) -> None:
    """Read and number the calls of a trace, as the loop grader does before it searches for loops."""
    budget = WorkBudget()
    history = history_of(trace.steps, frozenset({"tool"}), frozenset({"llm"}), budget)
    CallNumbering(LoopConfig().similarity_threshold, budget, compare_results=True).apply(history)


BUDGET, LOOP, TOOL_SCHEMA = BudgetGrader(config=LIMITS), LoopGrader(), ToolSchemaGrader()


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of a call in seconds, which depends less on other processes than elapsed time."""
    start = time.thread_time()
    work()
    return time.thread_time() - start


KINDS: dict[str, Callable[[], bytes]] = {
    "1,000 steps": lambda: ordinary(1_000),
    "10,000 steps": lambda: ordinary(10_000),
    "1,000 all-different failing calls": lambda: failing(2_000),
    "1,000 such calls with long arguments": lambda: failing(2_000, 4_000),
    "arguments of 1,000,000 characters": lambda: giant(1_000_000),
    "100,000 steps": lambda: ordinary(100_000),
}
SLOW_BYTES = 10_000_000  #: larger traces are measured in fewer rounds


class Times:
    """Seconds of each kind of trace and each way per round, because a slow phase of the machine slows a whole round."""

    def __init__(self) -> None:
        self.rounds: list[dict[tuple[str, str], float]] = []

    def median(self, kind: str, way: str) -> float:
        """Return the median seconds."""
        return statistics.median(took[kind, way] for took in self.rounds if (kind, way) in took)

    def ratio(self, one: tuple[str, str], other: tuple[str, str]) -> float:
        """Return the median, over the rounds, of one time divided by another."""
        return statistics.median(
            took[one] / took[other] for took in self.rounds if one in took and other in took
        )


def measure(traces: dict[str, bytes], rounds: int) -> Times:
    """Measure all kinds of traces and all ways in turn."""
    times = Times()
    for number in range(rounds):
        took = {}
        for kind, data in traces.items():
            if len(data) > SLOW_BYTES and number > 2:
                continue
            took[kind, "json"] = seconds(partial(json.loads, data))
            took[kind, "all"] = seconds(partial(grade_all, data))
            took[kind, "import"] = seconds(partial(read, data))
            trace = read(data)
            for grader in (BUDGET, LOOP, TOOL_SCHEMA):
                took[kind, grader.id] = seconds(partial(grader.grade, trace))
            took[kind, "calls"] = seconds(partial(number_calls, trace))
        times.rounds.append(took)
    return times


def against_json(rounds: int) -> None:
    """Print the time for each kind of trace, as a multiple of json.loads of the same bytes."""
    traces = {kind: make() for kind, make in KINDS.items()}
    collect_garbage_seldom()  # as in a worker's child
    times = measure(traces, rounds)
    for kind, data in traces.items():
        ways = ("json", "import", "budget", "loop", "tool-schema")
        parts = ", ".join(f"{way} {times.median(kind, way) * 1000:.1f}" for way in ways)
        print(
            f"{kind} ({len(data) / 10**6:.1f} MB): {times.median(kind, 'all') * 1000:,.1f} ms, "
            f"{times.ratio((kind, 'all'), (kind, 'json')):.1f} x json.loads  (ms: {parts};"
            f" the calls of loop {times.median(kind, 'calls') * 1000:.1f})"
        )
    usual = ("1,000 steps", "all")
    growth = times.ratio(("10,000 steps", "all"), usual)
    worst = times.ratio(("1,000 all-different failing calls", "all"), usual)
    before_searches = sum(
        times.ratio((usual[0], way), (usual[0], "json"))
        for way in ("import", BUDGET.id, TOOL_SCHEMA.id, "calls")
    )
    print(
        f"1,000 steps / json.loads: {times.ratio(usual, (usual[0], 'json')):.1f}   (aim: 6 or less;"
        f" {before_searches:.1f} before loop begins to search)"
    )
    print(f"10,000 steps / 1,000 steps: {growth:.1f}   (aim: 12 or less)")
    print(f"1,000 failing calls / 1,000 steps: {worst:.1f}   (aim: 4 or less)")


WAYS = ("json.loads", "import", *(grader.id for grader in (BUDGET, LOOP, TOOL_SCHEMA)))


def nanoseconds(work: Callable[[], object], rounds: int) -> int:
    """Return the shortest CPU time of a call in nanoseconds."""
    took = []
    for _ in range(rounds):
        start = time.thread_time_ns()
        work()
        took.append(time.thread_time_ns() - start)
    return min(took)


def by_format(data: str, rounds: int) -> None:
    """Print the time per step of each way, for each format of stored traces."""
    collect_garbage_seldom()
    traces: dict[str, int] = defaultdict(int)
    steps: dict[str, int] = defaultdict(int)
    sums: dict[str, list[int]] = defaultdict(lambda: [0] * len(WAYS))
    for stored in traces_in(data):
        raw = orjson.dumps(stored)
        try:
            trace = read(raw)
        except TraceError:
            continue
        value = orjson.loads(raw)
        works = [partial(json.loads, raw), partial(read_trace, value)]
        works += [partial(grader.grade, trace) for grader in (BUDGET, LOOP, TOOL_SCHEMA)]
        for name in (trace.format, "all"):
            traces[name] += 1
            steps[name] += len(trace.steps)
        for way, work in enumerate(works):
            took = nanoseconds(work, rounds)
            sums[trace.format][way] += took
            sums["all"][way] += took
    print(f"| format | traces | steps | {' | '.join(WAYS)} | sum / json.loads |")
    print(f"|---|---|---|{'---|' * len(WAYS)}---|")
    for name in sorted(sums, key=lambda name: (name == "all", name)):
        per_step = " | ".join(f"{took / 1_000 / max(1, steps[name]):.1f}" for took in sums[name])
        ratio = sum(sums[name][1:]) / sums[name][0]
        print(f"| {name} | {traces[name]:,} | {steps[name]:,} | {per_step} | {ratio:.1f} |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--data", help="a folder or file of traces")
    options = parser.parse_args()
    if options.data:
        by_format(options.data, options.rounds)
    else:
        against_json(options.rounds)


if __name__ == "__main__":
    main()

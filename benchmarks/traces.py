"""Traces: what import and the three graders cost, against reading the same bytes with `json.loads`.

    python benchmarks/traces.py [--rounds 7]

and, with a folder of trace files, `weighbridge run` over all of them with all three graders, against a process pool
of as many workers that grades the same lines with no queue:

    python benchmarks/traces.py --data FOLDER [--workers 2] [--rounds 5]

What counts is the ratio; the ways take turns, and medians are compared.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from weighbridge.child_process import collect_garbage_seldom
from weighbridge.graders import BudgetGrader, LoopGrader, ToolSchemaGrader
from weighbridge.grading.line_grader import LineGrader, Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.model import parse_specs
from weighbridge.settings import read_settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.source import Source

LIMITS = {"max_tokens": 5_000_000, "max_tool_calls": 2_000, "max_steps": 5_000}
GRADERS = ({"grader": "budget", "config": LIMITS}, "loop", "tool-schema")
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {"query": {"type": "string"}, "page": {"type": "integer"}},
                "required": ["query"],
            },
        },
    }
    for name in ("search", "fetch", "edit", "run")
]
WORDS = [
    f"{a}{b}"
    for a in ("re", "un", "fore", "in", "pre")
    for b in ("port", "form", "cast", "view", "act", "turn")
]


def text_of(chance: random.Random, characters: int) -> str:
    """Return some words."""
    return " ".join(chance.choices(WORDS, k=characters // 7))


def result_of(chance: random.Random) -> str:
    """Return what tools answer: JSON as text, 500 characters or so."""
    rows = [
        {
            "id": chance.randrange(10**6),
            "name": text_of(chance, 14),
            "price": chance.randrange(10**4) / 100,
        }
        for _ in range(8)
    ]
    return json.dumps({"status": "ok", "rows": rows, "note": text_of(chance, 60)})


def ordinary(steps: int) -> bytes:
    """Return a chat of about that many steps, 500 bytes each, in which every call is another."""
    chance = random.Random(steps)
    messages: list[dict[str, Any]] = [{"role": "user", "content": text_of(chance, 300)}]
    for number in range(steps // 2):
        call_id = f"call_{number}"
        arguments = json.dumps({"query": text_of(chance, 80), "page": number})
        function = {
            "name": chance.choice(("search", "fetch", "edit", "run")),
            "arguments": arguments,
        }
        usage = {
            "prompt_tokens": 1000 + number,
            "completion_tokens": 50,
            "total_tokens": 1050 + number,
        }
        messages += [
            {"role": "assistant", "content": text_of(chance, 120), "usage": usage,
             "tool_calls": [{"id": call_id, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": call_id, "content": result_of(chance)},
        ]  # fmt: skip
    return json.dumps({"messages": messages, "tools": TOOLS}).encode()


def failing(steps: int, characters: int = 300) -> bytes:
    """Return a chat of calls that all fail alike, each with other, long arguments: the worst case for finding loops."""
    chance = random.Random(steps)
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(steps // 2):
        call_id = f"call_{number}"
        function = {"name": "run", "arguments": json.dumps({"query": text_of(chance, characters)})}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": call_id, "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": call_id, "content": "Error: the command failed with exit code 1"},
        ]  # fmt: skip
    return json.dumps({"messages": messages, "tools": TOOLS}).encode()


def giant(characters: int) -> bytes:
    """Return calls with arguments of a million characters."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for number in range(8):
        function = {
            "name": "run",
            "arguments": json.dumps({"query": f"{number % 2}" + "x" * characters}),
        }
        messages.append(
            {
                "role": "assistant",
                "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
            }
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": "y" * characters})
    return json.dumps(messages).encode()


def grade_all(data: bytes) -> None:
    """Import a trace from its bytes and let all three graders judge it."""
    trace = read_trace(orjson.loads(data))
    for grader in (BUDGET, LOOP, TOOL_SCHEMA):
        grader.grade(trace)


BUDGET, LOOP, TOOL_SCHEMA = BudgetGrader(config=LIMITS), LoopGrader(), ToolSchemaGrader()


def seconds(work: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


KINDS: dict[str, Callable[[], bytes]] = {
    "1,000 steps": lambda: ordinary(1_000),
    "10,000 steps": lambda: ordinary(10_000),
    "1,000 all-different failing calls": lambda: failing(2_000),
    "1,000 such calls with long arguments": lambda: failing(2_000, 4_000),
    "arguments of 1,000,000 characters": lambda: giant(1_000_000),
    "100,000 steps": lambda: ordinary(100_000),
}
SLOW_BYTES = 10_000_000  #: a larger trace is measured in few rounds


class Times:
    """The seconds of each kind of trace and each way, round by round: a machine's slow minute slows all of a round."""

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
    """Let all kinds of traces and all ways take turns."""
    times = Times()
    for number in range(rounds):
        took = {}
        for kind, data in traces.items():
            if len(data) > SLOW_BYTES and number > 2:
                continue
            took[kind, "json"] = seconds(lambda data=data: json.loads(data))
            took[kind, "all"] = seconds(lambda data=data: grade_all(data))
            took[kind, "import"] = seconds(lambda data=data: read_trace(orjson.loads(data)))
            trace = read_trace(orjson.loads(data))
            for grader in (BUDGET, LOOP, TOOL_SCHEMA):
                took[kind, grader.id] = seconds(
                    lambda grader=grader, trace=trace: grader.grade(trace)
                )
        times.rounds.append(took)
    return times


def against_json(rounds: int) -> None:
    """Print what each kind of trace costs, as multiples of json.loads of the same bytes."""
    traces = {kind: make() for kind, make in KINDS.items()}
    collect_garbage_seldom()  # as a worker's child does
    times = measure(traces, rounds)
    for kind, data in traces.items():
        ways = ("json", "import", "budget", "loop", "tool-schema")
        parts = ", ".join(f"{way} {times.median(kind, way) * 1000:.1f}" for way in ways)
        print(
            f"{kind} ({len(data) / 10**6:.1f} MB): {times.median(kind, 'all') * 1000:,.1f} ms, "
            f"{times.ratio((kind, 'all'), (kind, 'json')):.1f} x json.loads  (ms: {parts})"
        )
    usual = ("1,000 steps", "all")
    growth = times.ratio(("10,000 steps", "all"), usual)
    worst = times.ratio(("1,000 all-different failing calls", "all"), usual)
    print(
        f"1,000 steps / json.loads: {times.ratio(usual, (usual[0], 'json')):.1f}   (aim: 6 or less)"
    )
    print(f"10,000 steps / 1,000 steps: {growth:.1f}   (aim: 12 or less)")
    print(f"1,000 failing calls / 1,000 steps: {worst:.1f}   (aim: 4 or less)")


SPECS = parse_specs(list(GRADERS))
_grader = LineGrader(SPECS)


def grade_lines(lines: list[Line]) -> bytes:
    """Grade some lines in a pool's process."""
    tally = Tally()
    return b"".join(_grader.grade(line, tally) for line in lines)


def run_pool(data: str, out: Path, pool: Any) -> None:
    """Grade every trace of the input with a process pool, and no queue."""

    def slices():  # type: ignore[no-untyped-def]
        held, size = [], 0
        for number, line in enumerate(Source(data, read_settings()), start=1):
            held.append(line.as_job(number))
            size += len(line.raw)
            if size > 256 * 1024:
                yield held
                held, size = [], 0
        if held:
            yield held

    with out.open("wb") as target:
        for results in pool.imap_unordered(grade_lines, slices()):
            target.write(results)


def run_weighbridge(data: str, out: Path, graders: Path, workers: int) -> float:
    """Return the seconds that `weighbridge run` says it took, from the first line read to the last result written."""
    command = [
        sys.executable,
        "-c",
        "from weighbridge_producer.cli import main; main()",
        "run",
        data,
    ]
    flags = ["--graders", str(graders), "--workers", str(workers), "-o", str(out), "--json"]
    answer = subprocess.run([*command, *flags], capture_output=True, check=False)
    if answer.returncode not in {0, 1, 100}:
        sys.exit(answer.stderr.decode())
    return float(json.loads(answer.stdout)["seconds"])


def against_no_queue(data: str, workers: int, rounds: int) -> None:
    """Print the rate of `weighbridge run` over a folder of traces beside that of a process pool."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["WEIGHBRIDGE_STATE_DIR"] = str(folder / "state")
        graders = folder / "graders.json"
        graders.write_bytes(orjson.dumps({"graders": list(GRADERS)}))
        for _ in range(rounds):
            ours.append(run_weighbridge(data, folder / "ours.jsonl", graders, workers))
            # Processes as fresh as ours: no round finds what an earlier one has compiled.
            with multiprocessing.Pool(workers, collect_garbage_seldom) as pool:
                pool.map(len, [b""] * workers)
                theirs.append(seconds(partial(run_pool, data, folder / "theirs.jsonl", pool)))
            mine, other = (
                sorted((folder / n).read_bytes().splitlines())
                for n in ("ours.jsonl", "theirs.jsonl")
            )
            if mine != other:
                sys.exit("weighbridge and the pool wrote different results")
    ratio = statistics.median(b / a for a, b in zip(ours, theirs, strict=True))
    print(
        f"weighbridge {statistics.median(ours):.2f} s, no queue {statistics.median(theirs):.2f} s ({len(mine):,} results)"
    )
    print(f"weighbridge / no queue: {ratio:.2f}   (aim: 0.8 or more)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", help="a folder or file of traces")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if options.data:
        against_no_queue(options.data, options.workers, options.rounds)
    else:
        against_json(options.rounds)


if __name__ == "__main__":
    main()

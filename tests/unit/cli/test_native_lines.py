"""Lines of the native form: their ids."""

from __future__ import annotations

from contextlib import closing

import orjson

from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.traces import read_traces
from weighbridge_producer.cli.native_lines import UniqueLines
from weighbridge_producer.cli.trace_input import NamedTrace
from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex


class CountingIndex(DuplicateIndex):
    """Counts the ids that are tried."""

    claims = 0

    def claim(self, custom_id: str, line: bytes) -> Duplicate:
        self.claims += 1
        return super().claim(custom_id, line)


def named(name: str, text: str) -> NamedTrace:
    steps = [{"type": "llm", "output": text}]
    return NamedTrace(name, *read_traces({"format": "weighbridge", "id": name, "steps": steps}))


def ids_of(traces: list[NamedTrace], location: str = "line 1") -> tuple[list[str], int]:
    """Return the ids that traces of one line are given, and how many ids were tried."""
    with closing(CountingIndex()) as index:
        lines = UniqueLines(index)
        written = [orjson.loads(lines.line(found, location)) for found in traces]
        return [line["id"] for line in written], index.claims


def test_different_traces_of_one_line_with_one_id_are_numbered_and_equal_ones_share_an_id():
    traces = [named("a", text) for text in "xyzyx"] + [named("b", text) for text in "xy"]
    ids, _ = ids_of(traces)
    assert ids == ["a", "a (line 1)", "a (line 1, 2)", "a (line 1)", "a", "b", "b (line 1)"]


def test_an_id_that_another_trace_has_of_its_own_is_not_given_again():
    ids, _ = ids_of([named("a (line 1)", "v"), *(named("a", text) for text in "xyz")])
    assert ids == ["a (line 1)", "a", "a (line 1, 2)", "a (line 1, 3)"]


def test_each_of_many_traces_of_one_line_with_one_id_tries_few_ids():
    ids, tried = ids_of([named("a", str(number)) for number in range(300)])
    assert len(set(ids)) == 300
    assert tried < 3 * 300


def test_long_ids_that_become_equal_when_they_are_shortened_are_numbered_on():
    names = [f"{number:03}".ljust(NAME_LIMIT, "x") for number in range(100)]
    ids, tried = ids_of([named(name, text) for name in names for text in "xyz"])
    assert len(set(ids)) == 300
    assert max(map(len, ids)) == NAME_LIMIT
    assert tried < 3 * 300

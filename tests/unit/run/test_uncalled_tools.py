"""A tool with a limit that no trace of a run calls or offers is found; its name is probably misspelt."""

import orjson

from weighbridge.grading.line_grader import grade_lines
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.run.uncalled_tools import not_offered, uncalled_tools


def traces(*tools, offered=()):
    """Return a case for each tool, whose trace calls it."""
    definitions = [{"name": tool} for tool in offered]
    for tool in tools:
        steps = [{"type": "tool", "name": tool}]
        trace = {"format": "weighbridge", "tools": definitions, "steps": steps}
        yield orjson.dumps({"custom_id": f"c-{tool}", "inputs": {"trace": trace}}) + b"\n"


def budget(**tools):
    return [GraderSpec("budget", {"max_tool_calls_per_tool": tools}, "calls")]


def found(tmp_path, specs, cases):
    """Return the names of the tools that are noted."""
    path, results = tmp_path / "cases.jsonl", tmp_path / "results.jsonl"
    path.write_bytes(b"".join(cases))
    results.write_bytes(b"".join(grade_lines(path.read_bytes().splitlines(), specs)))
    limits = uncalled_tools(results, specs)
    return [limit.tool for limit in not_offered(limits, Source.of(path, Settings()))]


def test_a_tool_that_no_trace_calls_is_found_with_the_nearest_name(tmp_path):
    specs = budget(read_files=3, read_file=3)
    assert found(tmp_path, specs, traces("search", "read_file")) == ["read_files"]
    [limit] = uncalled_tools(tmp_path / "results.jsonl", specs)
    assert limit.note == (
        "no run calls a tool 'read_files'; did you mean 'read_file'? (called: read_file, search)"
    )


def test_a_tool_that_a_trace_offers_is_not_noted_although_no_trace_calls_it(tmp_path):
    cases = list(traces("read_file", offered=["read_files"]))
    assert found(tmp_path, budget(read_files=3), cases) == []
    assert found(tmp_path, budget(read=3), cases) == ["read"]


def test_nothing_is_noted_where_no_trace_was_measured(tmp_path):
    assert (
        found(tmp_path, budget(read_files=3), [b'{"custom_id":"a","inputs":{"trace":{"x":1}}}\n'])
        == []
    )


def test_the_results_of_other_graders_are_not_read(tmp_path):
    assert uncalled_tools(tmp_path / "empty", [GraderSpec("budget", {"max_steps": 3})]) == []

"""Sessions of nanobot: their first line, results of calls that failed, and messages that a summary stands for."""

from __future__ import annotations

import pytest

from support.trace_examples import claiming
from support.trace_examples.personal_agents import NANOBOT
from weighbridge.traces import read_trace, read_traces
from weighbridge.traces.split import opens_session, single_traces

HINT = "\n\n[Analyze the error above and try a different approach.]"
CUT = {"llm_calls", "tool_calls", "token_usage", "cost", "timing"}


def test_the_first_line_describes_the_session():
    trace = read_trace(NANOBOT)
    assert (trace.format, trace.id) == ("nanobot", "cli:direct")
    assert trace.metadata["updated_at"] == "2026-03-02T10:00:03"
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm"]
    [tool] = trace.steps_of("tool")
    assert (tool.name, tool.arguments) == ("read_file", {"path": "a.md"})
    assert tool.error == "Error: File not found: a.md"
    assert CUT & trace.missing.keys() == {"token_usage", "cost"}
    assert opens_session(NANOBOT[0])


@pytest.mark.parametrize(
    ("result", "has_failed"),
    [
        ("Error: no", True),
        (f"Error: no{HINT}", True),
        ("Error executing exec: no", True),
        (f"Errors of a tool{HINT}", True),
        ("Errors are values.", False),
        (f"A text{HINT}", False),
        ("no", False),
        (None, False),
        ([{"type": "text", "text": "Error: no"}], False),
    ],
)
def test_a_call_has_failed_whose_result_begins_as_nanobot_writes_it(result, has_failed):
    lines = [*NANOBOT[:3], NANOBOT[3] | {"content": result}]
    [tool] = read_trace(lines).steps_of("tool")
    assert bool(tool.error) == has_failed


@pytest.mark.parametrize("summary", ["Earlier.", {"text": "Earlier.", "last_active": "2026"}])
def test_counts_are_lower_bounds_where_a_summary_stands_for_messages(summary):
    about = NANOBOT[0] | {"metadata": {"_last_summary": summary}}
    assert read_trace([about, *NANOBOT[1:]]).missing.keys() >= CUT


@pytest.mark.parametrize("summary", ["", " ", {"text": ""}, {}, 7, None, ["x"]])
def test_an_empty_summary_stands_for_nothing(summary):
    about = NANOBOT[0] | {"metadata": {"_last_summary": summary}}
    assert read_trace([about, *NANOBOT[1:]]).missing == read_trace(NANOBOT).missing


def test_calls_of_which_the_names_alone_are_kept_are_not_known():
    said = {"role": "assistant", "content": "Done.", "tools_used": ["exec", "read_file"]}
    trace = read_trace([NANOBOT[0], NANOBOT[1], said])
    assert "tool_calls" in trace.missing
    assert "calls that the session has only the names of (2)" in trace.not_carried


@pytest.mark.parametrize("names", [("key", "key"), ("session_id", "key"), ("created_at",) * 2])
def test_each_session_of_a_file_is_a_trace(names):
    first, second = ({"_type": "metadata", name: str(n)} for n, name in enumerate(names))
    lines = [first, *NANOBOT[1:], second, *NANOBOT[1:3], first, NANOBOT[4]]
    one, two = read_traces(lines)
    assert [len(trace.steps) for trace in (one, two)] == [5, 3]
    ids = [None, None] if names[0] == "created_at" else ["0", "1"]
    assert [one.id, two.id] == ids
    assert [found for found, _ in single_traces(lines)] == ids


def test_a_session_may_be_described_again():
    updated = NANOBOT[0] | {"updated_at": "2026-03-03"}
    [trace] = read_traces([*NANOBOT, updated, *NANOBOT[1:]])
    assert trace.id == "cli:direct"
    unnamed = {"_type": "metadata", "created_at": None}
    assert len(read_traces([unnamed, *NANOBOT[1:], unnamed, *NANOBOT[1:]])) == 1


def test_a_session_may_be_empty_and_other_lines_with_metadata_are_none():
    assert read_trace(NANOBOT[:1]).steps == ()
    assert claiming([{"_type": "metadata", "name": "x"}]) == []
    assert claiming([{"_type": "metadata"}, {"a": 1}]) == []

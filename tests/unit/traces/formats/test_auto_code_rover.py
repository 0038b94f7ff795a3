"""AutoCodeRover's conversations."""

from __future__ import annotations

import pytest

from support.trace_examples.swe_agents import AUTO_CODE_ROVER
from weighbridge.errors import TraceError
from weighbridge.traces import Step, read_trace
from weighbridge.traces.formats.auto_code_rover import IMPORTER


def reporting(text, before=AUTO_CODE_ROVER[:4]):
    return read_trace([*before, {"role": "user", "content": text}]).steps[len(before) :]


def test_calls_that_a_message_reports_are_calls_of_the_answer_before():
    trace = read_trace(AUTO_CODE_ROVER)
    assert trace.format == "auto-code-rover"
    assert [step.type for step in trace.steps] == [
        *("system", "user", "user", "llm", "tool", "tool", "user", "llm", "user", "llm", "user"),
        *("llm", "user"),
    ]
    assert trace.steps[4:6] == (
        Step(id="s5", type="tool", parent_id="s4", name="search_code", arguments={"code_str": "a(b):"}, output="Found 1 snippet."),
        Step(id="s6", type="tool", parent_id="s4", name="search_method_in_class", arguments={"method_name": "run", "class_name": "Lamp"}, output="Could not find method run in class Lamp`."),
    )  # fmt: skip
    assert trace.not_carried == ("answers that a model call in another file parsed (3)",)
    assert "tool_calls" not in trace.missing
    assert {"token_usage", "timing", "cost", "tool_definitions"} == set(trace.missing)


@pytest.mark.parametrize(
    ("report", "called"),
    [
        ("Result of search_class(Lamp):\n\nFound.", [("search_class", "Lamp", "Found.")]),
        (
            "Result of search_class('A', 'B'):\nx",
            [("search_class", "'A', 'B'", "x")],
        ),
        ("Result of search_new_things('A'):\nx", [("search_new_things", "'A'", "x")]),
        (
            "Result of search_code('''a\nResult of search_code(b'''):\nx",
            [("search_code", {"code_str": "a\nResult of search_code(b"}, "x")],
        ),
        ("Result of search_code('a'):", [("search_code", {"code_str": "a"}, "")]),
        ("Result of search_code('a'", []),
        ("Result of the analysis:\nResult of print('a'):\n", []),
    ],
)
def test_a_report_may_have_any_arguments(report, called):
    steps = [step for step in reporting(report) if step.type == "tool"]
    assert [(step.name, step.arguments, step.output) for step in steps] == called


def test_a_report_without_an_answer_has_calls_of_no_step():
    [step] = reporting("Result of search_code('a'):\nx", AUTO_CODE_ROVER[:3])
    assert (step.type, step.parent_id, step.output) == ("tool", None, "x")


def test_messages_in_an_object_have_its_id():
    trace = read_trace({"id": "r", "messages": AUTO_CODE_ROVER, "task": "t"})
    assert (trace.id, len(trace.steps)) == ("r", 13)
    assert "run field 'task' (1)" in trace.not_carried


@pytest.mark.parametrize("message", [1, {}, {"role": 1}])
def test_a_damaged_message_is_named(message):
    far = [*AUTO_CODE_ROVER, *AUTO_CODE_ROVER[5:7] * 10, message]
    with pytest.raises(TraceError, match="message 33"):
        read_trace(far)


@pytest.mark.parametrize(
    "value",
    [
        [],
        AUTO_CODE_ROVER[:2],
        AUTO_CODE_ROVER[1:],
        [{"role": "system", "content": None}, *AUTO_CODE_ROVER[1:]],
        [AUTO_CODE_ROVER[0], 1, *AUTO_CODE_ROVER[1:]],
        {"messages": {}},
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)

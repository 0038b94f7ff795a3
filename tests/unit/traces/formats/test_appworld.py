"""AppWorld's logs of model calls: a line for each call, with all messages before it."""

from __future__ import annotations

import copy

import pytest

from support.trace_examples.benchmarks import APPWORLD
from weighbridge.errors import TraceError
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.fields import time_of
from weighbridge.traces.split import opens_session
from weighbridge.traces.text_actions import ACTIONS_IN_TEXT

FAILED = "Execution failed. No x."


def asked(line, *more):
    """Return a line of which the request has further messages."""
    messages = [*line["input"]["messages"], *more]
    return {**line, "input": line["input"] | {"messages": messages}}


def answered(line, **message):
    line = copy.deepcopy(line)
    line["output"]["choices"][0]["message"] |= message
    return line


def shown(trace):
    return [(step.type, step.output) for step in trace.steps]


def test_each_line_is_a_model_call_and_the_code_whose_output_follows_a_tool_call():
    trace = read_trace(APPWORLD)
    assert trace.format == "appworld"
    code = "print(find('x'))"
    said = f"I look.\n```python\n{code}\n```\n[cited: none]"
    first, last = (time_of(1735732800 + number) for number in (1, 2))
    assert trace.steps == (
        Step(id="s1", type="user", output="You solve tasks."),
        Step(id="s2", type="other", output="Code:\n```python\nprint(0)\n```\n\n"),
        Step(id="s3", type="user", output="Output:\n```\n0\n```\n\n"),
        Step(id="s4", type="user", output="Find x."),
        Step(id="gen-1", type="llm", output=said, model="m-1", usage=Usage(10, 2), cost_usd=0.25, ended_at=first),
        Step(id="execution_1", type="tool", parent_id="gen-1", name="execute", arguments={"code": code}, output=FAILED, error=FAILED),
        Step(id="gen-2", type="llm", output="```python\ncomplete()\n```", model="m-1", usage=Usage(20, 2), cost_usd=0.25, ended_at=last),
        Step(id="execution_2", type="tool", parent_id="gen-2", name="execute", arguments={"code": "complete()"}),
    )  # fmt: skip
    assert trace.missing.keys() == {"tool_definitions"}


def test_the_lines_of_a_log_are_one_trace_even_a_single_one():
    assert all(map(opens_session, APPWORLD))
    assert read_trace(APPWORLD[0]).steps == read_trace(APPWORLD[:1]).steps


def test_of_code_without_any_output_it_is_not_known_whether_it_ran():
    trace = read_trace(APPWORLD[:1])
    assert trace.steps_of("tool") == []
    assert trace.missing["tool_calls"] == ACTIONS_IN_TEXT


def test_code_of_an_earlier_answer_that_no_output_follows_leaves_calls_unknown():
    trace = read_trace([*APPWORLD, APPWORLD[0]])
    assert len(trace.steps_of("tool")) == 1
    assert trace.missing["tool_calls"] == ACTIONS_IN_TEXT


def test_examples_of_outputs_in_another_conversation_are_no_output_of_the_last_answer():
    other = copy.deepcopy(APPWORLD[0])
    other["input"]["messages"][0]["content"] = "You reflect."
    assert len(read_trace([*APPWORLD, other]).steps_of("tool")) == 1


def test_code_in_the_last_answer_of_another_conversation_may_not_have_run():
    other = copy.deepcopy(APPWORLD[0])
    other["input"]["messages"] = [{"role": "user", "content": "Reflect."}]
    trace = read_trace([*APPWORLD[:1], answered(APPWORLD[1], content="Done."), other])
    assert len(trace.steps_of("tool")) == 1
    assert trace.missing["tool_calls"] == ACTIONS_IN_TEXT


def test_messages_are_told_once_though_requests_shorten_what_they_repeat():
    shortened = asked(APPWORLD[1])
    shortened["input"]["messages"][2] = {"role": "user", "content": "[left out]"}
    trace = read_trace([APPWORLD[0], shortened])
    assert shown(trace) == shown(read_trace(APPWORLD))


def test_code_that_a_stop_sequence_cut_off_is_run_too():
    cut = answered(APPWORLD[0], content="Go.\n```python\nprint(1)")
    after = asked(APPWORLD[0], {"role": "assistant", "content": "Go.\n```python\nprint(1)\n```\n\n"}, {"role": "user", "content": "Output:\n```\n1\n```"})  # fmt: skip
    call, last = read_trace([cut, after]).steps_of("tool")
    assert (call.arguments, call.output) == ({"code": "print(1)"}, "1")
    assert last.output is None


def test_calls_of_tools_have_their_results_from_the_next_request():
    call = {"id": "c1", "type": "function", "function": {"name": "find", "arguments": '{"q": "x"}'}}
    first = answered(APPWORLD[0], content=None, tool_calls=[call])
    told = {"role": "assistant", "content": "", "tool_calls": [call]}
    second = asked(APPWORLD[0], told, {"role": "tool", "tool_call_id": "c1", "content": "none"})
    trace = read_trace([first, answered(second, content="Not there.")])
    assert shown(trace)[4:] == [("llm", None), ("tool", "none"), ("llm", "Not there.")]
    assert "tool_calls" not in trace.missing


def test_the_cost_of_the_usage_and_the_times_of_the_answer_are_read():
    line = copy.deepcopy(APPWORLD[0])
    del line["output"]["cost"]
    times = {"start": "2026-04-01T12:23:25", "end": "2026-04-01T12:23:26"}
    line["output"]["timestamps"] = times
    (step,) = read_trace(line).steps_of("llm")
    assert step.cost_usd == 0.5
    assert (step.started_at, step.ended_at) == tuple(map(time_of, times.values()))


@pytest.mark.parametrize(
    "line",
    [
        APPWORLD[0] | {"id": "1"},
        APPWORLD[0] | {"name": "x"},
        APPWORLD[0] | {"output": {"choices": []}},
        APPWORLD[0] | {"input": {"model": "m", "messages": APPWORLD[0]["input"]["messages"]}},
        APPWORLD[0] | {"input": {"model": "m", "tools": None, "messages": []}},
    ],
)
def test_other_logs_of_calls_are_not_claimed(line):
    with pytest.raises(TraceError):
        read_trace(line)


def test_a_line_that_is_no_call_is_refused():
    with pytest.raises(TraceError, match="line 41 of the log"):
        read_trace([*APPWORLD * 20, {"input": 1}])

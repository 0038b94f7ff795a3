"""Results of letta-evals: each sample is a trace, with the messages of its turns and what they used."""

from __future__ import annotations

import pytest

from support.trace_examples.agent_frameworks import LETTA, LETTA_EVALS
from weighbridge.errors import TraceError
from weighbridge.traces import Usage, read_trace, read_traces

RESULT = LETTA_EVALS[1]["result"]


def test_a_result_is_its_input_and_its_messages():
    trace = read_trace(LETTA_EVALS)
    assert (trace.id, trace.format, trace.usage) == ("3", "letta-evals", Usage(50, 9, 59, 20))
    assert [(step.type, step.model) for step in trace.steps] == [
        *(("user", None), ("llm", "m"), ("tool", None), ("tool", None)),
        ("llm", "m"),
    ]
    assert trace.steps[0].output == "Find x."
    assert trace.metadata["agent"] == "agent-1"


def test_each_turn_follows_its_input_unless_it_has_the_message_itself():
    more = [{"message_type": "assistant_message", "id": "m8", "content": "Yes."}]
    turns = {
        "sample": {"id": "a", "input": ["Find x.", "Sure?"]},
        "trajectory": [LETTA["messages"], more],
    }
    (trace,) = read_traces({"type": "result", "result": RESULT | turns})
    said = [(step.type, step.output) for step in trace.steps if step.type != "tool"]
    assert said == [
        *(("user", "Find x."), ("llm", "I look."), ("llm", "Not there.")),
        *(("user", "Sure?"), ("llm", "Yes.")),
    ]


def test_results_are_traces_of_their_own():
    second = {"type": "result", "result": RESULT | {"sample": {"id": 4, "input": "Find y."}}}
    assert [trace.id for trace in read_traces([*LETTA_EVALS, second])] == ["3", "4"]


def test_a_sample_that_failed_is_a_trace_of_which_nothing_more_is_known():
    failed = RESULT | {"sample": {"id": 9, "input": "Find z."}, "trajectory": [], "agent_id": None}
    failed |= {"agent_usage": None, "model_name": None}
    traces = read_traces([*LETTA_EVALS[:2], {"type": "result", "result": failed}])
    assert [(trace.id, len(trace.steps)) for trace in traces] == [("3", 5), ("9", 1)]
    assert {"llm_calls", "tool_calls", "token_usage"} <= traces[1].missing.keys()


@pytest.mark.parametrize("trajectory", [[[]], [[{"role": "user"}]], "m", None])
def test_what_has_no_messages_of_letta_is_none(trajectory):
    with pytest.raises(TraceError):
        read_traces({"type": "result", "result": RESULT | {"trajectory": trajectory}})

"""Run states of OpenAI's Agents SDK: responses with their items, and outputs among the items of the run."""

from __future__ import annotations

import copy

from support.trace_examples.vendor_sdks import OPENAI_AGENTS
from weighbridge.traces import Counts, Step, Usage, read_trace

STEPS = (
    Step(id="s1", type="user", output="Find x."),
    Step(id="resp_1", type="llm", usage=Usage(9, 2, 11, 4, 0)),
    Step("c1", "tool", "resp_1", "search", arguments={}, output="x"),
    Step(id="resp_2", type="llm", output="Found.", usage=Usage(12, 3, 15, 0, 0)),
)


def in_camel_case(value):
    """Return a state of Python's SDK in the names of the one for JavaScript."""
    if type(value) is list:
        return [in_camel_case(item) for item in value]
    if type(value) is not dict:
        return value
    told = {}
    for key, item in value.items():
        first, *others = key.split("_")
        told[first + "".join(word.title() for word in others)] = in_camel_case(item)
    if told.get("type") == "function_call_output":
        told["type"] = "function_call_result"
    return told


def test_responses_are_model_calls_with_the_outputs_of_their_tools():
    trace = read_trace(OPENAI_AGENTS)
    assert trace.format == "openai-agents"
    assert trace.steps == STEPS
    assert (trace.usage, trace.counts) == (Usage(30, 5, 35, 0, 0), Counts(llm_calls=3))
    assert trace.metadata == {"agent": "helper", "max_turns": 10}
    assert set(trace.missing) == {"timing", "tool_definitions"}


def test_a_state_of_the_sdk_for_javascript_reads_the_same():
    state = in_camel_case(OPENAI_AGENTS)
    output = state["generatedItems"][1]["rawItem"]
    output["output"] = {"type": "text", "text": output["output"]}
    for response in state["modelResponses"]:
        details = response["usage"].pop("inputTokensDetails", [])
        response["usage"]["inputTokensDetails"] = [{"cached_tokens": 0}] + [
            {"cached_tokens": each["cachedTokens"]} for each in details
        ]
    assert read_trace(state).steps == STEPS


def test_an_output_among_several_lists_of_items_counts_once():
    state = copy.deepcopy(OPENAI_AGENTS)
    state["session_items"] = state["generated_items"]
    assert read_trace(state).steps == STEPS


def test_items_that_a_handoff_filtered_out_are_found_among_those_of_the_session():
    state = copy.deepcopy(OPENAI_AGENTS)
    state["session_items"], state["generated_items"] = state["generated_items"], []
    assert read_trace(state).steps == STEPS


def test_a_result_of_the_sdk_for_javascript_is_read_by_the_state_in_it():
    state = in_camel_case(OPENAI_AGENTS)
    state["modelResponses"][0]["providerData"] = {"object": "response", "model": "gpt-4.1"}
    assert read_trace({"state": OPENAI_AGENTS}).steps == STEPS
    models = [step.model for step in read_trace({"state": state}).steps]
    assert models == [None, "gpt-4.1", None, None]


def test_calls_of_one_id_take_their_outputs_in_order():
    state = copy.deepcopy(OPENAI_AGENTS)
    (call,) = state["model_responses"][0]["output"]
    state["model_responses"][0]["output"] = [call, call]
    output = {"type": "function_call_output", "call_id": "c1"}
    state["generated_items"] = [{"raw_item": {**output, "output": text}} for text in ("x", "y")]
    trace = read_trace(state)
    assert [(step.type, step.output) for step in trace.steps[2:]] == [
        ("tool", "x"),
        ("tool", "y"),
        ("llm", "Found."),
    ]

"""CAMEL's memories: records of messages, and of functions with their results."""

from __future__ import annotations

import json

import pytest

from support.trace_examples import claiming
from support.trace_examples.multi_agent_frameworks import CAMEL, CAMEL_GAIA
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.split import opens_session

FAILURE = "Tool execution failed: too slow"
NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z


def at(second):
    return (NOON + second) * 10**9


def changed(number, **fields):
    records = list(CAMEL)
    records[number] = {**records[number], "message": {**records[number]["message"], **fields}}
    return records


def test_records_become_steps():
    trace = read_trace(CAMEL)
    assert (trace.format, trace.id) == ("camel", "a1")
    assert trace.steps == (
        Step(id="u1", type="system", output="You find.", ended_at=at(1)),
        Step(id="u2", type="user", output="Find x.", ended_at=at(2)),
        Step(id="u3", type="llm", output="I look.", ended_at=at(3)),
        Step(id="c1", type="tool", parent_id="u3", name="search", arguments={"q": "x"}, output=FAILURE, error=FAILURE, ended_at=at(4)),
        Step(id="u5", type="llm", output="Not there.", ended_at=at(5)),
    )  # fmt: skip


def test_a_memory_is_a_file_of_lines():
    assert read_trace("\n".join(map(json.dumps, CAMEL))) == read_trace(CAMEL)
    assert opens_session(CAMEL[0])


def test_records_that_were_saved_again_count_once():
    assert read_trace([*CAMEL, *CAMEL]).steps == read_trace(CAMEL).steps


def test_records_of_older_versions_are_a_call_each():
    called = {"__class__": "FunctionCallingMessage", "func_name": "search", "args": {"q": "x"}, "tool_call_id": "c1", "tool_calls": None}  # fmt: skip
    older = [
        {**record, "role_at_backend": {"__enum__": f"OpenAIBackendRole.{record['role_at_backend'].upper()}"}}
        for record in changed(2, **called)
    ]  # fmt: skip
    assert read_trace(older).steps == read_trace(CAMEL).steps


def test_a_result_with_only_an_error_failed():
    [call] = read_trace(changed(3, result={"error": "boom"})).steps_of("tool")
    assert call.error == "boom"
    [call] = read_trace(changed(3, result={"error": None, "found": 1})).steps_of("tool")
    assert (call.error, call.output) == (None, {"error": None, "found": 1})


def test_fields_that_are_not_read_are_noted():
    trace = read_trace(changed(4, reasoning_content="Hm."))
    assert trace.not_carried == ("message field 'reasoning_content' (1)",)


ROUNDS = [
    {
        "user": "Instruction: Find x.",
        "assistant": "Solution: Not there.",
        "tool_calls": [
            {
                "tool_name": "search",
                "args": {"q": "x"},
                "result": {"found": 0},
                "tool_call_id": "c1",
            },
            {"tool_name": "look", "args": {}, "result": FAILURE, "tool_call_id": "c2"},
        ],
    },
    {"user": "TASK_DONE", "assistant": "", "tool_calls": [], "truncated_note": True},
]


def test_rounds_of_owl_have_calls_and_texts_and_an_unknown_number_of_model_calls():
    trace = read_trace(ROUNDS)
    assert trace.steps == (
        Step(id="s1", type="user", output="Instruction: Find x."),
        Step(id="c1", type="tool", name="search", arguments={"q": "x"}, output={"found": 0}),
        Step(id="c2", type="tool", name="look", arguments={}, output=FAILURE, error=FAILURE),
        Step(id="s4", type="llm", output="Solution: Not there."),
        Step(id="s5", type="user", output="TASK_DONE"),
        Step(id="s6", type="llm"),
    )
    assert "not each of their model calls" in trace.missing["llm_calls"]
    assert "tool_calls" not in trace.missing
    assert trace.not_carried == ("round field 'truncated_note' (1)",)


@pytest.mark.parametrize(
    "value",
    [
        [{**ROUNDS[0], "tool_calls": []}],
        [{**ROUNDS[0], "tool_calls": [{"name": "search", "args": {}}]}],
        [{**ROUNDS[0], "user": None}],
        [*ROUNDS, "x"],
        [{"user": "Find x.", "assistant": "Not there."}],
    ],
)
def test_pairs_of_texts_without_records_of_calls_are_no_rounds(value):
    with pytest.raises(UnknownTraceFormatError):
        read_traces(value)


@pytest.mark.parametrize("junk", [None, 7, "x", [], {}, [None], {"x": 1}, 2**70])
@pytest.mark.parametrize("field", ["tool_name", "args", "result", "tool_call_id"])
def test_a_damaged_field_of_a_call_in_a_round_loses_no_call(field, junk):
    call = {**ROUNDS[0]["tool_calls"][0], field: junk}
    trace = read_trace([{**ROUNDS[0], "tool_calls": [call, *ROUNDS[0]["tool_calls"][1:]]}])
    assert len(trace.steps_of("tool")) == 2


LAST_ANSWER = "a result of CAMEL's benchmark has the last answer, and not each model call"


def test_a_result_of_gaia_has_the_calls_of_the_run_and_its_last_answer():
    assert claiming(CAMEL_GAIA) == ["camel"]
    trace = read_trace(CAMEL_GAIA)
    assert (trace.format, trace.id, trace.metadata) == ("camel", "g1", {"score": 0})
    assert trace.steps == (
        Step(id="s1", type="tool", name="search", arguments={"q": "x"}, output=FAILURE, error=FAILURE),
        Step(id="s2", type="tool", name="search", arguments={"q": "y"}, output="some"),
        Step(id="s3", type="llm", output="FINAL ANSWER: y"),
    )  # fmt: skip
    assert trace.missing["llm_calls"] == LAST_ANSWER
    assert "tool_calls" not in trace.missing


def test_a_result_of_newer_versions_has_the_question_and_the_last_message_of_the_memory():
    told = [
        {"role": "user", "content": "Find x."},
        {"role": "assistant", "content": "I look."},
        {"role": "assistant", "content": "FINAL ANSWER: y"},
    ]
    calls = [{"tool_name": "search", "args": {}, "result": "x", "tool_call_id": "c1"}]
    newer = CAMEL_GAIA | {"question": "Find x.", "level": 1, "history": [told, 90], "tool_calls": calls}  # fmt: skip
    assert claiming(newer) == ["camel"]
    trace = read_trace(newer)
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x."),
        ("tool", "x"),
        ("llm", "FINAL ANSWER: y"),
    ]
    assert trace.metadata["level"] == 1
    assert trace.not_carried == ("messages of the agent's memory (2)",)


def test_the_calls_of_a_result_that_ended_in_an_error_are_not_known():
    failed = {key: held for key, held in CAMEL_GAIA.items() if key != "history"}
    failed |= {"tool_calls": [], "error": "too long", "model_answer": "ERROR"}
    trace = read_trace(failed)
    assert (trace.steps, trace.metadata["error"]) == ((), "too long")
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


@pytest.mark.parametrize(
    "changes",
    [
        {"more": 1},
        {"history": {}},
        {"tool_calls": {}},
        {"tool_calls": [{"name": "search", "args": {}}]},
        {"tool_calls": [7]},
    ],
)
def test_results_of_other_forms_are_not_those_of_the_benchmark(changes):
    assert claiming(CAMEL_GAIA | changes) == []
    with pytest.raises(UnknownTraceFormatError):
        read_traces({key: held for key, held in CAMEL_GAIA.items() if key != "history"})

"""LangSmith's runs, in a tree or in a list."""

from __future__ import annotations

import pytest

from support.trace_examples.observability import LANGSMITH
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, ToolDefinition, Usage, read_trace, read_traces
from weighbridge.traces.fields import time_of
from weighbridge.traces.recognition import recognised
from weighbridge.traces.split import opens_session, single_traces

LLM, TOOL = LANGSMITH["child_runs"]


def at(second):
    return time_of(f"2025-01-01T12:00:0{second}")


def test_runs_of_models_and_tools_are_steps():
    trace = read_trace(LANGSMITH)
    assert (trace.format, trace.id) == ("langsmith", "r1")
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(
            id="r2",
            type="llm",
            output="",
            model="m",
            usage=Usage(5, 2, 7),
            cost_usd=0.5,
            started_at=at(2),
            ended_at=at(2),
        ),
        Step(
            id="r3",
            type="tool",
            parent_id="r2",
            name="search",
            arguments={"q": "x"},
            error="no such thing",
            started_at=at(3),
            ended_at=at(3),
        ),
    )
    assert trace.tools == (ToolDefinition("search"),)


def test_a_list_of_runs_has_a_trace_for_each_trace_id():
    root = {key: item for key, item in LANGSMITH.items() if key != "child_runs"}
    flat = [root, LLM, TOOL, LLM]
    assert read_trace(flat).steps == read_trace(LANGSMITH).steps
    other = [run | {"trace_id": "t2"} for run in flat]
    assert [trace.id for trace in read_traces({"runs": [*flat, *other]})] == ["r1", "t2"]
    assert [name for name, _ in single_traces([*flat, *other])] == ["r1", "t2"]


def without_trace(run):
    return {key: item for key, item in run.items() if key not in {"trace_id", "child_runs"}}


def test_runs_without_trace_ids_are_of_the_trace_of_the_uppermost_run():
    root, llm, tool = map(without_trace, (LANGSMITH, LLM, TOOL))
    flat = [tool | {"parent_run_id": llm["id"]}, llm | {"parent_run_id": "r1"}, root]
    other = [run | {"id": f"{run['id']}b"} for run in (llm, tool)]
    orphans = [run | {"parent_run_id": "gone"} for run in other]
    assert [(trace.id, len(trace.steps)) for trace in read_traces([*flat, *orphans])] == [
        ("r1", 3),
        ("gone", 3),
    ]
    assert [name for name, _ in single_traces([*flat, *orphans])] == ["r1", "gone"]
    assert opens_session(root | {"parent_run_id": None})


def test_runs_above_one_another_in_a_circle_are_one_trace():
    around = [
        without_trace(LLM) | {"id": str(i), "parent_run_id": str((i + 1) % 3)} for i in range(3)
    ]
    assert len(single_traces(around)) == 1


def test_a_run_counts_what_langsmith_counted_first():
    counted = LLM | {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
    assert read_trace([counted]).steps_of("llm")[0].usage == Usage(50, 20, 70)
    wrapped = {"choices": [{"message": {"role": "assistant", "content": "x"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}  # fmt: skip
    assert read_trace([LLM | {"outputs": wrapped}]).steps_of("llm")[0].usage == Usage(3, 1)


def test_a_chain_alone_is_still_read_by_its_messages():
    chain = {key: item for key, item in LANGSMITH.items() if key != "child_runs"}
    messages = [{"type": "human", "content": "hi"}, {"type": "ai", "content": "Hello."}]
    assert read_trace(chain | {"outputs": {"messages": messages}}).format == "langchain"


ASKED = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": {"content": "Hi", "type": "human"}}  # fmt: skip
ANSWERED = {"id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "Hello.", "type": "ai"}}  # fmt: skip


def untyped(number, inputs, outputs):
    run_id = f"019e12d6-4245-7a70-97f5-d98aedcd8be{number}"
    times = {"start_time": "2025-01-01 12:00:01+00:00", "end_time": "2025-01-01 12:00:02+00:00"}
    return {"id": run_id, "name": "ChatOpenAI", **times, "inputs": inputs, "outputs": outputs}


UNTYPED = [
    untyped(1, {"messages": [[ASKED]]}, {"generations": [[{"text": "Hello.", "message": ANSWERED}]], "llm_output": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 1}}}),
    untyped(2, {"messages": [[ASKED]]}, None),
    untyped(3, {"query": "x"}, {"query": "x"}),
]  # fmt: skip


def test_runs_saved_without_their_type_are_model_calls_by_what_langchain_records_of_these():
    first, second = read_traces(UNTYPED)
    assert [step.type for step in first.steps] == ["user", "llm"]
    assert first.steps[1].output == "Hello."
    assert first.steps[1].usage == Usage(3, 1)
    assert (first.steps[1].started_at, first.steps[1].ended_at) == (at(1), at(2))
    assert len(second.steps_of("llm")) == 1
    assert "traces without a model call, tool call or agent (1)" in first.not_carried
    assert all("without their type" in trace.missing["tool_calls"] for trace in (first, second))
    assert "llm_calls" not in first.missing
    assert opens_session(UNTYPED[2])
    parts = single_traces(UNTYPED) or []
    assert [name for name, _ in parts] == [run["id"] for run in UNTYPED[:2]]
    assert [read_trace(part).not_carried for _, part in parts] == [first.not_carried, ()]
    assert read_trace(UNTYPED[0]).format == "langsmith"


def test_records_with_some_of_the_fields_of_a_run_are_none():
    for other in (
        UNTYPED[2:],
        [UNTYPED[0] | {"label": "good"}],
        [UNTYPED[0] | {"id": "1"}],
        [untyped(1, {"messages": [{"role": "user", "content": "x"}]}, {"generations": []})],
    ):
        found = recognised(other)
        assert found is None or found.importer.id != "langsmith"


def test_a_batch_that_a_client_sends_has_each_run_once_with_its_end():
    whole = LLM | {"trace_id": "t", "id": "r"}
    ending = {"outputs", "end_time"}
    begun = {key: item for key, item in whole.items() if key not in ending}
    ended = {key: item for key, item in whole.items() if key in ending} | {"name": None}
    for named in ({"id": "r"}, {"dotted_order": "20250101T120000000000Zr"}):
        trace = read_trace({"post": [begun], "patch": [ended | named]})
        assert trace.format == "langsmith"
        assert trace.steps == read_trace([whole]).steps


def test_a_chain_alone_is_no_trace_and_the_hint_asks_for_its_runs():
    run = {"run_type": "chain", "dotted_order": "1", "inputs": {}, "trace_id": "t", "outputs": {}}
    with pytest.raises(UnknownTraceFormatError) as raised:
        read_trace(run)
    assert "all runs of the trace" in raised.value.hint

"""Runs of PromptFlow: the calls that it traced, each once, in the details of tests and the lines of batch runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.growth import assert_takes_at_most
from support.trace_examples.flow_builders import (
    PROMPTFLOW,
    PROMPTFLOW_ASKED,
    PROMPTFLOW_NODES,
    PROMPTFLOW_PIECES,
    PROMPTFLOW_RUN,
    PROMPTFLOW_TOOLS,
    START,
    promptflow_answer,
    promptflow_call,
    promptflow_node,
)
from weighbridge.errors import TraceError
from weighbridge.traces import Step, ToolDefinition, Trace, Usage, read_trace, read_traces
from weighbridge.traces.split import single_traces

if TYPE_CHECKING:
    from collections.abc import Callable

SENT = {"messages": [{"role": "user", "content": "Find x."}]}
ANSWER = promptflow_call("LLM", "openai_chat", 1, inputs=SENT, output=promptflow_answer("Here."))


def at(second: float) -> int:
    """Return a time after the start of the example, in nanoseconds."""
    return START * 10**6 + int(second * 10**9)


def run(*calls: Any, **fields: Any) -> dict[str, Any]:
    """Return the run of a flow that has some calls, without those of its nodes."""
    return {**PROMPTFLOW_RUN, "system_metrics": {}, "api_calls": list(calls), **fields}


def details(*nodes: Any, **fields: Any) -> dict[str, Any]:
    """Return the details of a test with some nodes."""
    calls = [call for node in nodes for call in node["api_calls"] or ()]
    return {"flow_runs": [run(*calls, **fields)], "node_runs": list(nodes)}


def said(trace: Trace) -> list[tuple[str, Any]]:
    """Return the steps of a trace by type, with their output."""
    return [(step.type, step.output) for step in trace.steps]


def test_each_call_of_the_nodes_is_a_step_although_the_flow_repeats_it():
    trace = read_trace(PROMPTFLOW)
    assert (trace.format, trace.id) == ("promptflow", "r_0")
    assert trace.steps == (
        Step(
            id="openai_embeddings-0",
            type="other",
            name="openai_embeddings",
            input="Find x.",
            model="ada",
            usage=Usage(3, 0, 3),
            started_at=at(0),
            ended_at=at(1),
        ),
        Step(id="s2", type="system", output="You find."),
        Step(id="s3", type="user", output="Find x."),
        Step(
            id="openai_chat-1",
            type="llm",
            model="gpt-4o-mini",
            usage=Usage(30, 5, 35),
            finish_reason="tool_call",
            started_at=at(1),
            ended_at=at(2),
        ),
        Step(
            id="Agent.search-2",
            type="tool",
            parent_id="openai_chat-1",
            name="search",
            arguments={"q": "x"},
            output="some",
            started_at=at(2),
            ended_at=at(3),
        ),
        Step(
            id="openai_chat-3",
            type="llm",
            output="Here it is.",
            model="gpt-4o-mini",
            usage=Usage(40, 2, 42),
            finish_reason="stop",
            started_at=at(3),
            ended_at=at(4),
        ),
    )
    assert trace.tools == (ToolDefinition("search", {"type": "object"}),)
    assert (trace.usage, trace.missing) == (None, {})
    assert (trace.started_at, trace.ended_at) == (at(0), at(10))
    assert trace.metadata == {"flow": "finder", "line": 0, "status": "Completed"}
    assert trace.not_carried == (
        "nodes whose result is from the cache of an earlier run (1)",
        "spans that are no step, such as HTTP, a database or a chain (3)",
        "token counts that are PromptFlow's own estimates (1)",
        "vectors of embeddings (1)",
    )


@pytest.mark.parametrize(
    "value",
    [
        {**PROMPTFLOW, "node_runs": []},
        {"flow_runs": [{**PROMPTFLOW_RUN, "api_calls": None}], "node_runs": PROMPTFLOW_NODES},
        {"line_number": 0, "run_info": PROMPTFLOW_RUN, "status": "Completed"},
        PROMPTFLOW_RUN,
    ],
)
def test_the_calls_of_a_flow_and_those_of_its_nodes_are_the_same_steps(value: Any) -> None:
    trace = read_trace(value)
    assert trace.id == "r_0"
    assert {step.id for step in trace.steps} == {step.id for step in read_trace(PROMPTFLOW).steps}


def test_calls_of_2023_have_no_ids_and_no_flow_around_them():
    bare = {"id": None, "type": "Tool", "children": [{**ANSWER, "id": None}]}
    node = promptflow_node("ask", {**promptflow_call("Tool", "AzureOpenAI.chat", 1), **bare})
    trace = read_trace(details(node))
    assert said(trace) == [("user", "Find x."), ("llm", "Here.")]
    assert trace.steps[1].started_at == at(1)


def test_embeddings_had_the_type_of_model_calls():
    name = "openai.api_resources.embedding.Embedding.create"
    call = promptflow_call("LLM", name, 0, inputs={"input": "x"}, output={"data": []})
    trace = read_trace(run(call, ANSWER))
    assert [step.type for step in trace.steps] == ["other", "user", "llm"]


def test_a_function_is_a_tool_call_only_if_a_model_asked_for_it():
    asking = promptflow_answer(None, "tool_calls", tool_calls=PROMPTFLOW_ASKED)
    model = promptflow_call("LLM", "openai_chat", 1, inputs=SENT, output=asking)
    trace = read_trace(run(promptflow_call("Function", "format", 0), model))
    [call] = trace.steps_of("tool")
    assert (call.id, call.name, call.arguments, call.output) == ("c1", "search", {"q": "x"}, None)
    older = promptflow_answer(None, "function_call", function_call={"name": "look", "arguments": "{}"})  # fmt: skip
    model = promptflow_call("LLM", "openai_chat_legacy", 1, inputs=SENT, output=older)
    trace = read_trace(run(model, promptflow_call("Tool", "look", 2, output="y")))
    assert [(step.name, step.output) for step in trace.steps_of("tool")] == [("look", "y")]


def test_failures_are_those_of_the_call_and_of_the_run():
    error = {"message": "no credit", "type": "RateLimitError"}
    failed = promptflow_call("LLM", "openai_chat", 1, inputs=SENT, error=error)
    about = {"status": "Failed", "error": {"message": "Execution failure in 'ask'", "code": "UserError"}}  # fmt: skip
    trace = read_trace(run(failed, ANSWER | {"id": "again"}, **about))
    assert [step.error for step in trace.steps_of("llm")] == ["RateLimitError: no credit", None]
    assert (trace.metadata["status"], trace.metadata["error"]) == ("Failed", "Execution failure in 'ask'")  # fmt: skip


def test_a_prompt_of_the_completions_api_is_said_by_the_user():
    pieces = [
        {"object": "text_completion", "model": "m", "choices": [{"index": 0, "text": text}]}
        for text in ("He", "re.")
    ]
    for output in (pieces, {"model": "m", "choices": [{"text": "Here."}]}):
        call = promptflow_call("LLM", "openai_completion", 1, inputs={"prompt": "Find x."}, output=output)  # fmt: skip
        trace = read_trace(run(call))
        assert said(trace) == [("user", "Find x."), ("llm", "Here.")]
        assert trace.steps[1].model == "m"


@pytest.mark.parametrize("output", [[], None, "<generator object f at 0x7fb08d5e4a00>"])
def test_calls_that_an_unread_answer_may_ask_for_are_not_known(output: Any) -> None:
    unread = promptflow_call("LLM", "openai_chat", 0, inputs=SENT, output=output)
    trace = read_trace(run(unread, ANSWER))
    assert trace.steps[1].output is None
    assert "tool_calls" not in trace.missing
    unread = {**unread, "inputs": {**SENT, "tools": PROMPTFLOW_TOOLS}}
    assert "streamed" in read_trace(run(unread, ANSWER)).missing["tool_calls"]


def test_an_estimate_without_the_text_of_an_answer_or_its_calls_is_a_lower_bound():
    def estimated(output: Any, received: int) -> Usage | None:
        counts = {"prompt_tokens": 9, "completion_tokens": received, "total_tokens": 9 + received}
        call = promptflow_call("LLM", "openai_chat", 0, inputs=SENT, output=output, system_metrics=counts)  # fmt: skip
        return read_trace(run(call)).steps_of("llm")[0].usage

    asking = [
        {**PROMPTFLOW_PIECES[1], "choices": [{"index": 0, "delta": {"tool_calls": PROMPTFLOW_ASKED}}]}
    ]  # fmt: skip
    assert estimated(PROMPTFLOW_PIECES, 2) == Usage(9, 2, 11)
    assert estimated([], 0) == Usage(9, 0, 9, is_partial=True)
    assert estimated(asking, 1) == Usage(9, 1, 10, is_partial=True)


def test_tokens_that_the_flow_states_count_if_they_are_more_than_those_of_its_calls():
    stated = {"prompt_tokens": 50, "completion_tokens": 6, "total_tokens": 56}
    trace = read_trace(run(ANSWER, system_metrics=stated))
    assert (trace.usage, trace.totals_from) == (Usage(50, 6, 56), "system_metrics")
    assert read_trace(run(ANSWER, system_metrics={"total_tokens": 35})).usage is None


def test_calls_of_langchain_are_those_of_its_models_and_tools():
    made = {"generations": [[{"text": "Here."}]], "llm_output": {"token_usage": {"prompt_tokens": 4, "completion_tokens": 1, "total_tokens": 5}}}  # fmt: skip
    model = promptflow_call("LangChain", "ChatOpenAI", 1, inputs={"prompts": ["Find x."]}, output=made)  # fmt: skip
    tool = promptflow_call("LangChain", "search", 2, inputs={"input_str": '{"q": "x"}'}, output="y")
    chain = promptflow_call("LangChain", "AgentExecutor", 0, model, tool)
    trace = read_trace(run(chain))
    assert said(trace) == [("user", "Find x."), ("llm", "Here."), ("tool", "y")]
    assert (trace.steps[1].usage, trace.steps[2].arguments) == (Usage(4, 1, 5), {"q": "x"})
    printed = {**model, "output": "generations=[[Generation(text='Here.')]]"}
    assert read_trace(run(printed)).steps_of("llm")[0].output is None


def test_the_calls_of_a_node_that_are_not_recorded_leave_lower_bounds():
    cut = promptflow_node("slow", status="Canceled", api_calls=None)
    trace = read_trace(details(promptflow_node("ask", ANSWER), cut))
    assert trace.missing["llm_calls"] == "the calls of a node that ran are not recorded"
    for node in ({**cut, "status": "Bypassed"}, {**cut, "cached_run_id": "e"}):
        assert "llm_calls" not in read_trace(details(promptflow_node("ask", ANSWER), node)).missing
    trace = read_trace(run(ANSWER, status="Running", end_time=None))
    assert "had not ended" in trace.missing["tool_calls"]


def test_a_node_that_was_tested_alone_is_a_run():
    trace = read_trace({"flow_runs": [], "node_runs": [promptflow_node("ask", ANSWER)]})
    assert (trace.id, trace.metadata["node"]) == ("r_ask_0", "ask")
    assert [step.type for step in trace.steps] == ["user", "llm"]


def test_each_line_of_a_batch_run_is_a_trace_and_those_without_a_model_call_are_left_out():
    lines = [run({**ANSWER, "id": f"a{n}"}, run_id=f"r_{n}", index=n) for n in range(2)]
    other = run(promptflow_call("Function", "format", 0), run_id="r_2", index=2)
    value = {"flow_runs": [*lines, other], "node_runs": []}
    assert [trace.id for trace in read_traces(value)] == ["r_0", "r_1"]
    parts = single_traces(value) or []
    assert [name for name, _ in parts] == ["r_0", "r_1"]
    split = [read_trace(part) for _, part in parts]
    assert split == list(read_traces(value))
    assert split[0].not_carried == ("runs beside it in which no model call was traced (1)",)


def test_a_node_that_aggregates_lines_belongs_to_the_only_line_or_is_a_run_of_its_own():
    node = promptflow_node("judge", {**ANSWER, "id": "j"}, parent_run_id="r", index=None)
    first, second = (run({**ANSWER, "id": f"a{n}"}, run_id=f"r_{n}") for n in range(2))
    [trace] = read_traces({"flow_runs": [first], "node_runs": [node]})
    assert len(trace.steps_of("llm")) == 2
    every = read_traces({"flow_runs": [first, second], "node_runs": [node]})
    assert [trace.id for trace in every] == ["r_0", "r_1", "r_judge_0"]


def test_a_run_without_a_traced_model_call_is_refused_with_the_reason():
    flow = promptflow_call("Flow", "flow", 0)
    untraced = {"flow_runs": [run(flow)], "node_runs": [promptflow_node("ask")]}
    with pytest.raises(TraceError, match="no call was traced") as caught:
        read_trace(untraced)
    assert "PF_DISABLE_TRACING" in (caught.value.hint or "")
    error = {"message": "no such file"}
    function = promptflow_node("read", promptflow_call("Function", "read", 0))
    with pytest.raises(TraceError, match="no model call was traced; it failed: no such file"):
        read_trace(details(function, status="Failed", error=error))


@pytest.mark.parametrize("damaged", [None, 5, "x"])
def test_a_call_or_a_run_that_is_no_object_is_refused(damaged: Any) -> None:
    inner = {**ANSWER, "children": [damaged]}
    for value in (run(ANSWER, damaged), run(inner), {"flow_runs": [run(ANSWER), damaged], "node_runs": []}):  # fmt: skip
        with pytest.raises(TraceError, match="is not an object"):
            read_traces(value)


@pytest.mark.parametrize("odd", [[], {}, 5])
def test_odd_values_of_words_are_read_as_none(odd: Any) -> None:
    names = ("name", "type", "id", "node_name", "error", "start_time", "system_metrics")
    for name in names:
        assert read_traces(run({**ANSWER, name: odd}, ANSWER | {"id": "other"}))


def test_times_of_a_machine_far_from_utc_are_moved_and_others_stay():
    far = {**ANSWER, "start_time": START / 1_000 - 14 * 3_600, "end_time": None}
    assert read_trace(run(far)).steps[1].started_at == at(0)
    farther = {**ANSWER, "start_time": START / 1_000 - 15 * 3_600, "end_time": None}
    assert read_trace(run(farther)).steps[1].started_at == at(-15 * 3_600)


def test_many_calls_take_time_in_proportion_to_them():
    def work(count: int) -> Callable[[], object]:
        calls = [{**ANSWER, "id": f"a{n}"} for n in range(count)]
        value = details(promptflow_node("ask", promptflow_call("Function", "f", 0, *calls)))
        return lambda: read_trace(value)

    assert_takes_at_most(30, work, size=2_000, of=200)


def test_a_run_without_anything_is_passed_over():
    for empty in ({"flow_runs": [{}], "node_runs": []}, {"flow_runs": [], "node_runs": []}):
        with pytest.raises(TraceError):
            read_trace(empty)
    [trace] = read_traces({"flow_runs": [run(ANSWER), {}], "node_runs": []})
    assert [step.type for step in trace.steps] == ["user", "llm"]

"""Executions of n8n: runs of models and tools below their agents, in the forms of its API and of its database."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.flatted import flatted
from support.growth import assert_takes_at_most
from support.trace_examples.flow_builders import (
    N8N,
    N8N_ABOUT,
    N8N_DATA,
    N8N_NODES,
    N8N_PROMPT,
    N8N_ROW,
    N8N_STORED,
    START,
    n8n_answer,
    n8n_run,
    n8n_tokens,
)
from weighbridge.errors import TraceError
from weighbridge.graders import BudgetGrader
from weighbridge.traces import Step, Trace, Usage, read_trace, read_traces
from weighbridge.traces.formats import n8n
from weighbridge.traces.split import single_traces

NODES = [*N8N_NODES, {"name": "Ask", "type": "@n8n/n8n-nodes-langchain.openAi", "parameters": {"modelId": {"value": "gpt-5"}}}]  # fmt: skip


def execution(runs: dict[str, Any], **about: Any) -> dict[str, Any]:
    """Return an execution with some runs of nodes."""
    data = {"resultData": {"runData": runs}}
    return {**N8N_ABOUT, "data": data, "workflowData": {"nodes": NODES}, **about}


def at(hundredths: int) -> int:
    """Return a time after the start of the example, in nanoseconds."""
    return (START + 10 * hundredths) * 10**6


def calls(trace: Trace) -> list[tuple[str, str | None, str | None]]:
    """Return the steps of a trace by type, with their names and their parents."""
    return [(step.type, step.name, step.parent_id) for step in trace.steps]


def test_runs_are_steps_below_the_agent_or_the_tool_that_started_them():
    trace = read_trace(N8N)
    assert (trace.format, trace.id) == ("n8n", "7")
    assert calls(trace) == [
        ("user", None, None),
        ("agent", "Agent", None),
        ("llm", None, "s2"),
        ("tool", "Search", "s2"),
        ("tool", "Expert", "s2"),
        ("llm", None, "s5"),
        ("tool", "read", "s2"),
        ("llm", None, "s2"),
    ]
    assert trace.steps[2:4] == (
        Step(
            id="s3",
            type="llm",
            parent_id="s2",
            input="Human: Find x.",
            model="gpt-4o-mini",
            usage=Usage(30, 5, 35),
            finish_reason="tool_call",
            started_at=at(40),
            ended_at=at(45),
        ),
        Step(
            id="c1",
            type="tool",
            parent_id="s2",
            name="Search",
            arguments={"q": "x"},
            output="some",
            started_at=at(50),
            ended_at=at(55),
        ),
    )
    assert trace.steps[4].arguments == {"q": "x"}
    assert (trace.steps[6].error, trace.steps[6].output) == ("no such file", None)
    assert trace.metadata == {"workflow": "Finder", "mode": "webhook", "status": "success"}
    assert (trace.ended_at or 0) - (trace.started_at or 0) == 2 * 10**9
    assert trace.missing.keys() == {"tool_definitions"}
    assert trace.not_carried == (
        "runs of other nodes (3)",
        "token counts that are n8n's own estimates (1)",
    )


@pytest.mark.parametrize(
    "value",
    [
        N8N_STORED,
        {**N8N_ABOUT, **N8N_ROW},
        {"data": {**N8N_ABOUT, **N8N_ROW}},
        {**N8N, "data": flatted(N8N_DATA)},
        [N8N],
        {"data": [N8N], "nextCursor": None},
    ],
)
def test_rows_and_answers_of_apis_have_the_same_steps(value: Any) -> None:
    trace = read_trace(value)
    assert (trace.id, trace.steps) == ("7", read_trace(N8N).steps)


def test_what_the_command_line_prints_has_all_steps_but_the_question_of_a_chat():
    whole = [step.type for step in read_trace(N8N).steps]
    assert whole[0] == "user"
    assert [step.type for step in read_trace(N8N_DATA).steps] == whole[1:]


def test_the_model_is_that_of_the_node_if_the_run_has_none():
    runs = {"Small": [n8n_run(0, {"ai_languageModel": {"response": {"generations": [[{"text": "x"}]]}}})]}  # fmt: skip
    [step] = read_trace(execution(runs)).steps
    assert (step.model, step.output, step.usage) == ("mistral:latest", "x", None)


def test_an_estimate_of_an_answer_without_text_is_a_lower_bound():
    runs = {"Model": [n8n_run(0, n8n_answer("", tokenUsageEstimate=n8n_tokens(9, 0)), N8N_PROMPT)]}
    trace = read_trace(execution(runs))
    assert trace.steps[0].usage == Usage(9, 0, 9, is_partial=True)
    assert BudgetGrader(config={"max_tokens": 50}).grade(execution(runs))["verdict"] == "ungradable"


def test_older_versions_have_a_list_of_answers_and_the_tokens_of_the_provider():
    response = {
        "generations": [{"text": "x", "message": {}}],
        "llmOutput": {"tokenUsage": n8n_tokens(3, 2)},
    }
    [step] = read_trace(
        execution({"M": [n8n_run(0, {"ai_languageModel": {"response": response}})]})
    ).steps
    assert (step.output, step.usage) == ("x", Usage(3, 2, 5))


def test_a_failed_run_keeps_what_it_was_given_and_not_as_its_answer():
    failed = {"executionStatus": "error", "error": {"message": "no credit"}}
    runs = {"Model": [n8n_run(0, N8N_PROMPT, N8N_PROMPT, **failed)]}
    [step] = read_trace(execution(runs)).steps
    assert (step.error, step.output, step.input) == ("no credit", None, "Human: Find x.")


@pytest.mark.parametrize("error", ["no", {"message": "no"}])
def test_a_tool_that_a_workflow_goes_on_after_has_failed(error: Any) -> None:
    runs = {"Search": [n8n_run(0, {"ai_tool": {"error": error}}, {"ai_tool": {"q": 1}})]}
    [step] = read_trace(execution(runs)).steps
    assert step.error == "no"


def test_a_tool_that_was_asked_for_and_has_not_run_is_a_call():
    asked = {"inputOverride": {"ai_tool": [[{"json": {"q": "x", "toolCallId": "c9"}}]]}}
    waiting = {**asked, "startTime": 0, "executionTime": 0, "executionIndex": 0, "source": []}
    [step] = read_trace(execution({"Search": [waiting]})).steps
    assert (step.id, step.arguments, step.output) == ("c9", {"q": "x"}, None)


def test_a_tool_of_a_set_has_the_name_that_it_was_given():
    sent = {"ai_tool": {"query": "x", "tool": {"name": "list", "description": "Lists."}}}
    own = {"ai_tool": {"tool": "hammer", "toolCallId": "c1"}}
    runs = {"Kit": [n8n_run(0, sent, sent)], "Search": [n8n_run(1, own, own)]}
    first, second = read_trace(execution(runs)).steps
    assert (first.name, first.arguments) == ("list", {"query": "x"})
    assert (second.name, second.arguments) == ("Search", {"tool": "hammer"})


def test_a_result_in_parts_is_their_text_and_executions_of_other_workflows_are_noted():
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    other = {"metadata": {"subExecution": {"executionId": "8", "workflowId": "w"}}}
    trace = read_trace(
        execution(
            {"Files": [n8n_run(0, {"ai_tool": {"response": parts}}, {"ai_tool": {}}, **other)]}
        )
    )
    assert trace.steps[0].output == "a\nb"
    assert trace.not_carried == ("executions of other workflows that it started (1)",)


def test_a_run_of_a_parser_stands_between_a_model_and_the_agent():
    runs = {
        "Agent": [n8n_run(0, {"main": {"output": "x"}})],
        "Parser": [n8n_run(1, {"ai_outputParser": {"action": "parse"}}, source="Agent")],
        "Model": [n8n_run(2, n8n_answer("x"), N8N_PROMPT, "Parser")],
    }
    assert calls(read_trace(execution(runs))) == [("agent", "Agent", None), ("llm", None, "s1")]


def test_an_agent_that_waited_for_its_tools_begins_with_its_first_call():
    runs = {
        "Model": [n8n_run(1, n8n_answer("x"), N8N_PROMPT, "Agent")],
        "Agent": [n8n_run(5, {"main": {"output": "x"}})],
    }
    agent, model = read_trace(execution(runs)).steps
    assert (agent.type, agent.started_at) == ("agent", model.started_at)


OWN = (
    ({"message": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}, "Yes.", "stop", None),
    ({"output": [{"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}]}, "Yes.", None, None),
    ({"content": {"parts": [{"text": "Yes."}], "role": "model"}, "finishReason": "STOP"}, "Yes.", "stop", None),
    ({"content": [{"type": "text", "text": "Yes."}], "usage": {"input_tokens": 2, "output_tokens": 1}}, "Yes.", None, Usage(2, 1)),
    ({"choices": [{"message": {"content": "Yes."}, "finish_reason": "length"}], "model": "m"}, "Yes.", "length", None),
    ({"content": "Yes."}, "Yes.", None, None),
)  # fmt: skip


@pytest.mark.parametrize(("result", "text", "reason", "usage"), OWN)
def test_a_node_that_calls_a_provider_has_a_model_call_for_each_result(
    result: dict[str, Any], text: str, reason: str | None, usage: Usage | None
) -> None:
    run = n8n_run(0)
    run["data"] = {"main": [[{"json": result}, {"json": result}]]}
    trace = read_trace(execution({"Ask": [run], "Set": [n8n_run(1, {"main": {"content": "no"}})]}))
    assert [step.output for step in trace.steps] == [text, text]
    first = trace.steps[0]
    assert (first.type, first.finish_reason, first.usage) == ("llm", reason, usage)
    assert first.model in {"m", "gpt-5"}
    assert "llm_calls" not in trace.missing


def test_a_node_that_calls_a_provider_and_tools_has_at_least_these_model_calls():
    runs = {
        "Ask": [n8n_run(0, {"main": {"content": "Yes."}})],
        "Search": [n8n_run(1, {"ai_tool": {"response": 1}}, {"ai_tool": {}}, "Ask")],
    }
    trace = read_trace(execution(runs))
    assert calls(trace) == [("llm", None, None), ("tool", "Search", "s1")]
    assert "ran tools" in trace.missing["llm_calls"]


def test_other_operations_of_such_a_node_call_no_model():
    node = {**NODES[-1], "parameters": {"resource": "file", "operation": "upload"}}
    runs = {"Ask": [n8n_run(0, {"main": {"id": "file-1"}})]}
    with pytest.raises(TraceError, match="no model and no tool ran in it"):
        read_trace(execution(runs, workflowData={"nodes": [node]}))


def test_runs_that_a_retry_begins_with_are_those_of_the_execution_before():
    earlier = n8n_run(0, n8n_answer("a"), N8N_PROMPT, startTime=START - 60_000)
    own = n8n_run(1, n8n_answer("b"), N8N_PROMPT)
    runs = {"Model": [earlier, own]}
    trace = read_trace(execution(runs, mode="retry"))
    assert [step.output for step in trace.steps] == ["b"]
    assert trace.not_carried == (
        "runs of models and tools of the execution that this one goes on from (1)",
    )
    assert not n8n.has_runs(execution({"Model": [earlier]}, mode="manual"))
    # An execution that waited is started again, and created once.
    waited = execution({"Model": [earlier]}, mode="manual", createdAt="2025-01-01 11:00:00.000")
    assert n8n.has_runs(waited)
    assert n8n.has_runs(execution({"Model": [earlier]}, mode="webhook"))


@pytest.mark.parametrize("status", ["running", "crashed"])
def test_an_execution_that_has_not_ended_has_lower_bounds(status: str) -> None:
    trace = read_trace({**N8N, "status": status})
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()


def test_a_tool_alone_was_called_without_a_model():
    runs = {"Search": [n8n_run(0, {"ai_tool": {"response": 1}}, {"ai_tool": {}})]}
    trace = read_trace(execution(runs))
    assert [step.type for step in trace.steps] == ["tool"]
    assert not {"llm_calls", "token_usage"} & trace.missing.keys()
    grader = BudgetGrader(config={"max_llm_calls": 0, "max_tokens": 0})
    assert grader.grade(execution(runs))["verdict"] == "pass"


@pytest.mark.parametrize("damaged", [None, 5, "x", {"data": 5}])
def test_a_run_that_cannot_be_read_leaves_lower_bounds(damaged: Any) -> None:
    runs = N8N_DATA["resultData"]["runData"]
    trace = read_trace(execution({**runs, "Other": [damaged]}))
    assert "tool_calls" in trace.missing
    assert "tool_calls" in read_trace(execution({**runs, "Other": 5})).missing


def test_executions_without_a_model_are_left_out_of_a_list_and_counted():
    other = execution({"Set": [n8n_run(0, {"main": {}})]}, id=8)
    listed = [other, N8N, {**N8N, "id": 9}, other]
    traces = single_traces(listed)
    assert [name for name, _ in traces or ()] == ["7", "9"]
    notes = [note for _, each in traces or () for note in read_trace(each).not_carried]
    assert "executions beside it in which no model and no tool ran (2)" in notes
    assert [trace.id for trace in read_traces(listed)] == ["7", "9"]
    with pytest.raises(TraceError, match="2 executions of n8n, but no model"):
        read_traces([other, other])


def test_a_damaged_execution_of_a_list_is_kept_for_its_error():
    damaged = {**N8N, "id": 8, "data": '[{"resultData":"1"},{"runData":"2"},{"Set":"9"}]'}
    traces = single_traces([N8N, damaged]) or []
    assert [name for name, _ in traces] == ["7", "8"]
    with pytest.raises(TraceError, match="leads to no value"):
        read_trace(traces[1][1])


@pytest.mark.parametrize(
    "value",
    [
        {"nodes": N8N_NODES, "connections": {}},
        {"data": {"id": 1}},
        {"data": '["resultData"'[:5]},
        {"resultData": {"runData": []}},
        {"data": []},
    ],
)
def test_workflows_and_other_values_are_not_taken_for_executions(value: Any) -> None:
    assert not n8n.IMPORTER.matches(value)


def test_runs_that_name_each_other_as_their_source_are_read():
    runs = {
        "A": [n8n_run(0, n8n_answer("a"), N8N_PROMPT, "B")],
        "B": [n8n_run(1, n8n_answer("b"), N8N_PROMPT, "A")],
    }
    trace = read_trace(execution(runs))
    assert sorted(step.output for step in trace.steps) == ["a", "b"]


@pytest.mark.parametrize(
    "values",
    [
        [{f"N{number}": "3" for number in range(1_000)}, ["4"] * 1_000, {"startTime": 1}],
        [
            {"Tool": "3"},
            ["4"],
            {"startTime": 1, "data": "5"},
            {"ai_tool": "6"},
            ["7"] * 1_000,
            [1] * 1_000,
        ],
    ],
    ids=["lists of runs", "lists of results"],
)
def test_lists_that_are_referred_to_very_often_are_an_error(values: list[Any]) -> None:
    data = json.dumps([{"resultData": "1"}, {"runData": "2"}, *values])
    with pytest.raises(TraceError, match="repeated too often"):
        read_trace({**N8N, "data": data})


def test_reading_takes_time_in_proportion_to_the_runs():
    def work(size: int) -> Any:
        runs = {
            f"N{number}": [n8n_run(number, {"ai_x": {}}, source=f"N{number - 1}")]
            for number in range(size)
        }
        runs["Model"] = [
            n8n_run(number, n8n_answer("x"), N8N_PROMPT, f"N{size - 1}") for number in range(size)
        ]
        value = json.loads(json.dumps(execution(runs)))
        return lambda: read_trace(value)

    assert_takes_at_most(8, work, size=4_000, of=1_000)

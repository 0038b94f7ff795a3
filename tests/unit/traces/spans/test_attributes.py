"""Data of spans under the new and the old names of attributes."""

from __future__ import annotations

import json

import pytest

from support.spans import CHAT, asks, read, runs, span, step, tool_facts
from weighbridge.errors import TraceError
from weighbridge.traces import ToolDefinition, Usage
from weighbridge.traces.spans.spans import Event
from weighbridge.traces.spans.steps import traces_of

# What a span is


@pytest.mark.parametrize(
    ("attributes", "kind"),
    [
        ({"gen_ai.operation.name": "chat"}, "llm"),
        ({"gen_ai.operation.name": "text_completion"}, "llm"),
        ({"gen_ai.operation.name": "generate_content"}, "llm"),
        ({"gen_ai.operation.name": "execute_tool"}, "tool"),
        ({"gen_ai.operation.name": "invoke_agent"}, "agent"),
        ({"gen_ai.operation.name": "invoke_swarm"}, "agent"),
        ({"gen_ai.operation.name": "embeddings"}, "other"),
        ({"gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 1}, "llm"),
        ({"gen_ai.response.model": "m"}, "llm"),
        ({"gen_ai.usage.prompt_tokens": 1}, "llm"),
        ({"llm.model": "m"}, "llm"),
        ({"llm.input_tokens": "5"}, "llm"),
        ({"gen_ai.tool.name": "search"}, "tool"),
        ({"tool.name": "search"}, "tool"),
        ({"tool.name": "search", "gen_ai.request.model": "m"}, "llm"),
        ({"agent_name": "a", "model_name": "m", "gen_ai.usage.input_tokens": 9}, "agent"),
        ({"openinference.span.kind": "LLM"}, "llm"),
        ({"openinference.span.kind": "TOOL"}, "tool"),
        ({"openinference.span.kind": "AGENT"}, "agent"),
        ({"openinference.span.kind": "RETRIEVER"}, "other"),
        ({"openinference.span.kind": "EVALUATOR"}, "other"),
        ({"openinference.span.kind": "CHAIN", "gen_ai.operation.name": "chat"}, "llm"),
        ({"traceloop.span.kind": "tool"}, "tool"),
        ({"traceloop.span.kind": "agent"}, "agent"),
        ({"llm.request.type": "completion", "gen_ai.system": "openai"}, "llm"),
        ({"ai.operationId": "ai.generateText.doGenerate"}, "llm"),
        ({"ai.operationId": "ai.toolCall"}, "tool"),
        ({"mlflow.spanType": '"CHAT_MODEL"'}, "llm"),
        ({"langfuse.observation.type": "generation"}, "llm"),
        ({"mcp.method.name": "tools/call", "gen_ai.tool.name": "x"}, "tool"),
        ({"gcp.vertex.agent.llm_request": '{"model": "m"}'}, "llm"),
    ],
)
def test_a_span_is_the_kind_of_step_that_its_attributes_say(attributes, kind):
    assert step(attributes).type == kind


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"http.method": "GET", "gen_ai.conversation.id": "c"},
        {"db.system": "redis"},
        {"openinference.span.kind": "CHAIN"},
        {"traceloop.span.kind": "workflow"},
        {"ai.operationId": "ai.generateText", "ai.usage.promptTokens": 7, "ai.model.id": "m"},
        {"gen_ai.operation.name": "create_agent", "gen_ai.request.model": "m"},
        {"mcp.method.name": "tools/list"},
        {"gen_ai.operation.name": 7},
    ],
)
def test_spans_of_other_work_and_groups_are_no_steps_but_are_counted(attributes):
    trace = read(span(CHAT), span(attributes))
    assert [found.type for found in trace.steps] == ["llm"]
    assert trace.not_carried == ("spans that are no step, such as HTTP, a database or a chain (1)",)


def test_spans_that_tell_of_no_agent_at_all_are_refused():
    with pytest.raises(TraceError, match="none of 2 spans has attributes known to mark"):
        traces_of([span({"http.method": "GET"}), span({})], "otel")


# Facts under their names


@pytest.mark.parametrize(
    ("attributes", "usage"),
    [
        ({"gen_ai.usage.input_tokens": 5, "gen_ai.usage.output_tokens": 2}, Usage(5, 2)),
        ({"gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 2}, Usage(5, 2)),
        ({"gen_ai.usage.input_tokens": "5", "gen_ai.usage.output_tokens": "2"}, Usage(5, 2)),
        ({"llm.token_count.prompt": 5, "llm.token_count.completion": 2}, Usage(5, 2)),
        ({"ai.usage.promptTokens": 5, "ai.usage.completionTokens": 2}, Usage(5, 2)),
        ({"llm.input_tokens": "5", "llm.output_tokens": "2"}, Usage(5, 2)),
        ({"llm.prompt_tokens": 5, "llm.completion_tokens": 2}, Usage(5, 2)),
        ({"llm.total_tokens": 7}, Usage(None, None, 7)),
        ({"llm.usage.total_tokens": 7}, Usage(None, None, 7)),
        ({"llm.token_count.total": 7, "llm.token_count.prompt": 5}, Usage(5, None, 7)),
        (
            {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.cache_read.input_tokens": 4},
            Usage(5, None, None, 4),
        ),
        (
            {"gen_ai.usage.input_tokens": 5, "gen_ai.usage.cache_read_input_tokens": 4},
            Usage(5, None, None, 4),
        ),
        (
            {
                "llm.token_count.prompt": 5,
                "llm.token_count.prompt_details.cache_read": 4,
                "llm.token_count.completion": 1,
            },
            Usage(5, 1, None, 4),
        ),
        ({"mlflow.chat.tokenUsage": '{"input_tokens": 5, "output_tokens": 2}'}, Usage(5, 2)),
        ({"langfuse.observation.usage_details": '{"input": 5, "output": 2}'}, Usage(5, 2)),
        ({"gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0}, None),
        ({"gen_ai.usage.input_tokens": -5, "gen_ai.usage.output_tokens": "many"}, None),
        ({"gen_ai.usage.input_tokens": True}, None),
    ],
)
def test_tokens_are_read_under_each_of_their_names(attributes, usage):
    assert step(CHAT | attributes).usage == usage


@pytest.mark.parametrize(
    "told",
    [
        {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.cache_read_input_tokens": 100},
        {
            "gen_ai.usage.input_tokens": 103 - 100,
            "gen_ai.usage.cache_read_input_tokens": 2,
            "gen_ai.usage.cache_write_input_tokens": 98,
            "gen_ai.usage.output_tokens": 7,
            "gen_ai.usage.total_tokens": 110,
        },
    ],
)
def test_cached_tokens_that_the_numbers_show_to_stand_apart_become_input(told):
    assert step(CHAT | told).usage.input_tokens == 103


@pytest.mark.parametrize(
    ("attributes", "cost"),
    [
        ({"llm.cost.total": 0.25}, 0.25),
        ({"gen_ai.usage.cost": "0.25"}, 0.25),
        ({"operation.cost": 1}, 1.0),
        ({"mlflow.llm.cost": '{"input_cost": 0.1, "total_cost": 0.25}'}, 0.25),
        ({"mlflow.llm.cost": "[0.25]"}, None),
        ({"langfuse.observation.cost_details": '{"input": 0.1, "total": 0.25}'}, 0.25),
        ({"gen_ai.usage.cost": "much"}, None),
        ({"gen_ai.usage.cost": "nan"}, None),
        ({"llm.cost.total": -1}, None),
    ],
)
def test_costs_are_read_under_each_of_their_names(attributes, cost):
    assert step(CHAT | attributes).cost_usd == cost


def test_costs_under_other_names_are_not_carried_over():
    def not_carried(**attributes):
        trace = read(span(CHAT | attributes))
        return trace.steps[0].cost_usd, [*trace.not_carried]

    assert not_carried(**{"llm.cost.total_usd": 0.25}) == (
        None,
        ["span field 'llm.cost.total_usd' (1)"],
    )
    assert not_carried(**{"llm.cost.total_usd": 0.25, "llm.cost.total": 0.25}) == (0.25, [])
    assert not_carried(**{"x.cost": 0, "y.cost": "much", "costing": 1, "z.costly": 1}) == (None, [])


def test_the_model_that_answered_comes_before_the_one_that_was_asked():
    assert step(CHAT | {"gen_ai.response.model": "m-2025"}).model == "m-2025"
    assert step(CHAT).model == "m"
    assert step({"openinference.span.kind": "LLM", "llm.model_name": "n"}).model == "n"
    assert step({"llm.model": "n"}).model == "n"


@pytest.mark.parametrize(
    ("facts", "error"),
    [
        ({"status": "error", "status_message": "timed out"}, "timed out"),
        ({"status": "error"}, "error"),
        (
            {"events": [Event("exception", {"exception.type": "E", "exception.message": "why"})]},
            "why",
        ),
        ({"status": "error", "events": [Event("exception", {"exception.type": "E"})]}, "E"),
        ({"status": "ok", "events": [Event("exception", {"exception.message": "retried"})]}, None),
        ({"status": "ok"}, None),
    ],
)
def test_a_failed_span_is_a_failed_step(facts, error):
    assert step(CHAT, **facts).error == error
    assert step(runs(), **facts).error == error


@pytest.mark.parametrize(
    ("attributes", "error"),
    [
        ({"error.type": "timeout"}, "timeout"),
        ({"gen_ai.tool.status": "error"}, "error"),
        ({"gen_ai.tool.status": "success"}, None),
        ({"status.ok": False}, "error"),
        ({"status.ok": True}, None),
        ({"exception.message": "no such file", "exception.type": "E"}, "no such file"),
        ({"exception.type": "E"}, "E"),
        ({"exception.message": ""}, None),
        ({"exception.message": 5}, None),
        (
            {
                "gen_ai.tool.call.result": json.dumps(
                    {"content": [{"type": "text", "text": "no such file"}], "isError": True}
                )
            },
            "no such file",
        ),
    ],
)
def test_attributes_tell_that_a_tool_failed(attributes, error):
    assert step(runs() | attributes).error == error


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        (runs("search"), "search"),
        ({"openinference.span.kind": "TOOL", "tool.name": "search"}, "search"),
        ({"traceloop.span.kind": "tool", "traceloop.entity.name": "search"}, "search"),
        ({"ai.operationId": "ai.toolCall", "ai.toolCall.name": "search"}, "search"),
        ({"gen_ai.operation.name": "execute_tool"}, "search"),
    ],
)
def test_a_tool_has_the_name_that_its_span_tells(attributes, name):
    assert step(attributes, name="execute_tool search").name == name


@pytest.mark.parametrize(
    "attributes",
    [
        runs(arguments='{"q": "x"}'),
        runs(arguments={"q": "x"}),
        runs() | {"gcp.vertex.agent.tool_call_args": '{"q": "x"}'},
        runs() | {"tool_arguments": '{"q": "x"}'},
        {"openinference.span.kind": "TOOL", "input.value": '{"q": "x"}'},
        {"openinference.span.kind": "TOOL", "tool.parameters": '{"q": "x"}'},
        {
            "openinference.span.kind": "TOOL",
            "tool.parameters": '{"type": "object", "properties": {}}',
            "input.value": '{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"q": "x"}}',
        },
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.input": json.dumps(
                {"input_str": "{'q': 'x'}", "tags": [], "inputs": {"q": "x"}, "kwargs": {}}
            ),
        },
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.input": '{"args": [], "kwargs": {"q": "x"}}',
        },
        {"ai.operationId": "ai.toolCall", "ai.toolCall.args": '{"q": "x"}'},
        {"mlflow.spanType": "TOOL", "mlflow.spanInputs": '{"q": "x"}'},
    ],
)
def test_arguments_are_read_under_each_of_their_names(attributes):
    assert step(attributes).arguments == {"q": "x"}


def test_arguments_that_are_an_object_go_before_the_empty_text_that_a_stream_leaves():
    told = {"tool_call.function.arguments": "", "input.value": "{}"}
    assert step(runs() | told).arguments == {}
    asked, ran = span(asks(("c1", "search", ""))), span(runs() | {"input.value": "{}"}, at=2)
    assert tool_facts(asked, ran) == [("search", {}, None)]
    assert tool_facts(asked, span(runs(), at=2)) == [("search", None, None)]


def test_arguments_that_are_no_object_stay_as_they_are_and_untold_ones_are_none():
    assert step(runs(arguments='{"q": ')).arguments == '{"q": '
    assert step(runs()).arguments is None
    for schema in (
        '{"type": "object", "properties": {}}',
        '{"city": {"type": "string"}, "day": {"type": "integer"}}',
    ):
        told = {"openinference.span.kind": "TOOL", "tool.parameters": schema}
        assert step(told).arguments is None
        assert step(told | {"input.value": "Paris"}).arguments == "Paris"


@pytest.mark.parametrize(
    "attributes",
    [
        runs(result="found"),
        runs()
        | {"gcp.vertex.agent.tool_response": '{"content": [{"type": "text", "text": "found"}]}'},
        runs() | {"tool_response": "found"},
        {"openinference.span.kind": "TOOL", "output.value": "found"},
        {
            "traceloop.span.kind": "tool",
            "traceloop.entity.output": '{"output": "found", "kwargs": {}}',
        },
        {"ai.operationId": "ai.toolCall", "ai.toolCall.result": '"found"'},
    ],
)
def test_results_are_read_under_each_of_their_names(attributes):
    assert step(attributes).output == "found"


def test_a_structured_result_stays_structured():
    assert step(runs(result={"hits": [1]})).output == {"hits": [1]}
    assert step(runs(result='{"hits": [1]}')).output == '{"hits": [1]}'


@pytest.mark.parametrize(
    "attributes",
    [
        {
            "gen_ai.tool.definitions": json.dumps(
                [{"type": "function", "name": "search", "parameters": {"type": "object"}}]
            )
        },
        {
            "gen_ai.tool.definitions": json.dumps(
                [{"name": "search", "inputSchema": {"json": {"type": "object"}}}]
            )
        },
        {
            "llm.request.functions.0.name": "search",
            "llm.request.functions.0.parameters": '{"type": "object"}',
        },
        {
            "llm.tools.0.tool.json_schema": json.dumps(
                {
                    "type": "function",
                    "function": {"name": "search", "parameters": {"type": "object"}},
                }
            )
        },
        {"llm.tools.0.tool.name": "search", "llm.tools.0.tool.json_schema": '{"type": "object"}'},
        {
            "ai.prompt.tools": [
                '{"type": "function", "name": "search", "inputSchema": {"type": "object"}}'
            ]
        },
        {
            "model_request_parameters": json.dumps(
                {
                    "function_tools": [
                        {"name": "search", "parameters_json_schema": {"type": "object"}}
                    ]
                }
            )
        },
        {
            "gcp.vertex.agent.llm_request": json.dumps(
                {
                    "config": {
                        "tools": [
                            {
                                "function_declarations": [
                                    {"name": "search", "parameters": {"type": "OBJECT"}}
                                ]
                            }
                        ]
                    }
                }
            )
        },
    ],
)
def test_the_tools_that_were_offered_are_read_under_each_of_their_names(attributes):
    assert read(span(CHAT | attributes)).tools == (ToolDefinition("search", {"type": "object"}),)

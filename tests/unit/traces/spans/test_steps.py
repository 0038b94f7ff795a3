"""Conversion of spans to steps: each call once even if several spans record it, in order, with its parent."""

from __future__ import annotations

import json
from functools import partial

import pytest

from support.growth import assert_takes_at_most
from support.spans import CHAT, OPENAI_CALL, SECOND, asks, read, runs, span, tool_facts
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.spans.spans import Span, in_order, nearest, parents_of
from weighbridge.traces.spans.steps import traces_of

# Each call once


def test_a_call_with_a_span_of_its_id_counts_once():
    call = ("c1", "search", {"q": "x"})
    found = tool_facts(span(asks(call)), span(runs(id="c1", result="found"), at=2))
    assert found == [("search", {"q": "x"}, "found")]


@pytest.mark.parametrize(
    ("call_id", "ran"),
    [
        ("c1", runs(arguments='{"q": "x"}', result="found")),
        (None, runs(arguments='{"q": "x"}', result="found")),
        ("c1", runs(arguments='{"q": "x"}', result="found", id="another-naming-of-c1")),
        ("c1", runs(result="found")),
        ("c1", runs(result="found", arguments="{'q': 'x'}")),
        (None, runs(result="found", id="c1")),
    ],
)
def test_a_call_counts_once_where_its_span_tells_less_or_names_it_otherwise(call_id, ran):
    found = tool_facts(span(asks((call_id, "search", {"q": "x"}))), span(ran, at=2))
    assert found == [("search", {"q": "x"}, "found")]


def test_a_call_without_a_span_is_a_step_beside_those_that_have_one():
    calls = [("c1", "search", {"q": "x"}), ("c2", "search", {"q": "y"}), ("c3", "mail", {})]
    found = tool_facts(span(asks(*calls)), span(runs(id="c2", arguments='{"q": "y"}'), at=2))
    assert found == [("search", {"q": "x"}, None), ("mail", {}, None), ("search", {"q": "y"}, None)]


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        ({"openinference.span.kind": "TOOL", "input.value": "Triage", "output.value": "Tax Desk"}, "handoff to Tax Desk"),
        ({"gen_ai.operation.name": "agent_handoff", "gen_ai.handoff.to_agent": "Tax Desk"}, "x"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("tool", ["transfer_to_tax_desk", "transfer_to_Tax_Desk", None])
def test_a_handoff_is_the_call_that_the_model_made_for_it(attributes, name, tool):
    calls = [("c1", tool, {}), ("c2", "transfer_to_Sales", {})] if tool else []
    handoff = span(attributes, name=name, at=2, status="error")
    trace = read(span(asks(*calls)), handoff)
    found = {step.name: (step.output, step.error) for step in trace.steps_of("tool")}
    asked = {"transfer_to_Sales": (None, None)} if tool else {}
    assert found == asked | {"transfer_to_tax_desk": ("Tax Desk", None)}


def test_a_tool_whose_span_only_begins_like_that_of_a_handoff_is_read_as_it_is():
    tool = {"openinference.span.kind": "TOOL", "input.value": '{"a": 1}', "output.value": "called"}
    [step] = read(span(tool, name="handoff to human support")).steps_of("tool")
    assert (step.name, step.arguments, step.output) == (
        "handoff to human support",
        {"a": 1},
        "called",
    )


def test_a_handoff_that_failed_has_its_error():
    handoff = {"gen_ai.operation.name": "agent_handoff", "gen_ai.handoff.to_agent": "Tax Desk"}
    told = {"name": "x", "trace_id": "t", "span_id": "1", "attributes": handoff}
    status = {"code": "ERROR", "description": "the agent is not there"}
    [step] = read_trace([told | {"status": status}]).steps_of("tool")
    assert step.error == "the agent is not there"


@pytest.mark.parametrize(
    ("arguments", "read_as"),
    [
        ("""'{"q": "x"}'""", {"q": "x"}),
        ("""'{"q": "it\\'s"}'""", {"q": "it's"}),
        (r"""'{"q": "\\u00e9"}'""", {"q": "é"}),
        ('"{}"', {}),
    ],
)
def test_a_call_that_is_printed_as_text_is_a_call(arguments, read_as):
    text = f"ResponseFunctionToolCall(arguments={arguments}, call_id='c1', name='search', type='function_call', id='fc', status='completed')"  # fmt: skip
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": text}]}]
    trace = read(span(CHAT | {"gen_ai.output.messages": json.dumps(answer)}))
    assert [(step.type, step.output) for step in trace.steps] == [("llm", None), ("tool", None)]
    assert (trace.steps[1].id, trace.steps[1].name, trace.steps[1].arguments) == ("c1", "search", read_as)  # fmt: skip


@pytest.mark.parametrize("text", ["see ResponseFunctionToolCall(", "ResponseFunctionToolCall(arguments='\\N{x}', call_id='c', name='n', type='function_call', )"])  # fmt: skip
def test_other_texts_are_no_printed_call(text):
    answer = [{"role": "assistant", "parts": [{"type": "text", "content": text}]}]
    trace = read(span(CHAT | {"gen_ai.output.messages": json.dumps(answer)}))
    assert [(step.type, step.output) for step in trace.steps] == [("llm", text)]


def test_a_span_that_sums_up_parallel_calls_is_no_call():
    calls = [("c1", "search", {"q": "x"}), ("c2", "search", {"q": "y"})]
    found = tool_facts(
        span(asks(*calls)),
        span(runs(id="c1"), at=1),
        span(runs(id="c2"), at=2),
        span(runs("(merged tools)", id="event-7"), at=3),
    )
    assert found == [("search", {"q": "x"}, None), ("search", {"q": "y"}, None)]


@pytest.mark.parametrize(
    "told",
    [
        {"type": "tool", "content": "found", "tool_call_id": "c1"},
        {"output": {"type": "tool", "content": "found", "tool_call_id": "c1"}, "kwargs": {}},
        {
            "output": {
                "lc": 1,
                "type": "constructor",
                "id": ["langchain_core", "messages", "ToolMessage"],
                "kwargs": {"status": "success", "content": [{"type": "text", "text": "found"}]},
            }
        },
    ],
)
@pytest.mark.parametrize("name", ["output.value", "traceloop.entity.output", "gen_ai.completion"])
def test_a_result_that_is_langchains_message_is_what_it_says(name, told):
    ran = span({"gen_ai.tool.name": "search", name: json.dumps(told)})
    [tool] = read(ran).steps
    assert (tool.output, tool.error) == ("found", None)


def test_langchains_message_says_that_the_call_failed():
    told = {"type": "tool", "content": "no net", "tool_call_id": "c1", "status": "error"}
    [tool] = read(span({"gen_ai.tool.name": "search", "output.value": json.dumps(told)})).steps
    assert (tool.output, tool.error) == ("no net", "no net")


def test_equal_calls_are_as_many_as_were_made():
    calls = [("c1", "search", {}), ("c2", "search", {})]
    assert len(tool_facts(span(asks(*calls)))) == 2
    assert (
        len(tool_facts(span(asks(*calls)), span(runs(id="c1"), at=1), span(runs(id="c2"), at=2)))
        == 2
    )
    again = [asks(("call_0", "search", {"n": n})) for n in range(3)]
    spans = [span(attributes, at=2 * n) for n, attributes in enumerate(again)]
    assert tool_facts(*spans) == [("search", {"n": n}, None) for n in range(3)]


def test_a_call_that_an_answer_shows_twice_is_one():
    answer = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "x"}}],
        "tool_calls": [OPENAI_CALL],
    }
    assert len(tool_facts(span(CHAT | {"gen_ai.output.messages": [answer]}))) == 1


def test_model_spans_inside_each_other_are_one_call_with_the_facts_of_all():
    call = asks(("c1", "search", {}), **{"gen_ai.usage.input_tokens": 9})
    trace = read(
        span(call, span_id="framework", at=0, lasts=9),
        span(CHAT | {"gen_ai.usage.input_tokens": 9}, span_id="adapter", parent="framework"),
        span({"http.method": "POST"}, span_id="http", parent="adapter"),
        span(
            {"llm.request.type": "chat", "gen_ai.response.model": "m-2025"},
            span_id="client",
            parent="http",
            at=1,
            lasts=2,
        ),
        span(runs(id="c1"), parent="adapter", at=4),
    )
    [model], [tool] = trace.steps_of("llm"), trace.steps_of("tool")
    assert (model.id, model.model, model.usage) == ("client", "m-2025", Usage(9))
    assert model.ended_at - model.started_at == 2 * SECOND
    assert tool.parent_id == "client"


def test_a_model_span_around_several_calls_is_no_call_but_keeps_its_sum():
    trace = read(
        span(CHAT | {"gen_ai.usage.input_tokens": 30}, span_id="outer", lasts=9),
        span(CHAT | {"gen_ai.usage.input_tokens": 10}, parent="outer", status="error", at=1),
        span(CHAT | {"gen_ai.usage.input_tokens": 20}, parent="outer", at=3),
    )
    assert [(found.type, found.usage) for found in trace.steps] == [
        ("other", Usage(30)),
        ("llm", Usage(10)),
        ("llm", Usage(20)),
    ]
    assert {found.parent_id for found in trace.steps_of("llm")} == {"outer"}


def test_a_model_call_that_began_after_its_parent_had_ended_is_a_call_of_its_own():
    trace = read(
        span(CHAT, span_id="first", at=0),
        span(runs(), span_id="tool", parent="first", at=2),
        span(CHAT, span_id="second", parent="first", at=4),
    )
    assert [(found.id, found.type, found.parent_id) for found in trace.steps] == [
        ("first", "llm", None),
        ("tool", "tool", "first"),
        ("second", "llm", "first"),
    ]


def test_a_model_call_of_one_span_below_another_is_one_although_the_outer_one_ended_first():
    """A wrapper of a stream ends when it returns the stream; a gateway's clock may be ahead."""
    trace = read(
        span(CHAT, span_id="outer", at=0),
        span(CHAT | {"gen_ai.usage.input_tokens": 8}, parent="outer", at=4),
    )
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(8)]


@pytest.mark.parametrize(
    ("spans", "reason"),
    [
        ([runs()], "there are tool calls"),
        ([{"gen_ai.operation.name": "invoke_agent"}], "an agent ran"),
        ([{"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 3}], "tokens were used"),
        ([{"openinference.span.kind": "RETRIEVER"}], None),
        ([runs(), CHAT], None),
    ],
)  # fmt: skip
def test_model_calls_that_no_span_records_are_not_known(spans, reason):
    told = [
        {"name": "x", "trace_id": "t", "span_id": str(at), "attributes": each}
        for at, each in enumerate(spans)
    ]
    missing = read_trace(told).missing
    assert missing.get("llm_calls") == (reason and f"{reason}, but no model call is recorded")


def test_the_tokens_of_an_agent_are_token_usage():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 3}
    assert not {"token_usage", "cost"} & set(read(span(agent)).missing)


def test_a_model_call_inside_a_tool_call_is_a_call_of_its_own():
    trace = read(
        span(CHAT, span_id="outer", lasts=9),
        span(runs(), span_id="tool", parent="outer", at=1),
        span(CHAT, span_id="inner", parent="tool", at=2),
    )
    assert [(found.id, found.parent_id) for found in trace.steps] == [
        ("outer", None),
        ("tool", "outer"),
        ("inner", "tool"),
    ]


def test_two_model_spans_of_one_answer_side_by_side_are_one_call():
    answer = CHAT | {"gen_ai.response.id": "r1"}
    assert len(read(span(answer, lasts=5), span(answer, at=1, lasts=3)).steps) == 1
    # A provider that gives every answer the same id still makes several.
    assert len(read(span(answer), span(answer, at=2)).steps) == 2


ANSWER_1, ANSWER_2 = ({"gen_ai.response.id": f"resp-{number}"} for number in (1, 2))
SENT_11, SENT_12 = ({"gen_ai.usage.input_tokens": count} for count in (11, 12))
RECEIVED_1, RECEIVED_2 = ({"gen_ai.usage.output_tokens": count} for count in (1, 2))


def two_libraries(*, scopes=("langchain", "openai"), client=None, asked=(), made=()):
    """Return a model call of a framework below its chain, and that of the provider's client at the root."""
    of_framework = asks((None, "search", {"q": "x"}), **{"gen_ai.request.model": "m"})
    of_client = asks(("c1", "search", {"q": "x"}), **{"gen_ai.request.model": "m-2025"})
    return [
        span({}, span_id="chain", lasts=9),
        span(of_framework | dict(asked), parent="chain", at=1, lasts=6, scope=scopes[0]),
        span(client or of_client | dict(made), at=2, lasts=3, scope=scopes[1]),
        span(runs(id="c1", arguments='{"q": "x"}', result="found"), parent="chain", at=8),
    ]


def test_a_model_call_that_two_libraries_record_side_by_side_is_one_call():
    trace = read(*two_libraries())
    assert [step.type for step in trace.steps] == ["llm", "tool"]
    assert (trace.steps[0].model, trace.steps[0].started_at) == ("m-2025", 1_700_000_002 * SECOND)


@pytest.mark.parametrize(
    ("asked", "made"),
    [
        (ANSWER_1 | SENT_11, {}),
        (ANSWER_1 | SENT_11 | RECEIVED_1, ANSWER_1 | SENT_11),
        (SENT_11 | RECEIVED_1, {"gen_ai.usage.total_tokens": 12}),
        *(({}, {"gen_ai.request.model": f"m-{end}"}) for end in ("2024-08-06", "20241022", "0613", "002", "05-20")),
    ],
)  # fmt: skip
def test_a_model_call_is_one_if_the_libraries_record_other_facts_or_another_version(asked, made):
    assert len(read(*two_libraries(asked=asked, made=made)).steps_of("llm")) == 1


@pytest.mark.parametrize(
    "spans",
    [
        two_libraries(scopes=("openai", "openai")),
        two_libraries(scopes=("", "")),
        two_libraries(client=asks(("c1", "search", {"q": "y"}))),
        two_libraries(client=asks(("c1", "search", {"q": "x"}), **{"gen_ai.request.model": "n"})),
        two_libraries(client=CHAT),
        two_libraries(asked=ANSWER_1, made=ANSWER_2),
        two_libraries(asked=SENT_11, made=SENT_12),
        two_libraries(asked=SENT_11 | RECEIVED_1, made=SENT_11 | RECEIVED_2),
        two_libraries(asked=RECEIVED_1, made=RECEIVED_2),
        *(two_libraries(made={"gen_ai.request.model": f"m-{end}"}) for end in ("mini", "4", "4-5", "70b", "2025-mini")),
        two_libraries(made={"gen_ai.request.model": "m.1"}),
        [*two_libraries()[:2], span(asks(("c1", "search", {"q": "x"})), at=5, lasts=3, scope="openai")],
    ],
)  # fmt: skip
def test_model_calls_of_two_libraries_are_two_unless_one_encloses_the_other_and_has_its_answer(
    spans,
):
    assert len(read(*spans).steps_of("llm")) == 2


def test_calls_that_enclose_others_are_each_one_call_with_one_of_them():
    each = two_libraries()
    trace = read(*each[:3], *two_libraries()[1:3])
    assert len(trace.steps_of("llm")) == 2


def test_tool_spans_of_client_and_server_inside_the_agents_are_one_call():
    mcp = runs() | {"mcp.method.name": "tools/call"}
    trace = read(
        span(runs(id="c1", arguments='{"q": "x"}'), span_id="agent", lasts=9),
        span(mcp, span_id="client", parent="agent", at=1, scope="mcp"),
        span(mcp | {"gen_ai.tool.call.result": "found"}, parent="client", at=2, scope="mcp"),
    )
    [tool] = trace.steps
    assert (tool.id, tool.arguments, tool.output) == ("agent", {"q": "x"}, "found")


def test_a_call_that_passes_several_layers_of_a_client_is_one_call():
    called = {"gen_ai.tool.call.id": "c1"}
    named = {"gen_ai.tool.name": "files_read"}
    sent = {"mcp.method.name": "tools/call", "mcp.tool.name": "read"}
    trace = read(
        span(CHAT, span_id="model"),
        span(called | named, span_id="1", name="execute_tool_call", at=2, lasts=9),
        span(called, span_id="2", parent="1", name="llm.call_tool", at=3, lasts=7),
        span(named, span_id="3", parent="2", name="agent.call_tool", at=4, lasts=5),
        span(named, span_id="4", parent="3", name="aggregator.call_tool", at=5, lasts=3),
        span(sent, span_id="5", parent="4", name="send_request", at=6),
    )
    assert [(step.id, step.name) for step in trace.steps_of("tool")] == [("1", "files_read")]


def test_a_tool_that_calls_another_over_mcp_keeps_both_calls():
    sent = {"mcp.method.name": "tools/call", "mcp.tool.name": "read"}
    trace = read(
        span({"gen_ai.tool.name": "spread"}, span_id="1", name="call_tool", lasts=9),
        span(sent, span_id="2", parent="1", name="send_request", at=1),
    )
    assert [step.name for step in trace.steps] == ["spread", "read"]


def test_a_span_that_only_names_a_model_is_no_call_beside_spans_of_calls():
    changed = {"gen_ai.request.model": "m", "gen_ai.conversation.id": "c"}
    for named in (changed, {"llm.model": "m"}):
        trace = read(span(named, span_id="1"), span(CHAT, span_id="2", at=1))
        assert [step.id for step in trace.steps] == ["2"]
    kind = {"openinference.span.kind": "LLM"}
    for more in ({"gen_ai.usage.input_tokens": 3}, {"gen_ai.system": "x"}, kind):
        trace = read(span(changed | more, span_id="1"), span(CHAT, span_id="2", at=1))
        assert [step.id for step in trace.steps] == ["1", "2"]
    assert [step.type for step in read(span(changed)).steps] == ["llm"]


def test_a_tool_that_calls_itself_or_another_keeps_both_calls():
    trace = read(
        span(runs("outer"), span_id="1", lasts=9),
        span(runs("inner"), span_id="2", parent="1", at=1),
        span(runs("inner"), span_id="3", parent="2", at=2),
    )
    assert [(found.name, found.parent_id) for found in trace.steps] == [
        ("outer", None),
        ("inner", "1"),
        ("inner", "2"),
    ]


def test_a_tool_call_beside_the_model_call_that_asked_is_part_of_it():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    trace = read(
        span(agent, span_id="agent", lasts=9),
        span(asks(("c1", "search", {})), span_id="model", parent="agent", at=1),
        span(runs(id="c1"), span_id="asked", parent="agent", at=3),
        span(runs(id="c9"), span_id="unasked", parent="agent", at=4),
    )
    assert {found.id: found.parent_id for found in trace.steps} == {
        "agent": None,
        "model": "agent",
        "asked": "model",
        "unasked": "agent",
    }
    assert trace.steps[0].name == "helper"


def test_an_agents_messages_count_where_no_model_call_inside_has_any():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper"}
    answer = [{"role": "assistant", "content": "Done.", "tool_calls": [OPENAI_CALL]}]
    told = agent | {
        "gen_ai.input.messages": '[{"role": "user", "content": "Find x."}]',
        "gen_ai.output.messages": json.dumps(answer),
    }
    trace = read(span(told, span_id="agent"))
    assert [found.type for found in trace.steps] == ["user", "agent", "tool"]
    assert (trace.steps[1].input, trace.steps[1].output) == ("Find x.", "Done.")
    call = asks(("c1", "search", {"q": "x"}))
    trace = read(span(told, span_id="agent"), span(call, parent="agent", at=1))
    assert [found.type for found in trace.steps] == ["agent", "llm", "tool"]


def test_the_sum_that_an_agent_tells_stays_on_the_agent():
    agent = {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 30}
    trace = read(
        span(agent, span_id="agent"),
        span(CHAT | {"gen_ai.usage.input_tokens": 30}, parent="agent"),
    )
    assert [found.usage for found in trace.steps] == [Usage(30), Usage(30)]
    assert trace.usage is None


def agent_of(tokens, **facts):
    return span(
        {"gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": tokens}, **facts
    )


def test_calls_beside_the_agent_whose_tokens_they_are_stand_inside_it():
    calls = [
        span(CHAT | {"gen_ai.usage.input_tokens": 10}, span_id="one", parent="root", at=1),
        span(runs(), span_id="tool", parent="root", at=2),
        span(CHAT | {"gen_ai.usage.input_tokens": 20}, span_id="two", parent="root", at=3),
    ]
    later = [
        span(CHAT | {"gen_ai.usage.input_tokens": 5}, span_id="three", parent="root", at=11),
        agent_of(5, span_id="second", parent="root", at=10, lasts=9),
    ]
    trace = read(*calls, agent_of(30, span_id="first", parent="root", lasts=9), *later)
    assert {found.id: found.parent_id for found in trace.steps} == {
        "first": None,
        "one": "first",
        "tool": "first",
        "two": "first",
        "second": None,
        "three": "second",
    }


@pytest.mark.parametrize(
    "agents",
    [
        [agent_of(31, span_id="a", lasts=9)],  # of other tokens
        [agent_of(30, span_id="a", lasts=2)],  # ended before
        [agent_of(30, span_id="a", lasts=9), agent_of(30, span_id="b", at=1, lasts=2)],
        [agent_of(30, span_id="a", lasts=9), agent_of(30, span_id="b", lasts=9, at=8)],
    ],
)
def test_calls_beside_an_agent_stay_there_if_they_may_be_anothers(agents):
    call = span(CHAT | {"gen_ai.usage.input_tokens": 30}, span_id="call", at=2)
    trace = read(call, *agents)
    assert next(found for found in trace.steps if found.id == "call").parent_id is None


# What is missing


def test_what_no_span_tells_is_missing_with_a_reason():
    trace = read(span(CHAT | {"gen_ai.response.finish_reasons": ["stop"]}))
    assert trace.missing == {
        "token_usage": "no span of a model call records its tokens",
        "cost": "no span records a cost, or tokens to compute it from",
        "tool_definitions": "no span lists the tools that were offered",
    }
    assert "timing" in read(Span("t", "a", None, "", None, None, dict(CHAT))).missing


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({}, "there are no spans of tool calls, and those of model calls do not"),
        (
            {"gen_ai.response.finish_reasons": '["tool_calls"]'},
            "a model call ended with tool calls",
        ),
        ({"gen_ai.response.finish_reasons": ["tool_use"]}, "a model call ended with tool calls"),
        ({"gen_ai.response.finish_reasons": ["stop"]}, None),
        ({"gen_ai.completion.0.content": "Here."}, None),
    ],
)
def test_whether_tools_were_called_is_known_from_the_answers_or_how_they_ended(attributes, reason):
    missing = read(span(CHAT | attributes)).missing
    assert missing.get("tool_calls", "").startswith(reason or "")
    assert ("tool_calls" in missing) is (reason is not None)


@pytest.mark.parametrize(
    ("kinds", "only"),
    [
        (["EVALUATOR"], "those of other kinds (evaluator)"),
        (["RETRIEVER", "CHAIN", "RETRIEVER", "AGENT"], "those of other kinds (retriever, agent)"),
    ],
)
def test_a_trace_without_spans_of_calls_says_of_which_kinds_its_spans_are(kinds, only):
    spans = [span({"openinference.span.kind": kind}, at=at) for at, kind in enumerate(kinds)]
    missing = read(*spans).missing
    assert missing["tool_calls"] == f"there are no spans of model calls or tool calls, only {only}"
    assert missing["token_usage"] == "there are no spans of model calls, which would record tokens"
    assert missing["cost"].startswith("there are no spans of model calls, which would record")
    with_tool = read(*spans, span(runs(), at=9)).missing
    assert "tool_calls" not in with_tool
    assert with_tool["token_usage"] == missing["token_usage"]


def test_calls_whose_arguments_no_span_records_are_noted():
    trace = read(span(CHAT), span(runs(), at=2), span(runs(arguments="{}"), at=4))
    assert [tool.arguments for tool in trace.steps_of("tool")] == [None, {}]
    assert trace.not_carried == ("tool calls whose arguments no span records (1)",)


def test_a_tool_span_shows_that_tool_calls_are_reported():
    ended = CHAT | {"gen_ai.response.finish_reasons": ["tool_calls"]}
    assert "tool_calls" not in read(span(ended), span(runs(), at=2)).missing


# The tree


def test_steps_come_by_their_start_but_after_what_they_are_part_of():
    trace = read(
        span(CHAT, span_id="late", at=5),
        span(runs("b"), span_id="before its parent", parent="late", at=1),
        span(runs("a"), span_id="early", at=0),
    )
    assert [found.id for found in trace.steps] == ["early", "late", "before its parent"]


def test_a_parent_that_is_no_step_is_skipped_to_the_nearest_that_is():
    agent = {"gen_ai.operation.name": "invoke_agent"}
    trace = read(
        span(agent, span_id="agent"),
        span({}, span_id="http", parent="agent", at=1),
        span({"openinference.span.kind": "CHAIN"}, span_id="chain", parent="http", at=1),
        span(CHAT, span_id="model", parent="chain", at=2),
        span(CHAT, span_id="orphan", parent="nowhere", at=3),
    )
    parents = {found.id: found.parent_id for found in trace.steps}
    assert parents == {"agent": None, "model": "agent", "orphan": None}


def test_parents_in_a_ring_lose_one_link_and_no_step():
    trace = read(
        span(runs("a"), span_id="1", parent="3"),
        span(runs("b"), span_id="2", parent="1", at=1),
        span(runs("c"), span_id="3", parent="2", at=2),
        span(runs("d"), span_id="4", parent="4", at=3),
    )
    assert sorted(found.id for found in trace.steps) == ["1", "2", "3", "4"]
    assert sum(found.parent_id is None for found in trace.steps) == 2


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["chain", "chain reversed", "ring"])
def test_the_tree_of_many_spans_is_walked_without_recursion_and_in_linear_time(shape):
    def walking(size):
        spans = [Span("t", str(n), str(n - 1), "", None, None, {}) for n in range(size)]
        if shape == "ring":
            spans = [*spans[1:], Span("t", "0", str(size - 1), "", None, None, {})]
        if shape == "chain reversed":
            spans.reverse()
        return partial(walk, spans)

    # Quadratic work would take a hundred times as long.
    assert_takes_at_most(40, walking, size=10_000, of=1_000)


def walk(spans):
    size = len(spans)
    parents = parents_of(spans)
    assert sum(parent is None for parent in parents) == 1
    root = parents.index(None)
    above = nearest(parents, [place == root for place in range(size)])
    assert sum(place == root for place in above) == size - 1
    assert in_order(parents, [None] * size)[0] == root


def test_a_span_that_came_twice_is_one():
    twice = span(CHAT, span_id="a")
    trace = read(twice, twice)
    assert len(trace.steps) == 1
    assert trace.not_carried == ("repeated spans (1)",)


@pytest.mark.parametrize("is_first_done", [True, False])
def test_of_a_span_that_was_sent_at_its_start_and_at_its_end_the_latter_counts(is_first_done):
    done = span(CHAT | {"gen_ai.usage.input_tokens": 3}, span_id="a")
    begun = span(CHAT, span_id="a")
    begun.ended_at = None
    trace = read(*([done, begun] if is_first_done else [begun, done]))
    [model] = trace.steps
    assert model.usage == Usage(3)
    assert model.ended_at == done.ended_at


def test_each_trace_id_with_a_step_is_a_trace():
    spans = [span(CHAT), span(CHAT), span({"http.method": "GET"}), span(CHAT)]
    for each, trace_id in zip(spans, ("a", "b", "c", "a"), strict=True):
        each.trace_id = trace_id
    first, second = traces_of(spans, "otel")
    assert (first.id, len(first.steps), second.id, len(second.steps)) == ("a", 2, "b", 1)
    assert first.not_carried == ("traces without a model call, tool call or agent (1)",)


def test_the_metadata_tells_the_services_and_the_conversation():
    told = span(CHAT | {"gen_ai.conversation.id": "c"}, service="helper")
    assert read(told).metadata == {"services": ["helper"], "conversation": "c"}


def history(*parts_of_calls, after="Thanks."):
    """Return a model's input: a question, calls with their results, and further messages of the user."""
    messages = [{"role": "user", "parts": [{"type": "text", "content": "Find x."}]}]
    for part in parts_of_calls:
        told = {"type": "tool_call_response", "id": part["id"], "response": "found"}
        messages.append({"role": "assistant", "parts": [{"type": "tool_call", **part}]})
        messages.append({"role": "tool", "parts": [told]})
    if after:
        messages.append({"role": "user", "parts": [{"type": "text", "content": after}]})
    return {"gen_ai.input.messages": json.dumps(messages)}


SEARCH = {"id": "c1", "name": "search", "arguments": {"q": "x"}}


def test_a_call_that_only_a_later_request_tells_of_is_a_step_of_the_turn():
    said = {
        "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Here."}]}]
    }  # fmt: skip
    last = CHAT | history(SEARCH, after="") | said
    trace = read(span(last), span(last, at=2))
    [tool] = trace.steps_of("tool")
    assert (tool.id, tool.arguments, tool.output) == ("c1", {"q": "x"}, "found")
    earlier = read(span(CHAT | history(SEARCH) | said))
    assert earlier.steps_of("tool") == []
    assert earlier.not_carried == ("tool calls of earlier turns that are in a request (1)",)


@pytest.mark.parametrize(
    "ran",
    [runs(id="c1"), runs(), runs(id="other", arguments='{"q": "x"}'), runs(id="other")],
)
def test_a_call_that_a_span_may_have_run_is_not_told_again_by_a_request(ran):
    assert len(tool_facts(span(ran), span(CHAT | history(SEARCH, after=""), at=2))) == 1


def test_an_answer_that_ended_for_tools_and_shows_none_hides_them():
    said = [{"role": "assistant", "parts": [{"type": "text", "content": "Looking."}]}]
    told = {"gen_ai.output.messages": said, "gen_ai.response.finish_reasons": ["tool_calls"]}
    assert "tool_calls" in read(span(CHAT | told)).missing

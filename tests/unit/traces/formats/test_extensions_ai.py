"""Chats of Microsoft.Extensions.AI."""

from __future__ import annotations

import pytest

from support.trace_examples.vendor_sdks import EXTENSIONS_AI
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.extensions_ai import IMPORTER
from weighbridge.traces.split import opens_session

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z


def text(said):
    return {"$type": "text", "text": said}


def call(own_id, name="f", **fields):
    return {"$type": "functionCall", "callId": own_id, "name": name, "arguments": {}, **fields}


def result(own_id, held="x", kind="functionResult"):
    return {"$type": kind, "callId": own_id, "result": held}


def message(role, *contents, **fields):
    return {"role": role, "contents": list(contents), **fields}


def shape(trace):
    return [(step.type, step.name, step.output, step.error) for step in trace.steps]


def test_texts_calls_results_and_usage_are_read_from_the_contents():
    trace = read_trace(EXTENSIONS_AI)
    assert trace.format == "extensions-ai"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="a", type="llm", usage=Usage(5, 2), ended_at=NOON),
        Step(id="c", type="tool", parent_id="a", name="f", arguments={"a": 1}, output="x"),
    )
    assert trace.not_carried == ()


def test_a_response_states_its_model_and_the_tokens_of_all_its_answers():
    response = {
        "messages": [message("assistant", call("c")), message("tool", result("c"))],
        "modelId": "m",
        "usage": {"inputTokenCount": 9, "outputTokenCount": 3, "totalTokenCount": 12},
        "finishReason": "stop",
    }
    trace = read_trace(response)
    assert (trace.usage, trace.steps[0].model) == (Usage(9, 3, 12), "m")
    assert trace.not_carried == ("chat field 'finishreason' (1)",)


def evaluated(*asked):
    response = {
        "messages": [message("assistant", call("c")), message("tool", result("c")), message("assistant", text("Here."))],
        "modelId": "m",
        "usage": {"inputTokenCount": 9, "outputTokenCount": 3, "totalTokenCount": 12},
    }  # fmt: skip
    return {"scenarioName": "s", "messages": list(asked), "modelResponse": response, "evaluationResult": {"metrics": {}}}  # fmt: skip


def test_the_result_of_an_evaluation_has_the_request_and_the_response():
    trace = read_trace(evaluated(message("user", text("Find x."))))
    assert shape(trace) == [
        ("user", None, "Find x.", None),
        ("llm", None, None, None),
        ("tool", "f", "x", None),
        ("llm", None, "Here.", None),
    ]
    assert (trace.usage, trace.steps[1].model) == (Usage(9, 3, 12), "m")
    assert [step.type for step in read_trace(evaluated()).steps] == ["llm", "tool", "llm"]


def test_the_tokens_of_an_evaluated_response_are_a_part_if_the_request_has_answers():
    trace = read_trace(evaluated(message("user", text("Hi.")), message("assistant", text("Yes?"))))
    assert trace.usage == Usage(9, 3, 12, is_partial=True)


def update(*contents, role="assistant", message_id="", **fields):
    return {"role": role, "contents": list(contents), "responseId": "", "messageId": message_id} | fields  # fmt: skip


USAGE = {"$type": "usage", "details": {"inputTokenCount": 5, "outputTokenCount": 2}}


def test_updates_are_joined_to_messages_by_their_ids_and_roles():
    updates = [
        {"contents": [], "responseId": "", "messageId": ""},
        update(text("I "), message_id="a", modelId="m"),
        update(text("look."), message_id="a"),
        update(USAGE, message_id="a"),
        update(call("c")),
        update(result("c"), role="tool", message_id="t"),
        update(text("Here."), message_id="b"),
    ]
    trace = read_trace(updates)
    assert shape(trace) == [
        ("llm", None, "I look.", None),
        ("tool", "f", "x", None),
        ("llm", None, "Here.", None),
    ]
    assert (trace.steps[0].usage, trace.steps[0].model) == (Usage(5, 2), "m")


def test_updates_without_the_id_of_their_response_are_joined_by_that_of_their_message():
    pieces = [message("assistant", text(piece), messageId="a") for piece in ("I ", "look.")]
    assert shape(read_trace(pieces)) == [("llm", None, "I look.", None)]
    whole = [message("assistant", text("I ")), message("assistant", text("look."))]
    assert len(read_trace(whole).steps) == 2


@pytest.mark.parametrize("field", ["responseId", "authorName"])
def test_updates_of_different_responses_or_authors_are_different_answers(field):
    updates = [update(text(said), **{field: said}) for said in "ab"]
    assert [step.output for step in read_trace(updates).steps] == ["a", "b"]


@pytest.mark.parametrize("response", ["r", "r2"])
def test_a_text_without_a_role_after_a_result_is_an_answer(response):
    ran = [update(call("c"), responseId="r"), update(result("c"), role="tool", responseId="r")]
    trace = read_trace([*ran, {"contents": [text("Here.")], "responseId": response}])
    assert [(step.type, step.output) for step in trace.steps] == [
        ("llm", None),
        ("tool", "x"),
        ("llm", "Here."),
    ]


def test_a_call_that_waits_for_an_approval_is_one_call():
    request = {"$type": "toolApprovalRequest", "requestId": "r", "toolCall": call("c")}
    answer = {"$type": "toolApprovalResponse", "requestId": "r", "approved": True, "toolCall": call("c")}  # fmt: skip
    again = [message("assistant", call("c")), message("tool", result("c"))]
    trace = read_trace([message("assistant", request), message("user", answer), *again])
    assert [(step.type, step.output) for step in trace.steps] == [("llm", None), ("tool", "x")]
    assert trace.not_carried == ("approvals of calls (1)",)


def test_calls_of_servers_and_failures_are_read_and_reasoning_is_left():
    server = {"$type": "mcpServerToolCall", "callId": "c", "toolName": "g", "serverName": "s"}
    held = {"$type": "mcpServerToolResult", "callId": "c", "output": [text("x"), text("y")]}
    reasoning = {"$type": "reasoning", "text": "Hm."}
    failed = {"$type": "error", "message": "refused"}
    trace = read_trace(
        [
            message("assistant", reasoning, server, held, call("d")),
            message("tool", result("d", "Error: Function failed.")),
            message("assistant", failed),
        ]
    )
    assert shape(trace) == [
        ("llm", None, None, None),
        ("tool", "g", "x\ny", None),
        ("tool", "f", "Error: Function failed.", "Error: Function failed."),
        ("llm", None, None, "refused"),
    ]
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


@pytest.mark.parametrize(
    "held",
    [
        lambda messages: {"storeState": {"messages": messages}, "conversationId": "k"},
        lambda messages: {"conversationId": "k", "stateBag": {"History": {"messages": messages}}},
        lambda messages: {
            "ConversationId": "k",
            "Messages": [
                {"Role": each["role"], "Contents": each["contents"], "MessageId": each.get("messageId")}
                for each in messages
            ],
        },
    ],
)  # fmt: skip
def test_sessions_and_other_spellings_of_the_names_are_read(held):
    trace = read_trace(held(EXTENSIONS_AI["messages"]))
    assert trace.id == "k"
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]


def test_a_line_of_a_message_opens_a_chat_and_other_contents_are_not_of_this_form():
    assert opens_session(EXTENSIONS_AI["messages"][0])
    plain = {"role": "user", "contents": [{"type": "text", "text": "x"}]}
    assert not IMPORTER.matches([plain])
    assert not IMPORTER.matches([message("user")])
    assert not IMPORTER.matches({"messages": [{"role": "user", "content": "x"}]})


@pytest.mark.parametrize("odd", [None, 5, "x", [], {}, [None], {"id": []}])
def test_odd_values_leave_the_rest_readable(odd):
    keys = ("text", "callId", "name", "arguments", "result", "outputs", "details", "toolCall", "message")  # fmt: skip
    kinds = ("text", "functionCall", "functionResult", "usage", "error", "toolApprovalRequest", "x")
    contents = [{"$type": kind, **dict.fromkeys(keys, odd)} for kind in kinds]
    fields = dict.fromkeys(("messageId", "createdAt", "modelId", "authorName"), odd)
    said = [message(role, *contents, **fields) for role in ("assistant", "tool", "user")]
    late = {"contents": odd, "role": odd}
    value = {
        "messages": [*EXTENSIONS_AI["messages"] * 7, *said, late, odd, message("user", text("z"))]
    }
    assert read_trace(value | {"usage": odd, "modelResponse": odd}).steps[-1].output == "z"
    assert read_trace(value | {"modelResponse": {"messages": odd, "usage": odd}}).steps

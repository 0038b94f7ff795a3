"""Microsoft's Agent Framework for Python: every form has the same calls and failures, and tokens once."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.agent_frameworks import AGENT_FRAMEWORK
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.recognition import recognised

MESSAGES = AGENT_FRAMEWORK["messages"]
OLDER = [
    {**message, "role": {"type": "role", "value": message["role"]}, "type": "chat_message"}
    for message in MESSAGES
]


def update(role, *contents, message_id=None):
    fields = {"type": "agent_response_update", "role": role, "message_id": message_id}
    return {**fields, "contents": list(contents)}


def used(sent, received, **fields):
    details = {"input_token_count": sent, "output_token_count": received}
    return {"type": "usage", "usage_details": details, **fields}


def call(call_id, name, arguments):
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


UPDATES = [
    update("assistant", message_id="a1"),
    update("assistant", {"type": "text", "text": "I lo"}, message_id="a1"),
    update("assistant", {"type": "text", "text": "ok."}, message_id="a1"),
    update("assistant", call("c1", "search", ""), message_id="a1"),
    update("assistant", call("c1", "", '{"q": "x"}'), message_id="a1"),
    update("assistant", call("c2", "fetch", '{"q": "x"}'), message_id="a1"),
    update("assistant", used(5, 1, merge_mode="replace"), message_id="a1"),
    update("tool", *MESSAGES[2]["contents"]),
    update("assistant", {"type": "text", "text": "It is 3."}, message_id="a2"),
    update("assistant", used(12, 3, merge_mode="replace"), message_id="a2"),
]


@pytest.mark.parametrize(
    "saved",
    [
        AGENT_FRAMEWORK,
        MESSAGES,
        OLDER,
        {"type": "session", "session_id": "s", "state": {"in_memory": {"messages": MESSAGES}}},
        {"chat_message_store_state": {"messages": OLDER}},
        UPDATES,
        "\n".join(map(json.dumps, UPDATES)),
    ],
)
def test_every_form_has_each_call_and_failure_once(saved):
    trace = read_trace(saved)
    assert [step.output for step in trace.steps_of("llm")] == ["I look.", "It is 3."]
    assert [
        (step.name, step.arguments, step.output, step.error) for step in trace.steps_of("tool")
    ] == [("search", {"q": "x"}, "3", None), ("fetch", {"q": "x"}, "gone", "gone")]
    assert "tool_calls" not in trace.missing


def test_the_usage_of_a_response_is_that_of_the_run():
    trace = read_trace(AGENT_FRAMEWORK)
    assert (trace.usage, trace.totals_from) == (Usage(12, 3, 15, 4), "usage_details")
    assert "token_usage" in read_trace(MESSAGES).missing


def test_the_usage_of_updates_replaces_that_before_it_or_adds_to_it_as_they_say():
    assert read_trace(UPDATES).usage == Usage(12, 3)
    apart = [update("assistant", used(5, 1)), *UPDATES[:6], update("assistant", used(7, 2))]
    assert read_trace(apart).usage == Usage(12, 3, 15)


def test_pieces_without_an_id_go_on_with_the_last_call_and_the_message_before_them():
    updates = [
        update("assistant", {"type": "text", "text": "I lo"}, message_id="a1"),
        update("assistant", {"type": "text", "text": "ok."}),
        update(None, call("c1", "search", ""), call("", "", '{"q": 1}')),
        update("assistant", call("c2", "fetch", ""), call("", "", '{"q":'), message_id="a1"),
        update("assistant", call(None, "", " 2}")),
        update("assistant", {"type": "text", "text": "Done."}, message_id="a2"),
    ]
    trace = read_trace(updates)
    assert [step.output for step in trace.steps_of("llm")] == ["I look.", "Done."]
    assert [(step.name, step.arguments) for step in trace.steps_of("tool")] == [
        ("search", {"q": 1}),
        ("fetch", {"q": 2}),
    ]


def test_a_failure_without_a_result_has_its_exception_as_the_reason():
    result = {"type": "function_result", "call_id": "c1", "exception": "ValueError"}
    messages = [MESSAGES[1], {"role": "tool", "contents": [result]}]
    assert read_trace(messages).steps_of("tool")[0].error == "ValueError"


@pytest.mark.parametrize(
    "other",
    [
        [{"role": "user", "contents": ["Hi"]}],
        [{"role": "user", "content": "Hi", "contents": []}],
        {"session_id": "s", "state": {"in_memory": {"messages": []}}},
        [{"type": "text", "contents": []}],
    ],
)
def test_other_records_are_not_taken_for_those_of_the_agent_framework(other):
    found = recognised(other)
    assert found is None or found.importer.id != "agent-framework"

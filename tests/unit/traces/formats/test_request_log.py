"""Logs of requests to a chat API and of their answers."""

from __future__ import annotations

import pytest

from support.trace_examples import REQUEST_LOG
from weighbridge.traces import Usage, read_trace, read_traces
from weighbridge.traces.formats.request_log import IMPORTER
from weighbridge.traces.split import single_traces

ASK = {"role": "user", "content": "Find x."}
LOOK = {"role": "assistant", "content": "I look."}
MORE = {"role": "user", "content": "And y?"}


def request(*messages, **fields):
    return {"model": "m", "messages": list(messages), **fields}


def answer(text, number=1):
    usage = {"prompt_tokens": 5, "completion_tokens": number}
    message = {"role": "assistant", "content": text}
    return {"id": f"a{number}", "object": "chat.completion", "created": number, "choices": [{"message": message}], "usage": usage}  # fmt: skip


def shown(trace):
    return [(step.type, step.output) for step in trace.steps]


def test_each_call_of_a_log_counts_once_though_later_requests_repeat_it():
    trace = read_trace(REQUEST_LOG)
    assert trace.format == "request-log"
    assert [(step.id, step.type, step.output) for step in trace.steps] == [
        ("s1", "system", "You find."),
        ("s2", "user", "Find x."),
        ("chatcmpl-1", "llm", "I look."),
        ("call_1", "tool", "none"),
        ("s5", "system", "You report."),
        ("chatcmpl-2", "llm", "Not there."),
    ]
    first, last = trace.steps_of("llm")
    assert (first.usage, last.usage) == (Usage(10, 5, 15), Usage(20, 2, 22))
    assert (first.model, [tool.name for tool in trace.tools]) == ("m-1-0326", ["search"])


def test_requests_that_grow_are_one_conversation_whose_answers_are_in_the_next():
    trace = read_trace([request(ASK), request(ASK, LOOK, MORE)])
    assert shown(trace) == [
        ("user", "Find x."),
        ("llm", "I look."),
        ("user", "And y?"),
        ("llm", None),
    ]
    assert trace.not_carried == ("requests without an answer (1)",)


def test_requests_with_nothing_in_common_are_conversations_of_their_own():
    log = [request(ASK), answer("I look."), request(MORE), answer("Y."), answer("Who asked?")]
    assert list(map(shown, read_traces(log))) == [
        [("user", "Find x."), ("llm", "I look.")],
        [("user", "And y?"), ("llm", "Y.")],
        [("llm", "Who asked?")],
    ]
    assert [part for _, part in single_traces(log)] == [log[:2], log[2:4], log[4]]


def test_a_task_that_is_asked_anew_is_another_conversation():
    log = [request(ASK), answer("I look."), request(ASK), answer("No.", 2)]
    assert [len(trace.steps) for trace in read_traces(log)] == [2, 2]


def test_a_request_that_was_sent_again_is_a_call_of_the_same_conversation():
    again = request(ASK, LOOK, MORE)
    log = [request(ASK), answer("I look."), again, answer("Y.", 2), again, answer("Z.", 3)]
    assert shown(read_trace(log)) == [
        ("user", "Find x."),
        ("llm", "I look."),
        ("user", "And y?"),
        ("llm", "Y."),
        ("llm", "Z."),
    ]


def test_a_conversation_that_goes_on_from_an_earlier_request_repeats_no_call():
    log = [
        *(request(ASK), answer("I look.")),
        *(request(ASK, LOOK, MORE), answer("Y.", 2)),
        *(request(ASK, LOOK, ASK), answer("X.", 3)),
    ]
    assert [step.output for step in read_trace(log).steps_of("llm")] == ["I look.", "Y.", "X."]


def test_each_conversation_of_a_log_is_read_alike_alone():
    log = [
        *(request(ASK), answer("I look."), request(MORE), answer("Y.", 2)),
        *(request(MORE, LOOK, ASK), answer("Z.", 3), request(ASK, LOOK, MORE), answer("X.", 4)),
    ]
    apart = [read_trace(part) for _, part in single_traces(log)]
    assert apart == list(read_traces(log))
    assert [len(trace.steps_of("llm")) for trace in apart] == [2, 2]


@pytest.mark.parametrize(
    "value",
    [
        [request(ASK), request(MORE)],
        [request(ASK), request(ASK)],
        [request(ASK, LOOK), request(ASK, LOOK, MORE)],
        [request(ASK, id="1"), request(ASK, LOOK, MORE, id="2")],
        [{"messages": [ASK]}, {"messages": [ASK, LOOK, MORE]}],
        [request(ASK), answer("I look."), {"note": "end"}],
        [answer("I look."), request(ASK)],
        [request(ASK)],
        [request({"role": ["user"]}), answer("I look.")],
    ],
)
def test_lists_of_chats_are_not_taken_for_a_log(value):
    assert not IMPORTER.matches(value)

"""Logs of requests to a chat API and of their answers."""

from __future__ import annotations

import pytest

from support.trace_examples.model_apis import REQUEST_LOG
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


def calls(call_id):
    """Return a message with a call, whose arguments are alike in all of them."""
    call = {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def result(call_id, text):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def answered(message):
    return {"id": "a", "choices": [{"message": message}]}


def test_runs_of_one_task_at_the_same_time_are_told_apart_by_their_answers():
    log = [
        *(request(ASK), answered(calls("c1")), request(ASK), answered(calls("c2"))),
        *(request(ASK, calls("c1"), result("c1", "one")), answer("First.")),
        *(request(ASK, calls("c2"), result("c2", "two")), answer("Second.", 2)),
    ]
    traces = read_traces(log)
    assert list(map(shown, traces)) == [
        [("user", "Find x."), ("llm", None), ("tool", "one"), ("llm", "First.")],
        [("user", "Find x."), ("llm", None), ("tool", "two"), ("llm", "Second.")],
    ]
    assert [read_trace(part) for _, part in single_traces(log)] == list(traces)


def user(text):
    return {"role": "user", "content": text}


CACHED = {"cache_control": {"type": "ephemeral"}}


def cached(text):
    return [{"type": "text", "text": text, **CACHED}]


@pytest.mark.parametrize(
    ("first", "second", "third"),
    [
        # An older result is left out of the context.
        (
            [ASK],
            [ASK, calls("c1"), result("c1", "one")],
            [ASK, calls("c1"), result("c1", "[removed]"), calls("c2"), result("c2", "two")],
        ),
        # The mark of what is cached moves on.
        (
            [{**ASK, "content": cached("Find x.")}],
            [ASK, calls("c1"), {**result("c1", "one"), **CACHED}],
            [ASK, calls("c1"), result("c1", "one"), calls("c2"), result("c2", cached("two"))],
        ),
        # The last message says what the time is.
        (
            [ASK, user("10:01")],
            [ASK, calls("c1"), result("c1", "one"), user("10:02")],
            [ASK, calls("c1"), result("c1", "one"), calls("c2"), result("c2", "two")],
        ),
    ],
)
def test_requests_that_change_what_was_sent_before_repeat_no_call(first, second, third):
    log = [
        *(request(*first), answered(calls("c1")), request(*second), answered(calls("c2"))),
        *(request(*third), answer("Done.")),
    ]
    traces = read_traces(log)
    assert [
        [(step.type, step.id) for step in trace.steps if step.type in {"llm", "tool"}]
        for trace in traces
    ] == [[("llm", "a"), ("tool", "c1"), ("llm", "a#2"), ("tool", "c2"), ("llm", "a1")]]
    [trace] = traces
    assert [step.output for step in trace.steps_of("tool")] == ["one", "two"]
    assert len([step for step in trace.steps if step.output == "Find x."]) <= 1
    assert trace.steps_of("llm")[-1].output == "Done."
    assert not [step for step in trace.steps if step.type == "other"]


def test_runs_at_the_same_time_are_told_apart_by_calls_of_the_older_form():
    first, second = (
        {"role": "assistant", "content": None, "function_call": {"name": name, "arguments": "{}"}}
        for name in ("f", "g")
    )
    log = [
        *(request(ASK), answered(first), request(ASK), answered(second)),
        *(request(ASK, first, MORE), answer("First."), request(ASK, second, MORE), answer("Two.")),
    ]
    assert [trace.steps[-1].output for trace in read_traces(log)] == ["First.", "Two."]
    assert [[step.name for step in trace.steps_of("tool")] for trace in read_traces(log)] == [
        ["f"],
        ["g"],
    ]


def test_a_message_that_is_said_again_is_new():
    more = request(ASK, LOOK, MORE, {**LOOK, "content": "No."}, MORE)
    log = [request(ASK), answer("I look."), request(ASK, LOOK, MORE), answer("No.", 2), more]
    assert [text for kind, text in shown(read_trace(log)) if kind == "user"] == [
        "Find x.",
        "And y?",
        "And y?",
    ]


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

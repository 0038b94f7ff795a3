"""ChatDev's logs: each answer of the model with its usage and cost."""

from __future__ import annotations

from support.trace_examples.multi_agent_frameworks import CHATDEV_LOG
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.fields import time_of


def test_each_usage_that_was_received_is_a_model_call():
    trace = read_trace(CHATDEV_LOG)
    assert (trace.format, trace.metadata["project_name"]) == ("chatdev", "Clock")
    task, first, second = trace.steps
    assert (task.type, task.output) == ("user", "Build a clock.")
    assert (first.usage, first.cost_usd) == (Usage(100, 20, 120), 0.0002)
    assert first.started_at == time_of("2026-03-21T09:00:01")
    assert first.ended_at == time_of("2026-03-21T09:00:05")
    assert (first.name, first.output) == ("Programmer", "clock.py")
    assert (second.usage, second.cost_usd) == (Usage(90, 10, 100), None)
    assert (second.name, second.output) == (None, None)
    assert trace.not_carried == (
        "answers whose text the log does not have (1)",
        "embeddings (1)",
        "requests without an answer (1)",
    )


def test_what_agents_quote_of_a_log_is_no_model_call():
    quoted = "\n**[OpenAI_Usage_Info Receive]**\nprompt_tokens: 1\ncompletion_tokens: 1\n"
    log = CHATDEV_LOG.replace("\nclock.py\n", f"\nclock.py\n{quoted}")
    usage = [step.usage for step in read_trace(log).steps]
    assert usage == [step.usage for step in read_trace(CHATDEV_LOG).steps]


def test_a_log_may_be_indented():
    assert read_trace({"chatdev_log": f"  {CHATDEV_LOG}"}) == read_trace(CHATDEV_LOG)


def received(second):
    return f"[2026-21-03 09:01:{second:02} INFO] **[OpenAI_Usage_Info Receive]**\nprompt_tokens: 9\ncompletion_tokens: 3\n"


def spoke(who, to, said, prompt="[You work at ChatDev.\nYou write code [in Python].]\n\n"):
    return f"[2026-21-03 09:02:00 INFO] {who}: **{who}<->{to} on : CodeReview, turn 0**\n\n{prompt}{said}\n"


PHASE = "[2026-21-03 09:00:30 INFO] System: **[chatting]**\n"


def texts_of(*entries):
    steps = read_trace("".join([CHATDEV_LOG, PHASE, *entries])).steps
    return [(step.name, step.output) for step in steps[3:]]


def test_what_agents_say_stands_below_their_prompts_after_the_usage_of_all():
    said = "import time\n\nprint(names[0]\n\n    )"
    assert texts_of(
        *(received(1), received(2)),
        *(spoke("Programmer", "Reviewer", said), spoke("Reviewer", "Programmer", "Fine.")),
        *(received(3), spoke("Programmer", "Reviewer", "Thanks.", prompt="")),
    ) == [("Programmer", said), ("Reviewer", "Fine."), ("Programmer", "Thanks.")]


def test_an_answer_whose_text_is_not_logged_does_not_get_that_of_a_later_one():
    later = received(2), received(3), spoke("Programmer", "Reviewer", "b")
    assert texts_of(received(1), spoke("Reviewer", "Programmer", "a"), *later) == [
        ("Reviewer", "a"),
        ("Programmer", "b"),
        (None, None),
    ]
    last = received(2), spoke("Programmer", "Reviewer", "b")
    assert texts_of(received(1), PHASE, *last) == [(None, None), ("Programmer", "b")]


def test_a_log_of_windows_is_read_without_prompts_too():
    spoken = [received(1), spoke("Programmer", "Reviewer", "import time")]
    log = "".join([CHATDEV_LOG, PHASE, *spoken])
    assert read_trace(log.replace("\n", "\r\n")).steps == read_trace(log).steps


def test_what_the_program_printed_stands_between_the_answers_once():
    report = "[2026-21-03 09:03:00 INFO] **[Test Reports]**:\n\nTraceback\nKeyError: 'hour'\n"
    said = [received(1), spoke("Programmer", "Tester", "I fix it.")]
    steps = read_trace("".join([CHATDEV_LOG, PHASE, report, report, *said, report])).steps[3:]
    assert [(step.type, step.output) for step in steps] == [
        ("other", "Traceback\nKeyError: 'hour'"),
        ("llm", "I fix it."),
        ("other", "Traceback\nKeyError: 'hour'"),
    ]

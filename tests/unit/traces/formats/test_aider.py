"""aider's chat histories: sessions in Markdown, whose marks may also stand in answers."""

from __future__ import annotations

import pytest

from support.trace_examples import AIDER, AIDER_HISTORY
from weighbridge.errors import TraceError
from weighbridge.traces import Step, read_trace, read_traces

EDIT = "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE"
REFUSED = (
    "Tokens: 11k sent, 369 received. Cost: $0.04 message, $0.04 session.\n"
    "# 1 SEARCH/REPLACE block failed to match!\n\ndef f():\n    return 1\n\nJust reply with fixed versions."
)
USAGE = "> Tokens: 9 sent, 2 received.  "


def session(*lines, start="2026-03-01 10:00:00"):
    return "\n".join([f"# aider chat started at {start}", "", *lines, ""])


def said(text):
    return [(step.type, step.output) for step in read_trace(text).steps]


def test_a_session_becomes_steps():
    trace = read_trace(AIDER)
    assert (trace.format, trace.metadata) == ("aider", {"started": "2026-03-01 10:00:00"})
    assert trace.steps == (
        Step(id="s1", type="system", name="aider", output="aider --model gpt-4o\nModel: gpt-4o with diff edit format"),
        Step(id="s2", type="user", output="Fix the tests.\n\nThey fail."),
        Step(id="s3", type="llm", model="gpt-4o", output=f"I will.\n\n#### Plan\n> As you said\n\n{EDIT}"),
        Step(id="s4", type="user", name="aider", output=REFUSED),
        Step(id="s5", type="llm", model="gpt-4o", output="Then it is done."),
        Step(id="s6", type="user", name="aider", output="Tokens: 12k sent, 8 received. Cost: $0.04 message, $0.08 session."),
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        AIDER_HISTORY.replace("\n", "\r\n"),
        AIDER_HISTORY.encode(),
        "\n".join(line.rstrip() for line in AIDER_HISTORY.split("\n")),
    ],
)
def test_line_ends_and_removed_spaces_make_no_difference_to_the_answers(text):
    answers = [step.output for step in read_trace(text).steps_of("llm")]
    assert answers[0] == f"I will.\n\n#### Plan\n> As you said\n\n{EDIT}"
    assert answers[-1].endswith("Then it is done.")


def test_each_session_is_a_trace_and_one_without_requests_is_none():
    idle = session("> aider v0.86  ", start="2026-03-01 09:00:00")
    later = session("#### Go on.  ", "", "Done.", "", USAGE, start="2026-03-02 10:00:00")
    traces = read_traces(f"{idle}\n{AIDER_HISTORY}\n{later}")
    assert [trace.metadata["started"] for trace in traces] == ["2026-03-01 10:00:00", "2026-03-02 10:00:00"]  # fmt: skip
    with pytest.raises(TraceError, match="nothing was typed or answered"):
        read_traces(idle)


def test_a_command_is_answered_by_aider_and_not_by_the_model():
    text = session("#### /map  ", "", "> Summaries:", "", "a.py", "  ", "#### Fix it.  ", "", "> a quotation", "Done.", "", USAGE)  # fmt: skip
    assert said(text) == [
        ("user", "/map"),
        ("user", "Summaries:\n\na.py"),
        ("user", "Fix it."),
        ("llm", "> a quotation\nDone."),
        ("user", "Tokens: 9 sent, 2 received."),
    ]


def test_messages_that_were_typed_one_after_the_other_are_apart():
    assert said(
        session("#### /add a.py  ", "", "#### Fix it,  ", "#### please.  ", "", "Done.")
    ) == [
        ("user", "/add a.py"),
        ("user", "Fix it,\nplease."),
        ("llm", "Done."),
    ]


def test_enter_alone_says_nothing():
    assert said(session("#### <blank>  ", "", "Hello."))[0] == ("user", "")


def test_answers_are_compared_with_the_tokens_that_are_shown():
    shown = read_trace(session("#### Go.  ", "", "Done.", "", USAGE, USAGE))
    assert shown.counts is not None
    assert shown.counts.llm_calls == 2
    assert "token_usage" in shown.missing
    assert "cost" in shown.missing


@pytest.mark.parametrize(
    ("started", "model"),
    [
        (["> Main model: a/b with whole edit format  "], "a/b"),
        (["> Model: a with diff edit format  ", "> Model: b with diff edit format  "], None),
        (["> Model: a with architect edit format  ", "> Editor model: b with diff edit format  "], None),
    ],
)  # fmt: skip
def test_answers_have_a_model_if_all_are_of_one(started, model):
    [answer] = read_trace(session(*started, "#### Go.  ", "", "Done.", "", USAGE)).steps_of("llm")
    assert answer.model == model

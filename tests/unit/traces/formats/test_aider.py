"""aider's chat histories: sessions in Markdown, whose marks may also stand in answers."""

from __future__ import annotations

import pytest

from support.trace_examples.command_line_agents import AIDER, AIDER_HISTORY
from weighbridge.errors import TraceError
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.formats.aider import has_dialogue

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


START = "# aider chat started at 2026-03-02 10:00:00"


@pytest.mark.parametrize(
    "quoted",
    [
        ["So:", START, "It is."],
        ["So:", "", START, "", "It is."],
        ["So:", "", START, "", "> Aider v0.86.2  ", "", "It is."],
        ["So:", "", "> x  ", "", START, "", "> Aider v0.86.2  ", "", "It is."],
        ["So:", "", START, "", "> Aider v0.86.2  ", "", "#### Go.  ", "", "It is."],
        [
            "So:  ",
            "",
            START,
            "",
            "> Aider v0.86.2  ",
            "",
            START,
            "",
            "> Aider v0.86.2  ",
            "",
            "It is.",
        ],
    ],
)
def test_what_an_answer_quotes_begins_no_session(quoted):
    banner = "> Aider v0.86.2  "
    first = session(banner, "", "#### Hello.  ", "", "Hello.", "", USAGE, "")
    text = session(banner, "", "#### What began?  ", "", *quoted, "", USAGE, "")
    [trace] = read_traces(text)
    assert [step.type for step in trace.steps][1:3] == ["user", "llm"]
    count = quoted.count(START)
    assert f"lines that look like the first of another session ({count})" in trace.not_carried
    later = session(banner, "", "#### Bye.  ", "", "Bye.", "", USAGE, start="2026-03-03 10:00:00")
    traces = read_traces(f"{first}\n{text}\n{later}")
    assert len(traces) == 3


def test_a_session_may_follow_an_answer_that_was_broken_off_and_one_with_nothing_in_it():
    banner = "> Aider v0.86.2  "
    broken = session(banner, "", "#### Hello.  ", "", "Hel", "", "> ^C KeyboardInterrupt  ", "")
    idle = session("", start="2026-03-03 10:00:00")
    later = session(banner, "", "#### Bye.  ", "", "Bye.", "", USAGE, start="2026-03-04 10:00:00")
    traces = read_traces(f"{broken}\n{idle}\n{later}")
    assert [trace.metadata["started"][:10] for trace in traces] == ["2026-03-01", "2026-03-04"]


FORMATTED = [
    "> Aider v0.50.1  ",
    "> Use /help for help",
    "",
    "#### Fix the tests.",
    "",
    "#### They fail.",
    "",
    "I will.",
    "",
    "#### Plan",
    "",
    "> As you said",
    "",
    "Done.",
    "",
    "> Tokens: 9 sent, 2 received.  ",
    "> Applied edit to a.py",
]


def test_an_answer_without_a_request_may_begin_a_session():
    first = session("> Aider v0.86.2  ", "", "#### Hello.  ", "", "Hello.", "", USAGE, "")
    lines = ["> aider --lint  ", "> a.py:1: F401  ", "", "Removed.", "", USAGE, ""]
    linted = session(*lines, start="2026-03-03 10:00:00")
    assert len(read_traces(f"{first}\n{linted}")) == 2


def test_sessions_of_versions_that_show_no_usage_follow_answers():
    lines = ["> Aider v0.14.1  ", "", "#### Hello.  ", "", "Hello.", ""]
    later = session(*lines, start="2026-03-03 10:00:00")
    assert len(read_traces(f"{session(*lines)}\n{later}")) == 2


def test_a_formatter_of_markdown_removes_spaces_at_the_ends_of_paragraphs():
    assert said(session(*FORMATTED)) == [
        ("system", "Aider v0.50.1\nUse /help for help"),
        ("user", "Fix the tests.\nThey fail."),
        ("llm", "I will.\n\n#### Plan\n\n> As you said\n\nDone."),
        ("user", "Tokens: 9 sent, 2 received.\nApplied edit to a.py"),
    ]


def test_a_session_that_shows_usage_is_kept_even_if_no_answer_is_found_in_it():
    trace = read_trace(session("> Aider v0.86  ", USAGE))
    assert trace.steps_of("llm") == []
    assert trace.counts.llm_calls == 1


def test_a_command_is_answered_by_aider_directly_below_it():
    text = session("#### /map  ", "> Summaries:", "", "a.py  ", "", "#### /ask Why?  ", "", "> a quotation", "Done.", "", USAGE)  # fmt: skip
    assert said(text) == [
        ("user", "/map"),
        ("user", "Summaries:\n\na.py"),
        ("user", "/ask Why?"),
        ("llm", "> a quotation\nDone."),
        ("user", "Tokens: 9 sent, 2 received."),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        "A\n\n#### Step 1  \nDo.\n\n#### Step 2  \nDo.",
        "See:\n\n> one  \n> two\n\nThen the fix.",
        "A > b  \n> c  \nd",
        "A\n\n# aider chat started at noon\n\nB",
    ],
)
def test_an_answer_may_hold_lines_that_look_like_what_is_typed_or_shown(answer):
    shown = [("user", "Go."), ("llm", answer), ("user", "Tokens: 9 sent, 2 received.")]
    assert said(session("#### Go.  ", "", answer, "", USAGE)) == shown


def test_usage_of_a_cached_prompt_takes_two_lines():
    usage = "> Tokens: 10k sent, 8k cache write, 5k cache hit, 200 received.\nCost: $0.02 message, $0.05 session.  "
    trace = read_trace(session("#### Go.  ", "", "Done.", "", usage, "", "#### On.  ", "", "Yes.", "", USAGE))  # fmt: skip
    assert [step.output for step in trace.steps_of("llm")] == ["Done.", "Yes."]
    assert trace.counts.llm_calls == 2


def test_a_session_in_which_nothing_was_typed_has_answers():
    text = session("> Aider v0.86  ", "", "#### Plan", "", "Do it.", "", USAGE)
    assert said(text)[1] == ("llm", "#### Plan\n\nDo it.")


@pytest.mark.parametrize("shown", ["^C again to exit", "Retrying in 0.2 seconds..."])
def test_an_answer_that_was_broken_off_is_another(shown):
    text = session("#### Go.  ", "", "Do", "", f"> {shown}  ", "", "Done.", "", USAGE)
    assert [step.output for step in read_trace(text).steps_of("llm")] == ["Do", "Done."]


def test_a_question_that_its_group_decides_is_not_asked():
    question = "Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: "
    text = session("#### Go.  ", "", f"#### {question}all  ", f"> {question}a  ", "", "Done.")
    assert said(text)[1] == ("user", f"{question}all\n{question}a")
    assert read_trace(text).steps[1].name == "aider"


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


BUSY = "litellm.APIConnectionError: busy"


def test_each_error_of_a_model_call_is_a_model_call_that_failed():
    text = session(
        *("> Model: m with diff edit format  ", "", "#### Fix it.  ", f"> {BUSY}  "),
        *("> The API is busy.  ", "> Retrying in 0.2 seconds...  ", f"> {BUSY}  ", ">  ", "> ^C again to exit  "),
        *("", "#### Again.  ", "", "Done.", "", USAGE),
    )  # fmt: skip
    trace = read_trace(text)
    steps = [(step.type, step.output, step.error) for step in trace.steps[1:-1]]
    assert steps == [
        ("user", "Fix it.", None),
        ("llm", None, f"{BUSY}\nThe API is busy."),
        ("user", "Retrying in 0.2 seconds...", None),
        ("llm", None, BUSY),
        ("user", " \n^C again to exit", None),
        ("user", "Again.", None),
        ("llm", "Done.", None),
    ]
    assert trace.counts.llm_calls == 3
    assert {step.model for step in trace.steps_of("llm")} == {"m"}


def test_an_answer_that_an_error_broke_off_is_one_model_call():
    text = session(
        *("#### Fix it.  ", "", "I am", "", f"> {BUSY}  ", "> Retrying in 0.2 seconds...  "),
        *("", "I am done.", "", USAGE),
    )
    answers = read_trace(text).steps_of("llm")
    assert [(step.output, step.error) for step in answers] == [("I am", BUSY), ("I am done.", None)]


def test_errors_of_model_calls_in_an_answer_are_its_text():
    text = session("#### What is it?  ", "", "It says:", "", f"    {BUSY}", "", USAGE)
    assert [step.error for step in read_trace(text).steps_of("llm")] == [None]


MAP = ("> Here are summaries of some files.", "Do not change these.", "", "a.py:", "│  ", "", "│x", "", "b.py:  ")  # fmt: skip


def test_what_aider_shows_in_several_lines_is_no_answer_before_a_request():
    text = session("> Aider v0.86  ", *MAP, "", "#### Go.  ", "", "Done.", "", USAGE)
    [started, *_] = said(text)
    assert started[0] == "system"
    assert started[1].split() == " ".join(["Aider v0.86", MAP[0][2:], *MAP[1:]]).split()
    assert [step.output for step in read_trace(text).steps_of("llm")] == ["Done."]
    assert not has_dialogue(session("> Aider v0.86  ", *MAP))
    assert not has_dialogue(session("> Aider v0.86  ", *MAP, "", "More."))


@pytest.mark.parametrize("command", ["/map", "/git log -1", "/diff", "/tokens"])
def test_what_aider_shows_on_a_command_is_no_answer(command):
    text = session(f"#### {command}  ", *MAP, "", "#### Go.  ", "", "Done.")
    assert [step.output for step in read_trace(text).steps_of("llm")] == ["Done."]
    asked = session(f"#### {command}  ", "> x  ", "", "Done.", "", USAGE)
    assert [step.output for step in read_trace(asked).steps_of("llm")] == ["Done."]


@pytest.mark.parametrize("request_", ["/ask /map", "Use\n#### /map", "/mapping"])
def test_other_requests_are_answered(request_):
    typed = "\n".join(f"{line}  " for line in f"#### {request_}".split("\n"))
    [answer] = read_trace(session(typed, "", "Done.")).steps_of("llm")
    assert answer.output == "Done."

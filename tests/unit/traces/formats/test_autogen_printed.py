"""AutoGen's messages as they are printed, in chat entries, in lists, and under `history`."""

from __future__ import annotations

import time
from typing import Any

import pytest

from weighbridge.traces import Usage, read_trace
from weighbridge.traces.formats.autogen_printed import printed_message
from weighbridge.traces.model import COUNTED

TIME = "datetime.datetime(2026, 5, 9, 9, 49, 27, 501795, tzinfo=datetime.timezone.utc)"
USED = "RequestUsage(prompt_tokens=10, completion_tokens=5)"
IMAGE = "<autogen_core._image.Image object at 0x000001DEC3A42320>"
CALL = """[FunctionCall(id='c1', arguments='{"city": "Rome"}', name='weather')]"""
RESULT = "[FunctionExecutionResult(content='It\\'s \"sunny\".', name='weather', call_id='c1', is_error=False)]"


def fields(kind: str, source: str, content: str, usage: str = "None", **more: str) -> list[str]:
    base = {"id": f"'{kind}-1'", "source": f"'{source}'", "models_usage": usage, "metadata": "{}"}
    held = {**base, "created_at": TIME, "content": content, **more, "type": f"'{kind}'"}
    return [f"{name}={value}" for name, value in held.items()]


def as_str(kind: str, source: str, content: str, usage: str = "None", **more: str) -> str:
    return " ".join(fields(kind, source, content, usage, **more))


def as_repr(kind: str, source: str, content: str, usage: str = "None", **more: str) -> str:
    return f"{kind}({', '.join(fields(kind, source, content, usage, **more))})"


def as_named(kind: str, source: str, content: str, usage: str = "None", **more: str) -> str:
    return f"{kind}: {as_str(kind, source, content, usage, **more)}"


RUN = [
    ("TextMessage", "user", "'Weather in Rome?'"),
    ("ThoughtEvent", "Assistant", "'I look.'"),
    ("ToolCallRequestEvent", "Assistant", CALL, USED),
    ("ToolCallExecutionEvent", "Assistant", RESULT),
    ("ToolCallSummaryMessage", "Assistant", "'Sunny.'"),
    ("TextMessage", "Assistant", '"It\'s sunny."', USED),
]


def entries(printed: Any, run: Any = RUN) -> list[dict[str, Any]]:
    return [{"role": "Assistant", "name": "x", "content": printed(*each)} for each in run]


def dumped() -> list[dict[str, Any]]:
    result = {"content": 'It\'s "sunny".', "name": "weather", "call_id": "c1", "is_error": False}
    call = {"id": "c1", "arguments": '{"city": "Rome"}', "name": "weather"}
    contents = ["Weather in Rome?", "I look.", [call], [result], "Sunny.", "It's sunny."]
    used = {"prompt_tokens": 10, "completion_tokens": 5}
    return [
        {
            "id": f"{kind}-1",
            "source": source,
            "models_usage": used if usage else None,
            "metadata": {},
            "created_at": "2026-05-09T09:49:27.501795Z",
            "content": content,
            "type": kind,
        }
        for (kind, source, _, *usage), content in zip(RUN, contents, strict=True)
    ]


WRAPPERS = [
    lambda texts: {"history": [{"role": "Assistant", "content": text} for text in texts]},
    lambda texts: {"history": [{"role": "assistant", "content": text} for text in texts]},
    lambda texts: {"messages": [{"role": "assistant", "content": text} for text in texts]},
    lambda texts: [{"role": "assistant", "content": text} for text in texts],
    lambda texts: texts,
]


@pytest.mark.parametrize("printed", [as_str, as_repr, as_named])
@pytest.mark.parametrize("kept", WRAPPERS)
def test_printed_messages_are_read_as_the_messages_that_they_print(printed, kept):
    trace = read_trace(kept([printed(*each) for each in RUN]))
    assert trace.steps == read_trace(dumped()).steps
    assert [step.name for step in trace.steps] == [None, "Assistant", "weather", "Assistant"]


@pytest.mark.parametrize(
    ("kind", "content", "held"),
    [
        (
            "TextMessage",
            r"""'a\n\'b\' "c" \x1b \u202f \U0001f600 \\n'""",
            "a\n'b' \"c\" \x1b \u202f \U0001f600 \\n",
        ),
        (
            "TextMessage",
            r"""'content=\'a\' type=\'StopMessage\''""",
            "content='a' type='StopMessage'",
        ),
        ("TextMessage", r"'\ud800'", "\ufffd"),
        ("StopMessage", "'Stop.'", "Stop."),
        ("MultiModalMessage", f"['See', {IMAGE}]", ["See", {"type": "image"}]),
        (
            "MemoryQueryEvent",
            "[MemoryContent(content='a', mime_type=<MemoryMimeType.TEXT: 'text/plain'>, metadata=None)]",
            [
                {
                    "content": "a",
                    "mime_type": "<MemoryMimeType.TEXT: 'text/plain'>",
                    "metadata": None,
                }
            ],
        ),
        ("SelectSpeakerEvent", "['a', 'b']", ["a", "b"]),
        ("ModelClientStreamingChunkEvent", "' a'", " a"),
        ("UserInputRequestedEvent", "''", ""),
        (
            "StructuredMessage[Answer]",
            "Answer(score=-1.5, ok=True, of={'a': (1, 2,)})",
            {"score": -1.5, "ok": True, "of": {"a": [1, 2]}},
        ),
    ],
)
@pytest.mark.parametrize("printed", [as_str, as_repr, as_named])
def test_each_type_of_message_is_read(kind, content, held, printed):
    message = printed_message(printed(kind, "a", content))
    assert message == {
        "id": f"{kind}-1",
        "source": "a",
        "models_usage": None,
        "metadata": {},
        "created_at": "2026-05-09T09:49:27.501795+00:00",
        "content": held,
        "type": kind,
    }


def test_other_fields_of_a_message_are_read():
    result = "CommandLineCodeResult(exit_code=1, output='', code_file=PosixPath('a.py'))"
    code = printed_message(
        as_str("CodeExecutionEvent", "a", "''", retry_attempt="0", result=result)
    )
    assert code["result"] == {"exit_code": 1, "output": "", "code_file": "a.py"}
    said = "[UserMessage(content='a', source='b', type='UserMessage')]"
    passed = printed_message(as_repr("HandoffMessage", "a", "'b'", target="'c'", context=said))
    assert (passed["target"], passed["context"][0]["content"]) == ("c", "a")


@pytest.mark.parametrize("zone", ["TzInfo(UTC)", "TzInfo(0)", "datetime.timezone.utc"])
def test_a_time_may_have_any_print_of_utc(zone):
    text = as_str("TextMessage", "a", "'b'").replace("datetime.timezone.utc", zone)
    assert printed_message(text)["created_at"] == "2026-05-09T09:49:27.501795+00:00"


def test_a_time_of_another_zone_is_converted():
    zone = "datetime.timezone(datetime.timedelta(days=-1, seconds=82800))"
    text = as_str("TextMessage", "a", "'b'").replace("datetime.timezone.utc", zone)
    assert printed_message(text)["created_at"] == "2026-05-09T10:49:27.501795+00:00"


WHOLE = as_named("TextMessage", "FileSurfer", "'No such file.'")


@pytest.mark.parametrize(
    "text",
    [
        WHOLE[:-1],
        WHOLE[:-30] + "…(truncated)",
        WHOLE + " and more",
        WHOLE.replace("TextMessage", "OtherMessage"),
        WHOLE.replace("source='FileSurfer' ", ""),
        WHOLE.replace("metadata={}", "metadata={[1]: 2"),
        WHOLE.replace("metadata={}", "metadata=__import__('os').getcwd()"),
        WHOLE.replace("metadata={}", "metadata=" + "[" * 30 + "]" * 30),
        WHOLE.replace("2026, 5, 9", "2026, 15, 9"),
        WHOLE.replace("2026, 5, 9", "1, 1, 1, 'a'"),
        WHOLE.replace("No such", r"\x4 No such"),
        "TextMessage: hello",
        "id='a'",
    ],
)
def test_a_text_that_is_not_exactly_a_message_stays_a_text(text):
    assert printed_message(text) is None
    asked = {
        "role": "Assistant",
        "name": "user",
        "content": as_named("TextMessage", "user", "'Go'"),
    }
    trace = read_trace({"history": [asked, {"role": "Assistant", "name": "A", "content": text}]})
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("user", None, "Go"),
        ("llm", "A", text),
    ]


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "{",
        "(",
        "a(",
        "a=",
        "<",
        "<a'",
        "'",
        "\\'",
        "'a' ",
        "1",
        "a",
        " ",
        "{'a': ",
        "a=1 ",
        "\\x41",
    ],
)
@pytest.mark.parametrize("opening", ["TextMessage: id='a' content=", "TextMessage(id='", "id='a' "])
def test_a_long_text_is_read_in_linear_time(part, opening):
    def seconds(length: int) -> float:
        text = opening + part * (length // len(part))
        started = time.perf_counter()
        assert printed_message(text) is None
        return time.perf_counter() - started

    short = min(seconds(60_000) for _ in range(3))
    assert seconds(960_000) < 100 * short + 0.1


@pytest.mark.parametrize("between", ["\n", " "])
def test_two_messages_in_one_text_stay_a_text(between):
    assert printed_message(as_str("TextMessage", "a", "'b'")) is not None
    both = [as_str("TextMessage", source, "'b'") for source in "ac"]
    assert printed_message(between.join(both)) is None


def test_a_text_beyond_the_limit_stays_a_text():
    assert printed_message(as_str("TextMessage", "a", f"'{'b' * 900_000}'")) is not None
    assert printed_message(as_str("TextMessage", "a", f"'{'b' * 1_000_000}'")) is None


def team(*run: Any) -> Any:
    return read_trace({"history": entries(as_named, [("TextMessage", "user", "'Go'"), *run])})


def test_what_web_surfer_prints_that_it_did_is_a_call_with_its_tokens_and_time():
    report = f"['I clicked \\'A\\'.\\n\\nSee.', {IMAGE}]"
    trace = team(*[("MultiModalMessage", "WebSurfer", report, USED)] * 2)
    assert [(step.type, step.name) for step in trace.steps[1:3]] == [
        ("llm", "WebSurfer"),
        ("tool", "click"),
    ]
    first, second = trace.steps_of("tool")
    assert (first.arguments, first.arguments_as_shown) == ({"target": "A"}, True)
    assert first.output == second.output
    assert first.ended_at == 1778320167501795000
    assert trace.steps[1].usage == Usage(10, 5)
    assert not {"token_usage", "timing", "tool_calls"} & set(trace.missing)


@pytest.mark.parametrize("printed", [as_str, as_repr, as_named])
@pytest.mark.parametrize("kept", WRAPPERS)
def test_what_web_surfer_did_is_a_call_whatever_holds_the_messages(printed, kept):
    report = ("MultiModalMessage", "WebSurfer", f"['I clicked \\'A\\'.', {IMAGE}]", USED)
    trace = read_trace(kept([printed(*each) for each in (*RUN, report)]))
    assert [step.name for step in trace.steps_of("tool")] == ["weather", "click"]


@pytest.mark.parametrize("printed", [as_str, as_repr, as_named])
@pytest.mark.parametrize("kept", WRAPPERS)
def test_printed_messages_that_are_cut_off_make_the_counts_lower_bounds(printed, kept):
    run = [*RUN, *RUN[2:4]]
    texts = [printed(*each) for each in run]
    trace = read_trace(kept([*texts[:-2], *(text[: text.index("weather")] for text in texts[-2:])]))
    reason = "2 of the 8 printed messages could not be read: cut off"
    assert {name: trace.missing.get(name) for name in COUNTED} == dict.fromkeys(COUNTED, reason)
    assert "printed messages that could not be read (2)" in trace.not_carried
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm", "other", "other"]


@pytest.mark.parametrize("printed", [as_str, as_repr, as_named])
@pytest.mark.parametrize("kept", WRAPPERS)
def test_if_no_printed_message_is_whole_the_reason_says_so(printed, kept):
    trace = read_trace(kept([printed(*each)[:-25] for each in RUN]))
    reason = "none of the printed messages could be read: cut off"
    assert {trace.missing[name] for name in ("llm_calls", "tool_calls", "token_usage")} == {reason}
    assert trace.missing["timing"] == reason
    assert "no cost" in trace.missing["cost"] or "records no cost" in trace.missing["cost"]


def test_a_printed_message_in_another_form_is_not_said_to_be_cut_off():
    odd = WHOLE.replace("metadata={}", "metadata=!")
    trace = read_trace({"history": [*entries(as_str), {"role": "A", "content": odd}]})
    assert "not as AutoGen prints them" in trace.missing["tool_calls"]


@pytest.mark.parametrize("text", ["Note: id='a'", "source='a'", "id='a' b", "messages=['a']x"])
def test_an_answer_that_only_looks_like_a_message_leaves_the_counts_exact(text):
    trace = read_trace({"history": [*entries(as_named), {"role": "A", "content": text}]})
    assert not {"llm_calls", "tool_calls"} & set(trace.missing)


def test_the_terminal_prints_what_the_last_code_put_out():
    code = "'```python\\nprint(1)\\n```'"
    failed = (
        "'The script ran, then exited with an error (POSIX exit code: 1)\\nIts output was:\\nNo'"
    )
    none = "'No code blocks found in the thread. Please provide one.'"
    trace = team(
        ("TextMessage", "ComputerTerminal", none),
        ("TextMessage", "Coder", code, USED),
        ("TextMessage", "ComputerTerminal", "'1\\n'"),
        ("TextMessage", "Coder", code, USED),
        ("TextMessage", "ComputerTerminal", failed),
    )
    assert [step.type for step in trace.steps] == ["user", "other", "llm", "tool", "llm", "tool"]
    one, two = trace.steps_of("tool")
    run = {"code": "print(1)\n", "language": "python"}
    assert (one.arguments, one.output, one.error) == (run, "1\n", None)
    assert two.error.startswith("The script ran, then exited")


def test_a_plan_of_the_orchestrator_takes_several_model_calls():
    plan = "'\\nWe are working to address the following user request:\\n\\nGo'"
    assert "llm_calls" in team(("TextMessage", "MagenticOneOrchestrator", plan)).missing
    assert "llm_calls" not in team(("TextMessage", "MagenticOneOrchestrator", "'Go on'")).missing


def result(run: Any, *, named: bool) -> str:
    held = f"messages=[{', '.join(as_repr(*each) for each in run)}]"
    return f"TaskResult({held}, stop_reason=None)" if named else f"{held} stop_reason=None"


@pytest.mark.parametrize("cut", [None, 200])
def test_the_result_after_its_messages_repeats_them_and_what_follows_is_no_answer(cut):
    history = [
        *entries(as_named),
        {"role": "Assistant", "content": f"TaskResult: {result(RUN, named=False)}"[:cut]},
        {"role": "Assistant", "name": "Program", "content": "finished"},
    ]
    trace = read_trace({"history": history})
    assert trace.steps[:-1] == read_trace(dumped()).steps
    assert (trace.steps[-1].type, trace.steps[-1].output) == ("other", "finished")
    assert "TaskResults, which repeat other messages (1)" in trace.not_carried


@pytest.mark.parametrize("key", ["history", "messages"])
@pytest.mark.parametrize("named", [False, True])
def test_a_result_alone_is_read_as_its_messages(key, named):
    trace = read_trace({key: [{"role": "assistant", "content": result(RUN, named=named)}]})
    assert trace.steps == read_trace(dumped()).steps


def test_a_chat_with_calls_is_no_printed_run_though_an_answer_prints_a_message():
    call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": WHOLE, "tool_calls": [call]}
    trace = read_trace({"messages": [said, {"role": "tool", "content": "", "tool_call_id": "c1"}]})
    assert (trace.format, len(trace.steps_of("tool"))) == ("openai-chat", 1)


def test_the_plain_texts_of_a_person_and_of_the_system_may_be_among_printed_messages():
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "name": "Bob", "content": "Weather?"},
    ]
    trace = read_trace({"messages": [*said, *entries(as_repr, RUN[1:])]})
    assert trace.format == "autogen"
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool", "llm"]


@pytest.mark.parametrize("place", [0, 5, 19])
def test_a_chat_with_a_plain_answer_among_the_first_is_no_printed_run(place):
    chat = [{"role": "assistant", "content": as_str(*each)} for each in RUN] * 4
    chat[place] = {"role": "assistant", "content": "Sunny."}
    assert read_trace({"messages": chat}).format == "openai-chat"


def test_an_entry_among_printed_ones_that_is_cut_off_is_an_answer_of_its_name():
    cut = {"role": "assistant", "name": "A", "content": WHOLE[:-9]}
    last = {"role": "assistant", "content": WHOLE}
    chat = [{"role": "assistant", "content": as_str(*each)} for each in RUN] * 4
    trace = read_trace({"messages": [*chat[:20], cut, last]})
    assert trace.format == "autogen"
    assert (trace.steps[-2].type, trace.steps[-2].name) == ("llm", "A")

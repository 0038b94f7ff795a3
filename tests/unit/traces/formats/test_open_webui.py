"""Chats that Open WebUI exports."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.chat_apps import OPEN_WEBUI
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.open_webui import IMPORTER
from weighbridge.traces.split import single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def chat(*messages):
    return {"id": "o", "chat": {"messages": list(messages)}}


def test_the_current_branch_becomes_steps():
    trace = read_trace(OPEN_WEBUI)
    assert (trace.id, trace.metadata) == ("o", {"title": "Listing"})
    assert trace.steps == (
        Step(id="s1", type="user", output="List.", started_at=NOON),
        Step(id="s2", type="llm", model="m", ended_at=NOON + SECOND),
        Step(id="c1", type="tool", parent_id="s2", name="ls", arguments={}, output="a.md", started_at=NOON + SECOND, ended_at=NOON + SECOND),
        Step(id="s4", type="llm", model="m", output="One file.", usage=Usage(9, 2, 11), ended_at=NOON + SECOND),
        Step(id="s5", type="user", output="Thanks."),
    )  # fmt: skip
    assert set(trace.not_carried) == {
        "items of type 'reasoning' (1)",
        "messages of other branches (1)",
    }


CALL = '<details type="tool_calls" done="true" id="c9" name="f" arguments="{}" result="{}">\n<summary>Done</summary>\n</details>'


@pytest.mark.parametrize(
    ("arguments", "result", "given", "output"),
    [
        ("&quot;{\\&quot;a\\&quot;: 1}&quot;", "&quot;ok&quot;", {"a": 1}, "ok"),
        ("{&quot;a&quot;: 1}", "it&#x27;s", {"a": 1}, "it's"),
        ("x", "&quot;", "x", '"'),
    ],
)
def test_calls_in_tags_of_the_text_are_calls(arguments, result, given, output):
    tags = f'<details type="reasoning" done="true">\nhm</details>\nLet me.{CALL.format(arguments, result)}Done.'
    trace = read_trace(
        chat({"role": "user", "content": "Go."}, {"role": "assistant", "content": tags})
    )
    assert [(step.type, step.output) for step in trace.steps] == [
        *(("user", "Go."), ("llm", "Let me."), ("tool", output), ("llm", "Done."))
    ]
    assert trace.steps[2].arguments == given


@pytest.mark.parametrize(
    "text",
    ['<details type="tool_calls" name="f">', '<details type="reasoning">hm', "<details", CALL],
)
def test_tags_that_are_not_closed_are_read(text):
    trace = read_trace(
        chat({"role": "user", "content": "Go."}, {"role": "assistant", "content": text})
    )
    assert trace.steps[0].output == "Go."


ANSWER = {"role": "assistant", "content": "It is 5.", "model": "m"}
SOURCE = {"source": {"name": "weather/get"}, "document": ["5"], "tool_result": True}


@pytest.mark.parametrize(
    "answer",
    [
        {**ANSWER, "sources": [SOURCE]},
        {**ANSWER, "sources": [{"source": {"name": "TOOL:weather/get"}}]},
        {**ANSWER, "content": f"{CALL.format('{}', 5)}Five.", "sources": [SOURCE, SOURCE]},
        {**ANSWER, "content": '<details type="code_interpreter" done="true">\nx\n</details>1'},
        {**ANSWER, "content": '<details done="true" type="tool_calls">\nx\n</details>1'},
        {**ANSWER, "content": CALL.format("{}", "x" * 200_000)},
        {**ANSWER, "output": [{"type": "open_webui:code_interpreter", "code": "1"}]},
    ],
)
def test_calls_that_are_not_read_leave_lower_bounds(answer):
    trace = read_trace(chat({"role": "user", "content": "Go."}, answer))
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


@pytest.mark.parametrize(
    "answer",
    [
        {**ANSWER, "sources": [{"source": {"name": "a.pdf"}, "document": ["5"]}]},
        {**ANSWER, "content": f"{CALL.format('{}', 5)}Five.", "sources": [SOURCE]},
        {**ANSWER, "content": '<details open type="reasoning">\nx\n</details>1'},
        {**ANSWER, "content": "<details><summary>More</summary>5</details>"},
    ],
)
def test_sources_that_are_no_calls_and_calls_that_are_read_leave_none(answer):
    trace = read_trace(chat({"role": "user", "content": "Go."}, answer))
    assert trace.missing.keys().isdisjoint({"llm_calls", "tool_calls"})


def tree(current, **parents):
    messages = {
        name: {"parentId": parent, "role": "user" if name == "a" else "assistant", "content": name}
        for name, parent in parents.items()
    }
    return {"id": "o", "chat": {"history": {"currentId": current, "messages": messages}}}


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (tree(None, a=None, b="a", c="a"), ["a", "c"]),
        (tree("gone", a=None, b="a"), ["a", "b"]),
        (tree("b", a="b", b="a"), ["a", "b"]),
        (tree("b", b="gone"), ["b"]),
    ],
)
def test_a_chat_whose_current_branch_is_not_known_has_steps_and_lower_bounds(value, texts):
    trace = read_trace(value)
    assert [step.output for step in trace.steps] == texts
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


@pytest.mark.parametrize("error", [{"content": "boom"}, "boom", {"message": "boom"}])
def test_an_answer_that_failed_is_a_model_call_with_its_error(error):
    failed = {"role": "assistant", "content": "", "model": "m", "error": error}
    earlier = {**ANSWER, "info": {"prompt_tokens": 5, "completion_tokens": 2}}
    asked = {"role": "user", "content": "Go."}
    [first, last] = read_trace(chat(asked, earlier, asked, failed)).steps_of("llm")
    assert (first.error, first.usage) == (None, Usage(5, 2))
    assert (last.model, last.output, last.error) == ("m", None, "boom")


def test_an_answer_that_ended_without_words_is_a_model_call():
    silent = {"role": "assistant", "content": "", "model": "m", "done": True}
    [step] = read_trace(chat({"role": "user", "content": "Go."}, silent)).steps_of("llm")
    assert (step.model, step.output) == ("m", None)


def test_each_chat_of_an_export_is_a_trace():
    other = chat({"role": "user", "content": "Hi."})
    assert [held for held, _ in single_traces([OPEN_WEBUI, other])] == ["o", "o"]


def test_rows_of_the_database_are_read_without_copies_of_shared_chats():
    row = {**OPEN_WEBUI, "user_id": "u", "chat": json.dumps(OPEN_WEBUI["chat"])}
    copy = {**row, "id": "p", "user_id": "shared-o"}
    [trace] = IMPORTER.read([row, copy])
    assert trace == read_trace(OPEN_WEBUI)
    assert [held for held, _ in single_traces([row, copy])] == ["o"]
    assert len(IMPORTER.read([copy])) == len(IMPORTER.read([{**copy, "id": "o"}])) == 1
    assert not IMPORTER.matches({**row, "chat": "{"})


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"chat": {}},
        {"chat": {"messages": []}},
        {"chat": {"messages": [{"role": "bot"}]}},
        [OPEN_WEBUI, 1],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)

"""Chats that Cursor exports as Markdown: turns of the user and of Cursor, whose calls are left out."""

from __future__ import annotations

import pytest

from support.trace_examples.editor_agents import CURSOR_EXPORT
from weighbridge.errors import WeighbridgeError
from weighbridge.traces import read_trace

ANSWER = """I search. **Cursor** says:

---

It is not there.

```html
<!DOCTYPE html>
```"""


def test_turns_are_messages_and_the_calls_between_them_are_not_known():
    trace = read_trace(CURSOR_EXPORT)
    assert trace.format == "cursor-export"
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x."),
        ("llm", ANSWER),
        ("user", "Search again."),
        ("llm", "Still not."),
    ]
    assert trace.metadata == {"title": "Find x", "cursor_version": "2.4.1"}
    assert set(trace.missing) == {
        *("llm_calls", "tool_calls", "token_usage", "timing", "cost"),
        "tool_definitions",
    }


@pytest.mark.parametrize(
    ("of", "to"),
    [
        ("\n", "\r\n"),
        ("x\n_", "x\n\n_"),
        (" (2.4.1)_\n\n---\n", " via WayLog_\n\n---\n\n"),
        ("1/2/2026 at 12:00:00 GMT+1", "2026. 1. 2. at 12시 00분 GMT+9"),
    ],
)
def test_other_spellings_of_the_head_and_other_ends_of_lines_are_read(of, to):
    outputs = [step.output for step in read_trace(CURSOR_EXPORT.replace(of, to)).steps]
    assert outputs == [step.output for step in read_trace(CURSOR_EXPORT).steps]


def test_an_answer_without_text_is_a_model_call():
    trace = read_trace(CURSOR_EXPORT.replace("Still not.\n", ""))
    assert [(step.type, step.output) for step in trace.steps][-1] == ("llm", None)


@pytest.mark.parametrize(
    "text",
    [
        CURSOR_EXPORT.replace("_Exported", "Exported"),
        CURSOR_EXPORT.replace("# Find", "Find"),
        CURSOR_EXPORT.replace("from Cursor", "from another"),
    ],
)
def test_other_markdown_is_no_export(text):
    with pytest.raises(WeighbridgeError):
        read_trace(text)

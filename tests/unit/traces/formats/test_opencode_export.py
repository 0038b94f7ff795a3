"""opencode's sessions exported as Markdown."""

from __future__ import annotations

import pytest

from support.growth import assert_takes_at_most
from support.trace_examples.editor_agents import OPENCODE_EXPORT
from weighbridge.traces import Step, read_trace
from weighbridge.traces.recognition import recognised

OUTPUT = "# a\n\n```sh\nmake\n```\n\n**Tool: x**"


def test_messages_are_model_calls_and_their_tools_are_calls():
    trace = read_trace(OPENCODE_EXPORT)
    assert (trace.format, trace.id, trace.metadata) == (
        "opencode-export",
        "ses_1",
        {"title": "Find x"},
    )
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", output="Where is it?\n\nI look.", model="Model A"),
        Step(
            id="call 1",
            type="tool",
            parent_id="s2",
            name="bash",
            arguments={"command": "cat a.md", "description": "Read\n```\n"},
            output=OUTPUT,
        ),
        Step(
            id="call 2",
            type="tool",
            parent_id="s2",
            name="edit",
            arguments={},
            output="No changes to apply.",
            error="No changes to apply.",
        ),
        Step(id="s5", type="llm", model="Model A"),
        Step(id="call 3", type="tool", parent_id="s5", name="task"),
        Step(id="s7", type="llm", output="It is not there."),
        Step(id="s8", type="user", output="Is it?"),
    )  # fmt: skip
    assert not {"llm_calls", "tool_calls"} & trace.missing.keys()
    assert any("reasoning" in note for note in trace.not_carried)


def test_line_breaks_of_windows_are_the_same():
    assert read_trace(OPENCODE_EXPORT.replace("\n", "\r\n")) == read_trace(OPENCODE_EXPORT)


def test_text_below_a_call_may_be_that_of_another_model_call():
    text = OPENCODE_EXPORT.replace("**Tool: task**\n", "**Tool: task**\n\nDone.\n")
    trace = read_trace(text)
    assert "below its calls" in trace.missing["llm_calls"]
    assert "tool_calls" not in trace.missing
    assert "Done." in [step.output for step in trace.steps]


def test_a_quoted_export_leaves_lower_bounds():
    trace = read_trace(
        OPENCODE_EXPORT.replace("make", "**Session ID:** ses_2").replace("```sh", "x")
    )
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()
    said = read_trace(OPENCODE_EXPORT.replace("Is it?", "**Session ID:** ses_2"))
    assert "quotes an export" in said.missing["tool_calls"]


def test_an_export_that_is_cut_off_is_read_up_to_there():
    trace = read_trace(OPENCODE_EXPORT[: OPENCODE_EXPORT.index("make")])
    assert trace.steps_of("tool")[0].output == "# a\n\n```sh\n"


def test_a_result_that_is_cut_off_in_a_block_of_code_ends_where_the_next_call_begins():
    whole = "```sh\nmake\n```\n\n**Tool: x**\n```\n"
    cut_off = OPENCODE_EXPORT.replace(whole, "```sh\nmake\n```\n")
    first, second, _ = read_trace(cut_off).steps_of("tool")
    assert (first.output, second.name) == ("# a\n\n```sh\nmake", "edit")


def test_a_result_that_is_cut_off_in_a_block_of_code_ends_where_the_next_message_begins():
    cut_off = OPENCODE_EXPORT.replace("No changes to apply.", "```sh\nmake")
    trace = read_trace(cut_off)
    assert [step.name for step in trace.steps_of("tool")] == ["bash", "edit", "task"]
    assert trace.steps_of("tool")[1].error == "```sh\nmake"


def test_a_result_with_the_input_of_a_call_in_it_leaves_lower_bounds():
    cut_off = OPENCODE_EXPORT.replace("make\n```\n\n**Tool: x**\n```\n", "make\n```\n\nI edit.\n")
    trace = read_trace(cut_off)
    assert "**Tool: edit**" in str(trace.steps_of("tool")[0].output)
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()


def test_results_that_never_end_are_read_in_linear_time():
    opening = OPENCODE_EXPORT[: OPENCODE_EXPORT.index("_Thinking:_")]

    def reading(count):
        text = opening + "**Tool: bash**\n\n**Output:**\n```\n```x\n" * count
        return lambda: read_trace(text)

    # Quadratic work would take 256 times as long.
    assert_takes_at_most(32, reading, size=3_200, of=200)


@pytest.mark.parametrize(
    "text",
    [
        OPENCODE_EXPORT.replace("# Find", "Find", 1),
        OPENCODE_EXPORT.replace("**Session ID:** ses_1", "**Session ID:** 7"),
        OPENCODE_EXPORT.replace("**Session ID:**", "Session ID:"),
    ],
)
def test_other_markdown_is_no_export(text):
    found = recognised({"opencode_export": text})
    assert found is None or found.importer.id != "opencode-export"


@pytest.mark.parametrize(
    ("begun", "ended", "seconds"),
    [
        ("3/18/2026, 9:54:25 AM", "3/18/2026, 10:27:35 AM", 1990),
        ("3/18/2026, 12:00:05\u202fAM", "3/18/2026, 12:00:05\u202fPM", 43_200),
        ("2/28/2026, 11:59:00 PM", "3/1/2026, 12:01:00 AM", 120),
        ("18.3.2026, 09:54:25", "18.3.2026, 13:54:25", 14_400),
        ("18.3.2026, 23:59:25", "19.3.2026, 00:01:25", None),
        ("03/04/2026, 23:59:25", "04/04/2026, 00:01:25", None),
        ("3/18/2026, 9:54:25 AM", "3/18/2026, 9:54:24 AM", None),
        ("3/18/2026, 9:54:25 AM", "99/99/2026, 9:54:24 AM", None),
        ("today", "3/18/2026, 9:54:24 AM", None),
    ],
)
def test_the_run_took_as_long_as_from_its_creation_to_its_update(begun, ended, seconds):
    assert "1/2/2026, 12:00:00 PM" in OPENCODE_EXPORT
    text = OPENCODE_EXPORT.replace("1/2/2026, 12:00:00 PM", begun).replace(
        "1/2/2026, 12:01:00 PM", ended
    )
    trace = read_trace(text)
    assert trace.duration_ms == (seconds and seconds * 1000)
    assert "timing" in trace.missing

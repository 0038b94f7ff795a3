"""Sessions that Factory's Droid keeps."""

from __future__ import annotations

import pytest

from weighbridge.traces import Step
from weighbridge.traces.formats.droid_sessions import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def line(number, role, *blocks, **fields):
    return {
        "type": "message",
        "id": f"m{number}",
        "parentId": f"m{number - 1}",
        "timestamp": f"2025-01-01T12:00:0{number}.000Z",
        "message": {"role": role, "content": list(blocks), **fields},
    }


def text(words):
    return {"type": "text", "text": words}


def result(**fields):
    return {"type": "tool_result", "tool_use_id": "t1", "content": "a.md", **fields}


START = {"type": "session_start", "id": "d1", "title": "Listing", "cwd": "/w", "version": 2}
CALL = {"type": "tool_use", "id": "t1", "name": "LS", "input": {"path": "."}}
DROID_SESSION = [
    START,
    line(1, "user", text("List.")),
    line(2, "assistant", {"type": "thinking", "thinking": "Hm."}, text("I look."), CALL, model="sonnet"),
    line(3, "user", result()),
    {"type": "todo_state", "id": "x", "todos": {"todos": []}},
    line(4, "assistant", text("One file.")),
    {"type": "agent_turn_outcome", "turnId": "t", "resultKind": "success", "reason": "completed"},
]  # fmt: skip


def read(lines):
    (trace,) = IMPORTER.read(lines)
    return trace


def test_lines_become_steps():
    trace = read(DROID_SESSION)
    assert IMPORTER.matches(DROID_SESSION)
    assert IMPORTER.is_line(START)
    assert trace.steps == (
        Step(id="m1", type="user", output="List.", started_at=NOON + SECOND),
        Step(id="m2", type="llm", output="I look.", model="sonnet", ended_at=NOON + 2 * SECOND),
        Step(id="t1", type="tool", parent_id="m2", name="LS", arguments={"path": "."}, output="a.md", started_at=NOON + 2 * SECOND, ended_at=NOON + 3 * SECOND),
        Step(id="m4", type="llm", output="One file.", ended_at=NOON + 4 * SECOND),
    )  # fmt: skip
    assert trace.id == "d1"
    assert trace.metadata == {"title": "Listing", "cwd": "/w", "version": 2}
    assert trace.not_carried == (
        "lines of type 'agent_turn_outcome' (1)",
        "lines of type 'todo_state' (1)",
        "thinking blocks (1)",
    )


def test_lines_for_the_blocks_of_an_answer_are_one_call_of_the_model():
    other = CALL | {"id": "t2"}
    lines = [START, *(line(n, "assistant", block) for n, block in enumerate([text("Ok."), CALL, other]))]  # fmt: skip
    trace = read([*lines, line(3, "user", result()), line(4, "assistant", text("Done."))])
    assert [(step.type, step.parent_id) for step in trace.steps] == [
        ("llm", None),
        ("tool", "m0"),
        ("tool", "m0"),
        ("llm", None),
    ]


def test_whole_answers_in_a_row_are_several_calls_of_the_model():
    trace = read([START, line(1, "assistant", text("Ok.")), line(2, "assistant", text("And."))])
    assert [step.output for step in trace.steps] == ["Ok.", "And."]


def test_failed_tools_and_turns_have_errors():
    end = {"type": "agent_turn_outcome", "reason": "error"}
    lines = [*DROID_SESSION[:3], line(3, "user", result(content="No.", is_error=True)), end]
    assert [step.error for step in read(lines).steps if step.error] == ["No.", "error"]


def test_a_summary_that_the_model_wrote_is_an_answer():
    compaction = {
        "type": "compaction_state",
        "summaryText": "So far.",
        "summaryKind": "llm_summary",
    }
    assert read([*DROID_SESSION, compaction]).steps[-1] == Step(id="s5", type="llm", output="So far.")  # fmt: skip
    switch = compaction | {"summaryKind": "provider_switch_serialization"}
    assert len(read([*DROID_SESSION, switch]).steps) == 4


def test_repeated_lines_and_results_of_hooks_are_counted():
    hook = line(5, "user") | {"hookEventName": "Stop"}
    trace = read([*DROID_SESSION, DROID_SESSION[5], hook])
    assert len(trace.steps) == 4
    assert {"repeated lines (1)", "results of hooks (1)"} <= set(trace.not_carried)


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        [START],
        DROID_SESSION[1:],
        [{"type": "session", "id": "s", "version": 3}, *DROID_SESSION[1:]],
        [{"type": "session_start"}, *DROID_SESSION[1:]],
        [START, {"type": "message", "role": "user", "text": "Hi."}],
        [START, line(1, "toolResult")],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize("bad", [None, 3, "x", [], {}, [{}], {"a": [1]}, -1.5])
def test_fields_of_other_types_are_not_followed(bad):
    for index, whole in enumerate(DROID_SESSION):
        for key in whole:
            IMPORTER.read([*DROID_SESSION[:index], whole | {key: bad}, *DROID_SESSION[index + 1 :]])
            inner = whole[key]
            for name in inner if type(inner) is dict else ():
                changed = whole | {key: inner | {name: bad}}
                IMPORTER.read([*DROID_SESSION[:index], changed, *DROID_SESSION[index + 1 :]])

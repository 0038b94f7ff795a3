"""Sessions of Moonshot's Kimi agents."""

from __future__ import annotations

import json

import pytest

from weighbridge.traces import Step, Usage
from weighbridge.traces.formats.kimi_code import IMPORTER

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9
COUNTS = {"inputOther": 10, "output": 5, "inputCacheRead": 90, "inputCacheCreation": 2}
TOKENS = Usage(102, 5, cached_tokens=90, cache_write_tokens=2)


def line(of_type, seconds, **fields):
    return {"type": of_type, **fields, "time": NOON // 10**6 + seconds * 1000}


def event(kind, seconds, **fields):
    return line("context.append_loop_event", seconds, event={"type": kind, **fields})


def said(text, seconds, kind="user", role="user"):
    message = {"role": role, "content": [{"type": "text", "text": text}], "toolCalls": []}
    return line("context.append_message", seconds, message=message | {"origin": {"kind": kind}})


def part(kind, text, seconds, step="a"):
    return event("content.part", seconds, stepUuid=step, part={"type": kind, kind: text})


def used(counts=COUNTS, scope="turn"):
    return line("usage.record", 9, model="m/k2", usage=counts, usageScope=scope)


HEAD = {"type": "metadata", "protocol_version": "1.4", "created_at": NOON // 10**6}
CALL = event(
    "tool.call", 4, stepUuid="a", uuid="u", toolCallId="Bash_0", name="Bash", args={"command": "ls"}
)
RESULT = event("tool.result", 5, parentUuid="u", toolCallId="Bash_0", result={"output": "a.md"})
END = event("step.end", 5, uuid="a", usage=COUNTS, finishReason="tool_use")
KIMI_CODE = [
    HEAD,
    line("config.update", 0, modelAlias="m/k2", systemPrompt="Be brief.", profileName="agent"),
    line("turn.prompt", 1, input=[{"type": "text", "text": "List."}], origin={"kind": "user"}),
    said("List.", 1),
    event("step.begin", 2, uuid="a", turnId="0", step=1),
    line("llm.tools_snapshot", 2, tools=[{"name": "Bash", "description": "Runs.", "parameters": {}}]),
    line("llm.request", 2, kind="loop", model="k2", modelAlias="m/k2"),
    part("think", "I look.", 3),
    part("text", "I look.", 3),
    CALL,
    RESULT,
    END,
    used(),
    said("<system-reminder>Go on.</system-reminder>", 6, "injection"),
    event("step.begin", 6, uuid="b", turnId="0", step=2),
    part("text", "One file.", 7, "b"),
    event("step.end", 7, uuid="b", usage=COUNTS | {"output": 3}, finishReason="end_turn"),
    used(COUNTS | {"output": 3}),
]  # fmt: skip


def read(lines):
    (trace,) = IMPORTER.read(lines)
    return trace


def llm(trace):
    return [step for step in trace.steps if step.type == "llm"]


def test_lines_become_steps():
    trace = read(KIMI_CODE)
    assert IMPORTER.matches(KIMI_CODE)
    assert IMPORTER.is_line(HEAD)
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief.", started_at=NOON),
        Step(id="s2", type="user", output="List.", started_at=NOON + SECOND),
        Step(id="s3", type="llm", finish_reason="tool_call", output="I look.", model="k2", usage=TOKENS, started_at=NOON + 2 * SECOND, ended_at=NOON + 3 * SECOND),
        Step(id="Bash_0", type="tool", parent_id="s3", name="Bash", arguments={"command": "ls"}, output="a.md", started_at=NOON + 4 * SECOND, ended_at=NOON + 5 * SECOND),
        Step(id="s5", type="llm", finish_reason="stop", output="One file.", model="k2", usage=Usage(102, 3, cached_tokens=90, cache_write_tokens=2), started_at=NOON + 6 * SECOND, ended_at=NOON + 7 * SECOND),
    )  # fmt: skip
    assert [tool.name for tool in trace.tools] == ["Bash"]
    assert (trace.started_at, trace.metadata, trace.usage) == (NOON, {"profile": "agent"}, None)
    assert trace.not_carried == (
        "messages that Kimi added for the model (1)",
        "parts of the model's reasoning (1)",
    )


def test_a_step_without_an_answer_is_no_call_of_the_model():
    begun = [event("step.begin", 2, uuid=name) for name in "ab"]
    trace = read([HEAD, said("Hi.", 1), *begun, line("turn.cancel", 3)])
    assert [step.type for step in trace.steps] == ["user"]
    assert "steps without an answer (2)" in trace.not_carried


def test_a_step_that_broke_off_has_the_tokens_of_its_record():
    end = event("step.end", 6, uuid="a", finishReason="interrupted")
    lines = [HEAD, event("step.begin", 2, uuid="a"), used(), part("text", "I", 3), CALL, end]
    (answer,) = llm(read(lines))
    assert (answer.usage, answer.error, answer.output) == (TOKENS, "interrupted", "I")


def test_a_compaction_is_a_call_of_the_model_and_its_summary_the_answer():
    summary = [
        line("full_compaction.begin", 8, source="auto"),
        line("llm.request", 8, kind="compaction", model="k2"),
        used(COUNTS | {"output": 70}, "session"),
        line("context.apply_compaction", 9, summary="So far.", compactedCount=4),
        line("full_compaction.complete", 9),
    ]
    answers = llm(read([*KIMI_CODE, *summary]))
    assert [step.output for step in answers] == ["I look.", "One file.", "So far."]
    assert sum(step.usage.output_tokens for step in answers) == 5 + 3 + 70
    assert llm(read([*KIMI_CODE, summary[0], *summary[3:]]))[-1].usage is None


def test_other_requests_during_a_step_do_not_take_its_calls():
    lines = [
        HEAD,
        KIMI_CODE[4],
        part("text", "I look.", 3),
        used(scope="session"),
        CALL,
        RESULT,
        END,
    ]
    trace = read(lines)
    assert [(step.type, step.parent_id) for step in trace.steps] == [
        ("llm", None),
        ("tool", "s1"),
        ("llm", None),
    ]


def test_a_failed_tool_and_a_failed_turn_have_errors():
    failed = event("tool.result", 5, toolCallId="Bash_0", result={"output": "no", "isError": True})
    ended = line("turn.ended", 8, reason="failed", error={"code": "x", "message": "Overloaded."})
    trace = read([*KIMI_CODE[:10], failed, END, ended])
    assert [step.error for step in trace.steps if step.error] == ["no", "Overloaded."]


def wire(kind, seconds=0, **payload):
    return {
        "timestamp": NOON / 10**9 + seconds,
        "message": {"type": kind, "payload": payload},
    }


def status(seconds, output=5):
    counts = {
        "input_other": 10,
        "output": output,
        "input_cache_read": 90,
        "input_cache_creation": 2,
    }
    return wire("StatusUpdate", seconds, context_usage=0.1, token_usage=counts, message_id="m")


def called(name, call_id, **given):
    function = {"name": name, "arguments": json.dumps(given)}
    return wire("ToolCall", 3, type="function", id=call_id, function=function)


def answered(call_id, output, **more):
    value = {"is_error": False, "output": output, "message": "", "display": []} | more
    return wire("ToolResult", 6, tool_call_id=call_id, return_value=value)


def of_sub_agent(inner):
    return wire("SubagentEvent", 5, parent_tool_call_id="t:0", agent_id="x", event=inner["message"])


KIMI_CLI = [
    {"type": "metadata", "protocol_version": "1.3"},
    wire("TurnBegin", 1, user_input="List."),
    wire("StepBegin", 2, n=1),
    wire("ContentPart", 3, type="think", think="Hm.", encrypted=None),
    wire("ContentPart", 3, type="text", text="I ask."),
    called("Task", "t:0", prompt="Look."),
    status(4),
    *map(
        of_sub_agent,
        [
            wire("TurnBegin", user_input="Look."),
            wire("StepBegin", n=1),
            called("Shell", "t:0", command="ls"),
            status(5, 7),
            answered("t:0", "a.md"),
        ],
    ),
    answered("t:0", "One."),
    wire("StepBegin", 7, n=2),
    wire("ContentPart", 8, type="text", text="One file."),
    status(8, 3),
    wire("TurnEnd", 9),
]


def test_events_of_kimi_cli_become_steps_and_a_sub_agents_are_part_of_its_call():
    trace = read(KIMI_CLI)
    assert all(map(IMPORTER.is_line, KIMI_CLI))
    assert [(step.id, step.type, step.parent_id, step.output) for step in trace.steps] == [
        ("s1", "user", None, "List."),
        ("s2", "llm", None, "I ask."),
        ("t:0", "tool", "s2", "One."),
        ("x:1", "llm", "t:0", None),
        ("x:t:0", "tool", "x:1", "a.md"),
        ("s6", "llm", None, "One file."),
    ]
    assert [step.usage.output_tokens for step in llm(trace)] == [5, 7, 3]
    assert llm(trace)[0].usage == TOKENS
    assert (trace.steps[1].started_at, trace.steps[1].ended_at) == (NOON + 2 * SECOND, NOON + 4 * SECOND)  # fmt: skip
    assert trace.not_carried == ("parts of the model's reasoning (1)", "prompts to sub-agents (1)")


def test_a_failed_request_and_a_failed_tool_of_kimi_cli_have_errors():
    retry = wire("StepRetry", 3, n=1, next_attempt=2, error_type="APITimeoutError")
    failed = answered("t:0", "", is_error=True, message="Denied.")
    trace = read([*KIMI_CLI[:5], retry, *KIMI_CLI[4:7], failed])
    assert [(step.type, step.error) for step in trace.steps] == [
        ("user", None),
        ("llm", "APITimeoutError"),
        ("llm", None),
        ("tool", "Denied."),
    ]


def test_what_the_program_says_outside_of_a_step_is_no_answer():
    trace = read([*KIMI_CLI[:2], wire("ContentPart", 2, type="text", text="Unknown command.")])
    assert [step.type for step in trace.steps] == ["user", "other"]


CONTEXT = [
    {"role": "_system_prompt", "content": "Be brief."},
    {"role": "_checkpoint", "id": 0},
    {"role": "user", "content": [{"type": "text", "text": "List."}]},
    {"role": "_usage", "token_count": 100},
    {
        "role": "assistant",
        "content": [{"type": "think", "think": "Hm."}],
        "tool_calls": [
            {"type": "function", "id": "t:0", "function": {"name": "Shell", "arguments": '{"command": "ls"}'}}
        ],
    },
    {"role": "_usage", "token_count": 105},
    {
        "role": "tool",
        "content": [{"type": "text", "text": "<system>ERROR: no</system>"}],
        "tool_call_id": "t:0",
    },
    {"role": "assistant", "content": [{"type": "text", "text": "It failed."}]},
]  # fmt: skip


def test_a_context_of_kimi_cli_has_tokens_around_its_answers():
    assert IMPORTER.matches(CONTEXT)
    assert IMPORTER.is_line(CONTEXT[0])
    error = "<system>ERROR: no</system>"
    assert read(CONTEXT).steps == (
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="user", output="List."),
        Step(id="s3", type="llm", usage=Usage(100, 5, 105)),
        Step(id="t:0", type="tool", parent_id="s3", name="Shell", arguments={"command": "ls"}, output=error, error=error),
        Step(id="s5", type="llm", output="It failed."),
    )  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        [{"type": "metadata"}],
        [{"type": "turn.prompt"}],
        [{"type": "context.append_message", "message": []}],
        [{"message": {"type": "TurnBegin", "payload": {}}}],
        [{"timestamp": 1, "message": {"type": "TurnBegin", "payload": 3}}],
        [{"timestamp": 1, "message": {"role": "user", "content": "x"}}],
        [{"role": "user", "content": "x"}],
        [{"role": "_usage"}],
        [{"role": "_usage", "token_count": 1}, {"role": "human"}],
        [{"role": ["_usage"]}],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)
    assert not any(
        map(IMPORTER.is_line, value or [] if type(value) is list and len(value) < 2 else [])
    )


@pytest.mark.parametrize("lines", [KIMI_CODE, KIMI_CLI, CONTEXT])
@pytest.mark.parametrize("bad", [None, 3, "x", [], {}, [{}], {"a": [1]}, -1.5])
def test_fields_of_other_types_are_not_followed(lines, bad):
    for index, whole in enumerate(lines):
        for key in whole:
            IMPORTER.read([*lines[:index], whole | {key: bad}, *lines[index + 1 :]])
            inner = whole[key]
            for name in inner if type(inner) is dict else ():
                changed = whole | {key: inner | {name: bad}}
                IMPORTER.read([*lines[:index], changed, *lines[index + 1 :]])

"""Sessions of Qwen Code."""

from __future__ import annotations

import pytest

from weighbridge.traces import Step, Usage
from weighbridge.traces.formats.qwen_code import IMPORTER
from weighbridge.traces.unread_counts import with_unread_calls

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9


def line(kind, number, **fields):
    return {
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": "q1",
        "timestamp": f"2025-01-01T12:00:0{number}.000Z",
        "type": kind,
        "cwd": "/w",
        "version": "0.18.1",
        **fields,
    }


def said(role, *parts):
    return {"role": role, "parts": list(parts)}


def telemetry(name, number, **fields):
    event = {"event.name": f"qwen-code.{name}", **fields}
    return line("system", number, subtype="ui_telemetry", systemPayload={"uiEvent": event})


def response(number, sent, received, **more):
    return telemetry(
        "api_response", number, model="coder", input_token_count=sent, output_token_count=received,
        cached_content_token_count=0, thoughts_token_count=0, total_token_count=sent + received, **more,
    )  # fmt: skip


def usage(sent, received, thought=0, total=None, cached=0):
    return {
        "promptTokenCount": sent,
        "candidatesTokenCount": received,
        "thoughtsTokenCount": thought,
        "totalTokenCount": sent + received if total is None else total,
        "cachedContentTokenCount": cached,
    }


CALL = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.md"}}}
FAILED = {"functionResponse": {"id": "c1", "name": "read_file", "response": {"error": "No file."}}}
QWEN_CODE = [
    line("user", 0, message=said("user", {"text": "Read a.md."})),
    response(1, 500, 20),
    line(
        "assistant", 2, model="coder", usageMetadata=usage(500, 20, 8, cached=400),
        message=said("model", {"text": "I read.", "thought": True}, {"text": "Let me."}, CALL),
    ),
    telemetry("tool_call", 3, function_name="read_file", success=False),
    line(
        "tool_result", 4, message=said("user", FAILED),
        toolCallResult={"callId": "c1", "status": "error", "resultDisplay": "No file."},
    ),
    response(5, 600, 5),
    line("assistant", 6, model="coder", message=said("model", {"text": "It is not there."})),
    line("system", 7, subtype="custom_title", systemPayload={"customTitle": "Reading"}),
]  # fmt: skip
USER, _, ANSWER, _, RESULT, _, LAST, _ = QWEN_CODE


def read(lines):
    (trace,) = IMPORTER.read(lines)
    return trace


def test_lines_become_steps_and_telemetry_has_tokens_only_where_an_answer_has_none():
    trace = read(QWEN_CODE)
    assert IMPORTER.matches(QWEN_CODE)
    assert all(map(IMPORTER.is_line, QWEN_CODE))
    assert trace.steps == (
        Step(id="u0", type="user", output="Read a.md.", started_at=NOON),
        Step(id="u2", type="llm", output="Let me.", model="coder", usage=Usage(500, 20, 520, 400), ended_at=NOON + 2 * SECOND),
        Step(id="c1", type="tool", parent_id="u2", name="read_file", arguments={"path": "a.md"}, output="No file.", error="No file.", started_at=NOON + 2 * SECOND, ended_at=NOON + 4 * SECOND),
        Step(id="u6", type="llm", output="It is not there.", model="coder", usage=Usage(600, 5, 605, 0), ended_at=NOON + 6 * SECOND),
    )  # fmt: skip
    assert (trace.id, trace.metadata) == ("q1", {"title": "Reading"})
    assert (trace.usage, trace.counts, trace.totals_from) == (None, None, "")
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


@pytest.mark.parametrize(("total", "received"), [(None, 20), (528, 28), (520, 20)])
def test_thoughts_are_added_to_the_output_only_where_the_total_has_them_apart(total, received):
    counts = usage(500, 20, 8, total)
    if total is None:
        del counts["totalTokenCount"]
    trace = read([USER, ANSWER | {"usageMetadata": counts}])
    assert trace.steps[1].usage.output_tokens == received


def test_lines_of_one_uuid_are_one_answer():
    thought = ANSWER | {"message": said("model", {"text": "Hm.", "thought": True}), "usageMetadata": {}}  # fmt: skip
    trace = read([USER, thought, ANSWER, ANSWER, RESULT])
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]
    assert trace.steps[1].usage == Usage(500, 20, 520, 400)
    assert "repeated lines (1)" in trace.not_carried


def test_telemetry_beyond_the_answers_is_a_total_of_the_run():
    more = [response(8, 300, 7), telemetry("tool_call", 8), telemetry("tool_call", 8)]
    trace = with_unread_calls(read([*QWEN_CODE, *more]))
    assert trace.usage == Usage(1400, 32, 1432, 0)
    assert (trace.counts.llm_calls, trace.counts.tool_calls) == (3, 3)
    assert trace.missing["tool_calls"] == (
        "telemetry of the session states 3 tool calls, of which 1 were read"
    )


def test_calls_of_a_sub_agent_are_missing():
    display = {"type": "task_execution", "toolCalls": [{"callId": "x"}], "executionSummary": {"totalToolCalls": 2}}  # fmt: skip
    done = RESULT | {"toolCallResult": {"callId": "c1", "status": "success", "resultDisplay": display}}  # fmt: skip
    assert read([USER, ANSWER, done]).missing["tool_calls"] == (
        "2 calls of sub-agents are kept elsewhere"
    )


def test_a_call_may_be_cancelled_and_its_result_only_displayed():
    about = {"callId": "c1", "status": "cancelled", "resultDisplay": "Stopped."}
    trace = read([USER, ANSWER, RESULT | {"message": said("user"), "toolCallResult": about}])
    assert (trace.steps[2].output, trace.steps[2].error) == ("Stopped.", "Stopped.")


def test_other_lines_are_counted():
    rewind = line("system", 8, subtype="rewind", systemPayload={"truncatedCount": 1})
    error = telemetry("api_error", 8, error_message="no")
    trace = read([*QWEN_CODE, rewind, error, {"type": "new"}])
    assert trace.not_carried == (
        "lines of type 'new' (1)",
        "lines of type 'rewind' (1)",
        "parts of the model's reasoning (1)",
        "requests to the model that failed (1)",
    )


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        [],
        QWEN_CODE[0],
        [USER | {"message": {"role": "user", "content": "Hi."}}],
        [USER | {"uuid": 3}],
        [USER | {"type": ["user"]}],
        [{"type": "system", "uuid": "u", "parentUuid": None, "sessionId": "s", "content": "x"}],
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize("bad", [None, 3, "x", [], {}, [{}], {"a": [1]}, -1.5])
def test_fields_of_other_types_are_not_followed(bad):
    for index, whole in enumerate(QWEN_CODE):
        for key in whole:
            IMPORTER.read([*QWEN_CODE[:index], whole | {key: bad}, *QWEN_CODE[index + 1 :]])
            inner = whole[key]
            for name in inner if type(inner) is dict else ():
                changed = whole | {key: inner | {name: bad}}
                IMPORTER.read([*QWEN_CODE[:index], changed, *QWEN_CODE[index + 1 :]])

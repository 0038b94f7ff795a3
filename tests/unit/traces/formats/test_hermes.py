"""Sessions of Hermes Agent."""

from __future__ import annotations

import pytest

from support.trace_examples.personal_agents import HERMES, HERMES_STORED
from weighbridge.traces import Counts, Step, Usage, read_trace, read_traces
from weighbridge.traces.formats.hermes import IMPORTER
from weighbridge.traces.split import opens_session, single_traces

NOON = 1_735_732_800 * 10**9  #: 2025-01-01T12:00:00Z
SECOND = 10**9
MESSAGES = HERMES[1:]
EXPORT = {
    "id": "h",
    "source": "cli",
    "model": "m",
    "system_prompt": "Be brief.",
    "started_at": NOON / 10**9,
    "ended_at": NOON / 10**9 + 4,
    "message_count": 4,
    "tool_call_count": 1,
    "api_call_count": 2,
    "input_tokens": 10,
    "output_tokens": 5,
    "cache_read_tokens": 20,
    "cache_write_tokens": 3,
    "estimated_cost_usd": 0.25,
    "messages": [
        message | {"id": number, "session_id": "h", "timestamp": NOON / 10**9 + number}
        for number, message in enumerate(MESSAGES)
    ],
}


def test_a_log_names_its_model_and_tools_once():
    trace = read_trace(HERMES)
    assert trace.format == "hermes"
    assert trace.steps == (
        Step(id="s1", type="user", output="List.", started_at=NOON),
        Step(id="s2", type="llm", finish_reason="tool_call", output="", model="m", ended_at=NOON + SECOND),
        Step(id="c1", type="tool", name="terminal", arguments={"command": "ls"}, output='{"output": "a.md", "exit_code": 0}', parent_id="s2", ended_at=NOON + 2 * SECOND),
        Step(id="s4", type="llm", finish_reason="stop", output="One file.", model="m", ended_at=NOON + 3 * SECOND),
    )  # fmt: skip
    assert [tool.name for tool in trace.tools] == ["terminal"]
    assert trace.not_carried == ("message field 'reasoning' (1)",)
    assert opens_session(HERMES[0])


@pytest.mark.parametrize("at", [0, 4])
def test_the_description_of_a_session_may_stand_anywhere(at):
    moved = [*MESSAGES[:at], HERMES[0], *MESSAGES[at:]]
    assert read_trace(moved).steps == read_trace(HERMES).steps


def test_a_saved_session():
    about = {"session_start": "2025-01-01T12:00:00", "last_updated": "2025-01-01T12:00:04"}
    trace = read_trace(
        {
            "session_id": "h",
            "model": "m",
            "message_count": 4,
            "system_prompt": "Be brief.",
            "tools": HERMES[0]["tools"],
            "messages": [*MESSAGES, {"role": "session_meta"}],
            **about,
        }
    )
    assert (trace.id, trace.format, len(trace.tools)) == ("h", "hermes", 1)
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool", "llm"]
    assert (trace.started_at, trace.ended_at) == (NOON, NOON + 4 * SECOND)


def test_an_export_states_tokens_cost_and_counts():
    trace = read_trace(EXPORT)
    assert trace.usage == Usage(33, 5, None, 20, 3)
    assert trace.cost_usd == 0.25
    assert trace.counts == Counts(2, 1)
    assert trace.steps[1].started_at == NOON
    assert "tool_definitions" in trace.missing
    assert read_trace(EXPORT | {"actual_cost_usd": 0.5}).cost_usd == 0.5


def test_counts_of_zero_are_not_counted():
    names = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    trace = read_trace(
        EXPORT | dict.fromkeys(names, 0) | {"api_call_count": 0, "estimated_cost_usd": 0.0}
    )
    assert trace.usage is None
    assert trace.missing["token_usage"] == "Hermes has counted no tokens of this session"
    assert trace.cost_usd is None
    assert trace.counts == Counts(None, 1)


def test_the_segments_of_a_long_session_are_added_up():
    other = EXPORT | {"id": "g"}
    whole = EXPORT | {"segments": [other, EXPORT], "messages": 2 * EXPORT["messages"]}
    trace = read_trace(whole)
    assert trace.usage == Usage(66, 10, 76, 40, 6)
    assert (trace.cost_usd, trace.counts) == (0.5, Counts(4, 2))
    unknown = read_trace(whole | {"segments": [other, EXPORT | {"input_tokens": None}]})
    assert unknown.usage.input_tokens is None


@pytest.mark.parametrize(
    "value", [[], [1, HERMES[0]], MESSAGES, {"messages": MESSAGES}, EXPORT | {"messages": 1}]
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)


@pytest.mark.parametrize(
    ("tool", "result", "error"),
    [
        ("terminal", '{"output": "no", "exit_code": 2, "error": null}', True),
        ("terminal", '{"output": "", "exit_code": 124, "error": "timed out"}', "timed out"),
        ("terminal", '{"output": "Error", "exit_code": 0, "error": null}', None),
        ("terminal", '{"output": "", "exit_code": 0, "error": "a warning"}', None),
        ("terminal", "Error", None),
        ("read_file", '{"content": "x", "exit_code": 1, "error": null}', None),
        ("read_file", '{"error": "no such file"}', "no such file"),
        ("memory", '{"success": false, "message": "full"}', True),
        ("mcp", "Error executing tool mcp", True),
        ("mcp", '{"error": ', None),
        ("mcp", '{"error": "no"} and more', None),
        ("mcp", {"error": "no"}, None),
        ("read_file", '{"error": "gone"}\n\n[Tool loop warning: failed twice]', "gone"),
        ("terminal", '{"output": "a\\n\\n[b]", "exit_code": 1}\n\n[x: y]\n\n[z]', True),
        (
            "terminal",
            '{"output": "", "exit_code": 0}\n\n[Tool loop warning: {"exit_code": 1}]',
            None,
        ),
        ("read_file", '{\n "text": "a"\n}\n\n[Subdirectory context discovered: b]\nError', None),
    ],
)
def test_a_call_has_failed_as_hermes_tells_it(tool, result, error):
    call = {"id": "c1", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    messages = [
        HERMES[0],
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": result, "tool_call_id": "c1"},
    ]
    [step] = read_trace(messages).steps_of("tool")
    assert step.error == (result if error is True else error)


def test_the_name_of_a_tool_may_stand_beside_its_result():
    result = {"role": "tool", "content": '{"exit_code": 1}', "tool_name": "terminal"}
    assert read_trace([HERMES[0], result]).steps[0].error == '{"exit_code": 1}'


def dump(messages, **body):
    request = {"method": "POST", "url": "u", "headers": {}, "body": {"messages": messages, **body}}
    about = {"timestamp": "2025-01-01T12:00:04", "session_id": "h", "reason": "max_retries"}
    return {**about, "request": request, "error": {"message": "429"}}


def test_a_dumped_request_has_the_session_up_to_it_with_its_failures():
    failed = [{**message, "content": '{"exit_code": 1}'} if message["role"] == "tool" else message for message in MESSAGES]  # fmt: skip
    trace = read_trace(dump(failed, model="m", tools=HERMES[0]["tools"], extra_body={"a": 1}))
    assert (trace.format, trace.id) == ("hermes", "h")
    assert [step.type for step in trace.steps] == ["user", "llm", "tool", "llm"]
    assert [step.error for step in trace.steps_of("tool")] == ['{"exit_code": 1}']
    assert [tool.name for tool in trace.tools] == ["terminal"]
    assert {"dump field 'error' (1)", "request field 'extra_body' (1)"} <= {*trace.not_carried}
    assert "llm_calls" not in trace.missing


def responses(*items, **body):
    return dump(None, input=[*items], instructions="You are Hermes.", **body)


def test_a_dumped_request_of_the_responses_api_has_the_session_up_to_it():
    said = {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]}
    calls = [
        {"type": "function_call", "call_id": call, "name": "terminal", "arguments": '{"c": "ls"}'}
        for call in ("c1", "c2")
    ]
    result = {"type": "function_call_output", "call_id": "c1", "output": '{"exit_code": 1}'}
    items = ({"role": "user", "content": "Hi"}, {"type": "reasoning"}, said, *calls, result)
    trace = read_trace(responses(*items, model="m"))
    assert (trace.format, trace.id) == ("hermes", "h")
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool", "tool"]
    assert [step.error for step in trace.steps_of("tool")] == ['{"exit_code": 1}', None]
    assert trace.steps_of("tool")[0].arguments == {"c": "ls"}
    assert trace.steps[2].output == "I look."


@pytest.mark.parametrize(
    "prefix", ["[CONTEXT COMPACTION — REFERENCE ONLY] ", "[CONTEXT SUMMARY]: "]
)
def test_counts_of_a_dumped_request_with_a_summary_are_lower_bounds(prefix):
    summary = {"role": "user", "content": prefix + "Earlier turns"}
    missing = read_trace(dump([summary, *MESSAGES])).missing
    assert missing["llm_calls"] == missing["tool_calls"]
    assert "a summary stands for earlier messages" in missing["llm_calls"]


@pytest.mark.parametrize(
    "value",
    [
        dump([{"role": "user", "content": []}], system="Be brief."),
        dump("Hi"),
        dump([]),
        responses(),
        responses({"type": "web_search_call"}),
        responses({"type": ["message"], "role": "user", "content": "Hi"}),
        responses({"role": "user", "content": "Hi"}, system="Be brief."),
        {**dump(MESSAGES), "request": []},
        {**dump(MESSAGES), "request": {"body": {"messages": MESSAGES}}},
    ],
)
def test_dumps_of_other_requests_are_not_claimed(value):
    assert not IMPORTER.matches(value)


ROWS = HERMES_STORED["rows"]


def stored(*rows, **about):
    return {"session": HERMES_STORED["session"] | about, "rows": [*rows]}


def test_a_stored_session_reads_as_its_export():
    export = HERMES_STORED["session"] | {"messages": EXPORT["messages"]}
    messages = [
        {**message, "timestamp": row["timestamp"]}
        for message, row in zip(EXPORT["messages"], ROWS, strict=True)
    ]
    trace = read_trace(HERMES_STORED)
    assert trace.steps == read_trace(export | {"messages": messages}).steps
    assert (trace.id, trace.usage, trace.cost_usd) == ("h", Usage(33, 5, None, 20, 3), 0.25)
    assert trace.counts == Counts(2, 1)
    assert trace.metadata == {"title": "Listing", "source": "cli"}


def test_rows_of_several_sessions_are_traces_of_their_own():
    rows = [row | {"session_id": name} for row in reversed(ROWS) for name in "gh"]
    traces = read_traces(rows)
    assert [trace.id for trace in traces] == ["g", "h"]
    assert [step.type for step in traces[0].steps] == ["user", "llm", "tool", "llm"]
    assert [name for name, _ in single_traces(rows)] == ["g", "h"]
    assert opens_session(ROWS[0])


def test_a_content_of_parts_is_read():
    parts = '\0json:[{"type": "text", "text": "List."}]'
    assert read_trace(stored(ROWS[0] | {"content": parts}, *ROWS[1:])).steps[1].output == "List."
    broken = read_trace(stored(ROWS[0] | {"content": "\0json:["}, *ROWS[1:]))
    assert broken.steps[1].output == "\0json:["


def test_what_a_compacted_session_repeats_counts_once():
    archived = [row | {"active": 0} for row in ROWS]
    summary = ROWS[3] | {"id": 4, "content": "[CONTEXT COMPACTION] Listed.", "timestamp": ROWS[3]["timestamp"] + 1}  # fmt: skip
    shortened = ROWS[2] | {"id": 6, "content": "[cleared]"}
    tail = [ROWS[1] | {"id": 5}, shortened, ROWS[3] | {"id": 7}]
    trace = read_trace(stored(*archived, summary, *tail, tool_call_count=1, api_call_count=0))
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool", "llm", "user"]
    assert trace.steps[3].output == ROWS[2]["content"]
    assert trace.counts is None  # the stated calls are those of the active messages
    assert "messages that the session repeats after it was compacted (3)" in trace.not_carried
    again = read_trace(stored(*ROWS, *(row | {"id": row["id"] + 4} for row in ROWS)))
    assert len(again.steps_of("llm")) == 4  # nothing was compacted


def test_calls_whose_messages_are_lost_are_not_counted_by_hermes_either():
    trace = read_trace(stored(ROWS[0], *ROWS[2:], tool_call_count=0))
    assert "tool_calls" in trace.missing
    assert trace.counts == Counts(2)


@pytest.mark.parametrize("calls", ["[", "{}"])
def test_calls_that_cannot_be_read_leave_lower_bounds(calls):
    trace = read_trace(stored(ROWS[0], ROWS[1] | {"tool_calls": calls}, *ROWS[2:]))
    assert "damaged line" in trace.missing["llm_calls"]


def test_a_system_prompt_in_another_table_is_named():
    trace = read_trace(stored(*ROWS, system_prompt=None, system_prompt_hash="x"))
    assert "system prompts that stand in a table of their own (1)" in trace.not_carried

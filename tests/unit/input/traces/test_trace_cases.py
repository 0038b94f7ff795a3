"""Traces without cases: each trace in any form of file becomes a case with an id that identifies the trace."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.trace_examples import EXAMPLES as LOGS
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

MESSAGES = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
NATIVE = {"id": "run-1", "steps": [{"type": "user", "output": "hi"}]}


def cases_of(data: bytes) -> list[dict[str, Any]]:
    return [orjson.loads(line.raw) for line in Source(io.BytesIO(data), Settings())]


def span(trace_id: str, span_id: str, **fields: Any) -> dict[str, Any]:
    return {"traceId": trace_id, "spanId": span_id, "name": "chat", **fields}


def export(*spans: dict[str, Any]) -> dict[str, Any]:
    return {
        "resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {}, "spans": list(spans)}]}]
    }


def jsonl(*values: Any) -> bytes:
    return b"".join(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE) for value in values)


def test_each_line_of_traces_is_a_case_named_after_the_trace_or_its_place() -> None:
    data = b"\n" + jsonl(MESSAGES, NATIVE, {"messages": MESSAGES, "trace_id": "t"})
    with_name = io.BytesIO(data)
    with_name.name = "runs.jsonl"
    blank, *lines = Source(with_name, Settings())
    assert blank.raw == b"\n"
    assert sum(line.size for line in lines) + blank.size == len(data)
    assert [orjson.loads(line.raw) for line in lines] == [
        {"custom_id": "runs.jsonl:2", "inputs": {"trace": MESSAGES}},
        {"custom_id": "run-1", "inputs": {"trace": NATIVE}},
        {"custom_id": "t", "inputs": {"trace": {"messages": MESSAGES, "trace_id": "t"}}},
    ]


def test_the_id_of_a_conversation_is_that_of_its_case_if_it_has_no_other() -> None:
    said = [{"role": "human", "content": "hi"}, {"role": "ai", "content": "hello"}]
    chats = [{"conversation_id": f"c{number}", "turns": said} for number in (1, 2)]
    chats.append({"id": "own", **chats[0]})
    for data in (jsonl(*chats), orjson.dumps(chats)):
        assert [case["custom_id"] for case in cases_of(data)] == ["c1", "c2", "own"]


@pytest.mark.parametrize(
    ("metadata", "is_taken"),
    [({"topic": "law"}, True), ({}, False), ("law", False), ({"log": "a" * 70_000}, False)],
    ids=["object", "empty", "text", "too large for a case"],
)
@pytest.mark.parametrize("in_list", [False, True])
def test_metadata_of_a_trace_are_those_of_its_case(
    metadata: object, is_taken: bool, in_list: bool
) -> None:
    trace = {"id": "a", "messages": MESSAGES, "metadata": metadata}
    [case] = cases_of(orjson.dumps([trace]) if in_list else jsonl(trace))
    assert case.get("metadata") == (metadata if is_taken else None)
    assert case["inputs"] == {"trace": trace}


def test_metadata_of_a_file_on_its_first_line_are_no_trace() -> None:
    about = {"metadata": {"created_on": "2025-01-01"}}
    trace = {"messages": MESSAGES}
    data = io.BytesIO(jsonl(about, trace))
    data.name = "runs.jsonl"
    blank, line = Source(data, Settings())
    assert blank.raw == b"\n"
    assert orjson.loads(line.raw) == {"custom_id": "runs.jsonl:2", "inputs": {"trace": trace}}
    # Before anything else the line is one like any other.
    case = {"custom_id": "a", "inputs": {"agent_response": "x"}}
    for rows in ([about], [about, case], [case, about], [about, about, trace]):
        assert cases_of(jsonl(*rows)) == rows


def test_cases_stay_as_they_are() -> None:
    data = jsonl({"custom_id": "a", "inputs": {"trace": NATIVE}}) + b"not JSON\n" + jsonl(NATIVE)
    assert b"".join(line.raw for line in Source(io.BytesIO(data), Settings())) == data


def test_a_line_that_is_no_json_or_a_case_is_left_as_it_is_among_traces() -> None:
    case = {"custom_id": "a", "inputs": {"trace": NATIVE}}
    lines = [line.raw for line in Source(io.BytesIO(jsonl(NATIVE, case) + b"oops\n"), Settings())]
    assert lines[1:] == [jsonl(case), b"oops\n"]


def test_two_traces_under_one_id_are_two_cases_and_one_trace_twice_is_one() -> None:
    other = {**NATIVE, "steps": []}
    names = [case["custom_id"] for case in cases_of(jsonl(NATIVE, other, NATIVE, other))]
    assert names == ["run-1", "run-1 (cases:2)", "run-1", "run-1 (cases:4)"]


@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
def test_one_document_can_be_a_trace_or_a_list_of_traces(option: int) -> None:
    assert cases_of(orjson.dumps(NATIVE, option=option)) == [
        {"custom_id": "run-1", "inputs": {"trace": NATIVE}}
    ]
    assert [
        case["custom_id"] for case in cases_of(orjson.dumps([NATIVE, MESSAGES], option=option))
    ] == [
        "run-1",
        "cases:2",
    ]
    assert cases_of(orjson.dumps(MESSAGES, option=option)) == [
        {"custom_id": "cases" if option else "cases:1", "inputs": {"trace": MESSAGES}}
    ]
    listed = {"info": {}, "simulations": [{"id": "s", "messages": MESSAGES}]}
    assert [case["custom_id"] for case in cases_of(orjson.dumps(listed, option=option))] == ["s"]


def test_a_document_can_be_a_list_of_cases() -> None:
    listed = [{"custom_id": "a", "inputs": {}}, {"custom_id": "b", "inputs": {"trace": NATIVE}}]
    assert cases_of(orjson.dumps(listed, option=orjson.OPT_INDENT_2)) == listed


@pytest.mark.parametrize("in_lines", [True, False])
def test_spans_of_one_run_are_one_case_on_whichever_lines_they_stand(*, in_lines: bool) -> None:
    told = {"gen_ai.operation.name": "chat"}
    first = export(span("aa", "1", attributes=told), span("bb", "2", attributes=told))
    second = export(span("aa", "3", parentSpanId="1"))
    data = (
        jsonl(first, second)
        if in_lines
        else orjson.dumps([first, second], option=orjson.OPT_INDENT_2)
    )
    found = cases_of(data)
    assert [case["custom_id"] for case in found] == ["aa", "bb"]
    spans = [
        [item["spanId"] for part in case["inputs"]["trace"]["resourceSpans"] for scope in part["scopeSpans"] for item in scope["spans"]]
        for case in found
    ]  # fmt: skip
    assert spans == [["1", "3"], ["2"]]


@pytest.mark.parametrize("values", [[NATIVE, MESSAGES], [NATIVE, NATIVE | {"id": "run-2"}]])
def test_indented_values_one_after_the_other_are_as_those_on_lines(values: list[Any]) -> None:
    values = [value if type(value) is dict else {"messages": value} for value in values]
    indented = b"\n".join(orjson.dumps(value, option=orjson.OPT_INDENT_2) for value in values)
    found = [case["inputs"]["trace"] for case in cases_of(indented)]
    assert found == values
    assert found == [case["inputs"]["trace"] for case in cases_of(jsonl(*values))]


def test_spans_that_a_console_exporter_printed_are_one_case_for_each_trace() -> None:
    spans = [
        {
            "name": "chat",
            "context": {"trace_id": trace_id, "span_id": str(number)},
            "attributes": {"gen_ai.operation.name": "chat"},
        }
        for number, trace_id in enumerate(("0xaa", "0xbb", "0xaa"))
    ]
    found = cases_of(b"\n".join(orjson.dumps(one, option=orjson.OPT_INDENT_2) for one in spans))
    assert [case["custom_id"] for case in found] == ["aa", "bb"]
    assert [len(case["inputs"]["trace"]) for case in found] == [2, 1]


@pytest.mark.parametrize("number", [2**64, 10**38, 2**63 - 1])
@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
def test_ids_of_spans_that_are_large_integers_become_texts(option: int, number: int) -> None:
    told = '{"trace_id": 200754113673326459792359196831899614724}'
    span = {"context": {"trace_id": 0}, "attributes": {"gen_ai.operation.name": "chat", "x": told}}
    raw = orjson.dumps({"name": "chat", **span}, option=option)
    colon = b": " if option else b":"
    raw = raw.replace(
        b'"trace_id"%b0' % colon, b'"trace_id"%b%d,"span_id"%b%d' % (colon, number, colon, number)
    )
    [case] = cases_of(raw)
    trace = case["inputs"]["trace"]
    spans = trace if type(trace) is list else [trace]
    assert spans[0]["context"] == {"trace_id": str(number), "span_id": str(number)}
    assert spans[0]["attributes"]["x"] == told


def test_a_document_on_many_lines_that_is_not_json_is_one_fault() -> None:
    document = orjson.dumps([NATIVE] * 3, option=orjson.OPT_INDENT_2)
    [line] = Source(io.BytesIO(document + b'\n]"\n'), Settings())
    assert line.fault
    assert line.fault.message == "the file goes on after its first JSON value, on line 30"
    [line] = Source(io.BytesIO(document[:-20]), Settings())
    assert line.fault
    # Where the other lines are values, the first is one of them, and only it is wrong.
    first, *others = Source(io.BytesIO(b'{"steps": [\n' + jsonl(*[NATIVE] * 30)), Settings())
    assert first.raw == b'{"steps": [\n'
    assert len(others) == 30


CLAUDE_CODE = [
    {"type": "summary", "summary": "A chat", "leafUuid": "u2"},
    {"type": "user", "uuid": "u1", "sessionId": "s-1", "message": {"role": "user", "content": "hi"}},
    {"type": "assistant", "uuid": "u2", "sessionId": "s-1", "message": {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}},
]  # fmt: skip
STREAM = [
    {"type": "system", "subtype": "init", "session_id": "s-1", "tools": []},
    {"type": "assistant", "session_id": "s-1", "message": {"role": "assistant", "content": [{"type": "text", "text": "hello"}]}},
    {"type": "result", "subtype": "success", "session_id": "s-1", "result": "hello"},
]  # fmt: skip
CODEX = [
    {"timestamp": "2025-09-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s-1"}},
    {"timestamp": "2025-09-01T10:00:01Z", "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}},
    {"timestamp": "2025-09-01T10:00:02Z", "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}},
]  # fmt: skip


@pytest.mark.parametrize("lines", [CLAUDE_CODE, STREAM, CODEX], ids=["session", "stream", "codex"])
def test_all_lines_of_a_session_are_one_case_named_after_it(lines: list[dict[str, Any]]) -> None:
    (case,) = cases_of(jsonl(*lines))
    assert case == {"custom_id": "s-1", "inputs": {"trace": lines}}
    said = [step.output for step in read_trace(case["inputs"]["trace"]).steps_of("llm")]
    assert said == ["hello"]


def test_the_messages_of_a_chat_on_lines_are_one_case() -> None:
    asked = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "look", "arguments": "{}"}}]}  # fmt: skip
    lines = [*MESSAGES, asked, {"role": "tool", "tool_call_id": "c1", "content": "some"}]
    (case,) = cases_of(jsonl(*lines))
    assert case["inputs"] == {"trace": lines}


@pytest.mark.parametrize("at", [1, 2])
def test_the_other_lines_of_a_session_of_which_some_are_damaged_are_read(at: int) -> None:
    rows = [jsonl(line) for line in CODEX]
    data = b"".join([*rows[:at], b"\n", b'{"timestamp": \n', *rows[at:]])
    case, line = Source(io.BytesIO(data), Settings())
    found = orjson.loads(case.raw)
    assert found == {"custom_id": "s-1", "inputs": {"trace": {"unread_lines": 1, "trace": CODEX}}}
    trace = read_trace(found["inputs"]["trace"])
    assert trace.steps == read_trace(CODEX).steps
    for lacking in ("llm_calls", "tool_calls", "token_usage", "cost"):
        assert lacking in trace.missing
    assert "a damaged line of the session" in trace.missing["llm_calls"]
    assert trace.not_carried == read_trace(CODEX).not_carried
    assert line.fault
    assert line.fault.code == "INVALID_JSON"
    assert line.fault.message == f"line {at + 2} of the session is not JSON"
    assert "the other lines were read" in line.fault.hint
    assert case.size + line.size == len(data)


def test_lines_of_a_session_that_are_not_utf_8_are_told_as_such() -> None:
    rows = [jsonl(line) for line in CODEX]
    data = b"".join([rows[0], '{"text": "ż"}\n'.encode("cp1250"), *rows[1:]])
    *_, line = Source(io.BytesIO(data), Settings())
    assert line.fault
    assert line.fault.code == "INVALID_UTF8"
    assert line.fault.message == "line 2 of the session is not UTF-8, or not JSON"
    assert line.fault.hint.startswith("save the file as UTF-8; ")


def test_a_document_that_is_not_utf_8_is_told_as_such_with_the_line() -> None:
    data = orjson.dumps([{"messages": MESSAGES}] * 3, option=orjson.OPT_INDENT_2)
    line, *_ = Source(io.BytesIO(data.replace(b"hello", b"\xbf")), Settings())
    assert line.fault
    assert line.fault.code == "INVALID_UTF8"
    assert line.fault.message == "line 10: byte 21 is not UTF-8: 0xbf"


def test_sessions_without_a_message_among_chats_under_ids_are_left_out_with_a_note() -> None:
    source = Source(io.BytesIO(orjson.dumps({"s1": MESSAGES, "s2": [], "s3": None})), Settings())
    (line,) = source
    assert orjson.loads(line.raw)["custom_id"] == "s1"
    note = "2 sessions in which nothing was said, or no model ran, were left out"
    assert source.notes.counts() == [note]


def test_the_first_of_many_damaged_lines_of_a_session_are_named() -> None:
    rows = [jsonl(line) for line in CODEX]
    data = b"".join([rows[0], b"oops\n", *rows[1:], *[b"{\n"] * 7])
    case, line = Source(io.BytesIO(data), Settings())
    assert orjson.loads(case.raw)["inputs"]["trace"]["unread_lines"] == 8
    assert line.fault
    assert line.fault.message == "lines 2, 5, 6, 7, 8 and 3 more of the session are not JSON"


@pytest.mark.parametrize(
    "torn", [b'{"timestamp": "2025-09-01T10:0', b"\0" * 40, b'{"a": "\xe2\x82']
)
def test_a_session_whose_last_line_is_cut_off_is_read_without_it(torn: bytes) -> None:
    data = jsonl(*CODEX) + torn
    case, line = Source(io.BytesIO(data), Settings())
    assert orjson.loads(case.raw) == {"custom_id": "s-1", "inputs": {"trace": CODEX}}
    assert line.fault
    assert (
        line.fault.message == f"line 4, the last of the session, is cut off after {len(torn)} bytes"
    )
    assert case.size + line.size == len(data)


def test_a_session_of_which_a_line_is_broken_is_left_as_it_is_if_cases_are_among_its_lines() -> (
    None
):
    case = {"custom_id": "a", "inputs": {"agent_response": "yes"}}
    data = jsonl(CODEX[0], case) + b'{"timestamp": \n'
    assert b"".join(line.raw for line in Source(io.BytesIO(data), Settings())) == data


def test_a_jaeger_export_is_a_case_for_each_of_its_traces() -> None:
    tags = [{"key": "gen_ai.operation.name", "type": "string", "value": "chat"}]
    span = {"traceID": "x", "spanID": "1", "operationName": "chat", "startTime": 1}
    listed = [
        {"traceID": name, "spans": [span | {"tags": told}], "processes": {}}
        for name, told in (("w", []), ("x", tags), ("y", tags), ("z", []))
    ]
    for data in ({"data": listed}, listed):
        found = cases_of(orjson.dumps(data))
        assert [case["custom_id"] for case in found] == ["x", "y"]
        traces = [case["inputs"]["trace"]["data"] for case in found]
        assert [[trace["traceID"] for trace in each] for each in traces] == [["x", "w", "z"], ["y"]]


def test_what_begins_like_a_document_and_is_none_is_left_as_it_is() -> None:
    for data in (
        b"[\n" + jsonl(NATIVE),
        b"{\n1\n",
        b'{"custom_id": "a",\n' + jsonl(NATIVE),
        b"[]\n",
        b"{}\n",
    ):
        assert b"".join(line.raw for line in Source(io.BytesIO(data), Settings())) == data


def test_files_of_a_folder_name_their_traces(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one.json").write_bytes(orjson.dumps(MESSAGES, option=orjson.OPT_INDENT_2))
    (tmp_path / "two.jsonl").write_bytes(jsonl(MESSAGES, NATIVE))
    cases = [orjson.loads(line.raw) for line in Source(tmp_path, Settings())]
    assert [case["custom_id"] for case in cases] == ["a/one.json", "two.jsonl:1", "run-1"]
    assert all(read_trace(case["inputs"]["trace"]).steps for case in cases)


def test_each_trace_names_its_file_if_there_may_be_several(
    tmp_path: Path,
) -> None:
    own = {"file": "main.py"}
    (tmp_path / "a.jsonl").write_bytes(
        jsonl(NATIVE | {"id": "1"}, NATIVE | {"id": "2", "metadata": {"model": "x"}})
    )
    (tmp_path / "b.jsonl").write_bytes(
        jsonl(MESSAGES, NATIVE | {"id": "1", "steps": []}, NATIVE | {"id": "3", "metadata": own})
    )

    def metadata(path: Path) -> list[Any]:
        lines = [orjson.loads(line.raw) for line in Source(path, Settings())]
        return [line.get("metadata") for line in lines]

    of_a = [{"file": "a.jsonl"}, {"file": "a.jsonl", "model": "x"}]
    of_b = [{"file": "b.jsonl"}, {"file": "b.jsonl"}, own]
    assert metadata(tmp_path) == [*of_a, *of_b]
    assert metadata(tmp_path / "a.jsonl") == [None, {"model": "x"}]


@pytest.mark.parametrize("listed", [False, True])
def test_a_document_comes_before_the_graders_as_it_was_written(*, listed: bool) -> None:
    trace = (
        b'{"steps":\n[], "steps": [{"type": "tool", "arguments": {"n": 12345678901234567890123}}]}'
    )
    document = b"[\n" + trace + b",\n" + trace + b"\n]" if listed else b"{\n" + trace[1:]
    lines = [line.raw for line in Source(io.BytesIO(document), Settings())]
    assert len(lines) == (2 if listed else 1)
    for line in lines:
        assert line.count(b'"steps"') == 2
        assert b"12345678901234567890123" in line


def test_a_trace_that_is_copied_to_other_files_is_one_case_of_the_first(tmp_path: Path) -> None:
    other = {"id": "z", "steps": []}
    for name, traces in (("a", [NATIVE, other]), ("b", [NATIVE]), ("c", [other, NATIVE])):
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl(*traces))
    lines = [line.raw for line in Source(tmp_path, Settings())]
    assert lines == [*lines[:2], lines[0], lines[1], lines[0]]
    assert orjson.loads(lines[0])["metadata"] == {"file": "a.jsonl"}


def test_two_traces_under_one_id_in_two_files_are_two_cases(tmp_path: Path) -> None:
    for name, steps in (("a", NATIVE["steps"]), ("b", []), ("c", [])):
        (tmp_path / f"{name}.jsonl").write_bytes(jsonl({"id": "z", "steps": steps}))
    cases = [orjson.loads(line.raw) for line in Source(tmp_path, Settings())]
    assert [case["custom_id"] for case in cases] == ["z", "z (b.jsonl:1)", "z (c.jsonl:1)"]


@given(
    st.lists(
        st.sampled_from([jsonl(NATIVE), jsonl(MESSAGES), b"\n", b"[\n", b"oops\n", b'{"a": 1}\n']),
        max_size=8,
    )
)
def test_no_line_is_lost_whatever_the_mixture(rows: list[bytes]) -> None:
    lines = list(Source(io.BytesIO(b"".join(rows)), Settings()))
    assert len(lines) == len(rows)
    assert sum(line.size for line in lines) == sum(map(len, rows))


@pytest.mark.parametrize("format_id", ["langsmith", "weave", "langfuse"])
def test_records_on_lines_are_gathered_by_their_trace(format_id: str) -> None:
    records: list[dict[str, Any]] = {
        "langsmith": [
            {key: item for key, item in run.items() if key != "child_runs"}
            for run in (LOGS["langsmith"], *LOGS["langsmith"]["child_runs"])
        ],
        "weave": LOGS["weave"],
        "langfuse": LOGS["langfuse"]["observations"],
    }[format_id]
    name = "traceId" if format_id == "langfuse" else "trace_id"
    other = [record | {name: "other"} for record in records]
    for listed, expected in ((records, 1), ([*records, *other], 2)):
        cases = cases_of(jsonl(*listed))
        assert len(cases) == expected
        for case in cases:
            assert read_trace(case["inputs"]["trace"]).format == format_id


def test_the_lines_of_a_log_of_requests_and_answers_are_one_trace() -> None:
    log = LOGS["request-log"]
    assert [case["inputs"]["trace"] for case in cases_of(jsonl(*log))] == [log]
    other = [{**log[0], "messages": [{"role": "user", "content": "Else."}]}, log[1]]
    cases = cases_of(jsonl(*log, *other))
    assert [case["inputs"]["trace"] for case in cases] == [log, other]


def test_a_log_of_requests_whose_last_line_was_cut_off_is_read_without_it() -> None:
    log = LOGS["request-log"]
    first, last = Source(io.BytesIO(jsonl(*log[:3]) + b'{"id": "chat'), Settings())
    assert orjson.loads(first.raw)["inputs"]["trace"] == log[:3]
    assert last.fault
    assert last.fault.message == "line 4, the last of the session, is cut off after 12 bytes"


@pytest.mark.parametrize("other", [MESSAGES, {"messages": MESSAGES}, NATIVE])
def test_lines_of_which_not_all_are_of_a_log_are_a_trace_each(other: Any) -> None:
    listed = [*LOGS["request-log"][:2], other]
    assert [case["inputs"]["trace"] for case in cases_of(jsonl(*listed))] == listed


def test_contents_of_gemini_on_lines_are_one_trace() -> None:
    contents = [
        {"role": "user", "parts": [{"text": "Find x."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "search", "args": {}}}]},
    ]
    assert [case["inputs"]["trace"] for case in cases_of(jsonl(*contents))] == [contents]


def test_blank_lines_in_a_log_of_requests_and_answers_are_passed_over() -> None:
    log = LOGS["request-log"]
    data = b"\n\n".join(jsonl(each) for each in log)
    assert [case["inputs"]["trace"] for case in cases_of(data)] == [log]
    assert sum(line.size for line in Source(io.BytesIO(data), Settings())) == len(data)


def with_half_a_pair(raw: bytes) -> bytes:
    """Return JSON in which the text `hello` has an escape that UTF-8 cannot carry."""
    return raw.replace(b"hello", rb"h\\ud83d \ud83d\ude00 \ud83d")


SESSION = [
    {"type": "user", "sessionId": "s", "uuid": "1", "message": MESSAGES[0]},
    {"type": "assistant", "sessionId": "s", "uuid": "2", "message": {"id": "m", **MESSAGES[1]}},
]


@pytest.mark.parametrize(
    "data",
    [
        orjson.dumps({"messages": MESSAGES}, option=orjson.OPT_INDENT_2),
        orjson.dumps([{"messages": MESSAGES}, {"messages": MESSAGES, "id": "b"}]),
        jsonl({"messages": MESSAGES}, {"messages": MESSAGES, "id": "b"}),
        jsonl({"messages": [MESSAGES[0]]}, {"messages": MESSAGES}),
        jsonl(*SESSION),
        jsonl(*SESSION) + b'{"type": "user", "mess',
    ],
    ids=["document", "list", "lines", "later line", "session", "cut session"],
)
def test_half_a_surrogate_pair_in_a_trace_becomes_the_replacement_character(data: bytes) -> None:
    lines = [
        line for line in Source(io.BytesIO(with_half_a_pair(data)), Settings()) if line.raw.strip()
    ]
    said = [
        str(step.output)
        for line in lines
        for step in read_trace(orjson.loads(line.raw)["inputs"]["trace"]).steps
        if step.type == "llm"
    ]
    assert said == ["h\\ud83d \U0001f600 \ufffd"] * data.count(b"hello")


def test_cases_with_half_a_surrogate_pair_are_not_changed() -> None:
    case = orjson.dumps({"custom_id": "a", "inputs": {"agent_response": "hello"}})
    data = with_half_a_pair(case)
    [line] = Source(io.BytesIO(data), Settings())
    assert line.raw.strip() == data


def test_a_list_of_cases_with_half_a_surrogate_pair_is_refused() -> None:
    case = {"custom_id": "a", "inputs": {"agent_response": "hello"}}
    [line] = Source(io.BytesIO(with_half_a_pair(orjson.dumps([case]))), Settings())
    assert line.fault is not None
    assert line.fault.code == "LONE_SURROGATE"


@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
def test_chats_under_ids_are_cases_named_after_them(option: int) -> None:
    chats = {"": {"session_1": {"messages": MESSAGES}, "session_2": MESSAGES}}
    found = [(case["custom_id"], case["inputs"]["trace"]) for case in cases_of(orjson.dumps(chats, option=option))]  # fmt: skip
    assert found == [("session_1", {"messages": MESSAGES}), ("session_2", MESSAGES)]

"""Databases of agents: each session becomes a trace, what cannot be read is an error or leaves lower bounds."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from support.databases import (
    ITEMS,
    LANGGRAPH_ASKED,
    MASTRA_TRACES,
    MLFLOW_ROWS,
    MLFLOW_SPANS,
    OPEN_WEBUI_ROWS,
    SDK_ROWS,
    STORES,
    faults_in,
    lines_of,
    traces_in,
    write,
)
from support.flatted import flatted
from support.jsonb import jsonb
from support.trace_examples.agent_frameworks import (
    AGNO,
    AGNO_ROWS,
    MASTRA,
    MASTRA_OWN_SPANS,
    MASTRA_SPANS,
)
from support.trace_examples.chat_apps import OPEN_WEBUI
from support.trace_examples.command_line_agents import CRUSH, GOOSE_STORED, OPENCODE_STORED
from support.trace_examples.flow_builders import (
    FLOWISE,
    FLOWISE_CHAT,
    FLOWISE_EXECUTION,
    N8N_DATA,
    N8N_ROW,
    N8N_STORED,
)
from support.trace_examples.multi_agent_frameworks import AUTOGEN_STUDIO
from support.trace_examples.personal_agents import HERMES_STORED
from support.trace_examples.vendor_sdks import GOOGLE_ADK_ROWS
from weighbridge.errors import TraceError
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.files.databases import stored_sessions
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("store", STORES)
def test_each_session_of_a_store_is_a_trace(store: str, tmp_path: Path) -> None:
    tables, wanted = STORES[store]
    lines = lines_of(write(tmp_path / "a.db", tables))
    assert traces_in(lines) == wanted
    assert [line.custom_id for line in lines] == [trace.id for trace in wanted]


def test_each_trace_of_mlflow_is_read_from_its_spans(tmp_path: Path) -> None:
    lines = lines_of(write(tmp_path / "mlflow.db", {"spans": MLFLOW_ROWS}, MLFLOW_SPANS))
    assert [line.custom_id for line in lines] == ["tr-1", "tr-2"]
    first, second = traces_in(lines)
    assert sorted((step.type, step.name or step.output) for step in first.steps) == [
        ("agent", "agent"),
        ("llm", "It is there."),
        ("tool", "tool"),
        ("user", "Find x."),
    ]
    assert len(second.steps_of("llm")) == 1


def test_a_span_of_mlflow_that_cannot_be_read_leaves_lower_bounds_in_its_trace(
    tmp_path: Path,
) -> None:
    rows = [*MLFLOW_ROWS, MLFLOW_ROWS[1] | {"span_id": "e", "content": "{"}]
    first, second = traces_in(lines_of(write(tmp_path / "a.db", {"spans": rows}, MLFLOW_SPANS)))
    assert "tool_calls" in first.missing
    assert "llm_calls" not in second.missing


def test_a_database_of_mlflow_without_spans_says_how_to_export_its_traces(tmp_path: Path) -> None:
    tables = {"trace_info": [{"request_id": "r"}], "trace_tags": [{"key": "k"}]}
    [line] = lines_of(write(tmp_path / "a.db", tables))
    assert line.fault
    assert "search_traces" in line.fault.hint


@pytest.mark.parametrize("table", ["flowstyle", "vertex_build"])
def test_a_database_of_langflow_says_how_to_get_its_traces(table: str, tmp_path: Path) -> None:
    tables = {"flow": [{"id": "f", "data": "{}"}], table: [{"id": "b", "flow_id": "f"}]}
    [line] = lines_of(write(tmp_path / "a.db", tables))
    assert line.fault
    assert "this is the store of Langflow" in line.fault.hint


HERMES_TOTALS = (
    *("api_call_count", "tool_call_count", "input_tokens", "output_tokens"),
    *("cache_read_tokens", "cache_write_tokens", "estimated_cost_usd"),
)
#: In each store, a chat of one message, which nobody has answered.
UNANSWERED: dict[str, dict[str, list[dict[str, Any]]]] = {
    "ADK": {"events": GOOGLE_ADK_ROWS[:1]},
    "Agents SDK": {"agent_messages": SDK_ROWS[:1]},
    "AutoGen Studio": {
        "run": [AUTOGEN_STUDIO["session"]],
        "message": AUTOGEN_STUDIO["rows"][:1],
    },
    "Crush": {"sessions": [CRUSH["session"] | {"cost": 0}], "messages": CRUSH["rows"][:1]},
    "Goose": {
        "sessions": [
            {name: GOOSE_STORED["session"][name] for name in ("id", "working_dir")}
        ],
        "messages": GOOSE_STORED["rows"][:1],
    },
    "Hermes": {
        "sessions": [
            HERMES_STORED["session"] | dict.fromkeys(HERMES_TOTALS, 0) | {"system_prompt": None}
        ],
        "messages": HERMES_STORED["rows"][:1],
    },
    "LangGraph": {"checkpoints": [LANGGRAPH_ASKED]},
    "Mastra": {"mastra_threads": [MASTRA["session"]], "mastra_messages": MASTRA["rows"][:1]},
    "Open WebUI": {
        "chat": [
            OPEN_WEBUI_ROWS[0]
            | {"chat": json.dumps({"history": {"currentId": "1", "messages": {"1": OPEN_WEBUI["chat"]["history"]["messages"]["1"]}}})}
        ]
    },
    "Flowise": {"chat_message": FLOWISE_CHAT[:1]},
    "opencode": {
        "session": [
            {
                name: held
                for name, held in OPENCODE_STORED["session"].items()
                if name != "cost" and not name.startswith("tokens")
            }
        ],
        "message": OPENCODE_STORED["rows"][:1],
        "part": OPENCODE_STORED["parts"][:1],
    },
}  # fmt: skip


@pytest.mark.parametrize("store", UNANSWERED)
def test_a_chat_that_nobody_has_answered_has_no_calls_in_any_store(
    store: str, tmp_path: Path
) -> None:
    [trace] = traces_in(lines_of(write(tmp_path / "a.db", UNANSWERED[store])))
    assert [step.type for step in trace.steps] == ["user"]
    assert not {"llm_calls", "tool_calls"} & trace.missing.keys()


def test_a_store_is_read_from_a_pipe_and_compressed_too(sdk: Path, tmp_path: Path) -> None:
    wanted = traces_in(lines_of(sdk))
    packed = tmp_path / "packed.db.gz"
    packed.write_bytes(gzip.compress(sdk.read_bytes()))
    assert traces_in(lines_of(io.BytesIO(sdk.read_bytes()))) == wanted
    assert traces_in(lines_of(packed)) == wanted


def test_another_database_is_refused_with_the_names_of_its_tables(tmp_path: Path) -> None:
    names = [*(f"t{number}" for number in range(12)), '"x\x1b[31m"', "messages"]
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as base:
        for name in reversed(names):
            base.execute(f"CREATE TABLE {name} (session_id, role, content)")
    [(code, message)] = faults_in(lines_of(path))
    assert code == "INVALID_JSON"
    assert "its tables are messages, x\\x1b[31m, t11, t10, t9, t8, t7, t6 and 6 more" in message


@pytest.mark.parametrize(
    ("tables", "advice"),
    [
        ({"checkpoints": [{"thread_id": 1}], "writes": [{"idx": 1}]}, "get_state_history"),
        ({"ItemTable": [{"key": "composer.composerData", "value": "{}"}]}, "export each chat"),
    ],
)
def test_a_database_that_another_export_helps_with_says_which(
    tables: dict[str, list[dict[str, Any]]], advice: str, tmp_path: Path
) -> None:
    [line] = lines_of(write(tmp_path / "a.db", tables))
    assert line.fault
    assert advice in line.fault.hint


def test_a_store_without_rows_says_so(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.db", {}, "CREATE TABLE agent_messages (id, session_id, message_data)"
    )
    [(code, message)] = faults_in(lines_of(path))
    assert code == "NO_SESSIONS"
    assert "no sessions yet: there are no rows in agent_messages" in message


def test_a_store_with_rows_of_empty_sessions_says_so(tmp_path: Path) -> None:
    rows = [{**AGNO_ROWS[0], "runs": "[]"}]
    [(code, message)] = faults_in(lines_of(write(tmp_path / "a.db", {"agno_sessions": rows})))
    assert code == "NO_SESSIONS"
    assert "no sessions yet: the rows of agno_sessions have no runs" in message


def test_the_telemetry_of_mastra_is_read_if_there_are_no_messages(tmp_path: Path) -> None:
    empty = "CREATE TABLE mastra_messages (id, thread_id, content, role, type, createdAt)"
    threads = {"mastra_threads": [MASTRA["session"]]}
    spans = {"mastra_traces": MASTRA_SPANS}
    source = Source(write(tmp_path / "a.db", {**threads, **spans}, empty), Settings())
    assert traces_in(source) == MASTRA_TRACES
    assert source.notes.empty_sessions == 2  # the thread, and what was no run
    both = {**threads, **spans, "mastra_messages": MASTRA["rows"]}
    assert [trace.format for trace in traces_in(lines_of(write(tmp_path / "b.db", both)))] == ["mastra"]  # fmt: skip
    started = {"mastra_traces": MASTRA_SPANS[-1:]}
    [(code, message)] = faults_in(lines_of(write(tmp_path / "c.db", {**threads, **started}, empty)))
    assert (code, "have no model calls" in message) == ("NO_SESSIONS", True)


def test_the_spans_of_mastra_are_read_if_there_are_no_messages(tmp_path: Path) -> None:
    empty = "CREATE TABLE mastra_messages (id, thread_id, content, role, type, createdAt)"
    threads = {"mastra_threads": [MASTRA["session"]]}
    workflow = {**MASTRA_OWN_SPANS[0], "traceId": "t2", "spanType": "workflow_run"}
    spans = {"mastra_ai_spans": [workflow, *MASTRA_OWN_SPANS]}
    old = {"mastra_traces": MASTRA_SPANS}
    source = Source(write(tmp_path / "a.db", {**threads, **spans, **old}, empty), Settings())
    assert traces_in(source) == [read_trace(MASTRA_OWN_SPANS)]
    assert source.notes.empty_sessions == 2  # the thread, and the workflow without an agent
    only = {**threads, "mastra_ai_spans": [workflow]}
    [(code, message)] = faults_in(lines_of(write(tmp_path / "b.db", only, empty)))
    assert (code, "no agents, model calls or tool calls" in message) == ("NO_SESSIONS", True)


def test_the_result_of_a_run_of_autogen_studio_is_read_without_the_messages_in_it(
    tmp_path: Path,
) -> None:
    messages = json.loads(AUTOGEN_STUDIO["rows"][0]["config"])
    result = {"task_result": {"messages": [messages]}, "usage": "", "duration": 19.5}
    run = AUTOGEN_STUDIO["session"] | {"team_result": json.dumps(result)}
    path = write(tmp_path / "a.db", {"run": [run], "message": AUTOGEN_STUDIO["rows"]})
    [line] = lines_of(path)
    assert b"task_result" not in line.raw
    [trace] = traces_in([line])
    assert trace == replace(read_trace(AUTOGEN_STUDIO), duration_ms=19_500)


THREAD = MASTRA["rows"][0]["thread_id"]


def _without_threads() -> list[dict[str, Any]]:
    """Return spans of a table as the first versions had it."""
    return [
        {name: cell for name, cell in row.items() if name != "threadId"} for row in MASTRA_OWN_SPANS
    ]


@pytest.mark.parametrize(
    "named",
    [
        {"threadId": THREAD},
        {"metadata": json.dumps({"threadId": THREAD})},
        {"metadata": jsonb({"threadId": THREAD})},
    ],
    ids=["column", "metadata", "binary metadata"],
)
@pytest.mark.parametrize("number", [0, 4])
def test_spans_of_a_thread_of_mastra_that_has_messages_are_left_out(
    tmp_path: Path, named: dict[str, Any], number: int
) -> None:
    spans = [
        row | (named if at == number else dict.fromkeys(named))
        for at, row in enumerate(_without_threads())
    ]
    threads = {"mastra_threads": [MASTRA["session"]], "mastra_messages": MASTRA["rows"]}
    [trace] = traces_in(lines_of(write(tmp_path / "a.db", {"mastra_ai_spans": spans, **threads})))
    assert trace.format == "mastra"
    assert "tables with spans of this thread: mastra_ai_spans (1)" in trace.not_carried
    assert "the spans of this thread do" in trace.missing["token_usage"]
    assert trace.steps == read_trace(MASTRA).steps


def test_spans_of_a_thread_of_mastra_without_an_answer_are_a_trace_of_their_own(
    tmp_path: Path,
) -> None:
    asked = {"mastra_threads": [MASTRA["session"]], "mastra_messages": MASTRA["rows"][:1]}
    spans = [row | {"threadId": THREAD} for row in MASTRA_OWN_SPANS]
    path = write(tmp_path / "a.db", {**asked, "mastra_ai_spans": spans})
    thread, trace = traces_in(lines_of(path))
    assert thread == read_trace({"session": MASTRA["session"], "rows": MASTRA["rows"][:1]})
    assert trace == read_trace(spans)


_OF_THREAD, _OF_NONE = {"threadId": THREAD}, {"threadId": None}


@pytest.mark.parametrize(
    ("root", "inside", "are_left_out"),
    [
        (("workflow_run", _OF_NONE), (_OF_THREAD, _OF_NONE), False),
        (("workflow_run", _OF_NONE), (_OF_THREAD, {"threadId": "other"}), False),
        (("workflow_run", _OF_NONE), (_OF_THREAD, _OF_THREAD), True),
        (("workflow_run", _OF_THREAD), (_OF_NONE, _OF_NONE), True),
        (("agent_run", _OF_NONE), (_OF_THREAD, _OF_NONE), False),
        (("agent_run", _OF_THREAD), (_OF_NONE, _OF_NONE), True),
        (("scorer_run", _OF_NONE), (_OF_NONE, _OF_NONE), True),
    ],
    ids=[
        *("one of two", "another thread", "both", "workflow names it"),
        *("inner agent", "outer agent", "agents of a scorer"),
    ],
)
def test_spans_of_mastra_are_left_out_if_each_outermost_agent_is_of_a_thread_with_an_answer(
    tmp_path: Path,
    root: tuple[str, dict[str, Any]],
    inside: tuple[dict[str, Any], ...],
    are_left_out: bool,
) -> None:
    kind, named = root
    spans = [MASTRA_OWN_SPANS[0] | {"spanId": "root", "spanType": kind} | named]
    for name, of_agent in zip("ab", inside, strict=True):
        spans += [
            row
            | {"spanId": name + row["spanId"], "parentSpanId": name + (row["parentSpanId"] or "")}
            | of_agent
            for row in MASTRA_OWN_SPANS
        ]
        spans[-len(MASTRA_OWN_SPANS)]["parentSpanId"] = "root"
    if kind == "scorer_run":
        spans += [row | _OF_THREAD for row in MASTRA_OWN_SPANS]
    threads = {"mastra_threads": [MASTRA["session"]], "mastra_messages": MASTRA["rows"]}
    found = traces_in(lines_of(write(tmp_path / "a.db", {**threads, "mastra_ai_spans": spans})))
    formats = ["mastra"] if are_left_out else ["mastra", "mastra-spans"]
    assert [trace.format for trace in found] == formats


def test_a_thread_of_mastra_whose_messages_cannot_be_read_is_not_said_to_have_spans(
    tmp_path: Path,
) -> None:
    rows = [row | {"thread_id": 5} for row in MASTRA["rows"]]
    threads = {"mastra_threads": [MASTRA["session"] | {"id": 5}], "mastra_messages": rows}
    [(code, message)] = faults_in(lines_of(write(tmp_path / "a.db", threads)))
    assert code == "INVALID_JSON"
    assert "no message, model call, tool call or agent that can be read" in message


@pytest.mark.parametrize(
    "named",
    [{}, {"threadId": None}, {"threadId": "other"}, {"metadata": "no JSON"}, {"metadata": b"\x0f"}],
)
def test_spans_of_no_thread_of_mastra_that_has_messages_are_traces_of_their_own(
    tmp_path: Path, named: dict[str, Any]
) -> None:
    spans = [row | named for row in _without_threads()]
    threads = {"mastra_threads": [MASTRA["session"]], "mastra_messages": MASTRA["rows"]}
    thread, trace = traces_in(
        lines_of(write(tmp_path / "a.db", {**threads, "mastra_ai_spans": spans}))
    )
    assert thread == read_trace(MASTRA)
    assert trace.steps == read_trace(MASTRA_OWN_SPANS).steps


def test_spans_in_binary_json_are_read_as_those_in_text(tmp_path: Path) -> None:
    binary = [
        {
            column: jsonb(json.loads(cell)) if column in {"attributes", "input", "output", "error"} and cell else cell
            for column, cell in row.items()
        }
        for row in MASTRA_OWN_SPANS
    ]  # fmt: skip
    lines = lines_of(write(tmp_path / "a.db", {"mastra_ai_spans": binary}))
    assert traces_in(lines) == [read_trace(MASTRA_OWN_SPANS)]


def test_sessions_that_others_started_are_part_of_the_first_one(tmp_path: Path) -> None:
    about, parents = OPENCODE_STORED["session"], {"s": None, "t": "s", "u": "t", "v": "w", "w": "v"}
    sessions = [{**about, "id": name, "parent_id": parent} for name, parent in parents.items()]
    rows, parts = (
        [
            {key: f"{name}-{held}" if "id" in key and key != "session_id" else held for key, held in row.items()}
            | {"session_id": name}
            for name in parents
            for row in OPENCODE_STORED[kind]
        ]
        for kind in ("rows", "parts")
    )  # fmt: skip
    tables = {"session": sessions, "message": rows, "part": parts}
    one = read_trace(OPENCODE_STORED)
    first, other = traces_in(lines_of(write(tmp_path / "a.db", tables)))
    assert first.id == "s"
    assert len(first.steps) == 3 * len(one.steps)
    assert len(other.steps) == 2 * len(one.steps)
    assert first.metadata["sub_sessions"] == 2
    for session in sessions:
        session["tokens_output"] = 90
    first, _ = traces_in(lines_of(write(tmp_path / "b.db", tables)))
    assert (first.usage.output_tokens, first.totals_from) == (
        3 * 91,
        "tokens and cost of the session",
    )


def test_a_session_whose_messages_have_no_parts_yet_is_read(tmp_path: Path) -> None:
    tables = {"session": [OPENCODE_STORED["session"]], "message": OPENCODE_STORED["rows"][:1]}
    part = "CREATE TABLE part (id, message_id, session_id, data)"
    [trace] = traces_in(lines_of(write(tmp_path / "a.db", tables, part)))
    assert [step.type for step in trace.steps] == ["user"]


def test_a_run_of_a_team_of_agno_counts_once_although_its_member_has_a_table(
    tmp_path: Path,
) -> None:
    member, alone = ({**AGNO, "run_id": name} for name in ("member", "alone"))
    team = {**AGNO, "run_id": "team", "member_responses": [member]}
    row = {"session_id": "s", "session_data": "{}"}
    tables = {
        "finder": [{**row, "agent_id": "a", "memory": json.dumps({"runs": [member, alone]})}],
        "crew": [{**row, "team_id": "t", "memory": json.dumps({"runs": [team]})}],
    }
    traces = traces_in(lines_of(write(tmp_path / "a.db", tables)))
    assert [trace.id for trace in traces] == ["alone", "team"]


@pytest.mark.parametrize("is_reversed", [False, True])
def test_a_run_of_a_team_of_agno_counts_once_whatever_the_order_of_the_rows(
    is_reversed: bool, tmp_path: Path
) -> None:
    member, alone = ({**AGNO, "run_id": name} for name in ("member", "alone"))
    inner = {**AGNO, "run_id": "inner", "member_responses": [member]}
    team = {**AGNO, "run_id": "team", "member_responses": [inner]}
    rows = [
        {**AGNO_ROWS[0], "session_id": name, "team_id": None, "runs": json.dumps(runs)}
        for name, runs in (("a", [member, alone]), ("b", [inner]), ("c", [team]))
    ]
    path = write(tmp_path / "a.db", {"agno_sessions": rows[::-1] if is_reversed else rows})
    assert {trace.id for trace in traces_in(lines_of(path))} == {"alone", "team"}


def test_rows_of_agno_that_cannot_be_read_do_not_end_the_search_for_members(tmp_path: Path) -> None:
    odd = [
        None,
        5,
        b"\xff",
        "member_responses",
        '["member_responses"]',
        '{"member_responses": [1]}',
    ]
    rows = [
        {**AGNO_ROWS[0], "session_id": str(at), "team_id": None, "runs": runs}
        for at, runs in enumerate([*odd, AGNO_ROWS[1]["runs"]])
    ]
    lines = lines_of(write(tmp_path / "a.db", {"agno_sessions": rows}))
    assert len(traces_in(lines)) == 2


def test_each_run_in_the_table_of_agno_3_is_a_trace(tmp_path: Path) -> None:
    rows = [
        {"run_id": name, "session_id": "s", "run_type": "agent", "run_data": json.dumps(run)}
        for name in ("r1", "r2")
        for run in [{**AGNO, "run_id": name}]
    ]
    sessions = [{"session_id": "s", "session_type": "agent"}]
    path = write(tmp_path / "a.db", {"agno_sessions": sessions, "agno_runs": rows})
    assert [trace.id for trace in traces_in(lines_of(path))] == ["r1", "r2"]


def test_sessions_of_agno_without_runs_are_left_out(tmp_path: Path) -> None:
    rows = [
        {**AGNO_ROWS[0], "session_id": str(at), "runs": runs}
        for at, runs in enumerate([None, "[]", "null"])
    ]
    lines = lines_of(write(tmp_path / "a.db", {"agno_sessions": [*rows, *AGNO_ROWS]}))
    assert len(traces_in(lines)) == len(lines) == 4


#: The row with which a session of Hermes begins on a messenger.
HERMES_ABOUT = {
    **dict.fromkeys(HERMES_STORED["rows"][0]),
    "id": 99,
    "session_id": "i",
    "role": "session_meta",
    "timestamp": 1735732800.0,
    "active": 1,
}
#: The data of an execution in which only a node of the workflow ran.
N8N_WITHOUT_RUNS = flatted(
    {"resultData": {"runData": {"Set": N8N_DATA["resultData"]["runData"]["Set"]}}}
)


@pytest.mark.parametrize(
    ("tables", "empty"),
    [
        (
            {
                "sessions": [{"app_name": "app", "user_id": "u", "id": name} for name in ("s", "x", "y")],
                "events": GOOGLE_ADK_ROWS,
            },
            2,
        ),
        ({"agent_sessions": [{"session_id": name} for name in "stu"], "agent_messages": SDK_ROWS}, 1),
        ({"agno_sessions": [{**AGNO_ROWS[0], "session_id": "x", "runs": "[]"}, *AGNO_ROWS]}, 1),
        (STORES["Crush"][0], 1),
        (
            {
                "sessions": [HERMES_STORED["session"], HERMES_STORED["session"] | {"id": "i"}],
                "messages": [*HERMES_STORED["rows"], HERMES_ABOUT],
            },
            1,
        ),
        (STORES["Open WebUI"][0], 0),
        ({"agent_sessions": [{"session_id": 1}], "agent_messages": SDK_ROWS}, 1),
        ({"agent_sessions": [{"name": "s"}], "agent_messages": SDK_ROWS}, 0),
        (
            {
                "execution_entity": [N8N_STORED["session"] | {"id": number} for number in (7, 8, 9)],
                "execution_data": [N8N_ROW, N8N_ROW | {"executionId": 8, "data": N8N_WITHOUT_RUNS}],
            },
            2,
        ),
        (
            {
                "chat_message": FLOWISE_CHAT,
                "execution": [FLOWISE_EXECUTION | {"sessionId": "t", "executionData": "[]"}],
            },
            1,
        ),
    ],
)  # fmt: skip
def test_empty_sessions_are_counted(
    tables: dict[str, list[dict[str, Any]]], empty: int, tmp_path: Path
) -> None:
    source = Source(write(tmp_path / "a.db", tables), Settings())
    assert list(source)
    assert source.notes.empty_sessions == empty
    assert source.notes.counts() == ([source.notes.empty_sessions_note()] if empty else [])


@pytest.mark.parametrize(
    ("tables", "why"),
    [
        (
            {"execution_entity": [N8N_STORED["session"]], "execution_data": [N8N_ROW | {"data": N8N_WITHOUT_RUNS}]},
            "the rows of execution_data have no run of a model or tool",
        ),
        (
            {"chat_message": FLOWISE[:2], "execution": [FLOWISE_EXECUTION | {"executionData": "[]"}]},
            "the rows of chat_message have no chat, and no run of a model or tool",
        ),
        (
            {"sessions": [HERMES_STORED["session"]], "messages": [HERMES_ABOUT]},
            "the rows of messages have no message of a user or a model",
        ),
    ],
)  # fmt: skip
def test_a_database_in_which_no_session_tells_anything_is_an_error_that_says_so(
    tables: dict[str, list[dict[str, Any]]], why: str, tmp_path: Path
) -> None:
    [(code, text)] = faults_in(lines_of(write(tmp_path / "a.db", tables)))
    assert code == "NO_SESSIONS"
    assert why in text


def test_an_execution_of_n8n_with_damaged_data_is_an_error(tmp_path: Path) -> None:
    damaged = N8N_ROW | {
        "executionId": 8,
        "data": '[{"resultData":"1"},{"runData":"2"},{"Set":"9"}]',
    }
    entities = [N8N_STORED["session"], N8N_STORED["session"] | {"id": 8}]
    tables = {"execution_entity": entities, "execution_data": [N8N_ROW, damaged]}
    lines = lines_of(write(tmp_path / "a.db", tables))
    first, second = lines
    assert first.fault is None
    with pytest.raises(TraceError, match="leads to no value"):
        read_trace(json.loads(second.raw)["inputs"]["trace"])


def test_a_damaged_row_leaves_lower_bounds_in_its_session_alone(tmp_path: Path) -> None:
    rows = [{**SDK_ROWS[0], "message_data": "{"}, *SDK_ROWS[1:]]
    first, second = traces_in(lines_of(write(tmp_path / "a.db", {"agent_messages": rows})))
    assert "tool_calls" in first.missing
    assert "tool_calls" not in second.missing


#: The columns with what was said, by store.
SAID = {
    "ADK": ("event_data",),
    "ADK before 1.22": ("author", "content", "usage_metadata"),
    "Agents SDK": ("message_data",),
    "Agno 2": ("runs",),
    "Agno 1": ("memory",),
    "Goose": ("role", "content_json"),
    "Hermes": ("role", "content", "tool_calls"),
    "Crush": ("role", "parts"),
    "Mastra": ("role", "content"),
    "Mastra's telemetry": ("attributes",),
    "Mastra's spans": ("attributes", "spanType"),
    "opencode": ("data",),
    "LangGraph": ("checkpoint",),
    "Phoenix": ("attributes",),
    "AutoGen Studio": ("config",),
    "Open WebUI": ("chat",),
    "n8n": ("data",),
    "Flowise": ("role", "content"),
    "Flowise before 3": ("role", "content"),
}


@pytest.mark.parametrize("store", STORES)
def test_rows_that_are_no_text_are_lower_bounds_wherever_they_stand(
    store: str, tmp_path: Path
) -> None:
    tables, _ = STORES[store]
    name = next(
        name
        for name in tables
        if name
        not in {"sessions", "session", "run", "traces", "mastra_threads", "execution_entity"}
    )
    # The spans of a trace have no other id.
    rows = [{**row, "id": None} if "id" in row and "traceId" not in row else row for row in tables[name]]  # fmt: skip
    keys = (
        "trace_rowid",
        "traceId",
        "run_id",
        "session_id",
        "sessionId",
        "executionId",
        "thread_id",
        "id",
    )
    key = next(key for key in keys if key in rows[0])
    rows = [row for row in rows if row[key] == rows[0][key]]
    rows *= 1 + 20 // len(rows)
    for column in SAID[store]:
        for odd in (b"\xff", 5):
            path = tmp_path / f"{column}{odd!r}.db"
            changed = [*rows, {**rows[0], column: odd}]
            lines = lines_of(write(path, {**tables, name: changed}))
            found = traces_in(lines)
            assert found
            assert faults_in(lines) == []
            assert all("tool_calls" in trace.missing for trace in found), (column, odd)


def test_values_of_other_types_end_in_a_trace_or_an_error(tmp_path: Path) -> None:
    odd: list[Any] = [None, 1, 1.5, float("inf"), b"\xff\x00", "", "\ud7ff", "[" * 5000, 2**62]
    for store, (tables, _) in STORES.items():
        for at, value in enumerate(odd):
            changed = {
                name: [{**row, **dict.fromkeys([*row][number % len(row) :], value)} for number, row in enumerate(rows)]
                for name, rows in tables.items()
            }  # fmt: skip
            lines = lines_of(write(tmp_path / f"{store}{at}.db", changed))
            assert lines
            for line in lines:
                assert line.fault or json.loads(line.raw)


def test_a_session_over_the_limit_is_one_error_and_the_others_are_read(sdk: Path) -> None:
    content = json.dumps({"role": "user", "content": "x" * 2_500})
    with closing(sqlite3.connect(sdk)) as base, base:
        for number in range(2):
            base.execute("INSERT INTO agent_messages VALUES (?, 's', ?)", (number, content))
    lines = lines_of(io.BytesIO(sdk.read_bytes()), line_limit_bytes=4_000)
    assert [trace.id for trace in traces_in(lines)] == ["t"]
    assert [code for code, _ in faults_in(lines)] == ["LINE_TOO_LONG"]


def test_a_row_over_the_limit_leaves_lower_bounds_in_its_session(sdk: Path) -> None:
    content = json.dumps({"role": "user", "content": "x" * 5_000})
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("INSERT INTO agent_messages VALUES (9, 's', ?)", (content,))
    lines = lines_of(io.BytesIO(sdk.read_bytes()), line_limit_bytes=4_000)
    assert ["tool_calls" in trace.missing for trace in traces_in(lines)] == [True, False]
    assert [code for code, _ in faults_in(lines)] == ["LINE_TOO_LONG"]


def test_a_long_session_of_a_file_is_graded_in_the_native_form(sdk: Path) -> None:
    result = {"type": "function_call_output", "call_id": "c", "output": "x", "unread": "y" * 9_000}
    with closing(sqlite3.connect(sdk)) as base, base:
        base.execute("INSERT INTO agent_messages VALUES (9, 's', ?)", (json.dumps(result),))
    lines = lines_of(sdk, line_limit_bytes=6_000)
    assert sorted(str(trace.id) for trace in traces_in(lines)) == ["s", "t"]


def test_a_folder_is_read_with_known_stores_and_without_other_databases(sdk: Path) -> None:
    write(sdk.with_name("other.db"), {"t": [{"a": 1}]})
    sdk.with_name("noise.db").write_bytes(b"no database")
    source = Source(sdk.parent, Settings())
    assert [str(file) for file in source.files] == [str(sdk)]
    assert len(list(source)) == 2
    note = source.skipped_note()
    assert note.startswith("2 files skipped (noise.db, other.db)")
    assert "and databases and Markdown of known agents" in note


def test_a_folder_is_read_with_a_store_whose_tables_are_in_its_log_alone(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("CREATE TABLE agent_messages (session_id, message_data)")
        writer.execute("INSERT INTO agent_messages VALUES ('s', ?)", (json.dumps(ITEMS[0]),))
        assert [trace.id for trace in traces_in(lines_of(tmp_path))] == ["s"]


def test_a_large_log_is_not_copied_to_find_whether_a_database_is_a_store(
    sdk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_sessions, "_MOST_COPIED", 20_000)
    other = write(sdk.with_name("other.db"), {"t": [{"a": 1}]})
    with (
        closing(sqlite3.connect(sdk, isolation_level=None)) as writer,
        closing(sqlite3.connect(other, isolation_level=None)) as other_writer,
    ):
        for each in (writer, other_writer):
            each.execute("PRAGMA journal_mode = WAL")
        other_writer.execute("CREATE TABLE agent_messages (session_id, message_data)")
        other_writer.execute("INSERT INTO t VALUES (?)", ("x" * 20_000,))
        writer.execute("INSERT INTO agent_messages VALUES (9, 'u', ?)", (json.dumps(ITEMS[0]),))
        source = Source(sdk.parent, Settings())
        assert [str(file) for file in source.files] == [str(sdk)]
        # Of the log that was read is not said that it was skipped.
        assert source.skipped_note().startswith(
            "3 files skipped (other.db, other.db-shm, other.db-wal)"
        )
        assert len(traces_in(source)) == 3


def test_errors_before_the_first_session_are_counted_beyond_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stored_sessions, "_MOST_FAULTS", 5)
    rows = [{"id": n, "session_id": f"s{n}", "message_data": None} for n in range(20)]
    path = write(tmp_path / "a.db", {"agent_messages": [*rows, *SDK_ROWS]})
    lines = lines_of(path)
    assert not lines[0].fault
    assert len(traces_in(lines)) == 2
    messages = [message for _, message in faults_in(lines)]
    assert len(messages) == 6
    assert messages[-1].startswith("15 more sessions of the SQLite database cannot be read")
    assert len(lines_of(write(tmp_path / "b.db", {"agent_messages": rows}))) == 6


def test_a_pattern_leaves_out_what_sqlite_keeps_beside_a_database(sdk: Path) -> None:
    for end in ("-wal", "-shm", "-journal"):
        sdk.with_name(sdk.name + end).touch()
    sdk.with_name("a-wal").write_bytes(b"{}\n")
    files = Source(sdk.parent / "*", Settings()).files
    assert [file.name for file in files] == ["a-wal", sdk.name]


def test_a_database_needs_no_mapping_and_is_left_out_of_a_folder_of_rows(sdk: Path) -> None:
    opened = Opened(sdk.name, str(sdk), partial(sdk.open, "rb"))
    assert recognise(opened, [], Settings()) is None
    table = sdk.with_name("rows.csv")
    table.write_text("id,a\n1,x\n")
    assert [each.name for each in Opened.all_of(Paths.of([sdk.parent]))] == ["rows.csv"]
    mapping = parse_mapping(["custom_id=id", "agent_response=a"])
    assert list(map(str, Source(sdk.parent, Settings(), mapping).files)) == [str(table)]

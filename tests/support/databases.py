"""Databases of agents for tests: the rows of each store, and what is read of a file with them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from support.trace_examples.agent_frameworks import (
    AGNO_OLD_ROWS,
    AGNO_ROWS,
    LANGGRAPH,
    LANGGRAPH_MESSAGES,
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
    N8N_ROW,
    N8N_STORED,
)
from support.trace_examples.multi_agent_frameworks import AUTOGEN_STUDIO
from support.trace_examples.observability import PHOENIX_STORED
from support.trace_examples.personal_agents import HERMES_STORED
from support.trace_examples.vendor_sdks import GOOGLE_ADK_OLD_ROWS, GOOGLE_ADK_ROWS
from weighbridge.settings import Settings
from weighbridge.traces import Trace, read_trace, read_traces
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from weighbridge_producer.input.source_lines import SourceLine

ITEMS = [
    {"role": "user", "content": "Find x."},
    {"type": "function_call", "call_id": "c", "name": "search", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c", "output": "x"},
]
SDK_ROWS = [
    {"id": number, "session_id": session, "message_data": json.dumps(item)}
    for number, (session, item) in enumerate([(name, item) for item in ITEMS for name in "st"], 1)
]
CRUSH_ROWS = {
    "sessions": [
        CRUSH["session"],
        {**CRUSH["sub_sessions"][0], "created_at": 1735732802},
        {**CRUSH["session"], "id": "empty"},
    ],
    "messages": CRUSH["rows"],
}
MLFLOW_SPANS = (
    "CREATE TABLE spans (trace_id VARCHAR(50), span_id VARCHAR(50), parent_span_id VARCHAR(50), name TEXT, type TEXT,"
    " start_time_unix_nano BIGINT, end_time_unix_nano BIGINT,"
    " duration_ns BIGINT GENERATED ALWAYS AS (end_time_unix_nano - start_time_unix_nano) STORED, content TEXT)"
)


def mlflow_row(
    trace: str, own: str, parent: str | None, kind: str, **attributes: Any
) -> dict[str, Any]:
    """Return the row of a span in MLflow's database."""
    times = {
        "start_time_unix_nano": 1_735_732_800 * 10**9,
        "end_time_unix_nano": 1_735_732_801 * 10**9,
    }
    recorded = {f"mlflow.{name}": json.dumps(held) for name, held in attributes.items()}
    ids = {"trace_id": "AzxNsl6vNa+XuBYikebsgw==", "span_id": own, "parent_span_id": parent}
    attributes = {"mlflow.spanType": json.dumps(kind), **recorded}
    span = {
        "name": kind.lower(),
        **ids,
        **times,
        "attributes": attributes,
        "status": {"code": "STATUS_CODE_OK"},
    }
    return {"trace_id": trace, "span_id": own, "parent_span_id": parent, "name": kind.lower(), "type": kind, **times, "content": json.dumps(span)}  # fmt: skip


MLFLOW_ROWS = [
    mlflow_row("tr-1", "b", "a", "CHAT_MODEL", spanInputs={"messages": [{"role": "user", "content": "Find x."}]}, spanOutputs={"choices": [{"message": {"role": "assistant", "content": "It is there."}}]}),
    mlflow_row("tr-1", "c", "a", "TOOL", spanInputs={"q": "x"}, spanOutputs="some"),
    mlflow_row("tr-1", "a", None, "AGENT"),
    mlflow_row("tr-2", "d", None, "LLM", spanOutputs="Hi."),
]  # fmt: skip
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "tool": "ToolMessage"}
PYDANTIC = 5  #: the code of LangGraph's serializer for a model of Pydantic 2


def packed(message: dict[str, Any]) -> msgspec.msgpack.Ext:
    """Return a message as LangGraph packs an object of LangChain."""
    kind = CLASSES[message["type"]]
    made_of = (f"langchain_core.messages.{message['type']}", kind, message, "model_validate_json")
    return msgspec.msgpack.Ext(PYDANTIC, msgspec.msgpack.encode(made_of))


def checkpoint(number: int, messages: list[Any], thread: str = "t", **state: Any) -> dict[str, Any]:
    """Return the row of a checkpoint whose state has some messages."""
    values = {"messages": messages, **state}
    held = {"v": 4, "ts": "2025-01-01T12:00:00Z", "id": str(number), "channel_values": values}
    return {
        "thread_id": thread,
        "checkpoint_ns": "",
        "checkpoint_id": f"1f{number:04}",
        "type": "msgpack",
        "checkpoint": msgspec.msgpack.encode(held),
        "metadata": b"{}",
    }


LANGGRAPH_ROWS = [
    checkpoint(number, list(map(packed, LANGGRAPH_MESSAGES[:number])), topic="x")
    for number in range(len(LANGGRAPH_MESSAGES) + 1)
]
LANGGRAPH_ASKED = checkpoint(0, [packed(LANGGRAPH_MESSAGES[0])])
CHAT = json.dumps(OPEN_WEBUI["chat"])
OPEN_WEBUI_ROWS = [
    {"id": "o", "user_id": "u", "title": "Listing", "chat": CHAT, "archived": 0},
    {"id": "p", "user_id": "shared-o", "title": "Listing", "chat": CHAT, "archived": 0},
    {"id": "q", "user_id": "u", "title": "New", "chat": '{"messages": []}', "archived": 0},
]
#: What is read of Mastra's spans, without those that are no step.
MASTRA_TRACES = list(read_traces([row for row in MASTRA_SPANS if row["name"].startswith("ai.")]))
LANGGRAPH_TRACE = replace(read_trace(LANGGRAPH), id="t")
STORES: dict[str, tuple[dict[str, list[dict[str, Any]]], list[Trace]]] = {
    "ADK": ({"events": GOOGLE_ADK_ROWS}, list(read_traces(GOOGLE_ADK_ROWS))),
    "ADK before 1.22": (
        {"events": GOOGLE_ADK_OLD_ROWS},
        list(read_traces(GOOGLE_ADK_OLD_ROWS)),
    ),
    "Agents SDK": ({"agent_messages": SDK_ROWS}, list(read_traces(SDK_ROWS))),
    "Agno 2": ({"agno_sessions": AGNO_ROWS}, list(read_traces(AGNO_ROWS))),
    "Agno 1": ({"my_agent": AGNO_OLD_ROWS}, list(read_traces(AGNO_OLD_ROWS))),
    "Goose": ({"sessions": [GOOSE_STORED["session"]], "messages": GOOSE_STORED["rows"]}, list(read_traces(GOOSE_STORED))),
    "Hermes": ({"sessions": [HERMES_STORED["session"]], "messages": HERMES_STORED["rows"]}, list(read_traces(HERMES_STORED))),
    "Crush": (CRUSH_ROWS, list(read_traces(CRUSH))),
    "Mastra": ({"mastra_threads": [MASTRA["session"]], "mastra_messages": MASTRA["rows"]}, list(read_traces(MASTRA))),
    "Mastra's telemetry": ({"mastra_traces": MASTRA_SPANS}, MASTRA_TRACES),
    "Mastra's spans": ({"mastra_ai_spans": MASTRA_OWN_SPANS}, list(read_traces(MASTRA_OWN_SPANS))),
    "Phoenix": (
        {"traces": [PHOENIX_STORED["session"]], "spans": PHOENIX_STORED["rows"], "span_costs": PHOENIX_STORED["parts"]},
        list(read_traces(PHOENIX_STORED)),
    ),
    "AutoGen Studio": ({"run": [AUTOGEN_STUDIO["session"]], "message": AUTOGEN_STUDIO["rows"]}, list(read_traces(AUTOGEN_STUDIO))),
    "Open WebUI": ({"chat": OPEN_WEBUI_ROWS}, [read_trace(OPEN_WEBUI)]),
    "n8n": ({"execution_entity": [N8N_STORED["session"]], "execution_data": [N8N_ROW]}, list(read_traces(N8N_STORED))),
    "Flowise": ({"chat_message": FLOWISE[:2], "execution": [FLOWISE_EXECUTION]}, list(read_traces(FLOWISE))),
    "Flowise before 3": ({"chat_message": FLOWISE_CHAT}, list(read_traces(FLOWISE_CHAT))),
    "LangGraph": ({"checkpoints": LANGGRAPH_ROWS}, [LANGGRAPH_TRACE]),
    "opencode": ({"session": [OPENCODE_STORED["session"]], "message": OPENCODE_STORED["rows"], "part": OPENCODE_STORED["parts"]}, list(read_traces(OPENCODE_STORED))),
}  # fmt: skip


def write(path: Path, tables: dict[str, list[dict[str, Any]]], *before: str) -> Path:
    """Write a database with these rows."""
    with closing(sqlite3.connect(path, isolation_level=None)) as base:
        for command in (*before, "BEGIN"):
            base.execute(command)
        for name, rows in tables.items():
            columns = list(rows[0])
            base.execute(f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(columns)})")
            marks = ", ".join("?" * len(columns))
            insert = f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})"
            base.executemany(insert, [list(row.values()) for row in rows])
        base.execute("COMMIT")
    return path


def lines_of(cases: Any, **settings: Any) -> list[SourceLine]:
    return list(Source(cases, Settings(**settings)))


def traces_in(lines: Iterable[SourceLine]) -> list[Trace]:
    cases = [json.loads(line.raw) for line in lines if not line.fault]
    return [read_trace(case["inputs"]["trace"]) for case in cases]


def faults_in(lines: Iterable[SourceLine]) -> list[tuple[str, str]]:
    return [(line.fault.code, line.fault.message) for line in lines if line.fault]

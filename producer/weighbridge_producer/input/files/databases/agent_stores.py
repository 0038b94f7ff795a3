"""How the agents whose databases are read keep their sessions: which tables, which columns, and what to do with other databases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import printable, shorten
from weighbridge_producer.input.files.databases.agno_sessions import AgnoReader
from weighbridge_producer.input.files.databases.autogen_runs import AutoGenReader
from weighbridge_producer.input.files.databases.flow_runs import FlowiseReader, N8nReader
from weighbridge_producer.input.files.databases.langgraph_checkpoints import STATE, ThreadReader
from weighbridge_producer.input.files.databases.mastra_runs import MASTRA_SPANS, MastraReader
from weighbridge_producer.input.files.databases.mlflow_spans import SPAN, SpanReader
from weighbridge_producer.input.files.databases.row_readers import RowReader
from weighbridge_producer.input.files.databases.sqlite_rows import DamageError

if TYPE_CHECKING:
    from weighbridge_producer.input.files.databases.sqlite_rows import Database

NAMES_SHOWN = 8
NAME_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Table:
    """A table that is read beside the one of what was said."""

    name: str
    columns: frozenset[str]  #: that it has
    others: frozenset[str] = frozenset()  #: that are read where they exist


@dataclass(frozen=True, slots=True)
class Store:
    """How an agent keeps its sessions: the columns of the table of what was said, whatever its name is."""

    columns: frozenset[str]
    key: tuple[str, ...]  #: the columns that say which session a row is of
    others: frozenset[str] = frozenset()  #: columns that are read where they exist
    name: str = ""  #: of the table, where the columns do not tell it from others
    sessions: Table | None = None  #: that has a row about each session; its key is `id`
    parent: str = ""  #: its column with the id of the session that started one
    parts: Table | None = None  #: that has the parts of what was said; its key is that of the rows
    #: A column, a text that it contains in rows of sessions in which something was said, and what other rows lack.
    filled: tuple[str, str, str] | None = None
    #: A column, and how its text begins in rows that are copies of others.
    copies: tuple[str, str] | None = None
    #: A table with a row for each session that is not read, and its columns with the key, by which empty sessions are counted.
    listed: tuple[str, tuple[str, ...]] | None = None
    #: A column, the values of which one is in a row of each session with something to grade, and what other sessions lack.
    told_by: tuple[str, frozenset[str], str] | None = None
    #: Tables with the same runs; if one has rows, they alone are read.
    instead_of: tuple[str, ...] = ()
    reader: type[RowReader] = RowReader  #: of all sessions of a database that are kept so

    @property
    def lacking(self) -> str:
        """What rows lack of sessions that are left out; empty if none are."""
        teller = self.filled or self.told_by
        return teller[2] if teller else self.reader.lacking

    def is_in(self, database: Database, table: str) -> bool:
        """Return whether a table of a database is that of what was said, and the others are there."""
        needed = [each for each in (self.sessions, self.parts) if each]
        return (
            self.columns.union(self.key) <= database.tables[table]
            and self.name in {"", table}
            and all(each.columns <= database.tables.get(each.name, frozenset()) for each in needed)
        )


_ADK_SESSIONS = ("sessions", ("app_name", "user_id", "id"))
_PHOENIX_SPANS = frozenset(
    {
        *("span_id", "parent_id", "name", "span_kind", "start_time", "end_time", "attributes"),
        *("events", "status_code", "status_message"),
    }
)
_PHOENIX_TRACES = Table("traces", frozenset({"id", "trace_id", "start_time", "end_time"}))
_PHOENIX_COSTS = Table("span_costs", frozenset({"span_rowid", "trace_rowid", "total_cost"}))
_CHECKPOINTS = frozenset({"thread_id", "checkpoint_ns", "checkpoint_id", "type", "checkpoint"})

_FLOWISE_MESSAGES = frozenset({"role", "chatflowid", "content", "chatId"})
_FLOWISE_OTHERS = frozenset(
    {"id", "chatType", "createdDate", "executionId", "usedTools", "agentReasoning"}
)

#: Types of spans of which a trace of an agent has one.
_MASTRA_STEPS = frozenset(
    {
        *("agent_run", "model_generation", "llm_generation", "tool_call", "mcp_tool_call"),
        "client_tool_call",
    }
)

STORES = (
    # Google's ADK since 1.22, and before.
    Store(
        frozenset({"session_id", "invocation_id", "timestamp", "event_data"}),
        ("app_name", "user_id", "session_id"),
        listed=_ADK_SESSIONS,
    ),
    Store(
        frozenset({"session_id", "invocation_id", "author", "timestamp", "content"}),
        ("app_name", "user_id", "session_id"),
        frozenset({"id", "usage_metadata", "error_code", "error_message", "partial"}),
        listed=_ADK_SESSIONS,
    ),
    # `SQLiteSession` of OpenAI's Agents SDK.
    Store(
        frozenset({"session_id", "message_data"}),
        ("session_id",),
        frozenset({"id"}),
        listed=("agent_sessions", ("session_id",)),
    ),
    # Agno 3, 2 and 1.
    Store(
        frozenset({"run_id", "session_id", "run_type", "run_data"}),
        ("run_id",),
        filled=("run_data", "run_id", "runs"),
        reader=AgnoReader,
    ),
    Store(
        frozenset({"session_id", "session_type", "runs"}),
        ("session_id",),
        filled=("runs", "run_id", "runs"),
        reader=AgnoReader,
    ),
    Store(
        frozenset({"session_id", "memory", "session_data"}),
        ("session_id",),
        filled=("memory", "run_id", "runs"),
        reader=AgnoReader,
    ),
    # Goose.
    Store(
        frozenset({"session_id", "role", "content_json", "created_timestamp"}),
        ("session_id",),
        frozenset({"message_id", "metadata_json"}),
        sessions=Table(
            "sessions",
            frozenset({"id", "working_dir"}),
            frozenset(
                {
                    *("name", "description", "provider_name", "model_config_json", "total_tokens"),
                    *("input_tokens", "output_tokens", "accumulated_total_tokens"),
                    *("accumulated_input_tokens", "accumulated_output_tokens", "accumulated_cost"),
                }
            ),
        ),
    ),
    # Crush.
    Store(
        frozenset({"session_id", "role", "parts", "created_at"}),
        ("session_id",),
        frozenset({"id", "model", "finished_at"}),
        sessions=Table(
            "sessions", frozenset({"id", "parent_session_id", "title", "cost", "created_at"})
        ),
        parent="parent_session_id",
    ),
    # Hermes Agent.
    Store(
        frozenset(
            {"role", "content", "tool_call_id", "tool_calls", "tool_name", "timestamp"},
        ),
        ("session_id",),
        frozenset({"id", "finish_reason", "reasoning", "active"}),
        sessions=Table(
            "sessions",
            frozenset({"id", "source", "started_at", "message_count", "tool_call_count"}),
            frozenset(
                {
                    *("model", "title", "system_prompt", "system_prompt_hash", "ended_at"),
                    *("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens"),
                    *("api_call_count", "estimated_cost_usd", "actual_cost_usd"),
                }
            ),
        ),
        # A session begins with a row about itself, of another role.
        told_by=(
            "role",
            frozenset({"user", "assistant", "tool", "system"}),
            "message of a user or a model",
        ),
    ),
    # Mastra, with LibSQL.
    Store(
        frozenset({"thread_id", "content", "role", "type", "createdAt"}),
        ("thread_id",),
        frozenset({"id"}),
        name="mastra_messages",
        sessions=Table("mastra_threads", frozenset({"id", "title", "resourceId", "createdAt"})),
        reader=MastraReader,
    ),
    # Mastra's telemetry of 2025: the spans of Vercel's AI SDK have all that its own lack.
    Store(
        frozenset({"id", "parentSpanId", "name", "attributes", "startTime", "endTime"}),
        ("traceId",),
        frozenset({"status", "events"}),
        name="mastra_traces",
        filled=("attributes", '"ai.operationId"', "model calls"),
        instead_of=("mastra_messages", MASTRA_SPANS),
    ),
    # Mastra's own tracing since late 2025.
    Store(
        frozenset({"spanId", "parentSpanId", "name", "spanType", "startedAt", "endedAt"}),
        ("traceId",),
        frozenset(
            {
                *("attributes", "input", "output", "error", "threadId", "resourceId"),
                *("entityName", "environment"),
            }
        ),
        name=MASTRA_SPANS,
        told_by=("spanType", _MASTRA_STEPS, "agents, model calls or tool calls"),
        reader=MastraReader,
    ),
    # opencode.
    Store(
        frozenset({"id", "session_id", "time_created", "data"}),
        ("session_id",),
        name="message",
        sessions=Table(
            "session",
            frozenset({"id", "parent_id", "title", "version", "time_created", "time_updated"}),
            frozenset(
                {
                    *("cost", "tokens_input", "tokens_output", "tokens_reasoning"),
                    *("tokens_cache_read", "tokens_cache_write"),
                }
            ),
        ),
        parent="parent_id",
        parts=Table("part", frozenset({"id", "message_id", "session_id", "data"})),
    ),
    # Arize Phoenix since version 11, which keeps costs, and before.
    Store(
        _PHOENIX_SPANS,
        ("trace_rowid",),
        frozenset({"id"}),
        sessions=_PHOENIX_TRACES,
        parts=_PHOENIX_COSTS,
    ),
    Store(_PHOENIX_SPANS, ("trace_rowid",), frozenset({"id"}), sessions=_PHOENIX_TRACES),
    # MLflow 3; earlier versions keep the spans in files.
    Store(
        frozenset({"trace_id", "span_id", "parent_span_id", "start_time_unix_nano", SPAN}),
        ("trace_id",),
        name="spans",
        reader=SpanReader,
    ),
    # AutoGen Studio.
    Store(
        frozenset({"session_id", "config"}),
        ("run_id",),
        frozenset({"created_at"}),
        name="message",
        sessions=Table(
            "run",
            frozenset({"id", "session_id", "status"}),
            frozenset({"error_message", "team_result"}),
        ),
        reader=AutoGenReader,
    ),
    # n8n.
    Store(
        frozenset({"executionId", "workflowData", "data"}),
        ("executionId",),
        sessions=Table(
            "execution_entity",
            frozenset({"id", "mode", "startedAt", "stoppedAt"}),
            frozenset({"status", "createdAt"}),
        ),
        reader=N8nReader,
    ),
    # Flowise since version 3, which has executions, and before.
    Store(
        _FLOWISE_MESSAGES,
        ("sessionId",),
        _FLOWISE_OTHERS,
        name="chat_message",
        parts=Table(
            "execution",
            frozenset({"sessionId", "agentflowId", "executionData", "state"}),
            frozenset({"id", "createdDate", "updatedDate"}),
        ),
        reader=FlowiseReader,
    ),
    Store(
        _FLOWISE_MESSAGES,
        ("sessionId",),
        _FLOWISE_OTHERS,
        name="chat_message",
        reader=FlowiseReader,
    ),
    # Open WebUI.
    Store(
        frozenset({"user_id", "title", "chat"}),
        ("id",),
        name="chat",
        filled=("chat", '"role"', "messages"),
        copies=("user_id", "shared-"),
    ),
    # LangGraph, with what nodes have written, and without; in 2024, checkpoints were JSON and had a time for their id.
    Store(
        _CHECKPOINTS,
        ("thread_id",),
        frozenset({"parent_checkpoint_id", "metadata"}),
        parts=Table(
            "writes",
            frozenset(
                {
                    *("thread_id", "checkpoint_ns", "checkpoint_id", "task_id"),
                    *("channel", "type", "value"),
                }
            ),
        ),
        filled=(STATE, "{", "messages"),
        reader=ThreadReader,
    ),
    Store(
        _CHECKPOINTS,
        ("thread_id",),
        frozenset({"parent_checkpoint_id", "metadata"}),
        filled=(STATE, "{", "messages"),
        reader=ThreadReader,
    ),
    Store(
        frozenset({"thread_id", "thread_ts", "parent_ts", "checkpoint"}),
        ("thread_id",),
        frozenset({"metadata"}),
        filled=(STATE, "{", "messages"),
        reader=ThreadReader,
    ),
)
_LANGFLOW = (
    "this is the store of Langflow, which is not read: have Langflow send the traces of its flows to LangSmith or Langfuse"
    " (LANGSMITH_TRACING, LANGFUSE_SECRET_KEY), and export them there"
)
#: What to do with databases that are known and not read, by tables that they have.
_ADVICE: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"checkpoints", "writes"}),
        "write the history of each thread of LangGraph (`graph.get_state_history(config)`) as JSON Lines",
    ),
    (
        frozenset({"itemtable"}),
        "this is the state of an editor such as Cursor, which is not read: export each chat as Markdown, or give Cursor's `agent-transcripts`",
    ),
    (frozenset({"flow", "vertex_build"}), _LANGFLOW),
    (frozenset({"flow", "flowstyle"}), _LANGFLOW),  # of 2023
    (
        frozenset({"trace_info", "trace_tags"}),
        "MLflow keeps the spans of these traces elsewhere: write each trace of `mlflow.search_traces(return_type='list')` by its `to_json()`, on a line",
    ),
)
_EXPORT = (
    "export the rows with the steps of the agent as JSON Lines, and if no format is recognised, describe theirs in a"
    " mapping file (--trace-mapping)"
)


def stores_in(database: Database) -> list[tuple[str, Store]]:
    """Return the tables with what was said, and how the sessions are kept in them."""
    found = []
    for table in database.tables:
        store = next((store for store in STORES if store.is_in(database, table)), None)
        if store and not any(has_rows(database, other) for other in store.instead_of):
            found.append((table, store))
    return found


def has_rows(database: Database, table: str) -> bool:
    """Return whether a table of a database has rows, or cannot be read."""
    if table not in database.tables:
        return False
    try:
        return next(database.rows(table, ()), None) is not None
    except DamageError:
        return True


def unknown_store(database: Database) -> Fault:
    """Return the error for a database that is no known store."""
    names = list(database.tables)
    shown = ", ".join(map(shown_name, names[:NAMES_SHOWN]))
    more = f" and {len(names) - NAMES_SHOWN:,} more" if len(names) > NAMES_SHOWN else ""
    tables = f"its tables are {shown}{more}" if names else "it has no tables"
    known = {name.lower() for name in names}
    hint = next((advice for needed, advice in _ADVICE if needed <= known), _EXPORT)
    text = f"the file is an SQLite database, but not a known store of an agent's sessions: {tables}"
    return Fault(ErrorCode.INVALID_JSON, text, hint)


def shown_name(name: str) -> str:
    """Return the name of a table or of a session, for a message."""
    return printable(shorten(name, NAME_CHARACTERS))

"""The forms of Agno's sessions: runs, lists of their messages, and rows of tables with the runs of a session, or with one run."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.chat.conversation import are_messages
from weighbridge.traces.fields import object_of, objects_of, word_of
from weighbridge.traces.stored_rows import json_cell

_LOOKED_AT = 20  #: number of messages and runs by which the format is recognised
_RUNS = "runs"
_RUN_DATA = "run_data"  #: column of the table of Agno 3 that has a row for each run
#: Columns of the tables of Agno 3, 2 and 1.
_COLUMNS = (
    frozenset({"run_id", _RUN_DATA}),
    frozenset({"session_type", _RUNS}),
    frozenset({"session_data", "memory"}),
)
OWN_FIELD = "stop_after_tool_call"  #: field that every message has
_TOKENS = frozenset({"input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"})
_STATUSES = frozenset({"PENDING", "RUNNING", "COMPLETED", "PAUSED", "CANCELLED", "ERROR"})
_OWNERS = frozenset({"agent_id", "team_id", "workflow_id"})


def is_row(value: Any) -> bool:
    """Return whether a value is a row of a table of sessions, of which some columns hold JSON."""
    if type(value) is not dict or type(value.get("session_id")) is not str:
        return False
    return any(columns <= value.keys() for columns in _COLUMNS)


def is_run(value: Any) -> bool:
    """Return whether a value is a run with its messages, or one that was stored without any."""
    if type(value) is not dict or type(value.get("run_id")) is not str or _RUN_DATA in value:
        return False
    if are_messages(value.get("messages")):
        return are_messages_of_agno(value["messages"])
    return (
        not value.get("messages")
        and word_of(value.get("status")) in _STATUSES
        and type(value.get("session_id")) is str
        and not _OWNERS.isdisjoint(value)
    )


def are_messages_of_agno(messages: list[dict[str, Any]]) -> bool:
    """Return whether some of the first messages have a field or metrics of Agno's."""
    return any(
        OWN_FIELD in message
        or ("usage" not in message and not _TOKENS.isdisjoint(object_of(message.get("metrics"))))
        for message in messages[:_LOOKED_AT]
    )


def runs_of(session: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of a session; empty if the first ones are not of this form."""
    if _RUN_DATA in session:
        run = _object_cell(session, _RUN_DATA)
        return [run] if is_run(run) else []
    holder = session if _RUNS in session else object_of(_object_cell(session, "memory"))
    # Agno 1.0 kept a run beside the message that it answered.
    runs = [
        object_of(run.get("response")) or run for run in objects_of(_object_cell(holder, _RUNS))
    ]
    return [run for run in runs if is_run(run)] if any(map(is_run, runs[:_LOOKED_AT])) else []


def _object_cell(row: dict[str, Any], column: str) -> Any:
    """Return the JSON value in a column; some versions encode it twice."""
    held = json_cell(row, column)
    return json_cell({column: held}, column)

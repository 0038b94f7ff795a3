"""Runs of Agno, its sessions, and messages of a run: a chat with the metrics of each answer and of the whole run.

A row of its databases is a session: its runs are in `runs` as JSON text, or in Agno 1 in `memory`. Agno 2 stores a failed
run without its messages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.conversation import MESSAGE_FIELDS, Run, are_messages, read_messages
from weighbridge.traces.fields import cost_of, id_of, object_of, objects_of, scalars
from weighbridge.traces.formats.agno_members import MEMBERS, ContainedRuns
from weighbridge.traces.formats.agno_messages import messages_of, without_earlier
from weighbridge.traces.formats.agno_metrics import (
    calls_in,
    end_after,
    facts_of,
    start_of,
    totals_of,
    usage_in,
)
from weighbridge.traces.formats.agno_sessions import (
    OWN_FIELD,
    are_messages_of_agno,
    is_row,
    is_run,
    runs_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.stored_rows import are_rows
from weighbridge.traces.unread_counts import missing_without_messages

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_REASONING = "reasoning_messages"
_FIELDS = MESSAGE_FIELDS | {
    *("metrics", "from_history", "tool_args", "tool_call_error", "temporary", OWN_FIELD),
    *("add_to_agent_memory", "provider_data"),
}
_RUN_FIELDS = frozenset(
    {
        *("run_id", "messages", "metrics", "tools", "model", "model_provider", "created_at"),
        *("agent_id", "agent_name", "team_id", "team_name", "session_id", "status", "content"),
        *("content_type", "event", "formatted_tool_calls", "input", "events", "user_id"),
        *("model_provider_data", *MEMBERS, "workflow_id", "workflow_name"),
    }
)
_REASONS: dict[Capability, str] = {
    "token_usage": "no message of this run has metrics with tokens",
    "timing": "no message of this run has its time",
    "cost": "this run records no cost, and no tokens to compute it from",
    "tool_definitions": "runs do not keep the tools that were offered",
}
_REASONED = "the run's reasoning made calls that stand beside its messages, and are not read"


def _matches(value: Any) -> bool:
    if type(value) is list:
        return (are_messages(value) and are_messages_of_agno(value)) or (
            are_rows(value, is_row) and bool(_all_runs(value))
        )
    if type(value) is not dict:
        return False
    return is_run(value) or ("session_id" in value and bool(runs_of(value)))


def _all_runs(value: Any) -> list[dict[str, Any]]:
    """Return the runs of a session, or of all sessions of a table, without those that a team's or a workflow's run has."""
    sessions = value if type(value) is list else [value]
    runs = [
        run
        for session in sessions
        if type(session) is dict and (session is value or is_row(session))
        for run in runs_of(session)
    ]
    members = ContainedRuns()
    for run in runs:
        members.add(run)
    return [run for run in runs if run not in members]


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    return [(id_of(run.get("run_id")), run) for run in _all_runs(value)]


def _read(value: Any) -> list[Trace]:
    if type(value) is list and are_messages(value):
        return [_trace({"messages": value})]
    return [_trace(value)] if is_run(value) else list(map(_trace, _all_runs(value)))


def _trace(recorded: dict[str, Any]) -> Trace:
    metrics = totals_of(object_of(recorded.get("metrics")), recorded)
    started_at = start_of(recorded)
    run = Run(
        id=id_of(recorded.get("run_id")),
        usage=usage_in(metrics, recorded),
        cost_usd=cost_of(metrics.get("cost")),
        counts=calls_in(recorded.get("tools")),
        totals_from="metrics and tools of the run",
        started_at=started_at,
        ended_at=end_after(started_at, metrics),
        metadata=scalars(
            agent=recorded.get("agent_name") or recorded.get("agent_id"),
            team=recorded.get("team_name") or recorded.get("team_id"),
            session=recorded.get("session_id"),
            outcome=recorded.get("status"),
        ),
        fields=_FIELDS,
    )
    run.notes.add_fields(recorded, _RUN_FIELDS, "run")
    messages = without_earlier(messages_of(recorded), run)
    run.of_message = {
        number: facts_of(message, of_run) for number, (message, of_run) in enumerate(messages)
    }
    trace = read_messages([message for message, _ in messages], "agno", run, _REASONS)
    known = {step.id for step in trace.steps_of("tool")}
    runs = {id(of_run): of_run for _, of_run in messages} or {id(recorded): recorded}
    bare = sum(not of_run.get("messages") for of_run in runs.values())
    if bare:
        trace = replace(trace, missing={**missing_without_messages(bare), **trace.missing})
    if any(_has_other_calls(of_run, known) for of_run in runs.values()):
        return replace(trace, missing={"tool_calls": _REASONED, **trace.missing})
    return trace


def _has_other_calls(recorded: dict[str, Any], known: set[str]) -> bool:
    """Return whether the messages of a run's reasoning (in Agno 1 in `extra_data`) have calls that are not known."""
    extra = object_of(recorded.get("extra_data"))
    listed = objects_of(recorded.get(_REASONING)) + objects_of(extra.get(_REASONING))
    return any(call.id not in known for message in listed for call in calls_of(message))


IMPORTER = Importer(
    id="agno",
    name="Agno runs",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=is_row,
    fields=(
        ("id", "run_id; of a message id; of a tool call its id"),
        ("type", "role: assistant is llm, each of its tool_calls is tool"),
        ("name, arguments", "function of a tool call"),
        ("output", "content; of a tool call the content of its tool message"),
        (
            "error",
            "tool_call_error of the tool message, or in tools; of a run that failed and has no messages, a RunError event or content",
        ),
        ("model", "model of the run, or of the member of a team"),
        ("usage, cost_usd", "metrics of a message, of Agno 1 and 2"),
        (
            "usage, cost_usd of the run",
            "metrics of the run; of Agno 1 the sum of its lists, without those of earlier runs",
        ),
        ("counts of the run", "tools: the calls that were executed"),
        (
            "started_at, ended_at",
            "created_at, of a run that of its first message or start event if it has any; duration or time of the metrics",
        ),
        ("metadata", "agent_name, team_name, session_id, status"),
    ),
    tried_on="33 real runs of Agno 2 without tools, real databases of Agno 1 and 2; runs with tools that Agno 1.8 and 3.1 made with a made-up model",
    lacks="runs of a team's members and of a workflow's steps as traces of their own, where the team's or the workflow's run has them; tool definitions; messages of earlier runs that a run repeats, and of reasoning agents, are left out",
)

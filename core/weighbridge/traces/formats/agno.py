"""Runs of Agno, its sessions, and messages of a run: a chat with the metrics of each answer and of the whole run.

A row of its databases is a session: its runs are in `runs` as JSON text, or in Agno 1 in `memory`. Agno 2 stores a failed
run without its messages.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.conversation import (
    MESSAGE_FIELDS,
    PROGRAM,
    Facts,
    Run,
    are_messages,
    read_messages,
)
from weighbridge.traces.chat.roles import MODEL_ROLES
from weighbridge.traces.fields import (
    cost_of,
    count_of,
    counted,
    counts_of,
    id_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.stored_rows import are_rows, json_cell
from weighbridge.traces.unread_counts import missing_without_messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Counts, Trace, Usage

_LOOKED_AT = 20  #: number of messages and runs by which the format is recognised
_REASONING = "reasoning_messages"
_RUNS = "runs"
#: Columns of the tables of Agno 2 and Agno 1.
_COLUMNS = (frozenset({"session_type", _RUNS}), frozenset({"session_data", "memory"}))
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")  #: an ID that no other run has
_OWN_FIELD = "stop_after_tool_call"  #: field that every message has
_TOKENS = frozenset({"input_tokens", "output_tokens", "prompt_tokens", "completion_tokens"})
#: Providers whose recorded input tokens exclude those of a cache, as in their APIs.
_CACHE_APART = frozenset({"Anthropic", "AwsBedrock", "AzureFoundry", "VertexAI"})
_SECOND = 10**9
_DURATION_LIMIT = 10**9  #: maximum duration of a run or a call, in seconds
_OfRun = tuple[Any, dict[str, Any]]  #: a message and its run
_FIELDS = MESSAGE_FIELDS | {
    *("metrics", "from_history", "tool_args", "tool_call_error", "temporary", _OWN_FIELD),
    *("add_to_agent_memory", "provider_data"),
}
#: Fields with the runs of a team's members and of a workflow's steps.
MEMBERS = ("member_responses", "step_executor_runs")
_RUN_FIELDS = frozenset(
    {
        *("run_id", "messages", "metrics", "tools", "model", "model_provider", "created_at"),
        *("agent_id", "agent_name", "team_id", "team_name", "session_id", "status", "content"),
        *("content_type", "event", "formatted_tool_calls", "input", "events", "user_id"),
        *("model_provider_data", *MEMBERS, "workflow_id", "workflow_name"),
    }
)
_STATUSES = frozenset({"PENDING", "RUNNING", "COMPLETED", "PAUSED", "CANCELLED", "ERROR"})
#: Statuses of failed runs; `content` is then usually the reason.
_FAILED = frozenset({"CANCELLED", "ERROR"})
_START_EVENTS = frozenset({"RunStarted", "TeamRunStarted", "WorkflowStarted"})
_ERROR_EVENTS = frozenset({"RunError", "TeamRunError"})
_OWNERS = frozenset({"agent_id", "team_id", "workflow_id"})
_REASONS: dict[Capability, str] = {
    "token_usage": "no message of this run has metrics with tokens",
    "timing": "no message of this run has its time",
    "cost": "this run records no cost, and no tokens to compute it from",
    "tool_definitions": "runs do not keep the tools that were offered",
}
_REASONED = "the run's reasoning made calls that stand beside its messages, and are not read"


def _matches(value: Any) -> bool:
    if type(value) is list:
        return (are_messages(value) and _are_own(value)) or (
            are_rows(value, _is_row) and bool(_all_runs(value))
        )
    if type(value) is not dict:
        return False
    return _is_run(value) or ("session_id" in value and bool(_runs(value)))


def _is_row(value: Any) -> bool:
    """Return whether a value is a row of a table of sessions, of which some columns hold JSON."""
    if type(value) is not dict or type(value.get("session_id")) is not str:
        return False
    return any(columns <= value.keys() for columns in _COLUMNS)


def _is_run(value: Any) -> bool:
    if type(value) is not dict or type(value.get("run_id")) is not str:
        return False
    if are_messages(value.get("messages")):
        return _are_own(value["messages"])
    return (
        not value.get("messages")
        and word_of(value.get("status")) in _STATUSES
        and type(value.get("session_id")) is str
        and not _OWNERS.isdisjoint(value)
    )


def _runs(session: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of a session; empty if the first ones are not of this form."""
    holder = session if _RUNS in session else object_of(_object_cell(session, "memory"))
    # Agno 1.0 kept a run beside the message that it answered.
    runs = [
        object_of(run.get("response")) or run for run in objects_of(_object_cell(holder, _RUNS))
    ]
    return [run for run in runs if _is_run(run)] if any(map(_is_run, runs[:_LOOKED_AT])) else []


def _object_cell(row: dict[str, Any], column: str) -> Any:
    """Return the JSON value in a column; some versions encode it twice."""
    held = json_cell(row, column)
    return json_cell({column: held}, column)


def _all_runs(value: Any) -> list[dict[str, Any]]:
    """Return the runs of a session, or of all sessions of a table, without those that a team's or a workflow's run has."""
    sessions = value if type(value) is list else [value]
    runs = [
        run
        for session in sessions
        if type(session) is dict and (session is value or _is_row(session))
        for run in _runs(session)
    ]
    members = ContainedRuns()
    for run in runs:
        members.add(run)
    return [run for run in runs if run not in members]


_RunKey = tuple[Any, ...]
"""What tells a run from others: its ID, and if that may be given twice, the run's session and time."""


class ContainedRuns:
    """The runs that other runs contain: those of a team's members, or of a workflow's steps, which also have sessions.

    All runs are added before the first one is looked up. Of runs that contain each other, the first one is kept.
    """

    def __init__(self) -> None:
        #: By a run with members: each member, and whether it is contained with its messages.
        self._members: dict[_RunKey, dict[_RunKey, bool]] = {}
        self._with_messages: set[_RunKey] = set()  #: the runs with members that have messages
        self._found: dict[_RunKey, bool] | None = None  #: the members of all runs that are kept

    def add(self, run: dict[str, Any]) -> None:
        """Add the runs that a run contains."""
        own = _run_key(run)
        for member in _members_of(run):
            key = _run_key(member)
            if key is None or own is None or key == own:
                continue
            members = self._members.setdefault(own, {})
            members[key] = bool(member.get("messages")) or members.get(key, False)
            if run.get("messages"):
                self._with_messages.add(own)

    def add_row(self, row: dict[str, Any]) -> None:
        """Add the runs that the runs in a row of a table contain."""
        for run in _runs(row) if _is_row(row) else ():
            self.add(run)

    def __contains__(self, run: dict[str, Any]) -> bool:
        """Return whether another run that is kept contains a run, with its messages if it has any."""
        if self._found is None:
            self._found = self._of_kept_runs()
        has_messages = self._found.get(_run_key(run) or ())
        return has_messages is not None and (has_messages or not run.get("messages"))

    def _of_kept_runs(self) -> dict[_RunKey, bool]:
        """Return the members of the runs that no kept run contains, and of each whether it is contained with its messages."""
        found: dict[_RunKey, bool] = {}
        containers = Counter(key for members in self._members.values() for key in members)
        free = deque(key for key in self._members if not containers[key])
        in_order = iter(self._members)
        kept: dict[_RunKey, bool] = {}  #: whether a run is, of those for which that is decided
        while len(kept) < len(self._members):
            own = free.popleft() if free else next(key for key in in_order if key not in kept)
            if own in kept:
                continue
            has_messages = found.get(own)
            kept[own] = has_messages is None or not (has_messages or own not in self._with_messages)
            for key, held in self._members[own].items():
                if kept[own] and not kept.get(key):
                    found[key] = held or found.get(key, False)
                containers[key] -= 1
                if key in self._members and not containers[key]:
                    free.append(key)
        return found


def _run_key(run: dict[str, Any]) -> _RunKey | None:
    """Return what tells a run from others; None for a run without an ID."""
    name = id_of(run.get("run_id"))
    if not name:
        return None
    if _UUID.fullmatch(name):
        return (name,)
    return name, id_of(run.get("session_id")), time_of(run.get("created_at"))


def _are_own(messages: list[dict[str, Any]]) -> bool:
    return any(
        _OWN_FIELD in message
        or ("usage" not in message and not _TOKENS.isdisjoint(object_of(message.get("metrics"))))
        for message in messages[:_LOOKED_AT]
    )


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    return [(id_of(run.get("run_id")), run) for run in _all_runs(value)]


def _read(value: Any) -> list[Trace]:
    if type(value) is list and are_messages(value):
        return [_trace({"messages": value})]
    return [_trace(value)] if _is_run(value) else list(map(_trace, _all_runs(value)))


def _trace(recorded: dict[str, Any]) -> Trace:
    metrics = _totals(object_of(recorded.get("metrics")), recorded)
    started_at = _start_of(recorded)
    run = Run(
        id=id_of(recorded.get("run_id")),
        usage=_usage(metrics, recorded),
        cost_usd=cost_of(metrics.get("cost")),
        counts=_counts(recorded.get("tools")),
        totals_from="metrics and tools of the run",
        started_at=started_at,
        ended_at=_end_after(started_at, metrics),
        metadata=scalars(
            agent=recorded.get("agent_name") or recorded.get("agent_id"),
            team=recorded.get("team_name") or recorded.get("team_id"),
            session=recorded.get("session_id"),
            outcome=recorded.get("status"),
        ),
        fields=_FIELDS,
    )
    run.notes.add_fields(recorded, _RUN_FIELDS, "run")
    messages = _of_this_run(_messages(recorded), run)
    run.of_message = {
        number: _facts(message, of_run) for number, (message, of_run) in enumerate(messages)
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


def _messages(recorded: dict[str, Any]) -> list[_OfRun]:
    """Return the messages of a run; in a team's run, the messages of the members precede the last message.

    A member's run that was paused may be listed again when it continued; the last one is read.
    """
    own = _own_messages(recorded)
    members: dict[str | int, dict[str, Any]] = {}
    for member in _members_of(recorded):
        members[id_of(member.get("run_id")) or len(members)] = member
    of_members = [each for member in members.values() for each in _own_messages(member)]
    return [*own[:-1], *of_members, *own[-1:]]


def _members_of(recorded: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the runs that a run contains, those of a team before those of its members."""
    pending = deque(_runs_of_members(recorded))
    while pending:
        member = pending.popleft()
        yield member
        pending += _runs_of_members(member)


def _runs_of_members(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the runs of the members of a team, or of the steps of a workflow."""
    return [run for field in MEMBERS for run in objects_of(recorded.get(field))]


def _own_messages(recorded: dict[str, Any]) -> list[_OfRun]:
    listed = recorded.get("messages")
    listed = listed if type(listed) is list else []
    executions = objects_of(recorded.get("tools"))
    failed = {
        id_of(each.get("tool_call_id"))
        for each in executions
        if each.get("tool_call_error") is True
    } - {None}
    return [
        (single, recorded)
        for message in listed or _remains(recorded)
        for single in _single(message, failed)
    ]


def _remains(recorded: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of a run without messages as messages: its input, executed calls, an answer, an error.

    `content` is the answer, or the error of a failed run unless an event has the error. It may be another run's answer if
    members or steps ran for this run.
    """
    asked = object_of(recorded.get("input")).get("input_content")
    content = recorded.get("content")
    errors = [
        string_of(event.get("content"))
        for event in objects_of(recorded.get("events"))
        if word_of(event.get("event")) in _ERROR_EVENTS
    ]
    has_failed = word_of(recorded.get("status")) in _FAILED
    is_error = has_failed and (not errors or string_of(content) in errors)
    answer = None if is_error or _runs_of_members(recorded) else content
    messages: list[dict[str, Any]] = []
    if asked:
        messages.append({"role": "user", "content": asked, "created_at": _start_of(recorded)})
    executions = [each for each in objects_of(recorded.get("tools")) if "tool_name" in each]
    for number, execution in enumerate(executions):
        messages += _execution(execution, number)
    if answer or _usage(object_of(recorded.get("metrics")), recorded):
        messages.append({"role": "assistant", "content": answer or None})
    if has_failed:
        error = errors[-1] if errors else string_of(content)
        messages.append({"role": "error", "content": error or "error", "tool_call_error": True})
    return messages


def _execution(execution: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """Return a call that was executed, and its result, as messages."""
    call_id = id_of(execution.get("tool_call_id")) or f"call {number + 1}"
    arguments = execution.get("tool_args")
    call = Call(call_id, string_of(execution.get("tool_name")), arguments)
    result = {
        "role": "tool",
        "tool_call_id": call_id,
        "content": execution.get("result"),
        "tool_call_error": execution.get("tool_call_error"),
    }
    return [{"role": PROGRAM, "content": None, "tool_calls": [call]}, result]


def _of_this_run(messages: list[_OfRun], run: Run) -> list[_OfRun]:
    """Return the messages without those of earlier runs, which were sent to the model again."""
    own = [each for each in messages if object_of(each[0]).get("from_history") is not True]
    if not own:
        return messages
    if len(own) < len(messages):
        run.notes.add("messages of earlier runs", len(messages) - len(own))
    return own


def _single(message: Any, failed: set[str | None]) -> list[Any]:
    """Return a message; a message with several results, as for Gemini until 2026, is divided into one for each result.

    `failed` has the IDs of failed calls, from the list of executed tools, since these messages lack the errors.
    """
    if type(message) is not dict or message.get("role") != "tool" or message.get("tool_call_id"):
        return [message]
    results = objects_of(message.get("tool_calls"))
    contents = message.get("content")
    contents = contents if type(contents) is list else []
    return [
        {
            "role": "tool",
            "tool_call_id": result.get("tool_call_id"),
            "name": result.get("tool_name"),
            "content": contents[number] if number < len(contents) else result.get("content"),
            "created_at": message.get("created_at"),
            "from_history": message.get("from_history"),
            "tool_call_error": id_of(result.get("tool_call_id")) in failed,
        }
        for number, result in enumerate(results)
    ] or [message]


def _facts(message: Any, of_run: dict[str, Any]) -> Facts:
    """Return the facts in a message's metrics; the creation time of an answer is that of the request."""
    recorded = object_of(message)
    error = True if recorded.get("tool_call_error") is True else None
    if recorded.get("role") not in MODEL_ROLES:
        return Facts(error=error)
    metrics = object_of(recorded.get("metrics"))
    started_at = time_of(recorded.get("created_at"))
    return Facts(
        model=string_of(of_run.get("model")),
        usage=_usage(metrics, of_run),
        cost_usd=cost_of(metrics.get("cost")),
        error=error,
        started_at=started_at,
        ended_at=_end_after(started_at, metrics),
    )


def _start_of(recorded: dict[str, Any]) -> int | None:
    """Return the time of a run's own first message or of its start event, in nanoseconds; without any, its creation time.

    Agno replaces the creation time by that of the model's response, which in Agno 1 and some versions of Agno 2 is the
    time when the program started.
    """
    records = [
        *(
            each
            for each in objects_of(recorded.get("messages"))
            if each.get("from_history") is not True
        ),
        *(
            each
            for each in objects_of(recorded.get("events"))
            if word_of(each.get("event")) in _START_EVENTS
        ),
    ]
    times = [time_of(each.get("created_at")) for each in records]
    known = [time for time in times if time is not None]
    return min(known, default=time_of(recorded.get("created_at")))


def _end_after(started_at: int | None, metrics: dict[str, Any]) -> int | None:
    """Return the end, computed from the duration, in nanoseconds."""
    seconds = cost_of(metrics.get("duration", metrics.get("time")))
    if started_at is None or seconds is None or seconds > _DURATION_LIMIT:
        return None
    return time_of(started_at + round(seconds * _SECOND), "ns")


def _totals(metrics: dict[str, Any], recorded: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics of a run as numbers; Agno 1 lists those of each answer, preceded by those of earlier runs."""
    answers = [
        message
        for message in objects_of(recorded.get("messages"))
        if message.get("role") in MODEL_ROLES and message.get("metrics")
    ]
    earlier = sum(message.get("from_history") is True for message in answers)
    return {
        name: _sum(held[earlier:] if len(held) == len(answers) else held)
        if type(held) is list
        else held
        for name, held in metrics.items()
    }


def _sum(held: list[Any]) -> float:
    return sum(filter(None, map(cost_of, held)))


def _usage(metrics: dict[str, Any], of_run: dict[str, Any]) -> Usage | None:
    is_apart = word_of(of_run.get("model_provider")) in _CACHE_APART
    sent, received, total, read, written = (
        count_of(metrics.get(name, metrics.get(other)))
        for name, other in (
            ("input_tokens", "prompt_tokens"),
            ("output_tokens", "completion_tokens"),
            ("total_tokens", ""),
            ("cache_read_tokens", "cached_tokens"),
            ("cache_write_tokens", ""),
        )
    )
    cached = (read or 0) + (written or 0)
    if cached and (is_apart or cached > (sent or 0)):
        sent, total = (sent or 0) + cached, None
    return counted(usage_of(sent, received, total, read or None, written or None))


def _counts(executions: Any) -> Counts | None:
    """Return the number of different calls in the run's list of executed tools."""
    calls = {
        id_of(each.get("tool_call_id")) or number
        for number, each in enumerate(objects_of(executions))
        if "tool_name" in each
    }
    return counts_of(tool_calls=len(calls))


IMPORTER = Importer(
    id="agno",
    name="Agno runs",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_row,
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

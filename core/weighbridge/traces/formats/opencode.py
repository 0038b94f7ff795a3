"""opencode: sessions from `opencode export` or the database, messages from the API, `run --format json`, the event log.

A message of the assistant has the parts of one or several model calls; each call ends with its token count.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Run
from weighbridge.traces.chat.facts import Facts
from weighbridge.traces.fields import (
    cost_of,
    count_of,
    counted,
    id_of,
    object_of,
    objects_of,
    scalars,
    string_of,
    time_of,
    usage_of,
    whole_of,
    word_of,
)
from weighbridge.traces.formats.opencode_log import is_row, session_of, sessions_in
from weighbridge.traces.formats.opencode_store import is_store, session_of_rows
from weighbridge.traces.importer import Importer, objects_in
from weighbridge.traces.unread_counts import with_unknown_part, with_unread_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.model import Capability, Step, Trace, Usage

_EVENTS = frozenset({"step_start", "text", "tool_use", "step_finish", "reasoning", "error", "tool"})
_LOOKED_AT = 20
_STOPPED = "MessageAbortedError"
_OF_ANSWERS = frozenset({"text", "tool", "step-finish", "error"})
_ROUNDING = 1 - 1e-9  #: tolerance of a sum of costs
_REASONS: dict[Capability, str] = {
    "token_usage": "no message of this session records its tokens",
    "timing": "this session has no times",
    "cost": "no message of this session records its cost or tokens",
    "tool_definitions": "opencode does not keep the tools with a session",
}
_UNDONE: dict[Capability, str] = dict.fromkeys(
    ("llm_calls", "tool_calls"), "the session used more tokens than the answers that it still has"
)


def _matches(value: Any) -> bool:
    if type(value) is dict:
        return _are_messages(value.get("messages")) or is_store(value)
    if type(value) is not list or not value:
        return False
    some = value[:_LOOKED_AT]
    return _are_messages(value) or all(map(_is_event, some)) or all(map(is_row, some))


def _are_messages(value: Any) -> bool:
    return type(value) is list and bool(value) and all(map(_is_message, value[:_LOOKED_AT]))


def _is_message(value: Any) -> bool:
    info = value.get("info") if type(value) is dict else None
    return type(info) is dict and type(info.get("role")) is str and type(value.get("parts")) is list


def _is_event(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("type")) is str
        and value["type"] in _EVENTS
        and (type(object_of(value.get("part")).get("type")) is str or "error" in value)
        and ("part" in value or type(value.get("sessionID")) is str)
    )


def _is_line(value: Any) -> bool:
    return _is_event(value) or is_row(value)


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the rows of each session in an event log, which may have several."""
    is_log = type(value) is list and is_row(value[0])
    return sessions_in(value) if is_log else []


def _read(value: Any) -> list[Trace]:
    if is_store(value):
        session, damaged = session_of_rows(value)
        return [with_unread_lines(_session(session, ChatLog()), damaged)]
    sessions = _parts(value)
    return [_log(rows) for _, rows in sessions] if sessions else [_session(value, ChatLog())]


def _log(rows: list[dict[str, Any]]) -> Trace:
    chat = ChatLog()
    session = session_of(rows, chat.notes)
    session["info"] = {"id": rows[0].get("aggregate_id"), **session["info"]}
    return _session(session, chat)


def _session(value: Any, chat: ChatLog) -> Trace:
    about: dict[str, Any] = {}
    if type(value) is dict:
        about = object_of(value.get("info"))
        chat.notes.add_fields(value, frozenset({"info", "messages"}), "session")
        messages = value["messages"]
    elif _are_messages(value):
        messages = value
    else:
        messages = _of_events(value)
        about = {"id": value[0].get("sessionID")}
    for message in objects_in(messages, "message"):
        _message(message, chat)
    times = object_of(about.get("time"))
    run = Run(
        id=id_of(about.get("id")),
        started_at=time_of(times.get("created")),
        ended_at=time_of(times.get("updated")),
        metadata=scalars(
            title=about.get("title"),
            version=about.get("version"),
            parent_session=about.get("parentID"),
            sub_sessions=about.get("subSessions"),
        ),
    )
    return _with_totals(chat.trace("opencode", _REASONS, run), about)


def _with_totals(trace: Trace, about: dict[str, Any]) -> Trace:
    """Return a trace with the session's own totals where they are more than its steps'.

    opencode adds up what answers record, so that an equal total does not tell what the others used.
    """
    usage, cost = _usage(object_of(about.get("tokens"))), cost_of(about.get("cost"))
    read = sum(step.usage.total or 0 for step in trace.steps if step.usage)
    spent = sum(step.cost_usd or 0 for step in trace.steps)
    more = usage if usage and (usage.total or 0) > read else None
    dearer = cost if cost and cost * _ROUNDING > spent else None
    if more is None and dearer is None:
        return trace
    # The session keeps what was used by answers that were undone later, and are no longer among its messages.
    trace = replace(
        trace, usage=more, cost_usd=dearer, totals_from="tokens and cost of the session"
    )
    beyond = (more.total or 0) - read if more else 0
    has_answers = any(step.type == "llm" for step in trace.steps)
    is_part = (read > 0 or not has_answers) and beyond > _most_unrecorded(trace.steps)
    return with_unknown_part(trace, _UNDONE if is_part else {})


def _most_unrecorded(steps: Sequence[Step]) -> int:
    """Return how many tokens the answers without any may have used, by the largest of the others."""
    sizes = [(step.usage and step.usage.total) or 0 for step in steps if step.type == "llm"]
    return sizes.count(0) * max(sizes, default=0)


def _of_events(events: list[Any]) -> list[dict[str, Any]]:
    """Return the printed events of a run as messages, with each part in its final state."""
    messages: dict[str, dict[str, dict[str, Any]]] = {}
    for number, event in enumerate(objects_of(events)):
        part = object_of(event.get("part"))
        if event.get("error") is not None:
            part = {"type": "error", "error": event["error"]}
        parts = messages.setdefault(id_of(part.get("messageID")) or "", {})
        parts[id_of(part.get("id")) or f"#{number}"] = part
    return [
        {"info": {"role": "assistant", "id": name}, "parts": list(parts.values())}
        for name, parts in messages.items()
    ]


def _message(message: dict[str, Any], chat: ChatLog) -> None:
    info = object_of(message.get("info"))
    role = string_of(info.get("role")) or "user"
    times = object_of(info.get("time"))
    parts = objects_in(message.get("parts"), "part of a message")
    if role != "assistant":
        said = [part for part in parts if part.get("type") == "text"]
        facts = Facts(started_at=time_of(times.get("created"), "ms"))
        chat.say(role, said or None, facts, id=info.get("id"))
        return
    if not parts and _is_cut_short(info):
        chat.notes.add("attempts at an answer that broke off")
        return
    steps: list[list[dict[str, Any]]] = [[]]
    for part in parts:
        if part.get("type") == "step-start" and steps[-1]:
            steps.append([])
        steps[-1].append(part)
    ends = [part for part in parts if part.get("type") == "step-finish"]
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        if not is_last and _is_abandoned(step):
            chat.notes.add("attempts at an answer that broke off")
            _note_others(step, chat)
            continue
        _step(step, info, chat, is_last=is_last, records_all=is_last and not ends)


def _step(
    parts: list[dict[str, Any]],
    info: dict[str, Any],
    chat: ChatLog,
    *,
    is_last: bool,
    records_all: bool,
) -> None:
    """Add one model call; it gets the message's usage if no part has any."""
    end = next((part for part in parts if part.get("type") == "step-finish"), {})
    recorded = info if records_all else end
    times = object_of(info.get("time"))
    error = object_of(info.get("error")) if is_last else {}
    failure = string_of(object_of(error.get("data")).get("message")) or string_of(error.get("name"))
    tools = [part for part in parts if part.get("type") == "tool"]
    failure = failure or next(
        (_said(part.get("error")) for part in parts if part.get("type") == "error"), None
    )
    _note_others(parts, chat)
    facts = Facts(
        model=string_of(info.get("modelID")),
        usage=_usage(object_of(recorded.get("tokens"))),
        cost_usd=cost_of(recorded.get("cost")),
        error=failure,
        started_at=time_of(times.get("created"), "ms"),
        ended_at=time_of(times.get("completed"), "ms") if is_last else None,
        finish_reason=end.get("reason") or (info.get("finish") if is_last else None),
    )
    said = [part for part in parts if part.get("type") == "text"] or None
    chat.answer(said, facts=facts, id=info.get("id"))
    for part in tools:
        _tool(part, chat)


def _is_cut_short(info: dict[str, Any]) -> bool:
    """Return whether an answer without parts used no tokens and no money, and failed only in that the user stopped it."""
    error = info.get("error")
    is_stopped = string_of(object_of(error).get("name")) == _STOPPED
    tokens = object_of(info.get("tokens"))
    used = [info.get("cost"), *tokens.values(), *object_of(tokens.get("cache")).values()]
    return (not error or is_stopped) and not any(each for each in used if type(each) is not dict)


def _is_abandoned(parts: list[dict[str, Any]]) -> bool:
    """Return whether a step began, and began again before it had a text or a call."""
    kinds = [word_of(part.get("type")) for part in parts]
    return kinds[:1] == ["step-start"] and _OF_ANSWERS.isdisjoint(kinds)


def _note_others(parts: list[dict[str, Any]], chat: ChatLog) -> None:
    for part in parts:
        if word_of(part.get("type")) not in {*_OF_ANSWERS, "step-start"}:
            chat.notes.add_part(part)


def _tool(part: dict[str, Any], chat: ChatLog) -> None:
    state = object_of(part.get("state"))
    times = object_of(state.get("time"))
    call_id = id_of(part.get("callID")) or id_of(part.get("id"))
    call = Call(call_id, string_of(part.get("tool")), state.get("input"))
    chat.add_late_call(call, Facts(started_at=time_of(times.get("start"), "ms")))
    if word_of(state.get("status")) in {"completed", "error"}:
        status = object_of(state.get("metadata")).get("exit")
        has_failed = state.get("status") == "error" or (type(status) is int and status != 0)
        error = string_of(state.get("error")) or has_failed
        facts = Facts(error=error, ended_at=time_of(times.get("end"), "ms"))
        output = state.get("output")
        chat.result(call_id, state.get("error") if output is None else output, facts)


def _said(error: Any) -> str:
    held = object_of(error)
    recorded = object_of(held.get("data")).get("message") or held.get("message") or held.get("name")
    return string_of(error) or string_of(recorded) or "error"


def _usage(tokens: dict[str, Any]) -> Usage | None:
    """Return a call's usage; its input excludes cache reads and writes, its output excludes reasoning."""
    cache = object_of(tokens.get("cache"))
    read, written, total = cache.get("read"), cache.get("write"), count_of(tokens.get("total"))
    sent, received = whole_of(tokens.get("input"), read, written), count_of(tokens.get("output"))
    if total is None or total != (sent or 0) + (received or 0):
        received = whole_of(received, tokens.get("reasoning"))
    return counted(usage_of(sent, received, total, read, written or None))


IMPORTER = Importer(
    id="opencode",
    name="opencode sessions",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        ("id", "info.id; of a tool call callID"),
        ("type", "from step-start to step-finish is llm, each tool part in it is tool"),
        ("name, arguments", "tool, state.input"),
        ("output", "text parts; of a tool call state.output"),
        ("error", "state.error; state.metadata.exit other than 0; error of the message"),
        ("model", "info.modelID"),
        ("finish_reason", "reason of step-finish, or finish of the message"),
        ("usage, cost_usd", "tokens and cost of step-finish, or of the message"),
        (
            "usage, cost_usd of the run",
            "tokens and cost of the session, with those that it started, where they are more than those of their answers",
        ),
        ("started_at, ended_at", "info.time, state.time"),
        ("metadata", "title, version, parentID, in a database the number of sub-sessions"),
    ),
    tried_on="synthetic sessions and events, modelled on the source of opencode 1; a real database of 1.16 and event log of 1.17.11",
    lacks="tool definitions and the system prompt; outside a database, sub-agents, which have sessions of their own",
)

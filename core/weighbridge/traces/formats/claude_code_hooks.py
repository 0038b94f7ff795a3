"""Logs of Claude Code's hooks, as many write them: what a hook was given, one event after the other, without the model's answers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.traces.chat.call_parts import Call, first_of
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import id_of, object_of, objects_of, string_of, time_of, word_of
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from collections.abc import Hashable

    from weighbridge.traces.model import Capability, Trace

_LOOKED_AT = 20  #: events that decide whether a list is of this form
_EVENT = "hook_event_name"
_BEFORE, _AFTER, _PROMPT = "PreToolUse", "PostToolUse", "UserPromptSubmit"
_FAILED = "PostToolUseFailure"
_TIMES = ("timestamp", "logged_at", "time")
_REASONS: dict[Capability, str] = {
    "token_usage": "hooks are not given the model's answers, so that neither these nor their tokens are counted",
    "timing": "the events of this log have no times",
    "cost": "hooks are not given the cost",
    "tool_definitions": "hooks are not given the tools that were offered",
}


def _matches(value: Any) -> bool:
    some = value[:_LOOKED_AT] if type(value) is list else []
    return bool(some) and all(map(_is_event, some))


def _is_event(value: Any) -> bool:
    held = object_of(value)
    return type(held.get(_EVENT)) is str and "session_id" in held


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the events of each session: a log may have several."""
    sessions: dict[str | None, list[dict[str, Any]]] = {}
    for event in objects_of(value):
        sessions.setdefault(id_of(event.get("session_id")), []).append(event)
    return list(sessions.items())


def _read(value: Any) -> list[Trace]:
    return [_session(name, events) for name, events in _parts(value)]


def _session(name: str | None, events: list[dict[str, Any]]) -> Trace:
    chat = ChatLog()
    begun: dict[Hashable, Call] = {}  #: calls without a result
    for number, event in enumerate(events):
        kind = word_of(event.get(_EVENT))
        time = time_of(first_of(event, _TIMES))
        if kind in {_BEFORE, _AFTER, _FAILED}:
            key = _key(event)
            call = begun.get(key) if kind != _BEFORE else None
            if call is None:
                call_id = id_of(event.get("tool_use_id")) or f"call_{number}"
                call = Call(call_id, string_of(event.get("tool_name")), event.get("tool_input"))
                chat.ask(call, Facts(started_at=time if kind == _BEFORE else None))
                begun[key] = call
            if kind != _BEFORE:
                del begun[key]
                response = first_of(event, ("tool_response", "error"))
                failed = kind == _FAILED or object_of(response).get("success") is False
                chat.result(call.id, response, Facts(error=failed or None, ended_at=time))
        elif kind == _PROMPT:
            chat.say("user", event.get("prompt"), Facts(started_at=time))
        else:
            chat.notes.add_kind("events", kind)
    trace = chat.trace("claude-code-hooks", _REASONS, Run(id=name))
    return replace(trace, steps=tuple(step for step in trace.steps if step.type != "other"))


def _key(event: dict[str, Any]) -> Hashable:
    """Return what both events of a call share: its id, or else its tool and input."""
    own_id = id_of(event.get("tool_use_id"))
    if own_id is not None:
        return own_id
    try:
        given = orjson.dumps(event.get("tool_input"), option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer beyond 64 bits, or very deep
        given = b""
    return string_of(event.get("tool_name")), given


IMPORTER = Importer(
    id="claude-code-hooks",
    name="logs of Claude Code hooks",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_event,
    fields=(
        ("id", "session_id; of a tool call, tool_use_id"),
        ("type", "a PreToolUse or PostToolUse event is tool, UserPromptSubmit is user"),
        ("name, arguments", "tool_name, tool_input"),
        ("output", "tool_response"),
        ("error", "tool_response.success: false, or a PostToolUseFailure event"),
        ("started_at, ended_at", "a time that the hook added"),
    ),
    tried_on="a real log in a public repository",
    lacks="the model's answers, so that model calls are not counted; tokens, cost, tool definitions",
)

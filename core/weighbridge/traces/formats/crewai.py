"""CrewAI: the output of a crew with its tasks' outputs, events of its bus in sequence, and its log of tasks.

The output has the number of model calls, and tool calls only if the tasks keep their messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Facts, Run, are_messages
from weighbridge.traces.fields import (
    count_of,
    counted,
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    read_usage,
    string_of,
    time_of,
    usage_of,
)
from weighbridge.traces.formats.crewai_log import is_log, read_log
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Counts

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_PREFIXES = ("crew_", "task_", "agent_", "llm_", "tool_usage", "flow_", "memory_", "lite_agent_")
_SUFFIXES = ("_started", "_completed", "_failed", "_finished", "_error", "_chunk")
_OWN = ("crew_kickoff", "llm_call", "tool_usage")
_LOOKED_AT = 20
_REASONS: dict[Capability, str] = {
    "tool_calls": "a crew's output does not record which tools its agents called",
    "token_usage": "this output does not record its token_usage",
    "timing": "a crew's output has no times",
    "cost": "CrewAI records no cost, and this output no tokens to compute it from",
    "tool_definitions": "a crew's output does not record which tools its agents had",
}


def _matches(value: Any) -> bool:
    if type(value) is dict:
        return type(value.get("tasks_output")) is list and "raw" in value
    if is_log(value):
        return True
    some = value[:_LOOKED_AT] if type(value) is list else []
    if all(map(_is_event, some)):
        return any(map(_is_line, some))
    # New versions have events of new types.
    return all(map(_has_type_and_time, some)) and any(
        _is_event(event) and _has_own_field(event) for event in some
    )


def _has_type_and_time(value: Any) -> bool:
    return type(value) is dict and type(value.get("type")) is str and "timestamp" in value


def _is_event(value: Any) -> bool:
    """Return whether a value has the name of an event; other programs may use such names, too."""
    return (
        _has_type_and_time(value)
        and value["type"].startswith(_PREFIXES)
        and value["type"].endswith(_SUFFIXES)
    )


def _has_own_field(event: dict[str, Any]) -> bool:
    return "source_fingerprint" in event or "crew_name" in event


def _is_line(value: Any) -> bool:
    """Return whether a value is an event that no other program writes."""
    return _is_event(value) and (value["type"].startswith(_OWN) or _has_own_field(value))


def _read(value: Any) -> list[Trace]:
    if type(value) is dict:
        return [_read_output(value)]
    if is_log(value):
        return [read_log(value)]
    reader = _Events()
    for event in objects_of(value):
        reader.add(event)
    return [reader.trace()]


def _read_output(value: dict[str, Any]) -> Trace:
    chat = ChatLog()
    recorded = False
    for task in objects_of(value["tasks_output"]):
        messages = task.get("messages")
        if are_messages(messages):
            recorded = True
            _messages(objects_of(messages), chat)
        else:
            chat.say("user", task.get("description"))
            chat.answer(string_of(task.get("raw")), name=task.get("agent"))
    used = object_of(value.get("token_usage"))
    usage = counted(
        usage_of(
            used.get("prompt_tokens"),
            used.get("completion_tokens"),
            used.get("total_tokens"),
            used.get("cached_prompt_tokens"),
        )
    )
    counts = Counts(llm_calls=count_of(used.get("successful_requests")))
    run = Run(usage=usage)
    trace = chat.trace("crewai", _REASONS, run, counts=counts, totals_from="token_usage")
    if not recorded:
        trace.missing.setdefault("tool_calls", _REASONS["tool_calls"])
    return trace


def _messages(messages: list[dict[str, Any]], chat: ChatLog) -> None:
    for message in messages:
        role, content = message["role"], message.get("content")
        if role == "assistant":
            chat.answer(content, calls_of({**message, "content": None}))
        elif role in {"tool", "function"}:
            chat.result(message.get("tool_call_id"), content, name=message.get("name"))
        else:
            chat.say(role, content)


class _Events:
    """Reader of events: it adds a model call at its end and a tool call at its start, each once."""

    def __init__(self) -> None:
        self._chat = ChatLog()
        self._run = Run()
        self._calls = 0
        self._open: dict[str, list[str]] = {}  #: IDs of running calls, by tool
        self._seen: set[str] = set()

    def add(self, event: dict[str, Any]) -> None:
        """Add an event."""
        name = id_of(event.get("event_id"))
        if name is not None:
            if name in self._seen:
                self._chat.notes.add("repeated events")
                return
            self._seen.add(name)
        kind, time = str(event.get("type")), time_of(event.get("timestamp"))
        if kind in {"llm_call_completed", "llm_call_failed"}:
            self._answer(event, time)
        elif kind.startswith("tool_usage"):
            self._tool(kind, event, time)
        elif kind == "task_started":
            task = object_of(event.get("task"))
            asked = task.get("description") or event.get("task_name")
            self._chat.say("user", asked, Facts(started_at=time))
        elif kind == "crew_kickoff_started":
            self._run.started_at = time
        elif kind in {"crew_kickoff_completed", "crew_kickoff_failed"}:
            self._run.ended_at = time
            total = count_of(event.get("total_tokens"))
            self._run.usage = counted(usage_of(total_tokens=total)) or self._run.usage
        else:
            self._chat.notes.add_kind("events", kind)

    def _answer(self, event: dict[str, Any], time: int | None) -> None:
        response = event.get("response")
        held = response if type(response) is list else object_of(response).get("tool_calls")
        calls = calls_of({"tool_calls": held}) if type(held) is list else []
        text = string_of(response) or string_of(object_of(response).get("content"))
        facts = Facts(
            model=string_of(event.get("model")),
            usage=counted(read_usage(event.get("usage"))),
            error=string_of(event.get("error")),
            ended_at=time,
        )
        agent = string_of(event.get("agent_role"))
        self._chat.answer(text, facts=facts, name=agent)
        if calls:
            self._chat.notes.add(
                "calls that an answer asks for, repeated when the tools are used", len(calls)
            )

    def _tool(self, kind: str, event: dict[str, Any], time: int | None) -> None:
        name = string_of(event.get("tool_name")) or ""
        waiting = self._open.setdefault(name, [])
        if kind == "tool_usage_started" or not waiting:
            self._calls += 1
            call_id = f"call_{self._calls}"
            arguments = parse_arguments(event.get("tool_args"))
            self._chat.add_late_call(Call(call_id, name or None, arguments), Facts(started_at=time))
            waiting.append(call_id)
        if kind != "tool_usage_started":
            error = string_of(event.get("error"))
            failed = error or (True if kind.endswith("error") else None)
            output = event.get("output", error)
            self._chat.result(waiting.pop(), output, Facts(error=failed, ended_at=time))

    def trace(self) -> Trace:
        """Return the trace of all events."""
        totals = "total_tokens" if self._run.usage else ""
        return self._chat.trace("crewai", _REASONS, self._run, totals_from=totals)


IMPORTER = Importer(
    id="crewai",
    name="CrewAI outputs and events",
    matches=_matches,
    read=_read,
    is_line=_is_line,
    fields=(
        ("type", "an llm_call_completed, or a task's output, is llm; a tool_usage_started is tool"),
        ("type in a log of tasks", "status started is user, completed is agent"),
        ("name, arguments", "tool_name and tool_args; agent of an answer"),
        (
            "output",
            "response or raw, output in a log of tasks; of a tool call output of tool_usage_finished",
        ),
        ("error", "error of tool_usage_error and llm_call_failed"),
        ("model, usage", "model and usage of llm_call_completed"),
        ("usage of the run", "token_usage of the output"),
        ("counts", "token_usage.successful_requests: model calls"),
        ("started_at, ended_at", "timestamp"),
    ),
    tried_on="the events of a real crew; synthetic outputs and events, modelled on the documentation of CrewAI 0.100 to 1",
    lacks="cost and tool definitions; of a log of tasks also all calls and tokens; of an output also times and, unless its tasks keep messages, tool calls",
)

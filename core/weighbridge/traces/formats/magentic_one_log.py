"""Logs of Magentic-One's own `LogHandler`: a line for each message of its orchestrator and agents, and for each model call.

A model call is logged when it returns, with its tokens and no text; the message that its caller writes next has the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import PROGRAM, Run
from weighbridge.traces.chat.facts import Facts
from weighbridge.traces.fields import objects_of, string_of, time_of, usage_of, word_of
from weighbridge.traces.importer import Importer
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_LOOKED_AT = 20  #: number of lines by which the format is recognised
_CALL, _ACTION = "LLMCallEvent", "WebSurferEvent"
_MESSAGES = frozenset({"OrchestrationEvent", "AgentEvent", _ACTION})
_KINDS = _MESSAGES | {_CALL, "OtherEvent"}  #: the last of messages of AutoGen's own runtime
_FIELDS = frozenset({"timestamp", "type", "source", "message", "action", "arguments", "url"}) | {
    "prompt_tokens",
    "completion_tokens",
}
_USER = "UserProxy"
_TO_USER = f"Orchestrator (-> {_USER})"
_REASONS: dict[Capability, str] = {
    "token_usage": "no model call in this log has its tokens",
    "timing": "the lines of this log have no times",
    "cost": "the log has neither cost nor the model to compute it for",
    "tool_definitions": "the log does not list the tools of its agents",
}
_UNREAD: dict[Capability, str] = {
    "tool_calls": "the log has the actions of WebSurfer, and not those of other agents"
}


def _matches(value: Any) -> bool:
    rows = value[:_LOOKED_AT] if type(value) is list else [value]
    return bool(rows) and all(map(_is_line, rows))


def _is_line(value: Any) -> bool:
    kind = word_of(value.get("type")) if type(value) is dict else ""
    if kind == _CALL:
        return "prompt_tokens" in value
    return kind in _KINDS and "timestamp" in value and (kind not in _MESSAGES or "source" in value)


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the lines of each task, which begins with a message of the user that no orchestrator asked for."""
    tasks: list[tuple[str | None, Any]] = []
    asked = False
    for line in objects_of(value if type(value) is list else [value]):
        source = line.get("source")
        if not tasks or (source == _USER and not asked):
            tasks.append((None, []))
        tasks[-1][1].append(line)
        asked = source == _TO_USER if source is not None else asked
    return tasks


def _read(value: Any) -> list[Trace]:
    return [_Task().read(lines) for _, lines in _parts(value)]


class _Task:
    """Reader of a task's lines: it gives each model call the message that follows it."""

    def __init__(self) -> None:
        self._chat = ChatLog()
        self._waiting: list[Facts] = []  #: of model calls whose text has not come
        self._acting: str | None = None  #: the agent whose action waits for its result
        self._actions = 0

    def read(self, lines: list[dict[str, Any]]) -> Trace:
        """Return the trace of the task."""
        for line in lines:
            self._chat.notes.add_fields(line, _FIELDS, "log")
            self._line(line)
        self._flush()
        trace = self._chat.trace("magentic-one-log", _REASONS, Run())
        return with_unknown_part(trace, _UNREAD)

    def _line(self, line: dict[str, Any]) -> None:
        kind, time = line.get("type"), time_of(line.get("timestamp"))
        if kind == _CALL:
            usage = usage_of(line.get("prompt_tokens"), line.get("completion_tokens"))
            self._waiting.append(Facts(usage=usage, ended_at=time))
            return
        if kind not in _MESSAGES:
            self._chat.notes.add("messages of AutoGen's runtime")
            return
        source, text = string_of(line.get("source")), line.get("message")
        if kind == _ACTION and line.get("action"):
            self._act(line, source, text, time)
        elif kind == _ACTION:  # a screenshot, or a new tab
            self._chat.say(PROGRAM, text, Facts(started_at=time), name=source)
        elif source == _USER:
            self._flush()
            self._acting = None
            self._chat.say("user", text, Facts(started_at=time))
        elif source is not None and source == self._acting:
            self._flush()
            self._acting = None
            self._chat.result(self._action_id, text, Facts(ended_at=time))
        else:
            self._acting = None
            if self._waiting:
                self._answer(text, source)
            else:
                self._chat.say(PROGRAM, text, Facts(started_at=time), name=source)

    @property
    def _action_id(self) -> str:
        return f"action_{self._actions}"

    def _act(self, line: dict[str, Any], source: str | None, text: Any, time: int | None) -> None:
        """Add an action of the web surfer, which its last model call asked for."""
        if self._waiting:
            self._answer(text, source)
        self._actions, self._acting = self._actions + 1, source
        call = Call(self._action_id, string_of(line.get("action")), line.get("arguments"))
        self._chat.ask(call, Facts(started_at=time))

    def _answer(self, text: Any, source: str | None) -> None:
        last = self._waiting.pop()
        self._flush()
        self._chat.answer(text, facts=last, name=source)

    def _flush(self) -> None:
        """Add the model calls whose text the log does not have."""
        for facts in self._waiting:
            self._chat.answer(None, facts=facts)
        self._waiting = []


IMPORTER = Importer(
    id="magentic-one-log",
    name="Magentic-One logs",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        ("type", "LLMCallEvent is llm; a WebSurferEvent with an action is tool; UserProxy is user"),
        ("name", "source; of an action, action"),
        ("arguments", "arguments of the action"),
        (
            "output",
            "message of the event after the model call; of an action, the next message of its source",
        ),
        ("usage", "prompt_tokens, completion_tokens"),
        ("started_at, ended_at", "timestamp"),
    ),
    tried_on="a real log; synthetic ones",
    lacks="models, cost, the calls of agents other than WebSurfer; which model call belongs to which message, where several stand together",
)

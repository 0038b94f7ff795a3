"""AutoGen since 0.4: messages and events of a team's task, a team's saved state, and logged or recorded model and tool calls.

AutoGen Studio keeps the messages of a run in rows of its database.

Some programs keep only the text and the source of each message, or messages as they are printed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call, as_list
from weighbridge.traces.chat.calls import calls_of
from weighbridge.traces.chat.chat_log import ChatLog, flat_call
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import (
    count_of,
    counted,
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    read_usage,
    scalars,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.formats.autogen_calls import RecordedCalls, add_result, is_recorded_call
from weighbridge.traces.formats.autogen_printed import (
    PLAIN_ROLES,
    TASK_RESULT,
    are_printed,
    is_message,
    with_printed,
)
from weighbridge.traces.formats.autogen_studio import (
    SYSTEM,
    USERS,
    LoggedCalls,
    is_logged_call,
    messages_of,
    rows_in,
    runs_in,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.stored_rows import SESSION, several
from weighbridge.traces.unread_counts import with_unread_lines

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_REPEATS = frozenset({"ModelClientStreamingChunkEvent", "ToolCallSummaryMessage", TASK_RESULT})
_LOGGED = frozenset({"LLMCall", "ToolCall", "LLMStreamEnd", "LLMStreamStart"})
_UNSIGNED = ("SystemMessage", "FunctionExecutionResultMessage")
_CONTEXT = ("UserMessage", "AssistantMessage", *_UNSIGNED)
_AGENT_STATE = "AssistantAgentState"
_TEAM_STATE, _THREAD = "TeamState", "message_thread"
_BARE = frozenset({"content", "source"})
_BARE_FIELDS = _BARE | {"models_usage", "metadata"}
_LOOKED_AT = 20
_FAILED = "the run failed: a model call that failed is no message"
_NO_TYPES = "messages without their types do not show calls"
_REASONS: dict[Capability, str] = {
    "token_usage": "no message of this run records its models_usage",
    "timing": "the messages of this run have no times",
    "cost": "AutoGen records no cost, and this run no tokens to compute it from",
    "tool_definitions": "the messages come without the tools that were offered",
}


def _matches(value: Any) -> bool:
    listed = [value] if is_recorded_call(value) else _listed(value)
    if type(listed) is not list or not listed:
        return False
    some = listed[:_LOOKED_AT]
    kinds = (is_message, _is_logged, _is_of_context, is_recorded_call)
    return (
        any(all(map(of_kind, some)) for of_kind in kinds) or _are_bare(some) or are_printed(listed)
    )


def _listed(value: Any) -> Any:
    """Return the messages of a run: those that a team's manager keeps, in the saved state of a team."""
    rows = rows_in(value)
    if rows is not None:
        return messages_of(rows)[0]
    if type(value) is not dict:
        return value
    if value.get("type") == _AGENT_STATE:
        return object_of(value.get("llm_context")).get("messages")
    if value.get("type") == _TEAM_STATE:
        states = object_of(value.get("agent_states")).values()
        return next((thread for state in states if (thread := object_of(state).get(_THREAD))), None)
    return value.get("messages")


def _are_bare(some: list[Any]) -> bool:
    """Return whether messages have only their text and source, which is all that some programs keep.

    Retrieved documents have the same fields, but the source of a message is an agent's name, which is an identifier.
    """
    return all(map(_is_bare, some)) and any(message["source"] in USERS for message in some)


def _is_bare(value: Any) -> bool:
    return (
        type(value) is dict
        and _BARE <= value.keys() <= _BARE_FIELDS
        and type(value["content"]) is str
        and type(value["source"]) is str
        and value["source"].isidentifier()
    )


def _is_logged(value: Any) -> bool:
    kind = value.get("type") if type(value) is dict else None
    return (
        type(kind) is str
        and kind in _LOGGED
        and ("response" in value or "tool_name" in value or "messages" in value)
    )


def _is_of_context(value: Any) -> bool:
    """Return whether a value is a message of a model's context, as in the saved state of an agent."""
    kind = value.get("type") if type(value) is dict else None
    return kind in _CONTEXT and ("source" in value or kind in _UNSIGNED) and "content" in value


def _is_line(value: Any) -> bool:
    return is_message(value) or _is_logged(value)


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return the rows of each run in a table that has several."""
    return several(runs_in(value))


def _read(value: Any) -> list[Trace]:
    runs = runs_in(value)
    if runs:
        return [_trace({"id": name}, *messages_of(rows)) for name, rows in runs]
    rows = rows_in(value)
    if rows is not None:
        return [_trace(value[SESSION], *messages_of(rows))]
    listed = [value] if is_recorded_call(value) else _listed(value)
    if are_printed(listed):
        listed = [printed or _said(entry) for entry, printed in with_printed(listed)]
    return [_trace(object_of(value), objects_of(listed))]


def _said(entry: Any) -> dict[str, Any]:
    """Return the text of an entry that is no printed message as a message without a type."""
    entry = entry if type(entry) is dict else {"content": entry}
    role = entry.get("role")
    source = role if role in PLAIN_ROLES else entry.get("name") or role
    return {"source": source, "content": entry.get("content")}


def _trace(about: dict[str, Any], listed: list[dict[str, Any]], damaged: int = 0) -> Trace:
    """Return a run from what is known of it and its messages; `damaged` is how many rows of it have none."""
    reader = MessageReader(ChatLog(), listed)
    recorded = RecordedCalls(reader.chat)
    for number, message in enumerate(listed):
        if is_recorded_call(message):
            recorded.add(message)
        elif _is_logged(message):
            reader.logged(message)
        elif is_logged_call(message):
            reader.studio.add(message)
        elif _is_of_context(message):
            reader.of_context(message)
        else:
            reader.message(message, is_first=number == 0)
    reader.close()
    error = string_of(about.get("error_message"))
    if error:
        reader.chat.say("event", None, Facts(error=error))
    run = Run(
        id=id_of(about.get("id", about.get("team_id"))),
        metadata=scalars(stop_reason=about.get("stop_reason"), status=about.get("status")),
        tools=list((reader.studio.tools | reader.tools).values()),
    )
    trace = reader.chat.trace("autogen", _REASONS, run)
    missing: dict[Capability, str] = {"llm_calls": _FAILED} if error else {}
    if _are_bare(listed[:_LOOKED_AT]):
        missing["tool_calls"] = _NO_TYPES
    trace = replace(trace, missing={**missing, **trace.missing})
    return with_unread_lines(trace, damaged + reader.studio.unread)


class MessageReader:
    """Reader of messages, events and logged calls into a chat; `listed` are those of Studio among them."""

    def __init__(self, chat: ChatLog, listed: list[dict[str, Any]]) -> None:
        self.chat = chat
        self.studio = LoggedCalls(listed, self.chat)
        self.tools: dict[str, Any] = {}
        self._thought: dict[str, Any] | None = None  #: an agent's reasoning before its calls
        self._calls = 0
        self._waiting: dict[str, deque[str]] = {}  #: IDs of calls without a logged result, by tool
        self._messages_so_far = 0  #: number of the messages in requests that were added already

    def message(self, message: dict[str, Any], *, is_first: bool) -> None:
        """Add a message or an event of a team."""
        kind, content = str(message.get("type")), message.get("content")
        time = time_of(message.get("created_at"))
        name = string_of(message.get("source"))
        if kind == "ThoughtEvent":
            self.close()
            self._thought = message
        elif kind == "ToolCallRequestEvent":
            self._ask(message, time)
        elif kind == "ToolCallExecutionEvent":
            for result in objects_of(content):
                add_result(self.chat, result, time)
        elif kind in _REPEATS:
            self.chat.notes.add(f"{kind}s, which repeat other messages")
        elif kind in {"CodeExecutionEvent", "MemoryQueryEvent", "UserInputRequestedEvent"}:
            self.close()
            self.chat.say("event", _shown(message), Facts(ended_at=time), name=name)
        else:
            self._speech(message, time, is_first=is_first)

    def of_context(self, message: dict[str, Any]) -> None:
        """Add a message of a model's context."""
        kind, content = message["type"], message["content"]
        name = string_of(message.get("source"))
        if kind == "AssistantMessage" and type(content) is list:
            self._thought = {"content": message.get("thought")}
            self._ask(message, None)
        elif kind == "AssistantMessage":
            self.chat.answer(content, name=name)
        elif kind == "FunctionExecutionResultMessage":
            for result in objects_of(content):
                add_result(self.chat, result)
        else:
            self.chat.say("user" if kind == "UserMessage" else "system", content, name=name)

    def _speech(self, message: dict[str, Any], time: int | None, *, is_first: bool) -> None:
        """Add a text message: a model's if it used tokens or its source is not a person."""
        self.close()
        name = string_of(message.get("source"))
        of_call = self.studio.facts_of(message)
        usage = counted(read_usage(message.get("models_usage"))) or of_call.usage
        by_user = usage is None and (
            (name or "").lower() in USERS or (is_first and message.get("models_usage") is None)
        )
        own_id = message.get("id")
        if name == SYSTEM and "type" not in message:
            self.chat.say(SYSTEM, message.get("content"))
        elif by_user:
            self.chat.say("user", _shown(message), Facts(started_at=time), id=own_id)
        elif usage is None and self._is_of_program(word_of(message.get("type"))):
            self.chat.say("event", _shown(message), Facts(ended_at=time), id=own_id, name=name)
        else:
            facts = Facts(model=of_call.model, usage=usage, ended_at=time)
            self.chat.answer(_shown(message), facts=facts, id=own_id, name=name)

    def _is_of_program(self, kind: str) -> bool:
        """Return whether a program speaks: a logged call has the model's choice of a speaker already."""
        is_choice = kind == "SelectSpeakerEvent" and self.studio.has_any
        return is_choice or kind in {"StopMessage", "HandoffMessage"}

    def _ask(self, message: dict[str, Any], time: int | None) -> None:
        thought, self._thought = self._thought, None
        usage = read_usage(message.get("models_usage"))
        usage = counted(usage) or counted(read_usage((thought or {}).get("models_usage")))
        of_call = self.studio.facts_of(message)
        calls = [flat_call(call) for call in objects_of(message.get("content"))]
        self.chat.answer(
            (thought or {}).get("content"),
            calls,
            Facts(model=of_call.model, usage=usage or of_call.usage, ended_at=time),
            of_calls=Facts(started_at=time),
            id=message.get("id"),
            name=string_of(message.get("source")),
        )

    def close(self) -> None:
        """Note a thought that no call followed: it is an answer, or the beginning of the next message."""
        thought, self._thought = self._thought, None
        if thought is not None:
            self.chat.notes.add("thoughts that no call follows")

    def logged(self, event: dict[str, Any]) -> None:
        """Add a logged event: a model call with its input, or a tool call."""
        if event.get("type") == "ToolCall":
            self._ran(event)
            return
        if event.get("type") == "LLMStreamStart":
            return
        for tool in objects_of(event.get("tools")):
            held = object_of(tool.get("function")) or tool
            self.tools.setdefault(str(held.get("name")), tool)
        listed = objects_of(event.get("messages"))
        for message in listed[self._messages_so_far :]:
            role = word_of(message.get("role", message.get("type")))
            if role in {"user", "system"}:
                self.chat.say(str(role), message.get("content"))
        self._messages_so_far = max(self._messages_so_far, len(listed))
        response = object_of(event.get("response"))
        choices = objects_of(response.get("choices"))
        answer = object_of(choices[0].get("message")) if choices else response
        content = answer.get("content")
        calls = calls_of({"tool_calls": as_list(content)}) if type(content) is list else []
        used = {name: count_of(event.get(name)) for name in ("prompt_tokens", "completion_tokens")}
        calls = [*calls_of({**answer, "content": None}), *calls]
        for call in calls:
            if call.id is not None and call.name is not None:
                self._waiting.setdefault(call.name, deque()).append(call.id)
        self.chat.answer(
            None if type(content) is list else content,
            calls,
            Facts(
                model=string_of(response.get("model")),
                usage=counted(read_usage(used)) or counted(read_usage(response.get("usage"))),
            ),
            name=string_of(event.get("agent_id")),
        )

    def _ran(self, event: dict[str, Any]) -> None:
        """Add a tool's result to the first pending call of the tool, or as a separate call."""
        self._calls += 1
        arguments = parse_arguments(event.get("arguments"))
        name = string_of(event.get("tool_name"))
        waiting = self._waiting.get(name or "")
        call_id = waiting.popleft() if waiting else f"tool_{self._calls}"
        if not self.chat.has_call(call_id):
            self.chat.add_late_call(Call(call_id, name, arguments))
        self.chat.result(call_id, event.get("result"))


def _shown(message: dict[str, Any]) -> Any:
    """Return a message's content; for structured or multimodal messages, the part that can be shown."""
    content = message.get("content")
    if content is None:
        return message.get("result") or message.get("target")
    return content


IMPORTER = Importer(
    id="autogen",
    name="AutoGen messages and events",
    matches=_matches,
    read=_read,
    parts=_parts,
    is_line=_is_line,
    fields=(
        ("id", "id of a message; of a tool call the id in a ToolCallRequestEvent"),
        (
            "type",
            "a ToolCallRequestEvent, LLMCall, or an agent's message is llm; the calls in it are tool",
        ),
        ("name, arguments", "name and arguments of the calls; source of a message"),
        (
            "output",
            "content; of a tool call its ToolCallExecutionEvent, or the result of a ToolCall",
        ),
        ("error", "is_error; error_message of a run in AutoGen Studio"),
        (
            "usage",
            "models_usage; prompt_tokens and completion_tokens of an LLMCall; usage of a recorded response",
        ),
        ("started_at, ended_at", "created_at"),
        ("tools", "tools of an LLMCall"),
        ("model", "response.model of an LLMCall, also of one that AutoGen Studio logs"),
        ("metadata", "stop_reason, status"),
    ),
    tried_on="synthetic messages and events, also printed ones, modelled on the documentation of AutoGen 0.4 to 0.7; messages without types, recorded calls and databases of AutoGen Studio in public repositories",
    lacks="cost and, except in the log, the model and tool definitions",
)

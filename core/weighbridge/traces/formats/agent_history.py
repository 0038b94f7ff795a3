"""Chats of several agents under `history`, as AG2 and Magentic-One write them: each message names its speaker.

AutoGen 0.2 also has them under the name of the other agent.

Neither separates calls from text, but each has fixed rules for how agents act and report. AG2's executor runs the code
blocks of the message before it and answers `exitcode: ...`. Magentic-One's terminal does the same, with other words. Its
WebSurfer begins each report with its action in the browser. AgentChat, the AutoGen since 0.4, has messages with types; some
programs keep each as it is printed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import Run
from weighbridge.traces.chat.roles import ROLES
from weighbridge.traces.fields import (
    added,
    cost_of,
    object_of,
    scalars,
    string_of,
    usage_of,
)
from weighbridge.traces.formats.agent_history_reader import ORCHESTRATOR, HistoryReader
from weighbridge.traces.formats.autogen_chats import (
    AMBIGUOUS,
    are_chats,
    chats_in,
    with_speakers,
)
from weighbridge.traces.formats.autogen_printed import are_printed
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.unread_counts import with_unread_lines

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace, Usage

_HISTORIES = ("history", "chat_history")
_ABOUT = (
    *("question", "question_ID", "ground_truth", "level", "is_correct", "is_corrected"),
    *("mistake_agent", "mistake_step", "mistake_reason", "mistake_type", "summary"),
)
_FIELDS = frozenset(
    {*_ABOUT, *_HISTORIES, "id", "conversation_id", "chat_id", "cost", "human_input"}
)
_IDS = ("id", "question_ID", "conversation_id")
_OF_OTHERS = frozenset({"trajectory", "metadata", "messages", "task_completed"})
_LOOKED_AT = 20  #: messages examined to recognise a history
_REASONS: dict[Capability, str] = {
    "token_usage": "this history carries no token counts",
    "timing": "this history carries no times",
    "cost": "this history carries no cost",
    "tool_definitions": "this history does not list the agents' tools",
}


def _matches(value: Any) -> bool:
    if are_chats(value):
        return True
    if type(value) is list:  # a bare list of AG2's messages has no distinguishing mark
        return any(map(_is_of_orchestrator, value[:_LOOKED_AT])) and all(
            map(_is_said, value[:_LOOKED_AT])
        )
    if type(value) is not dict or not _OF_OTHERS.isdisjoint(value):
        return False
    history = _history(value)
    some = history[:_LOOKED_AT]
    return (
        bool(some)
        and all(map(_is_said, some))
        and (
            any(string_of(each.get("name")) or each["role"] not in ROLES for each in some)
            or are_printed(history)
        )
    )


def _is_of_orchestrator(message: Any) -> bool:
    role = message.get("role") if type(message) is dict else None
    return type(role) is str and role.startswith(ORCHESTRATOR)


def _history(value: dict[str, Any]) -> list[Any]:
    return next((value[key] for key in _HISTORIES if type(value.get(key)) is list), [])


def _is_said(message: Any) -> bool:
    return (
        type(message) is dict
        and type(message.get("role")) is str
        and "content" in message
        and "action" not in message
        and "agent" not in message
    )


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    """Return each chat of an agent that has several."""
    chats = chats_in(value) if are_chats(value) else []
    return [(name, {name: chat}) for name, chat in chats] if len(chats) > 1 else []


def _of_chat(other: str, chat: list[Any]) -> Trace:
    """Return a chat of an agent with another one."""
    messages, is_uncertain = with_speakers(other, chat)
    reader = HistoryReader(messages)
    if len(messages) < len(chat):
        reader.chat.notes.add("messages in another form", len(chat) - len(messages))
    trace = reader.chat.trace("agent-history", _REASONS, Run(id=other))
    lacking: dict[Capability, str] = {"llm_calls": AMBIGUOUS} if is_uncertain else {}
    trace = replace(trace, missing={**lacking, **trace.missing})
    return with_unread_lines(reader.completed(trace), len(chat) - len(messages))


def _read(value: Any) -> list[Trace]:
    if are_chats(value):
        return [_of_chat(name, chat) for name, chat in chats_in(value)]
    value = {"history": value} if type(value) is list else value
    history = _history(value)
    for number, message in enumerate(history, 1):
        if not _is_said(message):
            raise damaged(f"message {number} is not an object with a role and content")
    reader = HistoryReader(history)
    reader.chat.notes.add_fields(value, _FIELDS, "record")
    usage, cost_usd = _spent(value.get("cost"))
    run = Run(
        id=next(filter(None, (string_of(value.get(name)) for name in _IDS)), None),
        usage=usage,
        cost_usd=cost_usd,
        metadata=scalars(**{name: value.get(name) for name in _ABOUT}),
    )
    return [reader.completed(reader.chat.trace("agent-history", _REASONS, run))]


def _spent(value: Any) -> tuple[Usage | None, float | None]:
    """Return the usage that AG2 records for a chat, by model, including cached tokens."""
    recorded = object_of(object_of(value).get("usage_including_cached_inference"))
    models = [held for held in recorded.values() if type(held) is dict]
    counts = [
        usage_of(held.get("prompt_tokens"), held.get("completion_tokens"), held.get("total_tokens"))
        for held in models
    ]
    return added(counts), cost_of(recorded.get("total_cost"))


IMPORTER = Importer(
    id="agent-history",
    name="AG2 and Magentic-One histories",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "id, question_ID, or the name under which a chat is; of a printed message its id"),
        (
            "type",
            "an agent's message is llm, the first and a person's is user, what the orchestrator hands on or notes itself (Next speaker ...) is other; by role and name, or by the type and source of a printed message; under another agent's name assistant is the agent itself, and user the other one, of which one without a name is a model's",
        ),
        (
            "name, arguments",
            "execute_code with the blocks of code before an exit code, and their language if they have one, or ComputerTerminal's text; what WebSurfer says it did; the calls of a printed ToolCallRequestEvent",
        ),
        ("arguments_as_shown", "true for what WebSurfer says it did"),
        ("output", "content; of a tool call, the message that records its outcome"),
        ("error", "an exitcode other than 0; is_error of a printed result"),
        ("usage", "models_usage of a printed message"),
        ("started_at, ended_at", "created_at of a printed message"),
        ("usage, cost_usd of the run", "cost.usage_including_cached_inference"),
        ("metadata", ", ".join(_ABOUT)),
    ),
    tried_on="real runs of AG2, of AutoGen 0.2 and of Magentic-One, two of them with printed messages; synthetic printed messages of all types",
    lacks="tool definitions; times, unless messages are printed; tokens and cost, unless the chat's cost is stored with it or"
    " printed messages have their tokens; what FileSurfer and others did with their tools",
)

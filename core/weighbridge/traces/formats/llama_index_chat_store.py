"""LlamaIndex's `SimpleChatStore`, as its `persist` writes it (`chat_store.json`), or in a saved memory: the messages of each conversation by a key.

It has what a memory keeps of a chat. Calls with which a chat engine condenses a question, and the steps of a ReAct agent, are
not among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import CHAT_FIELDS, Run, are_messages, read_messages
from weighbridge.traces.chat.llama_index import with_content
from weighbridge.traces.importer import Importer
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_STORE, _CLASS = "store", "class_name"
_HELD = "chat_store"  #: key of the store in a memory
_CLASS_NAME = "SimpleChatStore"
_MODEL_CALLS = "a chat store has what was said, and not the calls between a question and its answer"
_TOOL_CALLS = "no message has calls, and those of a ReAct agent are not in its chat store"
_REASONS: dict[Capability, str] = {
    "token_usage": "LlamaIndex's chat stores have no tokens",
    "timing": "LlamaIndex's chat stores have no times",
    "cost": "LlamaIndex's chat stores have no cost",
    "tool_definitions": "LlamaIndex's chat stores do not list the tools that were offered",
}


def _store_of(value: Any) -> Any:
    """Return the chat store in a saved memory (`ChatMemoryBuffer`), or else the value itself."""
    held = value.get(_HELD) if type(value) is dict and _STORE not in value else None
    return value if held is None else held


def _matches(value: Any) -> bool:
    value = _store_of(value)
    if type(value) is not dict or type(value.get(_STORE)) is not dict:
        return False
    return (
        value.get(_CLASS) == _CLASS_NAME
        and bool(_chats(value))
        and all(map(_is_chat, value[_STORE].values()))
    )


def _is_chat(messages: Any) -> bool:
    return messages == [] or are_messages(messages)


def _chats(value: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the chats that have messages, by their keys."""
    return {key: held for key, held in _store_of(value)[_STORE].items() if held}


def _parts(value: dict[str, Any]) -> list[tuple[str | None, Any]]:
    return [
        (key, {_STORE: {key: held}, _CLASS: _CLASS_NAME}) for key, held in _chats(value).items()
    ]


def _read(value: dict[str, Any]) -> list[Trace]:
    return [_chat(key, messages, _store_of(value)) for key, messages in _chats(value).items()]


def _chat(key: str, messages: list[Any], value: dict[str, Any]) -> Trace:
    run = Run(id=key or None)
    run.notes.add_fields(value, frozenset({_STORE, _CLASS}), "store")
    trace = read_messages(with_content(messages), IMPORTER.id, run, _REASONS)
    lacking: dict[Capability, str] = {"llm_calls": _MODEL_CALLS}
    if not trace.steps_of("tool"):
        lacking["tool_calls"] = _TOOL_CALLS
    return with_unknown_part(trace, lacking)


IMPORTER = Importer(
    id="llama-index-chat-store",
    name="LlamaIndex chat stores",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "the key of the chat"),
        *CHAT_FIELDS,
        ("output of a message", "blocks, or content"),
    ),
    tried_on="real chat stores of two public repositories, without tools; stores and memories made with llama-index-core 0.14.25, with tools",
    lacks="tokens, times, cost and tools; the calls of a chat engine between a question and its answer, so that the number of model calls is a lower bound, and that of tool calls unless messages have some",
)

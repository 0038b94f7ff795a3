"""Conversion of LlamaIndex's messages, with `blocks` and `additional_kwargs`, to OpenAI's fields.

The context of an agent's workflow, saved by `Context.to_dict()`, has the messages in the memory of its state, as JSON text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import json_of
from weighbridge.traces.chat.dialects import Dialect
from weighbridge.traces.fields import object_of, objects_of, string_of, word_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_BLOCKS, _NESTED = "blocks", "additional_kwargs"
_MOVED_UP = frozenset({"tool_call_id", "name"})
#: Fields of blocks that have other names in parts.
_RENAMED = {"block_type": "type", "tool_kwargs": "arguments"}
_STATE, _OLD_STATE = "state", "globals"  #: keys of a context's state in newer and older versions
_PACKAGE = "llama_index."  #: prefix of the names of LlamaIndex's classes


def with_memory(value: dict[str, Any]) -> dict[str, Any]:
    """Return a saved context of an agent's workflow with the messages of its memory; any other object unchanged."""
    for key in (_STATE, _OLD_STATE):
        held = object_of(value.get(key))
        if key == _STATE:
            held = object_of(object_of(held.get("state_data")).get("_data"))
        memory = object_of(json_of(held.get("memory")))
        if "is_running" in value and word_of(memory.get("qualified_name")).startswith(_PACKAGE):
            messages = _remembered(object_of(memory.get("value")))
            # The messages of a turn are in the memory only after its end.
            pending = objects_of(json_of(held.get("scratchpad")))
            messages += [object_of(each.get("value")) or each for each in pending]
            return {name: item for name, item in value.items() if name != key} | {
                "messages": messages
            }
    return value


def _remembered(memory: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages of a `ChatMemoryBuffer`, or of a `Memory`, which keeps them in rows of a database."""
    store = object_of(object_of(memory.get("chat_store")).get("store"))
    rows = objects_of(object_of(memory.get("sql_store")).get("db_data"))
    of_session = [row for row in rows if row.get("key") == memory.get("session_id")]
    return [
        *objects_of(store.get(word_of(memory.get("chat_store_key")))),
        *(object_of(row.get("data")) for row in of_session),
    ]


def with_content(messages: Iterable[Any]) -> list[Any]:
    """Return messages; those of LlamaIndex get their blocks as content."""
    return [_plain(message) if _has_blocks(message) else message for message in messages]


def _has_blocks(message: Any) -> bool:
    blocks = message.get(_BLOCKS) if type(message) is dict else None
    return type(blocks) is list and all(
        type(block) is dict and type(block.get("block_type")) is str for block in blocks
    )


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    recorded = {key: item for key, item in message.items() if key not in {_BLOCKS, _NESTED}}
    beside = object_of(message.get(_NESTED))
    recorded |= {key: item for key, item in beside.items() if key in _MOVED_UP}
    rest = {key: item for key, item in beside.items() if key not in _MOVED_UP}
    if calls := objects_of(rest.get("tool_calls")):
        rest["tool_calls"] = list(map(_named, calls))
    if rest:
        recorded[_NESTED] = rest
    if message[_BLOCKS]:  # some programs repeat their text beside them
        recorded["content"] = list(map(_part, message[_BLOCKS]))
    return recorded


def _part(block: dict[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(key, key): item for key, item in block.items()}


def _named(call: dict[str, Any]) -> dict[str, Any]:
    """Return a call with an ID: if the model gives no IDs, it is the tool's name, which the agents also use in the result."""
    name = string_of(call.get("name"))
    return {**call, "id": name} if call.get("id") == "" and name else call


DIALECT = Dialect(frozenset({_BLOCKS}), with_content)

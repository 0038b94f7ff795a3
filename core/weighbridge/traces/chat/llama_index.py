"""Messages of LlamaIndex in OpenAI's fields: their content is `blocks`, their calls and ids are in `additional_kwargs`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_NESTED = "additional_kwargs"
_LIFTED = frozenset({"tool_call_id", "name"})
#: Fields of blocks that have other names in parts.
_RENAMED = {"block_type": "type", "tool_kwargs": "arguments"}


def with_content(messages: Iterable[Any]) -> list[Any]:
    """Return messages, those of LlamaIndex with their blocks as content."""
    return [_plain(message) if _has_blocks(message) else message for message in messages]


def _has_blocks(message: Any) -> bool:
    blocks = message.get("blocks") if type(message) is dict else None
    return type(blocks) is list and all(
        type(block) is dict and type(block.get("block_type")) is str for block in blocks
    )


def _plain(message: dict[str, Any]) -> dict[str, Any]:
    recorded = {key: item for key, item in message.items() if key not in {"blocks", _NESTED}}
    beside = object_of(message.get(_NESTED))
    recorded |= {key: item for key, item in beside.items() if key in _LIFTED}
    rest = {key: item for key, item in beside.items() if key not in _LIFTED}
    if rest:
        recorded[_NESTED] = rest
    if message["blocks"]:  # whose text some programs repeat beside them
        recorded["content"] = list(map(_part, message["blocks"]))
    return recorded


def _part(block: dict[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(key, key): item for key, item in block.items()}

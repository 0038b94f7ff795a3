"""Messages with the tokens and the model of their answer in an object beside the content: `metadata` of Strands, `meta` of Haystack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.chat.dialects import Dialect
from weighbridge.traces.chat.roles import MODEL_ROLES
from weighbridge.traces.fields import object_of, read_usage, string_of

if TYPE_CHECKING:
    from collections.abc import Iterable

_HOLDERS = ("metadata", "meta")
_USAGES = ("totalUsage", "usage")  #: the first is that of all calls of a message of Vercel's AI SDK
_FINISH = "finish_reason"
_LIFTED = frozenset({*_USAGES, "model", _FINISH})


def with_usage_of_metadata(messages: Iterable[Any]) -> list[Any]:
    """Return messages; an answer gets the usage and the model in its metadata as fields of its own."""
    return [_lifted(message) if type(message) is dict else message for message in messages]


def _lifted(message: dict[str, Any]) -> dict[str, Any]:
    if message.get("role") not in MODEL_ROLES or message.get("usage"):
        return message
    for holder in _HOLDERS:
        held = object_of(message.get(holder))
        usage, model = first_of(held, _USAGES), string_of(held.get("model"))
        if model or read_usage(usage):
            rest = {name: item for name, item in held.items() if name not in _LIFTED}
            model = message.get("model") or model
            ended = message.get(_FINISH) or held.get(_FINISH)
            return {**message, holder: rest, "usage": usage, "model": model, _FINISH: ended}
    return message


DIALECT = Dialect(frozenset(_HOLDERS), with_usage_of_metadata)

"""Digests of a request's first messages, up to each message. They show whether a later request continues this one."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson

_CACHE_MARK = "cache_control"  #: key of a mark that clients move to other parts in each request


def digests_of(messages: list[dict[str, Any]]) -> tuple[bytes, ...]:
    """Return the digest of no message, then for each message that of all messages up to it."""
    digest = hashlib.blake2b(digest_size=16)
    digests = [digest.digest()]
    for message in messages:
        try:
            digest.update(orjson.dumps(without_cache_marks(message)))
        except TypeError:  # an integer beyond 64 bits, or very deep
            digest.update(repr(len(digests)).encode())
        digests.append(digest.digest())
    return tuple(digests)


def without_cache_marks(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without its cache marks; content that is one text part becomes a text, as it is without a mark."""
    content = message.get("content")
    if type(content) is list:
        parts = [_without_mark(part) if type(part) is dict else part for part in content]
        is_text = len(parts) == 1 and type(parts[0]) is dict and parts[0].keys() == {"type", "text"}
        content = parts[0]["text"] if is_text else parts
        return {**_without_mark(message), "content": content}
    return _without_mark(message)


def _without_mark(value: dict[str, Any]) -> dict[str, Any]:
    if _CACHE_MARK not in value:
        return value
    return {name: held for name, held in value.items() if name != _CACHE_MARK}

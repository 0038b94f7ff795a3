"""JSON in files with the name of a table."""

from __future__ import annotations

import orjson

from weighbridge.jobs.line import BYTE_ORDER_MARK, JSON_SPACE


def json_in(head: bytes) -> tuple[str, str] | None:
    """Return the kind of JSON at the beginning of a file, and the right ending of its name.

    None for a table, even if its cells have JSON.
    """
    content = head.removeprefix(BYTE_ORDER_MARK).lstrip(JSON_SPACE)
    first = content.partition(b"\n")[0].rstrip(JSON_SPACE)
    begins_list = content[:1] == b"[" and content[1:].lstrip(JSON_SPACE)[:1] == b"{"
    if first == b"{" or begins_list:
        return "a JSON document", ".json"
    try:
        is_object = isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return None
    return ("JSON Lines", ".jsonl") if is_object else None

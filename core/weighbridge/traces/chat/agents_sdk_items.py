"""Items of OpenAI's Agents SDK for JavaScript in the names of OpenAI's API, of which the SDK for Python keeps most."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import text_of, word_of

#: OpenAI's API names of fields and item types, by JavaScript's names.
_FIELDS = {"callId": "call_id", "providerData": "provider_data", "rawContent": "raw_content"}
_RESULT, OUTPUT = "_result", "_output"
_RESULT_OF_CALL = "_call_result"
_OWN_TYPES = frozenset({"hosted_tool_call", "program", "program_output"})


def api_item(item: dict[str, Any]) -> dict[str, Any]:
    """Return an item with the names of OpenAI's API: the item itself if it has no others."""
    kind = word_of(item.get("type"))
    is_result = kind.endswith(_RESULT_OF_CALL)
    if not (is_result or kind in _OWN_TYPES or not _FIELDS.keys().isdisjoint(item)):
        return item
    recorded = {_FIELDS.get(key, key): held for key, held in item.items()}
    if is_result:
        recorded["type"] = kind.removesuffix(_RESULT) + OUTPUT
    elif kind == "hosted_tool_call":
        named = word_of(recorded.get("name"))
        recorded["type"] = named if named.endswith("_call") else "mcp_call"
    elif kind == "program":
        recorded |= {"type": "program_call", "name": "program"}
    elif kind == "program_output":
        recorded.setdefault("output", recorded.get("result"))
    is_output = word_of(recorded.get("type")).endswith(OUTPUT)
    if is_output and type(recorded.get("output")) is dict:
        recorded["output"] = text_of([recorded["output"]]) or recorded["output"]
    return recorded

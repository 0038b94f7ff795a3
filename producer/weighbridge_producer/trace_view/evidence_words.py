"""Limits and observations of evidence in words, where they are lists or objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.graders.values import as_json
from weighbridge.text import cut_after, pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping

_VALUE_CHARACTERS = 2_000
_MEMBERS = 20
#: By check, what a call that was refused would have needed; the names follow.
_REQUIRED = {
    "tool_known": "a tool that is defined",
    "tool_allowed": "a tool in the allowlist",
    "tool_not_blocked": "no tool in the blocklist",
}


def in_words(entry: Mapping[str, Any], name: str) -> str:
    """Return the list or object in a field of an evidence entry in words; empty for other values, and for nested ones."""
    value = entry.get(name)
    if type(value) is list and value and all(type(item) is str for item in value):
        return cut_after(_listed(value, entry, is_limit=name == "limit"), _VALUE_CHARACTERS)
    if type(value) is dict and value:
        return cut_after(_members(value), _VALUE_CHARACTERS)
    return ""


def _listed(items: list[str], entry: Mapping[str, Any], *, is_limit: bool) -> str:
    between = "; " if any(" " in item for item in items) else ", "
    more = len(items) - _MEMBERS
    shown = between.join(items[:_MEMBERS]) + (f" and {more:,} more" if more > 0 else "")
    required = _REQUIRED.get(str(entry.get("check")))
    is_refused = is_limit and required and not entry.get("passed")
    return f"{required}: {shown}" if is_refused else shown


def _members(members: dict[str, Any]) -> str:
    """Return the members of an object as text; empty if one of them has members of its own."""
    if any(type(value) in {list, dict} for value in members.values()):
        return ""
    if members.keys() == {"tool", "calls"} and type(members["calls"]) is int:
        return f"{members['tool']}, {pluralize(members['calls'], 'call')}"
    shown = [
        f"{name}: {value if type(value) is str else as_json(value)}"
        for name, value in list(members.items())[:_MEMBERS]
    ]
    return "; ".join(shown)

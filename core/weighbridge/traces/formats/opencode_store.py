"""opencode's database: rows of a session, its messages and their parts, which keep most of their data as JSON."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields import (
    cost_of,
    count_of,
    id_of,
    object_of,
    objects_of,
    scalars,
)
from weighbridge.traces.formats.opencode_log import unknown_info
from weighbridge.traces.stored_rows import (
    PARTS,
    ROWS,
    SESSION,
    SUB_SESSIONS,
    are_rows,
    in_order,
    json_cell,
)


def is_store(value: Any) -> bool:
    """Return whether a value has the rows of a session."""
    if type(value) is not dict or type(value.get(SESSION)) is not dict:
        return False
    rows, parts = value.get(ROWS), value.get(PARTS)
    if type(parts) is not list or not (parts or are_rows(rows, _is_row)):
        return False
    return type(rows) is list and all(map(_is_row, rows[:1])) and all(map(_is_part, parts[:1]))


def _is_row(value: Any) -> bool:
    return (
        type(value) is dict
        and type(value.get("session_id")) is str
        and type(value.get("data")) in {str, dict}
    )


def _is_part(value: Any) -> bool:
    return _is_row(value) and type(value.get("message_id")) is str


def session_of_rows(value: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return a session in the form of opencode's export, with its total tokens and cost, and the number of damaged rows."""
    about, subs = value[SESSION], objects_of(value.get(SUB_SESSIONS))
    parts: dict[str | None, list[dict[str, Any]]] = {}
    damaged = 0
    for row in in_order(objects_of(value[PARTS]), "id"):
        part = object_of(json_cell(row, "data"))
        damaged += not part
        parts.setdefault(id_of(row.get("message_id")), []).append(part | {"id": row.get("id")})
    messages = []
    for row in in_order(in_order(objects_of(value[ROWS]), "id"), "time_created"):
        info = object_of(json_cell(row, "data"))
        damaged += not info
        held = parts.pop(id_of(row.get("id")), [])
        messages.append(
            {"info": (info or unknown_info(held)) | {"id": row.get("id")}, "parts": held}
        )
    messages += [{"info": unknown_info(held), "parts": held} for held in parts.values()]
    info = {
        **scalars(id=about.get("id"), title=about.get("title"), version=about.get("version")),
        **scalars(parentID=about.get("parent_id"), subSessions=len(subs) or None),
        "time": {"created": about.get("time_created"), "updated": about.get("time_updated")},
        **_totals([about, *subs]),
    }
    return {"info": info, "messages": messages}, damaged


def _totals(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the tokens and the cost that sessions have in total, each of which counts its own answers alone."""
    sent, received, thought, read, written = (
        sum(count_of(row.get(f"tokens_{kind}")) or 0 for row in rows)
        for kind in ("input", "output", "reasoning", "cache_read", "cache_write")
    )
    return {
        "tokens": {
            "input": sent,
            "output": received,
            "reasoning": thought,
            "cache": {"read": read, "write": written},
        },
        "cost": sum(cost_of(row.get("cost")) or 0 for row in rows),
    }

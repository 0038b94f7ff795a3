"""Forks of Codex: rollouts that begin with the lines of the session they were forked from, copied with new times.

IDs of sessions and turns begin with their creation time (UUID version 7), so that turns older than the session are copies.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of, string_of, time_of

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIMED_ID = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def copied_lines(lines: Sequence[dict[str, Any]]) -> int | None:
    """Return the number of a rollout's first lines that are copies.

    Return None for a fork whose lines do not show it, or one that has only copies.
    """
    opening = object_of(lines[0].get("payload")) if lines else {}
    is_fork = bool(string_of(opening.get("forked_from_id")))
    if not lines or lines[0].get("type") != "session_meta" or not (is_fork or _is_child(opening)):
        return 0
    name = string_of(opening.get("id"))
    began = _time_in(name) or time_of(opening.get("timestamp"))
    for number, line in enumerate(lines):
        payload = object_of(line.get("payload"))
        if line.get("type") == "session_meta":
            is_fork = is_fork or payload.get("id") != name
            continue
        turn = _time_in(payload.get("turn_id"))
        if turn is None or began is None:
            continue
        if turn >= began:
            return number if is_fork else 0
        is_fork = True
    return None if is_fork else 0


def _is_child(opening: dict[str, Any]) -> bool:
    """Return whether another agent started the session, which may then begin with that agent's lines."""
    spawn = object_of(
        object_of(object_of(opening.get("source")).get("subagent")).get("thread_spawn")
    )
    return bool(string_of(spawn.get("parent_thread_id")))


def _time_in(name: Any) -> int | None:
    """Return the time in an id, in nanoseconds."""
    matched = _TIMED_ID.fullmatch(name) if type(name) is str else None
    return time_of(int(matched[1] + matched[2], 16), "ms") if matched else None

"""Runs in the data of SWE-agent's web demo (`web_trajs.json`): thoughts, actions and outputs, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from weighbridge.traces.fields import object_of, objects_of, string_of

_KINDS = frozenset({"thought", "action", "output"})
_LOOKED_AT = 20


def is_run(value: Any) -> bool:
    """Return whether a value is a run of the demo."""
    held = object_of(value)
    history = held.get("history")
    if "instance_id" not in held or type(history) is not list or not history:
        return False
    return all(_is_event(event) for event in history[:_LOOKED_AT])


def _is_event(event: Any) -> bool:
    kind = string_of(object_of(event).get("type"))
    return kind in _KINDS and (kind in event or "output_terminal" in event)


def as_trajectory(run: dict[str, Any]) -> dict[str, Any]:
    """Return a run as the content of a trajectory file."""
    about = {
        "problem_statement": {"id": run.get("instance_id")},
        "agent": {"model": {"name": run.get("model")}},
    }
    return {"trajectory": list(_turns(run)), "replay_config": about}


def _turns(run: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each thought with its action, and what came of that; the empty thought at the beginning is none."""
    turn: dict[str, Any] = {}
    for event in objects_of(run.get("history")):
        kind = string_of(event.get("type")) or ""
        if kind == "thought" and turn:
            yield _whole(turn)
            turn = {}
        if kind == "output":
            turn["observation"] = _observation(event)
        elif kind in _KINDS and (text := string_of(event.get(kind))):
            turn["response" if kind == "thought" else "action"] = text
    if turn:
        yield _whole(turn)


def _whole(turn: dict[str, Any]) -> dict[str, Any]:
    return {"response": "", "action": "", "observation": None} | turn


def _observation(event: dict[str, Any]) -> str | None:
    """Return what the terminal showed, or else the editor."""
    return string_of(event.get("output_terminal")) or string_of(event.get("output_editor"))

"""Proposed mappings for rows that are traces, such as conversations, with the answer and the expected one beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.column_names import normal
from weighbridge_producer.input.conversations import TEXTS, is_by_agent
from weighbridge_producer.input.mapping import Path
from weighbridge_producer.input.mapping_proposals import Proposal, propose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping import Row

#: Keys of lists whose first item is the answer. What other lists of objects hold, such as messages, belongs to the trace.
_ANSWERS = frozenset({"choices"})
#: Names that mean the expected answer where the conversation has the agent's.
_AMBIGUOUS = frozenset({"answer", "result", "actual"})


def propose_beside_traces(
    rows: Sequence[Row],
    needed: Sequence[str],
    *,
    joined: Sequence[str] = (),
    accepts_several: bool = False,
    booleans: frozenset[str] = frozenset(),
) -> Proposal | None:
    """Propose a mapping for rows that are traces; None if no name says that a value beside the trace is a needed input."""
    beside = [_without_steps(row) for row in rows]
    proposing = partial(propose, joined=joined, accepts_several=accepts_several, booleans=booleans)
    found = proposing(beside, needed)
    named = found.fields.keys() - {"custom_id", *found.guessed}
    if not named.intersection(needed):
        return None
    last = _last_message(rows) if "agent_response" in needed else None
    path = found.fields.get("agent_response", "")
    if last and ("agent_response" not in named or normal(path) in _AMBIGUOUS):
        found = proposing(beside, needed, given={"agent_response": last})
    return found


def _last_message(rows: Sequence[Row]) -> str | None:
    """Return the path to the text of the last message if it is the agent's in each row."""
    for key, value in rows[0].items():
        for name in TEXTS if _are_objects(value) else ():
            path = f"{key}.-1.{name}"
            if all(_is_agents(row.get(key)) and _is_text(Path(path).of(row, 1)) for row in rows):
                return path
    return None


def _is_agents(messages: Any) -> bool:
    return isinstance(messages, list) and bool(messages) and is_by_agent(messages[-1])


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _without_steps(value: Any) -> Any:
    """Return a value without lists of objects, except those of answers."""
    if not isinstance(value, Mapping):
        return value
    return {
        key: _first_answer(item) if key in _ANSWERS else _without_steps(item)
        for key, item in value.items()
        if key in _ANSWERS or not _are_objects(item)
    }


def _first_answer(value: Any) -> Any:
    return [_without_steps(each) for each in value[:1]] if isinstance(value, list) else value


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, (Mapping, list)) for each in value)

"""Proposed mappings for rows with conversations, also those that are traces with the answer or the expected one beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.conversations import (
    TEXTS,
    LastAnswer,
    is_by_agent,
    last_answers_in,
    last_entry_in,
)
from weighbridge_producer.input.mapping.path_texts import path_of
from weighbridge_producer.input.mapping.row_values import Path
from weighbridge_producer.input.proposals.column_names import can_be, normal
from weighbridge_producer.input.proposals.mapping_proposals import propose
from weighbridge_producer.input.proposals.proposal import Proposal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge_producer.input.mapping.row_values import Row

#: Keys of lists whose first item is the answer. What other lists of objects hold, such as messages, belongs to the trace.
_ANSWERS = frozenset({"choices"})
_RESPONSE = "agent_response"
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
    path = found.fields.get(_RESPONSE, "")
    if _RESPONSE in needed and (_RESPONSE not in named or normal(path) in _AMBIGUOUS):
        if last := _last_message(rows):
            return proposing(beside, needed, given={_RESPONSE: last})
        return _with_last_answer(rows, partial(proposing, beside, needed)) or found
    return found


def propose_from_rows(rows: Sequence[Row], needed: Sequence[str], **options: Any) -> Proposal:
    """Propose a mapping for rows that are no traces; `options` are those of `propose`.

    If the answer would be in the last message of a conversation, and this is not a text of the agent in each row, the
    agent's last message is taken.
    """
    proposing = partial(propose, rows, needed, **options)
    found = proposing()
    if _RESPONSE not in needed or not _may_be_last_answer(found, rows):
        return found
    return _with_last_answer(rows, proposing) or found


def _may_be_last_answer(found: Proposal, rows: Sequence[Row]) -> bool:
    """Return whether a proposal has no answer, or a message that is not a text of the agent in each row."""
    path = found.fields.get(_RESPONSE)
    if path is None:
        return True
    conversation, keys = last_entry_in(path)
    if not keys:
        return False
    last = LastAnswer.in_(conversation)
    is_of_agent = all(last.is_last_message(row, 1) for row in rows)
    return (
        len(keys) > 1 or not is_of_agent or not all(_is_text(Path(path).of(row, 1)) for row in rows)
    )


def _with_last_answer(rows: Sequence[Row], proposing: Callable[..., Proposal]) -> Proposal | None:
    """Return a proposal with the agent's last message in a conversation as the answer; None if rows have none."""
    # The messages of a prompt may have answers too, as examples.
    answers = last_answers_in(rows)
    last = next((each for each in answers if can_be(_RESPONSE, each.conversation.text)), None)
    if last is None:
        return None
    found = proposing(given={_RESPONSE: last.text})
    columns = (*found.columns, last.text)
    if found.mapping is None:
        return replace(found, columns=columns)
    inputs = {**found.mapping.inputs, _RESPONSE: last}
    return replace(found, columns=columns, mapping=replace(found.mapping, inputs=inputs))


def _last_message(rows: Sequence[Row]) -> str | None:
    """Return the path to the text of the last message if it is the agent's in each row."""
    for key, value in rows[0].items():
        for name in TEXTS if _are_objects(value) else ():
            path = path_of((key, "-1", name))
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
        key: _answers(item) if key in _ANSWERS else _without_steps(item)
        for key, item in value.items()
        if key in _ANSWERS or not _are_objects(item)
    }


def _answers(value: Any) -> Any:
    return [_without_steps(each) for each in value] if isinstance(value, list) else value


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(each, (Mapping, list)) for each in value)

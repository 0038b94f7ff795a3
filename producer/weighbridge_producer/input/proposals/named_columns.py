"""The columns of all inputs of a case, by their names and, for the answers of agents and the expected ones, by each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.path_texts import path_of
from weighbridge_producer.input.mapping.row_values import Path
from weighbridge_producer.input.proposals.boolean_columns import choose_booleans
from weighbridge_producer.input.proposals.column_choice import Choice, chosen_path
from weighbridge_producer.input.proposals.column_fit import fits
from weighbridge_producer.input.proposals.column_names import (
    can_be,
    is_agents,
    is_within_reference,
    may_name_text,
)

if TYPE_CHECKING:
    from weighbridge_producer.input.proposals.column_values import Columns

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_ANSWERS = (_RESPONSE, _EXPECTED)


@dataclass(slots=True)
class NamedColumns:
    """The paths found for inputs, and how far their names support them."""

    paths: dict[str, str]
    guessed: set[str] = field(default_factory=set)  #: inputs found by their values
    weak: list[str] = field(default_factory=list)  #: inputs whose names may mean another one
    unsure: list[str] = field(default_factory=list)  #: inputs whose names do not say which they are
    rivals: tuple[str, ...] = ()  #: columns that may be the agent's answer; empty if only one may
    expected_rivals: tuple[str, ...] = ()  #: the same for the expected answer

    def add(self, name: str, choice: Choice) -> None:
        """Take a choice for an input."""
        self.paths[name] = choice.path
        self.weak += [name] if choice.is_weak else []
        self.unsure += [name] if choice.is_unsure else []
        rivals = (choice.path, *choice.rivals) if choice.rivals else ()
        if name == _EXPECTED:
            self.expected_rivals = rivals
        elif rivals:
            self.rivals = rivals


def named_columns(
    columns: Columns,
    given: dict[str, str],
    needed: list[str],
    custom_id: str | None,
    booleans: Columns,
) -> NamedColumns:
    """Return the columns of inputs that are needed and not given; `booleans` are those of booleans if these are wanted."""
    found = NamedColumns(dict(given))
    are_answers = set(_ANSWERS) <= set(needed)
    if booleans and are_answers:
        chosen = choose_booleans(columns, booleans, {custom_id}, needed)
        found.paths |= chosen.fields
        found.guessed |= chosen.guessed
    shared = _shared_names(columns, custom_id) if are_answers else []
    # The expected output has clearer names, and `answer` means it if there is a response column too.
    for name in sorted(needed, key=lambda name: name != _EXPECTED):
        if name in found.paths:
            continue
        choice = _same_name(shared, found.paths.get(_EXPECTED)) if name == _RESPONSE else None
        choice = choice or chosen_path(name, columns, {custom_id, *found.paths.values()}, needed)
        if choice:
            found.add(name, choice)
    if len(shared) == 1 and not set(_ANSWERS) <= found.paths.keys():
        return NamedColumns(found.paths | dict(zip(_ANSWERS, shared[0], strict=True)))
    return found


def _same_name(shared: list[tuple[str, str]], expected: str | None) -> Choice | None:
    return next((Choice(path) for path, other in shared if other == expected), None)


def _shared_names(columns: Columns, custom_id: str | None) -> list[tuple[str, str]]:
    """Return pairs of an agent's value and the expected one with the same name, as in `outputs.x` and `reference_outputs.x`."""
    within: dict[str, str] = {}
    for path, values in columns.items():
        is_free = path != custom_id and can_be("agent_response", path) and may_name_text(path)
        if is_free and is_agents(path) and fits("agent_response", path, values):
            within.setdefault(path_of(Path(path).parts[1:]), path)
    return [
        (within[inner], path)
        for path, values in columns.items()
        if is_within_reference(path)
        and (inner := path_of(Path(path).parts[1:])) in within
        and fits("expected_output", path, values)
    ]

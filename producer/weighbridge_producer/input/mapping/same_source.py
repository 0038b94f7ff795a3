"""Whether two values of a mapping, such as the agent's and the expected answer, can be read from one place of a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.choices import Choice, Letter
from weighbridge_producer.input.mapping.conversations import TEXTS, LastAnswer
from weighbridge_producer.input.mapping.json_cells import JsonCell
from weighbridge_producer.input.mapping.row_values import (
    EACH_ENTRY,
    Constant,
    FirstOf,
    Path,
    Template,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from weighbridge_producer.input.mapping.row_values import Value

_Place = tuple[str, ...]  #: the keys that lead to a value, whatever the notation of its path
_ANYWHERE = "**"  #: as the last key of a place, anything within the object


def common_source(one: Value, other: Value) -> str:
    """Return what two values, or alternatives of theirs, can both be read from, as `one` writes it; empty if nothing."""
    others = [place for value in _alternatives(other) for place in _places(value)]
    for value in _alternatives(one):
        if any(_are_same(place, each) for place in _places(value) for each in others):
            return str(value)
    return ""


def part_of_other(one: Value, other: Value, columns: Collection[str]) -> str:
    """Return the path of the one of two values that is a part of the other one; empty if neither is.

    `columns` are those of the rows: a column whose name is the whole path is no part of another one.
    """
    paths = [path for value in (one, other) for path in _only_path(value)]
    if len(paths) < 2:
        return ""
    places = [(path.text,) if path.text in columns else path.parts for path in paths]
    shorter, longer = sorted(places, key=len)
    is_part = len(shorter) < len(longer) and longer[: len(shorter)] == shorter
    return paths[places.index(longer)].text if is_part else ""


def _only_path(value: Value) -> list[Path]:
    """Return the path that a value is read from as it is; none if it is a value of another form."""
    if isinstance(value, Template):
        paths = [path for path in value.paths() if value.text == f"{{{path.text}}}"]
        return paths[:1]
    return [value] if isinstance(value, Path) else []


def is_beside(path: str, values: Iterable[Value]) -> bool:
    """Return whether a path begins with another column than each of those that values are read from."""
    columns = {place.parts[0] for value in values for place in value.paths()}
    return Path(path).parts[0] not in columns


def _alternatives(value: Value) -> Iterable[Value]:
    if not isinstance(value, FirstOf):
        return (value,)
    return [each for inner in value.values for each in _alternatives(inner)]


def _places(value: Value) -> set[_Place]:
    """Return the places that a value is read from; those of a selection are told apart by a word before them."""
    if isinstance(value, Constant):
        return set()
    # A column whose name is the whole text takes precedence.
    whole = (str(value),)
    if isinstance(value, Path):
        return {whole, value.parts}
    if isinstance(value, JsonCell):
        return {whole, *_places(value.cell)}
    if isinstance(value, LastAnswer):
        return {whole, *((*value.conversation.parts, "-1", key) for key in TEXTS)}
    if isinstance(value, (Choice, Letter)):
        return {whole, _selection(value)}
    if isinstance(value, Template):
        return {whole, *_places_of_template(value)}
    return {(*path.parts, _ANYWHERE) for path in value.paths()}  # an object of another tool


def _selection(value: Choice | Letter | Path) -> _Place:
    if isinstance(value, Path):
        return value.parts
    if isinstance(value, Letter):
        return ("letter()", *_selection(value.index))
    return ("choice[]", *value.choices.parts, "[", *value.chosen.parts)


def _places_of_template(value: Template) -> set[_Place]:
    """Return the place of a template that is nothing but one path in braces."""
    paths = [path for path in value.paths() if path.text != value.text]
    is_alone = len(paths) == 1 and value.text == f"{{{paths[0].text}}}"
    return _places(paths[0]) if is_alone else set()


def _are_same(one: _Place, other: _Place) -> bool:
    are_equal = len(one) == len(other) and all(map(_may_be_same, one, other))
    return are_equal or _is_within(one, other) or _is_within(other, one)


def _may_be_same(one: str, other: str) -> bool:
    """Return whether two keys are the same, or one is each entry of a list and the other the index of one."""
    keys = {one, other}
    return one == other or (EACH_ENTRY in keys and max(keys).lstrip("-").isdecimal())


def _is_within(place: _Place, around: _Place) -> bool:
    *keys, last = around
    return last == _ANYWHERE and place[: len(keys)] == tuple(keys)

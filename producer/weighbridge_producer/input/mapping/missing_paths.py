"""Paths of a mapping that no row has, and the columns that they probably stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from weighbridge.errors import MappingError
from weighbridge.text import closest, did_you_mean, shorten
from weighbridge_producer.input.mapping.conversations import LastAnswer
from weighbridge_producer.input.mapping.list_entries import EACH, has_list
from weighbridge_producer.input.mapping.path_texts import path_of
from weighbridge_producer.input.mapping.row_values import (
    MISSING,
    FirstOf,
    Path,
    Row,
    Value,
    json_within,
)
from weighbridge_producer.input.mapping.same_source import part_of_other
from weighbridge_producer.input.mapping.special_forms import Selection

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping

_COLUMNS_SHOWN = 20
_LEVELS = 8  #: of a row that are searched for a path


class MoreRows(Protocol):
    """Rows after the first ones, which are read if these lack something."""

    def all_that(self, lack: Callable[[Row], bool]) -> str:
        """Return the subject of a sentence on rows that all lack something; empty if one of them has it."""


def refuse_missing_paths(
    mapping: FieldMapping,
    rows: Sequence[Row],
    name: str,
    trusted: FieldMapping | None = None,
    hint: str = "",
    further: MoreRows | None = None,
) -> None:
    """Raise MappingError for a path that exists in none of the first rows, unless a trusted mapping has it.

    And for an expected answer that is a part of the agent's, or the other way round.

    Rows of JSON need not have all fields, so that a path which the first ones lack is looked for in `further` rows.
    `hint` is added to the columns that the error lists.
    """
    if not rows:
        return
    refuse_part_of_answer(mapping, rows)
    known = dict(trusted.fields()) if trusted else {}
    for target, value in mapping.fields():
        if known.get(target) == value or not all(_lacks(row, value) for row in rows):
            continue
        lacks = partial(_lacks, value=value)
        if subject := further.all_that(lacks) if further else "no row":
            if isinstance(value, LastAnswer) and (without := value.without_agent(rows)):
                raise MappingError(
                    f"{name}: {subject} has a message of the agent in {value.conversation.text!r}, for {target}={value}",
                    without,
                )
            wrong = _wrong_path(value, rows)
            columns = columns_near(wrong, rows)
            meant = did_you_mean(nearest(wrong, rows)) or "."
            raise MappingError(
                f"{name}: {subject} has {wrong.text!r}, which {target} is mapped to{meant}",
                "\n  ".join(filter(None, (f"columns: {listed(columns)}", hint))),
            )


def refuse_part_of_answer(mapping: FieldMapping, rows: Sequence[Row]) -> None:
    """Raise MappingError if one of the answers is a part of the other one, with which it would be compared."""
    answer, expected = map(mapping.inputs.get, ("agent_response", "expected_output"))
    if answer is None or expected is None:
        return
    columns = {column for row in rows for column in row}
    if part := part_of_other(answer, expected, columns):
        raise MappingError(
            f"agent_response={shorten(str(answer), 80, '...')} and"
            f" expected_output={shorten(str(expected), 80, '...')}: {shorten(part, 80, '...')!r} is a"
            " part of the other one, so that an answer would be compared with itself",
            "map expected_output to the column with the expected answers; if another file has them, join it",
        )


def refuse_no_list(path: Path, rows: Sequence[Row], name: str) -> None:
    """Raise MappingError if none of the first rows has a list at a path, whose entries would be the cases."""
    if not rows or any(map(partial(has_list, path=path), rows)):
        return
    meant = did_you_mean(nearest(path, rows)) or "."
    raise MappingError(
        f"{name}: no row has a list at {path.text!r}, of which {EACH} takes the entries{meant}",
        f"columns: {listed(columns_near(path, rows))}",
    )


def columns_near(path: Path, rows: Sequence[Row]) -> list[str]:
    """Return the columns of rows or, for a path into objects in one of them, the paths to their fields."""
    first = path.parts[0] or path.text
    inner = [path_of((first, name)) for name in _names_within(first, rows)]
    return inner or list(dict.fromkeys(column for row in rows for column in row))


def nearest(path: Path, rows: Sequence[Row]) -> str | None:
    """Return the path in rows that a wrong one probably stands for: the one of the same names, or of the same last one.

    Otherwise it is the most similar column or, if none is, the field of an object with the most similar name.
    """
    if meant := _meant_by(path.text, rows):
        return meant
    near = [each for each in columns_near(path, rows) if each != path.text]
    columns = dict.fromkeys(column for row in rows for column in row)
    paths = [
        Path(path_of((column, name))) for column in columns for name in _names_within(column, rows)
    ]
    paths = [each for each in paths if each.text != path.text]
    same = next((each.text for each in paths if each.name == path.name), None)
    if found := same or closest(path.text, near):
        return found
    name = closest(path.name, [each.name for each in paths])
    return next((each.text for each in paths if each.name == name), None)


def _meant_by(text: str, rows: Sequence[Row]) -> str | None:
    """Return the path whose names make up a dotted text, as `/o.p/x` does for `o.p.x`; None if no row has such names."""
    found = (parts for row in rows for parts in _readings(row, text, _LEVELS))
    return next((path for parts in found if (path := path_of(parts)) != text), None)


def _readings(value: Any, text: str, levels: int) -> Iterator[tuple[str, ...]]:
    """Yield the names in objects and lists that make up a text, joined with dots."""
    value = json_within(value)
    names: Iterable[str] = value if isinstance(value, Mapping) else ()
    if isinstance(value, list):
        names = map(str, range(len(value)))
    for name in names if levels else ():
        if name == text:
            yield (name,)
        elif text.startswith(f"{name}."):
            inner = value[name] if isinstance(value, Mapping) else value[int(name)]
            rest = _readings(inner, text[len(name) + 1 :], levels - 1)
            yield from ((name, *parts) for parts in rest)


def _names_within(column: str, rows: Sequence[Row]) -> list[str]:
    objects = [value for row in rows if isinstance(value := json_within(row.get(column)), Mapping)]
    return list(dict.fromkeys(key for value in objects for key in value))


def listed(columns: Iterable[str]) -> str:
    """Return the names of columns for a message, limited to the first ones."""
    names = list(columns)
    shown = ", ".join(shorten(name, 60, "...") or "''" for name in names[:_COLUMNS_SHOWN])
    more = len(names) - _COLUMNS_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def _wrong_path(value: Value, rows: Sequence[Row]) -> Path:
    """Return the path that no row has, for a message; of alternatives, the first or all of them as they are written."""
    paths = list(value.paths())
    if isinstance(value, FirstOf):
        return paths[0]
    parts = [path for path in paths if path.text != str(value)]  # not the column of that name
    return next((path for path in parts if all(_lacks(row, path) for row in rows)), paths[0])


def _lacks(row: Row, value: Value) -> bool:
    """Return whether a row lacks a value, rather than having one that selects nothing."""
    selects = isinstance(value, Selection) and value.fault(row, 1) is not None
    return not selects and value.of(row, 1) is MISSING

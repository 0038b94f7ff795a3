"""Mappings from the values of a row to the fields of a case.

A mapping is written `custom_id=id,agent_response=output.text,metadata=topic`, with fields of the case on the left and
paths into the row on the right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from weighbridge.errors import MappingError
from weighbridge.text import closest, did_you_mean, shorten
from weighbridge_producer.input.choices import CHOICE_COLUMNS, Choice, Letter
from weighbridge_producer.input.conversations import LastAnswer
from weighbridge_producer.input.row_values import (
    MISSING,
    ROW_NUMBER,
    Constant,
    FirstOf,
    Path,
    Row,
    Template,
    Value,
    is_template,
    json_within,
)

if TYPE_CHECKING:
    from weighbridge.errors import Fault

__all__ = [
    "ENTRIES",
    "MISSING",
    "REST",
    "ROW_NUMBER",
    "CaseChange",
    "Constant",
    "ErrorOfRow",
    "FieldMapping",
    "FirstOf",
    "OtherRows",
    "Path",
    "Row",
    "Template",
    "Value",
    "columns_near",
    "json_within",
    "listed",
    "nearest",
    "value_of",
]

REST = "*"  #: a path that means all columns not used otherwise
ENTRIES = "*"  #: as a name in metadata, it means all entries of an object

_FORM = "write FIELD=PATH, separated by commas, such as custom_id=id,agent_response=output.text"
_ITEM_END = re.compile(r",(?=\s*(?:metadata\.\*|[\w./@-]+)\s*:?=)")
_ROW_LIMIT = 64  #: fields per mapping
_COLUMNS_SHOWN = 20


class ErrorOfRow(Protocol):
    """The source of an error that a row has in place of an answer."""

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return the fault of a row with an error; None for others."""

    def paths(self) -> Iterable[Path]:
        """Return the paths that are read from the row."""


class OtherRows(Protocol):
    """Rows among those of a file that are no cases, such as the header of a log."""

    def kind(self, row: Row) -> str:
        """Return the kind of such a row; empty for a row that is a case."""

    def paths(self) -> Iterable[Path]:
        """Return the paths that are read from the row."""


class MoreRows(Protocol):
    """Rows after the first ones, which are read if these lack something."""

    def all_that(self, lack: Callable[[Row], bool]) -> str:
        """Return the subject of a sentence on rows that all lack something; empty if one of them has it."""


class CaseChange(Protocol):
    """A change of a case that more than one of its fields depends on."""

    def apply(self, case: dict[str, Any], row: Row, number: int) -> None:
        """Change the case of a row."""


_Field = tuple[
    str, str | None, Value
]  #: name, column or None, and the source of the value otherwise


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """A mapping of rows to cases.

    `custom_id`, `inputs` and `metadata` define the fields of a case; `rows` is the JSON Pointer to the list of rows
    in a document, unless the document is the list.
    """

    custom_id: Value
    inputs: Mapping[str, Value]
    metadata: Mapping[str, Value] = field(default_factory=dict)
    takes_rest: bool = False  #: True if unused columns become metadata
    entries: Value | None = None  #: an object whose entries become metadata
    rows: str = ""
    name: str = ""  #: name of a built-in mapping, such as `promptfoo results`
    error: ErrorOfRow | None = None  #: what a row may have in place of an answer
    change: CaseChange | None = None
    others: OtherRows | None = None  #: the rows that are no cases
    _selections: tuple[Choice | Letter, ...] = field(init=False, repr=False, compare=False)
    _used: frozenset[str] = field(init=False, repr=False, compare=False)
    _id_column: str | None = field(init=False, repr=False, compare=False)
    _inputs: tuple[_Field, ...] = field(init=False, repr=False, compare=False)
    _metadata: tuple[_Field, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "custom_id", _skipping_empty(self.custom_id))
        metadata = {name: _skipping_empty(value) for name, value in self.metadata.items()}
        object.__setattr__(self, "metadata", metadata)
        # Metadata that cannot be selected are only missing.
        graded = (self.custom_id, *self.inputs.values())
        selections = [value for value in graded if isinstance(value, (Choice, Letter))]
        object.__setattr__(self, "_selections", tuple(selections))
        paths = [path for _, value in self.fields() for path in value.paths()]
        for source in (self.error, self.others):
            paths += source.paths() if source else ()
        used = frozenset(key for path in paths for key in (path.text, path.parts[0]))
        object.__setattr__(self, "_used", used)
        column = self.custom_id.text if isinstance(self.custom_id, Path) else None
        object.__setattr__(self, "_id_column", column)
        object.__setattr__(self, "_inputs", _by_column(self.inputs))
        object.__setattr__(self, "_metadata", _by_column(self.metadata))

    @classmethod
    def from_text(cls, texts: Sequence[str], base: FieldMapping | None = None) -> FieldMapping:
        """Parse `FIELD=PATH,FIELD:=JSON` from the command line; its fields override those of `base`.

        Raises MappingError.
        """
        return _parsed(texts, base).mapping()

    @classmethod
    def from_fields(cls, fields: Iterable[tuple[str, Value]], **more: Any) -> FieldMapping:
        """Create a mapping from field names (`custom_id`, `agent_response`, `metadata.topic`) and their values."""
        found = _Fields(None)
        for name, value in fields:
            found.add(name, value)
        return replace(found.mapping(), **more)

    @staticmethod
    def fields_in(texts: Sequence[str]) -> frozenset[str]:
        """Return `custom_id` and the names of the inputs that texts of `from_text` map; raises MappingError."""
        return _parsed(texts, None).names()

    def case(self, row: Row, number: int) -> dict[str, Any]:
        """Return a row as a case; fields missing in the row are omitted."""
        case: dict[str, Any] = {}
        column = self._id_column
        custom_id = (
            row[column] if column is not None and column in row else self.custom_id.of(row, number)
        )
        if type(custom_id) is str:
            case["custom_id"] = custom_id
        elif custom_id is not MISSING and custom_id is not None:
            case["custom_id"] = str(custom_id) if _is_number(custom_id) else custom_id
        case["inputs"] = _present(self._inputs, row, number)
        metadata = _entries_of(self.entries, row, number) if self.entries else {}
        if self._metadata:
            metadata |= _present(self._metadata, row, number)
        if self.takes_rest:
            metadata |= {key: value for key, value in row.items() if key not in self._used}
        if metadata:
            case["metadata"] = metadata
        if self.change:
            self.change.apply(case, row, number)
        return case

    @property
    def may_fault(self) -> bool:
        """True if a row that can be read may have a fault."""
        return bool(self.error or self._selections)

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return the fault of a row with an error in place of an answer, or without the entry that it chooses."""
        sources = (self.error, *self._selections) if self.error else self._selections
        return next((fault for each in sources if (fault := each.fault(row, number))), None)

    @property
    def columns(self) -> list[str] | None:
        """The columns of a table that the mapping needs; None for all."""
        return None if self.takes_rest else sorted(self._used)

    def check(
        self,
        rows: Sequence[Row],
        name: str,
        trusted: FieldMapping | None = None,
        hint: str = "",
        further: MoreRows | None = None,
    ) -> None:
        """Raise MappingError for a path that exists in none of the first rows, unless a trusted mapping has it.

        Rows of JSON need not have all fields, so that a path which the first ones lack is looked for in `further` rows.
        `hint` is added to the columns that the error lists.
        """
        if not rows:
            return
        known = dict(trusted.fields()) if trusted else {}
        for target, value in self.fields():
            if known.get(target) == value or not all(_lacks(row, value) for row in rows):
                continue
            lacks = partial(_lacks, value=value)
            if subject := further.all_that(lacks) if further else "no row":
                wrong = _wrong_path(value, rows)
                columns = columns_near(wrong, rows)
                meant = did_you_mean(nearest(wrong, rows)) or "."
                raise MappingError(
                    f"{name}: {subject} has {wrong.text!r}, which {target} is mapped to{meant}",
                    "\n  ".join(filter(None, (f"columns: {listed(columns)}", hint))),
                )

    def fields(self) -> Iterable[tuple[str, Value]]:
        """Yield the name and value of each field."""
        yield "custom_id", self.custom_id
        yield from self.inputs.items()
        for name, value in self.metadata.items():
            yield f"metadata.{name}", value
        if self.entries:
            yield f"metadata.{ENTRIES}", self.entries

    def __str__(self) -> str:
        """Return the mapping in the syntax of `--map`."""
        items = [_item(name, value) for name, value in self.fields()]
        return ",".join([*items, f"metadata={REST}"] if self.takes_rest else items)


class _Fields:
    """Builder of a mapping, whose added fields override those of `base`."""

    def __init__(self, base: FieldMapping | None) -> None:
        self._base = base
        self._custom_id: Value | None = None
        self._inputs: dict[str, Value] = {}
        self._metadata: dict[str, Value] = {}
        self._entries: Value | None = None
        self._takes_rest = False

    def add_text(self, text: str) -> None:
        """Add `FIELD=PATH` or `FIELD:=JSON`."""
        name, equals, written = text.partition("=")
        if not equals or not name.strip(": ") or not written.strip():
            raise MappingError(
                f"{shorten(text, 80, '...')!r} is not a valid part of a mapping", _FORM
            )
        if name.endswith(":"):
            self.add(name[:-1].strip(), _constant(text, written))
        else:
            self.add(name.strip(), value_of(written.strip()))

    def add(self, name: str, value: Value) -> None:
        """Add a field by name; raises MappingError if it has been added already."""
        room, dot, inner = name.partition(".")
        if name == "custom_id":
            if self._custom_id:
                raise MappingError("custom_id is mapped twice", "give it one path")
            self._custom_id = value
        elif name == "metadata" and value == Path(REST):
            self._takes_rest = True
        elif name == "metadata":
            if not isinstance(value, Path):
                raise MappingError("an entry of metadata has no name", "write metadata.NAME=...")
            self._put(self._metadata, value.name, value, "metadata")
        elif name == f"metadata.{ENTRIES}":
            if self._entries:
                raise MappingError(f"{name} is mapped twice", "give it one path")
            self._entries = value
        elif room == "metadata" and dot and inner:
            self._put(self._metadata, inner, value, "metadata")
        elif room == "inputs" and dot and inner:
            self._put(self._inputs, inner, value, "inputs")
        else:
            self._put(self._inputs, name, value, "inputs")

    @staticmethod
    def _put(fields: dict[str, Value], name: str, value: Value, room: str) -> None:
        if name in fields:
            raise MappingError(f"{room}.{name} is mapped twice", "give it one path")
        if len(fields) >= _ROW_LIMIT:
            raise MappingError(
                f"a mapping has at most {_ROW_LIMIT} fields in {room}", "remove some"
            )
        fields[name] = value

    def names(self) -> frozenset[str]:
        """Return `custom_id`, if it has been added, and the names of inputs."""
        return frozenset({*self._inputs, *(["custom_id"] if self._custom_id else [])})

    def mapping(self) -> FieldMapping:
        """Return the mapping; raises MappingError if it has no custom_id or no inputs."""
        base = self._base
        custom_id = self._custom_id or (base.custom_id if base else None)
        inputs = {**(base.inputs if base else {}), **self._inputs}
        if custom_id is None:
            raise MappingError(
                "the mapping does not say what the custom_id of a case is",
                f"add custom_id=PATH, or custom_id={ROW_NUMBER} for the row's number",
            )
        if not inputs:
            raise MappingError("the mapping has no inputs", "add agent_response=PATH, for example")
        _refuse_same(inputs)
        made = FieldMapping(custom_id, inputs, self._metadata, self._takes_rest, self._entries)
        if base is None:
            return made
        return replace(
            made,
            metadata={**base.metadata, **self._metadata},
            takes_rest=base.takes_rest or self._takes_rest,
            entries=self._entries or base.entries,
            rows=base.rows,
            name=base.name,
            others=base.others,
            error=None if "agent_response" in self._inputs else base.error,
            change=None if "expected_output" in self._inputs else base.change,
        )


def _refuse_same(inputs: Mapping[str, Value]) -> None:
    """Raise MappingError if the agent's and the expected answer are one column, which every case would pass."""
    answer, expected = inputs.get("agent_response"), inputs.get("expected_output")
    if answer is None or isinstance(answer, Constant) or answer != expected:
        return
    raise MappingError(
        f"agent_response and expected_output are both mapped to {shorten(_written(answer), 80, '...')!r}, so that every"
        " answer would be the expected one",
        "map expected_output to the column with the expected answers",
    )


def _parsed(texts: Sequence[str], base: FieldMapping | None) -> _Fields:
    found = _Fields(base)
    for text in texts:
        for item in _ITEM_END.split(text):
            found.add_text(item.strip())
    return found


def value_of(text: str) -> Value:
    """Parse the right-hand side of a field: a path, alternatives separated by `|`, a template or a special form.

    Special forms are `choices[answer]`, `letter(...)` and `last_answer(messages)`.
    """
    if is_template(text):
        choice = Choice.parse(text)
        is_choice = choice is not None and choice.choices.name.lower() in CHOICE_COLUMNS
        if is_choice or Letter.parse(text) or LastAnswer.parse(text):
            raise MappingError(
                f"{text!r} is a template around a special form, which gives its own text",
                "write choices[answer], letter(...) and last_answer(messages) without braces",
            )
        return Template(text)
    if "|" in text:
        # A column name may contain a `|`.
        return FirstOf((Path(text), *(_single_value(part.strip()) for part in text.split("|"))))
    return _single_value(text)


def _single_value(text: str) -> Value:
    return Choice.parse(text) or Letter.parse(text) or LastAnswer.parse(text) or Path(text)


def columns_near(path: Path, rows: Sequence[Row]) -> list[str]:
    """Return the columns of rows or, for a path into objects in one of them, the paths to their fields."""
    first = path.parts[0] or path.text
    inner = [f"{first}.{name}" for name in _names_within(first, rows)]
    return inner or list(dict.fromkeys(column for row in rows for column in row))


def nearest(path: Path, rows: Sequence[Row]) -> str | None:
    """Return the path in rows that a wrong one probably stands for: within an object, the one of the same name.

    Otherwise it is the most similar column or, if none is, the field of an object with the most similar name.
    """
    near = columns_near(path, rows)
    columns = dict.fromkeys(column for row in rows for column in row)
    paths = [Path(f"{column}.{name}") for column in columns for name in _names_within(column, rows)]
    same = next((each.text for each in paths if each.name == path.name), None)
    if found := same or closest(path.text, near):
        return found
    name = closest(path.name, [each.name for each in paths])
    return next((each.text for each in paths if each.name == name), None)


def _names_within(column: str, rows: Sequence[Row]) -> list[str]:
    objects = [value for row in rows if isinstance(value := json_within(row.get(column)), Mapping)]
    return list(dict.fromkeys(key for value in objects for key in value))


def listed(columns: Iterable[str]) -> str:
    """Return the names of columns for a message, limited to the first ones."""
    names = list(columns)
    shown = ", ".join(shorten(name, 60, "...") for name in names[:_COLUMNS_SHOWN])
    more = len(names) - _COLUMNS_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown


def _item(name: str, value: Value) -> str:
    if isinstance(value, Constant):
        return f"{name}:={orjson.dumps(value.value).decode()}"
    text = _written(value)
    if isinstance(value, Path) and name == f"metadata.{value.name}":
        name = "metadata"
    return f"{name}={text}"


def _written(value: Value) -> str:
    if isinstance(value, (Path, Template)):
        return value.text
    if isinstance(value, FirstOf):
        texts = dict.fromkeys(map(_written, value.values))
        return "|".join(text for text in texts if "|" not in text)
    return str(value)


def _skipping_empty(value: Value) -> Value:
    """Return a value that skips empty alternatives, as an id needs; an answer may be empty."""
    return replace(value, skips_empty=True) if isinstance(value, FirstOf) else value


def _by_column(fields: Mapping[str, Value]) -> tuple[_Field, ...]:
    """Return fields with their columns, for fields whose path is a plain column name."""
    return tuple(
        (name, value.text if isinstance(value, Path) else None, value)
        for name, value in fields.items()
    )


def _present(fields: tuple[_Field, ...], row: Row, number: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, column, source in fields:
        # Nearly all fields are columns, and a function call for each would dominate the time per row.
        if column is not None and column in row:
            found[name] = row[column]
        elif (value := source.of(row, number)) is not MISSING:
            found[name] = value
    return found


def _entries_of(source: Value, row: Row, number: int) -> dict[str, Any]:
    """Return the entries of an object; any other value is kept under its own name."""
    value = json_within(source.of(row, number))
    if isinstance(value, Mapping):
        return {str(name): entry for name, entry in value.items()}
    paths = [path for path in source.paths() if path.of(row, number) is not MISSING]
    return {paths[0].name: value} if paths and value not in (None, "", MISSING) else {}


def _wrong_path(value: Value, rows: Sequence[Row]) -> Path:
    """Return the path that no row has, for a message; of alternatives, the first or all of them as they are written."""
    paths = list(value.paths())
    if isinstance(value, FirstOf):
        return paths[0]
    parts = [path for path in paths if path.text != _written(value)]  # not the column of that name
    return next((path for path in parts if all(_lacks(row, path) for row in rows)), paths[0])


def _lacks(row: Row, value: Value) -> bool:
    """Return whether a row lacks a value, rather than having one that selects nothing."""
    selects = isinstance(value, (Choice, Letter)) and value.fault(row, 1) is not None
    return not selects and value.of(row, 1) is MISSING


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def _constant(text: str, written: str) -> Constant:
    try:
        return Constant(orjson.loads(written))
    except orjson.JSONDecodeError as error:
        raise MappingError(
            f"{shorten(text, 80, '...')!r}: what follows := is not JSON: {error}",
            'write FIELD:=JSON, such as expected_output:="yes"',
        ) from None

"""Mappings from the values of a row to the fields of a case.

A mapping is written `custom_id=id,agent_response=output.text,metadata=topic`, with fields of the case on the left and
paths into the row on the right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from weighbridge_producer.input.files.table_form import USUAL_FORM, TableForm
from weighbridge_producer.input.mapping.list_entries import EACH, entries_of
from weighbridge_producer.input.mapping.row_values import (
    ADDED,
    ENTRY,
    MISSING,
    Constant,
    FirstOf,
    Path,
    Row,
    Value,
    WithFile,
    json_within,
    name_of,
)
from weighbridge_producer.input.mapping.special_forms import faulting

if TYPE_CHECKING:
    from weighbridge.errors import Fault
    from weighbridge_producer.input.mapping.special_forms import Alternatives, Selection

REST = "*"  #: a path that means all columns not used otherwise
ENTRIES = "*"  #: as a name in metadata, it means all entries of an object
#: the field for the grader of a row; an input of that name is written `inputs.grader`
GRADER = "grader"


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

    def for_inputs(self, rows: Sequence[Row], inputs: Iterable[Value]) -> OtherRows | None:
        """Return the rows that are no cases of a mapping to inputs, by the first rows; None if all are cases."""

    def paths(self) -> Iterable[Path]:
        """Return the paths that are read from the row."""


class CaseChange(Protocol):
    """A change of a case that more than one of its fields depends on."""

    def apply(self, case: dict[str, Any], row: Row, number: int) -> None:
        """Change the case of a row."""


_NO_GRADER = (MISSING, None, "")

#: Name, column or None, and the source of the value otherwise.
_Field = tuple[str, str | None, Value]


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """A mapping of rows to cases.

    `custom_id`, `inputs`, `metadata` and `grader` define the fields of a case; `rows` is the JSON Pointer to the list of
    rows in a document, unless the document is the list.
    """

    custom_id: Value
    inputs: Mapping[str, Value]
    metadata: Mapping[str, Value] = field(default_factory=dict)
    takes_rest: bool = False  #: True if unused columns become metadata
    entries: Value | None = None  #: an object whose entries become metadata
    each: Path | None = None  #: the list in a row whose entries are the cases
    grader: Value | None = None  #: the id of the grader of a row; without a value, the batch's own
    rows: str = ""
    table: TableForm = USUAL_FORM  #: what is said of tables in text
    name: str = ""  #: name of a built-in mapping, such as `promptfoo results`
    error: ErrorOfRow | None = None  #: what a row may have in place of an answer
    change: CaseChange | None = None
    others: OtherRows | None = None  #: the rows that are no cases
    skips: tuple[str, ...] = ()  #: inputs without which a row is no case
    _selections: tuple[Selection | Alternatives, ...] = field(init=False, repr=False, compare=False)
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
        object.__setattr__(self, "_selections", tuple(filter(None, map(faulting, graded))))
        paths = [path for _, value in self.fields() for path in value.paths()]
        for source in (self.error, self.others, self.each):
            paths += source.paths() if source else ()
        used = frozenset(key for path in paths for key in (path.text, path.parts[0]))
        object.__setattr__(self, "_used", used)
        column = self.custom_id.text if isinstance(self.custom_id, Path) else None
        object.__setattr__(self, "_id_column", column)
        object.__setattr__(self, "_inputs", _by_column(self.inputs))
        object.__setattr__(self, "_metadata", _by_column(self.metadata))

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
        if self.grader and (grader := self.grader.of(row, number)) not in _NO_GRADER:
            case["grader"] = grader
        if self.change:
            self.change.apply(case, row, number)
        return case

    def rows_of(self, row: Row) -> Iterable[dict[str, Any]]:
        """Return the rows that are cases: the row itself, or a row for each entry of its list.

        Iterating raises NoListError if the row has no such list.
        """
        return (
            entries_of(row, self.each, numbered=ENTRY in self._used) if self.each else (dict(row),)
        )

    def skipped_for(self, row: Row, number: int) -> str:
        """Return the first input that a row has no value for, and without which it is no case; empty if there is none."""
        return next(
            (name for name in self.skips if self.inputs[name].of(row, number) in (MISSING, None)),
            "",
        )

    @property
    def may_fault(self) -> bool:
        """True if a row that can be read may have a fault."""
        return bool(self.error or self._selections)

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return the fault of a row with an error in place of an answer, or without the entry that it chooses."""
        sources = (self.error, *self._selections) if self.error else self._selections
        return next((fault for each in sources if (fault := each.fault(row, number))), None)

    @property
    def numbers_repeats(self) -> bool:
        """True if rows with the id of an earlier, different row are cases of their own: the user has not chosen the id."""
        return bool(self.name)

    @property
    def columns(self) -> list[str] | None:
        """The columns of a table that the mapping needs; None for all."""
        needs_all = self.takes_rest or self.numbers_repeats
        return None if needs_all else sorted(self._used)

    @property
    def added(self) -> frozenset[str]:
        """The values that the mapping needs and a row does not have by itself, such as its key in a document."""
        return self._used & ADDED

    def fields(self) -> Iterable[tuple[str, Value]]:
        """Yield the name and value of each field."""
        yield "custom_id", self.custom_id
        if self.grader:
            yield GRADER, self.grader
        for name, value in self.inputs.items():
            yield f"inputs.{GRADER}" if name == GRADER else name, value
        for name, value in self.metadata.items():
            yield f"metadata.{name}", value
        if self.entries:
            yield f"metadata.{ENTRIES}", self.entries

    def __str__(self) -> str:
        """Return the mapping in the syntax of `--map`."""
        return ",".join(self._items())

    @property
    def with_names(self) -> str:
        """The mapping as text, in which metadata within objects has its names, by which `--by` and others find it."""
        return ",".join(self._items(names_metadata=True))

    def _items(self, *, names_metadata: bool = False) -> list[str]:
        """Return the fields in the syntax of `--map`."""
        items = [f"{EACH}={self.each}"] if self.each else []
        items += [
            _item(name, value, names_metadata=names_metadata) for name, value in self.fields()
        ]
        return [*items, f"metadata={REST}"] if self.takes_rest else items

    def identity(self) -> dict[str, Any]:
        """Return a value of JSON that differs for mappings that make other cases of the same rows, for the same graders.

        What `error`, `change` and `others` are follows from the name of the mapping and its fields.
        """
        return {
            "fields": self._items(),
            "rows": self.rows,
            "table": str(self.table),
            "name": self.name,
            "skips": list(self.skips),
            "has": [part is not None for part in (self.error, self.change, self.others)],
        }


def _item(name: str, value: Value, *, names_metadata: bool) -> str:
    if isinstance(value, Constant):
        return f"{name}:={orjson.dumps(value.value).decode()}"
    text = str(value)
    usual = text if names_metadata else name_of(value)
    if name == f"metadata.{usual}":
        name = "metadata"
    return f"{name}={text}"


def _skipping_empty(value: Value) -> Value:
    """Return a value that skips empty alternatives, as an id needs; an answer may be empty."""
    if isinstance(value, WithFile):
        return replace(value, value=_skipping_empty(value.value))
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


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))

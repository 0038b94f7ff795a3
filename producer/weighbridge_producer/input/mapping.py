"""Mappings from the values of a row to the fields of a case.

A mapping is written `custom_id=id,agent_response=output.text,metadata=topic`, with fields of the case on the left and
paths into the row on the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import TYPE_CHECKING, Any, Final, Protocol

import orjson

from weighbridge.errors import MappingError
from weighbridge.text import closest, did_you_mean, shorten

if TYPE_CHECKING:
    from weighbridge.errors import Fault

ROW_NUMBER = "@row"  #: a path that means the row's number, from 1
REST = "*"  #: a path that means all columns not used otherwise
ENTRIES = "*"  #: as a name in metadata, it means all entries of an object
MISSING: Final = object()  #: the value of a path that does not exist in a row

_FORM = "write FIELD=PATH, separated by commas, such as custom_id=id,agent_response=output.text"
_INDEX = re.compile(r"0|-?[1-9][0-9]{0,8}")  #: negative ones count from the end of a list
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_ITEM_END = re.compile(r",(?=\s*(?:metadata\.\*|[\w./@-]+)\s*:?=)")
_ROW_LIMIT = 64  #: fields per mapping
_COLUMNS_SHOWN = 20
_JSON_STARTS = frozenset("{[")

Row = Mapping[str, Any]


class Value(Protocol):
    """The source of a field of a case."""

    def of(self, row: Row, number: int) -> Any:
        """Return the value for a row; MISSING if the row has none."""

    def paths(self) -> Iterable[Path]:
        """Return the paths that are read from the row."""


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


class CaseChange(Protocol):
    """A change of a case that more than one of its fields depends on."""

    def apply(self, case: dict[str, Any], row: Row, number: int) -> None:
        """Change the case of a row."""


@dataclass(frozen=True, slots=True)
class Path:
    """A column, a dotted path or a JSON Pointer (RFC 6901) into a row."""

    text: str
    parts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        if self.text.startswith("/"):
            parts = [_unescaped(part) for part in self.text[1:].split("/")]
        else:
            parts = self.text.split(".")
        object.__setattr__(self, "parts", tuple(parts))

    @property
    def name(self) -> str:
        """The last part that is not an index, used as the default name of the value."""
        return next(
            (part for part in reversed(self.parts) if not _INDEX.fullmatch(part)), self.text
        )

    def of(self, row: Row, number: int) -> Any:
        """Return the value at the path; a column with exactly that name takes precedence."""
        if self.text in row:
            return row[self.text]
        if self.text == ROW_NUMBER:
            return number
        value: Any = row
        for part in self.parts:
            value = _step(value, part)
            if value is MISSING:
                break
        return value

    def paths(self) -> Iterable[Path]:
        """Return the path itself."""
        return (self,)


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant value, the same for all rows."""

    value: Any

    def of(self, row: Row, number: int) -> Any:  # noqa: ARG002
        """Return the constant."""
        return self.value

    def paths(self) -> Iterable[Path]:
        """Return no paths."""
        return ()


@dataclass(frozen=True, slots=True)
class Template:
    """Text with paths in braces, such as `{model}/{id}`."""

    text: str
    _literals: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _paths: tuple[Path, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = _PLACEHOLDER.split(self.text)
        object.__setattr__(self, "_literals", tuple(parts[::2]))
        object.__setattr__(self, "_paths", tuple(map(Path, parts[1::2])))

    def of(self, row: Row, number: int) -> Any:
        """Return the text with the row's values inserted; MISSING if one of them is missing.

        A column whose name is the whole text takes precedence: headers of promptfoo's tables contain braces.
        """
        if self.text in row:
            return row[self.text]
        text = self._literals[0]
        for path, literal in zip(self._paths, self._literals[1:], strict=True):
            value = path.of(row, number)
            if value is MISSING:
                return MISSING
            text += _as_text(value) + literal
        return text

    def paths(self) -> Iterable[Path]:
        """Return the paths in the braces, and the column that the whole text may be."""
        return (*self._paths, Path(self.text))


@dataclass(frozen=True, slots=True)
class FirstOf:
    """The first of several values that a row has."""

    values: tuple[Value, ...]
    skips_empty: bool = False  #: True if an empty text, as in a cell of a table, is no value
    #: True if an object or a list is taken only if there is no text or number.
    prefers_simple: bool = False

    def of(self, row: Row, number: int) -> Any:
        """Return the first value that exists and is not null; the last one that exists if there is none."""
        found: Any = MISSING
        structured: Any = MISSING
        for value in self.values:
            this = value.of(row, number)
            if this is MISSING:
                continue
            if self.prefers_simple and isinstance(this, (dict, list)):
                structured = this if structured is MISSING else structured
                continue
            found = this
            if this is not None and not (self.skips_empty and this == ""):
                break
        is_found = structured is MISSING or (found is not MISSING and found is not None)
        return found if is_found else structured

    def paths(self) -> Iterable[Path]:
        """Return the paths of all values."""
        return [path for value in self.values for path in value.paths()]


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
    _used: frozenset[str] = field(init=False, repr=False, compare=False)
    _id_column: str | None = field(init=False, repr=False, compare=False)
    _inputs: tuple[_Field, ...] = field(init=False, repr=False, compare=False)
    _metadata: tuple[_Field, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "custom_id", _skipping_empty(self.custom_id))
        metadata = {name: _skipping_empty(value) for name, value in self.metadata.items()}
        object.__setattr__(self, "metadata", metadata)
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
    def columns(self) -> list[str] | None:
        """The columns of a table that the mapping needs; None for all."""
        return None if self.takes_rest else sorted(self._used)

    def check(
        self,
        rows: Sequence[Row],
        name: str,
        trusted: FieldMapping | None = None,
        hint: str = "",
    ) -> None:
        """Raise MappingError for a path that exists in none of the first rows, unless a trusted mapping has it.

        `hint` is added to the columns that the error lists.
        """
        if not rows:
            return
        known = dict(trusted.fields()) if trusted else {}
        for target, value in self.fields():
            if known.get(target) != value and all(value.of(row, 1) is MISSING for row in rows):
                wrong = next(iter(value.paths()))
                columns = columns_near(wrong, rows)
                meant = did_you_mean(nearest(wrong, rows)) or "."
                raise MappingError(
                    f"{name}: no row has {wrong.text!r}, which {target} is mapped to{meant}",
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


def _parsed(texts: Sequence[str], base: FieldMapping | None) -> _Fields:
    found = _Fields(base)
    for text in texts:
        for item in _ITEM_END.split(text):
            found.add_text(item.strip())
    return found


def value_of(text: str) -> Value:
    """Parse the right-hand side of a field: a path, alternative paths separated by `|`, or a template."""
    if _PLACEHOLDER.search(text):
        return Template(text)
    if "|" in text:
        # A column name may contain a `|`.
        return FirstOf((Path(text), *(Path(part.strip()) for part in text.split("|"))))
    return Path(text)


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


def _is_number(value: object) -> bool:
    return type(value) is int or (type(value) is float and isfinite(value))


def json_within(value: Any) -> Any:
    """Return the object or list that a text contains as JSON; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in _JSON_STARTS:
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            pass
    return value


def _step(value: Any, part: str) -> Any:
    value = json_within(value)
    if isinstance(value, Mapping):
        return value.get(part, MISSING)
    if isinstance(value, list) and _INDEX.fullmatch(part) and -len(value) <= int(part) < len(value):
        return value[int(part)]
    return MISSING


def _unescaped(part: str) -> str:
    return part.replace("~1", "/").replace("~0", "~")


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    is_json = value is None or isinstance(value, (bool, list, dict))
    return orjson.dumps(value, str).decode() if is_json else str(value)


def _constant(text: str, written: str) -> Constant:
    try:
        return Constant(orjson.loads(written))
    except orjson.JSONDecodeError as error:
        raise MappingError(
            f"{shorten(text, 80, '...')!r}: what follows := is not JSON: {error}",
            'write FIELD:=JSON, such as expected_output:="yes"',
        ) from None

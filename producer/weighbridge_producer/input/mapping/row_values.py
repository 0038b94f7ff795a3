"""Values of a row: at a path, the first of several paths, in a template, or constant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import orjson

from weighbridge_producer.input.mapping.written_values import json_or_python

ROW_NUMBER = "@row"  #: a path that means the number of the row in its file, from 1
KEY = "@key"  #: a path that means the key under which a row stands in a JSON document
ENTRY = "@entry"  #: a path that means the number of an entry in its row's list, from 1
FILE = "@file"  #: a path that means the name of the row's file within the input
ADDED = frozenset({KEY, FILE})  #: paths of values that are added to a row only if they are used
EACH_ENTRY = "*"  #: a part of a path that means each entry of a list
MISSING: Final = object()  #: the value of a path that does not exist in a row

_INDEX = re.compile(r"0|-?[1-9][0-9]{0,8}")  #: negative ones count from the end of a list
_INDEXES = re.compile(r"-?[0-9]+(?:\.-?[0-9]+)*")
_NAME_END = re.compile(r"(?<![0-9])\.|\.(?![0-9])")  #: a dot that is not in a number
_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_JSON_STARTS = frozenset("{[")

Row = Mapping[str, Any]


class Value(Protocol):
    """The source of a field of a case."""

    def of(self, row: Row, number: int) -> Any:
        """Return the value for a row; MISSING if the row has none."""

    def paths(self) -> Iterable[Path]:
        """Return the paths that are read from the row."""


@dataclass(frozen=True, slots=True)
class Path:
    """A column, a dotted path or a JSON Pointer (RFC 6901) into a row; `*` in it means each entry of a list."""

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
        """The last part that is no index and no `*`, used as the default name of the value; `gpt-4.1` and `Nr.` are one part."""
        parts = self.parts if self.text.startswith("/") else _NAME_END.split(self.text)
        if parts[-1] == "":
            return self.text
        names = (part for part in reversed(parts) if not _INDEXES.fullmatch(part))
        return next((name for name in names if name != EACH_ENTRY), self.text)

    def __str__(self) -> str:
        """Return the path as it is written."""
        return self.text

    def of(self, row: Row, number: int) -> Any:
        """Return the value at the path; a column with exactly that name takes precedence."""
        if self.text in row:
            return row[self.text]
        if self.text == ROW_NUMBER:
            return number
        return _at(row, self.parts)

    def paths(self) -> Iterable[Path]:
        """Return the path itself."""
        return (self,)


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant value, the same for all rows."""

    value: Any

    def __str__(self) -> str:
        """Return the constant as JSON."""
        return orjson.dumps(self.value).decode()

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

    def __str__(self) -> str:
        """Return the template as it is written."""
        return self.text

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

    def __str__(self) -> str:
        """Return the alternatives as they are written, without a column that has the name of all of them."""
        return "|".join(text for text in dict.fromkeys(map(str, self.values)) if "|" not in text)

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


@dataclass(frozen=True, slots=True)
class WithFile:
    """The name of the row's file and a value, `{@file}/{id}`; a row without the value has none."""

    value: Value

    def __str__(self) -> str:
        """Return the value as in a template."""
        inner = self.value.text if isinstance(self.value, Template) else f"{{{self.value}}}"
        return f"{{{FILE}}}/{inner}"

    def of(self, row: Row, number: int) -> Any:
        """Return the file's name and the value."""
        found = self.value.of(row, number)
        has_value = found is not MISSING and found not in (None, "")
        return f"{row.get(FILE, '')}/{_as_text(found)}" if has_value else found

    def paths(self) -> Iterable[Path]:
        """Return the path of the file's name, and those of the value."""
        return (Path(FILE), *self.value.paths())


def name_of(value: Value) -> str:
    """Return the default name of a value, by the column that the whole of its text may be."""
    whole = value.values[0] if isinstance(value, FirstOf) else value
    return (whole if isinstance(whole, Path) else Path(str(value))).name


def is_template(text: str) -> bool:
    """Return whether a text has paths in braces."""
    return _PLACEHOLDER.search(text) is not None


def is_binary(value: object) -> bool:
    """Return whether a value is bytes that are not text, such as those of an image."""
    if not isinstance(value, bytes):
        return False
    try:
        value.decode()
    except UnicodeDecodeError:
        return True
    return False


def json_within(value: Any) -> Any:
    """Return the object or list that a text contains as JSON or in Python's notation; any other value unchanged."""
    if isinstance(value, str) and value.lstrip()[:1] in _JSON_STARTS:
        try:
            return json_or_python(value)
        except ValueError:
            pass
    return value


def _at(value: Any, parts: Sequence[str]) -> Any:
    """Return what is at the parts of a path: of each entry of a list, a list of what those have that have something."""
    for place, part in enumerate(parts, 1):
        value = json_within(value)
        if part == EACH_ENTRY and isinstance(value, list):
            rest = parts[place:]
            found = [each for entry in value if (each := _at(entry, rest)) is not MISSING]
            nested = EACH_ENTRY in rest
            found = [each for inner in found for each in inner] if nested else found
            return found if found or not value else MISSING
        value = _step(value, part)
        if value is MISSING:
            break
    return value


def _step(value: Any, part: str) -> Any:
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

"""Texts that hold a value as JSON, such as `"Paris"` with its quotes or `["Paris", "Rome"]`, and the value itself: `json(column)`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import KIB
from weighbridge.text import shorten
from weighbridge_producer.input.mapping.path_texts import first_entry_of
from weighbridge_producer.input.mapping.row_values import (
    MISSING,
    FirstOf,
    Path,
    Row,
    Value,
    json_within,
)
from weighbridge_producer.input.mapping.written_values import PYTHON_TEXT, strict_json

_FORM = re.compile(r"json\((.+)\)")
_SHOWN = 60  #: characters of a value
#: Of a list in Python's notation, which takes longer to read than JSON.
_PYTHON_CHARACTERS = 64 * KIB
#: Lists of Python have commas, and arrays of NumPy spaces, between texts; Python would join the latter. Sets, and arrays of
#: PostgreSQL, have braces.
_TEXTS_OF_PYTHON = re.compile(
    rf"\[\s*{PYTHON_TEXT}(?>(?:(?:\s*,\s*|\s+){PYTHON_TEXT})*)\s*\]"
    rf"|\{{\s*{PYTHON_TEXT}(?>(?:\s*,\s*{PYTHON_TEXT})*)\s*\}}"
)


@dataclass(frozen=True, slots=True)
class JsonCell:
    """The value that a text holds as JSON, or the list of texts that it holds as Python writes one, or a set of them."""

    text: str
    cell: Path

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Parse `json(gold)`; None if a text is written otherwise."""
        found = _FORM.fullmatch(text)
        return cls(text, Path(found[1].strip())) if found else None

    @classmethod
    def in_(cls, path: str) -> Self:
        """Return the value that the text at a path holds."""
        return cls(f"json({path})", Path(path))

    def of(self, row: Row, number: int) -> Any:
        """Return the value, or the only text of a list; MISSING for a text that holds none.

        What is no text, and an empty text, is returned as it is. A column whose name is the whole text takes precedence.
        """
        if self.text in row:
            return row[self.text]
        value = self.cell.of(row, number)
        return _only(value_in(value)) if isinstance(value, str) and value.strip() else value

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return why a row's text holds no value; None if it does, or if the row lacks it."""
        value = self.cell.of(row, number)
        if value is MISSING or self.of(row, number) is not MISSING:
            return None
        what = f"{self.text}: {self.cell.text} is {shorten(repr(value), _SHOWN)}"
        return Fault(
            ErrorCode.INVALID_FIELD,
            f"{what}, which cannot be read as JSON",
            f"correct the row, or write {self.text}|{self.cell.text} to take such texts as they are",
        )

    def paths(self) -> Iterable[Path]:
        """Return the column that the whole text may be, and the path of the text."""
        return (Path(self.text), self.cell)

    def __str__(self) -> str:
        return self.text


def _only(value: Any) -> Any:
    """Return the text in a list of one text, which only graders of several answers take; anything else unchanged."""
    is_only = isinstance(value, list) and len(value) == 1 and isinstance(value[0], str)
    return value[0] if is_only else value


@lru_cache(maxsize=2)  # a text is looked at more than once per row
def value_in(text: str) -> Any:
    """Return the value that a text holds as JSON or as a list or set of texts in Python's notation; MISSING if it holds none."""
    try:
        return strict_json(text)
    except ValueError:
        pass
    if len(text) > _PYTHON_CHARACTERS or not _TEXTS_OF_PYTHON.fullmatch(text.strip()):
        return MISSING
    try:
        return [ast.literal_eval(literal) for literal in re.findall(PYTHON_TEXT, text)]
    except SyntaxError:  # a character beyond the last one of Unicode
        return MISSING


def texts_in(value: Any) -> list[str] | None:
    """Return the text or texts that a text holds as JSON or as Python writes them; None if it holds anything else."""
    if not isinstance(value, str) or value.lstrip()[:1] not in {'"', "[", "{"}:
        return None
    held = value_in(value)
    texts = held if isinstance(held, list) else [held]
    return texts if all(isinstance(each, str) for each in texts) else None


def mostly_hold_texts(values: Iterable[Any]) -> bool:
    """Return whether all of the values that are not empty, or more than half and several, hold texts as JSON or Python.

    Half is enough, because plain texts are hardly ever written so.
    """
    present = [value for value in values if value is not None and value != ""]
    holding = sum(texts_in(value) is not None for value in present)
    return 0 < holding == len(present) or (holding > 1 and holding * 2 > len(present))


def form_for(
    path: str, present: Sequence[str], *, takes_one: bool, is_column: bool
) -> Value | None:
    """Return the form of source that reads a column, most of whose cells hold texts; None if no form does.

    With `takes_one`, the first of several texts in a cell is taken; only a list in JSON has a path to it. Cells with plain
    texts are taken as they are.
    """
    held = [texts for text in present if (texts := texts_in(text)) is not None]
    form: Value = JsonCell.in_(path)
    are_all_read = all(value_in(text) is not MISSING for text in present)
    if takes_one and any(len(texts) > 1 for texts in held):
        are_lists = [isinstance(json_within(text), list) for text in present]
        if sum(are_lists) < len(held):
            return None
        form, are_all_read = Path(first_entry_of(path, is_column=is_column)), all(are_lists)
    if are_all_read or "|" in path:
        return form
    return FirstOf((Path(f"{form}|{path}"), form, Path(path)))

"""The settings of a grader's configuration, from its JSON Schema: how each is entered, displayed and parsed.

An unset value is distinguished from 0, false and empty values.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import LineError
from weighbridge.grading.strict_json import INT_MAX, INT_MIN, decode_line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.templating import pretty_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_INTEGER = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?")
_LARGE = 2**53  #: larger limits come from the number format, and are not displayed
UNSET: Any = object()  #: no value, unlike None


class Kind(StrEnum):
    """The kind of form control for a setting."""

    FLAG = "flag"  #: a check box
    CHOICE = "choice"  #: one of a few strings, in a select element
    CHOICES = "choices"  #: any of a few strings, each with a check box
    INTEGER = "integer"
    NUMBER = "number"
    TEXT = "text"
    LINES = "lines"  #: a text area with one string per line
    JSON = "json"  #: a text area for any other value


class EntryError(ValueError):
    """The text in a control is not a valid value; the message is like `is not ...` or `must be ...`."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One key of a configuration, from its schema."""

    name: str
    kind: Kind
    description: str = ""
    default: Any = UNSET
    may_be_null: bool = False
    words: tuple[str, ...] = ()  #: the choices
    minimum: float | None = None
    maximum: float | None = None

    @property
    def is_required(self) -> bool:
        """True if a configuration must have it."""
        return self.default is UNSET

    @property
    def default_text(self) -> str:
        """The default value as text."""
        if self.is_required:
            return "needed"
        if self.default is None:
            return "not set"
        return orjson.dumps(self.default).decode()

    @property
    def range_text(self) -> str:
        """The range of numbers as text; empty if unlimited."""
        if self.minimum is None:
            return "" if self.maximum is None else f"at most {self.maximum:,}"
        if self.maximum is None:
            return f"{self.minimum:,} or more"
        return f"{self.minimum:,} to {self.maximum:,}"

    def text_of(self, value: Any) -> str:
        """Return a value as the text of its control."""
        if value is UNSET or value is None:
            return ""
        if self.kind is Kind.LINES:
            return _as_lines(value)
        if self.kind is Kind.JSON:
            return pretty_json(value)
        return value if isinstance(value, str) else orjson.dumps(value).decode()

    def value_of(self, texts: Sequence[str], *, is_set: bool) -> Any:
        """Return the value entered, or `UNSET`; raises EntryError if it is invalid."""
        text = texts[-1].strip() if texts else ""
        if self.kind is Kind.FLAG and not self.may_be_null:
            return text == "true"
        if self.kind is Kind.CHOICES:
            is_default = self.default is not UNSET and set(texts) == set(self.default or ())
            return self.default if is_default else list(texts)  # the order is irrelevant
        if self.kind is Kind.LINES:
            return self._lines(texts[-1] if texts else "", is_set=is_set)
        if not text:
            return UNSET if self.default is UNSET or not self.may_be_null else None
        return self._single(text)

    def _lines(self, text: str, *, is_set: bool) -> list[str] | None:
        lines = _lines_in(text)
        return None if self.may_be_null and not lines and not is_set else lines

    def _single(self, text: str) -> Any:
        if self.kind is Kind.FLAG:
            return text == "true"
        if self.kind is Kind.INTEGER:
            if not _INTEGER.fullmatch(text):
                raise EntryError(f"must be an integer, not {text[:40]!r}")
            return _number(text)
        if self.kind is Kind.NUMBER:
            if not _NUMBER.fullmatch(text):
                raise EntryError(f"must be a number, not {text[:40]!r}")
            return _number(text)
        return json_value(text) if self.kind is Kind.JSON else text


def settings_of(schema: Mapping[str, Any]) -> list[Setting]:
    """Return the settings in a configuration's JSON Schema, in its order."""
    required = schema.get("required", ())
    definitions = schema.get("$defs", {})
    return [
        _setting(name, described, definitions, is_required=name in required)
        for name, described in schema.get("properties", {}).items()
    ]


def json_value(text: str) -> Any:
    """Parse strict JSON; raises EntryError if it is invalid."""
    raw = text.encode(errors="surrogatepass")
    try:
        try:
            return decode_line(raw)
        except LineError as error:
            if error.fault.code != ErrorCode.NOT_AN_OBJECT:
                raise
        # Valid JSON other than an object: wrap it in one, to apply the same strict checks.
        return decode_line(b'{"value":%b}' % raw)["value"]
    except LineError as error:
        raise EntryError(f"is not valid JSON: {error.message}") from None


def _setting(
    name: str, schema: object, definitions: Mapping[str, Any], *, is_required: bool
) -> Setting:
    # A plug-in's schema may have any form: settings of unknown form are entered as JSON.
    described = _object(schema)
    options = [_object(option) for option in described.get("anyOf", [described])]
    values = [option for option in options if option.get("type") != "null"]
    only = _resolved(values[0], definitions) if len(values) == 1 else {}
    # pydantic omits defaults from factories, which are empty containers.
    empty = _EMPTY.get(str(only.get("type")))
    return Setting(
        name=name,
        kind=_kind(only),
        description=str(described.get("description", "")),
        default=described.get("default", UNSET if is_required else empty),
        may_be_null=len(values) < len(options),
        words=tuple(only.get("enum") or _object(only.get("items")).get("enum") or ()),
        minimum=_worth_telling(only.get("minimum")),
        maximum=_worth_telling(only.get("maximum")),
    )


_EMPTY: dict[str, Any] = {"object": {}, "array": []}


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _resolved(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = str(schema.get("$ref", ""))
    return _object(definitions.get(reference.rpartition("/")[2])) if reference else schema


def _kind(schema: Mapping[str, Any]) -> Kind:
    words, kind, items = schema.get("enum"), schema.get("type"), _object(schema.get("items"))
    if words:
        return Kind.CHOICE if _are_texts(words) else Kind.JSON
    if kind == "array" and items.get("type") == "string":
        return Kind.CHOICES if _are_texts(items.get("enum")) else Kind.LINES
    simple = {"boolean": Kind.FLAG, "string": Kind.TEXT}
    simple |= {"integer": Kind.INTEGER, "number": Kind.NUMBER}
    return simple.get(str(kind), Kind.JSON)


def _are_texts(values: object) -> bool:
    if not isinstance(values, list):
        return False
    return bool(values) and all(isinstance(value, str) for value in values)


def _number(text: str) -> float:
    value = int(text) if _INTEGER.fullmatch(text) else float(text)
    if not (INT_MIN <= value <= INT_MAX if isinstance(value, int) else math.isfinite(value)):
        raise EntryError(f"does not fit into 64 bits: {text[:40]}")
    return value


def _worth_telling(limit: object) -> float | None:
    return limit if isinstance(limit, int | float) and abs(limit) < _LARGE else None


def _lines_in(text: str) -> list[str]:
    """Return one string per line, or those of a JSON list, which may contain line breaks."""
    if text.lstrip().startswith("["):
        try:
            listed = json_value(text.strip())
        except EntryError:
            listed = None  # `[a-z]*` is a glob
        if listed == [] or _are_texts(listed):
            return list(listed)
    return [line for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def _as_lines(value: Sequence[Any]) -> str:
    text = "\n".join(map(str, value))
    return text if _lines_in(text) == list(value) else pretty_json(value)

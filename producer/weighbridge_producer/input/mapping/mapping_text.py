"""The syntax of mappings on the command line: `custom_id=id,agent_response=output.text,metadata=topic`.

Fields of the case are on the left, and paths into the row, or constants as JSON after `:=`, on the right.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import orjson

from weighbridge.errors import MappingError
from weighbridge.text import shorten
from weighbridge_producer.input.mapping.field_mapping import (
    ENTRIES,
    GRADER,
    REST,
    FieldMapping,
)
from weighbridge_producer.input.mapping.list_entries import EACH, checked_list_path
from weighbridge_producer.input.mapping.row_values import (
    ADDED,
    ROW_NUMBER,
    Constant,
    FirstOf,
    Path,
    Template,
    Value,
    is_template,
    name_of,
)
from weighbridge_producer.input.mapping.same_source import common_source
from weighbridge_producer.input.mapping.special_forms import WRITTEN, form_of, is_clearly_a_form

_FORM = "write FIELD=PATH, separated by commas, such as custom_id=id,agent_response=output.text"
_NO_INPUTS_HINT = (
    "add agent_response=PATH, for example, or trace=PATH; files of traces in a known format are read without a mapping,"
    " and compare --pair-by metadata.file pairs them by file"
)
_ITEM_END = re.compile(r",(?=\s*(?:metadata\.\*|[\w./@-]+)\s*:?=)")
_ROW_LIMIT = 64  #: fields per mapping


def parse_mapping(texts: Sequence[str], base: FieldMapping | None = None) -> FieldMapping:
    """Parse `FIELD=PATH,FIELD:=JSON` from the command line; its fields override those of `base`.

    Raises MappingError.
    """
    return _parsed(texts, base).mapping()


def mapping_of(fields: Iterable[tuple[str, Value]], **more: Any) -> FieldMapping:
    """Create a mapping from field names (`custom_id`, `agent_response`, `metadata.topic`) and their values."""
    found = _Fields(None)
    for name, value in fields:
        found.add(name, value)
    return replace(found.mapping(), **more)


def mapped_fields(texts: Sequence[str]) -> frozenset[str]:
    """Return `custom_id` and the names of the inputs that texts of `parse_mapping` map; raises MappingError."""
    return _parsed(texts, None).names()


def each_of(texts: Sequence[str]) -> Path | None:
    """Return the list whose entries are the cases, by texts of `parse_mapping`; raises MappingError."""
    return _parsed(texts, None).each


def added_values(texts: Sequence[str]) -> frozenset[str]:
    """Return the values that texts of `parse_mapping` use and a row does not have by itself; raises MappingError."""
    return _parsed(texts, None).added()


def input_of(text: str) -> Value:
    """Parse the right-hand side of an input, in which alternatives may be templates; a bar in braces separates nothing."""
    parts = _alternatives_in(text) if is_template(text) else []
    if len(parts) > 1 and all(parts):
        return FirstOf((Path(text), *map(value_of, parts)))
    return value_of(text)


def value_of(text: str) -> Value:
    """Parse the right-hand side of a field: a path, alternatives separated by `|`, a template or a special form."""
    if is_template(text):
        if is_clearly_a_form(text):
            raise MappingError(
                f"{text!r} has braces within a special form",
                f"write {WRITTEN} without braces",
            )
        return Template(text)
    if "|" in text:
        # A column name may contain a `|`.
        return FirstOf((Path(text), *(_single_value(part.strip()) for part in text.split("|"))))
    return _single_value(text)


def _alternatives_in(text: str) -> list[str]:
    """Return the parts of a text between the bars that are not within braces."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "{") - (character == "}")
        if character == "|" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _single_value(text: str) -> Value:
    return form_of(text) or Path(text)


class _Fields:
    """Builder of a mapping, whose added fields override those of `base`."""

    def __init__(self, base: FieldMapping | None) -> None:
        self._base = base
        self._custom_id: Value | None = None
        self._inputs: dict[str, Value] = {}
        self._metadata: dict[str, Value] = {}
        self._entries: Value | None = None
        self.each: Path | None = None
        self._grader: Value | None = None
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
            name = name.strip()
            parsed = value_of if _is_label(name) else input_of
            self.add(name, parsed(written.strip()))

    def add(self, name: str, value: Value) -> None:
        """Add a field by name; raises MappingError if it has been added already."""
        room, dot, inner = name.partition(".")
        if name == "custom_id":
            if self._custom_id:
                raise MappingError("custom_id is mapped twice", "give it one path")
            self._custom_id = value
        elif name == GRADER:
            if self._grader:
                raise MappingError("grader is mapped twice", "give it one path")
            self._grader = value
        elif name == EACH:
            if self.each or not isinstance(value, Path):
                what = "is mapped twice" if self.each else "is not the path of a list"
                raise MappingError(f"{EACH} {what}", f"write {EACH}=PATH once")
            self.each = checked_list_path(value)
        elif name == "metadata" and value == Path(REST):
            self._takes_rest = True
        elif name == "metadata":
            if isinstance(value, Constant):
                raise MappingError("an entry of metadata has no name", "write metadata.NAME:=...")
            self._put(self._metadata, name_of(value), value, "metadata")
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

    def added(self) -> frozenset[str]:
        """Return the values that the fields use and a row does not have by itself."""
        single = [value for value in (self._custom_id, self._grader, self._entries) if value]
        values = [*single, *self._inputs.values(), *self._metadata.values()]
        return ADDED & {path.text for value in values for path in value.paths()}

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
            raise MappingError("the mapping has no inputs", _NO_INPUTS_HINT)
        _refuse_same(inputs)
        made = FieldMapping(
            *(custom_id, inputs, self._metadata, self._takes_rest, self._entries),
            each=self.each,
            grader=self._grader,
        )
        if base is None:
            return made
        return replace(
            made,
            metadata={**base.metadata, **self._metadata},
            takes_rest=base.takes_rest or self._takes_rest,
            entries=self._entries or base.entries,
            each=self.each or base.each,
            grader=self._grader or base.grader,
            rows=base.rows,
            name=base.name,
            others=base.others,
            error=None if "agent_response" in self._inputs else base.error,
            change=None if "expected_output" in self._inputs else base.change,
        )


def _is_label(name: str) -> bool:
    """Return whether a field may be a text made of several values, such as an id with a bar between them."""
    return name in {"custom_id", GRADER, EACH, "metadata"} or name.startswith("metadata.")


def _refuse_same(inputs: Mapping[str, Value]) -> None:
    """Raise MappingError if the agent's and the expected answer can be one value of a row, which would always pass."""
    answer, expected = inputs.get("agent_response"), inputs.get("expected_output")
    if answer is None or expected is None or not (common := common_source(answer, expected)):
        return
    verb = "are both mapped to" if str(answer) == str(expected) else "can both be read from"
    raise MappingError(
        f"agent_response and expected_output {verb} {shorten(common, 80, '...')!r}, so that an"
        " answer would be compared with itself",
        "map expected_output to the column with the expected answers",
    )


def _parsed(texts: Sequence[str], base: FieldMapping | None) -> _Fields:
    found = _Fields(base)
    for text in texts:
        for item in _ITEM_END.split(text):
            found.add_text(item.strip())
    return found


def _constant(text: str, written: str) -> Constant:
    try:
        return Constant(orjson.loads(written))
    except orjson.JSONDecodeError as error:
        raise MappingError(
            f"{shorten(text, 80, '...')!r}: what follows := is not JSON: {error}",
            'write FIELD:=JSON, such as expected_output:="yes"',
        ) from None

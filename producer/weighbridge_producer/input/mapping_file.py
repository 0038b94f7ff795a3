"""A mapping file: YAML or JSON that assigns values of a row to fields of a case.

For example:

    custom_id: id
    inputs:
      agent_response: output.text
      expected_output: {value: "yes"}
    metadata: [topic, model]
    rows: /results
    each: attempts
    join:
      gold: {file: answers.csv, on: id}
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any, NamedTuple

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from weighbridge.errors import JoinError, MappingError
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.input.files.remote_files import is_url
from weighbridge_producer.input.joins import JoinSpec
from weighbridge_producer.input.mapping.field_mapping import GRADER, REST, FieldMapping
from weighbridge_producer.input.mapping.list_entries import EACH
from weighbridge_producer.input.mapping.mapping_text import input_of, mapping_of, value_of
from weighbridge_producer.input.mapping.row_values import Constant, FirstOf, Path, Value
from weighbridge_producer.input.yaml_file import YamlFile

if TYPE_CHECKING:
    from collections.abc import Callable

_KEYS = ("custom_id", "grader", "inputs", "metadata", "rows", "each", "join")
_JOIN_SHAPE = "write NAME: {file: FILE, on: FIELD}, or on: LEFT=RIGHT; rows: /references names the list of rows in a JSON document, and header: false says that a table has none"
_JOIN_KEYS = frozenset({"file", "on"})
_SHAPE = "write a path, {value: CONSTANT}, or a list of paths, of which the first that the row has is used"


class SavedMapping(NamedTuple):
    """The contents of a mapping file."""

    mapping: FieldMapping
    #: only for files of the command line, whose user may read them
    joins: tuple[JoinSpec, ...] = ()


def read_mapping(path: str | FilePath) -> SavedMapping:
    """Return the contents of a mapping file; raises MappingError, with the line number, if it is invalid."""
    return _MappingReader(str(path)).read()


class _MappingReader:
    def __init__(self, name: str) -> None:
        self._file = YamlFile(name, "mapping file", MappingError)

    def read(self) -> SavedMapping:
        root = self._file.parsed()
        if not isinstance(root, CommentedMap):
            self._file.fail(
                "the mapping is not an object", root, hint="write custom_id: and inputs:"
            )
        for key in root:
            if key not in _KEYS:
                meant = did_you_mean(closest(str(key), _KEYS))
                hint = f"known keys: {', '.join(_KEYS)}"
                self._file.fail(f"unknown key {str(key)[:80]!r}{meant}", root, key, hint)
        fields: list[tuple[str, Value]] = []
        fields += [(key, self._value(root, key)) for key in ("custom_id", GRADER) if key in root]
        inputs = root.get("inputs")
        if not isinstance(inputs, CommentedMap):
            self._file.fail(
                "'inputs' is not an object", root, "inputs", "write inputs: {agent_response: PATH}"
            )
        fields += [(f"inputs.{name}", self._value(inputs, name, input_of)) for name in inputs]
        fields += self._metadata(root)
        fields += self._each(root)
        try:
            mapping = mapping_of(fields)
        except MappingError as error:
            self._file.fail_at(1, error.message, error.hint)
        return SavedMapping(replace(mapping, rows=self._rows(root)), self._joins(root))

    def _metadata(self, root: CommentedMap) -> list[tuple[str, Value]]:
        entry = root.get("metadata")
        if entry is None:
            return []
        if isinstance(entry, str):
            return [("metadata", Path(entry))]
        if isinstance(entry, CommentedMap):
            return [(f"metadata.{name}", self._value(entry, name)) for name in entry]
        if isinstance(entry, CommentedSeq) and all(isinstance(name, str) for name in entry):
            return [("metadata", Path(str(name))) for name in entry]
        return self._file.fail(
            "'metadata' is neither a list of paths nor an object of them",
            root,
            "metadata",
            f"write [topic, model], or {REST!r} for every column that is not used",
        )

    def _rows(self, root: CommentedMap) -> str:
        rows = root.get("rows", "")
        if not isinstance(rows, str) or (rows and not rows.startswith("/")):
            self._file.fail("'rows' is not a JSON Pointer", root, "rows", "write rows: /results")
        return str(rows)

    def _each(self, root: CommentedMap) -> list[tuple[str, Value]]:
        each = root.get("each")
        if each is None:
            return []
        if not isinstance(each, str) or not each.strip():
            self._file.fail("'each' is not a path", root, "each", "write each: attempts")
        return [(EACH, Path(each.strip()))]

    def _joins(self, root: CommentedMap) -> tuple[JoinSpec, ...]:
        entries = root.get("join", CommentedMap())
        if not isinstance(entries, CommentedMap):
            self._file.fail("'join' is not an object", root, "join", f"{_JOIN_SHAPE}, below join:")
        return tuple(self._join(entries, name) for name in entries)

    def _join(self, entries: CommentedMap, name: Any) -> JoinSpec:
        entry = entries[name]
        texts = isinstance(entry, CommentedMap) and all(
            isinstance(each, bool) if key == "header" else isinstance(each, str) and each.strip()
            for key, each in entry.items()
        )
        if not texts or not set(entry) >= _JOIN_KEYS:
            what = f"the join {str(name)[:80]!r} does not have a file and a field to join on"
            self._file.fail(what, entries, name, _JOIN_SHAPE)
        if unknown := [key for key in entry if key not in {*_JOIN_KEYS, "rows", "header"}]:
            what = f"the join {str(name)[:80]!r} has an unknown key {str(unknown[0])[:80]!r}"
            self._file.fail(what, entries, name, _JOIN_SHAPE)
        try:
            return JoinSpec.of(
                *(str(name), self._beside(entry["file"]), entry["on"], entry.get("rows", "")),
                has_header=entry.get("header"),
            )
        except JoinError as error:
            self._file.fail(error.message, entries, name, error.hint)

    def _beside(self, file: str) -> str:
        """Return the path of a file that is named relative to the mapping file."""
        return file if is_url(file) else str(FilePath(self._file.name).parent / file)

    def _value(
        self, node: CommentedMap, key: Any, parsed: Callable[[str], Value] = value_of
    ) -> Value:
        entry = node[key]
        if isinstance(entry, str) and entry.strip():
            return parsed(entry.strip())
        if isinstance(entry, CommentedMap) and set(entry) == {"value"}:
            return Constant(self._file.plain(entry["value"]))
        if (
            isinstance(entry, CommentedSeq)
            and entry
            and all(isinstance(each, str) for each in entry)
        ):
            return FirstOf(tuple(value_of(str(each)) for each in entry))
        return self._file.fail(f"{str(key)[:80]!r} is not mapped to anything", node, key, _SHAPE)

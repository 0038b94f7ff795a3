"""A trace mapping file: YAML or JSON with JSON Pointers to the parts of a trace in the user's own format."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from weighbridge.errors import MappingError
from weighbridge.text import closest, did_you_mean
from weighbridge.traces.mapped_format import (
    CALL_FIELDS,
    RESULT_FIELDS,
    RUN_FIELDS,
    STEP_FIELDS,
    MappedFormat,
    parts_of,
)
from weighbridge.traces.mapped_pointers import Pointers
from weighbridge.traces.mapped_types import NOTHING, OTHERWISE, RESULT, SKIP, STEP_TYPES
from weighbridge_producer.input.yaml_file import YamlFile

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weighbridge.traces.mapped_failures import FailingValues

_SECTIONS = {"step": STEP_FIELDS, "calls": CALL_FIELDS, "results": RESULT_FIELDS}
_FAILED_WHEN = "failed_when"
_OWN_KEYS = {
    "step": ("type", "types", _FAILED_WHEN),
    "calls": ("at", _FAILED_WHEN),
    "results": ("at", _FAILED_WHEN),
}
_TOGETHER = "together"


@dataclass(frozen=True, slots=True)
class TraceMapping:
    """A mapping for reading the traces of an input."""

    form: MappedFormat
    traces: str | None  #: the array of traces in a document; None: each value is one trace
    together: bool  #: True if lines of a file form one trace
    by: str  #: the value whose lines form one trace; empty: all lines of a file
    text: str  #: the mapping as JSON, for comparison with others


def read_trace_mapping(path: str | Path) -> TraceMapping:
    """Return the mapping in a file; raises MappingError, with the line number, if it is invalid."""
    return _TraceMappingReader(str(path)).read()


def without_value_note(pointers: Mapping[str, str]) -> str:
    """Return the note that no trace has anything at some pointers of a mapping, given by their names."""
    named = ", ".join(f"{name}: {pointer}" for name, pointer in pointers.items())
    return f"no trace has anything at these pointers of the trace mapping: {named}"


class _TraceMappingReader:
    def __init__(self, name: str) -> None:
        self._file = YamlFile(name, "trace mapping", MappingError)

    def read(self) -> TraceMapping:
        root = self._file.parsed()
        known = ("steps", "traces", "lines", "model", *RUN_FIELDS, *_SECTIONS)
        self._check_keys(root, known, "the mapping")
        if "steps" not in root:
            hint = 'write steps: and the JSON Pointer of their array, such as /events; "" is the whole trace'
            self._file.fail("'steps' is missing", root, hint=hint)
        sections = {name: self._section(root, name) for name in _SECTIONS}
        step = root.get("step") or {}
        together = root.get("lines")
        is_pointer = isinstance(together, str) and together.startswith("/")
        if together not in (None, _TOGETHER) and not is_pointer:
            hint = f"write lines: {_TOGETHER}, or the JSON Pointer of a run's id in each line, or leave it out"
            self._file.fail(
                "all lines of a file are one trace, or those of each run, or each is one",
                *(root, "lines", hint),
            )
        form = MappedFormat(
            steps=self._pointer(root, "steps"),
            run=self._pointers(root, [name for name in RUN_FIELDS if name in root]),
            step=sections["step"],
            type=self._types_at(step),
            types=self._types(step),
            calls_at=self._at(root, "calls"),
            calls=sections["calls"],
            results_at=self._at(root, "results"),
            results=sections["results"],
            failed_when={name: self._failing(root[name]) for name in _SECTIONS if name in root},
            model=self._pointer(root, "model") if "model" in root else "",
        )
        traces = self._pointer(root, "traces") if "traces" in root else None
        by = together if is_pointer else ""
        return TraceMapping(form, traces, together is not None, by, str(self._file.plain(root)))

    def _check_keys(self, node: Any, known: tuple[str, ...], what: str) -> None:
        if not isinstance(node, CommentedMap):
            self._file.fail(f"{what} is not an object", node, hint=f"its keys: {', '.join(known)}")
        for key in node:
            if key not in known:
                meant = did_you_mean(closest(str(key), known))
                hint = f"known keys: {', '.join(known)}"
                self._file.fail(f"unknown key {str(key)[:80]!r}{meant}", node, key, hint)

    def _section(self, root: Any, name: str) -> Pointers:
        if name not in root:
            return {}
        own = _OWN_KEYS[name]
        self._check_keys(root[name], (*own, *_SECTIONS[name]), name)
        return self._pointers(root[name], [key for key in root[name] if key not in own])

    def _at(self, root: Any, name: str) -> str | None:
        section = root.get(name) or {}
        return self._pointer(section, "at") if "at" in section else None

    def _failing(self, section: Any) -> FailingValues:
        """Return the values that show a failure, by their pointers."""
        if _FAILED_WHEN not in section:
            return {}
        hint = "write the value, or an array of values, that show a failure at each JSON Pointer, as in {/success: false}"
        pointers = section[_FAILED_WHEN]
        if not isinstance(pointers, CommentedMap):
            self._file.fail(f"{_FAILED_WHEN} is not an object", section, _FAILED_WHEN, hint)
        for pointer in pointers:
            if not isinstance(pointer, str) or not pointer.startswith("/"):
                text = f"{str(pointer)[:80]!r} in {_FAILED_WHEN} is not a JSON Pointer"
                self._file.fail(text, pointers, pointer, hint)
        failing: FailingValues = {}
        for pointer, given in self._file.plain(pointers).items():
            values = tuple(given) if isinstance(given, list) else (given,)
            if not values or not all(isinstance(each, str | int | float) for each in values):
                text = f"{pointer!r} in {_FAILED_WHEN} has no texts, numbers or booleans"
                self._file.fail(text, pointers, pointer, hint)
            failing[pointer] = values
        return failing

    def _types_at(self, step: Any) -> tuple[str, ...]:
        """Return the pointers to the type of a step: one, or several in an array."""
        if "type" not in step:
            return ("",)
        return self._first_of(step, "type")

    def _pointers(self, node: Any, names: list[str]) -> Pointers:
        found: Pointers = {}
        for name in names:
            parts = parts_of(name)
            if isinstance(node[name], (str, CommentedSeq)):
                found[name] = self._first_of(node, name)
            elif parts or (name == "metadata" and isinstance(node[name], CommentedMap)):
                if parts:
                    self._check_keys(node[name], parts, name)
                found[name] = {part: self._first_of(node[name], part) for part in node[name]}
            else:
                found[name] = self._first_of(node, name)
        return found

    def _first_of(self, node: Any, key: Any) -> tuple[str, ...]:
        """Return the pointers to a fact: one, or several in an array."""
        pointers = node[key]
        if not isinstance(pointers, CommentedSeq):
            return (self._pointer(node, key),)
        if not pointers:
            self._file.fail(f"{key!r} has no JSON Pointer", node, key, "write one, as in /output")
        return tuple(self._pointer(pointers, at) for at in range(len(pointers)))

    def _pointer(self, node: Any, key: Any) -> str:
        pointer = node[key]
        if isinstance(pointer, CommentedSeq) and isinstance(node, CommentedMap):
            hint = "only the fields of a run and those of step, calls and results may have several"
            self._file.fail(f"{key!r} is one JSON Pointer, not an array of them", node, key, hint)
        if not isinstance(pointer, str) or (pointer and not pointer.startswith("/")):
            hint = "a JSON Pointer is empty, for the whole, or begins with /, as in /output/text"
            self._file.fail(
                f"{key!r} is not a JSON Pointer: {str(pointer)[:80]!r}", node, key, hint
            )
        return str(pointer)

    def _types(self, step: Any) -> dict[str, str]:
        types = step.get("types") or {}
        known = (*STEP_TYPES, RESULT, SKIP)
        for word in types:
            if types[word] not in known:
                hint = f"known types: {', '.join(known)}; {OTHERWISE!r} matches all other values, and {NOTHING!r} none"
                self._file.fail(
                    f"{str(types[word])[:80]!r} is not a type of step", types, word, hint
                )
        return {NOTHING if word is None else str(word): str(types[word]) for word in types}

"""A trace mapping file: YAML or JSON with JSON Pointers to the parts of a trace in the user's own format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ruamel.yaml.comments import CommentedMap, CommentedSeq

from weighbridge.errors import MappingError
from weighbridge.text import closest, did_you_mean
from weighbridge.traces.mapped_format import (
    CALL_FIELDS,
    OF_OWN_PARTS,
    RESULT_FIELDS,
    RUN_FIELDS,
    STEP_FIELDS,
    MappedFormat,
    parts_of,
)
from weighbridge.traces.mapped_types import (
    NOTHING,
    OTHERWISE,
    RESULT,
    SKIP,
    STEP_TYPES,
    word_text,
)
from weighbridge_producer.input.yaml_file import YamlFile, key_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from weighbridge.traces.json_pointers import Pointers
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
        together = self._lines(root)
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
        by = "" if together in (None, _TOGETHER) else together
        return TraceMapping(form, traces, together is not None, by, str(self._file.plain(root)))

    def _lines(self, root: Any) -> str | None:
        """Return which lines form a trace: those with the same value at a pointer, or all; None if each is one."""
        given = root.get("lines")
        is_text = isinstance(given, str)
        if not (given in (None, _TOGETHER) or (is_text and given.startswith("/"))):
            pointer = f"/{given}" if is_text and given else "/run_id, the JSON Pointer of an id,"
            hint = (
                f"write lines: {pointer} for one trace of all lines with the same value there, lines: {_TOGETHER}"
                " for one of all lines, or leave it out if each line is one"
            )
            text = f"'lines' is {str(given)[:80]!r}, neither {_TOGETHER!r} nor a JSON Pointer"
            self._file.fail(text, root, "lines", hint)
        if given is not None and "traces" in root:
            hint = "leave out `lines` for documents with an array of traces, or `traces` for files whose lines are steps"
            self._file.fail("'lines' and 'traces' contradict each other", root, "lines", hint)
        return None if given is None else str(given)

    def _check_keys(self, node: Any, known: tuple[str, ...], what: str, within: Any = None) -> None:
        """Refuse what is no object of known keys; `within` is the object that has it under its name."""
        if not isinstance(node, CommentedMap):
            at, key = (node, None) if within is None else (within, what)
            self._file.fail(f"{what} is not an object", at, key, f"its keys: {', '.join(known)}")
        for key in node:
            if key not in known:
                meant = did_you_mean(closest(str(key), known))
                hint = f"known keys: {', '.join(known)}"
                self._file.fail(f"unknown key {str(key)[:80]!r}{meant}", node, key, hint)

    def _section(self, root: Any, name: str) -> Pointers:
        if name not in root:
            return {}
        own = _OWN_KEYS[name]
        self._check_keys(root[name], (*own, *_SECTIONS[name]), name, root)
        return self._pointers(root[name], [key for key in root[name] if key not in own])

    def _at(self, root: Any, name: str) -> str | None:
        section = root.get(name) or {}
        if "at" in section:
            return self._array_at(section, name)
        if name == "calls" and section:
            hint = 'write at: and the JSON Pointer of the calls in a step; "" is the step itself'
            self._file.fail("calls has no 'at'", root, name, hint)
        return None

    def _array_at(self, section: Any, name: str) -> str:
        """Return the pointer to the calls or results in a step; it cannot stand for all values of an object, as that of `steps`."""
        pointer = self._pointer(section, "at")
        if "*" in pointer.split("/"):
            text = f"{name}.at is {pointer[:80]!r}, but /* stands for all values only at the end of steps and traces"
            self._file.fail(text, section, "at", "write the JSON Pointer of one array")
        return pointer

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
        for pointer, given in pointers.items():
            each = list(given) if isinstance(given, CommentedSeq) else [given]
            if not each or not all(map(_is_comparable, each)):
                text = f"{pointer!r} in {_FAILED_WHEN} has no texts, numbers or booleans: {str(self._file.plain(given))[:80]!r}"
                self._file.fail(text, pointers, pointer, f"{hint}; a date is a text: quote it")
            failing[str(pointer)] = tuple(self._file.plain(each))
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
            elif parts or (name in OF_OWN_PARTS and isinstance(node[name], CommentedMap)):
                if parts:
                    self._check_keys(node[name], parts, name, node)
                held = node[name]
                found[name] = {key_text(part): self._first_of(held, part) for part in held}
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
            begun = f"/{pointer[:80]}" if isinstance(pointer, str) else "/output/text"
            hint = f"a JSON Pointer is empty, for the whole, or begins with /, as in {begun}"
            self._file.fail(
                f"{key!r} is not a JSON Pointer: {str(pointer)[:80]!r}", node, key, hint
            )
        return str(pointer)

    def _types(self, step: Any) -> dict[str, str]:
        given = step.get("types")
        known = (*STEP_TYPES, RESULT, SKIP)
        hint = f"known types: {', '.join(known)}; {OTHERWISE!r} matches all other values, and {NOTHING!r} none"
        if given is not None and not isinstance(given, CommentedMap):
            text = "'types' is not an object with a type for each word"
            self._file.fail(text, step, "types", hint)
        types: dict[str, str] = {}
        for key, kind in (given or {}).items():
            word = NOTHING if key is None else word_text(self._file.plain(key))
            if word is None or not _is_comparable(key or word):
                text = f"{str(key)[:80]!r} in types is no text, number or boolean"
                self._file.fail(text, given, key, "quote it, if it is a text")
            if word in types:
                text = f"{word[:80]!r} is in types twice, as a text and as another value"
                self._file.fail(text, given, key, "leave one of them out: they match the same")
            if kind not in known:
                self._file.fail(f"{str(kind)[:80]!r} is not a type of step", given, key, hint)
            types[word] = str(kind)
        return types


def _is_comparable(value: Any) -> bool:
    """Return whether a value is a text, a number of JSON, or a boolean."""
    return isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))

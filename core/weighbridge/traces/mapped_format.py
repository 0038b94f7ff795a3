"""Trace formats described by a mapping of JSON Pointers.

The values at the pointers are put into the native form, which the native importer reads.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_args

from weighbridge.traces.fields import id_of, string_of
from weighbridge.traces.formats import native
from weighbridge.traces.importer import damaged
from weighbridge.traces.model import Counts, StepType, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weighbridge.traces.model import Trace

STEP_TYPES: tuple[str, ...] = get_args(StepType)
#: Value in `types`, besides the step types, for an item that is the result of a call.
RESULT = "result"
_NOTHING = object()  #: marker of an absent value, which differs from null
OTHERWISE = "*"  #: key in `types` that stands for all words without a key of their own
#: Parts of a field that have pointers of their own, by field.
_PARTS: dict[str, tuple[str, ...]] = {
    "usage": Usage.__struct_fields__,
    "counts": Counts.__struct_fields__,
}
RUN_FIELDS = (
    *("id", "tools", "metadata", "usage", "cost_usd", "counts", "started_at", "ended_at"),
    "duration_ms",
)
STEP_FIELDS = (
    *("id", "parent_id", "name", "input", "output", "arguments", "error", "model", "usage"),
    *("finish_reason", "cost_usd", "started_at", "ended_at"),
)
CALL_FIELDS = ("id", "name", "arguments", "output", "error", "started_at", "ended_at")
RESULT_FIELDS = ("call_id", "name", "output", "error", "ended_at")

Pointers = dict[str, "tuple[str, ...] | Pointers"]
"""The JSON Pointers of each field, of which the first with a value counts, or those of its parts."""


@dataclass(frozen=True, slots=True)
class MappedFormat:
    """JSON Pointers to the facts of a trace; those in `step`, `calls` and `results` begin at one step, call or result."""

    steps: str  #: pointer to the array of steps
    run: Pointers = field(default_factory=dict)
    step: Pointers = field(default_factory=dict)
    #: Pointers to the word that states a step's type; the first with a known word counts.
    type: tuple[str, ...] = ()
    #: Step types by the words at those pointers.
    types: Mapping[str, str] = field(default_factory=dict)
    calls_at: str = ""  #: pointer to the array of tool calls in a step
    calls: Pointers = field(default_factory=dict)
    #: Pointer to the array of results in a step; without it, results are steps of type `result`.
    results_at: str = ""
    results: Pointers = field(default_factory=dict)
    model: str = ""  #: pointer to the run's model, used for model calls that name none

    def pointers(self) -> dict[str, str]:
        """Return the pointers to facts of a trace, by their places in the mapping, such as `step.usage.input_tokens`."""
        named = _by_name("", self.run) | _by_name("step.", self.step)
        named |= _by_name("calls.", self.calls) | _by_name("results.", self.results)
        own = {
            "model": self.model,
            **_by_place("step.type", self.type),
            "calls.at": self.calls_at,
            "results.at": self.results_at,
        }
        return named | {name: pointer for name, pointer in own.items() if pointer}

    def read(self, value: Any) -> Trace:
        """Return the trace in a JSON value; raise TraceError if it does not match the description."""
        (trace,) = native.IMPORTER.read(self.to_native(value))
        return trace

    def to_native(self, value: Any, use: PointerUse | None = None) -> dict[str, Any]:
        """Return the trace in a JSON value in the native form; raise TraceError if the value has no such steps.

        `use` records which pointers lead to a value.
        """
        use = use or PointerUse()
        listed = resolve(value, self.steps)
        if type(listed) is not list:
            raise damaged(f"there is no array of steps at {self.steps!r}")
        model = use.resolved(value, "model", self.model) if self.model else None
        steps = _Steps(self, string_of(model), use)
        for number, item in enumerate(listed, 1):
            steps.add(item, number)
        recorded = use.picked(value, "", self.run)
        return {"format": native.FORMAT, **recorded, "steps": steps.finished()}


class PointerUse:
    """Follows the pointers of a mapping, and notes which of them lead to a value."""

    def __init__(self) -> None:
        self._found: set[str] = set()
        self._followed: set[str] = set()

    def resolved(self, value: Any, name: str, pointer: str) -> Any:
        """Return the value at a pointer, which is recorded under its name; None if there is none."""
        self._followed.add(name)
        held = resolve(value, pointer, _NOTHING)
        if held is _NOTHING:
            return None
        self._found.add(name)
        return held

    def each(self, value: Any, name: str, pointers: tuple[str, ...]) -> Iterator[Any]:
        """Follow the pointers of one fact one after the other, and yield the values that are not null."""
        for at, pointer in enumerate(pointers):
            held = self.resolved(value, _place(name, at, pointers), pointer)
            if held is not None:
                yield held

    def picked(self, value: Any, within: str, pointers: Pointers) -> dict[str, Any]:
        """Return the fields found at pointers; absent ones are left out. `within` is the prefix of the pointers' names."""
        recorded: dict[str, Any] = {}
        for name, pointer in pointers.items():
            held = (
                self.picked(value, f"{within}{name}.", pointer)
                if isinstance(pointer, dict)
                else next(self.each(value, within + name, pointer), None)
            )
            if held is not None and held != {}:
                recorded[name] = held
        return recorded

    def without_value(self, form: MappedFormat) -> dict[str, str]:
        """Return the pointers that were followed and never led to a value, by their names."""
        unfound = self._followed - self._found
        return {name: pointer for name, pointer in form.pointers().items() if name in unfound}


class _Steps:
    def __init__(self, form: MappedFormat, model: str | None, use: PointerUse) -> None:
        self._form = form
        self._use = use
        self._model = model
        self._steps: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}  #: calls without a result, by ID
        #: Calls in order; some of them may have results by now.
        self._open: deque[dict[str, Any]] = deque()

    def add(self, item: Any, number: int) -> None:
        """Add a step, with the calls and results in it."""
        form = self._form
        kind = self._type_of(item, number)
        if kind == RESULT:
            self._result(item)
            return
        step: dict[str, Any] = {"type": kind} | self._use.picked(item, "step.", form.step)
        if kind == "llm" and self._model and "model" not in step:
            step["model"] = self._model
        self._steps.append(step)
        if kind == "tool":
            self._wait(step)
        for call in self._listed(item, "calls.at", form.calls_at):
            self._call(call, step)
        for result in self._listed(item, "results.at", form.results_at):
            self._result(result)

    def _listed(self, item: Any, name: str, pointer: str) -> Iterator[Any]:
        held = self._use.resolved(item, name, pointer) if pointer else None
        yield from held if type(held) is list else () if held is None else (held,)

    def _first_open(self) -> dict[str, Any] | None:
        """Return the first call that has no result yet, for a result that does not name its call."""
        while self._open:
            call = self._open.popleft()
            if "output" not in call:
                return call
        return None

    def _wait(self, call: dict[str, Any]) -> None:
        if "output" not in call:
            self._open.append(call)
            call_id = id_of(call.get("id"))
            if call_id:
                self._calls[call_id] = call

    def finished(self) -> list[dict[str, Any]]:
        """Return the steps in the native form."""
        return self._steps

    def _type_of(self, item: Any, number: int) -> str:
        pointers = self._form.type
        recorded = None  #: the first value at any of the pointers
        for word in self._use.each(item, "step.type", pointers):
            if kind := self._known_type(word):
                return kind
            recorded = word if recorded is None else recorded
        if OTHERWISE in self._form.types:
            return self._form.types[OTHERWISE]
        if recorded is None:
            named = " or ".join(map(repr, pointers)) or "''"
            raise damaged(f"step {number} has nothing at {named}, the pointer of step.type")
        raise damaged(
            f"step {number} has the type {str(recorded)[:40]!r}, which is not in the mapping"
        )

    def _known_type(self, word: Any) -> str | None:
        """Return the type that a word stands for in the mapping or, if it is not there, in the trace model."""
        if type(word) is not str:
            return None
        return self._form.types.get(word) or (word if word in STEP_TYPES else None)

    def _call(self, call: Any, step: dict[str, Any]) -> None:
        recorded: dict[str, Any] = {"type": "tool", "arguments": {}} | self._use.picked(
            call, "calls.", self._form.calls
        )
        if id_of(step.get("id")):
            recorded["parent_id"] = step["id"]
        self._steps.append(recorded)
        self._wait(recorded)

    def _result(self, result: Any) -> None:
        recorded = self._use.picked(result, "results.", self._form.results)
        call_id = id_of(recorded.pop("call_id", None))
        call = self._calls.pop(call_id, None) if call_id else self._first_open()
        if call is None:
            self._steps.append({"type": "other", **recorded})
        else:
            call.update(
                {"output": None} | recorded | ({"name": call["name"]} if call.get("name") else {})
            )


def _by_place(name: str, pointers: tuple[str, ...]) -> dict[str, str]:
    return {_place(name, at, pointers): pointer for at, pointer in enumerate(pointers)}


def _place(name: str, at: int, pointers: tuple[str, ...]) -> str:
    """Return the name of a pointer of a fact; only several of them have numbers, from 0."""
    return name if len(pointers) == 1 else f"{name}.{at}"


def _by_name(within: str, pointers: Pointers) -> dict[str, str]:
    named: dict[str, str] = {}
    for name, pointer in pointers.items():
        if isinstance(pointer, dict):
            named |= _by_name(f"{within}{name}.", pointer)
        else:
            named |= _by_place(within + name, pointer)
    return named


def resolve(value: Any, pointer: str, otherwise: Any = None) -> Any:
    """Return the value at a JSON Pointer (RFC 6901); `otherwise` if there is none."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if type(value) is dict:
            value = value.get(key, otherwise)
        elif type(value) is list and key.isdecimal() and len(key) < 10 and int(key) < len(value):
            value = value[int(key)]
        else:
            return otherwise
    return value


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a field that have their own pointers; empty for a field without parts."""
    return _PARTS.get(name, ())

"""Trace formats described by a mapping of JSON Pointers.

What the pointers lead to is put into the native form, which is read like any other.
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
RESULT = "result"  #: what a value of `type` may stand for beside the types of steps: the result of a call
OTHERWISE = "*"  #: the value of `types` that stands for all others
#: Fields that have pointers of their own.
_PARTS: dict[str, tuple[str, ...]] = {
    "usage": Usage.__struct_fields__,
    "counts": Counts.__struct_fields__,
}
RUN_FIELDS = (
    *("id", "tools", "metadata", "usage", "cost_usd", "counts", "started_at", "ended_at"),
)
STEP_FIELDS = (
    *("id", "parent_id", "name", "input", "output", "arguments", "error", "model", "usage"),
    *("cost_usd", "started_at", "ended_at"),
)
CALL_FIELDS = ("id", "name", "arguments", "output", "error", "started_at", "ended_at")
RESULT_FIELDS = ("call_id", "name", "output", "error", "ended_at")

Pointers = dict[str, "str | Pointers"]
"""A JSON Pointer for each field, or several for its parts."""


@dataclass(frozen=True, slots=True)
class MappedFormat:
    """Where the facts of a trace stand; pointers of `step`, `calls` and `results` begin at one of these."""

    steps: str  #: the array of steps
    run: Pointers = field(default_factory=dict)
    step: Pointers = field(default_factory=dict)
    type: str = ""  #: of a step: what says of which type it is
    #: The types of steps by what stands there.
    types: Mapping[str, str] = field(default_factory=dict)
    calls_at: str = ""  #: the array of tool calls in a step
    calls: Pointers = field(default_factory=dict)
    results_at: str = ""  #: the array of results in a step; empty: a step of type `result` is one
    results: Pointers = field(default_factory=dict)
    model: str = ""  #: of the run: the model of all model calls that name none

    def read(self, value: Any) -> Trace:
        """Return the trace in a JSON value; raise TraceError if it does not match the description."""
        (trace,) = native.IMPORTER.read(self.to_native(value))
        return trace

    def to_native(self, value: Any) -> dict[str, Any]:
        """Return the trace in a JSON value in the native form; raise TraceError if the value has no such steps."""
        listed = resolve(value, self.steps)
        if type(listed) is not list:
            raise damaged(f"there is no array of steps at {self.steps!r}")
        steps = _Steps(self, string_of(resolve(value, self.model)) if self.model else None)
        for number, item in enumerate(listed, 1):
            steps.add(item, number)
        recorded = _picked(value, self.run)
        return {"format": native.FORMAT, **recorded, "steps": steps.finished()}


class _Steps:
    def __init__(self, form: MappedFormat, model: str | None) -> None:
        self._form = form
        self._model = model
        self._steps: list[dict[str, Any]] = []
        self._calls: dict[str, dict[str, Any]] = {}  #: those without a result, by their ids
        #: Calls in order, of which some have results by now.
        self._open: deque[dict[str, Any]] = deque()

    def add(self, item: Any, number: int) -> None:
        """Add a step, with the calls and results in it."""
        form = self._form
        kind = self._type_of(item, number)
        if kind == RESULT:
            self._result(item)
            return
        step: dict[str, Any] = {"type": kind} | _picked(item, form.step)
        if kind == "llm" and self._model and "model" not in step:
            step["model"] = self._model
        self._steps.append(step)
        if kind == "tool":
            self._wait(step)
        for call in _listed(item, form.calls_at):
            self._call(call, step)
        for result in _listed(item, form.results_at):
            self._result(result)

    def _first_open(self) -> dict[str, Any] | None:
        """Return the first call that has no result yet, for a result that does not say whose it is."""
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
        recorded = resolve(item, self._form.type)
        word = recorded if type(recorded) is str else OTHERWISE
        types = self._form.types
        kind = types.get(word) or (word if word in STEP_TYPES else types.get(OTHERWISE))
        if kind is None:
            raise damaged(
                f"step {number} has the type {str(recorded)[:40]!r}, which is not in the mapping"
            )
        return kind

    def _call(self, call: Any, step: dict[str, Any]) -> None:
        recorded: dict[str, Any] = {"type": "tool", "arguments": {}} | _picked(
            call, self._form.calls
        )
        if id_of(step.get("id")):
            recorded["parent_id"] = step["id"]
        self._steps.append(recorded)
        self._wait(recorded)

    def _result(self, result: Any) -> None:
        recorded = _picked(result, self._form.results)
        call_id = id_of(recorded.pop("call_id", None))
        call = self._calls.pop(call_id, None) if call_id else self._first_open()
        if call is None:
            self._steps.append({"type": "other", **recorded})
        else:
            call.update(
                {"output": None} | recorded | ({"name": call["name"]} if call.get("name") else {})
            )


def _listed(item: Any, pointer: str) -> Iterator[Any]:
    held = resolve(item, pointer) if pointer else None
    yield from held if type(held) is list else () if held is None else (held,)


def _picked(value: Any, pointers: Pointers) -> dict[str, Any]:
    """Return the fields that pointers lead to, without those that are not there."""
    recorded: dict[str, Any] = {}
    for name, pointer in pointers.items():
        held = _picked(value, pointer) if isinstance(pointer, dict) else resolve(value, pointer)
        if held is not None and held != {}:
            recorded[name] = held
    return recorded


def resolve(value: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer (RFC 6901); None if there is none."""
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if type(value) is dict:
            value = value.get(key)
        elif type(value) is list and key.isdecimal() and len(key) < 10 and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a field that have their own pointers; empty for a field without parts."""
    return _PARTS.get(name, ())

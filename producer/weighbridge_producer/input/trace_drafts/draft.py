"""A draft of a trace mapping: its lines, with remarks on those that are uncertain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError
from weighbridge.traces.mapped_format import MappedFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.json_pointers import Pointers
    from weighbridge_producer.input.trace_drafts.shape import Typed


@dataclass(slots=True)
class Line:
    """A field of a mapping with its pointers."""

    section: str  #: step, calls or results; empty for the run
    name: str  #: such as output, or usage.input_tokens
    pointers: tuple[str, ...]
    remark: str = ""
    is_active: bool = True  #: False if it is written as a comment
    is_needed: bool = False  #: True if it is not tried out whether it can be left out
    literal: str = ""  #: YAML to write in place of the pointers


@dataclass(slots=True)
class Draft:
    """A trace mapping that is made for a file."""

    steps: str
    traces: str | None = None
    by: str = (
        ""  #: `together`, or the pointer to a run's id; empty if the file's lines are not joined
    )
    by_remark: str = ""
    is_log: bool = False  #: True if it is not certain that all lines are of one run
    traces_remark: str = ""
    steps_remark: str = ""
    kinds: tuple[str, ...] = ()
    types: dict[str, Typed] = field(default_factory=dict)
    calls_at: str | None = None
    calls_remark: str = ""
    results_at: str | None = None
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  #: on the whole

    def form(self, lines: Sequence[Line]) -> MappedFormat:
        """Return the format with some of the lines."""
        return MappedFormat(
            steps=self.steps,
            run=_pointers(lines, ""),
            step=_pointers(lines, "step"),
            type=self.kinds or ("",),
            types={word: typed.type for word, typed in self.types.items()},
            calls_at=self.calls_at,
            calls=_pointers(lines, "calls"),
            results_at=self.results_at,
            results=_pointers(lines, "results"),
            model=next((line.pointers[0] for line in lines if not line.section and line.name == "model"), ""),
        )  # fmt: skip

    def without_what_does_not_fit(self, values: Sequence[Any]) -> None:
        """Make the lines comments that some of the runs cannot be read with, and say why."""
        kept = [line for line in self.lines if line.is_active and line.is_needed]
        failing = len(_errors(self.form(kept), values))
        for line in self.lines:
            if not line.is_active or line.is_needed:
                continue
            errors = _errors(self.form([*kept, line]), values)
            if len(errors) > failing:
                line.is_active = False
                line.remark = f"left out: {errors[0]}"
            else:
                kept.append(line)
        if failing:
            error = _errors(self.form(kept), values)[0]
            self.notes.append(f"{failing:,} of {len(values):,} runs do not fit this draft: {error}")


def _errors(form: MappedFormat, values: Sequence[Any]) -> list[str]:
    errors = []
    for value in values:
        try:
            form.read(value)
        except TraceError as error:
            errors.append(error.message)
    return errors


def _pointers(lines: Sequence[Line], section: str) -> Pointers:
    found: Pointers = {}
    for line in lines:
        if line.section != section or (not section and line.name == "model"):
            continue
        if line.literal:  # no pointers, and read with any run
            continue
        name, _, part = line.name.partition(".")
        if part:
            parts = found.setdefault(name, {})
            if isinstance(parts, dict):
                parts[part] = line.pointers
        else:
            found[name] = line.pointers
    return found

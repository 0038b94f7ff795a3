"""One step of a trace, as a timeline shows it in a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from weighbridge_producer.trace_view.annotated_json import AnnotatedLine, BrokenText, Problem
    from weighbridge_producer.trace_view.loop_marks import LoopedStep, ShownLoop
    from weighbridge_producer.trace_view.step_columns import StepColumns


class ShownText(NamedTuple):
    """A text of a step, possibly truncated."""

    name: str  #: input, arguments, output or error
    text: str
    total: int  #: characters of the complete text

    @property
    def is_cut(self) -> bool:
        """True if the text is truncated."""
        return len(self.text) < self.total


class Mark(NamedTuple):
    """An evidence entry that names a step."""

    entry: int  #: number of the entry in the evidence, from 1
    check: str
    passed: bool


class MarkedArguments(NamedTuple):
    """Arguments with the locations of their problems."""

    lines: list[AnnotatedLine]
    broken: BrokenText | None
    problems: tuple[Problem, ...]


class LoopMark(NamedTuple):
    """A step's role in a loop, and the loop."""

    loop: ShownLoop
    step: LoopedStep


@dataclass(frozen=True, slots=True)
class ShownStep:
    """One step, for display in a row."""

    number: int  #: number of the step in the trace, from 1
    id: str
    type: str
    name: str
    depth: int
    columns: StepColumns
    brief: str
    result: str  #: result of a call, in one line
    is_failure: bool
    texts: tuple[ShownText, ...]
    marks: tuple[Mark, ...]
    loops: tuple[LoopMark, ...]
    #: Numbers of the loops around the step, whether it is part of them or not.
    within: tuple[int, ...]
    arguments: MarkedArguments | None
    is_open: bool
    parent_id: str | None = None
    calls: int = 0  #: number of tools that it calls
    is_silent: bool = False  #: True if it has no output of its own
    #: the model step that only makes this call, shown in the same row
    model: ShownStep | None = None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the steps in the row."""
        return (self.model.number, self.number) if self.model else (self.number,)

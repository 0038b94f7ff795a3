"""What a page shows of a case, read from its line: the one part of a page that a hostile input can make slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge_producer.trace_view.timeline import (
    NoTimelineError,
    ShownText,
    Timeline,
    read_case,
    text_of,
    timeline_of,
    trace_in,
    whole_texts,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge.grading.case import Case
    from weighbridge.jobs.model import GraderSpec

TEXT_ON_STEP_PAGE = 100_000  #: characters of one text at once
_INPUT_CHARACTERS = 4_000


class StepSelection(NamedTuple):
    """Which part of a trace a page is to show."""

    step: int | None = None
    first: int | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """What a result's page knows of its case."""

    config: Mapping[str, Any] | None = None  #: that the grader was given
    timeline: Timeline | None = None
    inputs: tuple[ShownText, ...] = ()
    untold: str = ""  #: why there is neither, for a person


class Piece(NamedTuple):
    """A part of a text."""

    name: str
    text: str
    at: int  #: characters before it
    total: int


@dataclass(frozen=True, slots=True)
class StepView:
    """What a step's page knows of it."""

    type: str = ""
    name: str = ""
    texts: tuple[Piece, ...] = ()
    steps: int = 0  #: that the trace has
    untold: str = ""  #: why there is nothing, for a person


def view_case(
    line: bytes | None,
    defaults: tuple[GraderSpec, ...],
    label: str | None,
    result: Mapping[str, Any] | None,
    wanted: StepSelection,
) -> CaseView:
    """Return a case as the page of one of its results shows it."""
    config = next((spec.config for spec in defaults if spec.label == label), None)
    try:
        case = read_case(line, defaults)
        config = next((spec.config for spec in case.graders if spec.label == label), config)
        trace = trace_in(case)
        if trace is None:
            return CaseView(config, inputs=_inputs(case))
        return CaseView(
            config, timeline=timeline_of(trace, result, step=wanted.step, first=wanted.first)
        )
    except NoTimelineError as error:
        return CaseView(config, untold=str(error))


def view_step(line: bytes | None, number: int, part: str, at: int) -> StepView:
    """Return a step as its own page shows it: from a character on, in all texts or one."""
    try:
        trace = trace_in(read_case(line, ()))
    except NoTimelineError as error:
        return StepView(untold=str(error))
    if trace is None:
        return StepView(untold="the case has no trace")
    if number > len(trace.steps):
        return StepView(steps=len(trace.steps), untold="the trace has no such step")
    step = trace.steps[number - 1]
    texts = tuple(
        Piece(name, text[at : at + TEXT_ON_STEP_PAGE], at, len(text))
        for name, text in whole_texts(step)
        if part in {"", name}
    )
    return StepView(step.type, step.name or "", texts, len(trace.steps))


def _inputs(case: Case) -> tuple[ShownText, ...]:
    texts = ((name, text_of(value)) for name, value in case.inputs.items())
    return tuple(ShownText(name, text[:_INPUT_CHARACTERS], len(text)) for name, text in texts)

"""View of a case, read from its line: the only part of a page that hostile input can make slow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge_producer.trace_view.shown_step import ShownText
from weighbridge_producer.trace_view.timeline import (
    NoTimelineError,
    Timeline,
    read_case,
    text_of,
    timeline_of,
    trace_in,
    whole_texts,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from weighbridge.grading.case import Case
    from weighbridge.jobs.grader_spec import GraderSpec

TEXT_ON_STEP_PAGE = 100_000  #: characters of one text per page
_INPUT_CHARACTERS = 4_000


class StepSelection(NamedTuple):
    """The part of a trace to show on a page."""

    step: int | None = None
    first: int | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """The view of a case on the page of a result."""

    config: Mapping[str, Any] | None = None  #: the grader's configuration
    timeline: Timeline | None = None
    inputs: tuple[ShownText, ...] = ()
    not_shown_reason: str = ""  #: reason why neither inputs nor timeline can be shown


class Piece(NamedTuple):
    """A part of a text."""

    name: str
    text: str
    at: int  #: offset in the text, in characters
    total: int


@dataclass(frozen=True, slots=True)
class StepView:
    """The view of a step on its own page."""

    type: str = ""
    name: str = ""
    texts: tuple[Piece, ...] = ()
    steps: int = 0  #: number of steps in the trace
    not_shown_reason: str = ""  #: reason why the step cannot be shown


def view_case(
    line: bytes | None,
    defaults: tuple[GraderSpec, ...],
    label: str | None,
    result: Mapping[str, Any] | None,
    wanted: StepSelection,
) -> CaseView:
    """Return the view of a case for the page of one of its results."""
    spec = _labelled(defaults, label)
    try:
        case = read_case(line, defaults)
        spec = _labelled(case.graders, label) or spec
        trace = trace_in(case)
        if trace is None:
            return CaseView(_config_of(spec), inputs=_inputs(case))
        timeline = timeline_of(trace, result, spec, step=wanted.step, first=wanted.first)
        return CaseView(_config_of(spec), timeline=timeline)
    except NoTimelineError as error:
        return CaseView(_config_of(spec), not_shown_reason=str(error))


def _labelled(specs: Iterable[GraderSpec], label: str | None) -> GraderSpec | None:
    return next((spec for spec in specs if spec.label == label), None)


def _config_of(spec: GraderSpec | None) -> Mapping[str, Any] | None:
    return None if spec is None else spec.config


def view_step(line: bytes | None, number: int, part: str, at: int) -> StepView:
    """Return the view of a step for its own page: all texts, or one of them from an offset."""
    try:
        trace = trace_in(read_case(line, ()))
    except NoTimelineError as error:
        return StepView(not_shown_reason=str(error))
    if trace is None:
        return StepView(not_shown_reason="the case has no trace")
    if number > len(trace.steps):
        return StepView(steps=len(trace.steps), not_shown_reason="the trace has no such step")
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

"""The timeline of a trace: a window of its steps, each with its evidence."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import LineError, TraceError
from weighbridge.graders.values import as_json
from weighbridge.grading.case import parse_case
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import MIB
from weighbridge.text import cut_after, encodable
from weighbridge.traces import read_trace
from weighbridge_producer.trace_view.annotated_json import (
    Problem,
    broken_text,
    marked_lines,
    problems_in,
)
from weighbridge_producer.trace_view.folded_calls import folded
from weighbridge_producer.trace_view.loop_marks import ShownLoop, loops_of
from weighbridge_producer.trace_view.running_totals import (
    RunningTotal,
    own_prices_of,
    running_totals,
)
from weighbridge_producer.trace_view.shown_step import (
    LoopMark,
    Mark,
    MarkedArguments,
    ShownStep,
    ShownText,
)
from weighbridge_producer.trace_view.step_columns import TimeAxis, axis_of, columns_of
from weighbridge_producer.trace_view.step_outcomes import error_and_output
from weighbridge_producer.trace_view.trace_summary import lacks_in_words, summary_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weighbridge.grading.case import Case
    from weighbridge.traces import Step, Trace

SHOWN_BYTES = 8 * MIB  #: traces of larger cases are not shown
WINDOW = 100  #: steps on one page
TEXT_CHARACTERS = 1_500  #: shown of each text of a step
_BEFORE = 10  #: steps shown before the requested one
_BRIEF_CHARACTERS = 160
_NAME_CHARACTERS = 40
_NAMES_SHOWN = 3
_DEEPEST = 8  #: levels of nesting with distinct indentation
_MOST_OPEN = 12  #: steps whose details are expanded initially
_PARTS = ("input", "arguments", "output", "error")


class NoTimelineError(Exception):
    """The case has no timeline; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Window:
    """The range of a trace's steps on a page."""

    first: int
    last: int
    total: int

    @property
    def earlier(self) -> int | None:
        """The first step of the previous page; None if there is none."""
        return max(1, self.first - WINDOW) if self.first > 1 else None

    @property
    def later(self) -> int | None:
        """The first step of the next page; None if there is none."""
        return self.last + 1 if self.last < self.total else None

    def holds(self, number: int) -> bool:
        """Return whether a step is on the page."""
        return self.first <= number <= self.last


@dataclass(frozen=True, slots=True)
class Timeline:
    """The view of a trace on a page."""

    facts: tuple[str, ...]
    window: Window
    steps: tuple[ShownStep, ...]
    loops: tuple[ShownLoop, ...]
    totals: tuple[RunningTotal, ...]
    lacks: tuple[tuple[str, str], ...]  #: in words, what the source does not record, and why
    not_carried: tuple[str, ...]
    numbers: Mapping[str, int]  #: numbers of the steps named in evidence, by id
    axis: TimeAxis | None  #: None if the trace has no times
    has_tokens: bool  #: True if any step has token counts


def read_case(line: bytes | None, defaults: tuple[GraderSpec, ...]) -> Case:
    """Return the case on a line, parsed as for grading; NoTimelineError if it cannot be shown."""
    if line is None:
        raise NoTimelineError(
            "the case's inputs are no longer stored: only the result is available"
        )
    if len(line) > SHOWN_BYTES:
        raise NoTimelineError(
            f"the case has {len(line):,} bytes, and a page reads at most {SHOWN_BYTES:,}"
        )
    try:
        return parse_case(line, defaults, needs_grader=False)
    except LineError as error:
        raise NoTimelineError(f"the case cannot be read: {error.message}") from None


def trace_in(case: Case) -> Trace | None:
    """Return a case's trace, or None; NoTimelineError if it cannot be read."""
    try:
        return read_trace(case.inputs["trace"]) if "trace" in case.inputs else None
    except TraceError as error:
        raise NoTimelineError(f"the trace cannot be read: {error.message}") from None


def step_numbers(trace: Trace) -> dict[str, int]:
    """Return the numbers of a trace's steps, from 1, by the ids used in evidence."""
    return {encodable(step.id): number for number, step in enumerate(trace.steps, 1)}


def timeline_of(
    trace: Trace,
    result: Mapping[str, Any] | None,
    spec: GraderSpec | None = None,
    *,
    step: int | None = None,
    first: int | None = None,
) -> Timeline:
    """Return the window of a trace that starts at `first`, contains `step`, or else contains the first failure.

    `spec` is the grader of the result, with the configuration that it was graded with, if that is known.
    """
    evidence = _evidence(result)
    numbers = step_numbers(trace)
    window = _window(len(trace.steps), first, step or _first_failure(evidence, numbers))
    loops = loops_of((result or {}).get("details"), trace.steps, numbers)
    rows = _Rows(trace, window, evidence, numbers, loops, step)
    return Timeline(
        facts=summary_facts(trace),
        window=window,
        steps=folded(map(rows.row, range(window.first, window.last + 1))),
        loops=tuple(loops),
        totals=tuple(running_totals(trace, evidence, own_prices_of(spec))),
        lacks=tuple((lack, trace.missing[name]) for name, lack in lacks_in_words(trace).items()),
        not_carried=trace.not_carried,
        numbers={each: numbers[each] for each in _named(evidence) if each in numbers},
        axis=rows.axis,
        has_tokens=any(step.usage for step in trace.steps),
    )


def whole_texts(step: Step) -> list[tuple[str, str]]:
    """Return all texts of a step in full, with their names."""
    values = ((part, getattr(step, part)) for part in _PARTS)
    return [(part, text_of(value)) for part, value in values if value is not None]


def _evidence(result: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    listed = (result or {}).get("evidence")
    return [entry for entry in listed if type(entry) is dict] if type(listed) is list else []


def _ids(entry: Mapping[str, Any]) -> list[str]:
    ids = entry.get("step_ids")
    return [each for each in ids if type(each) is str] if type(ids) is list else []


def _named(evidence: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (each for entry in evidence for each in _ids(entry))


def _first_failure(evidence: Sequence[Mapping[str, Any]], numbers: Mapping[str, int]) -> int | None:
    for entry in evidence:
        if not entry.get("passed"):
            for each in _ids(entry):
                if each in numbers:
                    return numbers[each]
    return None


def _window(total: int, first: int | None, around: int | None) -> Window:
    if total <= WINDOW:
        return Window(1, total, total)
    start = first if first is not None else (around or 1) - _BEFORE
    start = max(1, min(start, total))
    return Window(start, min(start + WINDOW - 1, total), total)


class _Rows:
    """Builder of the rows of one window."""

    def __init__(
        self,
        trace: Trace,
        window: Window,
        evidence: Sequence[Mapping[str, Any]],
        numbers: Mapping[str, int],
        loops: Sequence[ShownLoop],
        step: int | None,
    ) -> None:
        self._trace = trace
        self._numbers = numbers
        self._called = _called(trace.steps)
        self._calls = Counter(each.parent_id for each in trace.steps if each.type == "tool")
        self._indices = {each.id: index for index, each in enumerate(trace.steps)}
        self.axis = axis_of(trace.steps)
        self._loops = loops
        self._marks: dict[int, list[Mark]] = defaultdict(list)
        self._problems: dict[int, tuple[Problem, ...]] = {}
        for entry_number, entry in enumerate(evidence, 1):
            self._note(entry_number, entry)
        self._looped: dict[int, list[LoopMark]] = defaultdict(list)
        for loop in loops:
            for member in loop.members:
                self._looped[member.number].append(LoopMark(loop, member))
        self._open = self._opened(evidence, window) | ({step} if step else set())

    def _note(self, entry_number: int, entry: Mapping[str, Any]) -> None:
        ids, numbers = _ids(entry), self._numbers
        passed = bool(entry.get("passed"))
        for each in ids:
            if number := numbers.get(each):
                self._marks[number].append(Mark(entry_number, str(entry.get("check", "")), passed))
        # Only for entries with a single call: an entry for many calls says nothing about their arguments.
        problems = problems_in(entry.get("observed"))
        if not passed and problems and len(ids) == 1 and (number := numbers.get(ids[0])):
            self._problems[number] = self._problems.get(number, ()) + problems

    def _opened(self, evidence: Sequence[Mapping[str, Any]], window: Window) -> frozenset[int]:
        """Choose the steps whose details are expanded: steps with problems, and the first step of each failure."""
        firsts = [
            number
            for entry in evidence
            if not entry.get("passed") and (number := self._first_of(entry))
        ]
        chosen = [number for number in (*self._problems, *firsts) if window.holds(number)]
        return frozenset(chosen[:_MOST_OPEN])

    def _first_of(self, entry: Mapping[str, Any]) -> int | None:
        return next((self._numbers[each] for each in _ids(entry) if each in self._numbers), None)

    def row(self, number: int) -> ShownStep:
        """Return the row of a step."""
        step = self._trace.steps[number - 1]
        arguments = self._arguments(number, step)
        brief = _brief(step)
        return ShownStep(
            number=number,
            id=step.id,
            type=step.type,
            name=step.name or "",
            depth=self._depth(number - 1),
            columns=columns_of(step, self.axis),
            brief=brief or self._called.get(step.id, ""),
            result=_result(step),
            is_failure=bool(step.error),
            texts=tuple(_texts(step)),
            marks=tuple(self._marks.get(number, ())),
            loops=tuple(self._looped.get(number, ())),
            within=tuple(loop.number for loop in self._loops if loop.first <= number <= loop.last),
            arguments=arguments,
            is_open=number in self._open,
            parent_id=step.parent_id,
            calls=self._calls[step.id],
            is_silent=not brief,
        )

    def _depth(self, index: int) -> int:
        """Return the nesting depth of a step, limited so that a cycle of parents ends."""
        depth = 0
        while depth < _DEEPEST:
            parent = self._trace.steps[index].parent_id
            if parent is None or parent not in self._indices:
                break
            index = self._indices[parent]
            depth += 1
        return depth

    def _arguments(self, number: int, step: Step) -> MarkedArguments | None:
        problems = self._problems.get(number)
        if not problems:
            return None
        given = step.arguments
        broken = broken_text(given) if type(given) is str else None
        if broken is not None:
            return MarkedArguments([], broken, problems)
        return MarkedArguments(marked_lines(given, problems), None, problems)


def _called(steps: Sequence[Step]) -> dict[str, str]:
    """Return the tools called by each step that does nothing else."""
    called: dict[str, list[str]] = defaultdict(list)
    for step in steps:
        if step.type == "tool" and step.parent_id is not None:
            called[step.parent_id].append((step.name or "a tool")[:_NAME_CHARACTERS])
    return {
        parent: f"calls {', '.join(names[:_NAMES_SHOWN])}{' …' if len(names) > _NAMES_SHOWN else ''}"
        for parent, names in called.items()
    }


def _brief(step: Step) -> str:
    """Return a description of a step in one line."""
    value = step.arguments if step.type == "tool" else step.output
    if value is None:
        value = step.input if step.output is None else step.output
    return _line(value)


def _result(step: Step) -> str:
    """Return the result of a call, or the error of any step, in one line; empty if the description contains it."""
    error, output = error_and_output(step)
    is_brief = step.arguments is None  # the output is the description
    shown = (_line(error), "" if is_brief else _line(output))
    return cut_after(" → ".join(filter(None, shown)), _BRIEF_CHARACTERS)


def _line(value: Any) -> str:
    if value is None:
        return ""
    text = value if type(value) is str else as_json(value)
    line = " ".join(text[: 4 * _BRIEF_CHARACTERS].split())
    return cut_after(line, _BRIEF_CHARACTERS)


def _texts(step: Step) -> list[ShownText]:
    return [ShownText(name, text[:TEXT_CHARACTERS], len(text)) for name, text in whole_texts(step)]


def text_of(value: Any) -> str:
    """Return a value as readable text: a string unchanged, any other value as JSON."""
    if type(value) is str:
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # an integer beyond 64 bits, or very deep
        return as_json(value)

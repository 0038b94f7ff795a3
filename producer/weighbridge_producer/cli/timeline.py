"""A trace as a timeline in the terminal: one line per step, and notes on missing information."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson
from rich.cells import cell_len
from rich.segment import Segment, Segments
from rich.style import Style

from weighbridge.text import pluralize, printable
from weighbridge_producer.cli.show import out, shown, truncated
from weighbridge_producer.trace_view.step_outcomes import error_and_output
from weighbridge_producer.trace_view.timeline import whole_texts
from weighbridge_producer.trace_view.trace_summary import lacks_in_words, summary_facts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.traces import Step, Trace

_STYLES = {
    kind: Style.parse(name)
    for kind, name in {
        "llm": "cyan",
        "tool": "yellow",
        "agent": "magenta",
        "user": "green",
        "system": "dim",
    }.items()
}
_WHITE, _BOLD, _DIM, _RED = map(Style.parse, ("white", "bold", "dim", "red"))
_TEXT_WIDTH = 100
_NAME_WIDTH = 40
_ID_WIDTH = 24
_TYPE_WIDTH = 6
_MOST_READ = 4 * _TEXT_WIDTH  #: characters read from a text of any length


def print_trace(name: str, trace: Trace, location: str = "") -> None:
    """Print a trace with a heading, which names its location unless its name begins with the file."""
    out.print(f"[bold]{shown(name, _TEXT_WIDTH)}[/]  {', '.join(summary_facts(trace))}")
    if location and not name.startswith(location.rpartition(", ")[0]):
        out.print(shown(location))
    out.print()
    columns = (_numbers(trace.steps), _moments(trace.steps), _idents(trace.steps))
    labels = list(map("".join, zip(*columns, strict=True)))
    lines = map(_of_step, trace.steps, labels)
    # Segments avoid the cost of rich's markup, which is high for long traces.
    out.print(Segments(chain.from_iterable(lines)), end="")
    for capability, lack in lacks_in_words(trace).items():
        out.print(f"[dim]{lack}: {shown(trace.missing[capability])}[/]")
    for lost in trace.not_carried:
        out.print(f"[dim]not carried over: {shown(lost)}[/]")


def print_steps(steps: Sequence[Step]) -> None:
    """Print steps in full, with an empty line between two of them."""
    for number, step in enumerate(steps):
        if number:
            out.print()
        name = f" [bold]{shown(step.name)}[/]" if step.name else ""
        out.print(f"[bold]{shown(step.id)}[/]  {step.type}{name}")
        for part, text in whole_texts(step):
            lines = (f"  {printable(line)}\n" for line in text.split("\n"))
            out.print(f"[dim]{part}[/]")
            out.print(Segments(map(Segment, lines)), end="")


def _numbers(steps: Sequence[Step]) -> list[str]:
    """Return a column of the steps' numbers from 1, as evidence counts them."""
    width = len(str(len(steps)))
    return [f"{number:>{width}}  " for number in range(1, len(steps) + 1)]


def _moments(steps: Sequence[Step]) -> list[str]:
    """Return the start times of the steps as a column, blank if unknown; an empty list if all are unknown."""
    start = min((step.started_at for step in steps if step.started_at is not None), default=0)
    moments = [
        "" if step.started_at is None else f"{(step.started_at - start) / 1e9:+9.2f}s "
        for step in steps
    ]
    width = max(map(len, moments), default=0)
    return [moment.rjust(width) for moment in moments]


def _idents(steps: Sequence[Step]) -> list[str]:
    """Return a column of the steps' ids."""
    idents = [truncated(step.id, _ID_WIDTH) for step in steps]
    width = max(map(cell_len, idents), default=0)
    return [ident + " " * (width - cell_len(ident)) for ident in idents]


def _of_step(step: Step, label: str) -> Iterator[Segment]:
    """Yield a step's line and, for a tool call or a failed step, lines with its error and its result."""
    yield Segment(f"{label}  ")
    yield Segment(f"{step.type:{_TYPE_WIDTH}}", _STYLES.get(step.type, _WHITE))
    if step.name:
        yield Segment(" ")
        yield Segment(truncated(step.name, _NAME_WIDTH), _BOLD)
    if what := _brief(step.arguments if step.type == "tool" else step.output):
        yield Segment(f" {what}")
    if step.usage and step.usage.total:
        yield Segment(" ")
        yield Segment(pluralize(step.usage.total, "token"), _DIM)
    yield Segment.line()
    error, output = error_and_output(step)
    came_to = []
    if error:
        came_to.append(Segment(f"✗ {_brief(error)}", _RED))
    if output is not None:
        came_to.append(Segment(f"→ {_brief(output)}", _DIM))
    for segment in came_to:
        yield Segment(" " * (cell_len(label) + 2 + _TYPE_WIDTH + 1))
        yield segment
        yield Segment.line()


def _brief(value: Any) -> str:
    """Return any value in one line."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else _json(value)
    line = " ".join(text[:_MOST_READ].split())
    return truncated(line if len(text) <= _MOST_READ else f"{line} …", _TEXT_WIDTH)


def _json(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, or very deep
        try:
            return repr(value)
        except RecursionError:
            return "…"

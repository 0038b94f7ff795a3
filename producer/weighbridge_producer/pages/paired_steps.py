"""The steps of two traces side by side: equal steps in the same row, and the texts in which other steps differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rapidfuzz.distance import Indel

from weighbridge_producer.pages.text_diff import Piece, side_by_side
from weighbridge_producer.trace_view.timeline import WINDOW, Window

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from weighbridge_producer.trace_view.shown_step import ShownStep
    from weighbridge_producer.trace_view.timeline import Timeline

_RESULTS = frozenset({"output", "error"})
_COLLAPSED = 3  #: shorter runs of equal rows are shown, longer ones collapsed


class DifferentText(NamedTuple):
    """A text of two steps that differs, in pieces."""

    name: str  #: input, arguments, output or error
    before: list[Piece]
    after: list[Piece]


class PairedSteps(NamedTuple):
    """A row: the same step of two traces, or a step of one of them."""

    before: ShownStep | None
    after: ShownStep | None
    differences: tuple[DifferentText, ...] = ()

    @property
    def is_equal(self) -> bool:
        """True if both traces have the step, with the same texts."""
        return bool(self.before and self.after and not self.differences)


class Section(NamedTuple):
    """Consecutive rows that are all equal, or all different."""

    rows: list[PairedSteps]
    is_equal: bool

    @property
    def is_collapsed(self) -> bool:
        """True if there are so many equal rows that only their number is shown at first."""
        return self.is_equal and len(self.rows) > _COLLAPSED


class PairedTimeline(NamedTuple):
    """A window of two traces, side by side."""

    window: Window
    sections: list[Section]

    @property
    def first_difference(self) -> PairedSteps | None:
        """The first row with a difference; None if all rows of the window are equal."""
        return next((each.rows[0] for each in self.sections if not each.is_equal), None)


def paired_timeline(before: Timeline, after: Timeline, first: int | None) -> PairedTimeline:
    """Pair the steps of two timelines from a number on, or from the first that both show."""
    sides = (before, after)
    total = max(side.window.total for side in sides)
    start = min(first or min(side.window.first for side in sides), max(total, 1))
    window = Window(start, min(start + WINDOW - 1, total), total)
    steps = ([step for step in side.steps if window.holds(step.number)] for side in sides)
    return PairedTimeline(window, _sections(*steps))


def _sections(before: Sequence[ShownStep], after: Sequence[ShownStep]) -> list[Section]:
    sections: list[Section] = []
    for row in _rows(before, after):
        if not sections or sections[-1].is_equal != row.is_equal:
            sections.append(Section([], row.is_equal))
        sections[-1].rows.append(row)
    return sections


def _rows(before: Sequence[ShownStep], after: Sequence[ShownStep]) -> Iterator[PairedSteps]:
    """Pair steps that do the same; between these, steps of the same kind; others have a row of their own."""
    for start, end, pairs in _aligned(before, after, _action):
        for one, other, of_kind in _aligned(start, end, _kind):
            yield from (PairedSteps(step, None) for step in one)
            yield from (PairedSteps(None, step) for step in other)
            yield from (_pair(*each) for each in of_kind)
        yield from (_pair(*each) for each in pairs)


#: steps of each side without a match, then pairs of matching steps
_Gap = tuple["Sequence[ShownStep]", "Sequence[ShownStep]", "list[tuple[ShownStep, ShownStep]]"]


def _aligned(
    before: Sequence[ShownStep],
    after: Sequence[ShownStep],
    key: Callable[[ShownStep], Hashable],
) -> Iterator[_Gap]:
    """Match as many steps with equal keys as the order allows."""
    keys: dict[Hashable, int] = {}
    sides = [[keys.setdefault(key(step), len(keys)) for step in side] for side in (before, after)]
    left, right = 0, 0
    for block in Indel.opcodes(*sides):
        if block.tag == "equal":
            start, end = block.src_start, block.dest_start
            gaps = before[left:start], after[right:end]
            left, right = block.src_end, block.dest_end
            yield *gaps, list(zip(before[start:left], after[end:right], strict=True))
    yield before[left:], after[right:], []


def _kind(step: ShownStep) -> Hashable:
    return step.type, step.name


def _action(step: ShownStep) -> Hashable:
    """Return what a step does: a call without its result, or any other step with all of its texts."""
    is_call = step.type == "tool"
    texts = (text for text in step.texts if not (is_call and text.name in _RESULTS))
    return step.type, step.name, *texts


def _pair(before: ShownStep, after: ShownStep) -> PairedSteps:
    first, second = ({text.name: text for text in step.texts} for step in (before, after))
    differences = []
    for name in dict.fromkeys((*first, *second)):
        one, other = first.get(name), second.get(name)
        if one != other:
            pieces = side_by_side(one.text if one else "", other.text if other else "")
            differences.append(DifferentText(name, *pieces))
    return PairedSteps(before, after, tuple(differences))

"""Loops in what an agent says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.arguments import canonical
from weighbridge.graders.loop.cycles import Crowding, Stretch, crowded, repeats
from weighbridge.graders.loop.findings import Finding, joined
from weighbridge.graders.loop.likeness import Described, Least, Recent
from weighbridge.graders.loop.wording import ANY_SORT, Wording, lists_items

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge.graders.loop.calls import Turn
    from weighbridge.graders.loop.limits import Limits


def loops_in_texts(
    turns: Sequence[Turn], limits: Limits, *, with_calls: bool
) -> tuple[list[int], list[Finding]]:
    """Return the row of numbers that turns are compared by, and the loops in it.

    A turn with calls is not reported by itself, unless calls are not examined: then `with_calls` is true.
    """
    row = _row(turns, limits.similarity_threshold, with_calls=with_calls)
    spoken = [with_calls or not turn.calls for turn in turns]
    findings = [
        finding
        for finding in (*_cycles(row, limits), *_crowded(row, spoken, limits))
        if any(spoken[place] for place in finding.places)
        and not lists_items([turns[place].text for place in finding.places])
    ]
    return row, joined(findings, row)


def _row(turns: Sequence[Turn], threshold: float, *, with_calls: bool) -> list[int]:
    numbers: dict[Any, int] = {}
    texts = _Texts(threshold)
    row = []
    for place, turn in enumerate(turns):
        key: Any
        if turn.calls and (turn.is_action or not with_calls):
            key = ("calls", *[call.pair for call in turn.calls])
        elif turn.text or turn.calls:
            key = (texts.number(turn), *[call.pair for call in turn.calls])
        else:
            key = texts.number_of_input(turn, place)
        row.append(numbers.setdefault(key, len(numbers)))
    return row


class _Texts:
    """Numbers texts, so that equal numbers mean texts that are alike."""

    def __init__(self, threshold: float) -> None:
        self._known: dict[str, int] = {}
        self._recent: Recent[int] = Recent(Least(threshold, ANY_SORT))
        self._inputs: dict[int, Any] = {}

    def number(self, turn: Turn) -> object:
        """Number what a turn says; the same words about another input are another matter."""
        text = turn.text
        number = self._known.get(text)
        if number is None:
            number = self._known[text] = self._new(text)
        given = turn.step.input
        if given is None or turn.calls:
            return number
        before = self._inputs.get(number)
        self._inputs[number] = given
        if before is None or _goes_on(before, given):
            return number
        return number, canonical(given)

    def number_of_input(self, turn: Turn, place: int) -> object:
        """Number a turn that says nothing by what it was given; one that was given nothing is like no other."""
        given = turn.step.input
        return ("alone", place) if given is None else ("given", canonical(given))

    def _new(self, text: str) -> int:
        described = Described((), (Wording(text),))
        alike = next(self._recent.alike(described), None)
        number = alike.item if alike else len(self._known)
        # Variants are kept too: of two texts that are like a third, each may have words of its own.
        self._recent.add(number, described)
        return number


def _goes_on(before: Any, given: Any) -> bool:
    """Whether an input is the one before, or goes on where it ended, as a conversation does."""
    if type(before) is list and type(given) is list:
        return len(given) >= len(before) and given[: len(before)] == before
    if type(before) is str and type(given) is str:
        return given.startswith(before)
    return canonical(before) == canonical(given)


def _cycles(row: list[int], limits: Limits) -> Iterator[Finding]:
    for period in range(1, limits.max_period + 1):
        for stretch in repeats(row, period):
            is_loop = stretch.length >= limits.least_length(period)
            if is_loop and (period == 1 or len(set(row[stretch.start : stretch.end])) > 1):
                kind = "text" if period == 1 else "text_cycle"
                yield Finding(kind, period, tuple(range(*stretch)))


def _crowded(row: list[int], spoken: list[bool], limits: Limits) -> Iterator[Finding]:
    """Find two texts in a row of turns, in whatever order."""
    texts = [number if is_spoken else -1 for number, is_spoken in zip(row, spoken, strict=True)]
    window = max(4, 2 * limits.max_repeats)
    for stretch in crowded(texts, Crowding(window, 2, 2, window - 1)):
        yield Finding("text_cycle", None, _places(stretch))


def _places(stretch: Stretch) -> tuple[int, ...]:
    return tuple(range(*stretch))

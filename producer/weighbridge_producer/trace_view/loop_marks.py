"""Loops for the timeline: letters mark which steps repeat each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.graders.loop.finders.rules import RULES
from weighbridge.graders.values import as_json
from weighbridge.text import cut_after, elapsed, pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from weighbridge.traces import Step

_LOOPS_SHOWN = 20
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_OTHER = "*"  #: used when there are no more letters
_BRIEF_CHARACTERS = 120
_DIFFERENCES_SHOWN = 10
_UNKNOWN_RULE = "steps that repeat each other"


@dataclass(frozen=True, slots=True)
class LoopedStep:
    """A step's part in a loop."""

    number: int  #: the step's number in the trace, from 1
    letter: str  #: steps of a loop with the same letter repeat each other
    round: int  #: from 1; in a loop without order, the number of the letter's occurrence


@dataclass(frozen=True, slots=True)
class ShownLoop:
    """A loop of a trace."""

    number: int  #: of the loop in the trace, from 1
    rule: str  #: its id; empty if it is not known, as in a result of another version
    period: int | None  #: steps in one round; None if the steps have no fixed order
    observed: float  #: the number that the rule counts
    steps: int  #: number of steps; `members` are those listed in the result
    members: tuple[LoopedStep, ...]
    #: Letter, number of its first step, description of that step.
    legend: tuple[tuple[str, int, str], ...]
    differences: tuple[str, ...]  #: differences between the repeats
    recovered: bool | None  #: True if the agent left the loop
    wasted: str  #: cost from the first repeat on, as text

    @property
    def says(self) -> str:
        """A description of what repeats."""
        rule = RULES.get(self.rule)
        return rule.in_words(self.period).removesuffix(",") if rule else _UNKNOWN_RULE

    @property
    def first(self) -> int:
        """The number of the first step."""
        return self.members[0].number

    @property
    def last(self) -> int:
        """The number of the last listed step."""
        return self.members[-1].number


def loops_of(details: Any, steps: Sequence[Step], numbers: Mapping[str, int]) -> list[ShownLoop]:
    """Return the loops in a result's details whose steps are in the trace."""
    listed = details.get("loops") if type(details) is dict else None
    if type(listed) is not list:
        return []
    found = [_loop(loop, steps, numbers) for loop in listed[:_LOOPS_SHOWN] if type(loop) is dict]
    kept = [loop for loop in found if loop is not None]
    return [_numbered(loop, number) for number, loop in enumerate(kept, 1)]


def _numbered(loop: dict[str, Any], number: int) -> ShownLoop:
    return ShownLoop(number=number, **loop)


def _loop(
    loop: dict[str, Any], steps: Sequence[Step], number_of: Mapping[str, int]
) -> dict[str, Any] | None:
    ids = loop.get("step_ids")
    numbers = (
        [number_of[each] for each in ids if type(each) is str and each in number_of]
        if type(ids) is list
        else []
    )
    if not numbers:
        return None
    period = loop.get("period") if _is_count(loop.get("period")) else None
    letters = _letters(numbers, period, steps)
    return {
        "rule": rule if type(rule := loop.get("rule")) is str and rule in RULES else "",
        "period": period,
        "observed": _number(loop.get("observed")) or len(numbers),
        "steps": loop["steps"] if _is_count(loop.get("steps")) else len(numbers),
        "members": _members(numbers, letters, period),
        "legend": _legend(numbers, letters, steps),
        "differences": tuple(_differences(loop)),
        "recovered": loop["recovered"] if type(loop.get("recovered")) is bool else None,
        "wasted": _wasted(loop),
    }


def _is_count(value: Any) -> bool:
    return type(value) is int and value > 0


def _number(value: Any) -> Any:
    return value if type(value) in {int, float} else None


def _wasted(loop: Mapping[str, Any]) -> str:
    """Return the known cost from the first repeat on, as text."""
    steps, tokens, ms, usd = (
        _number(loop.get(f"wasted_{unit}")) for unit in ("steps", "tokens", "ms", "usd")
    )
    parts = (
        pluralize(steps, "step") if steps else "",
        pluralize(tokens, "token") if tokens else "",
        elapsed(ms / 1_000) if ms else "",
        f"{usd:.3g} USD" if usd else "",
    )
    return ", ".join(filter(None, parts))


def _differences(loop: Mapping[str, Any]) -> Iterator[str]:
    """Yield the differences between the repeats of a loop: arguments with their values, and results."""
    listed = loop.get("differences")
    for each in listed[:_DIFFERENCES_SHOWN] if type(listed) is list else ():
        if type(each) is not dict or type(each.get("values")) is not list:
            continue
        values = ", ".join(str(value)[:_BRIEF_CHARACTERS] for value in each["values"][:3])
        more = ", …" if (_number(each.get("distinct")) or 0) > len(each["values"]) else ""
        yield f"{each.get('tool', '')} {each.get('argument', '')}: {values}{more}"
    results = loop.get("distinct_results")
    if not _is_count(results):
        return
    if results == 1:
        yield "the same result each time"
    elif _differ_in_noise(loop.get("outcome")):
        yield f"{results:,} results that differ in noise alone"
    else:
        yield f"{results:,} different results"


def _differ_in_noise(outcome: Any) -> bool:
    """Return whether all results of a loop are the same, apart from noise; failures may differ in more than their reason."""
    if type(outcome) is not dict or outcome.get("failed") is not False:
        return False
    return _is_count(outcome.get("times")) and outcome["times"] == outcome.get("compared")


def _letters(numbers: list[int], period: int | None, steps: Sequence[Step]) -> list[str]:
    """Return each step's letter, by its position in a round or, without a fixed order, by its description."""
    if period:
        turns = [index % period for index in range(len(numbers))]
    else:
        seen: dict[str, int] = {}
        turns = [seen.setdefault(_brief(steps[number - 1]), len(seen)) for number in numbers]
    return [_LETTERS[turn] if turn < len(_LETTERS) else _OTHER for turn in turns]


def _members(numbers: list[int], letters: list[str], period: int | None) -> tuple[LoopedStep, ...]:
    often: dict[str, int] = {}
    members = []
    for at, (number, letter) in enumerate(zip(numbers, letters, strict=True)):
        often[letter] = often.get(letter, 0) + 1
        turn = at // period + 1 if period else often[letter]
        members.append(LoopedStep(number, letter, turn))
    return tuple(members)


def _legend(
    numbers: list[int], letters: list[str], steps: Sequence[Step]
) -> tuple[tuple[str, int, str], ...]:
    firsts: dict[str, int] = {}
    for number, letter in zip(numbers, letters, strict=True):
        firsts.setdefault(letter, number)
    return tuple((letter, number, _brief(steps[number - 1])) for letter, number in firsts.items())


def _brief(step: Step) -> str:
    """Return a description of a step, which identifies equal steps in a loop without order."""
    if step.type in {"tool", "agent"}:
        did = "" if step.arguments is None else as_json(step.arguments)
        text = f"{step.name or step.type} {did}"
    elif step.output is None:  # as of an answer that only asks for calls
        text = "no text"
    else:
        text = step.output if type(step.output) is str else as_json(step.output)
    return cut_after(text, _BRIEF_CHARACTERS)

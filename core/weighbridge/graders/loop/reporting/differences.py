"""The steps that a loop repeats, and the differences between their repeats, in arguments and results."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.history.arguments import canonical
from weighbridge.graders.values import as_json
from weighbridge.text import encodable, revealed, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.graders.loop.history.actions import Message

COMPARED_CALLS = 50  #: of each tool of a loop
NAMED_TOOLS = 3  #: of one loop, in a sentence
TOOLS_LIMIT = 10  #: of one loop
NAMED_STEPS = 3  #: of one round, in a sentence
ARGUMENTS_LIMIT = 5  #: differing arguments of one loop
VALUES_LIMIT = 3  #: of one argument
_VALUE_CHARACTERS = 60
_NAME_CHARACTERS = 80
_KEYS_LIMIT = 100  #: of one call's arguments


class ArgumentDifference(NamedTuple):
    """Argument with several values in one loop."""

    tool: str
    argument: str
    values: tuple[str, ...]  #: the first ones, as JSON
    distinct: int  #: number of different values among the calls compared

    def as_dict(self) -> dict[str, object]:
        """Return the difference as a JSON object."""
        return self._asdict() | {"values": list(self.values)}

    def describe(self, *, names_tool: bool) -> str:
        """Describe the values of the argument: `argument 'page' has 5 values (1, 2, 3, …)`."""
        of = f" of '{self.tool}'" if names_tool else ""
        more = ", …" if self.distinct > len(self.values) else ""
        values = ", ".join(self.values)
        return f"argument '{self.argument}'{of} has {self.distinct} values ({values}{more})"


class Differences(NamedTuple):
    """Tools called in a loop, and the differences between the repeats of each of its steps."""

    tools: tuple[str, ...] = ()  #: the tools called, in order; empty for a loop of texts
    arguments: tuple[ArgumentDifference, ...] = ()
    results: int = 0  #: number of different results, among those in the trace
    varied_results: int = 0  #: the same of the steps that have several
    #: the first of the steps that are repeated, as text, if several of them call one tool
    steps: tuple[str, ...] = ()
    more_steps: int = 0  #: number of the others

    def cause_by(self, rule: str) -> str:
        """Return a name for the rule of a loop and its tools, independent of where in the cycle the loop begins."""
        tools = sorted(self.tools)
        more = f" and {len(tools) - NAMED_TOOLS} more" if len(tools) > NAMED_TOOLS else ""
        return f"{rule}, {', '.join(tools[:NAMED_TOOLS])}{more}" if tools else rule

    def describe(self, *, noise: bool) -> str:
        """Describe the steps, unless their tools do, the arguments that differ between repeats, and results that differ by more than noise."""
        more = f" and {self.more_steps:,} more" if self.more_steps else ""
        steps = f"; the steps: {', '.join(self.steps)}{more}" if self.steps else ""
        parts = [each.describe(names_tool=len(self.tools) > 1) for each in self.arguments]
        if self.varied_results and not noise:
            parts.append(f"{self.varied_results} different results")
        return f"{steps}; what differs: {'; '.join(parts)}" if parts else steps


def named(tools: Sequence[str]) -> str:
    """Return a list of the first few tools: `'search', 'open', 'read' and 2 more`."""
    more = f" and {len(tools) - NAMED_TOOLS} more" if len(tools) > NAMED_TOOLS else ""
    return ", ".join(f"'{tool}'" for tool in tools[:NAMED_TOOLS]) + more


def differences_of(steps: Iterable[tuple[int, Call | Message]]) -> Differences:
    """Return the differences between the repeats in a loop, given its steps with numbers that the repeats of one step share."""
    by_step: defaultdict[tuple[str, int], list[Call]] = defaultdict(list)
    taken: Counter[str] = Counter()
    for number, step in steps:
        if isinstance(step, Call) and (step.tool in taken or len(taken) < TOOLS_LIMIT):
            taken[step.tool] += 1
            if taken[step.tool] <= COMPARED_CALLS:
                by_step[step.tool, number].append(step)
    results: defaultdict[str, set[str]] = defaultdict(set)
    varied = 0
    for (tool, _), calls in by_step.items():
        found = {call.result.text for call in calls if call.result.text is not None}
        results[tool] |= found
        varied += len(found) if len(found) > 1 else 0
    differing = [difference for calls in by_step.values() for difference in _differing(calls)]
    firsts = [calls[0] for calls in by_step.values()]
    first_steps = [_step(call, names_tool=len(taken) > 1) for call in firsts[:NAMED_STEPS]]
    # With one step for each tool, the names of the tools are enough.
    is_listed = len(firsts) > len(taken) and len(set(first_steps)) > 1
    return Differences(
        tools=tuple(map(_name, taken)),
        arguments=tuple(differing[:ARGUMENTS_LIMIT]),
        results=sum(map(len, results.values())),
        varied_results=varied,
        steps=tuple(first_steps) if is_listed else (),
        more_steps=len(firsts[NAMED_STEPS:]) if is_listed else 0,
    )


def _differing(calls: Sequence[Call]) -> Iterable[ArgumentDifference]:
    """Yield the arguments of one tool whose values differ between calls."""
    given = [call.step.arguments for call in calls if call.arguments.is_comparable]
    objects: list[dict[Any, Any]] = [each for each in given if type(each) is dict]
    keys = dict.fromkeys(key for each in objects for key in list(each)[:_KEYS_LIMIT])
    for key in list(keys)[:_KEYS_LIMIT]:
        values = {canonical(each[key]): each[key] for each in objects if key in each}
        if len(values) > 1 and type(key) is str:
            first = tuple(_value(value) for value in list(values.values())[:VALUES_LIMIT])
            yield ArgumentDifference(_name(calls[0].tool), _name(key), first, len(values))


def _step(call: Call, *, names_tool: bool) -> str:
    """Return a call as text: its arguments as JSON, or the value of the only one, after its tool if that has to be named."""
    given: Any = call.step.arguments
    if given is None:
        return _name(call.tool)
    value = _value(next(iter(given.values())) if type(given) is dict and len(given) == 1 else given)
    return f"{_name(call.tool)} {value}" if names_tool else value


def _value(value: object) -> str:
    return shorten(revealed(as_json(value)), _VALUE_CHARACTERS)


def _name(text: str) -> str:
    return shorten(revealed(encodable(text)), _NAME_CHARACTERS)

"""Differences between the repeats of a loop, in arguments and results."""

from __future__ import annotations

from collections import defaultdict
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
    """Tools called in a loop, and the differences between its steps."""

    tools: tuple[str, ...] = ()  #: the tools called, in order; empty for a loop of texts
    arguments: tuple[ArgumentDifference, ...] = ()
    results: int = 0  #: number of different results, among those in the trace

    def kind_of(self, kind: str) -> str:
        """Return a name for the kind of loop and its tools, independent of where in the cycle the loop begins."""
        name, tools = kind.replace("_", " "), sorted(self.tools)
        more = f" and {len(tools) - NAMED_TOOLS} more" if len(tools) > NAMED_TOOLS else ""
        return f"{name}, {', '.join(tools[:NAMED_TOOLS])}{more}" if tools else name

    def describe(self, *, noise: bool) -> str:
        """Describe the arguments that differ between the repeats, and whether results differ by more than noise."""
        parts = [each.describe(names_tool=len(self.tools) > 1) for each in self.arguments]
        if self.results > len(self.tools) and not noise:
            parts.append(f"{self.results} different results")
        return f"; what differs: {'; '.join(parts)}" if parts else ""


def named(tools: Sequence[str]) -> str:
    """Return a list of the first few tools: `'search', 'open', 'read' and 2 more`."""
    more = f" and {len(tools) - NAMED_TOOLS} more" if len(tools) > NAMED_TOOLS else ""
    return ", ".join(f"'{tool}'" for tool in tools[:NAMED_TOOLS]) + more


def differences_of(steps: Iterable[Call | Message]) -> Differences:
    """Return the differences between the calls of a loop, compared per tool."""
    by_tool: defaultdict[str, list[Call]] = defaultdict(list)
    for step in steps:
        if isinstance(step, Call):
            by_tool[step.tool].append(step)
    compared = [calls[:COMPARED_CALLS] for calls in list(by_tool.values())[:TOOLS_LIMIT]]
    differing = [difference for calls in compared for difference in _differing(calls)]
    results = {
        (number, call.result.text)
        for number, calls in enumerate(compared)
        for call in calls
        if call.result.text is not None
    }
    names = tuple(_name(tool) for tool in list(by_tool)[:TOOLS_LIMIT])
    return Differences(names, tuple(differing[:ARGUMENTS_LIMIT]), len(results))


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


def _value(value: object) -> str:
    return shorten(revealed(as_json(value)), _VALUE_CHARACTERS)


def _name(text: str) -> str:
    return shorten(revealed(encodable(text)), _NAME_CHARACTERS)

"""Judges the tool calls of a trace by the rules of their tools."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from weighbridge.graders.tool_schema.json_data import JsonData, NotJsonError, json_data
from weighbridge.graders.tool_schema.problems import Problem, problem
from weighbridge.graders.tool_schema.rules import VIOLATIONS
from weighbridge.graders.tool_schema.schema import Undecided
from weighbridge.graders.trace_grader import ENTRIES_LIMIT, STEP_IDS_LIMIT
from weighbridge.graders.values import as_json
from weighbridge.traces.fields import parse_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.graders.tool_schema.rules import Check, Rule, Rules
    from weighbridge.graders.tool_schema.validation_cost import Allowance
    from weighbridge.traces import Step


@dataclass(slots=True)
class Tool:
    """The calls of one tool; `steps` excludes those reported individually."""

    name: str
    rule: Rule
    calls: int = 0
    alike: int = 0  #: number of calls that all passed, or were all rejected by the rule
    steps: list[str] = field(default_factory=list)  #: the first of these calls


class FaultyCall(NamedTuple):
    """A call with arguments that are invalid or cannot be judged."""

    tool: Tool
    step: str
    check: Check
    arguments: JsonData | str  #: a text if they are not a JSON object
    found: Problem | Undecided | None = None  #: None if the schema explains it


class Faults:
    """The first faults in trace order, and their number; limited because each has its arguments in memory."""

    def __init__(self) -> None:
        self.first: list[FaultyCall] = []
        self.total = 0

    def add(self, fault: FaultyCall) -> None:
        """Add a fault."""
        self.total += 1
        if self.total <= ENTRIES_LIMIT:
            self.first.append(fault)


class Calls:
    """Result of judging all calls."""

    def __init__(self) -> None:
        self.tools: dict[str, Tool] = {}  #: by name, in order of their first calls
        self.faults = Faults()  #: calls with invalid arguments
        self.undecided = Faults()  #: calls with arguments that could not be judged
        self.total = self.valid = self.invalid = self.ungradable = 0
        self.judged_by_schema = 0  #: calls whose arguments a schema accepted or refused
        self.failed: Counter[Check] = Counter()  #: number of failed calls by check

    def add(self, fault: FaultyCall) -> None:
        """Add a faulty call."""
        if fault.check in VIOLATIONS:
            self.failed[fault.check] += 1
            self.judged_by_schema += fault.check == "arguments_match_schema"
            self.faults.add(fault)
        else:
            self.undecided.add(fault)

    def count(self) -> None:
        """Compute the counts, once all calls are added."""
        for tool in self.tools.values():
            self.total += tool.calls
            refusal = tool.rule.refusal
            if refusal is None:
                self.valid += tool.alike
                self.judged_by_schema += tool.alike if tool.rule.schema else 0
            elif refusal.is_gradable:
                self.failed[refusal.check] += tool.alike
            else:
                self.ungradable += tool.alike
        self.ungradable += self.undecided.total
        self.invalid = self.total - self.valid - self.ungradable


def judge_calls(steps: Iterable[Step], rules: Rules, allowance: Allowance) -> Calls:
    """Judge all calls within the allowance."""
    calls = Calls()
    tools = calls.tools
    for step in steps:
        name = step.name if type(step.name) is str else ""
        tool = tools.get(name)
        if tool is None:
            tool = tools[name] = Tool(name, rules.of(name))
        tool.calls += 1
        fault = None if tool.rule.refusal else _fault(step, tool, allowance)
        if fault:
            calls.add(fault)
            continue
        tool.alike += 1
        if tool.alike <= STEP_IDS_LIMIT:
            tool.steps.append(step.id)
    calls.count()
    return calls


def _fault(step: Step, tool: Tool, allowance: Allowance) -> FaultyCall | None:
    """Judge the arguments of one call; return its fault, or None."""
    given = step.arguments
    if given is None or step.arguments_as_shown:
        if tool.rule.schema is None:
            return None
        lack = "does not record" if given is None else "only shows, and does not record,"
        why = Undecided(f"the trace {lack} the arguments")
        return FaultyCall(tool, step.id, "arguments_are_judged", "", why)
    if type(given) is not dict:
        given = parse_arguments(given)
    if type(given) is not dict:
        text = given if type(given) is str else as_json(given)
        return FaultyCall(tool, step.id, "arguments_are_object", text, _no_object(given))
    schema = tool.rule.schema
    if schema is None:
        return None
    try:
        arguments = json_data(given)
    except NotJsonError as error:
        why = Undecided(f"the arguments are not JSON: {error}")
        return FaultyCall(tool, step.id, "arguments_are_judged", as_json(given), why)
    outcome = schema.judge(arguments, allowance)
    if outcome is True:
        return None
    if outcome is False:
        return FaultyCall(tool, step.id, "arguments_match_schema", arguments)
    return FaultyCall(tool, step.id, "arguments_are_judged", arguments, outcome)


def _no_object(given: Any) -> Problem:
    """Return the reason why arguments are not a JSON object, with the location of a syntax error."""
    if type(given) is not str:
        return problem("", "type", f"the arguments are {_kind(given)}, not a JSON object")
    if not given.strip():
        return problem(
            "", "json", "the arguments are an empty text; a call without arguments has {}"
        )
    try:
        return problem(
            "", "type", f"the arguments are {_kind(orjson.loads(given))}, not a JSON object"
        )
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno} (character {error.pos})"
        return problem("", "json", f"the arguments are not JSON: {error.msg}, at {where}")


_KINDS = {
    type(None): "null",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a text",
    list: "an array",
    dict: "an object with keys that are not text",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "a value that is not JSON")

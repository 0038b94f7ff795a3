"""Evidence of the calls: one entry per tool for passing calls, and one per failing call."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from weighbridge.graders.tool_schema.json_data import JsonData
from weighbridge.graders.tool_schema.problems import Problem
from weighbridge.graders.tool_schema.rules import shown
from weighbridge.graders.tool_schema.schema import Undecided
from weighbridge.graders.trace_grader import ENTRIES_LIMIT, excerpt_of
from weighbridge.graders.values import EXCERPT_CHARACTERS
from weighbridge.text import all_encodable, closest, did_you_mean, encodable, pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.graders.base import Evidence
    from weighbridge.graders.tool_schema.calls import Calls, FaultyCall, Tool
    from weighbridge.graders.tool_schema.validation_cost import Allowance

_Item = TypeVar("_Item")
_SHOWN_NAMES = 20
_COMPARED_NAMES = 1_000  #: names compared to find the one that was meant
_NAMELESS = "(no name)"
_UNJUDGED = "not covered by any list or definition"
_TOO_LARGE = "the arguments do not match the schema, and are too large to tell where"


def evidence_of(calls: Calls, lacking: list[Evidence], allowance: Allowance) -> list[Evidence]:
    """Return entries for tools and faults: first failures, then calls that cannot be judged, then passes."""
    failed, unusable, passed = _by_outcome(calls)
    evidence = [
        *_entries(failed, len(failed), _refusal),
        *_entries(calls.faults.first, calls.faults.total, lambda fault: _fault(fault, allowance)),
        *lacking,
        *_entries(unusable, len(unusable), _refusal),
        *_entries(
            calls.undecided.first, calls.undecided.total, lambda fault: _fault(fault, allowance)
        ),
    ]
    if not evidence and not any(tool.rule.judged_by for tool in passed):
        evidence.append(_vacuous(calls))
    return evidence + _entries(passed, len(passed), _pass)


def _by_outcome(calls: Calls) -> tuple[list[Tool], list[Tool], list[Tool]]:
    """Return the tools with rejected calls, with calls that cannot be judged, and with passing calls."""
    failed: list[Tool] = []
    unusable: list[Tool] = []
    passed: list[Tool] = []
    for tool in calls.tools.values():
        if tool.rule.refusal:
            (failed if tool.rule.refusal.is_gradable else unusable).append(tool)
        elif tool.alike:
            passed.append(tool)
    return failed, unusable, passed


def _entries(
    items: Sequence[_Item], total: int, entry_of: Callable[[_Item], Evidence]
) -> list[Evidence]:
    """Return evidence of items, up to the limit; the last entry counts the omitted ones."""
    entries = [entry_of(item) for item in items[:ENTRIES_LIMIT]]
    return entries + entries[-1:] * (total - len(entries))


def _refusal(tool: Tool) -> Evidence:
    refusal = tool.rule.refusal
    assert refusal is not None
    known = refusal.limit[:_COMPARED_NAMES]
    guess = closest(tool.name, known) if refusal.may_be_misspelt else None
    meant = did_you_mean(guess and shown(guess))
    observed: dict[str, object] = {"tool": tool.rule.tool, "calls": tool.alike}
    if refusal.problem:
        observed["problems"] = [refusal.problem._asdict()]
    return {
        "check": refusal.check,
        "description": f"{_calls(tool)}: {refusal.reason}{meant}",
        "passed": False,
        "cause": _name_in_cause(tool.rule.tool),
        "limit": [shown(name) for name in refusal.limit[:_SHOWN_NAMES]],
        "observed": observed,
        "step_ids": all_encodable(tool.steps),
    }


def _fault(fault: FaultyCall, allowance: Allowance) -> Evidence:
    rule = fault.tool.rule
    problems, why = _problems(fault, allowance)
    tool = _name_in_cause(rule.tool)
    entry: Evidence = {
        "check": fault.check,
        "description": f"{rule.tool!r} at {encodable(fault.step)}: {why}",
        "passed": False,
        "cause": f"{tool}, {problems[0]['keyword']}" if problems else tool,
        "limit": ["a JSON object"] if fault.check == "arguments_are_object" else rule.judged_by,
        "observed": {"tool": rule.tool, "problems": problems},
        "step_ids": [encodable(fault.step)],
    }
    arguments = fault.arguments
    excerpt = arguments if isinstance(arguments, str) else _beginning(arguments)
    return entry | {"excerpt": excerpt_of(excerpt)} if excerpt else entry


def _name_in_cause(tool: str) -> str:
    """Return a tool's name for a cause, from which blanks are stripped."""
    return tool.strip() or _NAMELESS


def _problems(fault: FaultyCall, allowance: Allowance) -> tuple[list[dict[str, str]], str]:
    """Return the problems of a call's arguments, as data and as text."""
    if type(fault.found) is Undecided:
        return [], fault.found.reason
    if type(fault.found) is Problem:
        return [fault.found._asdict()], fault.found.message
    schema, arguments = fault.tool.rule.schema, fault.arguments
    assert schema is not None
    assert type(arguments) is JsonData
    found = schema.problems(arguments, allowance)
    if found is None:
        return [], _TOO_LARGE
    more = found.total - len(found.first)
    texts = [*map(str, found.first), *([f"and {more:,} more"] if more else [])]
    return [one._asdict() for one in found.first], "; ".join(texts)


def _beginning(arguments: JsonData) -> str:
    return arguments.text[: 4 * EXCERPT_CHARACTERS].decode(errors="ignore")


def _pass(tool: Tool) -> Evidence:
    rule = tool.rule
    others = f" of {tool.calls:,}" if tool.alike < tool.calls else ""
    accepted = [*rule.listed, *([f"valid by the schema in {rule.source}"] if rule.schema else [])]
    return {
        "check": rule.check,
        "description": f"{_calls(tool)}{others}: {'; '.join(accepted) or _UNJUDGED}",
        "passed": True,
        "limit": rule.judged_by,
        "observed": {"tool": rule.tool, "calls": tool.alike},
        "step_ids": all_encodable(tool.steps),
    }


def _calls(tool: Tool) -> str:
    """Return a description of a tool and its calls in this entry."""
    return f"{tool.rule.tool!r}, {pluralize(tool.alike, 'call')}"


def _vacuous(calls: Calls) -> Evidence:
    return {
        "check": "vacuous",
        "description": f"no list and no definition covers the {pluralize(calls.total, 'call')}",
        "passed": True,
        "observed": calls.total,
        "step_ids": [],
    }

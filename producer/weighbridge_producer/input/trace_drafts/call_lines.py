"""The lines of a draft on calls within steps, and on the ids that results and calls have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.added_lines import add, unused
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.evidence import tool_name
from weighbridge_producer.input.trace_drafts.failure_lines import (
    add_failures,
    add_names_of_failures,
    error_of,
)
from weighbridge_producer.input.trace_drafts.key_roles import Role
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_content,
    is_id,
    is_word,
)
from weighbridge_producer.input.trace_drafts.turn_results import add_results

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape

_LOOKED_AT = 500


def add_ids(lines: list[Line], shape: Shape) -> None:
    """Add the ids that results and calls have in common."""
    results = shape.of_type("result")
    if not results:
        return
    held = _held(shape.calls) if shape.calls else shape.of_type("tool")
    calls, answers = Observed(held), Observed(results)
    for name in names.CALL_ID:
        answer = answers.find((name,), is_id, depth=2)
        if answer is None:
            continue
        for other in (name, *names.CALL_ID):
            call = calls.find((other,), is_id, depth=2)
            known = set(map(str, call.values)) if call else set()
            if call and len(known) == len(call.values) and known & set(map(str, answer.values)):
                add(lines, "id", call, section="calls" if shape.calls else "step")
                add(lines, "call_id", answer, section="results")
                return
    _add_names(lines, calls, answers, shape)


def _add_names(lines: list[Line], calls: Observed, answers: Observed, shape: Shape) -> None:
    """Add the names of tools that results without an id have, so that they belong to the calls of these."""
    call = calls.at(shape.tool) if shape.tool else tool_name(calls)
    name = (answers.at(call.pointer) if call else None) or tool_name(answers)
    if call and name and set(map(str, name.values)) <= set(map(str, call.values)):
        add(lines, "name", name, section="results")


def add_own_calls(draft: Draft, shape: Shape) -> None:
    """Add where the call and its result are in steps that may each be an answer of a model, too."""
    seen = Observed(shape.entries)
    tool = seen.at(shape.tool)
    draft.calls_at, draft.calls_remark = "", shape.calls_remark
    draft.lines.append(Line("calls", "name", (shape.tool,), is_needed=True))
    used = {pointer for pointer in (shape.tool, shape.thought) if pointer}
    holder = shape.tool.rpartition("/")[0]
    arguments = unused(seen, names.ARGUMENTS, is_content, used, Role.ARGUMENTS)
    if holder and tool:
        arguments = seen.at(holder)
    add(draft.lines, "arguments", arguments, section="calls")
    if tool:
        add_names_of_failures(draft.lines, "calls", tool)
    used |= {arguments.pointer} if arguments else set()
    result = unused(seen, names.RESULT, lambda _: True, used, Role.RESULT)
    error = error_of(seen)
    if result or error:
        draft.results_at = ""
        if result:
            own = ("step", "output", (result.pointer,))
            draft.lines[:] = [each for each in draft.lines if (each.section, each.name, each.pointers) != own]  # fmt: skip
        add(draft.lines, "output", result, section="results")
        add(draft.lines, "error", error, section="results")
        add_failures(draft.lines, "results", Observed(_naming(shape)), [error] if error else [])


def _naming(shape: Shape) -> list[Any]:
    """Return the steps that name a tool."""
    at = Observed(shape.entries).at(shape.tool)
    return [shape.entries[number] for number in at.entries] if at else []


def add_calls(draft: Draft, shape: Shape, calls: At, seen: Observed) -> None:
    """Add where the calls within steps are, with what is in them."""
    held = _held(calls)
    if all(map(is_word, calls.values)):
        shape.tool = calls.pointer
        add_own_calls(draft, shape)
        return
    draft.calls_at, draft.calls_remark = calls.pointer, shape.calls_remark
    if all(map(is_word, held)):
        draft.lines.append(Line("calls", "name", ("",), is_needed=True))
        beside = seen.find(names.SURE_ARGUMENTS, is_content, depth=1)
        if beside and beside.keys[-1] != "input":
            lost = f"the arguments, at {beside.pointer} of the step, are not read: each step may have several calls"
            draft.calls_remark = "; ".join(filter(None, (lost, shape.calls_remark)))
    else:
        inner = Observed(held)
        name = tool_name(inner) or inner.find(names.NAME_IN_OBJECT, is_word, depth=2)
        if name:
            draft.lines.append(Line("calls", "name", (name.pointer,), is_needed=True))
        used = {name.pointer} if name else set()
        arguments = unused(inner, names.ARGUMENTS, is_content, used, Role.ARGUMENTS)
        add(draft.lines, "arguments", arguments, section="calls")
        used |= {arguments.pointer} if arguments else set()
        add(draft.lines, "output", unused(inner, names.RESULT, lambda _: True, used, Role.RESULT), section="calls")  # fmt: skip
        add(draft.lines, "error", error_of(inner), section="calls")
    if shape.results:
        add_results(draft, Observed(held), shape.results)
        return
    if shape.of_type("result"):
        return
    result = seen.find(
        ("observation", "toolresult", "tooloutput", "result"), lambda _: True, depth=1
    )
    if result and calls.pointer != result.pointer:
        _add_result_beside(draft, calls, result)


def _add_result_beside(draft: Draft, calls: At, result: At) -> None:
    """Add where the result of the calls in a step is beside them: one for all, or an array with one for each."""
    called = dict(zip(calls.entries, map(_number_of, calls.values), strict=True))
    given = zip(result.entries, result.values, strict=True)
    is_each = all(type(value) is list and len(value) == called.get(n, 0) for n, value in given)
    if is_each:
        draft.results_at = result.pointer
        draft.lines.append(Line("results", "output", ("",), is_needed=True))
        return
    draft.results_at = ""
    draft.lines.append(Line("results", "output", (result.pointer,), is_needed=True))
    if max(called.values(), default=0) > 1:
        told = f"{result.pointer} is taken for the result of the first of several calls in a step"
        draft.calls_remark = "; ".join(filter(None, (draft.calls_remark, told)))


def _number_of(calls: Any) -> int:
    return len(calls) if type(calls) is list else 1


def _held(calls: At) -> list[Any]:
    """Return the calls at a pointer, where there may be arrays of them."""
    return [
        call
        for value in calls.values[:_LOOKED_AT]
        for call in (value if type(value) is list else [value])
    ]


def remark_on_names(lines: list[Line], shape: Shape, seen: Observed) -> None:
    """Remark on a list of names of tools, which may be those called or those offered."""
    if shape.calls:
        return
    found = seen.find(names.TOOL_LISTS, _is_list_of_names, depth=1)
    if found and any(found.values):
        total = sum(map(len, found.values))
        remark = f'if these {total:,} names are of the tools called, not of those offered; then also name: ""'  # fmt: skip
        lines.append(Line("calls", "at", (found.pointer,), remark, is_active=False))


def _is_list_of_names(value: Any) -> bool:
    return type(value) is list and all(map(is_word, value))

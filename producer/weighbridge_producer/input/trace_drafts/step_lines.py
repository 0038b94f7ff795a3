"""The lines of a draft that say where the facts of steps, calls and results are."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.text import pluralize
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.added_lines import (
    ESTIMATED,
    add,
    remark_on_cost,
    remark_on_total,
    unused,
)
from weighbridge_producer.input.trace_drafts.call_lines import (
    add_calls,
    add_ids,
    add_own_calls,
    remark_on_names,
)
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.evidence import token_counts, tool_name
from weighbridge_producer.input.trace_drafts.failure_lines import add_errors, add_failures, error_of
from weighbridge_producer.input.trace_drafts.key_roles import Role
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_amount,
    is_content,
    is_count,
    is_word,
)
from weighbridge_producer.input.trace_drafts.time_lines import add_times

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape

_NAMED_KIND = re.compile(r"::.*\w")  #: such as TOOL_CALL::search


def step_lines(draft: Draft, shape: Shape) -> None:
    """Add the lines on steps, and on the calls and results within them."""
    tools, models = shape.of_type("tool"), shape.of_type("llm")
    tool_seen, model_seen = Observed(tools), Observed(models)
    used = {*shape.kinds, *([shape.calls.pointer] if shape.calls else [])}
    lines = draft.lines
    if shape.thought:
        _turn_lines(draft, shape, model_seen)
        return
    if tools:
        _name(lines, shape, tool_seen)
        used |= {pointer for line in lines for pointer in line.pointers}
        if shape.arguments:
            used.add(shape.arguments)
            add(lines, "arguments", tool_seen.at(shape.arguments))
        else:
            _arguments(lines, tool_seen, used)
    if models:
        add(lines, "input", unused(model_seen, names.PROMPT, is_content, used, Role.PROMPT))
    _outputs(lines, tool_seen, model_seen, used, tools)
    add_errors(lines, tool_seen, model_seen, shape.kinds)
    if models:
        _model_facts(lines, shape, model_seen)
    add_times(draft, shape)
    if not shape.results:
        add_ids(lines, shape)
    if shape.of_type("result") and not shape.results:
        results = Observed(shape.of_type("result"))
        add(lines, "output", unused(results, names.ANSWER + names.RESULT, is_content, set(shape.kinds), Role.RESULT), section="results")  # fmt: skip
        error = error_of(results, depth=2)
        add(lines, "error", error, section="results")
        add_failures(lines, "results", results, [error] if error else [], shape.kinds)
    if shape.calls:
        add_calls(draft, shape, shape.calls, model_seen)
    remark_on_names(lines, shape, model_seen)


def _turn_lines(draft: Draft, shape: Shape, seen: Observed) -> None:
    """Add the lines on steps that are an answer of a model, and the call that it makes."""
    lines = draft.lines
    add(lines, "output", seen.at(shape.thought))
    _model_facts(lines, shape, seen)
    add_times(draft, shape)
    add_own_calls(draft, shape)


def _name(lines: list[Line], shape: Shape, seen: Observed) -> None:
    at = seen.at(shape.tool) if shape.tool else tool_name(seen)
    at = at or seen.find((names.PLAIN_NAME,), is_word, depth=1)
    if at is None and shape.kinds:
        at = seen.at(shape.kinds[0])
        is_name = at is not None and all(_NAMED_KIND.search(word) for word in at.values)
        remark = "no name of a tool was found beside it"
        add(lines, "name", at, remark if is_name else f"{remark}: where is it?", is_active=is_name)
    else:
        add(lines, "name", at)


def _arguments(lines: list[Line], seen: Observed, used: set[str]) -> None:
    name = next((line.pointers[0] for line in lines if line.name == "name" and line.is_active), "")
    holder, _, _ = name.rpartition("/")
    at = None
    if holder:
        inside = [each for each in seen.all() if each.pointer.startswith(f"{holder}/")]
        by_key = {each.keys[-1]: each for each in inside if len(each.keys) == holder.count("/") + 1}
        at = next((by_key[key] for key in names.ARGUMENTS if key in by_key), None)
        if at is None and len(inside) > 1:
            at = seen.at(holder)
    at = at or unused(seen, names.ARGUMENTS, is_content, used, Role.ARGUMENTS)
    if at:
        used.add(at.pointer)
        whole = " (the whole object, with the tool's name)" if at.pointer == holder else ""
        add(lines, "arguments", at, whole.strip(" ()"))


def _outputs(
    lines: list[Line], tools: Observed, models: Observed, used: set[str], entries: Sequence[Any]
) -> None:
    first = {line.pointers[0] for line in lines if line.name in {"input", "arguments"}}
    taken = used | first
    found = [unused(tools, names.RESULT, lambda _: True, taken, Role.RESULT)] if entries else []
    found.append(unused(models, names.ANSWER, is_content, taken, Role.ANSWER))
    pointers = tuple(dict.fromkeys(at.pointer for at in found if at))
    if pointers:
        lines.append(Line("step", "output", pointers))


def _model_facts(lines: list[Line], shape: Shape, seen: Observed) -> None:
    add(lines, "model", seen.find(names.MODEL, is_word))
    given, made = token_counts(seen)
    elsewhere = Observed(shape.of_type(*{*shape.type_of} - {"llm"}))
    remark = ""
    for name, at in (("input_tokens", given), ("output_tokens", made)):
        if at:
            active, remark = _if_only_there(at, elsewhere)
            cached = seen.find(names.CACHED_TOKENS, is_count)
            if active and name == "input_tokens" and cached and any(cached.values):
                remark = f"must include the cached ones: {cached.pointer} is not added"
            if given and made and given.keys[:-1] != made.keys[:-1]:
                remark = remark or f"the other count is elsewhere: {(made if at is given else given).pointer}"  # fmt: skip
            add(lines, f"usage.{name}", at, remark, is_active=active)
    if not (given or made):
        total = seen.find(names.TOTAL_TOKENS, is_count)
        if total:
            active, remark = _if_only_there(total, elsewhere)
            add(lines, "usage.total_tokens", total, remark or remark_on_total(total), is_active=active)  # fmt: skip
        estimate = seen.find(names.ESTIMATES, is_count)
        if estimate and not total:
            add(lines, "usage.total_tokens", estimate, ESTIMATED, is_active=False)
    cost = seen.find(names.COST, is_amount)
    if cost:
        active, remark = _if_only_there(cost, elsewhere)
        add(lines, "cost_usd", cost, remark or remark_on_cost(cost), is_active=active)


def _if_only_there(at: At, elsewhere: Observed) -> tuple[bool, str]:
    """Return whether only model calls have some numbers, and a remark if other steps have them, which may be totals."""
    other = elsewhere.at(at.pointer)
    if other and any(type(value) in (int, float) and value for value in other.values):
        have = "has" if len(other.values) == 1 else "have"
        told = f"{pluralize(len(other.values), 'step')} of other types {have} it too, which would be added"
        return False, told
    return True, ""

"""The lines of a draft that say where the facts of steps, calls and results are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from weighbridge.text import pluralize
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.draft_text import quoted
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_amount,
    is_content,
    is_count,
    is_id,
    is_word,
)
from weighbridge_producer.input.trace_drafts.usual_facts import (
    ESTIMATED,
    remark_on_cost,
    remark_on_total,
    token_counts,
    tool_name,
)

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape

_LOOKED_AT = 500
_FAILURES_LISTED = 12
_NAMED_KIND = re.compile(r"::.*\w")  #: such as TOOL_CALL::search
_OUTCOMES = frozenset(["error", "failed", "failure"])


def step_lines(draft: Draft, shape: Shape) -> None:
    """Add the lines on steps, and on the calls and results within them."""
    tools, models = shape.of_type("tool"), shape.of_type("llm")
    tool_seen, model_seen = Observed(tools), Observed(models)
    used = {*shape.kinds}
    lines = draft.lines
    if tools:
        _name(lines, shape, tool_seen)
        used |= {pointer for line in lines for pointer in line.pointers}
        _arguments(lines, tool_seen, used)
    if models:
        _add(lines, "input", _unused(model_seen, names.PROMPT, is_content, used))
    _outputs(lines, tool_seen, model_seen, used, tools)
    _errors(lines, tool_seen, model_seen)
    if models:
        _model_facts(lines, shape, model_seen)
    _times(lines, Observed(shape.entries))
    _ids(lines, shape)
    if shape.of_type("result"):
        results = Observed(shape.of_type("result"))
        _add(lines, "output", _unused(results, names.ANSWER + names.RESULT, is_content, set(shape.kinds)), section="results")  # fmt: skip
        error = results.find(names.ERROR, _is_error, depth=2)
        _add(lines, "error", error, section="results")
        _failures(lines, "results", results, [error] if error else [])
    if shape.calls:
        _calls(draft, shape, shape.calls, model_seen)
    _lists_of_names(lines, shape, model_seen)


def _add(
    lines: list[Line], name: str, at: At | None, remark: str = "", *, section: str = "step", is_active: bool = True
) -> None:  # fmt: skip
    if at:
        lines.append(Line(section, name, (at.pointer,), remark, is_active))


def _unused(seen: Observed, wanted: Sequence[str], test: Any, used: set[str]) -> At | None:
    """Return the likeliest values at a pointer that has no other part, or of which no part has one."""
    for depth in (1, 2):
        for name in wanted:
            at = seen.find((name,), test, depth=depth)
            if at and not any(f"{at.pointer}/".startswith(f"{each}/") for each in used):
                return at
    return None


def _name(lines: list[Line], shape: Shape, seen: Observed) -> None:
    at = seen.at(shape.tool) if shape.tool else tool_name(seen)
    if at is None and shape.kinds:
        at = seen.at(shape.kinds[0])
        is_name = at is not None and all(_NAMED_KIND.search(word) for word in at.values)
        remark = "no name of a tool was found beside it"
        _add(lines, "name", at, remark if is_name else f"{remark}: where is it?", is_active=is_name)
    else:
        _add(lines, "name", at)


def _arguments(lines: list[Line], seen: Observed, used: set[str]) -> None:
    name = next((line.pointers[0] for line in lines if line.name == "name" and line.is_active), "")
    holder, _, _ = name.rpartition("/")
    at = None
    if holder:
        inside = [each for each in seen.all() if each.pointer.startswith(f"{holder}/")]
        by_key = {each.keys[-1]: each for each in inside if len(each.keys) == holder.count("/") + 1}
        at = next((by_key[key] for key in names.ARGUMENTS if key in by_key), None)
        at = at or seen.at(holder)
    at = at or _unused(seen, names.ARGUMENTS, is_content, used)
    if at:
        used.add(at.pointer)
        remark = "the whole object, with the tool's name" if at.pointer == holder else ""
        _add(lines, "arguments", at, remark)


def _outputs(
    lines: list[Line], tools: Observed, models: Observed, used: set[str], entries: Sequence[Any]
) -> None:
    first = {line.pointers[0] for line in lines if line.name in {"input", "arguments"}}
    taken = used | first
    found = [_unused(tools, names.RESULT, lambda _: True, taken)] if entries else []
    found.append(_unused(models, names.ANSWER, is_content, taken))
    pointers = tuple(dict.fromkeys(at.pointer for at in found if at))
    if pointers:
        lines.append(Line("step", "output", pointers))


def _is_error(value: Any) -> bool:
    return type(value) is str or value is True or value is False


def _errors(lines: list[Line], tools: Observed, models: Observed) -> None:
    """Add where errors are, and what else shows a failure."""
    found = [seen.find(names.ERROR, _is_error, depth=1) for seen in (tools, models)]
    within = (at for at in tools.all() if len(at.keys) == 2 and at.keys[0] in names.RESULT and at.keys[1] == "error" and all(map(_is_error, at.values)))  # fmt: skip
    errors = [at for at in (*found, next(within, None)) if at]
    if errors:
        pointers = dict.fromkeys(at.pointer for at in errors)
        lines.append(Line("step", "error", tuple(pointers)))
    _failures(lines, "step", tools, errors)


def _failures(lines: list[Line], section: str, seen: Observed, errors: Sequence[At]) -> None:
    """Add what shows that calls failed that have no error."""
    failed = {number for at in errors for number, value in _each(at) if value}
    for at in seen.all():
        key = at.keys[-1]
        found = {number: value for number, value in _each(at) if _is_failure(key, value)}
        new = found.keys() - failed
        if key in names.STATE_OF_CALL and new:
            remark = f"by this, {pluralize(len(new), 'call')} without a text of an error failed"
            words = sorted({json.dumps(value) for value in found.values()})[:_FAILURES_LISTED]
            literal = f"{{{quoted(at.pointer)}: [{', '.join(words)}]}}"
            lines.append(Line(section, "failed_when", (at.pointer,), remark, literal=literal))
            return


def _each(at: At) -> Iterable[tuple[int, Any]]:
    return zip(at.entries, at.values, strict=True)


def _is_failure(key: str, value: Any) -> bool:
    if type(value) is str:
        return value.lower() in _OUTCOMES
    return value is False or (type(value) is int and value != 0 and key in names.EXIT_CODES)


def _model_facts(lines: list[Line], shape: Shape, seen: Observed) -> None:
    _add(lines, "model", seen.find(names.MODEL, is_word))
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
            _add(lines, f"usage.{name}", at, remark, is_active=active)
    if not (given or made):
        total = seen.find(names.TOTAL_TOKENS, is_count)
        if total:
            active, remark = _if_only_there(total, elsewhere)
            _add(lines, "usage.total_tokens", total, remark or remark_on_total(total), is_active=active)  # fmt: skip
        estimate = seen.find(names.ESTIMATES, is_count)
        if estimate and not total:
            _add(lines, "usage.total_tokens", estimate, ESTIMATED, is_active=False)
    cost = seen.find(names.COST, is_amount)
    if cost:
        active, remark = _if_only_there(cost, elsewhere)
        _add(lines, "cost_usd", cost, remark or remark_on_cost(cost), is_active=active)


def _if_only_there(at: At, elsewhere: Observed) -> tuple[bool, str]:
    """Return whether only model calls have some numbers, and a remark if other steps have them, which may be totals."""
    other = elsewhere.at(at.pointer)
    if other and any(type(value) in (int, float) and value for value in other.values):
        have = "has" if len(other.values) == 1 else "have"
        told = f"{pluralize(len(other.values), 'step')} of other types {have} it too, which would be added"
        return False, told
    return True, ""


def _times(lines: list[Line], seen: Observed) -> None:
    started = seen.find(names.STARTED, _is_time, depth=2)
    ended = seen.find(names.ENDED, _is_time, depth=2)
    if started:
        _add(lines, "started_at", started)
        _add(lines, "ended_at", ended)
        return
    at = seen.find(names.TIME, _is_time, depth=1)
    _add(lines, "started_at", at, "if it is the time at which a step began")


def _is_time(value: Any) -> bool:
    return is_word(value) or is_amount(value)


def _ids(lines: list[Line], shape: Shape) -> None:
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
                _add(lines, "id", call, section="calls" if shape.calls else "step")
                _add(lines, "call_id", answer, section="results")
                return


def _calls(draft: Draft, shape: Shape, calls: At, seen: Observed) -> None:
    """Add where the calls within steps are, with what is in them."""
    draft.calls_at, draft.calls_remark = calls.pointer, shape.calls_remark
    held = _held(calls)
    if all(map(is_word, held)):
        _names_of_calls(draft, seen)
    else:
        _facts_of_calls(draft.lines, Observed(held))
    if shape.of_type("result"):
        return
    result = seen.find(
        ("observation", "toolresult", "tooloutput", "result"), lambda _: True, depth=1
    )
    if result and calls.pointer != result.pointer:
        draft.results_at = result.pointer
        draft.lines.append(Line("results", "output", ("",), is_needed=True))


def _names_of_calls(draft: Draft, seen: Observed) -> None:
    """Add that calls are names of tools, and remark on arguments beside them."""
    draft.lines.append(Line("calls", "name", ("",), is_needed=True))
    beside = seen.find(names.SURE_ARGUMENTS, is_content, depth=1)
    if beside and beside.keys[-1] != "input":
        lost = f"the arguments, at {beside.pointer} of the step, cannot be reached from here"
        draft.calls_remark = "; ".join(filter(None, (lost, draft.calls_remark)))


def _facts_of_calls(lines: list[Line], seen: Observed) -> None:
    """Add where the facts of calls are, each of which is an object."""
    name = tool_name(seen) or seen.find(names.NAME_IN_OBJECT, is_word, depth=2)
    if name:
        lines.append(Line("calls", "name", (name.pointer,), is_needed=True))
    used = {name.pointer} if name else set()
    arguments = _unused(seen, names.ARGUMENTS, is_content, used)
    _add(lines, "arguments", arguments, section="calls")
    used |= {arguments.pointer} if arguments else set()
    _add(lines, "output", _unused(seen, names.RESULT, lambda _: True, used), section="calls")
    _add(lines, "error", seen.find(names.ERROR, _is_error, depth=1), section="calls")


def _held(calls: At) -> list[Any]:
    """Return the calls at a pointer, where there may be arrays of them."""
    return [
        call
        for value in calls.values[:_LOOKED_AT]
        for call in (value if type(value) is list else [value])
    ]


def _lists_of_names(lines: list[Line], shape: Shape, seen: Observed) -> None:
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

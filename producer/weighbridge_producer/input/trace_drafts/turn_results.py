"""Results that stand in arrays of turns, such as the answers of tools to the calls of the turn before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.json_pointers import resolve
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.added_lines import add, unused
from weighbridge_producer.input.trace_drafts.failure_lines import add_failures, error_of
from weighbridge_producer.input.trace_drafts.key_roles import Role, may_be
from weighbridge_producer.input.trace_drafts.kind_words import LLM, RESULT
from weighbridge_producer.input.trace_drafts.observed import At, Observed, is_content, is_id

if TYPE_CHECKING:
    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape


def take_results(shape: Shape) -> None:
    """Find the results in arrays of turns, where the calls are within the steps of the model; those turns are no steps."""
    seen = Observed(shape.entries)
    found = (at for at in seen.all() if _are_results(at) and at.pointer != (shape.calls and shape.calls.pointer))  # fmt: skip
    shape.results = next(found, None)
    for number in shape.results.entries if shape.results else ():
        word = next((held for at in shape.kinds if (held := resolve(shape.entries[number], at)) in shape.types), None)  # fmt: skip
        if shape.type_of[number] != LLM and word is not None:
            shape.types[word].type, shape.types[word].remark = RESULT, ""
            shape.type_of[number] = RESULT


def _are_results(at: At) -> bool:
    return (
        len(at.keys) <= 2
        and may_be(at, Role.RESULT)
        and any(at.values)
        and all(
            type(held) is list and all(type(each) is dict for each in held) for held in at.values
        )
    )


def add_results(draft: Draft, calls: Observed, results: At) -> None:
    """Add where results in arrays of turns are, with what is in them."""
    lines = draft.lines
    draft.results_at = results.pointer
    seen = Observed([each for held in results.values for each in held])
    used = _add_ids(draft, calls, seen)
    add(lines, "output", unused(seen, names.ANSWER + names.RESULT, is_content, used, Role.RESULT), section="results")  # fmt: skip
    error = error_of(seen)
    add(lines, "error", error, section="results")
    add_failures(lines, "results", seen, [error] if error else [])


def _add_ids(draft: Draft, calls: Observed, results: Observed) -> set[str]:
    """Add the ids that results and calls have in common, and return the pointer to those of results."""
    for answer in results.all():
        if len(answer.keys) > 1 or not all(map(is_id, answer.values)):
            continue
        ids: set[Any] = set(map(str, answer.values))
        for call in calls.all():
            known = set(map(str, call.values)) if all(map(is_id, call.values)) else set()
            if len(known) == len(call.values) and ids <= known:
                add(draft.lines, "id", call, section="calls")
                add(draft.lines, "call_id", answer, section="results")
                return {answer.pointer}
    return set()

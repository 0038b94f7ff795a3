"""What calls have that a draft does not read, if it has no arguments, results or answers for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.kind_words import LLM, TOOL
from weighbridge_producer.input.trace_drafts.observed import At, Observed, is_content, is_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.trace_drafts.draft import Draft
    from weighbridge_producer.input.trace_drafts.shape import Shape

_LISTED = 4
_OTHERS = frozenset((*names.RUN_ID, *names.CALL_ID, *names.TIME, *names.STARTED, *names.ENDED))
#: What is looked for in steps of a type, by the names of its lines, in words.
_FACTS = {TOOL: {"arguments": "arguments", "output": "results"}, LLM: {"output": "answers"}}


def notes_on_unread(draft: Draft, shape: Shape) -> list[str]:
    """Return a note for each type of call that lacks a fact, if its steps have texts or objects that are not read."""
    read = {pointer for line in draft.lines if line.is_active for pointer in line.pointers}
    read |= {*shape.kinds, shape.tool, *(at.pointer for at in (shape.calls, shape.results) if at)}
    notes = []
    for kind, facts in _FACTS.items():
        seen = Observed(shape.of_type(kind))
        lacking = [said for name, said in facts.items() if not _is_read(draft, seen, name)]
        unread = [at.pointer for at in seen.all() if at.pointer not in read and _may_be_fact(at)]
        if lacking and unread:
            what = "tool calls" if kind == TOOL else "model calls"
            notes.append(f"Not read of the {what}: {', '.join(unread[:_LISTED])}. If these are their {' or '.join(lacking)}, add them.")  # fmt: skip
    return notes


def _is_read(draft: Draft, seen: Observed, name: str) -> bool:
    """Return whether the steps have something at a pointer of a fact, or calls within them or their results may have it."""
    lines = [line for line in draft.lines if line.is_active and line.name == name]
    return any(line.section != "step" or any(map(seen.at, line.pointers)) for line in lines)


def _may_be_fact(at: At) -> bool:
    """Return whether some values are texts or objects that differ, at the top of steps."""
    return (
        len(at.keys) == 1
        and at.keys[0] not in _OTHERS
        and all(map(is_content, at.values))
        and any(at.values)
        and not _recur(at.values)
    )


def _recur(values: Sequence[object]) -> bool:
    return all(map(is_word, values)) and 2 * len(set(values)) <= len(values)

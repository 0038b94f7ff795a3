"""Steps that are each one call, of a tool or of a model, or the totals of a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge.traces.mapped_types import NOTHING, OTHERWISE
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.event_shapes import may_be_kind
from weighbridge_producer.input.trace_drafts.evidence import (
    calls_in,
    hold_steps,
    is_action,
    is_end,
    token_counts,
    tool_name,
)
from weighbridge_producer.input.trace_drafts.kind_words import LLM, TOOL
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_amount,
    is_count,
    is_flat,
    is_text,
    is_word,
)
from weighbridge_producer.input.trace_drafts.shape import (
    MOST,
    OTHER,
    WEAK,
    WORDS_LISTED,
    Shape,
    Typed,
    all_of,
)

_FEW_KINDS = 8


def totals(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return the steps that are none, because each object has the totals of a run."""
    counted = seen.find(
        (*names.TOTALS_LLM, *names.TOTALS_TOOL, *names.TOTALS_UNSURE), is_count, depth=1
    )
    has_tokens, _ = token_counts(seen, depth=2)
    if not (counted and has_tokens and len(counted.values) >= MOST * seen.count):
        return None
    shape = Shape(entries, types={OTHERWISE: Typed(OTHER)}, is_totals=True)
    shape.type_of = [OTHER] * len(entries)
    shape.score = 0.1 * len(entries)
    return shape


def turns(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that each have an answer of a model and the call that it makes, as in ReAct."""
    thought = seen.find(names.THOUGHT, is_text, depth=1)
    action = seen.find((names.PLAIN_ACTION, "toolcall", "tool", "toolname"), is_action, depth=1)
    if not (thought and action and len(thought.values) >= MOST * seen.count):
        return None
    shape = all_of(entries, seen, LLM, thought, action)
    ends = sorted({str(value)[:40] for value in action.values if is_end(value)})
    if ends:
        shape.calls_remark = f"also counts {', '.join(ends)}, which may be no call of a tool"
    return shape


def rows(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that are each one call, of a tool or of a model."""
    tool, model = tool_name(seen), seen.find(names.MODEL, is_word)
    given, made = token_counts(seen)
    tokens = made or given
    calls = calls_in(seen)
    if tokens and hold_steps(entries):
        return None
    if tokens and not tool and len(tokens.values) >= MOST * seen.count:
        shape = all_of(entries, seen, LLM, tokens, calls)
        used = {n for at in (given, made) if at for n, v in zip(at.entries, at.values, strict=True) if v}  # fmt: skip
        if len(used) < seen.count:
            shape.is_sure = False
            shape.types[OTHERWISE].remark += f"; in {seen.count - len(used):,} of {seen.count:,} they are 0, so that these may be no model calls"  # fmt: skip
        if calls:
            shape.types[OTHERWISE].remark += "; if it is a run with its totals, the number of its model calls is not known"  # fmt: skip
        return shape
    if tool and not (tokens and set(tokens.entries) & set(tool.entries)):
        if len(tool.values) == seen.count:
            shape = all_of(entries, seen, TOOL, tool, None)
            shape.tool = tool.pointer
        else:
            mixed = _mixed(entries, tool, model, tokens)
            if mixed is None:
                return None
            shape = mixed
        _remark_on_kinds(shape)
        return shape
    if tool and tokens:
        shape = all_of(entries, seen, LLM, tokens, tool)
        shape.types[OTHERWISE].remark = "each has tokens and a tool: taken for a model call that calls the tool"  # fmt: skip
        return shape
    answer = seen.find(names.ANSWER, is_text, depth=1)
    return _unsure(entries, seen, model, answer, calls)


def _remark_on_kinds(shape: Shape) -> None:
    """Remark that the steps that name a tool are of several kinds, such as the beginnings and the ends of calls."""
    seen = Observed(shape.of_type(TOOL))
    for at in seen.all():
        if (
            may_be_kind(at)
            and at.pointer != shape.tool
            and at.keys[-1] not in {"name", "from", "source", "sender"}
        ):
            words = list(dict.fromkeys(at.values))
            if 1 < len(words) <= _FEW_KINDS and len(at.values) == seen.count:
                first = next(typed for typed in shape.types.values() if typed.type == TOOL)
                first.remark = "; ".join(filter(None, (first.remark, f"each counts as a call, but they are of several kinds at {at.pointer}: {', '.join(words)}")))  # fmt: skip
                return


def _mixed(entries: Sequence[Any], tool: At, model: At | None, tokens: At | None) -> Shape | None:
    """Return steps of which some name a tool, and others may name a model."""
    types = {word: Typed(TOOL) for word in dict.fromkeys(tool.values)}
    kinds = [tool.pointer]
    of = dict.fromkeys(tool.entries, TOOL)
    if model and tokens and not set(model.values) & set(types):
        kinds.append(model.pointer)
        types |= {word: Typed(LLM) for word in dict.fromkeys(model.values)}
        of |= {number: LLM for number in model.entries if number not in of}
    if len(types) > WORDS_LISTED:
        return None
    others = len(entries) - len(of)
    if others:
        types[NOTHING] = Typed(OTHER, f"{others:,} steps that name no tool count as no call")
    shape = Shape(entries, tuple(kinds), types, tool=tool.pointer)
    shape.type_of = [of.get(number, OTHER) for number in range(len(entries))]
    shape.score = len(of) if 2 * len(of) >= len(entries) else WEAK * len(of)
    return shape


def _unsure(
    entries: Sequence[Any], seen: Observed, model: At | None, answer: At | None, calls: At | None
) -> Shape | None:
    """Return steps that seem to be answers of a model, though they record no tokens."""
    if not answer or len(answer.values) < MOST * seen.count:
        return None
    prompt = seen.find(names.PROMPT, is_flat, depth=1)
    total = seen.find((*names.TOTAL_TOKENS, *_estimates(seen)), is_count, depth=1)
    latency = seen.find(names.DURATION_MS, is_amount, depth=1)
    also = (
        model
        or calls
        or total
        or latency
        or (prompt and prompt.pointer != answer.pointer and prompt)
    )
    if not also:
        return None
    shape = all_of(entries, seen, LLM, answer, calls)
    shape.types[
        OTHERWISE
    ].remark = (
        f"not certain: taken for answers of a model because of {answer.pointer} and {also.pointer}"
    )
    shape.score *= WEAK
    shape.is_sure = False
    return shape


def _estimates(seen: Observed) -> tuple[str, ...]:
    return tuple(
        name
        for name in ("tokenestimate", "estimatedtokens")
        if any(at.keys[-1] == name for at in seen.all())
    )

"""Steps that are each one call, of a tool or of a model, or the totals of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from weighbridge.traces.mapped_types import NOTHING, OTHERWISE
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.event_shapes import kind_of, kinds_in, set_words
from weighbridge_producer.input.trace_drafts.evidence import (
    calls_in,
    hold_steps,
    is_action,
    is_outcome,
    token_counts,
    tool_name,
)
from weighbridge_producer.input.trace_drafts.halves import take_halves
from weighbridge_producer.input.trace_drafts.kind_words import LLM, TOOL
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_amount,
    is_content,
    is_count,
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


def shape_of_totals(entries: Sequence[Any], seen: Observed) -> Shape | None:
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


def shape_of_turns(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that each have an answer of a model and the call that it makes, as in ReAct."""
    thought = seen.find(names.THOUGHT, is_text, depth=1)
    action = seen.find((names.PLAIN_ACTION, "toolcall", "tool", "toolname"), is_action, depth=1)
    if thought and action and not all(map(is_word, action.values)):
        return _answers_with(entries, seen, thought, action)
    tool = action or tool_name(seen)
    text = thought or (tool and _remark_of_model(seen, tool))
    if tool is None or text is None or token_counts(seen) != (None, None):
        return None
    return turns_of(entries, text, tool)


def _answers_with(entries: Sequence[Any], seen: Observed, thought: At, action: At) -> Shape | None:
    """Return steps that are answers of a model, with the call in an object."""
    if len(thought.values) < MOST * seen.count:
        return None
    shape = all_of(entries, seen, LLM, thought, action)
    shape.calls_remark = _remark_on_ends(action)
    return shape


def _remark_of_model(seen: Observed, tool: At) -> At | None:
    """Return texts beside calls of which some stand without a call, so that they are of the model."""
    text = seen.find(names.REMARKS, is_text, depth=1)
    if text is None:
        return None
    said = {number for number, value in zip(text.entries, text.values, strict=True) if value}
    alone = said - set(tool.entries)
    return text if alone and len(alone) < len(said & set(tool.entries)) else None


def turns_of(entries: Sequence[Any], text: At, tool: At) -> Shape:
    """Return steps that are an answer of a model where they have its text, and the call where they name a tool."""
    said = {number for number, value in zip(text.entries, text.values, strict=True) if value}
    remark = f"each text at {text.pointer} is taken for one answer of a model, which makes the call beside it"
    shape = Shape(entries, kinds=(text.pointer,), tool=tool.pointer, thought=text.pointer)
    shape.types[OTHERWISE] = Typed(LLM, remark)
    if len(said) < len(entries):
        shape.types[NOTHING] = Typed(OTHER, f"{len(entries) - len(said):,} steps have no such text: their calls count, and no answer of a model")  # fmt: skip
    shape.type_of = [LLM if number in said else OTHER for number in range(len(entries))]
    shape.score = len(said) + len(tool.values)
    shape.calls_remark = _remark_on_ends(tool)
    return shape


def _remark_on_ends(action: At) -> str:
    ends = sorted({str(value)[:40] for value in action.values if is_outcome(value)})
    return f"also counts {', '.join(ends)}, which may be no call of a tool" if ends else ""


def shape_of_rows(entries: Sequence[Any], seen: Observed) -> Shape | None:
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
        take_halves(shape)
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
    for at in kinds_in(seen):
        if at.pointer not in (shape.tool, *shape.kinds) and at.keys[-1] not in {
            "name",
            "from",
            "source",
            "sender",
        }:
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
    second = _further_kind(entries, of) if others else None
    if second:
        kinds.append(second.pointer)
        found = dict(zip(second.entries, second.values, strict=True))
        further = Shape(entries)
        set_words(further, Counter(word for number, word in found.items() if number not in of))
        types = further.types | types
        of |= {number: types[word].type for number, word in found.items() if number not in of}
        others = len(entries) - len(of)
    if others:
        types[NOTHING] = Typed(OTHER, f"{others:,} steps that name no tool count as no call")
    shape = Shape(entries, tuple(kinds), types, tool=tool.pointer)
    shape.type_of = [of.get(number, OTHER) for number in range(len(entries))]
    called = sum(each != OTHER for each in shape.type_of)
    shape.score = called if 2 * called >= len(entries) else WEAK * called
    return shape


def _further_kind(entries: Sequence[Any], of: Collection[int]) -> At | None:
    """Return the words that may tell apart the steps that have no type yet."""
    return kind_of(
        kinds_in(Observed(entries)), [number for number in range(len(entries)) if number not in of]
    )


def _unsure(
    entries: Sequence[Any], seen: Observed, model: At | None, answer: At | None, calls: At | None
) -> Shape | None:
    """Return steps that seem to be answers of a model, though they record no tokens."""
    if not answer or len(answer.values) < MOST * seen.count:
        return None
    prompt = seen.find(names.PROMPT, is_content, depth=1)
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

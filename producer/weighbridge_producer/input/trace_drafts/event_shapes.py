"""Steps that are events, which a word tells apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from weighbridge.text import pluralize
from weighbridge.traces.mapped_types import NOTHING, OTHERWISE, STEP_TYPES
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.evidence import calls_in, tool_name
from weighbridge_producer.input.trace_drafts.halves import take_halves
from weighbridge_producer.input.trace_drafts.kind_words import LLM, RESULT, TOOL, meaning_of
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    is_content,
    is_word,
)
from weighbridge_producer.input.trace_drafts.shape import (
    MOST,
    OTHER,
    WORDS_LISTED,
    Shape,
    Typed,
)
from weighbridge_producer.input.trace_drafts.turn_results import take_results

_KINDS_READ = 300  #: distinct words at a pointer; names and texts have more
_UNKNOWN_LISTED = 20
_FEW_KINDS = 12
_CALLS = frozenset(["action", "tool", "function", "toolcall"])  #: objects whose kinds are of calls


def shape_of_events(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return the types of events that a word tells apart."""
    kinds = kinds_in(seen)
    kind = likeliest(kinds, range(seen.count))
    if kind is None:
        return None
    words = dict(zip(kind.entries, kind.values, strict=True))
    shape = Shape(entries, kinds=(kind.pointer,))
    is_speaker = kind.keys[-1] in names.SPEAKER
    second = _further_words(shape, [at for at in kinds if at is not kind], words, is_speaker)
    is_speaker |= second is not None and second.keys[-1] in names.SPEAKER
    set_words(shape, Counter(words.values()), is_speaker=is_speaker)
    _add_without_kind(shape, words)
    _add_odd_words(shape, seen)
    take_halves(shape)
    shape.score = sum(of in {LLM, TOOL, RESULT} for of in shape.type_of)
    shape.is_chat = kind.keys[-1] == "role"
    answers = Observed(shape.of_type(LLM))
    shape.calls = calls_in(answers)
    if shape.calls is None and {TOOL, RESULT}.isdisjoint(shape.type_of):
        shape.calls = _calls_beside(answers)
        shape.calls_remark = "taken for the call that the answer beside it makes"
    elif shape.calls:
        take_results(shape)
        _take_tools_for_results(shape)
    elif 0 < shape.type_of.count(LLM) < shape.type_of.count(TOOL):
        shape.notes.append("Fewer model calls than tool calls: answers that only call a tool may have no step of their own, and are then not counted.")  # fmt: skip
    return shape


def _calls_beside(answers: Observed) -> At | None:
    """Return the names of tools that stand in answers themselves, beside the arguments."""
    arguments = answers.find(names.SURE_ARGUMENTS, is_content, depth=1)
    return answers.find(names.TOOL, is_word, depth=1) if arguments else None


def kinds_in(seen: Observed) -> list[At]:
    """Return the words that may tell the kinds of steps apart, without values that are none, of which there are few."""
    return [
        _words_at(at)
        for at in seen.all()
        if len(at.keys) <= 2
        and at.keys[-1] in names.KIND
        and not (len(at.keys) == 2 and at.keys[0] in _CALLS)
        and _are_kinds(at.values)
    ]


def _are_kinds(values: Sequence[Any]) -> bool:
    words = [value for value in values if is_word(value)]
    return len(words) >= MOST * len(values) and len(set(words)) <= _KINDS_READ


def _words_at(at: At) -> At:
    each = zip(at.entries, at.values, strict=True)
    words = {number: value for number, value in each if is_word(value)}
    return replace(at, values=list(words.values()), entries=list(words))


def likeliest(kinds: Sequence[At], within: Collection[int]) -> At | None:
    """Return the words of which most are known to be of calls, in some of the entries; None if none is."""
    best: At | None = None
    most = (0, 0)
    for at in kinds:
        held = [
            word for number, word in zip(at.entries, at.values, strict=True) if number in within
        ]
        is_speaker = at.keys[-1] in names.SPEAKER
        meant = [meaning_of(word, is_speaker=is_speaker) for word in held]
        sure = sum(1 for each in meant if each and each.type in {LLM, TOOL, RESULT})
        rank = (sure, -names.KIND.index(at.keys[-1]))
        if sure and (best is None or rank > most):
            best, most = at, rank
    return best


def _further_words(
    shape: Shape, others: Sequence[At], words: dict[int, str], is_speaker: bool
) -> At | None:
    """Tell the steps apart that have no known word by another one, as in `type: message` and `role: assistant`; return that."""
    known = {number for number, word in words.items() if meaning_of(word, is_speaker=is_speaker)}
    without = [number for number in range(len(shape.entries)) if number not in words]
    if (second := likeliest(others, words.keys() - known)) is not None:
        further = dict(zip(second.entries, second.values, strict=True))
        lacking = {words[number] for number in words.keys() - known if number not in further}
        taken = {number for number in words.keys() - known if words[number] not in lacking}
    elif (second := kind_of(others, without)) is not None:
        further = dict(zip(second.entries, second.values, strict=True))
        taken = further.keys() & set(without)
    else:
        return None
    if not taken:
        return None
    shape.kinds = (*shape.kinds, second.pointer)
    words.update({number: further[number] for number in taken})
    return second


def kind_of(others: Sequence[At], without: Sequence[int]) -> At | None:
    """Return the words that nearly all of the steps have that have none so far, if these are few, and none is known of calls.

    Known ones may be of calls that other steps record, too.
    """
    for at in others if without else ():
        held = dict(zip(at.entries, at.values, strict=True))
        found = {held[number] for number in without if number in held}
        meant = [meaning.type for word in found if (meaning := meaning_of(word))]
        has = sum(number in held for number in without)
        if has >= MOST * len(without) and 1 < len(found) <= _FEW_KINDS:
            return None if {TOOL, RESULT} & set(meant) else at
    return None


def _take_tools_for_results(shape: Shape) -> None:
    """Set the type of steps of tools, because the calls are within the steps of the model: results, unless others are."""
    if RESULT in shape.type_of:
        taken, remark = OTHER, "the call, which stands within the model's step: tool if these are calls of their own"  # fmt: skip
    else:
        taken, remark = RESULT, "taken for results of the calls within the model's steps; tool if these are calls of their own"  # fmt: skip
    for typed in shape.types.values():
        if typed.type == TOOL:
            typed.type, typed.remark = taken, remark
    shape.type_of = [taken if of == TOOL else of for of in shape.type_of]


def set_words(shape: Shape, counts: Counter[str], *, is_speaker: bool = False) -> None:
    """Set the types that words stand for, with remarks on those that are not known."""
    meant = {word: meaning_of(word, is_speaker=is_speaker) for word in counts}
    has_calls = any(each and each.type == TOOL for each in meant.values())
    has_answers = any(each and each.type == LLM and not each.is_request for each in meant.values())
    unknown = [word for word, each in meant.items() if each is None]
    listed = set(sorted(unknown, key=lambda word: -counts[word])[:_UNKNOWN_LISTED])
    how = ": llm if it is an answer of a model, tool if it is a call"
    for word in counts:
        found = meant[word]
        if found is None:
            if word in listed or word in STEP_TYPES:
                shape.types[word] = Typed(OTHER, f"not known, {counts[word]:,} of these{how}")
                how = ""
        elif found.type == RESULT and not has_calls:
            shape.types[word] = Typed(TOOL, "results without a step for the call: each counts as one call")  # fmt: skip
        elif found.type == LLM and found.is_request and has_answers:
            shape.types[word] = Typed(OTHER, "the request: the answer has a step of its own, which counts as the model call")  # fmt: skip
        else:
            shape.types[word] = Typed(found.type)
    _check_results(shape, counts)
    _check_several(shape)
    if len(unknown) > len(listed):
        shape.types[OTHERWISE] = Typed(OTHER, f"and {len(unknown) - len(listed):,} further words, none of them known")  # fmt: skip


def _check_several(shape: Shape) -> None:
    """Remark on further words for calls, which may be of the same calls as the first."""
    for kind in (LLM, TOOL):
        words = [
            word for word, typed in shape.types.items() if typed.type == kind and "::" not in word
        ]
        for word in words[1:]:
            typed = shape.types[word]
            typed.remark = (
                typed.remark or f"counts beside {words[0]}: other, if both are of one call"
            )


def _check_results(shape: Shape, counts: Counter[str]) -> None:
    """Remark that there are more results than calls."""
    calls = sum(counts[word] for word, typed in shape.types.items() if typed.type == TOOL)
    results = [word for word, typed in shape.types.items() if typed.type == RESULT]
    total = sum(counts[word] for word in results)
    if results and total > calls:
        shape.types[
            results[0]
        ].remark = f"{total:,} results for {calls:,} calls: those beyond are calls that have no step of their own, or are no results"


def _add_without_kind(shape: Shape, by_entry: dict[int, str]) -> None:
    """Set the type of each step; steps without a word are tool calls if they are like those that have one."""
    entries = shape.entries
    tools = [entries[at] for at, word in by_entry.items() if _type_in(shape, word) == TOOL]
    name = tool_name(Observed(tools)) if tools else None
    shape.tool = name.pointer if name else ""
    like = (
        frozenset.intersection(*map(frozenset, tools)) - _own_keys(shape) if tools else frozenset()
    )
    bare: dict[int, str] = {}
    if name and len(name.keys) == 1:
        key = next(iter(k for k in tools[0] if names.normal(k) == name.keys[0]), "")
        for number, entry in enumerate(entries):
            if number not in by_entry and is_word(entry.get(key)) and _is_like(entry, like):
                bare[number] = entry[key]
    if bare and len(set(bare.values())) <= WORDS_LISTED:
        shape.kinds = (*shape.kinds, name.pointer if name else "")
        for word in bare.values():
            shape.types.setdefault(
                word, Typed(TOOL, "the name of a tool, in steps that state no kind")
            )
    else:
        bare = {}
    shape.type_of = [
        TOOL if number in bare else _type_in(shape, by_entry.get(number, ""))
        for number in range(len(entries))
    ]
    lacking = len(entries) - len(by_entry) - len(bare)
    if lacking:
        have = "has" if lacking == 1 else "have"
        shape.types[NOTHING] = Typed(OTHER, f"{pluralize(lacking, 'step')} {have} none of these")


def _add_odd_words(shape: Shape, seen: Observed) -> None:
    """Add that steps with another value in place of a word are no calls."""
    held = [value for pointer in shape.kinds if (at := seen.at(pointer)) for value in at.values]
    odd = sum(value != "" and not is_word(value) for value in held)
    if odd:
        remark = f"{pluralize(odd, 'step')} with another value in place of a word"
        shape.types.setdefault(OTHERWISE, Typed(OTHER, remark))


def _own_keys(shape: Shape) -> frozenset[str]:
    return frozenset(pointer.split("/")[1] for pointer in shape.kinds)


def _is_like(entry: dict[str, Any], keys: frozenset[str]) -> bool:
    """Return whether a step has what the tool calls have: all but an id, and at least two things."""
    return len(keys & set(entry)) >= max(2, len(keys) - 1)


def _type_in(shape: Shape, word: str) -> str:
    typed = shape.types.get(word)
    return typed.type if typed else OTHER

"""Steps that are recorded twice: at their beginning and at their end, or each time that their state changes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence

from weighbridge.traces.mapped_types import NOTHING, OTHERWISE, STEP_TYPES
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.kind_words import LLM, RESULT, TOOL
from weighbridge_producer.input.trace_drafts.observed import At, Observed, is_id, is_word
from weighbridge_producer.input.trace_drafts.shape import OTHER, Shape, Typed

_SEPARATOR = re.compile(r"[._:/ -]")
_FIRST = frozenset(["pre", "before", "post", "after"])  #: words before that of the step
_MOST_WORDS = 8
#: Number of beginnings for one end; a state that fewer steps have is one that they stay in.
_FEWEST = 0.8
_REPEATED = 3  #: steps of one word, from which equal numbers are no accident


def take_halves(shape: Shape) -> None:
    """Count steps once of which the beginning and the end are recorded, and remark on those that may be recorded twice."""
    if shape.thought or shape.is_totals:
        return
    numbers = {n for n, of in enumerate(shape.type_of) if of in {LLM, TOOL}}
    seen = Observed(shape.entries)
    for at in seen.all():
        if len(at.keys) > 2 or at.keys[-1] not in names.PHASES | {*names.KIND}:
            continue
        held = {} if at.pointer in shape.kinds else _words(at, numbers)
        begins = _beginnings(held, at.keys[-1])
        if begins and _set(shape, at, held, begins, seen):
            return
    for kind in (LLM, TOOL):
        _remark(shape, kind, seen)


def _words(at: At, numbers: Collection[int]) -> dict[int, str]:
    """Return the words that calls have, by their numbers; empty if one of these is no word, or there are many."""
    held = {n: word for n, word in zip(at.entries, at.values, strict=True) if n in numbers}
    are_words = all(map(is_word, held.values()))
    return held if are_words and 1 < len(set(held.values())) <= _MOST_WORDS else {}


def _beginnings(held: dict[int, str], key: str) -> list[str]:
    """Return the words for a beginning, if the words of all calls tell beginnings from ends; empty if they do not."""
    are_phases = key in names.PHASES
    begin = names.PHASES_BEGUN if are_phases else names.BEGINS
    end = names.PHASES_ENDED if are_phases else names.HALVES_ENDED
    halves = {word: _half(word) for word in held.values()}
    begun = sum(halves[word] in begin for word in held.values())
    ended = sum(halves[word] in end for word in held.values())
    fewest = _FEWEST * ended if key in names.STATES else 1
    if begun + ended < len(held) or not ended or begun < fewest:
        return []
    return [word for word in halves if halves[word] in begin]


def _half(text: str) -> str:
    """Return the word that tells a beginning from an end, as in `item.started` and `pre_call`."""
    words = [names.normal(word) for word in _SEPARATOR.split(text)]
    return words[0] if words[0] in _FIRST else words[-1]


def _set(shape: Shape, at: At, held: dict[int, str], begins: Sequence[str], seen: Observed) -> bool:
    """Make the beginnings no calls or, if only these have the arguments, the ends results; return whether the words allow that."""
    ends = list(dict.fromkeys(word for word in held.values() if word not in begins))
    if {*begins, *ends} & {*STEP_TYPES, *shape.types} or (
        NOTHING in shape.types and not shape.kinds
    ):
        return False
    begun = {n for n, word in held.items() if word in begins}
    lacking = _only_of(begun, set(held) - begun, seen)
    if lacking and all(shape.type_of[n] == TOOL for n in held) and not shape.of_type(RESULT):
        taken: Sequence[str] = ends
        kind = RESULT
        remark = "the end of a call: its beginning is a step of its own, and has the arguments"
        numbers = held.keys() - begun
    else:
        taken, kind = begins, OTHER
        remark = "the beginning of a step: its end is a step of its own, and is what counts"
        if lacking:
            remark += f"; what only the beginning has, such as {lacking}, is not read"
        numbers = begun
    if len(at.values) < len(shape.entries) and not shape.kinds:
        shape.types[NOTHING] = Typed(shape.type_of_word(OTHERWISE))
    shape.kinds = (at.pointer, *shape.kinds)
    shape.types = {word: Typed(kind, remark) for word in taken} | shape.types
    shape.type_of = [kind if n in numbers else of for n, of in enumerate(shape.type_of)]
    return True


def _only_of(begun: set[int], ended: set[int], seen: Observed) -> str:
    """Return the pointer to arguments that beginnings have, and no ends; empty if there are none."""
    for name in names.ARGUMENTS:
        for at in seen.all():
            if at.keys == (name,) and begun & set(at.entries) and not ended & set(at.entries):
                return at.pointer
    return ""


def _remark(shape: Shape, kind: str, seen: Observed) -> None:
    """Remark on calls of which several have one id, or whose numbers are equal for each word of a state."""
    numbers = {n for n, of in enumerate(shape.type_of) if of == kind}
    why = _repeated_ids(numbers, shape, seen) or _equal_numbers(numbers, shape, seen)
    typed = next((each for each in shape.types.values() if each.type == kind), None)
    if why and typed:
        typed.remark = "; ".join(filter(None, (typed.remark, why)))


def _repeated_ids(numbers: Collection[int], shape: Shape, seen: Observed) -> str:
    for at in seen.all():
        if len(at.keys) > 2 or at.keys[-1] not in names.OWN_ID or not all(map(is_id, at.values)):
            continue
        each = zip(at.entries, at.values, strict=True)
        held: dict[bool, list[str]] = {True: [], False: []}
        for n, value in each:
            held[n in numbers].append(str(value))
        distinct = set(held[True])
        is_shared = bool(distinct & set(held[False]) and not shape.of_type(RESULT))
        if is_shared or len(held[True]) < len(numbers) or len(distinct) in {1, len(numbers)}:
            continue
        return f"{len(numbers):,} steps have {len(distinct):,} different ids at {at.pointer}: if those with one id are one call that is told several times, they count too often"
    return ""


def _equal_numbers(numbers: Collection[int], shape: Shape, seen: Observed) -> str:
    for at in seen.all():
        if len(at.keys) > 2 or at.keys[-1] not in names.PHASES or at.pointer in shape.kinds:
            continue
        counts = Counter(_words(at, numbers).values())
        if len(set(counts.values())) == 1 and min(counts.values()) >= _REPEATED:
            return f"as many have each of these at {at.pointer}: {', '.join(counts)}; if they are the beginnings and ends of one call, one of them is other"
    return ""

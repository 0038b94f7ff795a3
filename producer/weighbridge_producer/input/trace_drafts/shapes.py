"""What the steps of an array are: model calls, tool calls or events of several kinds, and how sure that is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.traces.mapped_types import NOTHING, OTHERWISE, STEP_TYPES
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.kind_words import LLM, RESULT, TOOL, meaning_of
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    are_few,
    is_amount,
    is_count,
    is_flat,
    is_text,
    is_word,
)

_MOST = 0.9  #: share of the steps that have what all of a kind have
_WORDS_LISTED = 60
_KINDS_READ = 300  #: distinct words at a pointer; names and texts have more
_UNKNOWN_LISTED = 20
_FEW_KINDS = 8
_SEPARATOR = re.compile(r"[._:/ -]")
_WEAK = 0.25  #: what a step counts of which it is not sure that it is a call
OTHER = "other"


@dataclass(slots=True)
class Typed:
    """What a word is mapped to, and why that is uncertain."""

    type: str
    remark: str = ""


@dataclass(slots=True)
class Shape:
    """The types of some steps."""

    entries: Sequence[Any]
    kinds: tuple[str, ...] = ()  #: pointers to the words that tell types apart
    types: dict[str, Typed] = field(default_factory=dict)
    type_of: list[str] = field(default_factory=list)  #: of each entry
    tool: str = ""  #: pointer to the name of a tool
    calls: At | None = None  #: the calls within a step
    calls_remark: str = ""
    notes: list[str] = field(default_factory=list)  #: on the whole
    score: float = 0.0
    is_totals: bool = False  #: True if each entry has the totals of a run
    is_chat: bool = False  #: True if the steps are messages with roles
    is_sure: bool = True  #: False if it is not certain that the steps are calls

    def of_type(self, *types: str) -> list[Any]:
        """Return the steps of some types."""
        return [each for each, of in zip(self.entries, self.type_of, strict=True) if of in types]


def shape_of(entries: Sequence[Any]) -> Shape | None:
    """Return what the steps of an array are; None if nothing in them is like a call."""
    seen = Observed(entries)
    if _are_definitions(seen):
        return None
    for read in (_events, _totals, _turns, _rows):
        shape = read(entries, seen)
        if shape is not None:
            return shape
    return None


def _are_definitions(seen: Observed) -> bool:
    """Return whether the objects describe tools, instead of calls."""
    described = seen.find(("description",), is_text, depth=2)
    schema = seen.find(names.SCHEMA, lambda value: type(value) is dict, depth=2)
    return bool(described and schema and 2 * len(described.values) > seen.count)


def tool_name(seen: Observed) -> At | None:
    """Return where the names of tools are, if they are."""
    found = seen.find(names.TOOL, is_word, within=names.TOOL_OBJECTS, depth=2)
    nested = [
        at
        for at in seen.all()
        if len(at.keys) == 2
        and at.keys[0] in names.TOOL_OBJECTS
        and at.keys[1] in names.NAME_IN_OBJECT
        and all(map(is_word, at.values))
        and _has_beside(seen, at)
    ]
    nested.sort(key=lambda at: names.NAME_IN_OBJECT.index(at.keys[1]))
    plain = seen.find((names.PLAIN_NAME, names.PLAIN_ACTION), is_word, depth=1)
    if plain and not seen.find(names.SURE_ARGUMENTS, is_flat, depth=1):
        plain = None
    options = [at for at in (found, *nested[:1], plain) if at]
    options = [at for at in options if are_few(at.values, of=seen.count)]
    return max(options, key=lambda at: (len(at.values), -len(at.keys)), default=None)


def _has_beside(seen: Observed, name: At) -> bool:
    """Return whether an object with a name of a tool holds something else."""
    if name.keys[0] in {"data", "payload", "params"}:
        return name.keys[1] in {"tool", "toolname"}
    return any(
        at.keys[0] == name.keys[0] and len(at.keys) > 1 and at is not name for at in seen.all()
    )


def token_counts(seen: Observed, depth: int = 3) -> tuple[At | None, At | None]:
    """Return the numbers of input and of output tokens."""
    given = seen.find(names.INPUT_TOKENS, is_count, depth=depth)
    made = seen.find(names.OUTPUT_TOKENS, is_count, depth=depth)
    if given or made:
        return given, made
    each = (("input", "prompt", "in"), ("output", "completion", "out"))
    found = [[at for at in seen.all() if _is_of_tokens(at, wanted, depth)] for wanted in each]
    return next(iter(found[0]), None), next(iter(found[1]), None)


def _is_of_tokens(at: At, wanted: Sequence[str], depth: int) -> bool:
    is_inside = 1 < len(at.keys) <= depth and at.keys[-2] in names.TOKEN_OBJECTS
    return is_inside and at.keys[-1] in wanted and all(map(is_count, at.values))


def _holds_steps(entries: Sequence[Any]) -> bool:
    """Return whether objects have arrays of steps of their own, so that their tokens are totals of runs."""
    holding = sum(
        any(
            names.normal(key) in names.RUN_STEPS
            and type(held) is list
            and any(type(each) is dict for each in held)
            for key, held in entry.items()
        )
        for entry in entries
    )
    return 2 * holding > len(entries)


def _events(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return the types of events that a word tells apart."""
    kinds = [at for at in seen.all() if _may_be_kind(at)]
    kind = _likeliest(kinds, range(seen.count))
    if kind is None:
        return None
    words = dict(zip(kind.entries, kind.values, strict=True))
    shape = Shape(entries, kinds=(kind.pointer,))
    _take_further_words(shape, [at for at in kinds if at is not kind], words)
    _set_words(shape, Counter(words.values()))
    _take_halves(shape, [at for at in kinds if at is not kind], words)
    _add_without_kind(shape, words)
    shape.score = sum(of in {LLM, TOOL, RESULT} for of in shape.type_of)
    shape.is_chat = kind.keys[-1] == "role"
    shape.calls = _calls_in(Observed(shape.of_type(LLM)))
    if shape.calls:
        _take_tools_for_results(shape)
    elif 0 < shape.type_of.count(LLM) < shape.type_of.count(TOOL):
        shape.notes.append("Fewer model calls than tool calls: answers that only call a tool may have no step of their own, and are then not counted.")  # fmt: skip
    return shape


def _may_be_kind(at: At) -> bool:
    is_within_call = len(at.keys) == 2 and at.keys[0] in {"action", "tool", "function", "toolcall"}
    if len(at.keys) > 2 or at.keys[-1] not in names.KIND or is_within_call:
        return False
    return all(map(is_word, at.values)) and len(set(at.values)) <= _KINDS_READ


def _likeliest(kinds: Sequence[At], within: Collection[int]) -> At | None:
    """Return the words of which most are known to be of calls, in some of the entries; None if none is."""
    best: At | None = None
    most = (0, 0)
    for at in kinds:
        held = [
            word for number, word in zip(at.entries, at.values, strict=True) if number in within
        ]
        meant = map(meaning_of, held)
        sure = sum(1 for each in meant if each and each.type in {LLM, TOOL, RESULT})
        rank = (sure, -names.KIND.index(at.keys[-1]))
        if sure and (best is None or rank > most):
            best, most = at, rank
    return best


def _take_further_words(shape: Shape, others: Sequence[At], words: dict[int, str]) -> None:
    """Tell the steps apart whose word is not known by another one, as in `type: message` and `role: assistant`."""
    unknown = {number for number, word in words.items() if meaning_of(word) is None}
    second = _likeliest(others, unknown)
    if second is None:
        return
    further = dict(zip(second.entries, second.values, strict=True))
    without = {words[number] for number in unknown if number not in further}
    taken = {number for number in unknown if words[number] not in without}
    if any(meaning_of(further[number]) for number in taken):
        shape.kinds = (*shape.kinds, second.pointer)
        words.update({number: further[number] for number in taken})


def _take_halves(shape: Shape, others: Sequence[At], words: dict[int, str]) -> None:
    """Leave out the beginnings of steps whose ends are steps of their own."""
    for at in others:
        found = {word: _last_word(word) for word in at.values}
        begins = [word for word, name in found.items() if name in names.BEGINS]
        is_half = begins and len(begins) < len(found)
        if is_half and all(name in names.BEGINS | names.HALVES_ENDED for name in found.values()):
            shape.kinds = (at.pointer, *shape.kinds)
            remark = "the beginning of a step: its end is a step of its own, and is what counts"
            shape.types = {word: Typed(OTHER, remark) for word in begins} | shape.types
            each = zip(at.entries, at.values, strict=True)
            words.update({number: word for number, word in each if word in begins})
            return


def _take_tools_for_results(shape: Shape) -> None:
    """Set the type of steps of tools to results, because the calls are within the steps of the model."""
    for typed in shape.types.values():
        if typed.type == TOOL:
            typed.type = RESULT
            typed.remark = "taken for results of the calls within the model's steps; tool if these are calls of their own"  # fmt: skip
    shape.type_of = [RESULT if of == TOOL else of for of in shape.type_of]


def _last_word(text: str) -> str:
    """Return the last of the words that dots or the like separate, as in `item.started`."""
    return names.normal(_SEPARATOR.split(text)[-1])


def _set_words(shape: Shape, counts: Counter[str]) -> None:
    meant = {word: meaning_of(word) for word in counts}
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
    if bare and len(set(bare.values())) <= _WORDS_LISTED:
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
        shape.types[NOTHING] = Typed(OTHER, f"{lacking:,} steps have none of these")


def _own_keys(shape: Shape) -> frozenset[str]:
    return frozenset(pointer.split("/")[1] for pointer in shape.kinds)


def _is_like(entry: dict[str, Any], keys: frozenset[str]) -> bool:
    """Return whether a step has what the tool calls have: all but an id, and at least two things."""
    return len(keys & set(entry)) >= max(2, len(keys) - 1)


def _type_in(shape: Shape, word: str) -> str:
    typed = shape.types.get(word)
    return typed.type if typed else OTHER


def _totals(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return the steps that are none, because each object has the totals of a run."""
    counted = seen.find(
        (*names.TOTALS_LLM, *names.TOTALS_TOOL, *names.TOTALS_UNSURE), is_count, depth=1
    )
    has_tokens, _ = token_counts(seen, depth=2)
    if not (counted and has_tokens and len(counted.values) >= _MOST * seen.count):
        return None
    shape = Shape(entries, types={OTHERWISE: Typed(OTHER)}, is_totals=True)
    shape.type_of = [OTHER] * len(entries)
    shape.score = 0.1 * len(entries)
    return shape


def _turns(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that each have an answer of a model and the call that it makes, as in ReAct."""
    thought = seen.find(names.THOUGHT, is_text, depth=1)
    action = seen.find((names.PLAIN_ACTION, "toolcall", "tool", "toolname"), _is_action, depth=1)
    if not (thought and action and len(thought.values) >= _MOST * seen.count):
        return None
    shape = _all(entries, seen, LLM, thought, action)
    ends = sorted({str(value)[:40] for value in action.values if is_end(value)})
    if ends:
        shape.calls_remark = f"also counts {', '.join(ends)}, which may be no call of a tool"
    return shape


def is_end(action: Any) -> bool:
    """Return whether an action may end a run instead of calling a tool."""
    return type(action) is str and names.normal(action) in names.ENDS


def _is_action(value: Any) -> bool:
    return is_word(value) or (
        type(value) is dict and any(names.normal(key) in names.NAME_IN_OBJECT for key in value)
    )


def _rows(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that are each one call, of a tool or of a model."""
    tool, model = tool_name(seen), seen.find(names.MODEL, is_word)
    given, made = token_counts(seen)
    tokens = made or given
    calls = _calls_in(seen)
    if tokens and _holds_steps(entries):
        return None
    if tokens and not tool and len(tokens.values) >= _MOST * seen.count:
        shape = _all(entries, seen, LLM, tokens, calls)
        used = {n for at in (given, made) if at for n, v in zip(at.entries, at.values, strict=True) if v}  # fmt: skip
        if len(used) < seen.count:
            shape.is_sure = False
            shape.types[OTHERWISE].remark += f"; in {seen.count - len(used):,} of {seen.count:,} they are 0, so that these may be no model calls"  # fmt: skip
        if calls:
            shape.types[OTHERWISE].remark += "; if it is a run with its totals, the number of its model calls is not known"  # fmt: skip
        return shape
    if tool and not (tokens and set(tokens.entries) & set(tool.entries)):
        if len(tool.values) == seen.count:
            shape = _all(entries, seen, TOOL, tool, None)
            shape.tool = tool.pointer
        else:
            mixed = _mixed(entries, tool, model, tokens)
            if mixed is None:
                return None
            shape = mixed
        _remark_on_kinds(shape)
        return shape
    if tool and tokens:
        shape = _all(entries, seen, LLM, tokens, tool)
        shape.types[OTHERWISE].remark = "each has tokens and a tool: taken for a model call that calls the tool"  # fmt: skip
        return shape
    answer = seen.find(names.ANSWER, is_text, depth=1)
    return _unsure(entries, seen, model, answer, calls)


def _remark_on_kinds(shape: Shape) -> None:
    """Remark that the steps that name a tool are of several kinds, such as the beginnings and the ends of calls."""
    seen = Observed(shape.of_type(TOOL))
    for at in seen.all():
        if (
            _may_be_kind(at)
            and at.pointer != shape.tool
            and at.keys[-1] not in {"name", "from", "source", "sender"}
        ):
            words = list(dict.fromkeys(at.values))
            if 1 < len(words) <= _FEW_KINDS and len(at.values) == seen.count:
                first = next(typed for typed in shape.types.values() if typed.type == TOOL)
                first.remark = "; ".join(filter(None, (first.remark, f"each counts as a call, but they are of several kinds at {at.pointer}: {', '.join(words)}")))  # fmt: skip
                return


def _all(
    entries: Sequence[Any], seen: Observed, kind: str, evidence: At, calls: At | None
) -> Shape:
    what = "a model call" if kind == LLM else "a tool call"
    shape = Shape(entries, calls=calls)
    shape.types[OTHERWISE] = Typed(
        kind, f"each step is taken for {what}, because of {evidence.pointer}"
    )
    shape.type_of = [kind] * len(entries)
    called = sum(len(each) if type(each) is list else 1 for each in calls.values) if calls else 0
    shape.score = len(evidence.values) + called
    if len(evidence.values) < seen.count:
        shape.types[OTHERWISE].remark += f", which only {len(evidence.values):,} of {seen.count:,} have"  # fmt: skip
    return shape


def _mixed(entries: Sequence[Any], tool: At, model: At | None, tokens: At | None) -> Shape | None:
    """Return steps of which some name a tool, and others may name a model."""
    types = {word: Typed(TOOL) for word in dict.fromkeys(tool.values)}
    kinds = [tool.pointer]
    of = dict.fromkeys(tool.entries, TOOL)
    if model and tokens and not set(model.values) & set(types):
        kinds.append(model.pointer)
        types |= {word: Typed(LLM) for word in dict.fromkeys(model.values)}
        of |= {number: LLM for number in model.entries if number not in of}
    if len(types) > _WORDS_LISTED:
        return None
    others = len(entries) - len(of)
    if others:
        types[NOTHING] = Typed(OTHER, f"{others:,} steps that name no tool count as no call")
    shape = Shape(entries, tuple(kinds), types, tool=tool.pointer)
    shape.type_of = [of.get(number, OTHER) for number in range(len(entries))]
    shape.score = len(of) if 2 * len(of) >= len(entries) else _WEAK * len(of)
    return shape


def _unsure(
    entries: Sequence[Any], seen: Observed, model: At | None, answer: At | None, calls: At | None
) -> Shape | None:
    """Return steps that seem to be answers of a model, though they record no tokens."""
    if not answer or len(answer.values) < _MOST * seen.count:
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
    shape = _all(entries, seen, LLM, answer, calls)
    shape.types[
        OTHERWISE
    ].remark = (
        f"not certain: taken for answers of a model because of {answer.pointer} and {also.pointer}"
    )
    shape.score *= _WEAK
    shape.is_sure = False
    return shape


def _estimates(seen: Observed) -> tuple[str, ...]:
    return tuple(
        name
        for name in ("tokenestimate", "estimatedtokens")
        if any(at.keys[-1] == name for at in seen.all())
    )


def _calls_in(seen: Observed) -> At | None:
    """Return the calls within steps, which are objects with the names of tools."""
    found = seen.find(names.CALLS, _are_calls, depth=2)
    return found if found and any(found.values) else None


def _are_calls(value: Any) -> bool:
    return type(value) is list and all(
        is_word(call)
        or (type(call) is dict and (tool_name(Observed([call])) is not None or _is_action(call)))
        for call in value[:50]
    )

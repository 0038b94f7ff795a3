"""Steps whose names are unusual: what they are is guessed from the words in the names and from how the values recur."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from weighbridge.traces.mapped_types import NOTHING, OTHERWISE
from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.evidence import are_definitions, is_outcome
from weighbridge_producer.input.trace_drafts.guessed_events import HALF, guessed_events
from weighbridge_producer.input.trace_drafts.key_roles import Role, find_role, may_be, words_of
from weighbridge_producer.input.trace_drafts.kind_words import LLM, TOOL
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    are_few,
    is_amount,
    is_content,
    is_count,
    is_text,
    is_word,
)
from weighbridge_producer.input.trace_drafts.row_shapes import turns_of
from weighbridge_producer.input.trace_drafts.shape import OTHER, Shape, Typed

#: What a step counts, so that what is guessed is never preferred to what is known.
_CALL, _ANSWER = 0.03, 0.01
_IDENTIFIER = re.compile(r"(?=[^\d])[^\s{}\[\]<>\"']{1,80}")
_LONG, _SENTENCE = 80, 12  #: characters
_LISTED = 12
_OF_MODELS = frozenset({"agent", "assistant", "ai", "llm", "bot", "gpt", "chatbot"})
_TURN_NUMBERS = ("step", "stepid", "stepnumber", "turn", "round", "iteration")


def guessed_shape(entries: Sequence[Any]) -> Shape | None:
    """Return what the steps of an array may be; None if nothing in them hints at a call."""
    seen = Observed(entries)
    if are_definitions(seen):
        return None
    for guess in (_calls, guessed_events, _answers):
        shape = guess(entries, seen)
        if shape is not None:
            shape.is_sure = False
            return shape
    return None


def _calls(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that each name a tool: by the name of the field, or because few names recur beside objects that differ."""
    tool = _named(seen) or _recurring(seen)
    if tool is None:
        return _commands(entries, seen)
    thought = find_role(seen, Role.THOUGHT, is_text, {tool.pointer})
    if thought:
        shape = turns_of(entries, thought, tool)
        shape.types[OTHERWISE].remark = f"guessed: {shape.types[OTHERWISE].remark}"
        shape.calls_remark = "; ".join(filter(None, (f"guessed: {tool.pointer} is taken for the name of a tool", shape.calls_remark)))  # fmt: skip
        shape.score = _CALL * len(tool.values)
        return shape
    remark = f"guessed: each step is taken for a call of the tool at {tool.pointer}"
    shape = Shape(entries, tool=tool.pointer, score=_CALL * len(tool.values))
    words = Counter(tool.values)
    if any(map(is_outcome, words)) and len(words) <= _LISTED:
        shape.kinds = (tool.pointer,)
        for word in words:
            shape.types[word] = Typed(OTHER, "guessed: an answer or an outcome, and no call; llm if it is an answer of a model") if is_outcome(word) else Typed(TOOL, remark)  # fmt: skip
            remark = "" if not is_outcome(word) else remark
    elif len(tool.values) < len(entries):
        shape.kinds = (tool.pointer,)
        shape.types[OTHERWISE] = Typed(TOOL, remark)
    else:
        shape.types[OTHERWISE] = Typed(TOOL, remark)
    if len(tool.values) < len(entries):
        shape.types[NOTHING] = Typed(OTHER, f"{len(entries) - len(tool.values):,} steps name no tool: llm if they are answers of a model")  # fmt: skip
    held = dict(zip(tool.entries, tool.values, strict=True))
    shape.type_of = [
        shape.type_of_word(held.get(number, NOTHING)) for number in range(len(entries))
    ]
    return shape


def _commands(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that each have an action in words, such as `open the drawer`, and what came of it."""
    action = find_role(seen, Role.TOOL, is_text)
    result = find_role(seen, Role.RESULT, is_content)
    if action is None or result is None or len(action.values) < HALF * seen.count:
        return None
    shape = Shape(entries, score=_CALL * len(action.values))
    shape.types[OTHERWISE] = Typed(TOOL, f"guessed: each step is taken for a call without a tool's name, of which {action.pointer} has the arguments")  # fmt: skip
    shape.type_of = [TOOL] * len(entries)
    shape.arguments = action.pointer
    return shape


def _named(seen: Observed) -> At | None:
    """Return where names of tools are, if the name of the field, or of the object around it, hints at that."""
    found = [
        at
        for at in seen.all()
        if len(at.values) >= HALF * seen.count
        and (_is_tool_key(at))
        and all(map(is_word, at.values))
        and all(map(_IDENTIFIER.fullmatch, at.values))
        and are_few(at.values, of=seen.count)
        and _has_facts(seen, at)
    ]
    return min(found, key=lambda at: (len(at.keys), -len(at.values)), default=None)


def _is_tool_key(at: At) -> bool:
    if len(at.keys) == 1:
        return may_be(at, Role.TOOL)
    holder, _, _ = at.pointer.rpartition("/")
    is_within = len(at.keys) == 2 and may_be(At(holder, at.keys[:-1]), Role.TOOL)
    return is_within and at.keys[-1] in (*names.NAME_IN_OBJECT, "id", "key")


def _has_facts(seen: Observed, name: At) -> bool:
    """Return whether there is something beside a name that may be arguments or a result."""
    return any(
        at is not name
        and len(at.keys) == 1
        and all(map(is_content, at.values))
        and (may_be(at, Role.ARGUMENTS) or may_be(at, Role.RESULT) or _differ(at))
        for at in seen.all()
    )


def _differ(at: At) -> bool:
    """Return whether values are objects, most of them different ones."""
    if not all(type(value) is dict for value in at.values):
        return False
    return len({str(value) for value in at.values}) > HALF * len(at.values)


def _recurring(seen: Observed) -> At | None:
    """Return short names that recur, beside objects or long texts that differ and a field that hints at a result."""
    found = [at for at in seen.all() if len(at.keys) == 1 and _may_be_names(seen, at)]
    differ = [at for at in seen.all() if len(at.keys) == 1 and _differ(at)]
    has_result = find_role(seen, Role.RESULT, is_content) is not None
    if len(found) != 1 or not differ or not has_result:
        return None
    return found[0]


def _may_be_names(seen: Observed, at: At) -> bool:
    words = words_of(at.pointer)
    return (
        len(at.values) == seen.count
        and all(map(is_word, at.values))
        and all(map(_IDENTIFIER.fullmatch, at.values))
        and 1 < len(set(at.values)) <= max(HALF * seen.count, 2)
        and not names.NO_KINDS & set(words)
        and at.keys[-1] not in (*names.RUN_ID, *names.TIME, *names.MODEL)
    )


def _answers(entries: Sequence[Any], seen: Observed) -> Shape | None:
    """Return steps that may be answers of a model: they have a text, and a model, a prompt or a duration beside it."""
    text = _text(seen)
    prompt = find_role(seen, Role.PROMPT, is_content, {text.pointer} if text else (), depth=2)
    model = seen.find(names.MODEL, is_word)
    duration = seen.find((*names.DURATION_MS, *names.DURATION_S, *names.DURATION), is_amount, depth=1)  # fmt: skip
    if text:
        also = model or prompt or duration or seen.find(_TURN_NUMBERS, is_count, depth=1)
        because = f"{text.pointer} and {also.pointer}" if also else ""
        if not also and _OF_MODELS & set(words_of(text.pointer)):
            because = text.pointer
    else:
        agent = next((at for at in seen.all() if len(at.keys) == 1 and _names_agent(at)), None)
        also = duration or find_role(seen, Role.RESULT, is_text)
        because = f"{agent.pointer} and {also.pointer}" if agent and also else ""
    evidence = text or also
    if not because or evidence is None or len(evidence.values) < HALF * seen.count:
        return None
    shape = Shape(entries, score=_ANSWER * len(evidence.values))
    shape.types[OTHERWISE] = Typed(LLM, f"guessed: each step is taken for one answer of a model because of {because}")  # fmt: skip
    shape.type_of = [LLM] * len(entries)
    return shape


def _names_agent(at: At) -> bool:
    return "agent" in words_of(at.pointer) and all(map(is_word, at.values))


def _text(seen: Observed) -> At | None:
    """Return texts that may be answers: their name hints at it, or they are long and differ, and have no other role."""
    texts = [
        at
        for at in seen.all()
        if len(at.keys) <= 2 and all(map(is_text, at.values)) and at.keys[-1] not in names.TIME
    ]
    hinting = [
        at
        for at in texts
        if _is_prose(at.values, _SENTENCE)
        and (may_be(at, Role.ANSWER) or may_be(at, Role.THOUGHT))
        and not may_be(at, Role.PROMPT)
        and not may_be(at, Role.ERROR)
    ]
    long = [at for at in texts if _is_prose(at.values, _LONG) and not may_be(at, Role.PROMPT)]
    return max(hinting or long, key=lambda at: (len(at.values), -len(at.keys)), default=None)


def _is_prose(values: Collection[str], length: int) -> bool:
    """Return whether most of some texts have words, at least that many characters, and differ."""
    prose = [value for value in values if len(value) >= length and " " in value.strip()]
    return len(prose) > HALF * len(values) and len(set(prose)) > HALF * len(prose)

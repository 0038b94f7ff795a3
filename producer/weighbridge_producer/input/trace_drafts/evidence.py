"""What in some objects is evidence of calls: names of tools, numbers of tokens, lists of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge_producer.input.trace_drafts import fact_names as names
from weighbridge_producer.input.trace_drafts.key_roles import words_of
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
    are_few,
    is_content,
    is_count,
    is_text,
    is_word,
)

_CALLS = ("tool", "call", "action", "function", "invo", "request")  #: beginnings of words in names


def are_definitions(seen: Observed) -> bool:
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
    if plain and not seen.find(names.SURE_ARGUMENTS, is_content, depth=1):
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


def hold_steps(entries: Sequence[Any]) -> bool:
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


def calls_in(seen: Observed) -> At | None:
    """Return the calls within steps, which are objects with the names of tools."""
    found = seen.find(names.CALLS, _are_calls, depth=2)
    if found and any(found.values):
        return found
    hinting = (at for at in seen.all() if len(at.keys) <= 2 and _may_be_calls(at))
    return next(hinting, None)


def _may_be_calls(at: At) -> bool:
    """Return whether arrays have objects that name tools, under a name that hints at calls."""
    listed = [call for held in at.values if type(held) is list for call in held]
    objects = [call for call in listed if type(call) is dict]
    is_hinting = any(word.startswith(stem) for word in words_of(at.pointer) for stem in _CALLS)
    if not (is_hinting and objects) or len(objects) < len(listed) or not _are_lists(at.values):
        return False
    seen = Observed(objects)
    name = tool_name(seen)
    return name is not None and len(name.values) == len(objects) and not are_definitions(seen)


def _are_lists(values: Sequence[Any]) -> bool:
    return all(type(value) is list for value in values)


def _are_calls(value: Any) -> bool:
    return type(value) is list and all(
        is_word(call)
        or (type(call) is dict and (tool_name(Observed([call])) is not None or is_action(call)))
        for call in value[:50]
    )


def is_action(value: Any) -> bool:
    """Return whether a value may be the call that an answer makes: a name, or an object with one."""
    return is_word(value) or (
        type(value) is dict and any(names.normal(key) in names.NAME_IN_OBJECT for key in value)
    )


def is_outcome(action: Any) -> bool:
    """Return whether an action may be an answer, or what became of one, instead of a call of a tool."""
    if is_end(action):
        return True
    words = set(words_of(action)) if type(action) is str else set()
    return bool(words & names.OUTCOMES)


def is_end(action: Any) -> bool:
    """Return whether an action may end a run instead of calling a tool."""
    return type(action) is str and names.normal(action) in names.ENDS

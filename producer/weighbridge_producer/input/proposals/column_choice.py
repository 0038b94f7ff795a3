"""The column that is likely one field of a case, by the names of the columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge_producer.input.mapping.path_texts import around, is_first_entry, levels
from weighbridge_producer.input.mapping.row_values import Path, json_within
from weighbridge_producer.input.proposals.column_fit import (
    fits,
    is_agents_column,
    is_measurement,
    is_score,
)
from weighbridge_producer.input.proposals.column_names import (
    EITHER_NAMES,
    PLAIN_NAMES,
    STRONG_IN_ASKED,
    USUAL_NAMES,
    WEAK_NAMES,
    can_be,
    has_word_for,
    is_agents,
    is_asked,
    is_model_alone,
    is_value_name,
    may_name_text,
    names_of,
    normal,
)
from weighbridge_producer.input.proposals.rival_columns import expected_rivals_of, rivals_of

if TYPE_CHECKING:
    from weighbridge_producer.input.proposals.column_values import Columns


class Choice(NamedTuple):
    """The column chosen for a field."""

    path: str
    is_weak: bool = False  #: True if its name may mean another field as well
    is_unsure: bool = False  #: True if its name alone does not say that it is the field
    rivals: tuple[str, ...] = ()  #: further columns that may be the field as well


def chosen_path(
    name: str, columns: Columns, taken: set[str | None], needed: list[str]
) -> Choice | None:
    """Return the path whose name matches a field best; of equal matches, the least nested one.

    `needed` are the fields that are looked for. Clear names come first, then words in other names, then names that may
    mean several fields.
    """
    choice = _first_choice(name, columns, taken, needed)
    if choice is None:
        return None
    if name == "agent_response":
        return choice._replace(rivals=rivals_of(choice.path, columns, taken))
    if name == "expected_output" and not choice.is_weak and normal(choice.path) != normal(name):
        return choice._replace(rivals=expected_rivals_of(choice.path, columns, taken))
    return choice


def _first_choice(
    name: str, columns: Columns, taken: set[str | None], needed: list[str]
) -> Choice | None:
    own, weak = normal(name), WEAK_NAMES.get(name, frozenset())
    names = USUAL_NAMES.get(name, ())
    if name == "expected_output" and "agent_response" in needed and not _other_response(columns):
        names = tuple(known for known in names if known not in EITHER_NAMES)
    free = {
        path: values
        for path, values in columns.items()
        if path not in taken
        and fits(name, path, values)
        and not (name == "expected_output" and is_score(path, columns))
    }
    described = _described(name, own, free, columns)
    if name == "agent_response" and not all(map(is_first_entry, described)):
        # A text says more than the first of a list beside it, such as steps or sources.
        texts = {path: given for path, given in described.items() if not is_first_entry(path)}
        if choice := _clear_choice(name, columns, texts, (own, *names), weak):
            return choice
    if choice := _clear_choice(name, columns, described, (own, *names), weak):
        if name == "agent_response":
            return _text_instead(choice, free)
        return _answer_of_solution(choice, free, columns, needed)
    if path := _named([known for known in names if known in weak], described):
        return Choice(path, not (name == "agent_response" and is_agents(path)))
    if name == "expected_output":
        found = _annotated(free, columns)
        return found or (_beside_agents(free, columns) if "agent_response" in needed else None)
    if name != "agent_response":
        return None
    asked = [path for path in free if _is_answer_within_asked(path)]
    if asked:
        return Choice(_least_nested(asked), is_weak=True)
    return _only_text_of_agent(free)


def _clear_choice(
    name: str,
    columns: Columns,
    described: dict[str, list[str]],
    names: tuple[str, ...],
    weak: frozenset[str],
) -> Choice | None:
    """Return the path with a name that means only this field, or a name with a word for it."""
    if path := _named([known for known in dict.fromkeys(names) if known not in weak], described):
        return Choice(path)
    most = max(map(len, columns.values()), default=0)
    worded = [
        path
        for path in described
        if normal(Path(path).name) not in weak
        and has_word_for(name, path)
        and can_be(name, path)
        and len(columns[path]) * 2 >= most
        and not (name == "expected_output" and is_measurement(path, columns))
    ]
    path = _least_nested(worded) if worded else None
    return (
        Choice(path, is_unsure=name == "agent_response" and is_model_alone(path)) if path else None
    )


def _answer_of_solution(
    choice: Choice, free: Columns, columns: Columns, needed: list[str]
) -> Choice:
    """Return the `answer` beside a `solution` with its derivation, as in MATH, if another column is clearly the agent's."""
    if "agent_response" not in needed or normal(Path(choice.path).name) != "solution":
        return choice
    outer = around(choice.path)
    answer = next(
        (path for path in free if around(path) == outer and normal(Path(path).name) == "answer"),
        None,
    )
    is_separate = any(
        is_agents_column(path, values) or normal(Path(path).name) in PLAIN_NAMES
        for path, values in columns.items()
        if can_be("agent_response", path)
    )
    return choice._replace(path=answer) if answer and is_separate else choice


def _annotated(free: Columns, columns: Columns) -> Choice | None:
    """Return the `Final answer` of a data set that says who found it, as GAIA does; elsewhere this is a name of the agent's."""
    names = {normal(path): path for path in free}
    is_annotated = any(normal(path) == "annotatormetadata" for path in columns)
    return Choice(names["finalanswer"]) if is_annotated and "finalanswer" in names else None


def _beside_agents(free: Columns, columns: Columns) -> Choice | None:
    """Return a data set's own `output` or `response` beside a column that is always the agent's."""
    if not any(is_agents_column(path, columns[path]) for path in columns):
        return None
    plain = [
        path
        for path in free
        if normal(Path(path).name) in PLAIN_NAMES
        and not is_agents(path)
        and not is_agents_column(path, free[path])
        and can_be("expected_output", path)
    ]
    return Choice(_least_nested(plain), is_unsure=True) if plain else None


def _text_instead(choice: Choice, free: Columns) -> Choice:
    """Return the only text beside an element of a list, or the element as one that is not sure."""
    if not is_first_entry(choice.path):
        return choice
    outer = around(around(choice.path))
    texts = {path: values for path, values in free.items() if around(path) == outer}
    if outer and (text := _only_text_of_agent(texts)):
        return text
    name = normal(Path(choice.path).name)
    is_named = name in USUAL_NAMES["agent_response"] or has_word_for("agent_response", choice.path)
    return choice._replace(is_unsure=not is_named)


def _only_text_of_agent(free: Columns) -> Choice | None:
    """Return the only text within an object of what the agent wrote, whatever its name."""
    texts = [
        path
        for path, values in free.items()
        if is_agents(path)
        and can_be("agent_response", path)
        and not is_first_entry(path)
        and may_name_text(path)
        and all(value is None or isinstance(value, str) for value in values)
    ]
    return Choice(texts[0], is_unsure=True) if len(texts) == 1 else None


def _described(name: str, own: str, free: Columns, columns: Columns) -> dict[str, list[str]]:
    """Return the names by which each free path may hold a field."""
    only = _only_values(columns)
    return {
        path: [
            known
            for known in names_of(path, is_only=path in only)
            if known == own or can_be(name, path)
        ]
        for path in free
    }


def _named(names: list[str], described: dict[str, list[str]]) -> str | None:
    for known in names:
        if fitting := [path for path, given in described.items() if known in given]:
            return _least_nested(fitting)
    return None


def _least_nested(paths: list[str]) -> str:
    return min(paths, key=levels)


def _is_answer_within_asked(path: str) -> bool:
    """Return whether a path within what was asked is the answer, as in rows with all data of a case under `inputs`."""
    return is_asked(path) and normal(Path(path).name) in STRONG_IN_ASKED


def _only_values(columns: Columns) -> set[str]:
    """Return the paths of values that are alone in their objects."""
    inner: dict[str, set[str]] = {}
    for path in columns:
        if outer := around(path):
            inner.setdefault(outer, set()).add(path)
    only = {next(iter(paths)) for paths in inner.values() if len(paths) == 1}
    # The first of a list is the only value if its list is.
    return {path for path in only if not is_first_entry(path) or around(path) in only}


def is_around(path: str, values: list[Any], columns: Columns) -> bool:
    """Return whether cells hold JSON objects, of which one value says more than the whole."""
    if not any(isinstance(json_within(value), Mapping) for value in values):
        return False
    only = _only_values(columns)
    return any(
        around(inner) == path and (inner in only or is_value_name(inner)) for inner in columns
    )


def _other_response(columns: Columns) -> bool:
    """Return whether a column with a name that does not mean the expected answer too can be the response."""
    names = set(USUAL_NAMES["agent_response"])
    return any(
        is_agents(path)
        or (
            normal(Path(path).name) not in EITHER_NAMES
            and (normal(Path(path).name) in names or has_word_for("agent_response", path))
        )
        for path in columns
        if can_be("agent_response", path)
    )

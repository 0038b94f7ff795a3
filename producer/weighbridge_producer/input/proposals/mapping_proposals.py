"""Proposed mappings: columns that are likely the fields of a case; used only if the user accepts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.conversations import is_by_agent, is_conversation
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.mapping_text import mapping_of, value_of
from weighbridge_producer.input.mapping.missing_paths import listed
from weighbridge_producer.input.mapping.row_values import (
    ROW_NUMBER,
    Path,
    Template,
    Value,
    json_within,
)
from weighbridge_producer.input.proposals.agreeing_columns import agreeing_column
from weighbridge_producer.input.proposals.boolean_columns import boolean_columns
from weighbridge_producer.input.proposals.column_choice import is_around
from weighbridge_producer.input.proposals.column_names import is_for_groups, is_within_metadata
from weighbridge_producer.input.proposals.first_of_lists import list_of_answers, list_of_several
from weighbridge_producer.input.proposals.json_columns import json_column
from weighbridge_producer.input.proposals.named_columns import named_columns
from weighbridge_producer.input.proposals.proposed_ids import IS_SYNTAX, id_paths, unused_id
from weighbridge_producer.input.proposals.value_guesses import (
    guessed_answers,
    guessed_id,
    guessed_trace,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.proposals.agreeing_columns import AgreeingColumn
    from weighbridge_producer.input.proposals.named_columns import NamedColumns

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_ANSWERS = (_RESPONSE, _EXPECTED)
_DEPTH = 6  #: levels of a row that are searched for values
_PATHS_LIMIT = 200
_METADATA_MOST = 6
_METADATA_DEPTH = 2  #: levels of an object that are searched for metadata, unless it is named so
_METADATA_CHARACTERS = 60  #: longest value that is proposed as metadata


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping suggested by the first rows, and the fields that it lacks."""

    mapping: FieldMapping | None  #: None if no field was found
    fields: dict[str, str]  #: paths by field, for the fields found
    missing: tuple[str, ...]  #: fields without a matching column
    columns: tuple[str, ...] = ()  #: all paths in the first rows
    guessed: tuple[
        str, ...
    ] = ()  #: fields whose columns were chosen by their values, not their names
    doubted: tuple[str, ...] = ()  #: fields whose columns have names that may mean another one
    rivals: tuple[str, ...] = ()  #: columns that may be the agent's answer; empty if only one may
    expected_rivals: tuple[str, ...] = ()  #: the same for the expected answer
    leaves_out_answers: bool = False  #: True if only the first of several expected answers is taken
    notes: tuple[str, ...] = ()  #: what the first rows say against the proposal

    @property
    def text(self) -> str:
        """The proposal in the syntax of `--map`, with COLUMN for missing fields."""
        if self.mapping:
            return str(self.mapping)
        found = [f"{name}={path}" for name, path in self.fields.items()]
        return ",".join([*found, *(f"{name}=COLUMN" for name in self.missing)])

    @property
    def caution(self) -> str:
        """What to check before the proposal is used; empty if names support all of it."""
        sources = (
            (self.guessed, "the values, not from the names"),
            (self.doubted, "names that may mean either"),
        )
        notes = [
            f"{', '.join(fields)}: guessed from {source}, so check which is which"
            for fields, source in sources
            if fields
        ]
        if self.rivals:
            columns = f"{len(self.rivals)} columns may be the answer"
            notes.append(f"{_RESPONSE}: {columns}: {listed(self.rivals)}")
        if self.expected_rivals:
            columns = f"{len(self.expected_rivals)} columns may be the expected answer"
            notes.append(f"{_EXPECTED}: {columns}: {listed(self.expected_rivals)}")
        if self.leaves_out_answers:
            notes.append(
                f"{_EXPECTED}: only the first of several answers, because not every grader accepts more than one"
            )
        return "; ".join([*notes, *self.notes])


def propose(
    rows: Sequence[Row],
    needed: Sequence[str],
    *,
    has_only_texts: bool = False,
    joined: Sequence[str] = (),
    given: Mapping[str, str] = MappingProxyType({}),
    accepts_several: bool = False,
    booleans: frozenset[str] = frozenset(),
) -> Proposal:
    """Propose a mapping from the first rows for a case's id and the inputs that its graders need.

    `has_only_texts` says that cells are texts, so that an object in one was encoded as JSON when the file was written;
    in other files a text that is JSON is what a model wrote. The id is not one of a joined file, because a row without a
    match has none. `given` are the paths of inputs that are not looked for. `accepts_several` says that the expected output
    may be a list of texts, and `booleans` are the only texts that the answers may be, if not empty.
    """
    columns = _columns(rows)
    paths = tuple(columns)
    if has_only_texts:
        columns = {
            path: values for path, values in columns.items() if not is_around(path, values, columns)
        }
    own = {path: columns[path] for path in columns if path.partition(".")[0] not in joined}
    ids = id_paths(own, len(rows))
    custom_id = ids[-1] if ids else None
    wanted = [name for name in needed if name not in given]
    of_booleans = boolean_columns(columns, booleans)
    named = named_columns(columns, dict(given), wanted, custom_id, of_booleans)
    taken = named.paths
    guesses = {name: taken[name] for name in named.guessed}
    guessable = _with_special_forms(given, columns, rows)
    guesses |= _guesses(guessable, taken, custom_id, needed) if not of_booleans else {}
    taken |= guesses
    if not ids:
        codes = {path: values for path, values in own.items() if path not in taken.values()}
        if custom_id := guessed_id(codes, len(rows)):
            guesses["custom_id"] = custom_id
    is_template = len(ids) > 1
    identifying = (
        "/".join(f"{{{path}}}" for path in ids) if is_template else custom_id or ROW_NUMBER
    )
    taken = {"custom_id": identifying} | taken
    if in_json := json_column(taken, columns, accepts_several=accepts_several):
        taken[in_json.field] = in_json.path
    answers, are_several = list_of_answers(taken.get(_EXPECTED, ""), columns)
    free_ids = {path: values for path, values in own.items() if path not in taken.values()}
    unused = unused_id(free_ids, len(rows)) if identifying == ROW_NUMBER else None
    notes = [unused.note] if unused else []
    if set(_ANSWERS) <= {*needed} & taken.keys() and not of_booleans:
        free = [path for path in columns if path not in {custom_id, *ids}]
        better = agreeing_column(rows, free, taken[_RESPONSE], answers or taken[_EXPECTED])
        if better and _is_preferred(better, named, guesses):
            taken[better.field] = guesses[better.field] = better.path
            answers, are_several = list_of_answers(taken[_EXPECTED], columns)
        elif better:
            notes.append(better.note)
    if in_json and taken[in_json.field] == in_json.path:
        notes.append(in_json.note)
    if several := list_of_several(taken.get(_RESPONSE, ""), rows):
        notes.append(f"{_RESPONSE}: only the first of several answers in {several!r}")
    if not are_several and (several := list_of_several(taken.get(_EXPECTED, ""), rows)):
        notes.append(
            f"{_EXPECTED}: only the first of several entries of {several!r}, whichever of them is correct"
        )
    if answers and accepts_several:
        taken[_EXPECTED] = answers
    leaves_out_answers = are_several and not accepts_several
    special = {in_json.path: in_json.value} if in_json else {}
    guessed = tuple(name for name in taken if name in guesses)
    missing = tuple(name for name in needed if name not in taken)
    # One clear name among two says what the other one is.
    doubted = (*(named.weak if len(named.weak) > 1 or missing else ()), *named.unsure)
    found = Proposal(
        None,
        taken,
        missing,
        (*paths, *(path for path in special if path not in columns)),
        guessed,
        doubted,
        named.rivals,
        named.expected_rivals,
        leaves_out_answers,
        tuple(notes),
    )
    if missing:
        return found
    fields: list[tuple[str, Value]] = [
        (name, special.get(taken[name]) or Path(taken[name])) for name in needed
    ]
    fields.insert(0, ("custom_id", Template(identifying) if is_template else Path(identifying)))
    first = unused.path if unused else ""
    used = {path.text for _, value in fields for path in value.paths()}
    short = _metadata(columns, {*taken.values(), *used, first})
    further = [path for path in short if Path(path).name != Path(first).name]
    metadata = [path for path in (first, *further) if path][:_METADATA_MOST]
    fields += [("metadata", Path(path)) for path in metadata]
    return replace(found, mapping=mapping_of(fields))


def _is_preferred(better: AgreeingColumn, named: NamedColumns, guesses: Mapping[str, str]) -> bool:
    """Return whether the names allow a column as well as the chosen one, with which no row agrees."""
    is_open = better.field in {*named.weak, *named.unsure, *guesses} and better.is_named
    return better.has_several_texts and (
        is_open or better.path in (*named.rivals, *named.expected_rivals)
    )


def _with_special_forms(
    given: Mapping[str, str], columns: dict[str, list[Any]], rows: Sequence[Row]
) -> dict[str, list[Any]]:
    """Return columns with the values of special forms, such as `last_answer(messages)`, in place of what they come from."""
    values = {text: value_of(text) for text in given.values() if text not in columns}
    within = tuple(f"{path.text}." for value in values.values() for path in value.paths())
    kept = {path: texts for path, texts in columns.items() if not path.startswith(within)}
    return kept | {
        text: [value.of(row, number) for number, row in enumerate(rows, start=1)]
        for text, value in values.items()
    }


def _guesses(
    columns: dict[str, list[Any]],
    taken: Mapping[str, str],
    custom_id: str | None,
    needed: Sequence[str],
) -> dict[str, str]:
    """Return the paths, by their values, of inputs that have none by their names."""
    found: dict[str, str] = {}
    free = {path: values for path, values in columns.items() if path != custom_id}
    if "trace" in needed and "trace" not in taken and (path := guessed_trace(free)):
        found["trace"] = path
    if set(_ANSWERS) <= set(needed) and not set(_ANSWERS) <= taken.keys():
        paths = guessed_answers(free, *(taken.get(name) for name in _ANSWERS))
        pairs = zip(_ANSWERS, paths, strict=False)
        found |= {name: path for name, path in pairs if name not in taken}
    return found


def _columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Return the values of each path of the first rows."""
    found: dict[str, list[Any]] = {}
    for row in rows:
        for path, value in _leaves(row, "", 0):
            # An object with many entries must not hide the columns behind it.
            most = 2 * _PATHS_LIMIT if path in row else _PATHS_LIMIT
            if path in found or len(found) < most:
                found.setdefault(path, []).append(value)
    return found


def _leaves(value: Any, path: str, depth: int) -> Iterator[tuple[str, Any]]:
    if path:
        yield path, value
    if depth >= _DEPTH:
        return
    value = json_within(value)
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not path or not re.search(r"[./]", key):
                yield from _leaves(inner, f"{path}.{key}" if path else key, depth + 1)
    elif is_conversation(value):
        if is_by_agent(value[-1]):  # what others said is no answer
            yield from _leaves(value[-1], f"{path}.-1", depth + 1)
    elif isinstance(value, list) and value and isinstance(value[0], (Mapping, str)):
        yield from _leaves(value[0], f"{path}.0", depth + 1)


def _metadata(columns: dict[str, list[Any]], taken: set[str]) -> list[str]:
    """Return the paths to short values, those first chosen by which results can be grouped."""
    short: dict[str, str] = {}
    for path, values in columns.items():
        is_near = path.count(".") < _METADATA_DEPTH or is_within_metadata(path)
        if path not in taken and is_near and _is_metadata(path, values):
            short.setdefault(Path(path).name, path)
    ranks = {
        path: (_usefulness(columns[path]), not is_within_metadata(path)) for path in short.values()
    }
    chosen = sorted(ranks, key=lambda path: ranks[path])[:_METADATA_MOST]
    return [path for path in columns if path in chosen]


def _is_metadata(path: str, values: list[Any]) -> bool:
    return (
        not path.endswith(".0")
        and is_for_groups(path)
        and not IS_SYNTAX.search(path)
        and all(map(_is_short, values))
        and any(value not in {None, ""} for value in values)
    )


def _usefulness(values: list[Any]) -> int:
    """Return 0 for a column with several values that repeat, 1 for one of different values, 2 for a constant."""
    different = len(set(map(str, values)))
    if different == 1 < len(values):
        return 2
    return 0 if different < len(values) else 1


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        is_structure = isinstance(json_within(value), (dict, list))
        return len(value) <= _METADATA_CHARACTERS and not is_structure
    return not isinstance(value, (dict, list))

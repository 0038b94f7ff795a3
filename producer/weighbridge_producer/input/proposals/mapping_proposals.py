"""Proposed mappings: columns that are likely the fields of a case; used only if the user accepts."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.mapping_text import mapping_of, value_of
from weighbridge_producer.input.mapping.path_texts import around, is_within
from weighbridge_producer.input.mapping.row_values import (
    ROW_NUMBER,
    Path,
    Template,
    Value,
)
from weighbridge_producer.input.proposals.agreeing_columns import agreeing_column
from weighbridge_producer.input.proposals.boolean_columns import (
    boolean_columns,
    pointed_booleans_note,
)
from weighbridge_producer.input.proposals.column_choice import is_around
from weighbridge_producer.input.proposals.column_names import EITHER_NAMES, normal
from weighbridge_producer.input.proposals.column_values import (
    column_values,
    without_exceptions,
    without_null_markers,
)
from weighbridge_producer.input.proposals.first_entries import FirstEntries
from weighbridge_producer.input.proposals.first_of_lists import (
    how_to_pair,
    list_of_aliases,
    list_of_answers,
    parallel_lists,
)
from weighbridge_producer.input.proposals.json_columns import json_column
from weighbridge_producer.input.proposals.metadata_columns import METADATA_MOST, metadata_paths
from weighbridge_producer.input.proposals.named_columns import named_columns
from weighbridge_producer.input.proposals.proposal import Proposal
from weighbridge_producer.input.proposals.proposed_ids import id_paths, unused_id
from weighbridge_producer.input.proposals.separated_answers import separated_answers_note
from weighbridge_producer.input.proposals.trace_columns import (
    agents_messages,
    further_messages_note,
    trace_with_tools,
)
from weighbridge_producer.input.proposals.value_guesses import (
    guessed_answers,
    guessed_id,
    guessed_trace,
)
from weighbridge_producer.input.proposals.whole_objects import OBJECTS_NOTE, object_around

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row
    from weighbridge_producer.input.proposals.agreeing_columns import AgreeingColumn
    from weighbridge_producer.input.proposals.column_values import Columns
    from weighbridge_producer.input.proposals.json_columns import JsonColumn
    from weighbridge_producer.input.proposals.named_columns import NamedColumns
    from weighbridge_producer.input.proposals.proposed_ids import UnusedId
    from weighbridge_producer.input.proposals.trace_columns import TraceWithTools

_RESPONSE, _EXPECTED = "agent_response", "expected_output"
_ANSWERS = (_RESPONSE, _EXPECTED)
_TRACE = "trace"


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
    rows = without_null_markers(rows) if has_only_texts else rows
    all_columns = column_values(rows)
    columns = without_exceptions(all_columns)
    if has_only_texts:
        columns = {
            path: values for path, values in columns.items() if not is_around(path, values, columns)
        }
    own = {path: columns[path] for path in columns if Path(path).parts[0] not in joined}
    draft = _Draft(rows, needed, given, columns, own, boolean_columns(columns, booleans))
    draft.choose_columns()
    draft.leave_out_parts_of_answers()
    draft.take_tools_with_messages()
    draft.note_pointed_booleans(booleans)
    draft.read_json_cells(accepts_several=accepts_several)
    draft.replace_answers_that_never_agree()
    draft.leave_out_parallel_answers(accepts_several=accepts_several)
    return draft.proposal(tuple(all_columns), accepts_several=accepts_several)


@dataclass(slots=True)
class _Draft:
    """A proposal in the making."""

    rows: Sequence[Row]
    needed: Sequence[str]
    given: Mapping[str, str]
    columns: Columns
    own: Columns  #: those that come from no joined file
    booleans: Columns  #: those of two booleans, if the answers may only be such
    ids: tuple[str, ...] = field(init=False)  #: path to the id, and to what differs if it repeats
    custom_id: str | None = field(init=False)  #: the path to the id of an item
    named: NamedColumns = field(init=False)
    taken: dict[str, str] = field(init=False)  #: paths by field
    guesses: dict[str, str] = field(init=False)  #: those that were chosen by their values
    trace: TraceWithTools | None = field(init=False)
    in_json: JsonColumn | None = field(init=False)
    answers: str = field(init=False)  #: path of a list of expected answers, if there is one
    has_several: bool = field(init=False)  #: True if that has several answers in one of the rows
    further: str = field(init=False)  #: path of a list of further answers that is not taken
    parallel: tuple[str, ...] = field(default=(), init=False)
    notes: list[str] = field(default_factory=list)

    def choose_columns(self) -> None:
        """Choose the columns of the id and of the inputs by their names, and the rest by their values."""
        self.ids = id_paths(self.own, len(self.rows))
        self.custom_id = self.ids[0] if self.ids else None
        wanted = [name for name in self.needed if name not in self.given]
        self.named = named_columns(
            self.columns, dict(self.given), wanted, self.custom_id, self.booleans
        )
        inputs = self.named.paths
        self.guesses = {name: inputs[name] for name in self.named.guessed}
        if not self.booleans:
            columns = _with_special_forms(self.given, self.columns, self.rows)
            # A column that may be the agent's answer as well is not the expected one.
            rivals = {*self.named.rivals} - {inputs.get(_RESPONSE)}
            free = {path: values for path, values in columns.items() if path not in rivals}
            self.guesses |= _guesses(free, inputs, self.custom_id, self.needed)
        inputs |= self.guesses
        codes = {path: values for path, values in self.own.items() if path not in inputs.values()}
        if not self.ids and (custom_id := guessed_id(codes, len(self.rows))):
            self.custom_id = self.guesses["custom_id"] = custom_id
        self.taken = {"custom_id": str(self._id())} | inputs

    def leave_out_parts_of_answers(self) -> None:
        """Choose again without the parts of what was chosen for one of the answers if the other one is among them.

        The expected answer is the whole object if the agent's is one with the same fields.
        """
        answers = [self.taken[name] for name in _ANSWERS if name in self.taken]
        flat = {column for row in self.rows for column in row}
        for outer in answers:
            parts = {path for path in self.columns if path not in flat and is_within(path, outer)}
            if parts.intersection(answers):
                self.columns = {
                    path: values for path, values in self.columns.items() if path not in parts
                }
                self.own = {path: values for path, values in self.own.items() if path not in parts}
                self.booleans = {
                    path: values for path, values in self.booleans.items() if path not in parts
                }
                is_response = outer == self.taken[_RESPONSE]
                self.choose_columns()
                if is_response and _RESPONSE not in self.taken:
                    self.taken[_RESPONSE] = self.guesses[_RESPONSE] = outer
                break
        if not set(_ANSWERS) <= self.taken.keys() or self.given.keys() & set(_ANSWERS):
            return
        response, expected = (self.taken[name] for name in _ANSWERS)
        if whole := object_around(response, expected, self.rows):
            self.taken[_EXPECTED] = whole
            self.notes.append(OBJECTS_NOTE)

    def take_tools_with_messages(self) -> None:
        """Take the messages with what the agent did, and the definitions of tools in a column beside, or say why not."""
        path = self.taken.get(_TRACE, "") if _TRACE in self.needed else ""
        if path and _TRACE not in self.given:
            path = agents_messages(path, self.columns, is_guessed=_TRACE in self.guesses)
            self.taken[_TRACE] = path
        if note := further_messages_note(path, self.columns):
            self.notes.append(note)
        self.trace = trace_with_tools(path, self.columns, self.rows) if path else None
        if self.trace and self.trace.value:
            self.taken[_TRACE] = str(self.trace.value)
        elif self.trace:
            self.notes.append(self.trace.note)

    def note_pointed_booleans(self, words: frozenset[str]) -> None:
        """Note a column of 1.0 and 0.0 if an answer is missing that may only be one of the words for booleans."""
        missing = [name for name in _ANSWERS if name in self.needed and name not in self.taken]
        free = {
            path: self.columns[path] for path in self.columns if path not in self.taken.values()
        }
        if words and missing and (note := pointed_booleans_note(free, words)):
            self.notes.append(f"{' and '.join(missing)}: {note}")

    def _id(self) -> Path | Template:
        if len(self.ids) > 1:
            return Template("/".join(f"{{{path}}}" for path in self.ids))
        return Path(self.custom_id or ROW_NUMBER)

    def read_json_cells(self, *, accepts_several: bool) -> None:
        """Take the texts that cells hold as JSON, if those of one of the answers do."""
        self.in_json = json_column(self.taken, self.columns, accepts_several=accepts_several)
        if self.in_json:
            self.taken[self.in_json.field] = self.in_json.path
        self._look_for_several_answers()

    def _look_for_several_answers(self) -> None:
        path = self._path_of(_EXPECTED)
        self.further = ""
        self.answers, self.has_several = list_of_answers(path, self.columns)
        if self.answers or path not in self.columns:
            return
        aliases, has_all = list_of_aliases(path, self.columns)
        if aliases and has_all:
            self.answers, self.has_several = aliases, True
        self.further = "" if has_all else aliases

    def _path_of(self, name: str) -> str:
        """Return the path of an input; of alternatives for a cell with JSON, that of the first."""
        path = self.taken.get(name, "")
        is_in_json = self.in_json is not None and path == self.in_json.path
        return path.partition("|")[0] if is_in_json else path

    def replace_answers_that_never_agree(self) -> None:
        """Take or note a column that agrees with one of the answers, if the one that was chosen never does."""
        if not set(_ANSWERS) <= {*self.needed} & self.taken.keys() or self.booleans:
            return
        free = [path for path in self.columns if path not in {self.custom_id, *self.ids}]
        expected = self.answers or self.taken[_EXPECTED]
        better = agreeing_column(self.rows, free, self.taken[_RESPONSE], expected)
        is_rival = better and better.field == _EXPECTED and better.path in self.named.rivals
        if better is None or (is_rival and normal(Path(better.path).name) not in EITHER_NAMES):
            return
        if not is_rival and _is_preferred(better, self.named, self.guesses):
            self.taken[better.field] = self.guesses[better.field] = better.path
            self._look_for_several_answers()
        else:
            self.notes.append(better.note)

    def leave_out_parallel_answers(self, *, accepts_several: bool) -> None:
        """Leave out expected answers in a list beside one of as many answers: each may be that of one answer alone."""
        response, expected = (self._path_of(name) for name in _ANSWERS)
        self.parallel = parallel_lists(response, expected, self.rows)
        if not self.parallel:
            return
        how = how_to_pair(self.parallel)
        if accepts_several and self.answers:
            how += f"; if each of {self.answers!r} is accepted, map {_EXPECTED}={self.answers}"
        self.notes.append(f"{_EXPECTED}: {how}")
        del self.taken[_EXPECTED]
        self.guesses.pop(_EXPECTED, None)
        self.answers, self.has_several = "", False

    def proposal(self, paths: tuple[str, ...], *, accepts_several: bool) -> Proposal:
        """Return the proposal; `paths` are all in the first rows."""
        unused = self._unused_id()
        notes = [unused.note] if unused else []
        notes += [*self.notes, *self._notes_on_several(accepts_several=accepts_several)]
        if self.answers and accepts_several:
            single = self._path_of(_EXPECTED)
            if not around(single):
                notes.append(f"{_EXPECTED}: {self.answers!r} has the answers of {single!r} too")
            self.taken[_EXPECTED] = self.answers
        missing = tuple(name for name in self.needed if name not in self.taken)
        # One clear name among two says what the other one is.
        weak = self.named.weak if len(self.named.weak) > 1 or missing else []
        in_json = self.in_json.path if self.in_json else None
        return Proposal(
            None if missing else self._mapping(unused),
            self.taken,
            missing,
            paths if in_json is None or in_json in self.columns else (*paths, in_json),
            guessed=tuple(name for name in self.taken if name in self.guesses),
            doubted=tuple(name for name in (*weak, *self.named.unsure) if name in self.taken),
            rivals=self.named.rivals,
            expected_rivals=self.named.expected_rivals,
            parallel=self.parallel,
            accepts_several=accepts_several,
            leaves_out_answers=self.has_several and not accepts_several,
            notes=tuple(notes),
        )

    def _unused_id(self) -> UnusedId | None:
        if self.taken["custom_id"] != ROW_NUMBER:
            return None
        free = {path: self.own[path] for path in self.own if path not in self.taken.values()}
        return unused_id(free, len(self.rows))

    def _notes_on_several(self, *, accepts_several: bool) -> list[str]:
        """Return what is said of cells with JSON, and of several answers of which only the first is taken."""
        notes = []
        if self.in_json and self.taken[self.in_json.field] == self.in_json.path:
            notes.append(self.in_json.note)
        paths = {name: self._path_of(name) for name in ("custom_id", *_ANSWERS)}
        values = (self.columns.get(paths[name], []) for name in (_EXPECTED, _RESPONSE))
        if separated := separated_answers_note(paths[_EXPECTED], *values):
            notes.append(separated)
        if self.further:
            notes.append(f"{_EXPECTED}: without the further accepted answers in {self.further!r}")
        first = FirstEntries(
            paths, self.rows, is_whole=self.has_several, is_paired=bool(self.parallel)
        )
        return [*notes, *first.notes(accepts_several=accepts_several)]

    def _mapping(self, unused: UnusedId | None) -> FieldMapping:
        fields: list[tuple[str, Value]] = [("custom_id", self._id())]
        fields += [(name, self._value(self.taken[name])) for name in self.needed]
        used = {path.text for _, value in fields for path in value.paths()}
        # Repeats are grouped by the parts of an id.
        parts = self.ids if len(self.ids) > 1 else ()
        first = {Path(path).name: path for path in (unused.path if unused else "", *parts) if path}
        short = metadata_paths(self.columns, {*self.taken.values(), *used, *first.values()})
        further = [path for path in short if Path(path).name not in first]
        metadata = [*first.values(), *further][:METADATA_MOST]
        return mapping_of([*fields, *(("metadata", Path(path)) for path in metadata)])

    def _value(self, path: str) -> Value:
        if self.trace and path == str(self.trace.value):
            return self.trace.value or Path(path)
        return self.in_json.value if self.in_json and path == self.in_json.path else Path(path)


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
    outer = [path.text for value in values.values() for path in value.paths()]
    kept = {
        path: texts
        for path, texts in columns.items()
        if not any(is_within(path, each) for each in outer)
    }
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

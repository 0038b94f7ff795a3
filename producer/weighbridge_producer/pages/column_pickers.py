"""Form controls to assign columns of rows to fields of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.text import shorten
from weighbridge_producer.input.grader_inputs import USUAL_INPUTS, needed_inputs
from weighbridge_producer.input.mapping.known_datasets import shape_of
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.mapping.row_values import MISSING, ROW_NUMBER, Path, Template
from weighbridge_producer.input.rows.source_rows import excerpt_of
from weighbridge_producer.pages.forms import Entries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.first_rows import SeenRows
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row, Value
    from weighbridge_producer.input.proposals.proposal import Proposal

_PREFIX = "map."
_METADATA = "metadata"
_NO_INPUTS = ("custom_id", _METADATA)
_SAMPLE_CHARACTERS = 40
_NOT_IN_SHAPE = "rows of this shape usually have none; choose its column if yours do"


@dataclass(frozen=True, slots=True)
class Picker:
    """One field of a case, and the columns that can be assigned to it."""

    field: str
    chosen: tuple[str, ...]  #: paths; empty if none is chosen
    columns: tuple[str, ...]
    takes_many: bool = False

    @property
    def name(self) -> str:
        """The name of its form field."""
        return f"{_PREFIX}{self.field}"


@dataclass(frozen=True, slots=True)
class Picks:
    """The columns that were chosen with the pickers of a form."""

    paths: Mapping[str, tuple[str, ...]]  #: by field; empty for a picker without a choice

    @classmethod
    def of(cls, entries: Entries) -> Picks:
        """Return the choices in a form."""
        return cls(
            {
                name.removeprefix(_PREFIX): tuple(filter(None, paths))
                for name, paths in entries.items()
                if name.startswith(_PREFIX)
            }
        )

    @property
    def text(self) -> str:
        """The mapping; empty if no input has a column."""
        if not any(self.paths[name] for name in self.paths if name not in _NO_INPUTS):
            return ""
        return ",".join(f"{name}={path}" for name, paths in self.paths.items() for path in paths)


@dataclass(frozen=True, slots=True)
class ColumnPickers:
    """The pickers and layout for rows with custom columns."""

    layout: str  #: description of the file's layout
    pickers: tuple[Picker, ...]
    samples: dict[str, str]  #: the beginning of a column's first value, by its path
    #: what they are set to; None if there is something to choose first
    mapping: FieldMapping | None
    caution: str = ""  #: what to check in the proposed columns

    @property
    def key(self) -> str:
        """A key that is equal for equal pickers."""
        return "|".join([self.layout, *(p.field for p in self.pickers), *self.pickers[0].columns])

    @property
    def asks_for_traces(self) -> bool:
        """Whether a column with traces is to be chosen, and none is: the rows may be steps of a format of one's own."""
        return any(picker.field == "trace" and not picker.chosen for picker in self.pickers)

    def keep(self, picks: Picks) -> bool:
        """Return whether all columns that were chosen before can still be chosen."""
        return all(
            set(picks.paths.get(picker.field, ())) <= set(picker.chosen) for picker in self.pickers
        )


def pickers_of(
    seen: SeenRows,
    graders: Sequence[GraderSpec],
    mapping: FieldMapping | None,
    picks: Picks | None = None,
) -> ColumnPickers:
    """Return the pickers for rows, set to a mapping, or else to what was picked before and to the proposed columns.

    What was picked is kept for fields and columns that can still be picked.
    """
    proposal = seen.proposal
    columns = (ROW_NUMBER, *(proposal.columns if proposal else ()))
    fields = ("custom_id", *(needed_inputs(graders) or USUAL_INPUTS))
    found = _found(proposal, mapping)
    known = {} if mapping else _of_known_shape(found, fields, seen.rows, columns)
    picked = {} if mapping or picks is None else _still_offered(picks, fields, columns)
    found |= known | picked
    pickers = [
        Picker(name, texts, tuple(dict.fromkeys((*columns, *filter(_is_template, texts)))))
        for name, texts in ((name, found.get(name, ())[:1]) for name in fields)
    ]
    is_complete = all(picker.chosen for picker in pickers)
    pickers.append(Picker(_METADATA, found[_METADATA], columns[1:], takes_many=True))
    samples = {
        path: _sample_of(Template(path) if _is_template(path) else Path(path), seen.rows)
        for picker in pickers
        for path in picker.columns
    }
    used = mapping or (proposal.mapping if proposal and not known else None)
    if picked or (known and is_complete):
        text = Picks({picker.field: picker.chosen for picker in pickers}).text
        used = parse_mapping([text]) if text else None
    caution = ""
    if not mapping and not picked.keys() >= set(fields):
        lacking = [f"{name}: {_NOT_IN_SHAPE}" for name, paths in known.items() if not paths]
        caution = "; ".join(lacking) if known else proposal.caution if proposal else ""
    return ColumnPickers(str(seen.layout), tuple(pickers), samples, used, caution)


def _found(proposal: Proposal | None, mapping: FieldMapping | None) -> dict[str, tuple[str, ...]]:
    """Return the paths of a mapping, or else of a proposal, by field."""
    shown = mapping or (proposal.mapping if proposal else None)
    values = dict(shown.fields()) if shown else {}
    found = {name: _texts_of(value) for name, value in values.items()}
    if proposal and not shown:
        found = {name: (path,) for name, path in proposal.fields.items()}
    entries = [texts for name, texts in found.items() if name.startswith(f"{_METADATA}.")]
    return found | {_METADATA: tuple(path for texts in entries for path in texts)}


def _of_known_shape(
    found: Mapping[str, tuple[str, ...]],
    fields: Sequence[str],
    rows: Sequence[Row],
    columns: Sequence[str],
) -> dict[str, tuple[str, ...]]:
    """Return the paths of fields that a proposal has otherwise than the known shape of the rows; empty if there are none.

    Dataset examples of a tool have the expected answer where its results have the agent's.
    """
    shape = shape_of(rows)
    known = {} if shape is None else shape.inputs
    paths = {name: [path.text for path in value.paths()] for name, value in known.items()}
    taken = {path for each in paths.values() for path in each}
    wrong = [
        name for name in fields if name not in known and taken.intersection(found.get(name, ()))
    ]
    first = {name: next(filter(columns.__contains__, paths.get(name, ())), "") for name in fields}
    right = {
        name: (path,) for name, path in first.items() if path and (wrong or not found.get(name))
    }
    return {**dict.fromkeys(wrong, ()), **right}


def _still_offered(
    picks: Picks, fields: Sequence[str], columns: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return what was picked, without fields and columns that are not offered any more."""

    def is_offered(text: str) -> bool:
        paths = [path.text for path in Template(text).paths()] if _is_template(text) else [text]
        return set(paths) <= set(columns)

    picked = {name: picks.paths[name] for name in fields if name in picks.paths}
    kept = {name: paths for name, paths in picked.items() if all(map(is_offered, paths))}
    if kept:  # browsers send nothing for a list in which nothing is selected
        kept[_METADATA] = tuple(filter(is_offered, picks.paths.get(_METADATA, ())))
    return kept


def _texts_of(value: Value) -> tuple[str, ...]:
    """Return the paths of a value as texts; the whole text of a template, such as `{id}/{model}`."""
    return (
        (value.text,) if isinstance(value, Template) else tuple(path.text for path in value.paths())
    )


def _is_template(text: str) -> bool:
    return text.startswith("{") and len(list(Template(text).paths())) > 1


def _sample_of(path: Value, rows: Sequence[Row]) -> str:
    """Return the beginning of the first value at a path; empty if there is none."""
    values = (path.of(row, number) for number, row in enumerate(rows, start=1))
    value = next((value for value in values if value not in (MISSING, None, "")), "")
    text = value if isinstance(value, str) else excerpt_of(value)
    return shorten(" ".join(text[: 4 * _SAMPLE_CHARACTERS].split()), _SAMPLE_CHARACTERS)

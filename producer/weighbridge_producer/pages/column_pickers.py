"""Form controls to assign columns of rows to fields of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.text import shorten
from weighbridge_producer.input.mapping.row_values import MISSING, ROW_NUMBER, Path, Template
from weighbridge_producer.input.recognition import needed_inputs
from weighbridge_producer.input.rows.source_rows import excerpt_of
from weighbridge_producer.pages.forms import Entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.first_rows import Recognised
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row, Value

_PREFIX = "map."
_METADATA = "metadata"
_SAMPLE_CHARACTERS = 40


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
class ColumnPickers:
    """The pickers and layout for rows with custom columns."""

    layout: str  #: description of the file's layout
    pickers: tuple[Picker, ...]
    samples: dict[str, str]  #: the beginning of a column's first value, by its path
    caution: str = ""  #: what to check in the proposed columns

    @property
    def key(self) -> str:
        """A key that is equal for equal pickers."""
        return "|".join([self.layout, *(p.field for p in self.pickers), *self.pickers[0].columns])


def pickers_of(
    seen: Recognised, graders: Sequence[GraderSpec], mapping: FieldMapping | None
) -> ColumnPickers:
    """Return the pickers for rows, set to a mapping or else to the proposed columns."""
    proposal = seen.proposal
    columns = (ROW_NUMBER, *(proposal.columns if proposal else ()))
    shown = mapping or (proposal.mapping if proposal else None)
    values = dict(shown.fields()) if shown else {}
    found = {name: _texts_of(value) for name, value in values.items()}
    if proposal and not shown:
        found = {name: (path,) for name, path in proposal.fields.items()}
    metadata = tuple(
        path for name, texts in found.items() if name.startswith("metadata.") for path in texts
    )
    fields = ("custom_id", *needed_inputs(graders))
    chosen = {field: found.get(field, ())[:1] for field in fields}
    pickers = [
        Picker(field, texts, tuple(dict.fromkeys((*columns, *filter(_is_template, texts)))))
        for field, texts in chosen.items()
    ]
    pickers.append(Picker(_METADATA, metadata, columns[1:], takes_many=True))
    caution = proposal.caution if proposal and not mapping else ""
    samples = {
        path: _sample_of(Template(path) if _is_template(path) else Path(path), seen.rows)
        for picker in pickers
        for path in picker.columns
    }
    return ColumnPickers(str(seen.layout), tuple(pickers), samples, caution)


def _texts_of(value: Value) -> tuple[str, ...]:
    """Return the paths of a value as texts; the whole text of a template, such as `{model}/{id}`."""
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


def mapping_in(entries: Entries) -> str:
    """Return the mapping entered in a form, as text or with the pickers; empty if there is none."""
    written = entries.get("mapping", [""])[-1].strip()
    if written:
        return written
    picked = [
        f"{name.removeprefix(_PREFIX)}={path}"
        for name, paths in entries.items()
        if name.startswith(_PREFIX)
        for path in paths
        if path
    ]
    return ",".join(picked)

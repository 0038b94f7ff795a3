"""The layout of the rows of one tool, and the mapping of such rows to cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.expected_answers import ExpectedAnswers
from weighbridge_producer.input.mapping.field_mapping import FieldMapping
from weighbridge_producer.input.mapping.recorded_verdicts import RECORDED_VERDICT
from weighbridge_producer.input.mapping.row_values import MISSING, Value
from weighbridge_producer.input.mapping.special_forms import faulting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.mapping.field_mapping import OtherRows
    from weighbridge_producer.input.mapping.recorded_errors import RecordedError
    from weighbridge_producer.input.mapping.recorded_verdicts import RecordedVerdict
    from weighbridge_producer.input.mapping.row_values import Row


@dataclass(frozen=True, slots=True)
class Shape:
    """The layout of one tool's rows, and the fields of a case that they provide."""

    name: str
    has_shape: Callable[[Row], bool]
    custom_id: Value
    inputs: Mapping[str, Value]
    metadata: Mapping[str, Value]
    rows: str = ""  #: JSON Pointer to the list of rows in a document
    more_rows: str = ""  #: JSON Pointer to a list beside it, with the rows that have an error in place of an answer
    verdict: RecordedVerdict | None = None  #: the tool's own verdict
    entries: Value | None = None  #: an object whose entries become metadata
    error: RecordedError | None = None  #: what a row may have in place of an answer
    expected_list: Value | None = None  #: what may be a list of accepted answers
    others: OtherRows | None = None  #: the rows that are no cases
    has_sign: Callable[[Row], bool] | None = None  #: what at least one of the rows must be
    #: what to do if the rows lack a needed input, by its name; columns are proposed for others
    hints: Mapping[str, str] = field(default_factory=dict)

    def mapping(
        self, needed: Sequence[str], graders: Sequence[GraderSpec] = ()
    ) -> FieldMapping | None:
        """Return the mapping to the inputs that graders need; None if the shape lacks one of them."""
        if not all(name in self.inputs for name in needed):
            return None
        inputs = {name: self.inputs[name] for name in needed}
        verdict = {RECORDED_VERDICT: self.verdict} if self.verdict else {}
        return FieldMapping(
            self.custom_id,
            inputs,
            {**self.metadata, **verdict},
            entries=self.entries,
            rows=self.rows,
            name=self.name,
            error=self.error,
            others=self.others,
            change=ExpectedAnswers(self.expected_list, tuple(graders))
            if self.expected_list
            else None,
        )

    def lacking(self, rows: Sequence[Row], needed: Sequence[str]) -> list[str]:
        """Return those of the needed inputs that the shape has, but none of the rows, except rows with an error."""
        cases = [
            row
            for row in rows
            if not (self.error and self.error.fault(row, 1))
            and not (self.others and self.others.kind(row))
        ]
        values = {name: self.inputs[name] for name in needed if name in self.inputs}
        return [
            name
            for name, value in values.items()
            if cases and all(_lacks(value, row) for row in cases)
        ]


def _lacks(value: Value, row: Row) -> bool:
    """Return whether a row lacks a value, rather than having one that is a fault."""
    source = faulting(value)
    is_fault = source is not None and source.fault(row, 1) is not None
    return not is_fault and value.of(row, 1) in (MISSING, None)

"""The special forms on the right of a mapping: `choices[answer]`, `letter(...)`, `last_answer(messages)` and `json(column)`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.choice_columns import CHOICE_COLUMNS
from weighbridge_producer.input.mapping.choices import Choice, Letter
from weighbridge_producer.input.mapping.conversations import LastAnswer
from weighbridge_producer.input.mapping.json_cells import JsonCell
from weighbridge_producer.input.mapping.likelihood_choices import LikeliestChoice
from weighbridge_producer.input.mapping.promptfoo_assertions import EqualsAssertion
from weighbridge_producer.input.mapping.row_values import MISSING, FirstOf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.errors import Fault
    from weighbridge_producer.input.mapping.row_values import Row, Value

WRITTEN = "choices[answer], letter(...), last_answer(messages) and json(column)"
#: Forms for which a value of a row may be unfit, which is a fault of the row.
Selection = Choice | Letter | JsonCell | EqualsAssertion | LikeliestChoice
_Choosing = Choice | Letter


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Alternatives with special forms, of which a value that selects nothing is no fault, but an ambiguous one is."""

    before: tuple[Value, ...]  #: the alternatives before the last one that selects a choice
    last: Choice | Letter

    @classmethod
    def of(cls, values: Sequence[Value]) -> Alternatives | None:
        """Return the alternatives; None if none of them selects a choice."""
        choices = [place for place, value in enumerate(values) if isinstance(value, _Choosing)]
        if not choices:
            return None
        last = values[choices[-1]]
        return cls(tuple(values[: choices[-1]]), last) if isinstance(last, _Choosing) else None

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return the fault of the first alternative that is ambiguous, unless one before it has a value."""
        for value in self.before:
            if isinstance(value, _Choosing) and (fault := value.ambiguity(row, number)):
                return fault
            if value.of(row, number) not in (MISSING, None):
                return None
        return self.last.ambiguity(row, number)


def faulting(value: Value) -> Selection | Alternatives | None:
    """Return what says which rows have a value that is a fault; None if no row has one."""
    if isinstance(value, FirstOf):
        first = value.values[0]
        # What promptfoo compared is known from the assertion alone.
        return first if isinstance(first, EqualsAssertion) else Alternatives.of(value.values)
    return value if isinstance(value, Selection) else None


def form_of(text: str) -> Value | None:
    """Return the special form that a text is; None if it is none."""
    return (
        Choice.parse(text) or Letter.parse(text) or LastAnswer.parse(text) or JsonCell.parse(text)
    )


def is_clearly_a_form(text: str) -> bool:
    """Return whether a text is a special form and not a name with brackets, such as `score[{model}]`."""
    form = form_of(text)
    if isinstance(form, Choice):
        return form.choices.name.lower() in CHOICE_COLUMNS
    return form is not None

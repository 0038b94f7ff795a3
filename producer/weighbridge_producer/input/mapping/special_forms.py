"""The special forms on the right of a mapping: `choices[answer]`, `letter(...)`, `last_answer(messages)` and `json(column)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.choice_columns import CHOICE_COLUMNS
from weighbridge_producer.input.mapping.choices import Choice, Letter
from weighbridge_producer.input.mapping.conversations import LastAnswer
from weighbridge_producer.input.mapping.json_cells import JsonCell

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Value

WRITTEN = "choices[answer], letter(...), last_answer(messages) and json(column)"
#: Forms for which a value of a row may be unfit, which is a fault of the row.
Selection = Choice | Letter | JsonCell


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

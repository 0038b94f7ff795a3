"""The CSV of promptfoo: of earlier versions a cell holds the verdict and its reason before the output, of later ones the output.

Source: `outputToSimpleString` and `buildCsvHeaders` in `src/util` of github.com/promptfoo/promptfoo.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_HEADER = re.compile(r"\[[^\]]+\] ").match  #: the provider before the prompt
#: The columns after each output; a number is added to their names if there are several outputs.
_JUDGEMENT = re.compile(
    r"(?:Reasoning|Status|Score|Named Scores|Metric: .*|Grader Reason|Comment)(?:_\d+)?", re.DOTALL
).fullmatch
_STATUS = re.compile(r"Status(?:_\d+)?").fullmatch
_AFTER_STATUS = ("Score", "Named Scores")
_VERDICT = re.compile(r"\[(?:PASS|FAIL|ERROR)\]").match


def has_verdicts_in_cells(rows: Sequence[Row]) -> bool:
    """Return whether rows have a column of outputs as promptfoo's CSV has them, with a verdict in each cell."""
    return any(
        _HEADER(name) is not None and all(_begins_with_verdict(row.get(name)) for row in rows)
        for name in (rows[0] if rows else ())
    )


def outputs_of(rows: Sequence[Row]) -> list[str]:
    """Return the columns of outputs, each of which has a status and scores in those after it; none in other tables."""
    names = list(rows[0]) if rows else []
    outputs = []
    for place, name in enumerate(names):
        after = names[place + 1 : place + 1 + len(_AFTER_STATUS)]
        if _STATUS(name) and [each.rpartition("_")[0] or each for each in after] == [
            *_AFTER_STATUS
        ]:
            before = [each for each in names[:place] if not _JUDGEMENT(each)]
            outputs += before[-1:]
    return outputs


def without_judgements(rows: Sequence[Row], outputs: Sequence[str]) -> list[Row]:
    """Return rows with the first of the outputs, and without promptfoo's judgements of them."""
    left_out = {*outputs[1:], *(name for row in rows for name in row if _JUDGEMENT(name))}
    return [{name: row[name] for name in row if name not in left_out} for row in rows]


def _begins_with_verdict(cell: object) -> bool:
    return isinstance(cell, str) and _VERDICT(cell) is not None

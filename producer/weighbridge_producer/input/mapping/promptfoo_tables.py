"""The CSV of earlier versions of promptfoo, in which a cell holds the verdict and its reason before the output.

Source: `outputToSimpleString` in `src/util` of github.com/promptfoo/promptfoo.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_HEADER = re.compile(r"\[[^\]]+\] ").match  #: the provider before the prompt
_VERDICT = re.compile(r"\[(?:PASS|FAIL|ERROR)\]").match


def has_verdicts_in_cells(rows: Sequence[Row]) -> bool:
    """Return whether rows have a column of outputs as promptfoo's CSV has them, with a verdict in each cell."""
    return any(
        _HEADER(name) is not None and all(_begins_with_verdict(row.get(name)) for row in rows)
        for name in (rows[0] if rows else ())
    )


def _begins_with_verdict(cell: object) -> bool:
    return isinstance(cell, str) and _VERDICT(cell) is not None

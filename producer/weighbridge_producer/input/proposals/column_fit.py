"""Whether the values of a column fit a field of a case that its name allows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.row_values import Path
from weighbridge_producer.input.proposals.column_names import (
    USUAL_NAMES,
    can_be,
    has_word_for,
    is_always_agents,
    normal,
)
from weighbridge_producer.input.proposals.number_columns import (
    are_fractions,
    are_numbers,
    are_numbers_or_booleans,
    are_shares,
    is_number,
)

if TYPE_CHECKING:
    from weighbridge_producer.input.proposals.column_values import Columns

_AGREEMENT = "groundtruth"
_JUDGED = re.compile("correct$")  #: the end of the name of a judgement, such as `gpt-4o_correct`


def fits(name: str, path: str, values: list[Any]) -> bool:
    """Return whether values fit a field: a trace is structured, an answer is not, and a judgement is no expected answer."""
    present = [value for value in values if value is not None]
    if name == "trace":
        return any(
            isinstance(v, (dict, list)) or (isinstance(v, str) and v.lstrip()[:1] in "{[")
            for v in present
        )
    if name == "expected_output" and (is_judged := _JUDGED.search(normal(path))):
        # A text in a column `correct` may be the correct answer.
        is_all_of_name = is_judged.start() == 0
        is_judgement = are_numbers(present) if is_all_of_name else are_numbers_or_booleans(present)
        return not (is_judgement or all(isinstance(value, bool) for value in present))
    if name in USUAL_NAMES and not present:
        return False
    structured = sum(isinstance(value, (dict, list)) for value in present)
    return name not in USUAL_NAMES or not structured or structured * 2 < len(present)


def is_agents_column(path: str, values: list[Any]) -> bool:
    """Return whether a column is always the agent's by its name, and may be it by its values."""
    return (
        is_always_agents(path)
        and can_be("agent_response", path)
        and fits("agent_response", path, values)
    )


def is_measurement(path: str, columns: Columns) -> bool:
    """Return whether a column has numbers that are not whole, and the columns named as the agent's have no number."""
    if normal(Path(path).name) in USUAL_NAMES["expected_output"] or not are_fractions(
        columns[path]
    ):
        return False
    return _is_beside_texts(path, columns)


def is_score(path: str, columns: Columns) -> bool:
    """Return whether a column `Ground Truth` has scores from 0.0 to 1.0 beside texts: TruLens gives a score this name."""
    is_named = normal(Path(path).name) == _AGREEMENT
    return is_named and are_shares(columns[path]) and _is_beside_texts(path, columns)


def _is_beside_texts(path: str, columns: Columns) -> bool:
    """Return whether there are columns named as the agent's besides one at a path, and none of these has a number."""
    answers = [
        values for other, values in columns.items() if _may_be_agents(other) and other != path
    ]
    return bool(answers) and not any(is_number(value) for values in answers for value in values)


def _may_be_agents(path: str) -> bool:
    is_named = normal(Path(path).name) in USUAL_NAMES["agent_response"]
    return can_be("agent_response", path) and (is_named or has_word_for("agent_response", path))

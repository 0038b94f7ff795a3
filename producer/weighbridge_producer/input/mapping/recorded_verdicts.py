"""The verdict of the tool that wrote a row, which becomes metadata of the case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from weighbridge_producer.input.mapping.row_values import MISSING, Path, Row, json_within

RECORDED_VERDICT = "recorded_verdict"  #: its name in the metadata
_VALUE = "value"  #: key of the verdict in an assertion of pydantic-evals and in a score of Inspect
_WORDS: Mapping[Any, str] = {
    True: "pass",  # and 1, which is equal to it
    False: "fail",
    # Scores of Inspect; `P` is for a partly correct answer, which is neither.
    "C": "pass",
    "I": "fail",
    "N": "fail",
}


@dataclass(frozen=True, slots=True)
class RecordedVerdict:
    """`pass` or `fail` as a tool has recorded it: true or false, or an object of several checks that must all pass."""

    path: Path

    def of(self, row: Row, number: int) -> Any:
        """Return the verdict; MISSING if there is none, or a score that is neither."""
        value = json_within(self.path.of(row, number))
        checks = list(value.values()) if isinstance(value, Mapping) else [value]
        words = {_word(check) for check in checks}
        if not words or None in words:
            return MISSING
        return "fail" if "fail" in words else "pass"

    def paths(self) -> Iterable[Path]:
        """Return the path of the verdict."""
        return (self.path,)

    def __str__(self) -> str:
        return str(self.path)


def _word(check: Any) -> str | None:
    """Return the verdict of a check; None for other values."""
    value = check.get(_VALUE) if isinstance(check, Mapping) else check
    return _WORDS.get(value) if isinstance(value, (bool, int, float, Decimal, str)) else None

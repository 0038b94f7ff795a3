"""Errors that rows of other tools record in place of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import shorten
from weighbridge_producer.input.mapping.row_values import MISSING, FirstOf, Path, json_within

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Row, Value

_WIDTH = 300


@dataclass(frozen=True, slots=True)
class RecordedError:
    """The error of a row, as text; MISSING if the row has none, or an answer in spite of it.

    `outcome` is the path of a word that is not one of `good` if the row has an error. `answer` is the path of an answer.
    """

    who: str  #: what recorded the error
    errors: FirstOf
    outcome: Path | None = None
    good: frozenset[str] = frozenset()
    answer: Value | None = None
    takes_empty: bool = False  #: True if an empty answer is one

    def of(self, row: Row, number: int) -> Any:
        """Return the code and the message of the error."""
        answer = self.answer.of(row, number) if self.answer else MISSING
        if answer not in (MISSING, None) and (self.takes_empty or answer != ""):
            return MISSING
        outcome = self.outcome.of(row, number) if self.outcome else MISSING
        word = outcome if isinstance(outcome, str) and outcome not in self.good else ""
        error = json_within(self.errors.of(row, number))
        said = "" if error is MISSING else _words(error)
        words = ": ".join(dict.fromkeys(filter(None, (word, said))))
        return words or MISSING

    def paths(self) -> Iterable[Path]:
        """Return the paths of the error, the outcome and the answer."""
        more = self.answer.paths() if self.answer else ()
        return [*self.errors.paths(), *([self.outcome] if self.outcome else []), *more]

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return the fault of a row with an error; None for others."""
        words = self.of(row, number)
        if words is MISSING:
            return None
        message = f"{self.who} recorded an error in place of an answer: {shorten(words, _WIDTH)}"
        return Fault(ErrorCode.NO_ANSWER, message, "run it again, and grade the new answer")


def _words(error: Any) -> str:
    """Return the code and the message of an error, also of one within another."""
    if isinstance(error, str):
        return error.strip()
    if not isinstance(error, Mapping):
        return ""
    inner = error.get("error")
    if isinstance(inner, Mapping):
        return _words(inner)
    code = error.get("code") or error.get("type") or error.get("errorCode")
    texts = [code, error.get("message") or error.get("errorMessage")]
    return ": ".join(str(text).strip() for text in texts if isinstance(text, (str, int)) and text)

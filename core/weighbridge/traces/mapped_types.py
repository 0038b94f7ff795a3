"""The types of the steps of a mapped trace, by the words that stand for them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, get_args

from weighbridge.traces.model import StepType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STEP_TYPES: tuple[str, ...] = get_args(StepType)
#: Values in `types`, besides the step types: for an item that is the result of a call, and for one that is left out.
RESULT, SKIP = "result", "skip"
#: Keys in `types`: for all words without a key of their own, and for items without a word.
OTHERWISE, NOTHING = "*", ""


class StepTypes:
    """Finds the type of a step by its words: a whole word, the beginning of one (`tool_*`), any other, or none at all."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types
        beginnings = (word[:-1] for word in types if word.endswith("*") and word != OTHERWISE)
        #: Lengths of the beginnings, the longest first, so that thousands of them are not tried one by one.
        self._lengths = sorted(set(map(len, beginnings)), reverse=True)

    def of(self, words: Iterable[Any]) -> tuple[str | None, Any]:
        """Return the type of a step, and the first of its words; the type of an unknown word or of none may be None, too."""
        first = None
        for word in words:
            if kind := self._known(word_text(word)):
                return kind, word
            if first is None and word != NOTHING:
                first = word
        return self._types.get(NOTHING if first is None else OTHERWISE), first

    def _known(self, word: str | None) -> str | None:
        if not word:
            return None
        if word in self._types:
            return self._types[word]
        for length in self._lengths:
            if length <= len(word) and (kind := self._types.get(f"{word[:length]}*")):
                return kind
        return word if word in STEP_TYPES else None


def word_text(word: Any) -> str | None:
    """Return a word as a text: a number or boolean in its JSON form, of which 1 and 1.0 are one; None for any other value."""
    if type(word) is str:
        return word
    if type(word) is float and word.is_integer():
        word = int(word)
    return json.dumps(word) if type(word) in {bool, int, float} else None

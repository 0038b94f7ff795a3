"""The words of a text, in any script."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"[^\W_]{1,40}")
#: Letters of scripts without spaces between words: Thai and Lao, Japanese and Chinese.
_unspaced = re.compile("[\u0e01-\u0edf\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff]").search


def words_in(text: str, word: re.Pattern[str] = _WORD) -> list[str]:
    """Return the words of a text; each two letters in sequence stand for a word in a script without spaces between words."""
    words = word.findall(text)
    return words if text.isascii() or not _unspaced(text) else [*_parted(words)]


def _parted(words: list[str]) -> Iterator[str]:
    for word in words:
        if len(word) > 1 and _unspaced(word):
            yield from map("".join, pairwise(word))
        else:
            yield word

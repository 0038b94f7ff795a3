"""Texts that end a derivation with the marked answer, as those of GSM8K do (`... #### 17`), beside answers alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.answer_sides import Side

MARK = "####"
_MARKED = re.compile(rf"{MARK}[ \t]*\S[^\n]*\Z").search
_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII).fullmatch
_SHOWN = 40  #: last characters of a value


def marked_hint(side: Side, other: Side) -> str:
    """Return how to compare only the marked answers of a side, if those of the other have no mark; empty if they have."""
    if not side.are(_MARKED) or not other.has_few(_has_mark):
        return ""
    text = side.those(_MARKED)[0]
    shown = text if len(text) <= _SHOWN else f"...{text[-_SHOWN:]}"
    most = "" if len(side.those(_MARKED)) == len(side.present) else "mostly "
    is_plain = side.is_path and _PLAIN_PATH(side.source)
    jq = f"in JSON Lines with jq -c '.{side.source} |= (split(\"{MARK} \") | last)' FILE > COPY, "
    return (
        f"{side.field} has {most}derivations before the answer, such as {shown!r}, and {other.field} no {MARK}: they cannot be"
        f" equal; keep only what follows the mark in a copy, {jq if is_plain else ''}in pandas with"
        f' .str.split("{MARK} ").str[-1]'
    )


def _has_mark(text: str) -> bool:
    return MARK in text

"""Texts that end a derivation with the marked answer, as those of GSM8K do (`... #### 17`), beside answers alone."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from weighbridge_producer.input.mapping.answer_sides import Side

MARK = "####"
_MARKED = re.compile(rf"{MARK}[ \t]*\S[^\n]*\Z").search
_PLAIN_PATH = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII).fullmatch
_SHOWN = 40  #: last characters of a value


def marked_hint(side: Side, other: Side, joined: Mapping[str, str]) -> str:
    """Return how to compare only the marked answers of a side, if those of the other have no mark; empty if they have.

    `joined` are the joined files by the names under which rows have their fields.
    """
    if not side.are(_MARKED) or not other.has_few(_has_mark):
        return ""
    text = side.those(_MARKED)[0]
    shown = text if len(text) <= _SHOWN else f"...{text[-_SHOWN:]}"
    most = "" if len(side.those(_MARKED)) == len(side.present) else "mostly "
    name, _, inner = side.source.partition(".")
    is_joined = bool(inner) and name in joined
    path, file = (inner, joined[name]) if is_joined else (side.source, "FILE")
    of = f" of the joined {file}" if is_joined else ""
    is_plain = side.is_path and _PLAIN_PATH(path)
    jq = f"in JSON Lines with jq -c '.{path} |= (split(\"{MARK} \") | last)' {shlex.quote(file)} > COPY, "
    return (
        f"{side.field} has {most}derivations before the answer, such as {shown!r}, and {other.field} no {MARK}: they cannot be"
        f" equal; keep only what follows the mark in a copy{of}, {jq if is_plain else ''}in pandas with"
        f' .str.split("{MARK} ").str[-1]'
    )


def _has_mark(text: str) -> bool:
    return MARK in text

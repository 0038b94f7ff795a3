"""Which trace formats a name may mean that is not the id of one, such as that of a program which writes one of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from weighbridge.text import closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.importer import Importer

_SHOWN = 5
_WHOLE_NAME = 1_000  #: weight of a mention in an id or name, above any number in descriptions
_CHARACTERS = 80  #: of a name that are looked for
_words = re.compile(r"[\W_]+")


def formats_meant(text: str, importers: Sequence[Importer]) -> list[str]:
    """Return the ids of the formats that a name may mean: a misspelt id, then those that mention it, most often first."""
    wanted = _spelt(text[:_CHARACTERS])
    mentions = {importer.id: _mentions(wanted, importer) for importer in importers}
    found = sorted(mentions, key=mentions.__getitem__, reverse=True)
    guess = closest(text, mentions)
    named = [guess] if guess else []
    return list(dict.fromkeys([*named, *(name for name in found if mentions[name])]))[:_SHOWN]


def _mentions(wanted: str, importer: Importer) -> int:
    if not wanted.strip():
        return 0
    names = _spelt(f"{importer.id} {importer.name}").count(wanted)
    fields = " ".join(f"{ours} {theirs}" for ours, theirs in importer.fields)
    described = _spelt(f"{importer.tried_on or ''} {importer.lacks or ''} {fields}").count(wanted)
    return names * _WHOLE_NAME + described


def _spelt(text: str) -> str:
    """Return a text as words between single blanks, whatever separates them."""
    return f" {_words.sub(' ', text.lower()).strip()} "

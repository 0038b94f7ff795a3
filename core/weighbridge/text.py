"""Text for people: counts with their nouns, guesses at misspelt names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_COMPARED_CHARACTERS = 256
_LEAST_LIKENESS = 65.0  #: of 100, for one name to be a slip of the other


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun: "1 job", "2 jobs"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that a misspelt one most likely meant."""
    from rapidfuzz import fuzz, process  # quick on any names; most processes never need it

    names = list(known)
    compared = [known_name[:_COMPARED_CHARACTERS] for known_name in names]
    match = process.extractOne(
        name[:_COMPARED_CHARACTERS], compared, scorer=fuzz.ratio, score_cutoff=_LEAST_LIKENESS
    )
    return names[match[2]] if match else None


def did_you_mean(guess: str | None, before: str = "; ", after: str = "") -> str:
    """Return the question whether a name was meant, between what sets it off; empty without a guess."""
    return f"{before}did you mean {guess!r}?{after}" if guess else ""

"""How many examples Hypothesis generates, by what the run asks for."""

from __future__ import annotations

from hypothesis import settings

_USUAL = 100  #: of a test that does not say how many


def examples(count: int) -> int:
    """Return so many, or as much fewer as the profile has fewer than usual."""
    return max(1, count * settings().max_examples // _USUAL)

"""Kinds of loops in words."""

from pathlib import Path

import pytest

from weighbridge.graders.loop.reporting import loop_kinds
from weighbridge.graders.loop.reporting.loop_kinds import in_words


@pytest.mark.parametrize(
    ("kind", "period", "words"),
    [
        ("identical", 1, "the same step"),
        ("cycle", 3, "the same 3 steps in the same order"),
        ("cycle", None, "the same steps in the same order"),
        ("nothing_new", None, "calls that brought nothing new,"),
        ("of_a_plug_in {steps}", 2, "of_a_plug_in {steps}"),
    ],
)
def test_a_kind_is_said_in_words(kind: str, period: int | None, words: str) -> None:
    assert in_words(kind, period) == words


def test_every_kind_that_the_reference_lists_has_words() -> None:
    page = Path(__file__).resolve().parents[5] / "docs/reference/graders/loop.md"
    table = page.read_text("utf-8").partition("| `kind` |")[2].partition("\n\n")[0]
    listed = {
        kind.strip(" `") for row in table.splitlines()[2:] for kind in row.split("|")[1].split(",")
    }
    assert listed == set(loop_kinds._WORDS)

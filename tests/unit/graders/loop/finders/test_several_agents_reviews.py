"""Reviews of one of several agents that find the same fault again and again."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

FAULT = "<COMMENT> The code is missing the `moor` method of the ferry."
REMARKS = (
    "It ties the ferry to the pier with a rope. To fix this, add the method to the class.",
    "It should tie the ferry to the pier with a rope. Please add the method to the class.",
    "It ties the ferry to a pier with the rope. To fix this, write the method in the class.",
    "To fix this, add the method to the class, so that it ties the ferry to the pier with a rope.",
    "It ties the ferry to the pier by a rope. To fix this, please add the method to the class.",
)
PARTS = ("bell", "deck", "mast", "keel", "buoy")


def reviews(count, fault=FAULT, remarks=REMARKS, code="class {part}:\n    size = {size}"):
    """Return reviews, each after code that is a little different."""
    steps = []
    for at in range(count):
        review = f"{fault.format(part=PARTS[at])}\n\n{remarks[at]}"
        written = "\n".join(
            code.format(part=part, size=at * number, at=at) for number, part in enumerate(PARTS)
        )
        steps += [("Programmer", f"```python\n{written}\n```"), ("Reviewer", review), ("Reviewer", "<INFO> Finished.")]  # fmt: skip
    return steps


def rules(said, **config):
    steps = [
        {"id": f"s{at}", "type": "llm", "name": name, "output": text}
        for at, (name, text) in enumerate(said, 1)
    ]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": steps})
    return [(loop["rule"], loop["observed"]) for loop in result["details"]["loops"]]


def test_more_than_max_repeats_reviews_that_begin_with_the_same_fault_are_a_loop():
    assert rules(reviews(4)) == [("repeated_review", 4)]
    assert rules(reviews(3)) == []
    assert rules(reviews(3), max_repeats=2) == [("repeated_review", 3)]


def test_one_other_review_may_lie_between_two():
    other = (
        "Reviewer",
        "<INFO> The method is there now, and it does what it should. Thank you for that!",
    )
    assert rules([*reviews(3), other, *reviews(5)[9:]]) == [("repeated_review", 5)]
    assert rules([*reviews(3), other, other, *reviews(5)[9:]]) == []


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(reviews(5, "<COMMENT> The code is missing the `{part}` method of the ferry."), id="other faults"),
        pytest.param(reviews(5, "<COMMENT> There are some errors in this part of the code:", [
            "The bell rings at noon only.", "A deck has no number.", "Masts fall over in wind.", "Keels of boats leak.", "Rename buoys."]), id="other details"),
        pytest.param(reviews(5, "<COMMENT> I have read the code of the ferry once more:"), id="no fault"),
        pytest.param(reviews(5, "<COMMENT> An error is left."), id="a short sentence"),
        pytest.param([("Agent", text) for name, text in reviews(3)], id="one agent"),
        pytest.param(reviews(5, code="{part}{at}_{at}{part}"), id="other work"),
    ],
)  # fmt: skip
def test_other_reviews_are_no_loop(said):
    assert rules(said) == []

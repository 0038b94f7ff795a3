"""Screens that a model transcribes with different words each time: a repeated screen is not new."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

WORDINGS = [
    "Overview News Events Financials\nNews\nSelect Year:\n2024\n2023\n2022\nDecember 23, 2024\nA station loses its programs",
    "Sure, here is the text of the page:\n---\nfubo\nOverview News Events Financials\nNews\nSelect Year: 2024\nDecember 23, 2024\nA station loses its programs",
    "fubo Overview   News   Events   Financials\n\nNews\nSelect Year:\n2024\n2023\n2022\n\nDecember 23, 2024\nA station loses its programs",
    "OVERVIEW NEWS EVENTS FINANCIALS. News. Select Year: 2024, 2023, 2022. December 23, 2024: a station loses its programs.",
]


def click(shown, seen="14%", at="Select Year:"):
    told = f"I clicked '{at}'. Here is a screenshot of [News](https://example.org/news). The viewport shows {seen} of the page.\n"
    output = (
        f"{told}Automatic OCR of the page screenshot has detected the following text:\n\n{shown}"
    )
    return {"type": "tool", "name": "click", "arguments": {"target": at}, "output": output}


def loops(steps):
    said = [
        {
            "type": "llm",
            "name": "Orchestrator",
            "output": f"Please select the year, in words of round {at}, {'again ' * at}.",
        }
        for at in range(len(steps))
    ]
    mixed = [step for pair in zip(said, steps, strict=True) for step in pair]
    given = [{"id": f"s{at}", **step} for at, step in enumerate(mixed, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_one_screen_in_four_wordings_is_one_screen():
    assert loops([click(shown) for shown in WORDINGS]) == [("noisy_results", 4)]
    assert loops([click(shown) for shown in WORDINGS[:3]]) == []


def test_another_number_is_another_screen():
    months = [
        f"Calendar\nMonday Tuesday Friday\n{month} 2024\n1 2 3 4 5 6 7" for month in (8, 9, 10, 11)
    ]
    floors = [
        f"Calendar\nMonday Tuesday Friday\nFloor {floor}\n1 2 3 4 5 6 7"
        for floor in (31, 32, 33, 34)
    ]
    assert loops([click(shown) for shown in months]) == []
    assert loops([click(shown) for shown in floors]) == []


def test_another_part_of_the_page_is_another_screen():
    assert loops([click(WORDINGS[0], seen=f"{at}%") for at in (14, 28, 42, 56)]) == []


def test_other_words_are_another_screen():
    pages = [f"{animal} {plant} {stone}" for animal, plant, stone in
             (("owl", "oak", "flint"), ("hen", "fir", "slate"), ("cat", "elm", "chalk"), ("bee", "ash", "quartz"))]  # fmt: skip
    assert loops([click(page) for page in pages]) == []

"""Which calls are the same: by their arguments, and by their results where results are compared."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

ASKED = "please check at which time the office in Paris opens and closes today"
#: The same request with a misspelled word.
MISSPELLED = [
    ASKED,
    ASKED.replace("which", "whichh"),
    ASKED.replace("please", "pleese"),
    ASKED.replace("time", "tyme"),
    ASKED.replace("closes", "clozes"),
]


def ask(text, output=None):
    step = {"type": "tool", "name": "ask", "arguments": {"q": text}}
    return step if output is None else {**step, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_misspelled_requests_with_one_result_are_the_same():
    steps = [ask(text, "It opens at 9 and closes at 5.") for text in MISSPELLED]
    assert kinds(steps, similarity_threshold=0.8) == [("near_identical", 5)]


def test_misspelled_requests_whose_results_only_begin_alike_are_different():
    asked = "at the office of paris please check {} the weather and report daily at"
    found = "Order 9 of the {} is in the list of the office and it opens at seven today"
    steps = [
        ask(asked.format(day), found.format(place))
        for day, place in [
            ("today", "yard"), ("todayx", "door gate"), ("todaye", "gate"), ("today", "yard"), ("today", "door gate"),
            ("todays", "yard"), ("todayz", "yard"), ("today", "door gate"), ("todayx", "yard"),
        ]
    ]  # fmt: skip
    assert kinds(steps) == []


def test_misspelled_requests_without_results_are_different_unless_results_are_not_compared():
    steps = [ask(text) for text in MISSPELLED]
    assert kinds(steps, similarity_threshold=0.8) == []
    assert kinds(steps, similarity_threshold=0.8, compare_results=False) == [("near_identical", 5)]


def test_requests_of_the_same_words_are_the_same_without_results_too():
    words = ASKED.split()
    steps = [ask(" ".join(words[at:] + words[:at])) for at in range(5)]
    assert kinds(steps) == [("near_identical", 5)]


def test_results_that_are_not_compared_make_no_difference():
    steps = [
        ask(text, f"answer of {word}")
        for text, word in zip(MISSPELLED, ASKED.split(), strict=False)
    ]
    assert kinds(steps, similarity_threshold=0.8) == []
    assert kinds(steps, similarity_threshold=0.8, compare_results=False) == [("near_identical", 5)]


def test_nothing_found_is_one_outcome_in_whatever_few_words():
    said = ["No Results", "No results found.", "No matches found", "Nothing found"]
    assert kinds([ask("x", text) for text in said]) == [("identical", 4)]
    for last in ("Found 1 result: y", "No results in the second shard"):
        assert kinds([ask("x", text) for text in [*said[:3], last]]) == []
    shards = [f"No matches in shard {name}" for name in ("alpha", "beta", "gamma", "delta")]
    assert kinds([ask("x", text) for text in shards]) == []

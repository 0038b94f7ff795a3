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


UPDATED = "The file /srv/port/berths.py has been updated successfully, and is shown below."


def test_calls_that_write_are_not_compared_if_what_they_write_is_not_recorded():
    edits = [{"type": "tool", "name": "Edit", "output": UPDATED} for _ in range(40)]
    assert kinds(edits) == []
    shown = f"{UPDATED} 12: berths = 7"
    look = {"type": "tool", "name": "look", "arguments": {"at": 7}, "output": shown}
    assert kinds([step for edit in edits for step in (edit, look)]) == []
    assert kinds([{**edit, "name": "look_up", "output": shown} for edit in edits[:4]]) == [
        ("identical", 4)
    ]


def test_calls_that_write_are_not_compared_by_the_name_of_a_file_alone():
    def shown(text, output=""):
        step = {"type": "tool", "name": "edit_file", "arguments": text, "output": output}
        return {**step, "arguments_as_shown": True}

    named = "Edit file: /srv/port/berths.py\n\n</details>"
    assert kinds([shown(named)] * 6) == kinds([shown(named, UPDATED)] * 6) == []
    whole = f"{named}\n```diff\n- a = 1\n+ a = 2\n```"
    assert kinds([shown(whole)] * 6) == [("identical", 6)]
    refused = "Error: the text to replace was not found in the file"
    assert kinds([shown(named, refused)] * 6) == [("identical", 6)]

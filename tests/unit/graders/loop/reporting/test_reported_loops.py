"""How alike the steps of a reported loop are: each compared with the step that it repeats, up to a number of steps."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

SAID = "I have looked at the order again, and it is still in the state in which it was before."


def loop_of(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    [loop] = result["details"]["loops"]
    return loop


def said(text):
    return {"type": "llm", "output": text}


def called(name, value, output):
    return {"type": "tool", "name": name, "arguments": {"value": value}, "output": output}


@pytest.mark.parametrize(("number", "is_compared"), [(11, True), (200, True), (201, False)])
def test_two_hundred_steps_of_a_loop_are_compared(number, is_compared):
    steps = [said(SAID) for _ in range(205)]
    steps[number - 1] = said(SAID.replace("looked", "lookked"))
    assert (loop_of(steps)["min_similarity"] < 1) == is_compared


@pytest.mark.parametrize(("number", "is_compared"), [(10, True), (11, False)])
def test_ten_steps_of_a_loop_of_similar_steps_are_compared(number, is_compared):
    guesses = [
        *("s3cur3_r4nd0m", "w3_h0p3", "r3v3rs1ng", "unl1m1t3d", "0v3rfl0w", "ult1m4te"),
        *("subw4ys", "fr33_r1d3s", "l33t", "gu3ss3d", "m0r3_0f_1t", "l4st_0n3"),
    ]
    guesses[number - 1] = "a_much_longer_guess_than_all_of_the_others_" * 3
    loop = loop_of([called("submit_flag", f"flag{{{guess}}}", "Wrong flag!") for guess in guesses])
    assert (loop["kind"], loop["repeats"]) == ("same_failure", 12)
    assert (loop["min_similarity"] < 0.2) == is_compared


def test_each_step_is_compared_with_the_one_that_it_repeats():
    texts = [SAID]
    for word, misspelled in (("looked", "lookked"), ("order", "orrder"), ("still", "stiill")):
        texts.append(texts[-1].replace(word, misspelled))
    little_by_little = loop_of(map(said, texts))["min_similarity"]
    at_once = loop_of(map(said, [texts[0], texts[-1]] * 2))["min_similarity"]
    assert at_once < little_by_little < 1


def test_steps_are_only_as_alike_as_their_results():
    tried = [
        *(("content", "name", "Sky"), ("all", "serial", "Sea"), ("id", "serial", "Sky")),
        *(("id", "name", "Sea"), ("content", "serial", "Sea"), ("id", "name", "Sea")),
    ]
    steps = [
        called(
            "run_sql",
            f"SELECT {selected} FROM all_the_channels_of_the_previous_year WHERE {column} = '{value}'",
            f"Error: no '{column}'",
        )
        for selected, column, value in tried
    ]
    loop = loop_of(steps)
    assert loop["kind"] == "nothing_new"
    assert loop["min_similarity"] < 0.8


@pytest.mark.parametrize(("number", "is_told"), [(200, True), (201, False)])
def test_noise_is_told_of_two_hundred_results_of_a_loop(number, is_told):
    steps = [called("poll", "x", "pending at 10:00:01") for _ in range(205)]
    steps[number - 1] = called("poll", "x", "pending at 10:00:02")
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    [entry] = LoopGrader().grade({"format": "weighbridge", "steps": given})["evidence"]
    assert ("ignoring noise in results" in entry["description"]) == is_told

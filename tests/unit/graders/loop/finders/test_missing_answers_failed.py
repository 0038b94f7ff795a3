"""Model calls that fail the same way again and again, without an answer and without a call."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

FAILS = {"type": "llm", "error": "429: the quota is used up, retry in 31 s"}


def kinds(*steps, **config):
    given = [
        {"id": f"s{at}", **(step if type(step) is dict else {"type": "llm", "output": step})}
        for at, step in enumerate(steps, 1)
    ]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_two_more_than_three_times_max_repeats_model_calls_that_fail_the_same_way_are_a_loop():
    failing = [{**FAILS, "error": FAILS["error"].replace("31", str(at))} for at in range(11)]
    assert kinds(*failing) == [("failed_answers", 11)]
    assert kinds(*failing[:10]) == []
    assert kinds(*failing[:8], max_repeats=2) == [("failed_answers", 8)]
    assert kinds(*failing[:5], "Hello.", *failing[5:]) == []
    tool = {"type": "tool", "name": "look", "output": "a map"}
    assert kinds(*failing[:5], tool, *failing[5:]) == []
    asked = {"type": "user", "output": "Now draw the other map, of the north."}
    assert kinds(*failing[:5], asked, *failing[5:9]) == []
    others = [{**step, "error": f"{'x' * at}: no"} for at, step in enumerate(failing)]
    assert kinds(*others) == []


def test_retries_that_get_an_answer_have_waited_for_the_service():
    failing = [{**FAILS, "error": FAILS["error"].replace("31", str(at))} for at in range(12)]
    assert kinds(*failing, "Here is the map.") == []
    tool = {"type": "tool", "name": "look", "output": "a map"}
    asked = {"type": "llm", "id": "m", "output": None}
    assert kinds(*failing, asked, {**tool, "parent_id": "m"}) == []
    other = {"type": "user", "output": "Leave it, and draw the other map, of the north."}
    assert kinds(*failing, other, "Here is the map.") == [("failed_answers", 12)]


def test_failing_model_calls_with_inputs_of_their_own_are_items_of_a_batch():
    given = [{**FAILS, "input": f"{at}: which way?"} for at in range(12)]
    assert kinds(*given) == []
    same = [{**FAILS, "input": {"question": [1]}, "error": f"429: try {at}"} for at in range(12)]
    assert [repeats for _, repeats in kinds(*same)] == [12]


def test_the_evidence_says_how_many_there_may_be():
    steps = [{"id": f"s{at}", **FAILS} for at in range(11)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": steps})
    said = result["evidence"][0]
    assert (said["limit"], said["observed"]) == (10, 11)
    assert "model calls that fail the same way 11 times, limit 10" in said["description"]


def test_a_model_and_the_one_in_its_place_that_fail_in_turns_are_a_loop_after_twice_as_many():
    other = {"type": "llm", "error": "You exceeded your current quota"}
    asked = {"type": "user", "output": "hi"}
    failing = [step for _ in range(10) for step in (FAILS, other, asked)]
    start = {"type": "user", "output": "Please draw a map of the harbour in the north."}
    assert kinds(start, *failing) == [("failed_answers", 20)]
    assert kinds(start, *[step for step in failing[:26] if step is not asked]) == []
    third = {"type": "llm", "error": "the model is not known"}
    assert kinds(asked, *[step for _ in range(6) for step in (FAILS, other, third)]) == []
    assert kinds(asked, *[FAILS] * 11, other, third) == [("failed_answers", 11)]


def test_requests_of_which_none_gets_an_answer_are_a_loop_from_more_than_three_times_max_repeats_on():
    asked = [{"type": "user", "output": f"Draw the map of the {where}."} for where in "ABCDEFG"]
    errors = ("404: no endpoint", "402: no credit")
    failing = [{"type": "llm", "error": error} for error in errors]
    turns = [step for request in asked for step in (request, *failing)]
    # The first call that fails in a way is no repeat.
    assert kinds(*turns[:15], asked[5], failing[0]) == [("failed_answers", 11)]
    assert kinds(*turns[:15]) == []
    assert kinds(*turns[:9], {"type": "llm", "output": "Here it is."}, *turns[9:]) == []
    others = [{"type": "llm", "error": f"{'x' * at}: no"} for at in range(20)]
    assert kinds(*[step for pair in zip(asked * 3, others, strict=False) for step in pair]) == []
    tool = {"type": "tool", "name": "look", "output": "a map"}
    assert kinds(*turns[:9], tool, *turns[9:]) == []


def test_failed_calls_for_a_request_that_is_answered_in_the_end_do_not_count():
    asked = {"type": "user", "output": "Draw the map of the harbour."}
    then = {"type": "user", "output": "Leave it, and list the ships of the north."}
    failing = {"type": "llm", "error": "404: no endpoint"}
    row = [asked, *[failing] * 5, then, *[failing] * 9]
    assert kinds(*row) == [("failed_answers", 14)]
    assert kinds(*row, "The ships are these.") == []


def test_a_long_outage_is_a_loop_although_an_answer_comes_in_the_end():
    asked = {"type": "user", "output": "Draw the map of the harbour."}
    errors = ("404: no endpoint", "429: request req_01a7 is over the limit", "402: no credit")
    failing = [{"type": "llm", "error": error} for error in errors * 7]
    assert kinds(asked, *failing[:20], "Here it is.") == [("failed_answers", 20)]
    assert kinds(asked, *failing[:19], "Here it is.") == []


def test_errors_that_differ_in_an_id_are_one_error():
    failing = [
        {"type": "llm", "error": f"503: busy (request {at}f-a{at * 7}c)"} for at in range(11)
    ]
    assert kinds(*failing) == [("failed_answers", 11)]


def test_an_answer_to_a_later_prompt_is_none_to_the_calls_before_it():
    first = {"type": "user", "output": "Draw the map of the harbour."}
    asked = {"type": "user", "output": "Leave it, and list the ships of the north."}
    poll = {"type": "user", "output": "Read HEARTBEAT.md if it exists, and follow it."}
    failing = {"type": "llm", "error": "404: no endpoint"}
    row = [first, *[failing] * 4, asked, *[failing] * 4, poll, *[failing] * 4, poll]
    assert kinds(*row, "All is well.") == [("failed_answers", 12)]
    assert kinds(*row[:-1], "All is well.") == []
    retries = [{"type": "other", "output": f"Retrying in {at}.0 seconds..."} for at in range(8)]
    tries = [step for retry in retries for step in (failing, retry)]
    assert kinds(first, *[failing] * 4, asked, *tries, "All is well.") == []


def given_to_three_models(place):
    """Return a request that each of three models fails to answer, the first of them four times."""
    asked = {"type": "user", "output": f"Draw a map of the harbour in the {place}."}
    quota = "429: the quota is used up, as the page on limits says " * 11
    tries = [[f"{quota}: retry in {wait}.5 s" for wait in (9, 10, 101, 2)], ["413: too large"], ["401: no key"]]  # fmt: skip
    return [
        step
        for errors in tries
        for step in (asked, *({"type": "llm", "error": error} for error in errors))
    ]


def test_a_request_that_is_given_to_one_model_after_the_other_is_one_request():
    start = [{"type": "user", "output": "Hello, are you there?"}, "I am."]
    assert kinds(*start, *given_to_three_models("north") * 2) == []
    several = [*start, *given_to_three_models("north"), *given_to_three_models("old town")]
    assert kinds(*several) == [("failed_answers", 12)]
    assert kinds(*several[:-1]) == []


def test_what_a_client_says_between_retries_is_no_other_request():
    asked = {"type": "user", "output": "Draw a map of the harbour in the north."}
    notes = ("Request failed (attempt %d/20), waiting 8 s", "Switching to the model cedar-%d", "Will retry in %d.0s")  # fmt: skip
    for kinds_of_notes in (notes, notes[:1]):
        row = [
            step
            for at in range(11)
            for step in (FAILS, {"type": "other", "output": kinds_of_notes[at % len(kinds_of_notes)] % at})
        ]  # fmt: skip
        assert kinds(asked, *row, "Here is the map.") == []


def test_answers_that_are_cut_off_at_their_beginning_fail_too_unless_the_user_stopped_them():
    def talk(error, **more):
        steps = []
        for at, word in enumerate(("north", "south", "east", "west", "upper", "lower")):
            steps.append({"type": "user", "output": f"Draw the map of the {word} bay."})
            steps += [
                {
                    "type": "llm",
                    "output": f"Sorry! I draw it now {at}{try_}:",
                    "error": error,
                    **more,
                }
                for try_ in "ab"
            ]
        return steps

    assert [repeats for _, repeats in kinds(*talk("terminated"))] == [12]
    assert kinds(*talk("Request was aborted by the user")) == []
    assert kinds(*talk("no price for this model", finish_reason="stop")) == []

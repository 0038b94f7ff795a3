"""One call that fails in one way again and again, with calls and messages between that could not have fixed it."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

#: Messages of a user, all different, so that no harness can have written them.
ASKED = [
    {"type": "user", "output": text}
    for text in (
        "Hello! I have to change my booking. It is KX7-12.",
        "Oh dear, I am sorry about the typo, it ends in twelve.",
        "As I said before: KX, then a seven, then twelve. Why don't you find it?",
        "Would you look once more? My sister booked it on Monday.",
        "This takes long. Could somebody else help me, perhaps?",
        "Thank you for your patience with this; one more time then.",
    )
]
LOOKUP = {
    "type": "tool",
    "name": "get_booking",
    "arguments": {"booking": "KX7-21"},
    "output": "Error: booking KX7-21 not found",
}
OTHER = {
    "type": "tool",
    "name": "get_user",
    "arguments": {"user": "mia"},
    "output": '{"user": "mia", "city": "Graz"}',
}


def called(name, output, **arguments):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def other(step, at):
    """Return a call with other arguments and another result."""
    word = ("eva", "ben", "ida", "tom", "ann", "leo", "max")[at]
    return {
        **step,
        "arguments": {**step["arguments"], "for": word},
        "output": step["output"] + word,
    }


def asked_again(count, *between, call=LOOKUP):
    """Return a call after each of two messages, and all others after the third."""
    calls = [(*(other(step, at) for step in between if at), call) for at in range(count)]
    return [
        ASKED[0],
        *calls[0],
        ASKED[1],
        *calls[1],
        ASKED[2],
        *(step for each in calls[2:] for step in each),
    ]


def test_a_lookup_that_fails_after_each_message_of_the_user_and_on_its_own_is_a_loop():
    assert kinds(asked_again(5)) == [("interleaved", 5)]
    assert kinds(asked_again(4)) == []


def test_what_the_user_asks_to_try_again_is_no_loop():
    assert kinds([step for asked in ASKED for step in (asked, LOOKUP)]) == []


def test_waiting_parts_the_attempts_whatever_it_says():
    wait = called("wait", "Waited 60 s. The booking is still not there.", seconds=60)
    assert kinds(asked_again(6, wait)) == []


def test_the_limit_follows_max_repeats():
    assert kinds(asked_again(4), max_repeats=2) == [("interleaved", 4)]
    assert kinds(asked_again(5), max_repeats=4) == []


def test_single_calls_that_succeed_may_lie_between():
    assert kinds(asked_again(5, OTHER)) == [("interleaved", 5)]
    assert kinds(asked_again(5, OTHER, {**OTHER, "arguments": {"user": "eva"}})) == []


def test_a_lookup_that_fails_in_other_ways_is_no_loop():
    steps = asked_again(6)
    for at, step in enumerate(steps):
        if step["type"] == "tool":
            steps[at] = {**step, "output": f"Error: booking KX7-21 is {'abcdefghijkl'[at] * 9}"}
    assert kinds(steps) == []


def test_a_test_may_fail_after_each_change_that_the_user_asks_for():
    run = called("bash", "FAILED: 3 tests, see the log", command="make check")
    edit = called("edit", "saved", path="a.py")
    assert kinds([step for asked in ASKED for step in (asked, edit, run)]) == []


#: Nearly the same edit in two forms, of a sentence that does not stand in the file.
SENTENCE = "The rate is lowered in small steps until the loss on the data that was held back does not fall any more"
BLOCKS = [
    f"<<<<<<< SEARCH\n{SENTENCE}{end}\n=======\n{SENTENCE} (Lee, 2016){end}\n>>>>>>> REPLACE"
    for end in (".", " .")
]
UNMATCHED = "# 1 SEARCH/REPLACE block failed to match!\n\nThis SEARCH block failed to exactly match lines in draft.tex"


def edits_for_requests(blocks, outcome=UNMATCHED):
    """Return edits after messages of the user, where 0 and 1 name a block and a blank begins the next message."""
    steps = []
    for request, chosen in zip(ASKED, blocks.split(), strict=False):
        edits = [called("edit", outcome, path="draft.tex", edit=BLOCKS[int(at)]) for at in chosen]
        steps += [request, *edits]
    return steps


def test_an_edit_that_is_refused_for_several_requests_in_nearly_the_same_words_is_a_loop():
    assert kinds(edits_for_requests("010 10")) == [("interleaved", 5)]
    assert kinds(edits_for_requests("010 1")) == []
    assert kinds(edits_for_requests("010 10", "Edit applied.")) == []


@pytest.mark.parametrize(("count", "found"), [(5, []), (6, [("interleaved", 6)])])
def test_a_service_that_is_busy_may_be_tried_more_often(count, found):
    busy = called("get_booking", "Error 503: service unavailable", booking="KX7-21")
    assert kinds(asked_again(count, OTHER, call=busy)) == found


def test_opening_a_file_between_does_not_restart_the_count():
    edit = called(
        "bash", "Usage: edit <first>:<last>", command="edit src/lib.rs 16:22\nlet tree = parse();"
    )
    looks = [
        called("bash", f"[File: src/lib.rs]\n{at}: fn parse", command=f"open src/lib.rs {at}")
        for at in range(3)
    ]
    assert kinds([edit, edit, looks[0], edit, looks[1], edit, looks[2]]) != []


def test_calls_without_a_recorded_result_did_not_fail_like_the_one_before():
    failed, unknown = (
        called("click", "Error: not found", at="Next"),
        called("click", None, at="Next"),
    )
    given = {"format": "weighbridge", "steps": [failed, unknown, unknown, unknown]}
    assert LoopGrader().grade(given)["verdict"] == "pass"
    given = {"format": "weighbridge", "steps": [failed] * 4}
    assert LoopGrader().grade(given)["verdict"] == "fail"


def test_attempts_that_the_user_orders_one_by_one_are_no_loop():
    attempt = called("exchange_item", "Error: W1-9 not found", order="W1", item="W1-9")
    assert kinds([step for at in range(6) for step in (ASKED[at], attempt)]) == []


def test_looks_that_find_nothing_whenever_the_user_orders_them_are_no_loop():
    names = ("today.md", "yesterday.md", "memory.md")
    looks = [called("read", f"Error: no such file: {name}", path=name) for name in names]
    assert kinds([step for at in range(6) for step in (ASKED[at], *looks)]) == []


ASKING = (
    "I am sorry, that index is not valid. Can you confirm the index?",
    "The list refuses my change once more. Which number has your reminder?",
    "Nothing was updated, I am afraid. What is the number of the entry?",
    "My update did not go through. Would you tell me the index, please?",
)


def confirmed(*answers, asking=ASKING):
    """Return an update that is refused, once for the order of the user and once for each answer to the agent's question."""
    refused = called("update_reminder", "Error: Invalid reminder index.", index=2, text="noon")
    steps = [ASKED[0]]
    for question, text in zip(asking, (*answers, ""), strict=False):
        steps += [refused, {"type": "llm", "output": question}]
        steps += [{"type": "user", "output": text}] if text else []
    return steps


def test_short_answers_to_what_the_agent_asks_after_a_failure_are_no_new_requests():
    assert kinds(confirmed("ok, index 2", "2", "index: 2")) == [("identical", 4)]
    assert kinds(confirmed("ok, index 2", "2")) == []


def test_orders_to_try_again_and_words_after_no_question_are_new_requests():
    assert kinds(confirmed("try it again", "once more, please", "and again!")) == []
    told = [text.replace("?", ".") for text in ASKING]
    assert kinds(confirmed("ok, index 2", "2", "index: 2", asking=told)) == []
    assert kinds(confirmed(*(f"{step['output']} {step['output']}" for step in ASKED[1:4]))) == []

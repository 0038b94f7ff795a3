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


#: A part of a file, and ways to quote it that do not match it.
SHOP = [
    *("def total(self, items):", "    amount = 0", "    for item in items:"),
    *("        amount += item.price * item.quantity", "    return amount", ""),
]
QUOTED = [
    "\n".join(SHOP[:end]) + tail
    for end, tail in ((4, ""), (5, " "), (3, ""), (5, "\n\n"), (6, "\n"), (2, ""))
]


def refused_edits(count, window=SHOP):
    """Return edits that a tool refuses in the same words, each of a part that it quotes; the file is read between."""
    steps = [called("show_file", "\n".join(["shop.py", *SHOP]), path="shop.py")]
    for at, old in enumerate(QUOTED[:count]):
        text = f"Error: Could not find exact match in shop.py. The first line '{SHOP[at % 2]}' exists, the rest does not."
        shown = "\n".join([f"shop.py from {at}", *window[at % 3 :]])
        steps += [
            called("replace", text, path="shop.py", old=old, new=f"{old}  # checked"),
            called("show_file", shown, path="shop.py", first=at),
        ]
    return steps


def test_six_edits_that_are_refused_in_the_same_words_are_a_loop_although_the_file_is_read_between():
    assert kinds(refused_edits(6)) == [("same_failure", 6)]
    assert kinds(refused_edits(5)) == []
    assert kinds(refused_edits(4), max_repeats=2) == [("same_failure", 4)]
    assert kinds(refused_edits(6), similarity_threshold=1.0) == []


def test_edits_between_which_something_new_is_read_are_no_loop():
    steps = refused_edits(6)
    for at, step in enumerate(steps[2::2]):
        step["output"] += f"\nand a part that nobody has read before:\n{'x' * at} = {at}"
    assert kinds(steps) == []


def test_edits_of_other_places_that_are_refused_in_the_same_words_are_no_loop():
    steps = refused_edits(6)
    for word, step in zip(
        ("ants", "bees", "cats", "dogs", "eels", "fish"), steps[1::2], strict=True
    ):
        step["arguments"] |= {"old": f"{word}\n{word[::-1]} {word}", "new": word[1:] * 3}
    assert kinds(steps) == []


def test_edits_that_are_refused_after_much_other_work_are_no_loop():
    steps = [
        step
        for at, edit in enumerate(refused_edits(6)[1::2])
        for step in (
            edit,
            *(
                called("replace", "edited", path=f"{at}{other}.py", old="a", new=f"b{other}")
                for other in "pqr"
            ),
        )
    ]
    assert kinds(steps) == []


def votes(speakers, target="Gemma"):
    steps = []
    for at, name in enumerate(speakers):
        steps.append({"id": f"m{at}", "type": "llm", "name": name, "output": ""})
        vote = called("vote", f"{name} has voted", target=target)
        steps.append({**vote, "output": "voted", "parent_id": f"m{at}"})
    return steps


def test_one_call_that_each_of_several_agents_makes_is_no_loop():
    assert kinds(votes(["Ada", "Ben", "Cleo", "Dan", "Eve"])) == []
    assert kinds(votes(["Ada"] * 5)) != []
    assert kinds(votes(["Ada", "Ben", "Ada", "Ben", "Ada"])) != []

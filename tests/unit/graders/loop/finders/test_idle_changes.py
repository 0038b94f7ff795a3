"""Notes, lists and messages in hardly a new word, each only confirmed: a loop, unless the state of an item changes."""

from __future__ import annotations

from itertools import islice, permutations

from weighbridge.graders.loop import LoopGrader

WORDS = ("stall", "fee", "twelve", "euros", "day")


def call(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [loop["kind"] for loop in result["details"]["loops"]]


def notes(count, tool="save_note"):
    told = map(" ".join, islice(permutations(WORDS), count))
    return [call(tool, {"text": text}, f"note n_{at}7a saved") for at, text in enumerate(told)]


def test_twelve_notes_in_the_same_words_are_a_loop_whatever_their_order_and_ids():
    assert kinds(notes(12)) == ["nothing_new"]
    assert kinds(notes(11)) == []
    assert kinds(notes(8), max_repeats=2) == ["nothing_new"]


def test_notes_with_new_words_or_other_answers_are_none():
    made = notes(16)
    named = [{**each, "arguments": {"text": f"guest number {at}"}} for at, each in enumerate(made)]
    assert kinds(named) == []
    answered = [{**each, "output": f"saved; {'x' * at} is due"} for at, each in enumerate(made)]
    assert kinds(answered) == []
    asked = {"type": "user", "output": "And now please note how long the stall may be at most."}
    assert kinds([*made[:8], asked, *made[8:]]) == []


def test_only_what_is_known_may_be_read_between_notes():
    made = notes(14)
    look = call("read_notes", {}, "No other notes.")
    assert kinds([look, *made[:7], look, *made[7:]]) == ["nothing_new"]
    assert kinds([look, *made[:7], {**look, "output": "A note by Ida."}, *made[7:]]) == []


def test_a_list_of_tasks_of_which_one_is_done_gets_on():
    def todo(done, at):
        items = [{"content": f"{WORDS[n]} {WORDS[(n + at) % 5]}", "status": "completed" if n < done else "pending"} for n in range(5)]  # fmt: skip
        return call("todo_write", {"todos": items}, "Todos have been modified.")

    assert kinds([todo(0, at % 5) for at in range(20)][:13]) != []
    assert kinds([todo(at // 3, at) for at in range(13)]) == []


def test_edits_of_which_nothing_is_recorded_may_each_have_written_something_else():
    edit = {"type": "tool", "name": "edit", "output": "ok"}
    assert kinds([edit] * 40) == []
    assert kinds([{**edit, "arguments": {}}] * 12) == ["identical"]

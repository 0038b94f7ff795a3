"""Edits of one part that are refused in the same words: a loop, unless something new is read between."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.loop import LoopGrader


def called(name, output, **arguments):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


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


def test_edits_that_are_refused_in_the_same_words_are_a_loop_although_the_file_is_read_between():
    assert kinds(refused_edits(6)) == [("same_failure", 6)]
    assert kinds(refused_edits(5)) == [("same_failure", 5)]
    assert kinds(refused_edits(4)) == []
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


PLACES = ("ants", "bees", "cats", "dogs", "eels", "fish", "gnus", "hens", "imps", "jays")


def edits_in_vain(
    count, *between, name="replace", output="Error: Code to replace not found in file"
):
    """Return edits of other places that are refused, with something new read after each, and what else lies between."""
    return [
        step
        for at, word in enumerate(PLACES[:count])
        for step in (
            called(name, output, path=f"{word}.py", old=f"{word}\n{word[::-1]} {word}", new=word[1:] * 3),
            called("show_file", f"{word}.py\n{word} = {at}\n{word * 2} = {at * 7}", path=f"{word}.py"),
            *[{**other, "arguments": {"path": f"{word}{number}.md", "text": word}} for number, other in enumerate(between)],
        )
    ]  # fmt: skip


def test_nine_edits_that_are_refused_are_a_loop_wherever_and_whatever_is_read():
    assert kinds(edits_in_vain(9)) == [("same_failure", 9)]
    assert kinds(edits_in_vain(8)) == []
    assert kinds(edits_in_vain(6), max_repeats=2) == [("same_failure", 6)]


def test_refused_edits_among_edits_that_are_made_or_much_other_work_are_no_loop():
    made = called("write_file", "The file was written.")
    steps = edits_in_vain(10)
    assert kinds([*steps[:10], made, *steps[10:]]) == [("same_failure", 10)]
    assert (
        kinds(
            [
                step
                for edit in edits_in_vain(10)[::2]
                for step in (edit, {**made, "arguments": edit["arguments"]})
            ]
        )
        == []
    )
    assert kinds(edits_in_vain(10, called("run_tests", "all pass"))) == []


@pytest.mark.parametrize(
    "command", ["sed -i 's/{at}/b/' a.py", "git apply {at}.diff", "cat > {at}.py <<'END'\na\nEND"]
)
def test_refused_edits_that_are_made_with_a_shell_instead_are_no_loop(command):
    edits = edits_in_vain(10)[::2]
    made = [called("bash", "", command=command.format(at=at)) for at in range(len(edits))]
    steps = [step for pair in zip(edits, made, strict=True) for step in pair]
    assert kinds(steps) == []
    looks = [called("bash", f"{at} lines", command=f"wc -l {at}.py") for at in range(len(edits))]
    assert kinds([step for pair in zip(edits, looks, strict=True) for step in pair])


def test_searches_for_a_pattern_that_is_not_found_are_no_edits():
    assert kinds(edits_in_vain(10, name="grep", output="Pattern not found.")) == []


MOORING = ["def moor(ship):", "    rope = ship.rope", "    return rope.tie(ship.bow)"]
LIGHTS = ["def light(lamp, night):", "    if night.dark:", "        lamp.oil.burn()"]


def edit_rounds(count, tool="edit", refusal="old_string not found in file.", news=()):
    """Return rounds of two edits of one file that are refused, and of a view of what it has at both places."""
    shown = [f"{at:4}|{line}" for at, line in enumerate([*MOORING, "", *LIGHTS], 1)]
    steps = [called("view", "\n".join(["<file>", *shown, "</file>"]), path="pier.py")]
    for at in range(count):
        steps += [
            called(tool, refusal, path="pier.py", old="\n".join([*part, " " * at]), new=f"{part[0]}\n    pass  # {at}")
            for part in (MOORING, LIGHTS)
        ]  # fmt: skip
        note = f"(More lines follow line {at})"
        steps.append(
            called("view", "\n".join(["<file>", *shown[at % 3 :], *news[at : at + 1], note, "</file>"]), path="pier.py", first=at)
        )  # fmt: skip
    return steps


def failing(steps):
    return [
        {**step, "error": "refused"} if step["arguments"].get("old") else step for step in steps
    ]


def test_edits_of_one_file_that_are_refused_in_four_rounds_are_a_loop_whichever_its_place_is():
    assert kinds(failing(edit_rounds(4))) == [("same_failure", 8)]
    assert kinds(failing(edit_rounds(3))) == []
    news = [f"   {at}{at}|a line that nobody has read, of pier {at * 7}" for at in range(1, 9)]
    assert kinds(failing(edit_rounds(4, news=news))) == []


def test_a_line_is_known_whether_or_not_a_tool_writes_its_number_before_it():
    steps = failing(edit_rounds(4))
    for step in steps[3::3]:
        *shown, _, _ = step["output"].split("\n")[1:]
        bare = "\n".join(["pier.py", *(line.partition("|")[2] for line in shown)])
        step |= {
            "name": "bash",
            "arguments": {"command": f"sed -n {len(bare)}p pier.py"},
            "output": bare,
        }
    assert kinds(steps) == [("same_failure", 8)]


@pytest.mark.parametrize(
    "refusal",
    [
        "old_string not found in file. Make sure it matches exactly, including whitespace",
        "oldString not found in content",
        "Failed to edit, 0 occurrences found for old_string in pier.py.",
        "Failed to edit, could not find the string to replace.",
        "No sufficiently similar match found at line 3",
        "failed to parse patch: Invalid Context 0",
    ],
)
def test_tools_refuse_edits_in_many_words(refusal):
    assert kinds(failing(edit_rounds(4, refusal=refusal))) == [("same_failure", 8)]


def test_refused_edits_of_one_message_are_one_attempt():
    steps = edits_in_vain(10)
    edits = steps[::2]
    calls = [
        {"id": f"c{at}", "type": "function", "function": {"name": "replace", "arguments": json.dumps(step["arguments"])}}
        for at, step in enumerate(edits)
    ]  # fmt: skip
    results = [
        {"role": "tool", "tool_call_id": f"c{at}", "content": step["output"]}
        for at, step in enumerate(edits)
    ]

    def loops(messages):
        found = LoopGrader().grade({"messages": [{"role": "user", "content": "Edit."}, *messages]})
        return [loop["repeats"] for loop in found["details"]["loops"]]

    assert loops([{"role": "assistant", "tool_calls": calls}, *results]) == []
    alone = [
        each
        for call, result in zip(calls, results, strict=True)
        for each in ({"role": "assistant", "tool_calls": [call]}, result)
    ]
    assert loops(alone) == [10]

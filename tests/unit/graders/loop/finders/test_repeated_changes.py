"""One change that is made again and again, although it succeeds: a loop if it has long content."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

CLASS = "class Ferry:\n" + "\n".join(
    f"    def deck_{at}(self):\n        return {at}" for at in range(4)
)
TRIP = {
    "from": "Harbour North",
    "to": "The island",
    "passengers": [{"name": "Ida Mole", "born": "1990-02-03"}, {"name": "Ole Mole", "born": "1988-11-30"}],
    "paid_by": "gift card 7731",
}  # fmt: skip
NAMES = ("rudder", "anchor", "mast", "keel", "galley", "winch", "buoy", "bell", "chart", "lamp")


def call(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def kinds(steps, **config):
    given = [{"id": f"s{at}", **each} for at, each in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def shown(lines):
    """Return a file as an editor shows it, with the class at its end as often as it was inserted."""
    return f"[ferry.py, {lines} lines]\n" + "\n".join(f"{at}: ..." for at in range(lines))


def edits(count, command=f"edit 44:54\n{CLASS}\nend_of_edit"):
    return [call("bash", {"command": command}, shown(60 + 9 * at)) for at in range(count)]


def test_the_same_edit_nine_times_is_a_loop_although_the_file_grows():
    assert kinds(edits(9)) == [("nothing_new", 9)]
    assert kinds(edits(8)) == []
    assert kinds(edits(8), max_repeats=2) == [("nothing_new", 8)]


@pytest.mark.parametrize(
    "again",
    [
        lambda at: call("book_trip", TRIP, {"booking": f"B-{7001 + at}", "state": "booked"}),
        lambda at: call("send_mail", {"to": "ida@example.org", "body": CLASS}, f"sent, {at + 1} in the outbox"),
        lambda at: call("bash", {"command": f"cat >> ferry.py <<'END'\n{CLASS}\nEND\nwc -l ferry.py"}, str(60 + 9 * at)),
    ],
    ids=["booked", "sent", "appended"],
)  # fmt: skip
def test_what_is_booked_sent_or_appended_nine_times_is_a_loop_whatever_its_number(again):
    assert kinds([again(at) for at in range(9)]) == [("nothing_new", 9)]
    looks = [
        step
        for at in range(9)
        for step in (again(at), call("read_file", {"path": f"{NAMES[at]}.md"}, f"about the {NAMES[at]}"))
    ]  # fmt: skip
    assert kinds(looks) == [("nothing_new", 9)]


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([call("append", {"path": "a.md", "text": f"{CLASS}\n# {name}"}, f"{at} lines")
                      for at, name in enumerate(NAMES)], id="other content"),
        pytest.param([call("insert", {"path": f"{name}.py", "text": CLASS}, f"{at} lines")
                      for at, name in enumerate(NAMES)], id="other files"),
        pytest.param([call("create_server", {"size": "large", "zone": "north"}, {"id": f"srv-{at}"})
                      for at in range(12)], id="short arguments"),
        pytest.param([call("run_code", {"code": f"{CLASS}\nprint(Ferry().load())"}, f"{at * 7 % 5} boxes, {name}")
                      for at, name in enumerate(NAMES)], id="code that is run again"),
        pytest.param([step for at, edit in enumerate(edits(10))
                      for step in (edit, call("bash", {"command": f"git checkout {NAMES[at]}"}, f"on {NAMES[at]}"))],
                     id="changes between"),
        pytest.param([step for at, edit in enumerate(edits(12))
                      for step in ([edit] if at != 6 else [{"type": "user", "output": "Once more for the ferry"}, edit])],
                     id="a new request between"),
    ],
)  # fmt: skip
def test_changes_that_differ_or_follow_something_else_are_no_loop(steps):
    assert kinds(steps) == []


def test_an_equal_note_is_a_loop_however_short():
    notes = [
        call("save_note", {"text": "Fee: 12 euro"}, f"saved as n_{at * 7919:x}9") for at in range(9)
    ]
    assert kinds(notes) == [("nothing_new", 9)]
    assert kinds(notes[:8]) == []
    others = [
        call("add_card", {"text": "Fee: 12 euro"}, f"added as n_{at * 7919:x}9") for at in range(9)
    ]
    assert kinds(others) == []

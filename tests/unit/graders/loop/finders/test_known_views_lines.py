"""Windows of files that were all read before: a loop, however they are cut."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

FILE = [f"{number}: the value of buoy {number * 7 % 31}" for number in range(1, 61)]


def read(start, end, *, file="src/buoys.py", lines=FILE):
    arguments = {"path": file, "start": start, "end": end}
    return {"type": "tool", "name": "read_file", "arguments": arguments, "output": "\n".join(lines[start:end])}  # fmt: skip


def kinds(steps):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader().grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def windows(count):
    """Windows of 10 to 20 lines, no two of them equal."""
    return [read(at * 3 % 40, at * 3 % 40 + 10 + at % 11) for at in range(count)]


def test_twelve_windows_of_a_file_that_was_read_are_a_loop():
    assert kinds([read(0, 60), *windows(12)]) == [("nothing_new", 12)]
    assert kinds([read(0, 60), *windows(11)]) == []


def test_windows_with_new_lines_are_read_for_the_first_time():
    assert kinds([read(at * 10, at * 10 + 12, lines=[f"{n}: {n}" for n in range(300)]) for at in range(20)]) == []  # fmt: skip


def test_another_file_with_the_same_lines_is_news():
    files = [read(at, at + 10 + at % 7, file=f"deck_{at}/setup.cfg") for at in range(14)]
    assert kinds([read(0, 60), *files]) == []


def test_after_a_change_a_file_may_be_read_again():
    edit = {"type": "tool", "name": "edit_file", "arguments": {"path": "src/buoys.py"}, "output": "edited"}  # fmt: skip
    assert kinds([read(0, 60), *windows(7), edit, *windows(7)]) == []


def test_looks_at_other_things_between_windows_do_not_part_them():
    looks = [
        {"type": "tool", "name": "grep", "arguments": {"pattern": f"buoy {at}"}, "output": f"{at} hits in all, in the files of the north"}
        for at in range(13)
    ]  # fmt: skip
    steps = [step for pair in zip([read(0, 60), *windows(12)], looks, strict=True) for step in pair]
    assert kinds(steps) == [("nothing_new", 12)]


def test_a_look_back_at_a_window_of_each_file_is_no_loop():
    files = [
        {"file": f"src/pier_{at}.py", "lines": [f"{line} of pier {at}" for line in FILE]}
        for at in range(14)
    ]
    whole = [read(0, 60, **file) for file in files]
    assert kinds([*whole, *[read(at, at + 12, **file) for at, file in enumerate(files)]]) == []
    few = [read(at, at + 10 + at % 3, **files[at % 7]) for at in range(14)]
    assert kinds([*whole, *few]) == [("nothing_new", 14)]


def code(start, end):
    """A script that prints a window of the file, as some agents write it in place of a command."""
    script = f"with open('src/buoys.py') as f:\n    lines = f.readlines()\nfor line in lines[{start}:{end}]:\n    print(line)\n"
    output = "\n".join(FILE[start:end])
    return {"type": "tool", "name": "quick_check", "arguments": {"code": script}, "output": output}


def test_windows_that_code_prints_are_reads():
    codes = [code(at * 3 % 40, at * 3 % 40 + 10 + at % 11) for at in range(12)]
    assert kinds([read(0, 60), *codes]) == [("nothing_new", 12)]
    writing = [
        {**step, "arguments": {"code": step["arguments"]["code"] + "open('a', 'w').write('x')"}}
        for step in codes
    ]
    assert kinds([read(0, 60), *writing]) == []


@pytest.mark.parametrize(
    "row",
    [
        "2024-05-01 10:{:02}:{:02} INFO heartbeat received from the host",
        "{:02}:{:02} INFO heartbeat received from the host",
        "1{:04}{:02}\tpending\tno error reported so far",
        "{:4}{:02}: ok",
    ],
)
def test_lines_of_a_log_or_a_table_are_told_apart_by_their_numbers(row):
    lines = [row.format(n // 60, n % 60) for n in range(1_000)]
    windows = [read(at * 60, at * 60 + 60, lines=lines) for at in range(15)]
    assert kinds(windows) == []

"""Messages that go round in themselves."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop import LoopGrader

ROUND = (
    "Let me check whether the project compiled before the version was raised.",
    "If it did not compile before, then the failure has nothing to do with the change.",
    "But the instructions say that the build must pass at the end, whatever was before.",
    "Actually, the dependency may be missing from the local cache, so let me look there.",
)
OTHER = [f"In part {at} of the report, the {at * 7} results of group {at} are named one by one." for at in range(60)]  # fmt: skip


def loops(*texts, **config):
    steps = [{"id": f"s{at}", "type": "llm", "output": text} for at, text in enumerate(texts, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": steps})
    return result["details"]["loops"], result["evidence"]


def said(rounds, *, between=(), numbered=False):
    lines = [line for at in range(rounds) for line in (*ROUND, *between[at : at + 1])]
    if numbered:
        lines = [f"{at}. {line}" for at, line in enumerate(lines, 1)]
    return "\n\n".join(lines)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_message_that_says_the_same_seven_times_is_a_loop(numbered):
    found, evidence = loops("I begin.", said(7, between=OTHER, numbered=numbered))
    assert [(loop["kind"], loop["repeats"], loop["step_ids"]) for loop in found] == [
        ("repeated_passages", 7, ["s2"])
    ]
    assert evidence[0]["description"].startswith(
        "the same passage within one message 7 times, limit 6, half of whose text or more repeats"
    )
    assert loops(said(6, between=OTHER, numbered=numbered))[0] == []


def test_passages_in_a_script_without_spaces_between_words_count_too():
    line = "我将调用工具来获取三月十五日和三月十七日前后的订单详情, 看看能否找到正确的订单编号, 然后再继续。"
    others = [f"第{at}步: 请稍等, 我正在查看仓库里名称以{chr(0x4e00 + 37 * at)}开头的货物。" for at in range(10)]  # fmt: skip
    text = "\n".join(part for other in others for part in (line, other, line))
    [loop] = loops(text)[0]
    assert (loop["kind"], loop["repeats"]) == ("repeated_passages", 20)


def test_the_limit_follows_the_one_for_repeats():
    assert loops(said(7), max_repeats=4)[0] == []
    assert loops(said(9), max_repeats=4)[0]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(OTHER),
        f"{said(7)}\n" + "\n".join(OTHER[:40]),
        f"Here is the code:\n```\n{said(9)}\n```\nIt prints one text.",
        "\n".join(["| ok | ok | ok | ok | ok | ok | ok | ok | ok | ok |"] * 60),
        "\n".join(["All tests of this group have passed."] * 60),
        said(7)[:990],
        "\n".join(
            f"| 2024-01-{day:02} | no data is available for this day of the month yet |"
            for day in range(1, 25)
        ),
    ],
    ids=[
        "a list",
        "half is new",
        "code",
        "a table",
        "short lines",
        "a short text",
        "a table of days",
    ],
)
def test_what_a_text_may_repeat_is_no_loop(text):
    assert loops(text)[0] == []


@pytest.mark.parametrize("unit", ["Jibd", "the same ", "好的"])
def test_a_word_that_is_repeated_without_end_is_a_loop(unit):
    text = "I need to install it. Let me try a different approach.\n```bash\n" + unit * 1_200
    [loop] = loops("I begin.", text)[0]
    assert (loop["kind"], loop["step_ids"]) == ("repeated_passages", ["s2"])
    assert 1_199 <= loop["repeats"] <= 1_200


@pytest.mark.parametrize("unit", ["-", "=-", "| ok ", "0", "ha", "12,"])
def test_a_line_of_marks_a_table_and_laughter_are_none(unit):
    assert (
        loops(f"This is it:\n{unit * (90 if unit == 'ha' else 3_000)}\n" + "\n".join(OTHER))[0]
        == []
    )

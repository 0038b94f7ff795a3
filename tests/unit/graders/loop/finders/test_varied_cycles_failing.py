"""Rounds in which one call fails each time, in other words: a loop; and a service that timed out, tried again."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders.loop import LoopGrader

PAGE = "Page: Orders of the harbour cafe\n" + "\n".join(
    f"[{at}] order of {name}, {thing}, ready for pickup"
    for at, (name, thing) in enumerate(
        (who, what) for who in ("Ada", "Ben", "Cem", "Dora") for what in ("tea", "soup", "bread", "cake")
    )
)  # fmt: skip
REASONS = [
    "The newest order was not opened.",
    "You have to open the newest order before you answer.",
    "The answer is about another order than the newest one.",
    "Open the newest order first, then answer.",
    "This does not look like the newest order.",
]
TIMEOUT = '{"error": "Request timeout"}'


def tool(name, arguments, output):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def opened(at=0):
    return tool(
        "open", {"link": "newest"}, f"Opened the link.\n{PAGE}{'' if at == 0 else f' {at}'}"
    )


def answered(reason, page=PAGE):
    return tool("answer", {"text": "It is ready for pickup"}, f"failed: {reason}\n{page}")


def rounds(reasons, between=opened):
    return [step for at, reason in enumerate(reasons) for step in (between(), answered(reason))]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_rounds_in_which_one_answer_is_refused_in_other_words_are_a_cycle():
    assert kinds(rounds(REASONS)) == [("cycle", 5)]
    assert kinds(rounds(REASONS[:3])) == [("cycle", 3)]
    assert kinds(rounds(REASONS[:2])) == []


def test_the_last_refusal_need_not_be_recorded():
    steps = rounds(REASONS)
    steps[-1]["output"] = None
    assert kinds(steps) == [("cycle", 5)]


ORDERS = [
    [answered(reason), tool("open", {"link": name}, f"{name}\n{PAGE[:200]}")]
    for reason, name in zip(REASONS, ("tea", "soup", "bread", "cake", "milk"), strict=True)
]
HONEST = {
    "another failure each time": [
        step
        for reason in ("key error in load_orders", "division by zero", "disk is full", "name unknown")
        for step in (opened(), tool("run", {"script": "orders.py"}, f"Error: {reason}"))
    ],
    "fewer failures each time": [
        step
        for left in (9, 7, 4, 1)
        for step in (opened(), tool("run", {"script": "orders.py"}, f"{left} tests failed\n{PAGE}"))
    ],
    "another order before each answer": [step for pair in ORDERS for step in pair],
}  # fmt: skip


@pytest.mark.parametrize("name", HONEST)
def test_rounds_that_get_on_are_not_a_cycle(name):
    assert [kind for kind, _ in kinds(HONEST[name]) if kind == "cycle"] == []


def quote(output=TIMEOUT):
    return tool("quote", {"symbol": "ACME"}, output)


def news(at):
    return tool(
        "search_news",
        {"query": f"ACME {['shares', 'price', 'report', 'forecast'][at]}"},
        f"Article {at}",
    )


def test_a_service_that_timed_out_may_be_tried_again_after_other_work():
    assert kinds([quote()] * 4) == [("identical", 4)]
    assert kinds([quote(), quote(), quote(), news(0), quote()]) == []
    assert kinds([quote(), news(0), quote(), news(1), quote(), news(2), quote()]) == []


def test_a_service_that_stays_away_is_a_loop_whatever_is_done_in_between():
    steps = [quote(), quote(), news(0), quote(), quote(), news(1), quote(), quote()]
    assert kinds(steps) == [("interleaved", 6)]


def test_another_failure_is_not_fixed_by_other_work():
    denied = '{"error": "Unknown symbol"}'
    steps = [quote(denied), quote(denied), quote(denied), news(0), quote(denied)]
    assert kinds(steps) == [("interleaved", 4)]


METER = "  % Total    % Received % Xferd  Average Speed   Time    Time     Time  Current\n"


def fetched(options, seconds):
    """Return a command that was cut off: its progress meter has a line for each second."""
    lines = [
        f"\r  0     0    0     0    0     0      0      0 --:--:--  0:00:{at:02} --:--:--     0"
        for at in range(seconds)
    ]
    output = {"stdout": None, "stderr": METER + "".join(lines), "timed_out": True}
    return tool("run_command", {"command": f"curl {options} 10.1.0.7:8080"}, json.dumps(output))


OPTIONS = [
    "-s",
    "-v",
    "-L",
    "-d 'hello'",
    "-H 'Accept: text/plain'",
    "-X POST",
    "-k",
    "--http1.0",
    "-A cli",
]


def test_a_server_that_answers_no_form_of_a_request_is_a_loop_however_long_each_waited():
    steps = [fetched(option, 8 + at % 3) for at, option in enumerate(OPTIONS)]
    assert kinds(steps) == [("same_failure", 9)]
    assert kinds(steps[:4]) == []


def created(rounds, reason="ROLLBACK_COMPLETE. Reason: not authorized to perform sqs:createqueue"):
    names = {"name": "pier"}
    return [
        step
        for at in range(rounds)
        for step in (
            tool("create_stack", names, f"CREATE_IN_PROGRESS, event {at * 7919 % 99991:05d}a{at}"),
            tool("describe", names, reason),
            tool("delete_stack", names, "DELETE_COMPLETE"),
        )
    ]


def test_what_fails_alike_each_time_it_is_created_anew_is_a_loop():
    assert kinds(created(5)) == [("interleaved", 5)]
    assert kinds(created(8, "CREATE_COMPLETE")) == []


def toggled(lines):
    """Edits that undo one another, and the errors of two files that come in turns, at these lines."""
    steps = []
    for at, line in enumerate(lines):
        old, new = ("ab", "ba")[at % 2]
        name, kind = (("total", "string"), ("cart", "number"))[at % 2]
        failure = f"{name}.ts({line},9): error TS2322: not assignable to '{kind}'"
        steps += [
            tool("edit", {"old": old, "new": new}, "ok"),
            tool("run", {"cmd": "tsc"}, failure),
        ]
    return steps


def test_failures_in_turns_whose_places_go_up_and_down_are_alike():
    assert kinds(toggled([41, 21, 43, 24, 42, 22, 44, 23])) == [("cycle", 4)]
    assert kinds(toggled([41, 21, 43, 24, 47, 26, 49, 29])) == []

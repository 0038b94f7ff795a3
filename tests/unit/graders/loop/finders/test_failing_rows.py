"""Many calls in a row that all fail in few ways: a loop, whatever they ask and of whichever tool."""

from __future__ import annotations

from itertools import cycle, islice

from weighbridge.graders.loop import LoopGrader, work_budget

TOPICS = (
    "market for charging stations",
    "key players of the market and what they plan",
    "rules",
    "investments since last spring by country and by kind of company",
    "forecast of sales for cars that charge at home",
    "standards of plugs",
    "who builds stations on motorways",
)
DOWN = "Error researching topic: 400 Client Error: Bad Request for url: https://api.example/chat"
FULL = "Error storing memory: the collection does not exist"


def called(name, output, **arguments):
    return {"type": "tool", "name": name, "arguments": arguments, "output": output}


def row(count):
    """Return searches and notes in turn, all of which fail."""
    topics = islice(cycle(TOPICS), count)
    return [
        called("note", FULL, text=f"{topic}: open")
        if at % 3 == 2
        else called("research", DOWN, query=f"{topic} {'again ' * (at // 7)}")
        for at, topic in enumerate(topics)
    ]


def kinds(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["kind"], loop["repeats"]) for loop in result["details"]["loops"]]


def test_nine_calls_in_a_row_that_fail_in_two_ways_are_a_loop():
    assert kinds(row(9)) == [("same_failure", 9)]
    assert kinds(row(8)) == []
    assert kinds(row(8), max_repeats=2) == [("same_failure", 8)]
    assert kinds(row(11), max_repeats=4) == []


def test_a_success_or_a_request_between_restarts_the_count():
    steps = row(12)
    done = called("research", "Three companies build them: Volt, Ampere and Ohm.", query="stations")
    assert kinds([*steps[:6], done, *steps[6:]]) == []
    asked = {"type": "user", "output": "Then leave that, and tell me of trains instead."}
    assert kinds([*steps[:6], asked, *steps[6:]]) == []


def test_failures_of_many_kinds_are_tries():
    steps = row(12)
    for at, (step, word) in enumerate(
        zip(
            steps,
            ["the", "a", "one", "two", "few", "all", "most", "some", "no", "any", "each", "both"],
            strict=True,
        )
    ):
        step["output"] = f"Error in {word}: {word[::-1]} could not be done with {'it ' * at}"
    assert kinds(steps) == []


def test_failures_that_are_not_compared_in_full_are_no_loop(monkeypatch):
    monkeypatch.setattr(work_budget, "WORK_LIMIT", 1)
    assert ("same_failure", 12) not in kinds(row(12))


def test_results_that_are_known_may_lie_between_failures():
    tree = called("run_tests", "The working tree is unmodified, so nothing was tested.")
    steps = [step for each in row(9) for step in (each, tree)]
    assert ("same_failure", 9) in kinds([tree, *steps], similarity_threshold=1, max_period=1)
    fresh = [called("run_tests", f"{'ab' * at} passed") if at % 2 else each for at, each in enumerate(steps)]  # fmt: skip
    assert not any(kind == "same_failure" for kind, _ in kinds(fresh))
    saved = called("save", "The plan was saved.", plan="b")
    waited = called("sleep", "slept", seconds=9)
    for other in (saved, waited):
        between = [step for each in row(9) for step in (each, other)]
        assert not any(kind == "same_failure" for kind, _ in kinds([other, *between]))


STORE_FULL = "Error: the store is full, remove some entries first"
NO_ENTRY = "Error: there is no such entry"


def stored(requests, each=3, tool="memory_add"):
    """Return for each of some requests of the user attempts to store what it says, and to make room for it, that fail."""
    return [
        step
        for at, topic in enumerate(islice(cycle(TOPICS), requests))
        for step in (
            {
                "type": "user",
                "output": f"{topic.capitalize()}: {chr(97 + at) * 9} {topic[::-1]}, so keep it in mind.",
            },
            *(
                called("memory_remove", NO_ENTRY, key=f"{topic} {at}")
                if turn % 2
                else called(tool, STORE_FULL, key=f"{topic} {at}", value=f"{topic} " * (turn + 1))
                for turn in range(each)
            ),
        )
    ]


def test_eighteen_changes_that_fail_in_a_row_are_a_loop_across_requests():
    assert kinds(stored(6)) == [("same_failure", 18)]
    assert kinds(stored(6)[:-1]) == []
    assert kinds(stored(4), max_repeats=2) == [("same_failure", 12)]


def test_one_failure_for_each_request_or_looks_that_fail_are_no_loop_across_requests():
    assert kinds(stored(20, each=1)) == []
    steps, done = stored(7), called("memory_add", "The entry was stored.", key="rules")
    assert kinds([*steps[:12], done, *steps[12:]]) == []
    looks = [
        called("get_entry", NO_ENTRY, key=step["arguments"]["key"]) if "arguments" in step else step
        for step in stored(6)
    ]
    assert kinds(looks) == []


def test_tools_that_are_all_unknown_fail_in_one_way_whatever_their_names():
    names = ("lookup", "find_one", "query_all", "seek", "search_for", "fetch_it", "get_any", "browse", "inquire")  # fmt: skip
    steps = [called(name, f"Unknown tool: {name}", key=name[::-1] * 2) for name in names]
    assert kinds(steps) == [("same_failure", 9)]
    assert kinds(steps[:-1]) == []

"""A tool that fails in one way whatever it is asked: a loop, whatever else is called between."""

from __future__ import annotations

from weighbridge.graders.loop import LoopGrader

QUERIES = (
    "ferry",
    "timetable of the north",
    "harbour dues",
    "crew of the Ada",
    "storms in May",
    "berths",
    "pilot boats",
)
FAILED = "Request failed with status code 400"


def search(query, error=FAILED, **more):
    step = {"type": "tool", "name": "search_notes", "arguments": {"query": query, "limit": 200}}
    return {**step, "output": error, "error": error, **more}


def looked_up(at, name="get_status"):
    return {
        "type": "tool",
        "name": name,
        "arguments": {"at": at},
        "output": f"state {at} of the notes",
    }


def rules(steps, **config):
    given = [{"id": f"s{at}", **step} for at, step in enumerate(steps, 1)]
    result = LoopGrader(config=config).grade({"format": "weighbridge", "steps": given})
    return [(loop["rule"], loop["repeats"]) for loop in result["details"]["loops"]]


def with_others(steps, name="get_status"):
    """Return steps with another one after every third."""
    others = {at: [looked_up(at, name)] for at in range(2, len(steps) - 1, 3)}
    return [each for at, step in enumerate(steps) for each in (step, *others.get(at, []))]


def test_seven_calls_that_fail_alike_are_a_loop_whatever_is_looked_up_between():
    failed = [search(query) for query in QUERIES]
    assert rules(with_others(failed)) == [("broken_tool", 7)]
    assert rules(with_others(failed[:6])) == []
    assert rules(with_others(failed[:5]), max_repeats=2) == [("broken_tool", 5)]


def test_questions_that_another_tool_answers_are_no_loop():
    failed = [search(query) for query in QUERIES]
    answered = [each for at, step in enumerate(failed) for each in (step, looked_up(at))]
    assert rules(answered) == []


def test_a_tool_that_works_or_fails_otherwise_between_is_not_broken():
    failed = [search(query) for query in QUERIES]
    works = {**search("pier"), "output": '["pier 7"]'}
    del works["error"]
    for other in (works, search("pier", "The folder is locked by another program")):
        assert rules(with_others([*failed[:4], other, *failed[4:]])) == []


def test_after_a_change_or_a_request_a_tool_may_work():
    failed = [search(query) for query in QUERIES]
    assert rules(with_others(failed, "write_config")) == []
    request = {"type": "user", "output": "Now look for the boats of Tuesday."}
    assert rules([*with_others(failed[:4]), request, *with_others(failed[4:])]) == []


def test_calls_of_one_message_are_made_before_any_of_them_fails():
    answer = {"type": "llm", "output": "I search for all of it."}
    failed = [search(query, parent_id="s1") for query in QUERIES]
    other = {**looked_up(1), "parent_id": "s1"}
    for steps in (failed, [*failed[:4], other, *failed[4:]]):
        assert "broken_tool" not in dict(rules([answer, *steps]))

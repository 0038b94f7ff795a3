"""The calls within OpenAI's `multi_tool_use.parallel` are the calls of the trace, and not the wrapper."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from weighbridge.graders import BudgetGrader, ToolSchemaGrader
from weighbridge.traces import Step, read_trace
from weighbridge.traces.formats.native import to_native

WRAPPER = "multi_tool_use.parallel"


def use(name: Any, **arguments: Any) -> dict[str, Any]:
    return {"recipient_name": name, "parameters": arguments}


def chat(*uses: Any, output: Any = "ok", name: str = WRAPPER) -> list[dict[str, Any]]:
    arguments = orjson.dumps({"tool_uses": list(uses)}).decode()
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return [
        {"role": "user", "content": "Do both."},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": output},
    ]


def calls_in(value: Any) -> list[Step]:
    return read_trace(value).steps_of("tool")


def test_each_call_within_a_wrapper_is_a_call() -> None:
    first, second = calls_in(chat(use("functions.read", path="a"), use("write", path="b")))
    assert (first.name, first.arguments, first.output) == ("read", {"path": "a"}, "ok")
    assert (second.name, second.arguments, second.output) == ("write", {"path": "b"}, None)
    assert first.id != second.id


def test_a_list_with_a_result_for_each_call_is_divided() -> None:
    results = calls_in(chat(use("a"), use("b"), output='[{"n": 1}, {"n": 2}]'))
    assert [call.output for call in results] == [{"n": 1}, {"n": 2}]
    assert read_trace(chat(use("a"), use("b"), output='["x", "y"]')).not_carried == ()
    [note] = read_trace(chat(use("a"), use("b"))).not_carried
    assert "recorded as one" in note


@pytest.mark.parametrize("damaged", [None, 5, "x", {}, {"recipient_name": 5}])
def test_a_call_that_cannot_be_read_has_no_name(damaged: Any) -> None:
    assert [call.name for call in calls_in(chat(use("a"), damaged))] == ["a", None]


@pytest.mark.parametrize("name", ["multi_tool_use", "parallel", "functions.parallel"])
def test_a_tool_of_another_name_is_a_call_itself(name: str) -> None:
    assert [call.name for call in calls_in(chat(use("a"), name=name))] == [name]


@pytest.mark.parametrize("uses", [[], ["a"], [{"name": "a"}]])
def test_a_wrapper_without_known_calls_is_a_call(uses: list[Any]) -> None:
    assert [call.name for call in calls_in(chat(*uses))] == [WRAPPER]


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ({}, [WRAPPER]),
        ({"output": "no such tool", "error": "no such tool"}, [WRAPPER]),
        ({"output": "ok"}, ["a"]),
    ],
    ids=["no result", "refused", "carried out"],
)
def test_a_wrapper_that_was_not_offered_is_its_calls_only_if_it_was_carried_out(
    facts: dict[str, Any], names: list[str]
) -> None:
    wrapper = {"type": "tool", "name": WRAPPER, "arguments": {"tool_uses": [use("a")]}}
    run = {"format": "weighbridge", "steps": [wrapper | facts], "tools": [{"name": "a"}]}
    assert [call.name for call in calls_in(run)] == names


def test_a_wrapper_around_recorded_steps_is_kept() -> None:
    steps = [
        {"id": "w", "type": "tool", "name": WRAPPER, "arguments": {"tool_uses": [use("a")]}},
        {"id": "a", "type": "tool", "name": "a", "parent_id": "w"},
    ]
    assert [call.name for call in calls_in({"format": "weighbridge", "steps": steps})] == [
        WRAPPER,
        "a",
    ]


def test_graders_judge_the_calls_within() -> None:
    run = chat(use("functions.delete_all"), use("functions.delete_all"))
    for value in (run, to_native(read_trace(run))):
        assert ToolSchemaGrader(config={"blocklist": ["delete_all"]}).grade(value)["verdict"] == (
            "fail"
        )
        assert ToolSchemaGrader(config={"allowlist": ["delete_all"]}).grade(value)["verdict"] == (
            "pass"
        )
        assert BudgetGrader(config={"max_tool_calls": 1}).grade(value)["verdict"] == "fail"
        assert BudgetGrader(config={"max_tool_calls": 2}).grade(value)["verdict"] == "pass"

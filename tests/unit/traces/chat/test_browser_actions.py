"""Messages of browser-use's model calls: each action of an answer is a call with its own result."""

from __future__ import annotations

import json

import pytest

from weighbridge.graders import LoopGrader
from weighbridge.traces import read_trace


def output(number, *actions, goal="Open the shop."):
    arguments = {
        "current_state": {"memory": f"Step {number}.", "next_goal": goal},
        "action": list(actions),
    }
    return {"id": f"c{number}", "name": "AgentOutput", "args": arguments}


def click(index):
    return {"click_element": {"index": index}}


RUN = [
    ("system", "You automate a browser."),
    ("user", "Your task is: find the cheapest boat."),
    ("user", "Example output:"),
    ("assistant", output(1, click(0))),
    ("tool", ("c1", "Browser started")),
    ("user", "[Your task history memory starts here]"),
    ("assistant", output(2, {"go_to_url": {"url": "shop.example"}}, click(4), click(5))),
    ("tool", ("c2", "")),
    ("user", "Action result: Navigated to shop.example"),
    ("user", "Action error: Element 4 does not exist"),
    ("assistant", output(3, click(6))),
    ("tool", ("c3", "")),
    ("user", "Current url: shop.example/boats"),
]


def langchain(run):
    kinds = {"system": "system", "user": "human", "assistant": "ai", "tool": "tool"}
    for role, said in run:
        message = {"type": kinds[role], "content": "" if role in {"assistant", "tool"} else said}
        if role == "assistant":
            message["tool_calls"] = [{**said, "type": "tool_call"}]
        elif role == "tool":
            message |= {"tool_call_id": said[0], "content": said[1], "status": "success"}
        yield message


def openai(run):
    for role, said in run:
        message = {"role": role, "content": None if role == "assistant" else said}
        if role == "assistant":
            called = {"name": said["name"], "arguments": json.dumps(said["args"])}
            message["tool_calls"] = [{"id": said["id"], "type": "function", "function": called}]
        elif role == "tool":
            message |= {"tool_call_id": said[0], "content": said[1]}
        yield message


@pytest.mark.parametrize("write", [langchain, openai])
def test_actions_are_calls_and_the_messages_after_them_are_their_results(write):
    trace = read_trace(list(write(RUN)))
    assert [(step.type, step.name, step.output, bool(step.error)) for step in trace.steps] == [
        ("system", None, "You automate a browser.", False),
        ("user", None, "Your task is: find the cheapest boat.", False),
        ("user", None, "[Your task history memory starts here]", False),
        ("llm", None, "Step 2.\nOpen the shop.", False),
        ("tool", "go_to_url", "Navigated to shop.example", False),
        ("tool", "click_element", "Element 4 does not exist", True),
        ("tool", "click_element", None, False),
        ("llm", None, "Step 3.\nOpen the shop.", False),
        ("tool", "click_element", None, False),
        ("user", None, "Current url: shop.example/boats", False),
    ]
    assert [step.arguments for step in trace.steps_of("tool")] == [
        {"url": "shop.example"},
        {"index": 4},
        {"index": 5},
        {"index": 6},
    ]


def test_an_action_that_is_null_was_not_asked_for():
    run = [*RUN[:2], ("assistant", output(2, {"done": None, **click(4)}))]
    [call] = read_trace(list(openai(run))).steps_of("tool")
    assert (call.name, call.arguments) == ("click_element", {"index": 4})


@pytest.mark.parametrize("write", [langchain, openai])
def test_clicks_that_are_repeated_within_answers_and_across_them_are_a_loop(write):
    clicks = [
        each
        for number in range(2, 5)
        for each in (
            ("assistant", output(number, click(27), click(27), goal=f"Look for July, try {number}.")),
            ("tool", (f"c{number}", "")),
            ("user", "Action result: Clicked button with index 27"),
            ("user", "Action result: Clicked button with index 27"),
        )
    ]  # fmt: skip
    result = LoopGrader().grade(list(write([*RUN[:6], *clicks])))
    assert [loop["repeats"] for loop in result["details"]["loops"]] == [6]


@pytest.mark.parametrize(
    "arguments",
    [{"action": "click"}, {"current_state": {}}, [], "no JSON", None],
    ids=["a text", "no actions", "a list", "no object", "nothing"],
)
def test_other_calls_of_that_name_are_left_as_they_are(arguments):
    call = {"id": "c1", "type": "function", "function": {"name": "AgentOutput", "arguments": arguments}}  # fmt: skip
    trace = read_trace(
        [
            {"role": "user", "content": "Find the cheapest boat."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "Done."},
        ]
    )
    assert [(step.name, step.output) for step in trace.steps_of("tool")] == [
        ("AgentOutput", "Done.")
    ]

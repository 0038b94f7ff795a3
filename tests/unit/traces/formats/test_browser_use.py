"""browser-use's histories: an answer for each step, with its actions and what each of them brought."""

from __future__ import annotations

from support.trace_examples.personal_agents import BROWSER_USE
from weighbridge.traces import Usage, read_trace


def test_each_action_of_a_step_is_a_call_with_its_result():
    trace = read_trace(BROWSER_USE)
    assert trace.format == "browser-use"
    assert [(step.type, step.name, step.output, step.error) for step in trace.steps] == [
        ("llm", None, "Unknown\nNothing is open.\nOpen the shop.", None),
        ("tool", "go_to_url", "Opened shop.example", None),
        ("tool", "click", "Element 4 does not exist", "Element 4 does not exist"),
        ("other", None, "The model did not answer in JSON", "The model did not answer in JSON"),
        ("llm", None, "Done.", None),
        ("tool", "done", "It costs 3.", None),
    ]
    assert trace.steps[1].arguments == {"url": "shop.example"}
    assert (trace.usage, trace.totals_from) == (Usage(90, 10, 100), "usage")
    assert trace.steps[0].started_at == 1735732801_500_000_000


def test_a_bare_list_of_steps_is_read_too():
    trace = read_trace(BROWSER_USE["history"])
    assert len(trace.steps) == 6
    assert trace.usage is None


def test_actions_after_one_that_failed_have_no_result():
    (first, *_) = BROWSER_USE["history"]
    trace = read_trace({"history": [{**first, "result": first["result"][:1]}]})
    assert [step.output for step in trace.steps if step.type == "tool"] == [
        "Opened shop.example",
        None,
    ]


def test_a_step_of_2024_has_one_action_and_one_result():
    def step(goal, action, result):
        said = {"valuation_previous_goal": "Success", "memory": "", "next_goal": goal}
        answer = {"current_state": said, "action": action}
        return {"model_output": answer, "result": result, "state": {"url": "shop.example"}}

    opened = step("Open it.", {"click_element": {"index": 4}}, {"error": "No element 4"})
    done = step("", {"done": {"text": "It costs 3."}}, {"is_done": True, "extracted_content": "It costs 3."})  # fmt: skip
    unanswered = {"model_output": None, "result": {"error": "No answer"}, "state": {}}
    trace = read_trace({"history": [opened, unanswered, done]})
    assert [(step.type, step.name, step.output, step.error) for step in trace.steps] == [
        ("llm", None, "Success\nOpen it.", None),
        ("tool", "click_element", "No element 4", "No element 4"),
        ("other", None, "No answer", "No answer"),
        ("llm", None, "Success", None),
        ("tool", "done", "It costs 3.", None),
    ]
    assert trace.steps[1].arguments == {"index": 4}


def test_an_action_among_the_names_of_others_with_null_is_the_one_with_a_value():
    action = {"done": None, "click_element": {"index": 3}, "scroll": None}
    entry = {"model_output": {"action": action}, "result": {"error": None}, "state": {}}
    assert [step.name for step in read_trace([entry]).steps_of("tool")] == ["click_element"]

"""InterCode's logs of experiments."""

from __future__ import annotations

import pytest

from support.trace_examples.benchmarks import INTERCODE
from weighbridge.errors import TraceError
from weighbridge.traces import Step, read_trace, read_traces
from weighbridge.traces.formats.intercode import IMPORTER
from weighbridge.traces.split import single_traces


def task(environment="ic_sql", **history):
    lists = {"actions": [], "observations": [], "rewards": []}
    return {"environment": environment, "query": "q", "turn_history": {**lists, **history}}


def test_actions_that_ran_are_calls():
    trace = read_trace({"0": INTERCODE})
    assert (trace.id, trace.format) == ("0", "intercode")
    assert trace.metadata == {"environment": "ic_bash", "dataset": "d.json", "max_reward": 0.67, "turns_taken": 3}  # fmt: skip
    refusal = INTERCODE["turn_history"]["observations"][1]
    assert trace.steps == (
        Step(id="s1", type="user", output="Count the files."),
        Step(id="s2", type="llm", output="List them."),
        Step(id="s3", type="tool", parent_id="s2", name="bash", arguments={"command": "ls -q"}, output="ls: invalid option\n", error="ls: invalid option\n"),
        Step(id="s4", type="llm", output="Count.\nls"),
        Step(id="s5", type="user", output=refusal),
        Step(id="s6", type="llm", output="Again."),
        Step(id="s7", type="tool", parent_id="s6", name="submit", arguments={}, output="2"),
        Step(id="s8", type="other", name="submit", output="2"),
    )  # fmt: skip
    assert trace.not_carried == ("turn_history field 'rewards' (1)",)


def test_a_plan_is_a_model_call_of_its_own():
    history = {"actions": ["SHOW x", "a"], "observations": ["x", "y"], "steps": ["Look."], "valid_action": [True, False]}  # fmt: skip
    steps = read_trace({"meta": {"env": "sql"}, "logs": {"7": task(**history)}}).steps
    assert [(step.type, step.output) for step in steps] == [
        *(("user", "q"), ("llm", "Look."), ("user", "Look."), ("llm", None), ("tool", "x")),
        *(("llm", None), ("tool", "y")),
    ]


@pytest.mark.parametrize(
    ("action", "observation", "called"),
    [
        ("submit flag{a}", "no", ("submit", {"answer": "flag{a}"}, None)),
        ("Skip", "skipped", ("skip", {}, None)),
        ("execute[x]", "", ("sql", {"command": "execute[x]"}, "the action failed")),
        ("blocked", "no", ("sql", {"command": "blocked"}, "no")),
        ("Hm.", "No SQL code was found in your last response.\nYour...", None),
    ],
)
def test_an_action_is_named_by_its_environment(action, observation, called):
    failed = called is not None and called[2] is not None
    held = task(actions=[action], observations=[observation], valid_action=[not failed])
    calls = [step for step in read_trace({"0": held}).steps if step.type == "tool"]
    assert [(step.name, step.arguments, step.error) for step in calls] == [called] * bool(called)


def test_a_blocked_answer_makes_no_call():
    steps = read_trace({"0": task(actions=["a", "blocked"], observations=["x"])}).steps
    assert [(step.type, step.error) for step in steps[1:]] == [
        *(("llm", None), ("tool", None), ("llm", "blocked"))
    ]


def test_each_task_is_a_trace():
    parts = single_traces({"0": INTERCODE, "5": task()})
    assert [key for key, _ in parts] == ["0", "5"]
    assert [read_traces(part)[0].format for _, part in parts] == ["intercode"] * 2


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ({"0": task(actions=[1])}, "action 1 of task 0"),
        ({**{str(number): INTERCODE for number in range(20)}, "20": {}}, "task 20"),
    ],
)
def test_a_damaged_task_is_named(value, named):
    with pytest.raises(TraceError, match=named):
        read_traces(value)


@pytest.mark.parametrize(
    "value",
    [[], {}, {"logs": {}}, {"a": {"turn_history": {}}}, {"0": INTERCODE, "1": 2}],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)

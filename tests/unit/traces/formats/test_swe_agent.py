"""SWE-agent trajectories: a model call and a tool call for each turn, and the totals of the run."""

from __future__ import annotations

import pytest

from weighbridge.errors import TraceError
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.formats.swe_agent import IMPORTER


def turn(action, response="Let me see.", observation="seen", **fields):
    return {"action": action, "response": response, "observation": observation, **fields}


def traj(*turns, **fields):
    return {"trajectory": list(turns), "history": [], "info": {}, **fields}


def calls(*turns):
    return [(step.name, step.arguments) for step in read_trace(traj(*turns)).steps_of("tool")]


def test_a_turn_is_a_model_call_and_the_call_that_it_made():
    trace = read_trace(traj(turn('find_file "a.py"\n'), turn("submit", "Done.", "diff")))
    assert trace.format == "swe-agent"
    assert trace.steps == (
        Step(id="s1", type="llm", output="Let me see."),
        Step(
            id="s2",
            type="tool",
            parent_id="s1",
            name="find_file",
            arguments={"argument": '"a.py"'},
            output="seen",
        ),
        Step(id="s3", type="llm", output="Done."),
        Step(id="s4", type="tool", parent_id="s3", name="submit", arguments={}, output="diff"),
    )


def test_the_turns_may_stand_alone():
    assert read_trace([turn("ls")]).steps == read_trace(traj(turn("ls"))).steps


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ("ls", "ls", {}),
        ("  ls -F \n", "ls", {"argument": "-F"}),
        ("edit 1:1\nimport os\nend_of_edit", "edit", {"argument": "1:1\nimport os\nend_of_edit"}),
        ("edit\n    return 1", "edit", {"argument": "    return 1"}),
        ("cd /x && make\ttest", "cd", {"argument": "/x && make\ttest"}),
    ],
)
def test_an_action_is_a_call_named_by_its_first_word_and_the_rest_its_argument(
    action, name, arguments
):
    assert calls(turn(action)) == [(name, arguments)]


@pytest.mark.parametrize("action", ["", " \n", None])
def test_a_turn_without_an_action_calls_nothing(action):
    trace = read_trace(traj(turn(action, "I forgot the format.")))
    assert [step.type for step in trace.steps] == ["llm"]


def test_without_a_response_the_thought_is_what_the_model_said():
    trace = read_trace(traj(turn("ls", "", thought="I list the files.")))
    assert trace.steps[0].output == "I list the files."


@pytest.mark.parametrize(
    ("ending", "name", "output"),
    [
        (turn("exit_cost", "", "Exited"), "exit_cost", "Exited"),
        (turn("", "Exit due to cost limit", ""), None, "Exit due to cost limit"),
    ],
)
def test_how_swe_agent_ends_a_run_is_no_call_of_the_agents(ending, name, output):
    trace = read_trace(traj(turn("ls"), ending))
    assert [step.type for step in trace.steps] == ["llm", "tool", "other"]
    assert (trace.steps[-1].name, trace.steps[-1].output) == (name, output)


def test_giving_up_is_the_agents_own_call():
    assert calls(turn("exit_forfeit", "I give up.")) == [("exit_forfeit", {})]


def test_the_prompts_of_the_history_come_first_and_demonstrations_do_not():
    history = [
        {"role": "system", "content": "You are an engineer."},
        {"role": "user", "content": "Here is a demonstration.", "is_demo": True},
        {"role": "user", "content": [{"type": "text", "text": "Fix the issue."}]},
        {"role": "assistant", "content": "Let me see.", "action": "ls"},
        {"role": "user", "content": "seen"},
    ]
    trace = read_trace(traj(turn("ls"), history=history))
    assert [(step.type, step.output) for step in trace.steps] == [
        ("system", "You are an engineer."),
        ("user", "Fix the issue."),
        ("llm", "Let me see."),
        ("tool", "seen"),
    ]
    assert trace.not_carried == ("messages of a demonstration (1)",)


def test_a_history_alone_tells_the_turns():
    history = [
        {"role": "system", "content": "You are an engineer."},
        {"role": "assistant", "content": "I look.", "action": "ls -F", "tool_calls": [{}]},
        {"role": "tool", "content": "a.py", "tool_call_ids": ["c"]},
        {"role": "assistant", "content": "Done.", "action": "submit"},
    ]
    trace = read_trace({"history": history})
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("system", None, "You are an engineer."),
        ("llm", None, "I look."),
        ("tool", "ls", "a.py"),
        ("llm", None, "Done."),
        ("tool", "submit", None),
    ]
    assert trace.not_carried == ("function calls of the history, which the actions represent (1)",)


def with_stats(**stats):
    return read_trace(traj(turn("ls"), info={"exit_status": "submitted", "model_stats": stats}))


def test_tokens_and_cost_are_of_the_run():
    trace = with_stats(instance_cost=0.5, tokens_sent=700, tokens_received=30, api_calls=5)
    assert (trace.usage, trace.cost_usd) == (Usage(700, 30), 0.5)
    assert trace.metadata == {"exit_status": "submitted", "api_calls": 5}
    assert set(trace.missing) == {"timing", "tool_definitions"}


@pytest.mark.parametrize(
    ("stats", "cost"),
    [
        ({"instance_cost": 0.5, "total_cost": 9.0}, 0.5),
        ({"task_cost": 0.5, "total_cost": 9.0}, 0.5),
        ({"total_cost": 9.0}, 9.0),
        ({"instance_cost": 0, "tokens_sent": 5, "tokens_received": 1}, None),
    ],
)
def test_the_cost_is_the_runs_own_under_each_versions_name(stats, cost):
    assert with_stats(**stats).cost_usd == cost


def test_zeros_after_a_replay_were_not_counted():
    trace = with_stats(instance_cost=0, tokens_sent=0, tokens_received=0, api_calls=0)
    assert (trace.usage, trace.cost_usd) == (None, None)
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}


CONFIG = {"agent": {"model": {"name": "m-1"}}, "problem_statement": {"id": "issue-7"}}


@pytest.mark.parametrize(
    "config",
    [CONFIG, '{"agent": {"model": {"name": "m-1"}}, "problem_statement": {"id": "issue-7"}}'],
    ids=["an object", "its text"],
)
def test_model_and_id_are_in_the_configuration(config):
    trace = read_trace(traj(turn("ls"), replay_config=config))
    assert (trace.id, trace.steps[0].model) == ("issue-7", "m-1")


@pytest.mark.parametrize("config", ["{", "5", 5, None, {"agent": []}])
def test_a_configuration_that_cannot_be_read_tells_nothing(config):
    assert read_trace(traj(turn("ls"), replay_config=config)).id is None


@pytest.mark.parametrize("bad", ["ls", None, {"action": {"tool": "ls"}, "observation": ""}])
def test_an_entry_without_a_text_as_action_is_an_error_that_says_which(bad):
    with pytest.raises(TraceError, match="entry 2 of the trajectory has no text as its action"):
        read_trace(traj(turn("ls"), bad))


def test_what_else_a_turn_tells_is_noted():
    trace = read_trace(traj(turn("ls", execution_time=0.5, state={"open_file": "a"}, query=[])))
    assert trace.not_carried == ("turn field 'execution_time' (1)", "turn field 'state' (1)")


def told(content, **fields):
    return {"role": "assistant", "content": content, **fields}


def test_actions_that_only_the_history_tells_are_read_from_there():
    history = [told("I look.", action="ls -F"), {"role": "user", "content": "a.py"}]
    trace = read_trace(traj(turn(""), history=history))
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("llm", None, "I look."),
        ("tool", "ls", "a.py"),
    ]
    assert "tool_calls" not in trace.missing


def test_function_calls_of_a_history_without_actions_are_calls():
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    history = [
        told("I look.", action="", tool_calls=[{"id": "c1", "function": function}]),
        {"role": "tool", "content": "a.py", "tool_call_ids": ["c1"]},
    ]
    trace = read_trace(traj(turn("", "I look."), history=history))
    [tool] = trace.steps_of("tool")
    assert (tool.id, tool.arguments, tool.output) == ("c1", {"command": "ls"}, "a.py")
    assert trace.not_carried == ()


def test_a_history_of_another_programs_events_is_none_of_swe_agents():
    events = [
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls"}},
        {"id": 2, "source": "agent", "observation": "run", "content": "a.py"},
    ]
    assert read_trace({"instance_id": "i", "history": events}).format == "openhands"


def test_a_history_that_tells_more_actions_than_the_turns_is_noted():
    history = [told("a", action="ls"), told("b", action="rm x"), told("", action="exit_cost")]
    trace = read_trace(traj(turn("ls"), turn(""), history=history))
    assert "not read" in trace.missing["tool_calls"]
    assert trace.not_carried == ("actions of the history that no turn shows (1)",)


DEMO = {
    "instance_id": "i-1",
    "model": "m",
    "num_steps": 2,
    "history": [
        {"type": "thought", "thought": ""},
        {"type": "thought", "thought": "I look."},
        {"type": "action", "action": "open a.py"},
        {"type": "output", "output_terminal": "", "output_editor": "1: x"},
        {"type": "thought", "thought": "I run."},
        {"type": "action", "action": "python a.py"},
        {"type": "output", "output_terminal": "done", "output_editor": "1: x"},
        {"type": "thought", "thought": "That is all."},
    ],
}


def test_a_run_of_the_web_demo_has_its_thoughts_as_model_calls_with_their_actions():
    trace = read_trace(DEMO)
    assert (trace.format, trace.id) == ("swe-agent", "i-1")
    found = [(step.type, step.name, step.output) for step in trace.steps]
    assert found == [
        ("llm", None, "I look."),
        ("tool", "open", "1: x"),
        ("llm", None, "I run."),
        ("tool", "python", "done"),
        ("llm", None, "That is all."),
    ]
    assert {step.model for step in trace.steps_of("llm")} == {"m"}


def test_each_run_in_a_list_of_the_web_demo_is_a_trace():
    parts = IMPORTER.parts([DEMO, {**DEMO, "instance_id": "i-2"}])
    assert [name for name, _ in parts] == ["i-1", "i-2"]
    assert IMPORTER.matches([DEMO])
    assert IMPORTER.parts([DEMO]) == []


@pytest.mark.parametrize(
    "value",
    [
        {**DEMO, "history": []},
        {**DEMO, "history": [{"type": "thought", "text": "x"}]},
        {**DEMO, "history": [{"type": ["thought"], "thought": "x"}]},
        {"history": DEMO["history"]},
        [DEMO, {}],
        [],
    ],
)
def test_other_histories_are_not_taken_for_the_web_demo(value):
    assert not IMPORTER.matches(value)

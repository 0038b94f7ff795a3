"""Results of DA-Agent and Spider-Agent: the result of an action is the observation of the next entry."""

from __future__ import annotations

import pytest

from support.trace_examples import claiming
from support.trace_examples.benchmarks import DA_AGENT
from weighbridge.errors import TraceError
from weighbridge.traces import Step, read_trace

OPENING = "You are in the folder now."


def entry(action, observation=OPENING, **fields):
    return {"observation": observation, "thought": "t", "action": action, **fields}


def called(action):
    [step] = read_trace([entry(action)]).steps_of("tool")
    return step.name, step.arguments


def second(action, observation):
    """Return the first call of a run, with its result."""
    return read_trace([entry(action), entry("None", observation)]).steps_of("tool")[0]


def test_the_result_of_an_action_is_the_observation_of_the_next_entry():
    trace = read_trace(DA_AGENT)
    assert trace.format == "da-agent"
    assert trace.steps == (
        Step(id="s1", type="system", output=DA_AGENT["system_message"]),
        Step(id="s2", type="user", output=OPENING),
        Step(id="s3", type="llm", output='Thought: I look.\n\nAction: Bash(code="ls -l")'),
        Step(id="s4", type="tool", parent_id="s3", name="Bash", arguments={"code": "ls -l"}, output="a.sqlite"),
        Step(id="s5", type="llm", output="I count."),
        Step(
            id="s6",
            type="tool",
            parent_id="s5",
            name="LOCAL_DB_SQL",
            arguments={"file_path": "a.sqlite", "command": "SELECT count(*) FROM user", "output": "direct"},
            output="ERROR: no such table: user",
            error="ERROR: no such table: user",
        ),
        Step(id="s7", type="llm", output="I end."),
        Step(id="s8", type="tool", parent_id="s7", name="Terminate", arguments={"output": "out.csv"}, output="out.csv"),
    )  # fmt: skip
    assert trace.metadata == {"task": "Count the users.", "finished": True, "result": "out.csv"}
    assert (trace.counts.llm_calls, trace.totals_from) == (3, "steps")
    assert trace.not_carried == ("file field 'result_files' (1)",)
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}


def test_a_run_without_an_end_does_not_record_the_result_of_its_last_action():
    held = {**DA_AGENT, "finished": False, "result": "", "trajectory": DA_AGENT["trajectory"][:2]}
    assert [step.output for step in read_trace(held).steps_of("tool")] == ["a.sqlite", None]


@pytest.mark.parametrize(
    ("action", "name", "arguments"),
    [
        ('Bash(code="")', "Bash", {"code": ""}),
        ('Bash(code="f(\'a\', output="b") && echo \\"x\\"")', "Bash", {"code": "f('a', output=\"b\") && echo \\\"x\\\""}),
        ('Bash(code="ls")\n\nNote: or Bash(code="dir")', "Bash", {"code": 'ls")\n\nNote: or Bash(code="dir'}),
        ('Python(file_path="./a.py"):\n```python\nx = 1\n\nprint(x)\n```', "Python", {"file_path": "./a.py", "code": "x = 1\n\nprint(x)"}),
        ("Python(file_path='a.py'):\n'''python\nx = 1\n'''", "Python", {"file_path": "a.py", "code": "x = 1"}),
        ("CreateFile(filepath='a.md':\n'''\n```\nx\n```\n''')", "CreateFile", {"filepath": "a.md", "code": "```\nx\n```"}),
        ('EditFile(filepath="a.md"):\n```\n```', "EditFile", {"filepath": "a.md", "code": ""}),
        ('SQL(file_path="a.db", command="UPDATE t SET a="x", b="y"", output="direct")', "SQL", {"file_path": "a.db", "command": 'UPDATE t SET a="x", b="y"', "output": "direct"}),
        ('BIGQUERY_EXEC_SQL(sql_query="SELECT f(1)", is_save=False)', "BIGQUERY_EXEC_SQL", {"sql_query": "SELECT f(1)", "is_save": False}),
        ('SNOWFLAKE_EXEC_SQL(sql_query="SELECT 1", is_save=True, save_path="a.csv")', "SNOWFLAKE_EXEC_SQL", {"sql_query": "SELECT 1", "is_save": True, "save_path": "a.csv"}),
        ('BQ_SAMPLE_ROWS(database_name="d", dataset_name="s", table="t", row_number=3, save_path="a.json")', "BQ_SAMPLE_ROWS", {"database_name": "d", "dataset_name": "s", "table": "t", "row_number": 3, "save_path": "a.json"}),
        ('LoadImage(path="a.png", scale=2)', "LoadImage", {"path": "a.png", "scale": 2}),
        ('Terminate(output="a, b="c" (d)")', "Terminate", {"output": 'a, b="c" (d)'}),
        ("ExecutePythonSnippet\n '''\nprint(1)\n'''", "ExecutePythonSnippet", {"code": "print(1)"}),
        ("Wait()", "Wait", {}),
        ("Look at it", "Look", {"argument": "at it"}),
        ("(x)", None, {"argument": "(x)"}),
    ],
)  # fmt: skip
def test_an_action_is_a_call_with_its_arguments(action, name, arguments):
    assert called(action) == (name, arguments)


def test_an_answer_without_an_action_calls_nothing_and_is_answered():
    refusal = "Failed to parse action from your response, make sure you provide a valid action."
    steps = read_trace([entry("None"), entry('Bash(code="ls")', refusal), entry("None", "a")]).steps
    assert [(step.type, step.output) for step in steps] == [
        *(("user", OPENING), ("llm", "t"), ("user", refusal), ("llm", "t"), ("tool", "a")),
        ("llm", "t"),
    ]


REPEATED = "The action is the same as the last one, please provide a different action."
NO_TABLE = "ERROR: no such table: t"


@pytest.mark.parametrize(
    ("action", "observation", "has_failed"),
    [
        ('Bash(code="ls")', REPEATED, True),
        ('Python(file_path="a.py"):\n```python\nx\n```', "Action execution time exceeded!", True),
        ('SQL(file_path="a.db", command="x", output="direct")', NO_TABLE, True),
        ('Bash(code="./query")', NO_TABLE, False),
        ('BIGQUERY_EXEC_SQL(sql_query="x", is_save=False)', "Error occurred while fetching data:  404", True),
        ("CreateFile(filepath='a.md':\n'''\nx\n''')", "File /workspace/a.md already exists.", True),
        ("CreateFile(filepath='a.md':\n'''\nx\n''')", "File a.md created and written successfully.", False),
        ('Python(file_path="a.py"):\n```python\nx\n```', "Traceback (most recent call last):\nNameError: x", False),
    ],
)  # fmt: skip
def test_what_the_agents_own_tools_say_of_failures_is_an_error(action, observation, has_failed):
    call = second(action, observation)
    assert (call.output, call.error) == (observation, observation if has_failed else None)


def test_an_action_that_was_repeated_once_too_often_was_not_run():
    held = {"result": "ERROR: Repeated action", "trajectory": [entry('Bash(code="ls")')]}
    [call] = read_trace(held).steps_of("tool")
    assert call.error == call.output == "ERROR: Repeated action"


def test_a_task_that_the_prompt_does_not_have_is_the_users():
    held = {"system_message": "Be brief.", "Task": "Count.", "trajectory": [entry("None")]}
    assert [step.output for step in read_trace(held).steps[:3]] == ["Be brief.", "Count.", OPENING]


@pytest.mark.parametrize("bad", ["ls", None, {"action": None, "observation": ""}])
def test_an_entry_without_a_text_as_action_is_an_error_that_says_which(bad):
    with pytest.raises(TraceError, match="entry 2 of the trajectory has no text as its action"):
        read_trace([entry("None"), bad])


def test_observations_that_follow_their_actions_are_swe_agents():
    turns = [{"action": "ls", "observation": "a.py", "thought": "t"}]
    for held in (turns, {"Task": "Count.", "system_message": "s", "trajectory": turns}):
        assert claiming(held) == ["swe-agent"]
    assert claiming(DA_AGENT["trajectory"]) == claiming(DA_AGENT) == ["da-agent"]

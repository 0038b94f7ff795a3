"""mini-SWE-agent's trajectories: a call of the shell for each action, in each version of the format."""

from __future__ import annotations

import pytest

from weighbridge.traces import Step, Usage, read_trace

SYSTEM = {"role": "system", "content": "You have a shell."}
TASK = {"role": "user", "content": "Fix it, in this way:\n```bash\nyour_command\n```"}
LS = {"role": "assistant", "content": "THOUGHT: I look.\n\n```bash\nls -F\n```"}
SEEN = {"role": "user", "content": "<returncode>0</returncode>\n<output>\na.py\n</output>"}
NOON = 1_735_732_800


def traj(*messages, version="1", **info):
    return {
        "info": {"exit_status": "Submitted", "model_stats": {"instance_cost": 0.5, "api_calls": 2}} | info,
        "messages": [SYSTEM, TASK, *messages],
        "trajectory_format": f"mini-swe-agent-{version}",
    }  # fmt: skip


def calls(*messages, **facts):
    trace = read_trace(traj(*messages, **facts))
    return [(step.name, step.arguments, step.output) for step in trace.steps_of("tool")]


def test_the_only_block_of_an_answer_is_a_call_and_the_message_after_it_the_result():
    trace = read_trace(traj(LS, SEEN, {"role": "assistant", "content": "Done."}))
    assert trace.format == "mini-swe-agent"
    assert trace.steps == (
        Step(id="s1", type="system", output=SYSTEM["content"]),
        Step(id="s2", type="user", output=TASK["content"]),
        Step(id="s3", type="llm", output=LS["content"]),
        Step("s4", "tool", "s3", "bash", arguments={"command": "ls -F"}, output=SEEN["content"]),
        Step(id="s5", type="llm", output="Done."),
    )
    assert trace.cost_usd == 0.5
    assert trace.metadata == {"exit_status": "Submitted", "api_calls": 2}
    assert set(trace.missing) == {"token_usage", "timing", "tool_definitions"}
    assert trace.not_carried == ()


@pytest.mark.parametrize("text", ["No block.", "```bash\nls\n```\nand\n```bash\nrm a\n```", None])
def test_an_answer_without_exactly_one_block_runs_nothing(text):
    refused = {"role": "user", "content": "Give exactly one action."}
    assert calls({"role": "assistant", "content": text}, refused) == []


def test_a_command_that_nothing_answers_does_not_take_the_next_ones_result():
    again = {"role": "assistant", "content": "```bash\npwd\n```"}
    found = calls(LS, again, SEEN)
    assert found == [("bash", {"command": "ls -F"}, None), ("bash", {"command": "pwd"}, SEEN["content"])]  # fmt: skip


def test_the_recorded_actions_count_rather_than_the_text():
    answer = LS | {"extra": {"actions": [{"command": "ls"}, {"command": "pwd"}]}}
    other = SEEN | {"content": "/x", "extra": {"returncode": 0, "raw_output": "/x"}}
    assert calls(answer, SEEN, other, version="1.1") == [
        ("bash", {"command": "ls"}, SEEN["content"]),
        ("bash", {"command": "pwd"}, "/x"),
    ]
    assert calls(LS | {"extra": {"actions": []}}, SEEN, version="1.1") == []


def test_function_calls_are_read_with_the_tokens_cost_and_times_beside_them():
    function = {"name": "bash", "arguments": '{"command": "ls"}'}
    usage = {"prompt_tokens": 90, "completion_tokens": 9, "total_tokens": 99}
    answer = {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        "extra": {
            "actions": [{"command": "ls", "tool_call_id": "c1"}],
            "response": {"model": "m-2", "created": NOON, "usage": usage},
            "cost": 0.25,
            "timestamp": NOON + 2.5,
        },
    }
    failed = {"returncode": -1, "exception_info": "timed out", "timestamp": NOON + 9}
    result = {"role": "tool", "tool_call_id": "c1", "content": "no", "extra": failed}
    end = {"role": "exit", "content": "Submitted", "extra": {"submission": "diff"}}
    config = {"model": {"model_name": "m-1"}}
    trace = read_trace(traj(answer, result, end, version="1.1", config=config))
    _, _, model, tool, ended = trace.steps
    assert (model.model, model.usage, model.cost_usd) == ("m-2", Usage(90, 9, 99), 0.25)
    assert (model.started_at, model.ended_at) == (NOON * 10**9, (NOON * 10 + 25) * 10**8)
    assert (tool.id, tool.arguments, tool.error) == ("c1", {"command": "ls"}, "timed out")
    assert tool.ended_at == (NOON + 9) * 10**9
    assert (ended.type, ended.output) == ("other", "Submitted")
    assert set(trace.missing) == {"tool_definitions"}

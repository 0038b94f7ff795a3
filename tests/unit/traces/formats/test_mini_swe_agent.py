"""mini-SWE-agent's trajectories: a shell call for each action, in each version of the format."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.generated import examples
from weighbridge.traces import Counts, Step, Usage, read_trace
from weighbridge.traces.formats.mini_swe_commands import V1_LANGUAGES, commands_in

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


def test_the_counts_of_a_run_that_is_kept_without_its_messages_are_not_known():
    bare = {**traj(model_stats={}), "messages": [], "context": "It ran."}
    assert set(read_trace(bare).missing) >= {"llm_calls", "tool_calls", "token_usage", "cost"}
    stated = read_trace({**traj(), "messages": []})
    assert "no messages" in stated.missing["tool_calls"]
    assert stated.missing.keys().isdisjoint({"llm_calls", "cost"})
    none = read_trace({**traj(model_stats={"api_calls": 0}), "messages": []})
    assert none.missing.keys().isdisjoint({"llm_calls", "tool_calls"})


@pytest.mark.parametrize("language", ["bash", "mswea_bash_command"])
def test_messages_alone_are_a_run_if_one_is_what_a_command_printed(language):
    answer = {"role": "assistant", "content": f"I look.\n\n```{language}\nls -F\n```"}
    messages = [SYSTEM, TASK, answer, SEEN, {"role": "assistant", "content": "Done."}]
    for value in (messages, {"id": "a", "messages": messages, "resolved": True}):
        trace = read_trace(value)
        assert trace.format == "mini-swe-agent"
        [call] = trace.steps_of("tool")
        assert (call.arguments, call.output) == ({"command": "ls -F"}, SEEN["content"])
    assert (trace.id, trace.not_carried) == ("a", ("file field 'resolved' (1)",))
    assert read_trace([SYSTEM, TASK, answer]).format == "openai-chat"
    assert read_trace([SYSTEM, answer, TASK, answer, SEEN, TASK]).format == "mini-swe-agent"
    assert read_trace([SYSTEM, {**answer, "content": "x"}, SEEN]).format == "openai-chat"


def test_the_block_that_runs_is_the_one_in_the_programs_language_whatever_else_is_quoted():
    quoted = "It prints:\n```\nTraceback\n```\nor\n```python\nx\n```\n```bash\nls\n```\n"
    answer = {"role": "assistant", "content": quoted}
    assert calls(answer, SEEN) == [("bash", {"command": "ls"}, SEEN["content"])]
    # Such a block runs even inside of a line, and a fence of another kind does not.
    inline = {"role": "assistant", "content": "So ```bash \n ls\n``` it is."}
    assert calls(inline, SEEN) == [("bash", {"command": "ls"}, SEEN["content"])]
    assert calls({"role": "assistant", "content": "```\nls\n```"}, TASK) == []


@pytest.mark.parametrize(
    ("facts", "language"),
    [
        ({"mini_version": "1.15.0"}, "bash"),
        ({"mini_version": "2.1.0"}, "mswea_bash_command"),
        ({"config": {"agent": {"action_regex": r"```sh\s*\n(.*?)\n```"}}}, "sh"),
        ({"config": {"model": {"action_regex": r"```(?:a|zsh)\s*\n(.*?)\n```"}}}, "zsh"),
    ],
)
def test_the_runs_version_or_its_own_pattern_tells_the_language(facts, language):
    other = "bash" if language != "bash" else "sh"
    text = f"```{other}\nno\n```\n```{language}\nls\n```"
    answer = {"role": "assistant", "content": text}
    assert calls(answer, SEEN, **facts) == [("bash", {"command": "ls"}, SEEN["content"])]


def test_a_pattern_of_another_kind_leaves_the_calls_missing():
    config = {"agent": {"action_regex": r"<cmd>(.*?)</cmd>"}}
    answer = {"role": "assistant", "content": "<cmd>ls</cmd>"}
    trace = read_trace(traj(answer, SEEN, config=config))
    assert "tool_calls" in trace.missing


def test_an_observation_of_a_command_that_no_answer_shows_is_counted_and_said():
    cut = {"role": "assistant", "content": "THOUGHT: [cut]"}
    trace = read_trace(traj(LS, SEEN, cut, SEEN))
    assert [step.type for step in trace.steps[2:]] == ["llm", "tool", "llm", "other"]
    assert trace.counts == Counts(llm_calls=2, tool_calls=2)
    assert "of which 1 were read" in trace.missing["tool_calls"]


def test_answers_that_are_run_as_a_whole_are_calls_if_no_answer_of_the_run_has_a_command():
    code = {"role": "assistant", "content": "# Look first.\ndef look():\n    return run('ls')"}
    last = {"role": "assistant", "content": "I am done."}
    trace = read_trace(traj(code, SEEN, code, SEEN, last))
    assert [step.type for step in trace.steps[2:]] == ["llm", "tool", "llm", "tool", "llm"]
    made = trace.steps[3]
    assert (made.name, made.arguments) == ("answer", {"text": code["content"]})
    assert made.output == SEEN["content"]
    assert "tool_calls" not in trace.missing


PIECES = ["```bash", "```", "```mswea_bash_command", "\n", "\n```", " ", "ls", "\r\n", "``", "`"]


@given(st.lists(st.sampled_from(PIECES), max_size=24).map("".join))
@settings(deadline=None, max_examples=examples(300))
def test_commands_are_found_as_the_programs_own_pattern_finds_them(text):
    expected = [found.strip() for found in re.findall(r"```bash\s*\n(.*?)\n```", text, re.DOTALL)]
    assert commands_in(text, V1_LANGUAGES) == expected


@pytest.mark.parametrize("piece", ["```bash\n", "```bash", "```bash \n\n", "\n``` ```bash"])
def test_an_answer_full_of_fences_takes_no_longer_than_its_length(piece):
    began = time.process_time()
    commands_in(piece * (1_000_000 // len(piece)), V1_LANGUAGES)
    assert time.process_time() - began < 5


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


@pytest.mark.parametrize(
    ("extra", "text", "has_failed"),
    [
        ({"returncode": 1}, "no", True),
        ({"returncode": -1, "exception_info": ""}, "no", True),
        ({"returncode": 0}, "<returncode>1</returncode>", False),
        ({}, "<returncode>127</returncode>\n<output>\nno\n</output>", True),
        ({}, "<returncode>\n-1\n</returncode>", True),
        ({}, "<returncode>0</returncode>\n<output>\n<returncode>1</returncode>\n</output>", False),
        ({"returncode": "1"}, "no", False),
    ],
)
def test_a_command_with_an_exit_code_other_than_0_failed(extra, text, has_failed):
    [call] = read_trace(traj(LS, SEEN | {"content": text, "extra": extra})).steps_of("tool")
    assert call.error == (text if has_failed else None)


def test_what_stands_beside_messages_alone_is_read_as_in_a_chat():
    beside = {
        "model": "m-1",
        "usage": {"prompt_tokens": 50, "completion_tokens": 10, "total_tokens": 60},
        "cost": 0.5,
        "tools": [{"type": "function", "function": {"name": "bash"}}],
        "metadata": {"run": 1},
        "start_time": NOON,
        "end_time": NOON + 9,
    }
    trace = read_trace({"messages": [SYSTEM, TASK, LS, SEEN]} | beside)
    assert (trace.format, trace.steps[2].model) == ("mini-swe-agent", "m-1")
    assert (trace.usage, trace.cost_usd, trace.metadata) == (Usage(50, 10, 60), 0.5, {"run": 1})
    assert (trace.totals_from, trace.not_carried) == ("usage beside the messages", ())
    assert [tool.name for tool in trace.tools] == ["bash"]
    assert trace.missing == {}


def test_messages_with_an_answer_beside_them_are_a_chat():
    answer = {"role": "assistant", "content": "Done."}
    value = {"messages": [SYSTEM, TASK, LS, SEEN], "choices": [{"message": answer}]}
    trace = read_trace(value)
    assert (trace.format, trace.steps[-1].output) == ("openai-chat", "Done.")


def test_a_message_without_a_role_leaves_the_others_as_lower_bounds():
    lost = {"content": LS["content"], "extra": {"response": {"model": "m"}}}
    for messages in ([SYSTEM, TASK, LS, SEEN] * 6 + [lost], [SYSTEM, TASK, LS, SEEN] * 6 + ["x"]):
        trace = read_trace(messages)
        assert trace.format == "mini-swe-agent"
        assert (len(trace.steps_of("llm")), len(trace.steps_of("tool"))) == (6, 6)
        assert {"llm_calls", "tool_calls"} <= trace.missing.keys()
        assert "without a role" in trace.missing["tool_calls"]
        assert trace.not_carried == ("messages without a role (1)",)
    stated = read_trace({**traj(), "messages": [SYSTEM, TASK, *[LS, SEEN] * 10, lost]}).missing
    assert "tool_calls" in stated
    assert stated.keys().isdisjoint({"llm_calls", "cost"})

"""Results of agent-eval-harness: trials of a prompt whose entries begin or end calls."""

from __future__ import annotations

from support.trace_examples.benchmarks import AGENT_EVAL_HARNESS as RESULT
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.split import single_traces

[TRIAL] = RESULT["trials"]


def test_entries_that_end_calls_are_results_or_calls_that_are_not_known_otherwise():
    trace = read_trace(RESULT)
    assert (trace.format, trace.id, trace.duration_ms) == ("agent-eval-harness", "p1:1", 900)
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm"),
        Step("call_1", "tool", "s2", "search", arguments={}),
        Step("call_2", "tool", "s2", "id_2", arguments={}, error="error"),
        Step(id="s5", type="llm"),
        Step("call_3", "tool", "s5", "read", arguments={"q": "x"}, output="a"),
        Step(id="s7", type="llm", output="Not there."),
    )
    assert trace.metadata == {"agent": "a", "pass": True, "score": 0.5}
    assert {"llm_calls", "tool_calls"} <= trace.missing.keys()
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_each_trial_is_a_trace():
    several = RESULT | {"trials": [TRIAL, TRIAL | {"trialNum": 2}]}
    assert [trace.id for trace in read_traces(several)] == ["p1:1", "p1:2"]
    parts = single_traces(several)
    assert [name for name, _ in parts] == ["p1:1", "p1:2"]
    assert read_trace(parts[0][1]).steps == read_trace(RESULT).steps


def test_a_capture_has_its_times_and_tokens():
    capture = {
        "id": "p2",
        "input": ["Find x.", "And y."],
        "output": "No.",
        "trajectory": TRIAL["trajectory"],
        "metadata": {},
        "timing": {"start": 1_735_732_800_000, "end": 1_735_732_809_000, "inputTokens": 9, "outputTokens": 2},
        "toolErrors": False,
    }  # fmt: skip
    trace = read_trace(capture)
    assert (trace.id, trace.usage) == ("p2", Usage(9, 2))
    assert trace.ended_at - trace.started_at == 9 * 10**9
    assert [step.output for step in trace.steps_of("user")] == ["Find x.", "And y."]
    assert "token_usage" not in trace.missing


def test_an_answer_that_repeats_the_prompt_counts_the_second_time():
    said = {"type": "message", "content": "Find x.", "timestamp": 1}
    trace = read_trace(RESULT | {"trials": [TRIAL | {"trajectory": [said, said]}]})
    assert [step.type for step in trace.steps] == ["user", "llm"]


def test_calls_at_the_same_time_have_the_results_of_their_names():
    begun, ended = ({"type": "tool_call", "timestamp": 1, "status": status} for status in ("pending", "completed"))  # fmt: skip
    entries = [begun | {"name": name} for name in "abc"]
    entries += [ended | {"name": name, "output": name} for name in ("b", "id_of_a", "c")]
    trace = read_trace(RESULT | {"trials": [TRIAL | {"trajectory": entries}]})
    found = [(step.name, step.output) for step in trace.steps_of("tool")]
    assert found == [("a", "id_of_a"), ("b", "b"), ("c", "c")]

"""Generated runs in formats whose agents call tools in text or in a log: each call and token is counted once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.agent_task_forms import (
    as_ag2,
    as_cline,
    as_codex_session,
    as_general_agentbench,
    as_google_adk_eval,
    as_swe_agent,
    as_toolbench,
    attempts,
)
from support.drawn_runs import COUNTED, counts, runs
from support.generated import examples
from weighbridge.traces import Trace, read_trace

if TYPE_CHECKING:
    from collections.abc import Callable

#: Writers of forms in which an answer has at most one call, by the id of their importer, and whether they have tokens.
SINGLE: dict[str, tuple[Callable[[Trace], Any], bool]] = {
    "agent-history": (as_ag2, False),
    "cline": (as_cline, True),
    "swe-agent": (as_swe_agent, True),
    "toolbench": (as_toolbench, False),
}


def read(written: object) -> Trace:
    return read_trace(json.loads(json.dumps(written)))


@pytest.mark.parametrize("form", sorted(SINGLE))
@given(run=runs())
@settings(deadline=None, max_examples=examples(20))
def test_each_answer_in_text_counts_with_its_call_and_its_tokens(form: str, run: Trace) -> None:
    write, has_tokens = SINGLE[form]
    trace = read(write(run))
    made = list(attempts(run))
    called = [call for _, call in made if call]
    assert trace.format == form
    assert len(trace.steps_of("llm")) == len(made)
    results = [str(step.output).removesuffix("\n") for step in trace.steps_of("tool")]
    assert [result.rpartition(" ")[2] for result in results] == [call.output for call in called]
    if has_tokens:
        usages = [step.usage for step, _ in made if step.usage]
        found = counts(trace)
        assert found["input_tokens"] == sum(usage.input_tokens or 0 for usage in usages)
        assert found["output_tokens"] == sum(usage.output_tokens or 0 for usage in usages)


@given(run=runs())
@settings(deadline=None, max_examples=examples(20))
def test_a_turn_of_an_eval_set_has_each_call_with_its_result(run: Trace) -> None:
    trace = read(as_google_adk_eval(run))
    assert trace.format == "google-adk-eval"
    assert [(step.id, step.name, step.arguments, bool(step.error)) for step in trace.steps_of("tool")] == [
        (step.id, step.name, step.arguments, bool(step.error)) for step in run.steps_of("tool")
    ]  # fmt: skip


@given(run=runs())
@settings(deadline=None, max_examples=examples(20))
def test_a_rollout_of_codex_has_the_calls_and_counts_of_the_native_run(run: Trace) -> None:
    trace = read(as_codex_session(run))
    assert trace.format == "openai-responses"
    assert [(step.id, step.name) for step in trace.steps_of("tool")] == [
        (step.id, step.name) for step in run.steps_of("tool")
    ]
    assert counts(trace) == counts(run)


@given(run=runs(), data=st.data())
@settings(deadline=None, max_examples=examples(20))
def test_a_round_without_tokens_lowers_no_count_of_calls(run: Trace, data: st.DataObject) -> None:
    written = as_general_agentbench(run)
    assert read(written).format == "general-agentbench"
    assert counts(read(written)) == counts(run)
    rounds = written["trace"]["rounds"]
    told = data.draw(st.sampled_from(rounds))
    told.update(prompt_tokens=0, output_tokens=0, round_total_tokens=0)
    found = counts(read(written))
    calls = [name for name in COUNTED if name.endswith("calls")]
    assert {name: found[name] for name in calls} == {name: counts(run)[name] for name in calls}

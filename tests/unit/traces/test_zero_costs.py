"""Costs of zero, which programs write where they have no price."""

from __future__ import annotations

from weighbridge.traces import read_trace


def chat(*answers, **fields):
    return {"messages": [{"role": "user", "content": "hi"}, *answers], **fields}


def answer(cost, tokens=5):
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens}
    return {"role": "assistant", "content": "x", "cost": cost, "usage": usage, "model": "gpt-4o"}


def costs(trace):
    return [step.cost_usd for step in trace.steps_of("llm")]


def test_costs_that_are_all_zero_although_tokens_were_used_are_not_known():
    trace = read_trace(chat(answer(0.0), answer(0)))
    assert costs(trace) == [None, None]
    assert "costs of zero although tokens were used (2)" in trace.not_carried


def test_a_zero_beside_a_cost_is_a_cost():
    assert costs(read_trace(chat(answer(0.0), answer(0.5)))) == [0.0, 0.5]


def test_a_cost_of_zero_without_tokens_is_a_cost():
    assert costs(read_trace(chat(answer(0.0, tokens=0)))) == [0.0]


def test_a_zero_in_the_native_form_is_a_cost():
    step = {"type": "llm", "cost_usd": 0, "usage": {"input_tokens": 5, "output_tokens": 5}}
    assert costs(read_trace({"steps": [step]})) == [0.0]


def test_a_zero_for_models_that_are_free_by_name_is_a_cost():
    free = {**answer(0.0), "model": "deepseek/deepseek-r1:free"}
    assert costs(read_trace(chat(free, free))) == [0.0, 0.0]
    assert costs(read_trace(chat(free, answer(0.0)))) == [None, None]

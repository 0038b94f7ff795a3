"""ChatDev's logs: each answer of the model with its usage and cost."""

from __future__ import annotations

from support.trace_examples.multi_agent_frameworks import CHATDEV_LOG
from weighbridge.traces import Usage, read_trace
from weighbridge.traces.fields import time_of


def test_each_usage_that_was_received_is_a_model_call():
    trace = read_trace(CHATDEV_LOG)
    assert (trace.format, trace.metadata["project_name"]) == ("chatdev", "Clock")
    task, first, second = trace.steps
    assert (task.type, task.output) == ("user", "Build a clock.")
    assert (first.usage, first.cost_usd) == (Usage(100, 20, 120), 0.0002)
    assert first.started_at == time_of("2026-03-21T09:00:01")
    assert first.ended_at == time_of("2026-03-21T09:00:05")
    assert (second.usage, second.cost_usd) == (Usage(90, 10, 100), None)
    assert trace.not_carried == (
        "embeddings (1)",
        "requests without an answer (1)",
        "texts of answers, which stand in the log with the prompts (2)",
    )


def test_what_agents_quote_of_a_log_is_no_model_call():
    quoted = "\n**[OpenAI_Usage_Info Receive]**\nprompt_tokens: 1\ncompletion_tokens: 1\n"
    log = CHATDEV_LOG.replace("\nclock.py\n", f"\nclock.py\n{quoted}")
    assert read_trace(log).steps == read_trace(CHATDEV_LOG).steps


def test_a_log_may_be_indented():
    assert read_trace({"chatdev_log": f"  {CHATDEV_LOG}"}) == read_trace(CHATDEV_LOG)

"""Traces that NeMo Guardrails writes to files."""

from __future__ import annotations

import pytest

from support.trace_examples.observability import NEMO_GUARDRAILS
from weighbridge.errors import TraceError
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.formats.nemo_guardrails import IMPORTER

SPANS = NEMO_GUARDRAILS["spans"]


def typed(kind, span_id, parent_id=None, **fields):
    return {"name": kind, "span_id": span_id, "parent_id": parent_id, "duration": 0, "span_type": kind, **fields}  # fmt: skip


def test_spans_with_metrics_become_steps():
    trace = read_trace(NEMO_GUARDRAILS)
    assert (trace.id, trace.format, trace.metadata) == ("g", "nemo-guardrails", {"duration": 1.5})
    assert trace.duration_ms == 1500
    assert trace.steps == (
        Step(id="2", type="other", name="self check input"),
        Step(id="3", type="other", parent_id="2", name="self_check_input"),
        Step(id="4", type="llm", parent_id="3", model="a/m", usage=Usage(9, 2)),
    )
    assert set(trace.missing) == {"tool_calls", "timing", "tool_definitions"}
    assert trace.not_carried == ()


def test_typed_spans_have_attributes_and_events():
    said = [
        {"name": "guardrails.utterance.user.finished", "body": {"content": "Hi."}},
        {"name": "guardrails.user_message", "body": {"content": "Hi."}},
    ]
    model = {"gen_ai.response.model": "m", "gen_ai.usage.input_tokens": 9, "gen_ai.usage.output_tokens": 2, "gen_ai.usage.total_tokens": 11}  # fmt: skip
    answered = [
        {"name": "gen_ai.content.prompt"},
        {"name": "gen_ai.content.completion", "body": {"content": "No."}},
    ]
    trace = read_trace(
        {
            "schema_version": "2.0",
            "trace_id": "g",
            "spans": [
                typed("InteractionSpan", "1", events=said),
                typed("RailSpan", "2", "1", attributes={"rail.name": "check"}),
                typed("ActionSpan", "3", "2", attributes={"action.name": "ask"}, error={"occurred": True, "message": "late"}),
                typed("LLMSpan", "4", "3", attributes=model, events=answered),
                typed("LLMSpan", "5", "3", attributes={**model, "llm.cache.hit": True}),
            ],
        }
    )  # fmt: skip
    assert trace.steps == (
        Step(id="s1", type="user", output="Hi."),
        Step(id="2", type="other", name="check"),
        Step(id="3", type="other", parent_id="2", name="ask", error="late"),
        Step(id="4", type="llm", parent_id="3", output="No.", model="m", usage=Usage(9, 2, 11)),
        Step(id="5", type="other", parent_id="3", name="LLMSpan"),
    )
    assert set(trace.not_carried) == {
        "events of type 'gen_ai.content.prompt' (1)",
        "events of type 'guardrails.utterance.user.finished' (1)",
    }


def test_tokens_of_0_are_not_counted():
    metrics = {"llm_call_m_prompt_tokens_total": 0, "llm_call_m_completion_tokens_total": 0}
    spans = [SPANS[0], {**SPANS[3], "metrics": metrics}]
    trace = read_trace({"trace_id": "g", "spans": spans})
    assert trace.steps[0].usage is None
    assert "token_usage" in trace.missing


def test_each_document_is_a_trace():
    other = {**NEMO_GUARDRAILS, "trace_id": "h"}
    assert [trace.id for trace in read_traces([NEMO_GUARDRAILS, other])] == ["g", "h"]


def test_a_damaged_span_is_named():
    with pytest.raises(TraceError, match="span 22"):
        read_trace({"trace_id": "g", "spans": [*[SPANS[0]] * 21, {"name": "rail: x"}]})


@pytest.mark.parametrize(
    "value",
    [
        [],
        {"trace_id": "g", "spans": []},
        {"trace_id": 1, "spans": SPANS},
        {"trace_id": "g", "spans": SPANS[1:]},
        {"trace_id": "g", "spans": [*SPANS, 1]},
        {"trace_id": "g", "spans": [{"name": "interaction", "span_id": "1", "duration": 1}]},
    ],
)
def test_other_values_are_not_claimed(value):
    assert not IMPORTER.matches(value)

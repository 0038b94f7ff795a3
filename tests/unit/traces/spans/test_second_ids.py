"""Spans of OpenAI's Responses API by OpenLLMetry: calls have the ids of their items, and results those of the calls."""

from __future__ import annotations

import json

import pytest

from weighbridge.traces import read_trace

USER = {"role": "user", "parts": [{"type": "text", "content": "Go."}]}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "Done."}]}


def asks(*numbers, start="fc_"):
    calls = [
        {
            "type": "tool_call",
            "name": "search",
            "id": f"{start}{number}",
            "arguments": {"q": number},
        }
        for number in numbers
    ]
    return {"role": "assistant", "parts": calls}


def told(number):
    answer = {"type": "tool_call_response", "id": f"call_{number}", "response": f"none {number}"}
    return {"role": "tool", "parts": [answer]}


def results(*exchanges):
    """Return the results of the calls in spans of model calls, which are pairs of the request's messages and the answer."""
    spans = [
        {
            "traceId": "1" * 32,
            "spanId": f"{number}" * 16,
            "name": "openai.response",
            "startTimeUnixNano": number,
            "endTimeUnixNano": number,
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": "m",
                "gen_ai.input.messages": json.dumps(asked),
                "gen_ai.output.messages": json.dumps([answer]),
            },
        }
        for number, (asked, answer) in enumerate(exchanges, 1)
    ]
    return [(step.id, step.output) for step in read_trace(spans).steps_of("tool")]


@pytest.mark.parametrize(
    "asked",
    [
        [USER, asks(1), asks(2), told(1), told(2)],
        [USER, asks(1, start="call_"), asks(2, start="call_"), told(1), told(2)],
        [told(1), told(2)],  # the request names the response before it
    ],
)
def test_results_are_those_of_the_calls_of_the_answer_before_in_order(asked):
    assert results(([USER], asks(1, 2)), (asked, SAID)) == [("fc_1", "none 1"), ("fc_2", "none 2")]


def test_a_request_repeats_the_results_of_earlier_calls():
    second = [USER, asks(1), told(1)]
    third = [*second, asks(2), told(2)]
    found = results(([USER], asks(1)), (second, asks(2)), (third, SAID))
    assert found == [("fc_1", "none 1"), ("fc_2", "none 2")]


def test_a_result_is_of_no_call_if_it_is_not_known_of_which():
    assert results(([USER], asks(1, 2)), ([told(2)], SAID)) == [("fc_1", None), ("fc_2", None)]
    # No request after the first answer has its result.
    assert results(([USER], asks(1)), ([USER], asks(2)), ([told(2)], SAID)) == [("fc_1", None), ("fc_2", "none 2")]  # fmt: skip
    # Calls that are named as their results are need no order.
    assert results(([USER], asks(1, start="call_")), ([told(2)], SAID)) == [("call_1", None)]

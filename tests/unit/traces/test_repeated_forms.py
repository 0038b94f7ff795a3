"""Runs in formats that repeat data, split it, or add totals: each call, message and token is counted once.

The runs are generated, written in each format with the kinds of damage that real files have, and imported.
"""

from __future__ import annotations

import copy

from hypothesis import given, settings
from hypothesis import strategies as st

from support.drawn_runs import counts, few, runs
from support.generated import examples
from support.trace_forms import (
    as_anthropic,
    as_atif,
    as_langchain,
    as_mastra_spans,
    as_openai_chat,
    as_openai_responses,
    as_openinference,
    as_otlp,
)
from weighbridge.traces import Step, Trace

FORMS = {
    "chat": as_openai_chat,
    "anthropic": as_anthropic,
    "langchain": as_langchain,
    "responses": as_openai_responses,
    "atif": as_atif,
    "otlp": as_otlp,
    "openinference": as_openinference,
    "mastra": as_mastra_spans,
}


@given(runs(), st.sampled_from(sorted(FORMS)))
@settings(deadline=None, max_examples=examples(150))
def test_every_form_counts_what_the_native_one_does(run: Trace, form: str) -> None:
    assert counts(FORMS[form](run)) == counts(run)


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(150))
def test_a_message_written_twice_counts_once(run: Trace, data: st.DataObject) -> None:
    form = data.draw(st.sampled_from(["chat", "anthropic", "langchain"]))
    written = FORMS[form](run)
    messages = written["messages"]
    if form == "chat":
        _name(messages)
    place = data.draw(st.integers(0, len(messages) - 1))
    messages.insert(place + 1, copy.deepcopy(messages[place]))
    found, expected = counts(written), counts(run)
    assert found == expected


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(150))
def test_what_a_stream_left_of_an_answer_counts_with_the_whole(
    run: Trace, data: st.DataObject
) -> None:
    written = as_openai_chat(run)
    messages = written["messages"]
    _name(messages)
    answers = [at for at, each in enumerate(messages) if each["role"] == "assistant"]
    place = data.draw(st.sampled_from(answers))
    begun = {**messages[place], "usage": {"prompt_tokens": 1, "completion_tokens": 1}}
    begun["content"] = begun["content"][: data.draw(st.integers(0, len(begun["content"])))]
    if "tool_calls" in begun:
        begun["tool_calls"] = begun["tool_calls"][: data.draw(st.integers(0, 3))]
    messages.insert(place, begun)
    assert counts(written) == counts(run)


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(150))
def test_an_answer_in_several_lines_of_claude_code_counts_once(
    run: Trace, data: st.DataObject
) -> None:
    lines: list[dict[str, object]] = []
    for number, message in enumerate(as_anthropic(run)["messages"]):
        kind = message["role"]
        blocks = message["content"]
        pieces = [[block] for block in blocks] if data.draw(st.booleans()) else [blocks]
        for piece, content in enumerate(pieces):
            told = {**message, "content": content}
            line = {"type": kind, "message": told, "sessionId": "s", "uuid": f"{number}-{piece}"}
            lines += [line] * data.draw(st.integers(1, 2))
    assert counts(lines) == counts(run)


@given(runs())
@settings(deadline=None, max_examples=examples(80))
def test_tool_messages_that_repeat_their_calls_add_none(run: Trace) -> None:
    written = as_openai_chat(run)
    calls = {}
    for message in written["messages"]:
        for call in message.get("tool_calls") or ():
            calls[call["id"]] = call
        if message["role"] == "tool":
            message["tool_call"] = calls[message["tool_call_id"]]
    assert counts(written) == counts(run)


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(80))
def test_spans_of_the_calls_that_answers_ask_for_count_once_in_whichever_order(
    run: Trace, data: st.DataObject
) -> None:
    timed = tuple(
        Step(**{name: getattr(step, name) for name in Step.__struct_fields__} | {"started_at": at, "ended_at": at + 1})
        for at, step in enumerate(run.steps, 10**18)
    )  # fmt: skip
    written = as_otlp(Trace(id="run", format="native", steps=timed))
    (scope,) = written["resourceSpans"][0]["scopeSpans"]
    scope["spans"] = data.draw(st.permutations(scope["spans"]))
    assert counts(written) == counts(run)


@given(runs(), few, few)
@settings(deadline=None, max_examples=examples(80))
def test_of_a_total_and_the_steps_the_larger_counts(run: Trace, sent: int, received: int) -> None:
    written = as_atif(run)
    written["final_metrics"] = {
        "total_prompt_tokens": sent * 3,
        "total_completion_tokens": received * 3,
    }
    found, by_steps = counts(written), counts(run)
    assert found["input_tokens"] == max(sent * 3, by_steps["input_tokens"])
    assert found["output_tokens"] == max(received * 3, by_steps["output_tokens"])
    assert (found["llm_calls"], found["tool_calls"]) == (
        by_steps["llm_calls"],
        by_steps["tool_calls"],
    )


@given(runs(), st.data())
@settings(deadline=None, max_examples=examples(80))
def test_calls_within_calls_count_once(run: Trace, data: st.DataObject) -> None:
    inner = as_atif(run)
    inner["session_id"] = "inner"
    outer = as_atif(run)
    calls = [step for step in outer["steps"] if step.get("tool_calls")]
    outer["subagent_trajectories"] = [inner]
    if calls:
        step = data.draw(st.sampled_from(calls))
        step["observation"]["results"][0]["subagent_trajectory_ref"] = [{"session_id": "inner"}]
    twice = {name: 2 * value for name, value in counts(run).items()}
    assert counts(outer) == twice


def _name(messages: list[dict[str, object]]) -> None:
    """Give each message an id, as in stored chats; a tool message has the id of its call."""
    for number, message in enumerate(messages):
        if message["role"] != "tool":
            message["id"] = f"msg_{number}_c4D8eF"

"""AutoGen's messages and events, and its log of model and tool calls."""

from __future__ import annotations

import json

import pytest

from support.trace_examples.multi_agent_frameworks import (
    AUTOGEN,
    AUTOGEN_ASK,
    AUTOGEN_CALLS,
    AUTOGEN_STUDIO,
    autogen_call,
)
from weighbridge.errors import UnknownTraceFormatError
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.split import opens_session, single_traces


def test_a_request_for_tools_is_a_model_call_with_the_thought_before_it():
    trace = read_trace(AUTOGEN)
    assert trace.format == "autogen"
    assert trace.steps == (
        Step(id="s1", type="user", output="Find x."),
        Step(id="s2", type="llm", name="bot", output="I search.", usage=Usage(5, 2)),
        Step("c1", "tool", "s2", "search", None, "no", {"q": "x"}, "no"),
        Step(id="s4", type="llm", name="bot", output="Nothing.", usage=Usage(5, 2)),
    )
    assert trace.metadata == {"stop_reason": "Maximum number of turns reached."}
    assert trace.not_carried == ("ToolCallSummaryMessages, which repeat other messages (1)",)
    assert read_trace(AUTOGEN["messages"]).steps == trace.steps


def test_the_log_has_each_model_call_with_what_is_new_in_its_request():
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
    ask = {"role": "user", "content": "Find x."}
    asked = {
        "model": "m",
        "choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [call]}}],
    }
    said = {"model": "m", "choices": [{"message": {"role": "assistant", "content": "Nothing."}}]}
    log = [
        {"type": "LLMCall", "messages": [ask], "response": asked, "prompt_tokens": 5, "completion_tokens": 2},
        {"type": "ToolCall", "tool_name": "search", "arguments": {}, "result": "none"},
        {"type": "ToolCall", "tool_name": "look", "arguments": {"a": 1}, "result": "dark"},
        {"type": "LLMCall", "messages": [ask, {"role": "assistant"}, {"role": "tool"}], "response": said, "prompt_tokens": 9, "completion_tokens": 1},
    ]  # fmt: skip
    assert opens_session(log[0])
    trace = read_trace(log)
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("user", None, "Find x."),
        ("llm", None, None),
        ("tool", "search", "none"),
        ("tool", "look", "dark"),
        ("llm", None, "Nothing."),
    ]
    assert [step.usage for step in trace.steps_of("llm")] == [Usage(5, 2), Usage(9, 1)]


def test_a_teams_saved_state_has_the_messages_that_its_manager_keeps():
    manager = {"type": "RoundRobinManagerState", "message_thread": AUTOGEN["messages"]}
    agent = {"type": "ChatAgentContainerState", "message_buffer": AUTOGEN["messages"][:1]}
    state = {"type": "TeamState", "agent_states": {"a/1": agent, "m/1": manager}, "team_id": "1"}
    trace = read_trace(state)
    assert trace.id == "1"
    assert trace.steps == read_trace(AUTOGEN["messages"]).steps


def test_an_agents_saved_state_has_the_messages_of_its_model():
    messages = [
        {"type": "SystemMessage", "content": "Be brief."},
        {"type": "UserMessage", "content": "Find x.", "source": "user"},
        {"type": "AssistantMessage", "content": [{"id": "c1", "name": "find", "arguments": "{}"}], "thought": "I look.", "source": "a"},
        {"type": "FunctionExecutionResultMessage", "content": [{"call_id": "c1", "name": "find", "content": "no", "is_error": True}]},
        {"type": "AssistantMessage", "content": "Not there.", "source": "a"},
    ]  # fmt: skip
    trace = read_trace({"type": "AssistantAgentState", "llm_context": {"messages": messages}})
    assert [(step.type, step.output, step.error) for step in trace.steps] == [
        *(("system", "Be brief.", None), ("user", "Find x.", None), ("llm", "I look.", None)),
        *(("tool", "no", "no"), ("llm", "Not there.", None)),
    ]


def test_messages_may_have_only_their_text_and_source():
    messages = [
        {"content": "Be brief.", "source": "system"},
        {"content": "Hi.", "source": "user"},
        {"content": "Hello.", "source": "bot", "models_usage": None},
    ]
    for value in (messages, {"messages": messages}):
        trace = read_trace(value)
        assert [(step.type, step.name) for step in trace.steps] == [
            *(("system", None), ("user", None), ("llm", "bot")),
        ]
        assert trace.missing["tool_calls"] == "messages without their types do not show calls"


@pytest.mark.parametrize(
    "documents",
    [
        [{"content": "a", "source": "user"}, {"content": "b", "source": "notes.pdf"}],
        [{"content": "a", "source": "wiki"}, {"content": "b", "source": "faq"}],
        [{"content": "a", "source": "user", "score": 0.5}],
    ],
)
def test_documents_with_their_sources_are_no_messages(documents):
    with pytest.raises(UnknownTraceFormatError):
        read_trace(documents)


def test_each_recorded_call_of_a_client_is_a_model_call_with_its_tokens():
    trace = read_trace(AUTOGEN_CALLS)
    assert trace.format == "autogen"
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="user", name="user", output="Find x."),
        Step(id="s3", type="llm", output="I search.", usage=Usage(10, 2)),
        Step("c1", "tool", "s3", "search", None, "none", {"q": "x"}),
        Step(id="s5", type="llm", output="Nothing.", usage=Usage(20, 2)),
        Step(id="s6", type="user", name="user", output="Is that right?"),
        Step(id="s7", type="llm", output="Yes.", usage=Usage(5, 2)),
    )
    assert [step.usage for step in read_trace(AUTOGEN_CALLS[2]).steps_of("llm")] == [Usage(5, 2)]


def test_an_answer_from_before_the_recorder_began_is_a_model_call_without_tokens():
    asked = {"content": "Which x?", "source": "bot", "type": "AssistantMessage"}
    trace = read_trace([autogen_call([AUTOGEN_ASK, asked, AUTOGEN_ASK], "Nothing.", 9)])
    assert [step.usage for step in trace.steps_of("llm")] == [None, Usage(9, 2)]


def test_requests_of_a_window_that_drops_the_oldest_messages_tell_each_message_once():
    """Also a result whose call the window has dropped."""
    result = {"call_id": "c0", "content": "none", "name": "search", "is_error": False}
    of_tool = {"type": "FunctionExecutionResultMessage", "content": [result]}
    more = {**AUTOGEN_ASK, "content": "And y?"}
    requests = [[of_tool, AUTOGEN_ASK], [of_tool, AUTOGEN_ASK, more], [AUTOGEN_ASK, more]]
    calls = [autogen_call(each, f"Answer {at}.", 9) for at, each in enumerate(requests)]
    trace = read_trace(calls)
    assert [step.type for step in trace.steps] == ["other", "user", "llm", "user", "llm", "llm"]


def test_an_answer_out_of_a_cache_used_no_known_tokens_and_a_streamed_one_is_the_last_piece():
    cached = autogen_call([AUTOGEN_ASK], "Nothing.", 9, cached=True)
    assert [step.usage for step in read_trace([cached]).steps_of("llm")] == [None]
    whole = autogen_call([AUTOGEN_ASK], "Nothing.", 9)
    streamed = {**whole, "mode": "create_stream", "response": None, "stream": ["Not", whole["response"]]}  # fmt: skip
    [step] = read_trace([streamed]).steps_of("llm")
    assert (step.output, step.usage) == ("Nothing.", Usage(9, 2))


def test_a_run_of_the_studio_has_each_logged_call_once():
    trace = read_trace(AUTOGEN_STUDIO)
    assert (trace.format, trace.id, trace.metadata) == ("autogen", "7", {"status": "COMPLETE"})
    calls = [(step.model, step.output, step.usage) for step in trace.steps_of("llm")]
    assert calls == [
        ("m", "bot", Usage(4, 1)),
        ("m", "I search.", Usage(5, 2)),
        ("m", "Nothing.", Usage(5, 2)),
    ]
    assert [step.id for step in trace.steps_of("tool")] == ["c1"]
    assert [tool.name for tool in trace.tools] == ["search"]
    assert trace.steps[-1].ended_at is not None
    assert "llm_calls" not in trace.missing
    rows = AUTOGEN_STUDIO["rows"]
    assert read_trace(rows).steps == trace.steps
    assert [name for name, _ in single_traces([*rows, {**rows[0], "run_id": 8}])] == ["7", "8"]


def test_a_logged_call_is_that_of_a_message_with_its_text_and_no_tokens():
    said = {"type": "TextMessage", "source": "bot", "content": "Nothing.", "models_usage": None}
    rows = [*AUTOGEN_STUDIO["rows"][:1], AUTOGEN_STUDIO["rows"][-2], {**AUTOGEN_STUDIO["rows"][-1], "config": said}]  # fmt: skip
    assert [step.usage for step in read_trace(rows).steps_of("llm")] == [Usage(5, 2)]


def spoken(source, content, tokens=None, kind="TextMessage"):
    used = tokens and dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
    return {"type": kind, "source": source, "content": content, "models_usage": used}


def logged(content, tokens, *calls):
    message = {"content": content, "tool_calls": list(calls)}
    used = dict(zip(("prompt_tokens", "completion_tokens"), tokens, strict=True))
    call = {**used, "response": {"model": "m", "choices": [{"message": message}]}}
    return spoken("llm_call_event", json.dumps(call))


ASKED = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
REQUEST = [{"id": "c1", "name": "f", "arguments": "{}"}]


@pytest.mark.parametrize(
    ("messages", "answers"),
    [
        # What a user, or a program, says is no result of a call.
        (
            [spoken("user", "writer"), logged("writer", (10, 1)), logged("Hello", (20, 5)), spoken("writer", "Hello", (20, 5))],
            [("writer", Usage(10, 1)), ("Hello", Usage(20, 5))],
        ),
        (
            [spoken("user", "Hi."), logged("no", (9, 1)), spoken("a", "no", kind="ToolCallSummaryMessage"), spoken("a", "no", kind="StopMessage")],
            [("no", Usage(9, 1))],
        ),
        # Of calls with equal tokens, the text decides.
        (
            [spoken("user", "Hi."), logged("writer", (10, 1)), logged("ok", (10, 1)), spoken("writer", "ok", (10, 1))],
            [("writer", Usage(10, 1)), ("ok", Usage(10, 1))],
        ),
        (
            [spoken("user", "Hi."), logged("writer", (0, 0)), spoken("writer", "ok", (0, 0)), spoken("b", "no", (0, 0)), logged("no", (0, 0))],
            [("writer", None), ("ok", None), ("no", None)],
        ),
        # A message whose text was changed is the result of the call before it.
        (
            [spoken("user", "Hi."), logged("b", (10, 1)), logged(" {1} ", (10, 1)), spoken("b", "1", (10, 1))],
            [("b", Usage(10, 1)), ("1", Usage(10, 1))],
        ),
        (
            [spoken("user", "Hi."), spoken("b", "ok", (10, 1)), logged("ok", (10, 1))],
            [("ok", Usage(10, 1))],
        ),
        # The tokens of a request may stand at the thought before it.
        (
            [spoken("user", "Hi."), logged("Hm.", (7, 2), ASKED), spoken("b", "Hm.", (7, 2), "ThoughtEvent"), spoken("b", REQUEST, kind="ToolCallRequestEvent")],
            [("Hm.", Usage(7, 2))],
        ),
        (
            [spoken("user", "Hi."), logged(None, (7, 2), ASKED), spoken("b", REQUEST, kind="ToolCallRequestEvent")],
            [(None, Usage(7, 2))],
        ),
        (
            [spoken("user", "Hi."), logged("b", (7, 2)), spoken("team", ["b"], kind="SelectSpeakerEvent"), spoken("b", "ok", (5, 2))],
            [("b", Usage(7, 2)), ("ok", Usage(5, 2))],
        ),
    ],
)  # fmt: skip
def test_each_logged_call_of_the_studio_counts_once(messages, answers):
    rows = [
        {"id": number, "run_id": 1, "session_id": 1, "config": json.dumps(message)}
        for number, message in enumerate(messages)
    ]
    trace = read_trace(rows)
    assert [(step.output, step.usage) for step in trace.steps_of("llm")] == answers


def test_a_run_of_the_studio_that_failed_says_why_and_not_how_often_models_were_called():
    about = {**AUTOGEN_STUDIO["session"], "status": "ERROR", "error_message": "401"}
    trace = read_trace({"session": about, "rows": AUTOGEN_STUDIO["rows"][:1]})
    assert trace.steps[-1].error == "401"
    assert "the run failed" in trace.missing["llm_calls"]


@pytest.mark.parametrize(
    ("result", "milliseconds"),
    [('{"duration": 9.5}', 9500), ('{"duration": 0}', None), ('{"usage": ""}', None), ("[", None), (None, None)],
)  # fmt: skip
def test_the_result_of_a_run_of_the_studio_says_how_long_it_took(result, milliseconds):
    about = AUTOGEN_STUDIO["session"] | {"team_result": result}
    assert read_trace({**AUTOGEN_STUDIO, "session": about}).duration_ms == milliseconds


@pytest.mark.parametrize("odd", ["{", None, 5, "[]", '{"source": 5}'])
def test_rows_of_the_studio_that_cannot_be_read_leave_lower_bounds(odd):
    rows = AUTOGEN_STUDIO["rows"]
    assert "tool_calls" in read_trace([*rows, {**rows[0], "config": odd}]).missing
    logged = {"type": "TextMessage", "source": "llm_call_event", "content": "{"}
    assert "llm_calls" in read_trace([*rows, {**rows[0], "config": logged}]).missing

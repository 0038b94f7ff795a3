"""OpenAI chat messages: all forms of calls and results, and non-standard fields of messages."""

from __future__ import annotations

import orjson
import pytest

from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import Step, Usage, read_trace, read_traces
from weighbridge.traces.images import image_mark

SECOND = 10**9
NOON = 1_735_732_800  #: 2025-01-01T12:00:00Z


def call(call_id, name="search", arguments='{"q": "x"}'):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(call_id, content="found"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def outputs(messages):
    return [(step.id, step.output) for step in read_trace(messages).steps_of("tool")]


@pytest.mark.parametrize("more", [{}, {"index": 0}])
def test_a_result_names_a_call_of_the_responses_api_by_its_second_id(more):
    calls = [{**call(f"fc_{number}"), "call_id": f"call_{number}", **more} for number in (1, 2)]
    trace = read_trace([asks(*calls), result("call_2", "second"), result("call_1", "first")])
    assert [(step.id, step.output) for step in trace.steps_of("tool")] == [
        ("call_1", "first"),
        ("call_2", "second"),
    ]
    assert (len(trace.steps), "tool_calls" in trace.missing) == (3, False)


def test_each_message_is_a_step_and_each_call_one_under_its_message():
    trace = read_trace(
        [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Find x."},
            asks(call("call_1"), content="Looking."),
            result("call_1"),
            {"role": "assistant", "content": "Here."},
        ]
    )
    assert trace.format == "openai-chat"
    assert trace.steps == (
        Step(id="s1", type="system", output="Be brief."),
        Step(id="s2", type="user", output="Find x."),
        Step(id="s3", type="llm", output="Looking."),
        Step(
            id="call_1",
            type="tool",
            parent_id="s3",
            name="search",
            arguments={"q": "x"},
            output="found",
        ),
        Step(id="s5", type="llm", output="Here."),
    )


def test_a_chat_without_calls_has_the_capability_and_no_calls():
    trace = read_trace([{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hi"}])
    assert trace.steps_of("tool") == []
    assert set(trace.missing) == {"token_usage", "timing", "cost", "tool_definitions"}


def test_a_developers_message_is_a_system_step():
    assert read_trace([{"role": "developer", "content": "Be brief."}]).steps[0].type == "system"


def test_parallel_calls_get_their_results_by_id_in_any_order():
    messages = [asks(call("a"), call("b")), result("b", "of b"), result("a", "of a")]
    assert outputs(messages) == [("a", "of a"), ("b", "of b")]


@pytest.mark.parametrize(
    "key", ["tool_use_id", "toolUseId", "toolCallId", "call_id", "callId", "function_call_id", "id"]
)
def test_results_in_any_order_find_their_calls_under_whichever_name_of_the_id(key):
    answers = [
        {"role": "tool", key: call_id, "tool_name": "search", "content": text}
        for call_id, text in (("toolu_2", "two"), ("toolu_1", "one"))
    ]
    blocks = [
        {"type": "tool_use", "id": call_id, "name": "search", "input": {"q": call_id}}
        for call_id in ("toolu_1", "toolu_2")
    ]
    messages = [{"role": "assistant", "content": blocks}, *answers]
    assert outputs(messages) == [("toolu_1", "one"), ("toolu_2", "two")]
    assert read_trace(messages).not_carried == ()


def test_a_results_own_id_does_not_hide_the_id_of_its_call():
    answers = [
        {"role": "tool", "id": own, "tool_use_id": call_id, "content": call_id}
        for own, call_id in (("msg_8", "call_2"), ("msg_9", "call_1"))
    ]
    messages = [asks(call("call_1"), call("call_2")), *answers]
    assert outputs(messages) == [("call_1", "call_1"), ("call_2", "call_2")]


def test_a_result_of_a_call_that_was_cut_off_is_of_no_call_whatever_its_own_id():
    cut = {"role": "tool", "id": "a", "tool_call_id": "before", "content": "of before"}
    messages = [asks(call("a")), cut, result("a", "of a")]
    assert outputs(messages) == [("a", "of a")]
    assert read_trace(messages).not_carried == ("tool results of no call (1)",)


def test_an_id_used_again_in_a_later_message_names_the_later_call():
    messages = [asks(call("a")), asks(call("a")), result("a", "of the second")]
    assert outputs(messages) == [("a", None), ("a#2", "of the second")]


def test_an_id_used_twice_in_one_message_gets_its_results_in_order():
    messages = [asks(call("a"), call("a")), result("a", "first"), result("a", "second")]
    assert outputs(messages) == [("a", "first"), ("a#2", "second")]


@pytest.mark.parametrize("own", [{"id": "msg_1"}, {}])
def test_a_message_that_stands_twice_counts_once_and_so_do_its_calls_and_their_results(own):
    answer = asks(call("call_cZXLx7Uc")) | own
    answered = result("call_cZXLx7Uc", "of it")
    again = [answer, answered] if own else []
    (trace,) = read_traces([answer, answer, answered, answered, *again])
    assert [step.type for step in trace.steps] == ["llm", "tool"]
    twice = 2 if own else 1
    told = (f"repeated messages ({twice})", f"repeated tool results ({twice})")
    assert trace.not_carried == told
    assert "tool_calls" not in trace.missing


def test_an_answer_that_goes_on_where_a_stream_left_it_counts_once():
    begun = {"id": "m1", "role": "assistant", "content": "I lo", "usage": {"total_tokens": 3}}
    whole = begun | asks(call("a")) | {"content": "I look.", "usage": {"total_tokens": 9}}
    trace = read_trace([begun, whole, result("a", "of it")])
    assert [(step.type, step.output) for step in trace.steps] == [
        ("llm", "I look."),
        ("tool", "of it"),
    ]
    assert trace.steps[0].usage.total == 9


def test_what_the_agent_says_again_is_not_a_message_that_stands_twice():
    said = {"role": "assistant", "content": "Done."}
    assert len(read_trace([said, said, said | {"id": "a"}, said | {"id": "b"}]).steps) == 4
    # GPT-4o copies the ids of earlier calls.
    copied = [asks(call("call_Ab7YHfneXdQk")), result("call_Ab7YHfneXdQk", "")]
    assert len(read_trace(copied * 3).steps) == 6
    again = [asks(call("functions.search:0")), result("functions.search:0", "none")]
    assert len(read_trace(again * 3).steps) == 6


def test_a_tools_message_that_repeats_the_call_it_answers_adds_none():
    # AgentDojo's: the whole call stands under tool_call once more.
    for call_id in ("call_1", None, ""):
        told = {"function": "search", "args": {"q": "x"}, "id": call_id, "placeholder_args": None}
        asked = {"role": "assistant", "content": None, "tool_calls": [told]}
        answer = {"role": "tool", "content": "none", "tool_call_id": call_id, "tool_call": told}
        trace = read_trace([asked, answer, asked, answer])
        assert [step.type for step in trace.steps] == ["llm", "tool"] * 2
        assert [step.output for step in trace.steps_of("tool")] == ["none"] * 2


def test_a_call_that_only_its_result_tells_is_a_call():
    told = {"function": "search", "args": {"q": "x"}, "id": "call_1"}
    answer = {"role": "tool", "content": "none", "tool_call_id": "call_1", "tool_call": told}
    assert [step.name for step in read_trace([answer]).steps_of("tool")] == ["search"]


def test_a_result_without_an_id_answers_the_first_call_that_waits():
    messages = [asks(call("a"), call("b")), result("a", "of a"), result(None, "of b")]
    assert outputs(messages) == [("a", "of a"), ("b", "of b")]


def test_a_call_without_an_id_is_answered_by_whatever_id_comes():
    assert outputs([asks(call(None)), result("call_9", "of it")]) == [("s2", "of it")]


def test_a_result_that_waited_without_an_id_is_not_answered_again_by_its_id():
    messages = [asks(call("a")), result(None, "first"), result("a", "late")]
    trace = read_trace(messages)
    assert outputs(messages) == [("a", "first")]
    assert trace.steps[-1] == Step(id="s3", type="other", output="late")
    assert trace.not_carried == ("further results of a call (1)",)


def test_a_result_directly_before_its_call_is_its_own_and_an_earlier_one_is_not():
    messages = [result("a", "early"), asks(call("a"))]
    assert outputs(messages) == [("a", "early")]
    trace = read_trace({"messages": messages})
    assert (len(trace.steps), "tool_calls" in trace.missing) == (2, False)
    said = {"role": "user", "content": "Go on."}
    apart = [result("a", "early"), said, asks(call("a"))]
    assert outputs(apart) == [("a", None)]
    assert "tool_calls" in read_trace({"messages": apart}).missing
    assert read_trace(apart).steps[0].output == "early"
    parallel = [result("a", "1"), result("b", "2"), asks(call("a"), call("b"))]
    assert outputs(parallel) == [("a", "1"), ("b", "2")]


def test_a_result_after_a_call_is_its_own_whatever_stands_before():
    messages = [result("a", "of a call before"), asks(call("a")), result("a", "own")]
    assert outputs(messages) == [("a", "own")]
    assert "tool_calls" in read_trace({"messages": messages}).missing


def test_calls_inside_a_result_before_its_call_are_inside_the_call():
    inner = {"type": "tool_call", "id": "y", "name": "inner", "arguments": {}}
    content = [{"type": "text", "text": "sub"}, inner]
    trace = read_trace([{"role": "user", "content": "Go."}, result("a", content), asks(call("a"))])
    assert {step.id: step.parent_id for step in trace.steps_of("tool")}["y"] == "a"


def test_the_older_function_call_is_answered_by_the_function_message():
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
        {"role": "assistant", "content": None, "function_call": {"name": "g", "arguments": "{}"}},
        {"role": "function", "name": "g", "content": "2"},
    ]
    trace = read_trace(messages)
    assert [(step.name, step.arguments, step.output) for step in trace.steps_of("tool")] == [
        ("f", {}, "1"),
        ("g", {}, "2"),
    ]


def test_a_custom_tools_input_is_text():
    custom = {"id": "c", "type": "custom", "custom": {"name": "shell", "input": "ls -F"}}
    (step,) = read_trace([asks(custom)]).steps_of("tool")
    assert (step.name, step.arguments) == ("shell", {"input": "ls -F"})


@pytest.mark.parametrize("key", ["arguments", "input", "args"])
def test_a_calls_fields_may_stand_in_the_call_itself(key):
    (step,) = read_trace([asks({"id": "c", "name": "f", key: {"a": 1}})]).steps_of("tool")
    assert (step.name, step.arguments) == ("f", {"a": 1})


@pytest.mark.parametrize("written", ["", "{", "[1]", "null", '"x"'])
def test_arguments_that_are_no_object_stay_as_they_were_written(written):
    (step,) = read_trace([asks(call("c", arguments=written))]).steps_of("tool")
    assert step.arguments == written


@pytest.mark.parametrize("nothing", [None, []])
def test_tool_calls_that_are_null_or_empty_are_none(nothing):
    trace = read_trace([{"role": "assistant", "content": "hi", "tool_calls": nothing}])
    assert [step.type for step in trace.steps] == ["llm"]


@pytest.mark.parametrize(
    "written", [orjson.dumps([call("a")]).decode(), call("a")], ids=["as text", "one alone"]
)
def test_calls_are_read_as_tables_keep_them_and_without_their_list(written):
    messages = [{"role": "assistant", "content": None, "tool_calls": written}, result("a")]
    assert outputs(messages) == [("a", "found")]


@pytest.mark.parametrize("written", [["search"], "search", 5])
def test_a_call_that_is_no_object_is_still_a_call(written):
    message = {"role": "assistant", "content": None, "tool_calls": written}
    (step,) = read_trace([message]).steps_of("tool")
    assert (step.name, step.arguments) == (None, {})


def test_a_users_own_calls_are_not_the_agents():
    trace = read_trace(
        [{"role": "user", "content": "On.", "tool_calls": [call("u", "toggle")]}, result("u", "ok")]
    )
    assert trace.steps == (
        Step(id="s1", type="user", output="On."),
        Step(
            id="u",
            type="other",
            parent_id="s1",
            name="toggle",
            arguments={"q": "x"},
            output="ok",
        ),
    )


def test_content_parts_are_joined_and_parts_without_text_noted():
    image = {"type": "image_url", "image_url": {"url": "https://x.example/a.png"}}
    parts = [{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]
    trace = read_trace([{"role": "user", "content": parts}, {"role": "user", "content": [image]}])
    assert [step.output for step in trace.steps] == [f"a\nb\n{image_mark(image)}", [image]]
    assert trace.not_carried == ("content parts of type 'image_url' (1)",)


def test_a_refusal_is_what_the_model_said():
    trace = read_trace([{"role": "assistant", "content": None, "refusal": "No."}])
    assert trace.steps[0].output == "No."


def test_reasoning_and_other_fields_are_noted_unless_empty():
    trace = read_trace(
        [
            {"role": "assistant", "content": "a", "reasoning_content": "hm", "annotations": []},
            {"role": "assistant", "content": "b", "reasoning_content": "hm", "audio": None},
        ]
    )
    assert trace.not_carried == ("message field 'reasoning_content' (2)",)


def test_a_tool_message_that_says_it_failed_is_an_error():
    def error_of(**fields):
        (step,) = read_trace([asks(call("a")), {**result("a", "boom"), **fields}]).steps_of("tool")
        return step.error

    assert error_of(error=True) == "boom"
    assert error_of(is_error=True) == "boom"
    assert error_of(error="no such file") == "no such file"
    assert error_of(error=True, content=None) == "error"
    assert error_of(error=False) is None
    assert error_of() is None


def test_tokens_cost_model_and_time_of_a_message_are_carried():
    trace = read_trace(
        [
            {"role": "user", "content": "hi", "timestamp": "2025-01-01T12:00:00Z"},
            {
                "role": "assistant",
                "content": "hello",
                "model": "m-1",
                "usage": {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12},
                "cost": 0.25,
                "timestamp": NOON + 2,
            },
        ]
    )
    asked, answered = trace.steps
    assert asked.started_at == NOON * SECOND
    assert answered == Step(
        id="s2",
        type="llm",
        output="hello",
        model="m-1",
        usage=Usage(9, 3, 12),
        cost_usd=0.25,
        ended_at=(NOON + 2) * SECOND,
    )
    assert set(trace.missing) == {"tool_definitions"}


def test_tokens_of_a_users_message_are_not_the_agents():
    usage = {"prompt_tokens": 9, "completion_tokens": 3}
    trace = read_trace([{"role": "user", "content": "hi", "usage": usage, "cost": 1.0}])
    assert trace.steps == (Step(id="s1", type="user", output="hi"),)
    assert trace.not_carried == ("tokens and cost of messages that are not the agent's (1)",)
    assert "token_usage" in trace.missing


def test_a_messages_own_id_is_its_steps():
    trace = read_trace([{"role": "user", "id": "msg-7", "content": "hi"}])
    assert trace.steps[0].id == "msg-7"


COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": NOON,
    "model": "m-1",
    "choices": [{"index": 0, "message": asks(call("a")), "finish_reason": "tool_calls"}],
    "usage": {
        "prompt_tokens": 9,
        "completion_tokens": 3,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 4},
    },
}
REQUEST = {
    "model": "m-1",
    "messages": [{"role": "user", "content": "hi"}],
    "tools": [{"type": "function", "function": {"name": "search", "parameters": {}}}],
}


def test_a_completion_is_a_model_call_with_its_tokens_and_start():
    trace = read_trace(COMPLETION)
    assert trace.id == "chatcmpl-1"
    assert trace.steps[0] == Step(
        id="s1",
        type="llm",
        model="m-1",
        finish_reason="tool_call",
        usage=Usage(9, 3, 12, 4),
        started_at=NOON * SECOND,
    )
    assert trace.steps[1].name == "search"


@pytest.mark.parametrize(
    "value",
    [
        {**REQUEST, **COMPLETION},
        {"request": REQUEST, "response": COMPLETION},
        {"request": {"body": REQUEST}, "response": {"status_code": 200, "body": COMPLETION}},
    ],
    ids=["in one object", "side by side", "with bodies"],
)
def test_a_request_with_its_completion_is_one_trace(value):
    trace = read_trace(value)
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]
    assert trace.steps[1].usage == Usage(9, 3, 12, 4)
    assert [tool.name for tool in trace.tools] == ["search"]


CHUNKS = [
    {"id": "a", "object": "chat.completion.chunk", "choices": [{"delta": {"content": text}}]}
    for text in ("he", "llo")
]


@pytest.mark.parametrize(
    "response",
    [
        "hello",
        {"content": "hello", "tool_calls": None, "cost": 0.5},
        {"role": "assistant", "content": "hello"},
        {"body": CHUNKS, "is_streaming": True},
        {"body": [{"__type__": "x", "__data__": chunk} for chunk in CHUNKS]},
    ],
)
def test_a_response_beside_its_request_may_be_a_message_a_text_or_chunks(response):
    used = {"prompt_tokens": 9, "completion_tokens": 1}
    held = {**response, "usage": used} if type(response) is dict else response
    earlier = [*REQUEST["messages"], {"role": "assistant", "content": "what?"}]
    trace = read_trace({"request": {**REQUEST, "messages": earlier}, "response": held})
    assert [step.output for step in trace.steps_of("llm")] == ["what?", "hello"]
    assert trace.usage is None
    assert "llm_calls" not in trace.missing
    # Without messages these are records of any kind.
    with pytest.raises(UnknownTraceFormatError):
        read_trace({"request": {"prompt": "hi"}, "response": held})


@pytest.mark.parametrize("wrap", [lambda asked: {"request": asked}, dict])
def test_a_response_of_an_unknown_form_leaves_the_calls_unknown(wrap):
    response = {"answers": [1], "usage": {"prompt_tokens": 9, "completion_tokens": 1}}
    trace = read_trace({**wrap(REQUEST), "response": response})
    assert [step.type for step in trace.steps] == ["user"]
    for lacking in ("llm_calls", "tool_calls", "token_usage", "cost"):
        assert "in a form that is not read" in trace.missing[lacking]
    assert trace.usage in (None, Usage(9, 1, is_partial=True))


def test_other_choices_are_noted():
    choices = [*COMPLETION["choices"], {"index": 1, "message": asks(call("b"))}]
    trace = read_trace({**COMPLETION, "choices": choices})
    assert trace.not_carried == ("other choices of the completion (1)",)


def test_what_stands_beside_messages_is_of_the_run():
    trace = read_trace(
        {
            "id": "run-1",
            "messages": [{"role": "assistant", "content": "hi"}],
            "usage": {"prompt_tokens": 5, "completion_tokens": 1},
            "cost": 0.5,
            "start_time": NOON,
            "end_time": NOON + 3,
            "metadata": {"suite": "a"},
            "temperature": 0.5,
        }
    )
    assert (trace.id, trace.usage, trace.cost_usd) == ("run-1", Usage(5, 1), 0.5)
    assert (trace.started_at, trace.ended_at) == (NOON * SECOND, (NOON + 3) * SECOND)
    assert trace.metadata == {"suite": "a"}
    assert trace.not_carried == ("run field 'temperature' (1)",)


@pytest.mark.parametrize("name", ["tool_definitions", "toolDefinitions", "available_tools"])
@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "content": "hi"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]},
        {"type": "ai", "content": "hi", "example": False},
    ],
    ids=["openai", "anthropic", "langchain"],
)
def test_tools_are_read_under_other_names(message, name):
    listed = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    trace = read_trace({"messages": [message], "tools": ["f"], name: listed})
    assert [tool.name for tool in trace.tools] == ["f"]
    assert not any(name in note for note in trace.not_carried)


def test_another_list_of_tools_that_defines_none_is_noted():
    messages = [{"role": "user", "content": "hi"}]
    trace = read_trace({"messages": messages, "tools": [{"name": "f"}], "available_tools": ["f"]})
    assert trace.not_carried == ("run field 'available_tools' (1)",)


@pytest.mark.parametrize(
    "tools",
    [
        [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
        [{"name": "f", "input_schema": {"type": "object"}}],
        [{"name": "f", "inputSchema": {"type": "object"}}],
        {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]},
        {"jsonrpc": "2.0", "result": {"tools": [{"name": "f", "inputSchema": {"type": "object"}}]}},
        '[{"name": "f", "parameters": {"type": "object"}}]',
    ],
    ids=["OpenAI", "OpenAI flat", "Anthropic", "MCP", "MCP list", "MCP answer", "text"],
)
def test_tools_are_read_however_they_are_written(tools):
    trace = read_trace({"messages": [{"role": "user", "content": "hi"}], "tools": tools})
    assert [(tool.name, tool.schema) for tool in trace.tools] == [("f", {"type": "object"})]
    assert "tool_definitions" not in trace.missing


@pytest.mark.parametrize("item", ["hi", {"content": "hi"}, {"role": ["user"], "content": "hi"}])
def test_a_message_that_is_none_after_many_that_are_is_an_error_that_says_which(item):
    messages = [{"role": "user", "content": "hi"}] * 30
    with pytest.raises(TraceError, match="message 31 is not an object with a role"):
        read_trace([*messages, item])


def test_a_role_of_its_own_after_many_known_ones_is_another_step():
    messages = [{"role": "user", "content": "hi"}] * 30
    assert read_trace([*messages, {"role": "critic", "content": "no"}]).steps[30] == Step(
        id="s31", type="other", output="no"
    )


def test_a_chat_is_read_from_text_too():
    messages = [{"role": "user", "content": "hi"}]
    for text in (orjson.dumps(messages), orjson.dumps({"messages": messages}).decode()):
        assert read_trace(text).steps == read_trace(messages).steps


@pytest.mark.parametrize("role", ["Assistant", "model", "system", "tool"])
def test_no_call_hides_behind_a_role_that_makes_none(role):
    asked = [{"role": "user", "content": "go"}, {"role": "assistant", "content": "yes"}] * 11
    hidden = {"role": role, "content": "", "tool_calls": [call("h", "rm")]}
    (step,) = read_trace([*asked, hidden]).steps_of("tool")
    assert (step.id, step.name) == ("h", "rm")


@pytest.mark.parametrize("key", ["response", "completion", "output"])
@pytest.mark.parametrize("wrap", [lambda said: said, lambda said: {"choices": [{"message": said}], "model": "m"}])  # fmt: skip
def test_an_answer_beside_the_messages_is_the_last_of_them(key, wrap):
    request = {"messages": [{"role": "user", "content": "Find x."}]}
    trace = read_trace(request | {key: wrap(asks(call("a")))})
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]
    assert trace.not_carried == ()


UNANSWERED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]


@pytest.mark.parametrize("key", ["output", "completion", "model_output"])
@pytest.mark.parametrize("wrap", [str, lambda text: [text], lambda text: [{"text": text}]])
def test_a_text_beside_a_request_is_its_answer(key, wrap):
    row = {
        "messages": UNANSWERED,
        key: wrap("Hello"),
        "usage": {"input_tokens": 9, "output_tokens": 2},
    }
    [answer] = read_trace(row).steps_of("llm")
    assert (answer.output, answer.usage) == ("Hello", Usage(9, 2))
    assert "llm_calls" not in read_trace(row).missing


def test_a_list_with_an_empty_text_is_the_answer_of_a_model_that_said_nothing():
    trace = read_trace({"messages": UNANSWERED, "output": [""]})
    assert [step.type for step in trace.steps][2:] == ["llm"]
    assert "llm_calls" not in trace.missing


@pytest.mark.parametrize("key", ["output", "outputs", "completion", "model_output"])
@pytest.mark.parametrize("role", ["assistant", "ai", "bot", "Assistant"])
def test_an_answer_among_the_messages_stays_the_only_one(key, role):
    answered = [{"role": "user", "content": "Hi"}, {"role": role, "content": "Hello"}]
    thanked = [*answered, {"role": "user", "content": "Thanks"}]
    for messages in (answered, thanked):
        trace = read_trace({"messages": messages, key: "Hello"})
        assert [step.type for step in trace.steps] == ["user", "llm", "user"][: len(messages)]
        assert "llm_calls" not in trace.missing


def test_one_answer_to_two_questions_was_given_twice():
    asked = [{"role": "user", "content": f"Is {number} prime?"} for number in (2, 3)]
    messages = [asked[0], {"role": "assistant", "content": "Yes"}, asked[1]]
    trace = read_trace({"messages": messages, "output": ["Yes"]})
    assert [step.type for step in trace.steps] == ["user", "llm", "user", "llm"]


def test_several_texts_under_outputs_are_choices_of_one_answer():
    trace = read_trace({"messages": UNANSWERED, "outputs": ["A", "B"]})
    assert [step.output for step in trace.steps_of("llm")] == ["A"]
    assert trace.not_carried == ("other choices of the completion (1)",)


def test_several_messages_under_outputs_are_an_answer_that_is_not_read():
    outputs = [asks(call("a")), {"role": "assistant", "content": "None."}]
    assert "llm_calls" in read_trace({"messages": UNANSWERED, "outputs": outputs}).missing


@pytest.mark.parametrize("key", ["output", "outputs"])
@pytest.mark.parametrize(
    "messages", [5, None, "hello", [], [{"role": ["user"], "content": "q"}], [{"role": {}}]]
)
def test_an_answer_to_what_are_no_messages_is_no_trace(messages, key):
    with pytest.raises(UnknownTraceFormatError):
        read_trace({"messages": messages, key: "x"})


def test_a_list_with_the_one_message_of_an_answer_is_read():
    trace = read_trace({"messages": UNANSWERED, "output": [asks(call("a"), content="I look.")]})
    assert [step.name for step in trace.steps_of("tool")] == ["search"]


@pytest.mark.parametrize(
    "beside",
    [{"answer": "42"}, {"answer": ["42"]}, {"output": {"graph": []}}, {"output": ["one", "two"]}],
)
def test_what_may_be_the_answer_of_a_request_leaves_its_calls_unknown(beside):
    trace = read_trace({"messages": UNANSWERED, **beside})
    assert not trace.steps_of("llm")
    assert "in a form that is not read" in trace.missing["llm_calls"]


@pytest.mark.parametrize("key", ["answer", "output", "completion"])
def test_a_text_beside_messages_that_a_model_ended_is_no_further_answer(key):
    chat = [*UNANSWERED, {"role": "assistant", "content": "The answer is 42."}]
    trace = read_trace({"messages": chat, key: "42"})
    assert [step.output for step in trace.steps_of("llm")] == ["The answer is 42."]
    assert "llm_calls" not in trace.missing


def test_calls_of_another_choice_are_no_calls_that_were_not_made():
    said = {"message": {"role": "assistant", "content": "Looking."}}
    trace = read_trace({"choices": [said, {"message": asks(call("a"))}]})
    assert "tool_calls" in trace.missing
    assert trace.not_carried == ("other choices of the completion (1)",)


def ui_message(*parts, **fields):
    return {"id": "m1", "role": "assistant", "parts": list(parts), **fields}


STEP_START = {"type": "step-start"}
UI_CALL = {"type": "tool-search", "toolCallId": "c1", "input": {"q": "x"}, "output": "found"}


def test_a_message_of_several_model_calls_is_a_step_for_each():
    message = ui_message(
        STEP_START,
        {"type": "reasoning", "text": "Hm."},
        UI_CALL,
        STEP_START,
        {"type": "text", "text": "Here."},
        content="Here.",
        usage={"inputTokens": 90, "outputTokens": 9},
        toolInvocations=[{"toolCallId": "c1", "toolName": "search", "args": {}, "result": "found"}],
    )
    trace = read_trace([{"role": "user", "content": "Find x."}, message])
    assert trace.steps[1:] == (
        Step(id="m1", type="llm"),
        Step(
            id="c1",
            type="tool",
            parent_id="m1",
            name="search",
            arguments={"q": "x"},
            output="found",
        ),
        # What all of its model calls used is counted once.
        Step(id="m1#2", type="llm", output="Here.", usage=Usage(90, 9)),
    )
    assert trace.not_carried == ("parts of the model's reasoning (1)",)


def test_what_only_a_messages_own_fields_tell_stays_with_its_last_model_call():
    listed = [{"toolCallId": "c2", "toolName": "mail", "args": {}}]
    message = ui_message(STEP_START, UI_CALL, STEP_START, content="Sent.", toolInvocations=listed)
    trace = read_trace([message])
    assert [step.output for step in trace.steps_of("llm")] == [None, "Sent."]
    assert [(step.id, step.parent_id) for step in trace.steps_of("tool")] == [
        ("c1", "m1"),
        ("c2", "m1#2"),
    ]


def test_a_tools_own_data_is_never_taken_for_the_models_thoughts():
    found = [{"thought": True, "title": "On thinking"}]
    assert outputs([asks(call("call_1")), result("call_1", found)]) == [("call_1", found)]


@pytest.mark.parametrize("key", ["response", "completion", "output"])
def test_an_answer_that_the_messages_end_with_is_told_once(key):
    answer = {"role": "assistant", "content": "Here."}
    held = {"choices": [{"message": answer | {"refusal": None}}], "usage": {"prompt_tokens": 9}}
    trace = read_trace({"messages": [{"role": "user", "content": "Find x."}, answer], key: held})
    assert trace.steps[1:] == (Step(id="s2", type="llm", output="Here.", usage=Usage(9)),)


def test_numbers_are_ids_of_calls():
    messages = [asks(call(1), call(2)), result(2, "two"), result(1, "one")]
    assert outputs(messages) == [("1", "one"), ("2", "two")]


@pytest.mark.parametrize(
    ("told", "error"),
    [({"type": "timeout", "message": "too slow"}, "too slow"), ({"type": "timeout"}, "found")],
)
def test_an_error_may_be_an_object_with_its_message(told, error):
    trace = read_trace([asks(call("call_1")), result("call_1") | {"error": told}])
    assert trace.steps[-1].error == error


def test_the_results_of_several_calls_may_stand_in_one_message():
    results = [result("call_2", "two"), result("call_1", "one")]
    several = {"role": "tool", "content": "two\n\none", "tool_responses": results}
    trace = read_trace([asks(call("call_1"), call("call_2")), several])
    assert [(step.id, step.output) for step in trace.steps_of("tool")] == [
        ("call_1", "one"),
        ("call_2", "two"),
    ]
    assert trace.not_carried == ()


def of_llama_index(role, *blocks, **kwargs):
    return {"role": role, "additional_kwargs": kwargs, "blocks": list(blocks)}


def block(kind, **fields):
    return {"block_type": kind, **fields}


@pytest.mark.parametrize("holder", ["kwargs", "blocks", "both"])
def test_messages_of_llama_index_have_their_content_in_blocks(holder):
    listed = [call("call_1")] if holder != "blocks" else []
    asked = block("tool_call", tool_call_id="call_1", tool_name="search", tool_kwargs={"q": "x"})
    blocks = [asked] if holder != "kwargs" else []
    trace = read_trace(
        [
            of_llama_index("user", block("text", text="Find x."), block("text", text="Now.")),
            of_llama_index("assistant", block("thinking", content="hm"), block("text", text="I look."), *blocks, **({"tool_calls": listed, "thoughts": ""} if listed else {})),
            of_llama_index("tool", block("text", text="found"), tool_call_id="call_1", name="search"),
            of_llama_index("assistant", block("text", text="Here."), refusal="", note="n"),
        ]
    )  # fmt: skip
    asked = trace.steps[2]
    assert [(step.type, step.output) for step in trace.steps] == [
        ("user", "Find x.\nNow."),
        ("llm", "I look."),
        ("tool", "found"),
        ("llm", "Here."),
    ]
    assert (asked.id, asked.name, asked.parent_id) == ("call_1", "search", "s2")
    assert asked.arguments == {"q": "x"}
    assert trace.not_carried == (
        "message field 'additional_kwargs' (1)",
        "parts of the model's reasoning (1)",
    )


def test_what_stands_beside_calls_in_the_own_field_of_a_provider_is_named():
    kwargs = {"tool_calls": [call("call_1")], "thought_signatures": ["s"], "thoughts": ""}
    trace = read_trace([{"role": "assistant", "content": "", "additional_kwargs": kwargs}])
    assert [step.id for step in trace.steps_of("tool")] == ["call_1"]
    assert trace.not_carried == ("message field 'additional_kwargs.thought_signatures' (1)",)


def test_a_result_of_llama_index_without_text_keeps_its_image():
    picture = block("image", url="https://example.org/a.png", image_mimetype="image/png")
    listed = [
        of_llama_index("assistant", tool_calls=[call("call_1")]),
        of_llama_index("tool", block("text", text=""), picture, tool_call_id="call_1"),
    ]
    assert read_trace(listed).steps[-1].output.startswith("\n[image ")


def test_a_log_of_litellm_states_times_cost_and_tools():
    log = {
        "id": "r1",
        "startTime": NOON,
        "endTime": NOON + 3,
        "response_cost": 0.25,
        "model": "m",
        "model_parameters": {"tools": [{"function": {"name": "ls"}}], "temperature": 0},
        "messages": [{"role": "user", "content": "Go."}],
        "response": {
            "choices": [{"message": {"role": "assistant", "content": "Gone."}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
        },
    }
    trace = read_trace(log)
    assert (trace.started_at, trace.ended_at) == (NOON * SECOND, (NOON + 3) * SECOND)
    assert [step.cost_usd for step in trace.steps_of("llm")] == [0.25]
    assert [tool.name for tool in trace.tools] == ["ls"]
    assert trace.not_carried == ("run field 'model_parameters' (1)",)
    assert trace.steps[-1].usage == Usage(3, 2)
    assert read_trace(log | {"response_cost": 0.0}).steps[-1].cost_usd is None


BUFFER = "llama_index.core.memory.chat_memory_buffer.ChatMemoryBuffer"
ASKED = [
    of_llama_index("user", block("text", text="Find x.")),
    of_llama_index(
        "assistant",
        tool_calls=[{"id": "", "name": "search", "args": {"q": "x"}}, {"id": "", "name": "add"}],
    ),
    of_llama_index("tool", block("text", text="7"), tool_call_id="add"),
    of_llama_index("tool", block("text", text="x is here"), tool_call_id="search"),
]
OTHER = of_llama_index("user", block("text", text="Who?"))


def in_buffer(messages):
    stored = {"chat_history": messages, "other": [OTHER]}
    return {"chat_store": {"store": stored}, "chat_store_key": "chat_history"}


def in_rows(messages):
    rows = [{"key": "s", "data": message} for message in messages]
    return {"session_id": "s", "sql_store": {"db_data": [{"key": "t", "data": OTHER}, *rows]}}


def context(memory, qualified_name=BUFFER, place="state", scratchpad="[]"):
    written = {"__is_component": True, "value": memory, "qualified_name": qualified_name}
    held = {"memory": orjson.dumps(written).decode(), "scratchpad": scratchpad}
    state = {"state_data": {"_data": held}, "state_type": "DictState"}
    return {place: state if place == "state" else held, "is_running": False, "queues": {}}


@pytest.mark.parametrize("place", ["state", "globals"])
@pytest.mark.parametrize("kept", [in_buffer, in_rows])
def test_a_saved_context_of_llama_index_has_the_messages_of_its_memory(kept, place):
    answer = {"value": of_llama_index("assistant", block("text", text="Here."))}
    pending = orjson.dumps([answer]).decode()
    trace = read_trace(context(kept(ASKED), place=place, scratchpad=pending))
    assert [(step.type, step.name, step.output) for step in trace.steps] == [
        ("user", None, "Find x."),
        ("llm", None, None),
        ("tool", "search", "x is here"),
        ("tool", "add", "7"),
        ("llm", None, "Here."),
    ]


@pytest.mark.parametrize(
    "value",
    [
        context({}),
        context({"chat_store": {"store": {"chat_history": 5}}, "chat_store_key": []}),
        context({"sql_store": {"db_data": [{"key": "s"}]}, "session_id": "s"}),
        context(in_buffer(ASKED), qualified_name="acme.Memory"),
        context(in_buffer(ASKED)) | {"state": {"state_data": "{}"}},
        {"state": context(in_buffer(ASKED))["state"]},
    ],
)
def test_a_context_without_a_memory_of_messages_is_no_chat(value):
    with pytest.raises(UnknownTraceFormatError):
        read_trace(value)


@pytest.mark.parametrize("wrap", [list, lambda held: {"messages": held}])
def test_messages_without_content_or_calls_are_of_another_program(wrap):
    said = [{"role": "user", "userInput": "Go."}, {"role": "assistant", "data": [{"type": "text"}]}]
    with pytest.raises(UnknownTraceFormatError):
        read_trace(wrap(said))


def test_calls_in_a_list_under_another_name_leave_the_calls_unknown():
    data = [{"type": "tool_use", "toolUseData": {"tool": "read"}}]
    said = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "", "data": data}]
    assert "tool_calls" in read_trace(said).missing


@pytest.mark.parametrize("of_run", [False, True])
def test_model_calls_are_unknown_too_if_unread_calls_have_results_or_are_beside_the_messages(
    of_run,
):
    held = [
        {"type": "tool_use", "name": "read"},
        {"type": "tool_result", "output": "x"},
        {"type": "tool_use", "name": "read"},
    ]
    used = {"prompt_tokens": 4, "completion_tokens": 2}
    done = {"role": "assistant", "content": "Done.", "usage": used}
    said = [{"role": "user", "content": "Go."}, done if of_run else done | {"blocks": held}]
    beside = {"events": held} if of_run else {}
    trace = read_trace({"messages": said, **beside})
    assert {"llm_calls", "tool_calls", "token_usage"} <= trace.missing.keys()
    with_total = read_trace({"messages": said, "usage": used, **beside})
    assert {"llm_calls", "tool_calls"} <= with_total.missing.keys()
    assert "token_usage" not in with_total.missing


def test_calls_that_a_message_has_in_an_unread_field_are_of_its_own_model_call():
    said = [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Look.", "toolUses": [{"type": "tool_use"}]},
    ]
    trace = read_trace(said)
    assert "tool_calls" in trace.missing
    assert "llm_calls" not in trace.missing


RECORD = {
    "litellm_call_id": "c",
    "messages": [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": "Going."},
        {"role": "user", "content": "On."},
    ],
    "model": "m",
    "optional_params": {"tools": [{"function": {"name": "ls"}}]},
    "start_time": "2025-01-01 11:59:59.5",
    "api_call_start_time": "2025-01-01 12:00:00",
    "llm_api_duration_ms": 1_500.0,
}


@pytest.mark.parametrize(
    "answer",
    [
        {
            "choices": [{"message": {"role": "assistant", "content": "Gone."}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 2},
            "created": 5,
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Gone."}],
            "usage": {"input_tokens": 3, "output_tokens": 2},
        },
    ],
)
def test_a_record_of_litellms_logger_holds_the_answer_as_text(answer):
    trace = read_trace(RECORD | {"original_response": orjson.dumps(answer).decode()})
    last = trace.steps[-1]
    assert [step.output for step in trace.steps_of("llm")] == ["Going.", "Gone."]
    assert (last.usage, last.model) == (Usage(3, 2), "m")
    assert (last.started_at, last.ended_at) == (NOON * SECOND, NOON * SECOND + 1_500_000_000)
    assert (trace.started_at, trace.ended_at) == (None, None)
    assert [tool.name for tool in trace.tools] == ["ls"]


@pytest.mark.parametrize("text", ["data: {}", "[1]", '{"error": {}}', 7])
def test_an_answer_in_a_record_of_litellms_logger_that_is_not_read_leaves_the_calls_unknown(text):
    trace = read_trace(RECORD | {"original_response": text})
    assert trace.missing["llm_calls"] == trace.missing["token_usage"]
    assert "in a form that is not read" in trace.missing["llm_calls"]


@pytest.mark.parametrize("took", ["x", -1, 10**400, None])
def test_a_call_of_litellm_whose_time_is_not_known_has_no_end(took):
    answer = orjson.dumps({"role": "assistant", "content": "Gone."}).decode()
    trace = read_trace(RECORD | {"original_response": answer, "llm_api_duration_ms": took})
    assert (trace.steps[-1].started_at, trace.steps[-1].ended_at) == (NOON * SECOND, None)


def test_the_cost_of_a_completion_is_not_that_of_the_answers_in_its_request():
    answer = {"choices": [{"message": {"role": "assistant", "content": "Here."}}]}
    messages = [asks(call("call_1")), result("call_1")]
    trace = read_trace({"messages": messages, "response": answer, "cost": 0.25})
    assert [step.cost_usd for step in trace.steps_of("llm")] == [None, 0.25]
    assert trace.cost_usd is None
    assert read_trace({"messages": messages, "cost": 0.25}).cost_usd == 0.25


def test_what_stands_beside_a_request_and_its_response_is_noted():
    log = {"reason": "refused", "error": {"message": "no key"}, "request": {"body": REQUEST}}
    notes = read_trace(log).not_carried
    assert {"log field 'reason' (1)", "log field 'error' (1)"} <= set(notes)


def test_a_response_that_is_the_last_message_once_more_is_read():
    messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    for text, lacks in (("Hello", False), ("Bye", True)):
        trace = read_trace({"messages": messages, "response": text})
        assert [step.output for step in trace.steps] == ["Hi", "Hello"]
        assert ("llm_calls" in trace.missing) == lacks


def test_a_prediction_of_evalscope_has_the_usage_of_its_last_answer():
    answer = {"role": "assistant", "content": "B.", "source": "generate", "tool_calls": None, "model": "m"}  # fmt: skip
    usage = {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11, "input_tokens_cache_read": 0}  # fmt: skip
    output = {"id": "c", "model": "m", "choices": [{"message": answer}], "usage": usage, "time": 1.5}  # fmt: skip
    asked = {"role": "user", "content": "Which?", "source": "input"}
    row = {"index": 2, "model": "m", "model_output": output, "messages": [asked, answer], "metadata": {"level": 1}}  # fmt: skip
    trace = read_trace(row)
    assert [(step.type, step.output, step.usage) for step in trace.steps] == [
        ("user", "Which?", None),
        ("llm", "B.", Usage(9, 2, 11)),
    ]
    assert (trace.format, trace.metadata) == ("openai-chat", {"level": 1})


def test_a_session_with_a_summary_of_earlier_messages_has_lower_bounds():
    messages = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "Yes."}]
    times = {"created": "2026-02-27T10:00:00Z", "updated": "2026-03-10T10:00:00Z"}
    session = {"key": "agent:main", "messages": messages, "summary": "We began.", **times}
    counted = {"llm_calls", "tool_calls", "token_usage", "cost"}
    assert counted <= read_trace(session).missing.keys()
    for other in (session | {"summary": ""}, {"messages": messages, "summary": "They talk."}):
        assert not {"llm_calls", "tool_calls"} & read_trace(other).missing.keys()

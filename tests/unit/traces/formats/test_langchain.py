"""LangChain's messages, in all forms that its own functions write, and in the state of a graph."""

from __future__ import annotations

import pytest

from weighbridge.errors import TraceError, UnknownTraceFormatError
from weighbridge.traces import Step, Usage, read_trace
from weighbridge.traces.recognition import recognised

CALL = {"name": "search", "args": {"q": "x"}, "id": "call_1", "type": "tool_call"}
USAGE = {
    "input_tokens": 80,
    "output_tokens": 15,
    "total_tokens": 95,
    "input_token_details": {"cache_read": 10},
}
ASKED = {"content": "Find x.", "type": "human", "id": "h1", "additional_kwargs": {}}
ANSWER = {
    "content": "",
    "type": "ai",
    "id": "run-1",
    "tool_calls": [CALL],
    "invalid_tool_calls": [],
    "usage_metadata": USAGE,
    "response_metadata": {"model_name": "gpt-4o", "finish_reason": "tool_calls"},
    "additional_kwargs": {
        "tool_calls": [{"id": "call_1", "function": {"name": "search", "arguments": '{"q": "x"}'}}]
    },
}
RESULT = {"content": "found", "type": "tool", "name": "search", "tool_call_id": "call_1"}
RUN = [ASKED, ANSWER, RESULT]
STEPS = (
    Step(id="h1", type="user", output="Find x."),
    Step(
        id="run-1",
        type="llm",
        finish_reason="tool_call",
        output="",
        model="gpt-4o",
        usage=Usage(80, 15, 95, 10),
    ),
    Step(
        id="call_1",
        type="tool",
        parent_id="run-1",
        name="search",
        arguments={"q": "x"},
        output="found",
    ),
)


def under_data(message):
    return {"type": message["type"], "data": message}


def under_kwargs(message):
    name = {"human": "HumanMessage", "ai": "AIMessageChunk", "tool": "ToolMessage"}[message["type"]]
    fields = {key: item for key, item in message.items() if key != "type"}
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": fields}


@pytest.mark.parametrize("written", [dict, under_data, under_kwargs])
@pytest.mark.parametrize("placed", [list, lambda run: {"messages": run}])
def test_each_form_tells_the_same_run(written, placed):
    trace = read_trace(placed([written(message) for message in RUN]))
    assert (trace.format, trace.steps, trace.not_carried) == ("langchain", STEPS, ())
    assert set(trace.missing) == {"timing", "tool_definitions"}


@pytest.mark.parametrize("key", ["values", "outputs"])
def test_the_state_of_a_graph_may_stand_in_what_is_kept_of_it(key):
    trace = read_trace({"id": "thread-1", key: {"messages": RUN}, "next": ["tools"]})
    assert (trace.id, trace.steps) == ("thread-1", STEPS)
    assert trace.not_carried == ("wrapper field 'next' (1)",)


def test_messages_of_openais_may_stand_among_them():
    trace = read_trace([{"role": "user", "content": "Find x."}, ANSWER])
    assert [step.type for step in trace.steps] == ["user", "llm", "tool"]


def test_a_result_says_that_its_call_failed():
    trace = read_trace([ASKED, ANSWER, RESULT | {"content": "no net", "status": "error"}])
    assert trace.steps[-1].error == "no net"


def test_calls_that_could_not_be_parsed_are_calls():
    bad = {"name": "search", "args": '{"q": ', "id": "call_2", "error": "no JSON"}
    trace = read_trace([ASKED, ANSWER | {"invalid_tool_calls": [bad]}])
    assert [(step.id, step.arguments) for step in trace.steps_of("tool")] == [
        ("call_1", {"q": "x"}),
        ("call_2", '{"q": '),
    ]


@pytest.mark.parametrize(
    ("about", "usage"),
    [
        ({"token_usage": {"prompt_tokens": 9, "completion_tokens": 2}}, Usage(9, 2)),
        (
            {"usage": {"input_tokens": 9, "output_tokens": 2, "cache_read_input_tokens": 5}},
            Usage(14, 2, None, 5),
        ),
        ({}, None),
    ],
)
def test_without_usage_of_its_own_an_answer_has_what_its_provider_told(about, usage):
    answer = {"type": "ai", "content": "Here.", "response_metadata": about}
    assert read_trace([ASKED, answer]).steps[-1].usage == usage


def test_a_message_that_is_none_is_an_error_that_says_which():
    with pytest.raises(TraceError, match="message 21 is none of LangChain's"):
        read_trace([ASKED] * 20 + [{"type": "remove", "content": "", "id": "h1"}])


@pytest.mark.parametrize("kind", ["remove", "", None, 5, [], "human "])
def test_a_type_that_is_none_is_no_message(kind):
    with pytest.raises(UnknownTraceFormatError):
        read_trace([{"type": kind, "content": "hi"}])


def chunk(content="", **more):
    return {"type": "AIMessageChunk", "content": content, "id": "run-1", **more}


def piece(args, index=0, **more):
    return {"name": None, "args": args, "id": None, "index": index, "type": "tool_call_chunk", **more}  # fmt: skip


CHUNKS = [
    {"type": "human", "content": "Find x."},
    chunk("I ", usage_metadata={"input_tokens": 20, "output_tokens": 0, "total_tokens": 20}),
    chunk([{"type": "text", "text": "look."}], response_metadata={"model_name": "m"}),
    chunk(tool_calls=[{"name": "search", "args": {}, "id": "c1"}], tool_call_chunks=[piece("", id="c1", name="search")]),
    chunk(invalid_tool_calls=[{"name": None, "args": '{"q"', "id": None}], tool_call_chunks=[piece('{"q"')]),
    chunk(tool_call_chunks=[piece(': "x"}'), piece("{}", index=1, id="c2", name="wait")]),
    chunk(usage_metadata={"input_tokens": 0, "output_tokens": 7, "total_tokens": 7}, chunk_position="last"),
    {"type": "tool", "content": "found", "tool_call_id": "c1"},
    chunk("Done.", id="run-2"),
]  # fmt: skip


def test_chunks_of_one_message_are_one_answer_with_whole_calls_and_the_sum_of_the_usage():
    for form in (CHUNKS, [as_data(each) for each in CHUNKS], [as_kwargs(each) for each in CHUNKS]):
        trace = read_trace(form)
        assert trace.format == "langchain"
        answer, last = trace.steps_of("llm")
        assert (answer.output, answer.model, answer.usage) == ("I look.", "m", Usage(20, 7, 27))
        assert last.output == "Done."
        search, wait = trace.steps_of("tool")
        assert (search.name, search.arguments, search.output) == ("search", {"q": "x"}, "found")
        assert (wait.name, wait.arguments) == ("wait", {})
        assert trace.not_carried == ()


def as_data(message):
    return {"type": message["type"], "data": message}


def as_kwargs(message):
    names = {"human": "HumanMessage", "tool": "ToolMessage"}
    path = ["langchain", "schema", names.get(message["type"], message["type"])]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": message}


def test_chunks_of_different_messages_stay_apart():
    chunks = [chunk("One."), chunk("Two.", id="run-2"), chunk("Three.", id="run-2")]
    assert [step.output for step in read_trace(chunks).steps] == ["One.", "Two.Three."]


@pytest.mark.parametrize("held", [None, 1, "x", [], [1], [{}], {"a": "b"}])
def test_odd_values_in_chunks_leave_the_rest_readable(held):
    odd = chunk("more", tool_calls=held, tool_call_chunks=held, usage_metadata=held, response_metadata=held)  # fmt: skip
    trace = read_trace([chunk("some "), odd, chunk(" text")])
    assert [step.output for step in trace.steps_of("llm")] == ["some more text"]


def generation(text, **message):
    said = {"content": text, "type": "ai", "response_metadata": {}, **message}
    return {"text": text, "type": "ChatGeneration", "message": said}


USED = {"token_usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}, "model_name": "m"}  # fmt: skip


@pytest.mark.parametrize("is_nested", [False, True])
def test_a_result_of_a_model_is_its_answer_with_what_the_provider_recorded(is_nested):
    choices = [generation("Here."), generation("There.")]
    result = {"generations": [choices] if is_nested else choices, "llm_output": USED}
    trace = read_trace(result)
    assert trace.format == "langchain"
    assert [(step.type, step.output) for step in trace.steps] == [("llm", "Here.")]
    assert trace.steps[0].usage == Usage(5, 2, 7)
    assert trace.steps[0].model == "m"


def test_a_result_for_several_prompts_has_an_answer_for_each_and_the_tokens_of_all():
    calls = [{"id": "c1", "name": "search", "args": {"q": "x"}}]
    answers = [[{"text": "One."}], [generation("", tool_calls=calls)]]
    trace = read_trace({"generations": answers, "llm_output": USED, "run": None})
    assert [step.output for step in trace.steps_of("llm")] == ["One.", ""]
    assert trace.steps_of("tool")[0].arguments == {"q": "x"}
    assert [step.usage for step in trace.steps_of("llm")] == [None, None]
    assert (trace.usage, trace.totals_from) == (Usage(5, 2, 7), "llm_output")


@pytest.mark.parametrize(
    "value",
    [
        {"generations": [generation("x")]},
        {"generations": [], "llm_output": {}},
        {"generations": [[]], "llm_output": {}},
        {"generations": [{"score": 1}], "llm_output": {}},
    ],
)
def test_other_values_with_generations_are_no_results(value):
    assert recognised(value) is None

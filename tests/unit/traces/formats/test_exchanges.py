"""Logs of which each value has a request and its response, of any model API."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import TraceError
from weighbridge.traces import Usage, read_trace, read_traces
from weighbridge.traces.formats.request_log import IMPORTER, request_log_parts
from weighbridge.traces.split import single_traces

if TYPE_CHECKING:
    from collections.abc import Iterator

TOOL = {"name": "search", "input_schema": {"type": "object"}}
FUNCTION = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}
CACHED = {"cache_control": {"type": "ephemeral"}}


class Anthropic:
    """Bodies of Anthropic's Messages API."""

    def asked(self, *said: Any) -> dict[str, Any]:
        return {"model": "m", "system": "You find.", "tools": [TOOL], "messages": list(said)}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def said(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": [{"type": "text", "text": text}]}

    def call(self, name: str) -> dict[str, Any]:
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
        used = {"type": "tool_use", "id": name, "name": "search", "input": {"q": name}}
        return {"role": "assistant", "content": [thought, used]}

    def result(self, name: str, text: str) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": name, "content": text, **CACHED}
        return {"role": "user", "content": [block]}

    def answered(self, message: dict[str, Any], number: int = 1) -> dict[str, Any]:
        usage = {"input_tokens": 10, "output_tokens": number}
        return {"type": "message", "id": f"a{number}", "model": "m-1", **message, "usage": usage}

    def streamed(self, message: dict[str, Any], number: int = 1) -> list[dict[str, Any]]:
        start = {**self.answered(message), "id": f"a{number}", "content": []}
        events: list[dict[str, Any]] = [{"type": "message_start", "message": start}]
        for index, block in enumerate(message["content"]):
            empty = {**block, "input": {}} if "input" in block else block
            events.append({"type": "content_block_start", "index": index, "content_block": empty})
            if "input" in block:
                text = orjson.dumps(block["input"]).decode()
                for piece in (text[:3], text[3:]):
                    delta = {"type": "input_json_delta", "partial_json": piece}
                    events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events.append({"type": "content_block_stop", "index": index})
        ended = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": number}}
        return [*events, ended, {"type": "message_stop"}]


class Chat:
    """Bodies of OpenAI's Chat Completions API."""

    def asked(self, *said: Any) -> dict[str, Any]:
        system = {"role": "system", "content": "You find."}
        return {"model": "m", "tools": [FUNCTION], "messages": [system, *said], "seed_of_run": 1}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def said(self, text: str) -> dict[str, Any]:
        return {"role": "assistant", "content": text}

    def call(self, name: str) -> dict[str, Any]:
        function = {"name": "search", "arguments": orjson.dumps({"q": name}).decode()}
        calls = [{"id": name, "type": "function", "function": function}]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    def result(self, name: str, text: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": name, "content": text}

    def answered(self, message: dict[str, Any], number: int = 1) -> dict[str, Any]:
        usage = {"prompt_tokens": 10, "completion_tokens": number}
        return {
            "id": f"a{number}",
            "model": "m-1",
            "choices": [{"message": message}],
            "usage": usage,
        }

    def streamed(self, message: dict[str, Any], number: int = 1) -> list[dict[str, Any]]:
        whole = self.answered(message, number)
        calls = [{"index": at, **each} for at, each in enumerate(message.get("tool_calls", ()))]
        delta = {**message, "tool_calls": calls}
        about = {"id": whole["id"], "object": "chat.completion.chunk", "model": "m-1"}
        said = {**about, "choices": [{"index": 0, "delta": delta}]}
        return [said, {**about, "choices": [], "usage": whole["usage"]}]


class Gemini:
    """Bodies of Gemini's API, whose calls have no IDs."""

    def asked(self, *said: Any) -> dict[str, Any]:
        tools = [{"functionDeclarations": [{"name": "search"}]}]
        system = {"parts": [{"text": "You find."}]}
        return {"contents": list(said), "systemInstruction": system, "tools": tools}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "parts": [{"text": text}]}

    def said(self, text: str) -> dict[str, Any]:
        return {"role": "model", "parts": [{"text": text}]}

    def call(self, name: str) -> dict[str, Any]:
        part = {"functionCall": {"name": "search", "args": {"q": name}}, "thoughtSignature": "s"}
        return {"role": "model", "parts": [part]}

    def result(self, name: str, text: str) -> dict[str, Any]:
        part = {"functionResponse": {"name": "search", "response": {"result": text, "q": name}}}
        return {"role": "user", "parts": [part]}

    def answered(self, message: dict[str, Any], number: int = 1) -> dict[str, Any]:
        usage = {"promptTokenCount": 10, "candidatesTokenCount": number}
        about = {"responseId": f"a{number}", "modelVersion": "m-1", "usageMetadata": usage}
        return {"candidates": [{"content": message, "finishReason": "STOP"}], **about}

    def streamed(self, message: dict[str, Any], number: int = 1) -> list[dict[str, Any]]:
        whole = self.answered(message, number)
        empty = {**whole, "candidates": [{"content": {"role": "model", "parts": []}}]}
        return [empty, whole]


class Responses:
    """Bodies of OpenAI's Responses API; a message is a list of items."""

    def asked(self, *said: Any) -> dict[str, Any]:
        items = [item for each in said for item in (each if type(each) is list else [each])]
        tools = [{"type": "function", "name": "search"}]
        return {"model": "m", "instructions": "You find.", "tools": tools, "input": items}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def said(self, text: str) -> list[dict[str, Any]]:
        content = [{"type": "output_text", "text": text}]
        return [{"type": "message", "role": "assistant", "content": content}]

    def call(self, name: str) -> list[dict[str, Any]]:
        arguments = orjson.dumps({"q": name}).decode()
        called = {"type": "function_call", "call_id": name, "name": "search"}
        return [{"type": "reasoning", "summary": []}, {**called, "arguments": arguments}]

    def result(self, name: str, text: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": name, "output": text}

    def answered(self, items: list[dict[str, Any]], number: int = 1) -> dict[str, Any]:
        usage = {"input_tokens": 10, "output_tokens": number}
        about = {"id": f"a{number}", "object": "response", "model": "m-1"}
        return {**about, "output": items, "usage": usage}

    def streamed(self, items: list[dict[str, Any]], number: int = 1) -> list[dict[str, Any]]:
        whole = self.answered(items, number)
        created = {"type": "response.created", "response": {**whole, "output": [], "usage": None}}
        return [created, {"type": "response.completed", "response": whole}]


APIS = [Anthropic(), Chat(), Gemini(), Responses()]


def text_of_events(events: list[dict[str, Any]]) -> str:
    return "".join(f"event: e\ndata: {orjson.dumps(event).decode()}\n\n" for event in events)


#: Forms in which programs store a request and its response.
FORMS = {
    "bodies": lambda api, asked, said, n: {"request": asked, "response": api.answered(said, n)},
    "names of bodies": lambda api, asked, said, n: {
        "request_body": asked,
        "response_body": api.answered(said, n),
    },
    "with headers": lambda api, asked, said, n: {
        "request": {"method": "POST", "headers": {}, "body": asked},
        "response": {"status_code": 200, "headers": {}, "body": api.answered(said, n)},
    },
    "bodies as text": lambda api, asked, said, n: {
        "request": {"url": "/", "body": orjson.dumps(asked).decode()},
        "response": {"status": 200, "body": orjson.dumps(api.answered(said, n)).decode()},
    },
    "text of events": lambda api, asked, said, n: {
        "request": {"body": asked},
        "response": {"status_code": 200, "body_raw": text_of_events(api.streamed(said, n))},
    },
    "text of events alone": lambda api, asked, said, n: {
        "request": asked,
        "response": text_of_events(api.streamed(said, n)),
    },
    "lines of events": lambda api, asked, said, n: {
        "request": asked,
        "response": {
            "stream": True,
            "sse_lines": text_of_events(api.streamed(said, n)).split("\n"),
        },
    },
    "lines of events without blank ones": lambda api, asked, said, n: {
        "request": asked,
        "response": {
            "sse_lines": [
                each for each in text_of_events(api.streamed(said, n)).split("\n") if each
            ]
        },
    },
    "events": lambda api, asked, said, n: {
        "request": asked,
        "response": {"body": api.streamed(said, n)},
    },
}


def log_of(api: Any, form: str, name: str = "c") -> list[dict[str, Any]]:
    """Return the log of a run of two calls of a tool, with a line for each of three calls of the model."""
    wrap = FORMS[form]
    first, second = api.call(f"{name}1"), api.call(f"{name}2")
    said = [api.user("Find x.")]
    log = [wrap(api, api.asked(*said), first, 1)]
    said += [first, api.result(f"{name}1", "one")]
    log.append(wrap(api, api.asked(*said), second, 2))
    said += [second, api.result(f"{name}2", "two")]
    log.append(wrap(api, api.asked(*said), api.said(f"Done {name}."), 3))
    return [{**each, "timestamp": 1} for each in log]


@pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__)
@pytest.mark.parametrize("form", FORMS)
def test_each_call_counts_once_though_later_requests_repeat_it(api, form):
    trace = read_trace(log_of(api, form))
    assert [step.type for step in trace.steps] == ["system", "user", *(["llm", "tool"] * 2), "llm"]
    assert [step.usage for step in trace.steps_of("llm")] == [
        Usage(10, number, 10 + number if step.usage.total_tokens else None)
        for number, step in enumerate(trace.steps_of("llm"), start=1)
    ]
    assert [(step.name, step.arguments) for step in trace.steps_of("tool")] == [
        ("search", {"q": "c1"}),
        ("search", {"q": "c2"}),
    ]
    assert ["one" in str(trace.steps_of("tool")[0].output), trace.steps[-1].output] == [
        True,
        "Done c.",
    ]
    assert {step.model for step in trace.steps_of("llm")} == {"m-1"}
    assert [tool.name for tool in trace.tools] == ["search"]
    assert not {"llm_calls", "tool_calls", "token_usage"} & trace.missing.keys()


@pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__)
def test_conversations_of_one_task_at_the_same_time_are_told_apart(api):
    one, two = log_of(api, "lines of events"), log_of(api, "bodies", "d")
    log = [each for pair in zip(one, two, strict=True) for each in pair]
    parts = request_log_parts(log)
    assert [part for _, part in parts] == [one, two]
    traces = [read_trace(part) for _, part in parts]
    assert [trace.steps[-1].output for trace in traces] == ["Done c.", "Done d."]
    assert [len(trace.steps_of("llm")) for trace in traces] == [3, 3]


@pytest.mark.parametrize("api", APIS[:3], ids=lambda api: type(api).__name__)
def test_an_exchange_that_nothing_continues_is_read_as_it_is_alone(api):
    other = FORMS["bodies"](api, api.asked(api.user("Else?")), api.said("No."), 9)
    log = [*log_of(api, "bodies"), other]
    assert [part for _, part in single_traces(log)] == [log[:3], other]
    joined, alone = read_traces(log)
    assert (len(joined.steps_of("llm")), alone) == (3, read_trace(other))
    assert alone.steps_of("llm")[0].usage.output_tokens == 9


def test_the_cache_mark_that_moves_and_a_thought_that_is_left_out_change_no_message():
    api = Anthropic()
    log = log_of(api, "lines of events")
    messages = log[2]["request"]["messages"]
    messages[0] = {"role": "user", "content": [{"type": "text", "text": "Find x.", **CACHED}]}
    messages[1]["content"] = messages[1]["content"][1:]
    del messages[2]["content"][0]["cache_control"]
    trace = read_trace(log)
    assert [step.type for step in trace.steps] == ["system", "user", *(["llm", "tool"] * 2), "llm"]
    assert "parts of the model's reasoning (2)" in trace.not_carried


def test_a_result_that_says_that_the_call_failed_is_a_failure():
    log = log_of(Anthropic(), "bodies")
    log[1]["request"]["messages"][2]["content"][0]["is_error"] = True
    assert [step.error for step in read_trace(log[:2]).steps_of("tool")] == ["one", None]


def test_the_results_of_tools_that_the_api_ran_come_with_the_answer_once():
    api = Anthropic()
    used = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"url": "u"}]}
    text = {"type": "text", "text": "It is y."}
    first = {"role": "assistant", "content": [used, found, text]}
    asked = [api.user("Find x."), first, api.user("Sure?")]
    log = [
        {"request": api.asked(asked[0]), "response": api.answered(first)},
        {"request": api.asked(*asked), "response": api.answered(api.said("Yes."), 2)},
    ]
    trace = read_trace(log)
    assert [(step.type, step.name) for step in trace.steps[2:]] == [
        ("llm", None),
        ("tool", "web_search"),
        ("user", None),
        ("llm", None),
    ]


@pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__)
@pytest.mark.parametrize(
    "response",
    [
        None,
        {"status_code": 529, "body": {"type": "error", "error": {"message": "overloaded"}}},
        {"status_code": 529, "body": None},
    ],
)
def test_a_request_without_an_answer_is_a_call_of_its_conversation(api, response):
    log = log_of(api, "bodies")
    log.insert(2, {**log[2], "response": response, "error": "overloaded"})
    [trace] = read_traces(log)
    assert [(step.output, step.error) for step in trace.steps_of("llm")][2:] == [
        (None, "overloaded"),
        ("Done c.", None),
    ]
    assert len(trace.steps_of("tool")) == 2


def test_an_answer_that_only_the_next_request_has_is_that_of_the_call_before():
    log = log_of(Chat(), "bodies")
    log[1]["response"] = None
    [trace] = read_traces(log)
    assert [step.type for step in trace.steps_of("llm")] == ["llm"] * 3
    assert len(trace.steps_of("tool")) == 2


def test_a_response_in_an_unknown_form_leaves_the_calls_unknown():
    log = log_of(Chat(), "bodies")
    log[-1]["response"] = {"answers": [1]}
    [trace] = read_traces(log)
    assert "in a form that is not read" in trace.missing["llm_calls"]


@pytest.mark.parametrize("api", APIS[:3:2], ids=lambda api: type(api).__name__)
def test_a_request_whose_tokens_were_only_counted_is_no_call(api):
    key = "totalTokens" if type(api) is Gemini else "input_tokens"
    log = log_of(api, "bodies")
    log.insert(0, {**log[0], "response": {"body": {key: 12}}})
    [trace] = read_traces(log)
    assert len(trace.steps_of("llm")) == 3
    assert "counts of tokens (1)" in trace.not_carried


def test_an_api_that_keeps_what_was_said_names_the_answer_that_goes_on():
    api = Responses()
    log = []
    for name in "ab":
        asked = {**api.asked(api.user("Go.")), "input": "Go."}
        log.append({"request": asked, "response": {**api.answered(api.call("c")), "id": name}})
    for name in "ba":
        asked = {**api.asked(api.result("c", "found")), "previous_response_id": name}
        log.append({"request": asked, "response": {**api.answered(api.said(name)), "id": name * 2}})
    assert [part for _, part in request_log_parts(log)] == [[log[0], log[3]], [log[1], log[2]]]
    for _, part in request_log_parts(log):
        assert [step.type for step in read_trace(part).steps][-3:] == ["llm", "tool", "llm"]


@pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__)
@pytest.mark.parametrize("form", ["lines of events", "text of events", "names of bodies"])
def test_one_exchange_alone_has_its_answer_and_usage(api, form):
    trace = read_trace(log_of(api, form)[0])
    assert [step.type for step in trace.steps] == ["system", "user", "llm", "tool"]
    assert trace.steps_of("llm")[0].usage.input_tokens == 10
    assert not {"llm_calls", "tool_calls"} & trace.missing.keys()


@pytest.mark.parametrize(
    "other",
    [
        None,
        3,
        "text",
        {"request": None, "response": None},
        {"request": {"method": "GET", "body": None}, "response": {"body": {"data": []}}},
        {"request": {"model": "e", "input": "x", "encoding_format": "float"}, "response": {}},
        {"request": {"messages": None}},
    ],
)
def test_a_list_in_which_not_all_are_exchanges_is_no_log(other):
    assert not IMPORTER.matches([*log_of(Chat(), "bodies"), other])


DAMAGED = [None, 3, "x", [], {}, [None], [{}], {"role": 3}, {"role": ["x"]}, {"type": ["x"]}]


def damaged(api: Any, damage: Any) -> Iterator[list[Any]]:
    """Yield a log in which one field of a body, a response or a message is replaced."""
    key = next(key for key in ("contents", "input", "messages") if key in api.asked())
    log = log_of(api, "bodies")
    for at, exchange in enumerate(log):
        asked, answered = exchange["request"], exchange["response"]
        for changed in (
            *({"request": {**asked, name: damage}, "response": answered} for name in asked),
            *({"request": asked, "response": {**answered, name: damage}} for name in answered),
            {"request": asked, "response": damage},
            {"request": {**asked, key: [*asked[key], damage]}, "response": answered},
        ):
            yield [*log[:at], changed, *log[at + 1 :]]


@pytest.mark.parametrize("api", APIS, ids=lambda api: type(api).__name__)
@pytest.mark.parametrize("damage", DAMAGED, ids=repr)
def test_the_exchanges_of_a_log_with_damaged_bodies_are_each_in_one_conversation(api, damage):
    for log in damaged(api, damage):
        parts = [part for _, part in request_log_parts(log)]
        held = [each for part in parts for each in (part if type(part) is list else [part])]
        assert not parts or sorted(map(id, held)) == sorted(map(id, log))
        for part in parts:
            with suppress(TraceError):
                assert read_trace(part).steps

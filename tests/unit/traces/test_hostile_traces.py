"""Any JSON in the shape of a format is either imported or refused with a reason, and is not modified."""

from __future__ import annotations

import contextlib
import copy
import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.generated import examples
from support.growth import assert_takes_at_most
from support.trace_examples import EXAMPLES as LOGS
from support.trace_examples.agent_frameworks import AGNO_OLD_ROWS, AGNO_ROWS, SMOLAGENTS_ANSWER
from support.trace_examples.command_line_agents import CRUSH, GOOSE_STORED, OPENCODE_LOG
from support.trace_examples.editor_agents import CLINE_SESSION, CLINE_TALK
from support.trace_examples.model_apis import CALL, CHAT, REQUEST_LOG
from support.trace_examples.multi_agent_frameworks import AUTOGEN_CALLS, AUTOGEN_STUDIO, CAMEL_GAIA
from support.trace_examples.observability import PHOENIX_STORED
from support.trace_examples.personal_agents import HERMES_STORED
from support.trace_examples.swe_agents import MOATLESS_TREE, OPENHANDS_CALLS
from support.trace_examples.vendor_sdks import AI_SDK_DEVTOOLS, GOOGLE_ADK_OLD_ROWS, GOOGLE_ADK_ROWS
from support.trace_forms import (
    as_anthropic,
    as_jaeger,
    as_langchain,
    as_openai_chat,
    as_openai_responses,
    as_openinference,
    as_otlp,
)
from weighbridge.errors import TraceError
from weighbridge.traces import Step, ToolDefinition, Trace, Usage, read_traces

RUN = Trace(
    id="run-1",
    format="native",
    tools=(ToolDefinition("search", {"type": "object"}, "Finds."),),
    steps=(
        Step(id="s1", type="user", output="Find x."),
        Step(id="msg_1", type="llm", output="Looking.", model="m", usage=Usage(9, 2), cost_usd=0.1),
        Step(id="call_1", type="tool", parent_id="msg_1", name="search", arguments={}, output="x"),
        Step(id="msg_2", type="llm", output="Here.", model="m", started_at=1, ended_at=2),
    ),
)
CLAUDE_CODE = [
    {"type": "user", "uuid": "1", "message": {"role": "user", "content": "Go."}},
    {
        "type": "assistant",
        "uuid": "2",
        "parent_tool_use_id": "t1",
        "message": {
            "id": "A",
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        },
    },
    {
        "type": "user",
        "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]},
    },
    {"type": "result", "usage": {"input_tokens": 1, "output_tokens": 1}},
]
CODEX = [
    {"type": "turn_context", "payload": {"model": "m"}},
    {"type": "response_item", "payload": {"type": "function_call", "call_id": "c", "name": "n"}},
    {"type": "event_msg", "payload": {"type": "token_count", "info": {"last_token_usage": {}}}},
    {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c"}},
]
FOREIGN = [
    {"role": "user", "parts": [{"text": "Find x."}]},
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]},
    {
        "role": "assistant",
        "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {}}],
        "additional_kwargs": {"tool_calls": [{"id": "c", "function": {"name": "f"}}]},
        "toolCalls": [{"id": "d", "function": {"name": "f", "arguments": "{}"}}],
    },
    {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "c", "result": 1}]},
    {
        "role": "user",
        "content": [
            {
                "toolResult": {
                    "toolUseId": "d",
                    "content": [{"type": "tool_use", "id": "e", "name": "g", "input": {}}],
                }
            }
        ],
    },
]
GEMINI = {
    "systemInstruction": {"parts": [{"text": "S"}]},
    "contents": FOREIGN[:3],
    "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
    "candidates": [{"content": {"parts": [{"text": "x", "thought": True}, {"text": "y"}]}}],
    "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1},
}
BEDROCK = {
    "system": [{"text": "S"}],
    "messages": [{"role": "user", "content": [{"text": "Find x."}]}],
    "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {}}}}]},
    "output": {"message": {"role": "assistant", "content": [{"toolUse": {"name": "f"}}]}},
    "usage": {"inputTokens": 1, "outputTokens": 1, "cacheReadInputTokens": 1},
}
VERCEL = [
    {"id": "1", "role": "user", "parts": [{"type": "text", "text": "Find x."}]},
    {
        "id": "2",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "t"},
            {"type": "tool-f", "toolCallId": "c", "input": {}, "output": 1},
            {"type": "step-start"},
            {"type": "text", "text": "y"},
        ],
        "toolInvocations": [{"toolCallId": "c", "toolName": "f", "args": {}, "result": 1}],
    },
]
FORMS = [
    as_anthropic(RUN),
    as_openai_responses(RUN),
    as_otlp(RUN),
    as_otlp(RUN, "old"),
    as_openinference(RUN),
    as_jaeger(RUN),
    as_openai_chat(RUN),
    as_langchain(RUN),
    GEMINI,
    BEDROCK,
    VERCEL,
    FOREIGN,
    CLAUDE_CODE,
    CODEX,
    CLINE_SESSION,
    CLINE_TALK,
    OPENHANDS_CALLS,
    AUTOGEN_CALLS,
    SMOLAGENTS_ANSWER,
    CAMEL_GAIA,
    OPENCODE_LOG,
    GOOGLE_ADK_ROWS,
    GOOGLE_ADK_OLD_ROWS,
    AGNO_ROWS,
    AGNO_OLD_ROWS,
    CRUSH["rows"],
    AUTOGEN_STUDIO,
    GOOSE_STORED,
    HERMES_STORED,
    HERMES_STORED["rows"],
    PHOENIX_STORED,
    [{"id": 1, "session_id": "s", "message_data": json.dumps(CALL)}],
    *LOGS.values(),
]
WORDS = (
    *("role", "content", "type", "text", "message", "tool_calls", "function", "id", "name"),
    *("arguments", "input", "output", "parts", "user", "assistant", "tool", "tool_use"),
    *("tool_result", "function_call", "key", "value", "stringValue", "arrayValue", "kvlistValue"),
    *("values", "events", "error", "usage", "input_tokens", "gen_ai.operation.name", "chat"),
    *("toolCalls", "additional_kwargs", "functionCall", "toolUse", "toolResult", "toolCallId"),
    *("tool-call", "tool-result", "tool-x", "dynamic-tool", "args", "result", "kwargs", "lc"),
    *("gen_ai.input.messages", "gen_ai.prompt.0.content", "llm.tools.0.tool.json_schema"),
    *("contents", "candidates", "step-start", "toolConfig", "data", "ai", "human", "thought"),
    *("parentSpanId", "spanId", "references", "tags", "logs", "", "{}", "[{", "[[]]", "\ud800"),
)
NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70), st.floats(), st.sampled_from([0, 1, -1, 2**63, 10**15])
)
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.sampled_from(WORDS), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
        inner.map(json.dumps),
    ),
    max_leaves=12,
)
ODD = st.sampled_from(
    [
        *(None, True, False, 0, -1, 2**63, 10**30, 1e308, float("inf"), "", "s1", "\ud800", [], {}),
        *([None], [[]], {"a": {}}, [CALL], CHAT, {"type": "text", "text": "x"}),
    ]
).map(copy.deepcopy)
CHANGES = st.sampled_from(["replace", "remove", "double", "number"])


def places(value, path=()):
    """Yield the path to every value inside a value."""
    inner = enumerate(value) if isinstance(value, list) else ()
    for key, item in value.items() if isinstance(value, dict) else inner:
        yield (*path, key)
        yield from places(item, (*path, key))


@st.composite
def damaged(draw):
    """Return a trace in some form with a few values replaced, removed or duplicated."""
    value = copy.deepcopy(draw(st.sampled_from(FORMS)))
    for _ in range(draw(st.integers(1, 4))):
        paths = list(places(value))
        if not paths:
            break
        *path, last = draw(st.sampled_from(paths))
        holder = value
        for key in path:
            holder = holder[key]
        change = draw(CHANGES)
        if change == "replace":
            holder[last] = draw(ODD | JSON)
        elif change == "remove":
            del holder[last]
        elif isinstance(holder, list):
            holder.append(copy.deepcopy(holder[last]))
        elif change == "number":  # a value from Python may have keys that JSON has not
            holder[1] = holder.pop(last)
    return value


def check(value):
    before = repr(value)
    try:
        traces = read_traces(value)
    except TraceError:
        traces = None
    assert repr(value) == before
    if traces is None:
        return
    assert traces
    for trace in traces:
        assert type(trace) is Trace
        told = set()
        for step in trace.steps:
            assert step.id not in told
            assert step.parent_id is None or step.parent_id in told
            told.add(step.id)


@settings(max_examples=examples(500), deadline=None)
@given(damaged())
def test_a_damaged_trace_is_read_or_refused(value):
    check(value)


CHATS = [
    [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello", "name": "a"}],
    [{"type": "human", "data": {"content": "Hi"}}, {"type": "ai", "data": {"content": "Hello"}}],
    [None],
]


@pytest.mark.parametrize("key", [0, None, ("a",), b"x"])
@pytest.mark.parametrize("held", [*CHATS, *({"messages": chat} for chat in CHATS), 1, "text"])
def test_an_object_whose_keys_are_no_text_is_read_or_refused(key, held):
    for value in ({key: held}, {"a": {key: held}}, {key: {key: held}}, {"a": held, key: held}):
        check(value)
        check([value])


@settings(max_examples=examples(200), deadline=None)
@given(st.dictionaries(st.sampled_from(WORDS), JSON), JSON, JSON)
def test_a_span_with_any_attributes_and_events_is_read_or_refused(attributes, body, events):
    told = attributes | {"gen_ai.operation.name": "chat"}
    span = {"traceId": "a", "spanId": "b", "name": "n", "attributes": told, "events": events}
    record = {"traceId": "a", "spanId": "b", "eventName": "gen_ai.choice", "body": body}
    check({"spans": [span], "resourceLogs": [{"scopeLogs": [{"logRecords": [record]}]}]})


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(JSON, min_size=1, max_size=4), st.sampled_from(["tool_use", "function_call"]))
def test_any_items_among_messages_are_read_or_refused(items, kind):
    known = {"role": "assistant", "content": [{"type": kind}], "type": "message"}
    check([known, *items])
    check([{"type": kind, "call_id": "c"}, *items])
    check({"messages": [known, *items], "system": "S"})
    check({"output": [{"type": kind}, *items]})


@pytest.mark.parametrize("depth", [100, 900])
def test_deep_nesting_does_not_overflow_the_stack(depth):
    deep = "[" * depth + "]" * depth
    for name in ("gen_ai.output.messages", "gen_ai.tool.call.arguments", "llm.tools.0.tool.name"):
        told = {"gen_ai.operation.name": "execute_tool", name: deep}
        check([{"traceId": "a", "spanId": "b", "name": "n", "attributes": told}])
    nested = [{"type": "tool_use", "id": "t", "name": "n", "input": json.loads(deep)}]
    check([{"role": "assistant", "content": nested}])


def text(value):
    return [{"type": "text", "text": value}]


def talk(*messages):
    return {"history": [{"role": "human", "content": "Go."}, *messages], "question": "q"}


def chain(count, key, inner):
    """Return a nested value of a depth."""
    value = inner(0)
    for number in range(1, count):
        value = inner(number) | {key: [value]}
    return value


NODE = {"node_type": "Thought", "description": "x", "children": []}
#: What makes a reader slow that is worse than linear, by its size.
HEAVY = {
    "calls in one answer of the Agent Framework's updates": lambda n: [
        {
            "type": "chat_response_update",
            "role": "assistant",
            "contents": [
                {"type": "function_call", "call_id": str(i), "name": "f", "arguments": "{}"}
            ],
        }
        for i in range(n)
    ],
    "failures of a CrewAI task that are of no call": lambda n: {
        "raw": "x",
        "tasks_output": [
            {
                "messages": [
                    message
                    for i in range(n)
                    for message in (
                        {"role": "assistant", "content": None, "tool_calls": [CALL]},
                        {"role": "tool", "tool_call_id": CALL["id"], "content": "x"},
                    )
                ],
                "tool_failures": [{"tool_name": "other", "tool_args": {"a": i}} for i in range(n)],
            }
        ],
    },
    "outputs of two components of a Haystack pipeline": lambda n: {
        name: {
            "replies": [
                {"role": "assistant", "meta": {}, "name": None, "content": [{"text": f"{name}{i}"}]}
                for i in range(n)
            ]
        }
        for name in "ab"
    },
    "parts of an attribute with a long name": lambda n: {
        **PHOENIX_STORED["rows"][0],
        "attributes": {"a" * 10 * n: {str(at): at for at in range(10 * n)}},
    },
    "calls that AutoGen Studio logged": lambda n: AUTOGEN_STUDIO["rows"][:3] * n,
    "calls of a history of SpecStory without an end": lambda n: {
        "specstory_history": "<!-- Generated by SpecStory -->\n\n"
        + '_**Agent**_\n\n<tool-use data-tool-type="x" data-tool-name="y"><details>\n\nError:\n\n'
        * n
    },
    "sessions in a history of SpecStory": lambda n: {
        "specstory_history": "<!-- Generated by SpecStory -->\n\n_**User**_\n\n---\n\n<think>\n\n"
        * n
    },
    "sub-agents of which each started the next": lambda n: [
        CLAUDE_CODE[0],
        *(
            {
                "type": "assistant",
                "isSidechain": i > 0,
                "agentId": f"a{i}",
                "toolUseResult": {"agentId": f"a{i + 1}"},
                "message": {
                    "role": "assistant",
                    "id": f"m{i}",
                    "content": [
                        {"type": "tool_use", "id": f"t{i}", "name": "Task", "input": {}},
                        {"type": "tool_result", "tool_use_id": f"t{i}", "content": "x"},
                    ],
                },
            }
            for i in range(n)
        ),
    ],
    "model calls of two libraries that enclose each other in time": lambda n: [
        {
            "name": "chat",
            "trace_id": "t",
            "span_id": str(i),
            "start_time": i + 1,
            "end_time": 2 * n - i,
            "attributes": {"gen_ai.operation.name": "chat", "gen_ai.completion": f"x{i % 4}"},
            "scope": {"name": str(i % 3)},
        }
        for i in range(n)
    ],
    "tool spans within each other that have the call's id alone": lambda n: [
        {
            "name": str(i),
            "traceId": "t",
            "spanId": f"s{i}",
            "parentSpanId": f"s{i - 1}",
            "attributes": {"gen_ai.tool.call.id": "c"},
        }
        for i in range(n)
    ],
    "requests of a log that grow by a message": lambda n: [
        {**REQUEST_LOG[0], "messages": [{"role": "user", "content": "x"}] * (i % 40 + 1)}
        for i in range(n)
    ],
    "model calls that each repeat a hundred answers with code that never ends": lambda n: [
        LOGS["appworld"][0]
        | {
            "input": LOGS["appworld"][0]["input"]
            | {"messages": [{"role": "assistant", "content": "```python\n" * 20}] * 100}
        }
        for _ in range(n // 50)
    ],
    "runs of the AI SDK within each other": lambda n: {
        "runs": [{"id": str(i), "parent_run_id": str(i + 1)} for i in range(n)],
        "steps": [{**AI_SDK_DEVTOOLS["steps"][0], "run_id": str(i)} for i in range(n)],
    },
    "a log of requests that have nothing in common": lambda n: [
        each
        for i in range(n)
        for each in (
            {**REQUEST_LOG[0], "messages": [{"role": "user", "content": str(i)}]},
            REQUEST_LOG[1],
        )
    ],
    "snapshots of a conversation that goes on": lambda n: [
        {"type": "RUN_STARTED", "threadId": "t"},
        *(
            event
            for i in range(n)
            for event in (
                {"type": "TEXT_MESSAGE_START", "messageId": str(i), "role": "user"},
                {"type": "MESSAGES_SNAPSHOT", "messages": []},
            )
        ),
    ],
    "logged calls of which each is sent again": lambda n: OPENHANDS_CALLS[:1] * n,
    "a logged call with a long conversation": lambda n: [
        OPENHANDS_CALLS[0] | {"messages": OPENHANDS_CALLS[1]["messages"] * n}
    ],
    "a step in Python's notation that is nothing but quotes": lambda n: (
        SMOLAGENTS_ANSWER | {"intermediate_steps": ["ActionStep(" + "\\'" * n]}
    ),
    "calls in Python's notation within each other": lambda n: (
        SMOLAGENTS_ANSWER | {"intermediate_steps": ["ActionStep(tool_calls=" + "[ToolCall(" * n]}
    ),
    "recorded calls of one client": lambda n: AUTOGEN_CALLS * n,
    "pieces of one answer": lambda n: [
        *LOGS["cline"][:2],
        *({"ts": 1, "type": "say", "say": "text", "text": "x" * 20} for _ in range(n)),
    ],
    "answers that each repeat the last call of the one before": lambda n: [
        {
            "type": "assistant",
            "uuid": str(i),
            "message": {
                "role": "assistant",
                "id": str(i),
                "content": [
                    {"type": "tool_use", "id": str(at), "name": "f", "input": {}}
                    for at in (i, i + 1)
                ],
            },
        }
        for i in range(n)
    ],
    "a call that is repeated as often as it has results": lambda n: [
        *CLAUDE_CODE[2:3] * n,
        *(
            {
                **CLAUDE_CODE[1],
                "uuid": str(i),
                "message": CLAUDE_CODE[1]["message"] | {"id": str(i)},
            }
            for i in range(2 * n)
        ),
    ],
    "results in texts of a conversation with Cline": lambda n: [
        CLINE_TALK[1] | {"content": [CLINE_TALK[1]["content"][1]] * n},
        {"role": "user", "content": text("[f] Result:") * n},
        {"role": "user", "content": text("[f for " * n)},
    ],
    "blocks of code that never end": lambda n: talk(
        {"role": "bot", "name": "bot", "content": "```a\n" * n},
        {"role": "Computer", "name": "c", "content": "exitcode: 0 (x)"},
    ),
    "a browser's quotes": lambda n: talk(
        {"role": "WebSurfer", "content": "I typed '" + "' into '" * n},
    ),
    "tags in tags": lambda n: [
        {"role": "user", "content": text("<task>")},
        {"role": "assistant", "content": text("<read_file>" + "<path>" * n)},
        {"role": "assistant", "content": text("<read_file>" + "<a></a>" * n)},
    ],
    "a model's own calls": lambda n: {
        **LOGS["inspect"]["samples"][0],
        "messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": str(i)} for i in range(n)]}
        ],
    },
    "events of answers that are not there": lambda n: {
        **LOGS["inspect"]["samples"][0],
        "messages": [{"role": "user", "content": "x"}] * n,
        "events": LOGS["inspect"]["samples"][0]["events"][1:2] * n,
    },
    "a search that never branches": lambda n: (
        LOGS["toolbench"] | {"tree": {"tree": chain(n, "children", lambda _: dict(NODE))}}
    ),
    "calls around calls that all tell tokens": lambda n: [
        LOGS["weave"][0] | {"id": str(i), "parent_id": str(i - 1)} for i in range(n)
    ],
    "a search of which each node repeats its completions": lambda n: {
        "root": chain(n, "children", lambda _: MOATLESS_TREE["root"]["children"][0])
    },
    "reports of calls that never end": lambda n: [
        *LOGS["auto-code-rover"][:4],
        {"role": "user", "content": "Result of search_code(\n" * n},
    ],
    "reports of calls within calls": lambda n: [
        *LOGS["auto-code-rover"][:4],
        {"role": "user", "content": "Result of search_code(\n" * n + "):\n" * n},
    ],
    "scopes in scopes, the innermost first": lambda n: [
        LOGS["atof"][5] | {"uuid": str(number), "parent_uuid": str(number - 1)}
        for number in reversed(range(n))
    ],
    "one call asked and answered again and again": lambda n: (
        LOGS["openclaw"][:1] + LOGS["openclaw"][3:5] * n
    ),
    "calls of a trajectory whose messages repeat them": lambda n: [
        *(
            LOGS["openclaw-trajectory"][at] | {"data": {"toolCallId": str(number), "name": "f"}}
            for at in (3, 4)
            for number in range(n)
        ),
        LOGS["openclaw-trajectory"][5]
        | {
            "data": {
                "assistantTexts": ["x"] * n,
                "messagesSnapshot": [
                    {"role": "assistant", "content": [{"type": "toolCall", "id": str(number)}]}
                    for number in range(n // 2)
                ],
            }
        },
    ],
    "cards of calls that never end": lambda n: {
        "conversation": {},
        "responses": [
            {"sender": "grok", "thinking_trace": "<xai:tool_usage_card><xai:tool_name>" * n}
        ],
    },
    "a journal of a chat that changes one answer": lambda n: [
        {"kind": 0, "v": LOGS["vscode-chat"]},
        *({"kind": 2, "k": ["requests", 1, "response"], "v": [{"value": "x"}]} for _ in range(n)),
        *({"kind": 1, "k": ["requests", 1, "response", i], "v": {"value": "y"}} for i in range(n)),
    ],
    "one large result of many calls": lambda n: (
        LOGS["vscode-chat"]
        | {
            "requests": [
                LOGS["vscode-chat"]["requests"][1]
                | {
                    "result": {
                        "metadata": {
                            "toolCallRounds": [{"toolCalls": [{"id": "c", "name": "f"}] * n}],
                            "toolCallResults": {"c": {"content": [{"value": "x"}] * n}},
                        }
                    }
                }
            ]
        }
    ),
    "pieces of a text and the text as a whole": lambda n: [
        *LOGS["cursor-cli"][:1],
        *(
            LOGS["cursor-cli"][2] | more
            for _ in range(n)
            for more in ({"timestamp_ms": 1}, {"timestamp_ms": 1, "model_call_id": "m"})
        ),
    ],
    "pieces of one model call": lambda n: [
        *LOGS["copilot"][:1],
        *(
            {
                "type": "assistant.message",
                "data": {"apiCallId": "a", "chunkIndex": i, "content": "x"},
            }
            for i in range(n)
        ),
    ],
    "pieces of the calls of one message": lambda n: [
        {
            "message_type": "tool_call_message",
            "id": "m",
            "tool_call": {"name": "f", "tool_call_id": f"t{i % 100}", "arguments": "x"},
            "seq_id": i,
        }
        for i in range(n)
    ],
    "states of many threads": lambda n: [
        {**LOGS["langgraph"][0], "config": {"configurable": {"thread_id": str(i)}}}
        for i in range(n)
    ],
    "pieces of a streamed message": lambda n: [
        ["messages", [{"type": "AIMessageChunk", "content": "x", "id": f"m{i % 100}"}, {}]]
        for i in range(n)
    ],
    "spans that were sent again": lambda n: [
        {**LOGS["opik"]["spans"][1], "last_updated_at": i + 1} for i in range(n)
    ],
    "pieces of an answer that no event ends": lambda n: LOGS["langchain-events"][:3] * n,
    "rows that add to one span": lambda n: [
        *LOGS["braintrust"][:2],
        *(
            {
                "_is_merge": True,
                **{key: LOGS["braintrust"][1][key] for key in ("span_id", "root_span_id")},
                "span_attributes": {},
                "metadata": {str(i): i},
            }
            for i in range(n)
        ),
    ],
    "texts and calls of one message": lambda n: [
        *LOGS["droid"][:4],
        *(
            line | {"id": f"{line['id']}-{i}"} if "parameters" in line else line | {"text": str(i)}
            for i in range(n)
            for line in LOGS["droid"][3:5]
        ),
    ],
    "calls of an agent that nothing answers": lambda n: [
        {"trace": event["trace"] | {"eventTime": i}}
        for i in range(n)
        for event in LOGS["bedrock-agents"][:4]
    ],
    "results of an agent's calls of which only the step is known": lambda n: [
        {"orchestrationTrace": {part: {"traceId": step, f"knowledgeBaseLookup{kind}": {}}}}
        for part, kind, steps in (
            ("invocationInput", "Input", ["t"] * n),
            ("observation", "Output", [None, "t", "u"] * n),
        )
        for step in steps
    ],
    "members of a team that are teams": lambda n: (
        LOGS["agno"]
        | {"member_responses": [LOGS["agno"] | {"run_id": str(i % n)} for i in range(2 * n)]}
    ),
    "turns in the order of their digits": lambda n: {
        "trajectory": {f"tool_name_{number}": "f" for number in sorted(map(str, range(n)))}
    },
    "answers of which each message holds a block": lambda n: [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": str(i), "name": "f", "input": {}}],
        }
        for i in range(n)
    ],
    "results of other tools than were called": lambda n: (
        LOGS["chatgpt-export"]
        | {
            "mapping": {
                str(i): {
                    "parent": str(i - 1),
                    "message": {
                        "author": {"role": role, "name": name},
                        "recipient": recipient,
                        "content": {"content_type": "text", "parts": ["x"]},
                    },
                }
                for i, (role, name, recipient) in enumerate(
                    [("assistant", None, "f")] * n + [("tool", "g", "all")] * n
                )
            },
            "current_node": None,
        }
    ),
    "calls that a hook saw begin": lambda n: [
        {
            "session_id": "h",
            "hook_event_name": event,
            "tool_name": "f",
            "tool_input": {"at": i + end * n // 2},
        }
        for end, event in enumerate(("PreToolUse", "PostToolUse"))
        for i in range(n)
    ],
    "calls of one time": lambda n: [
        {"role": "assistant", "content": None, "timestamp": 1, "tool_calls": [CALL]}
        for _ in range(n)
    ],
    "results before their calls": lambda n: [
        {
            "type": kind,
            "sessionId": "s",
            "message": {"role": kind, "content": [{"type": block, key: str(i), "name": "f"}]},
        }
        for kind, block, key in (
            ("user", "tool_result", "tool_use_id"),
            ("assistant", "tool_use", "id"),
        )
        for i in range(n)
    ],
    "a printed call that never ends": lambda n: [
        {
            "name": "x",
            "trace_id": "t",
            "span_id": "s",
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.output.messages": [
                    {"role": "assistant", "content": "ResponseFunctionToolCall(arguments='" * n}
                ],
            },
        }
    ],
    "tasks in tasks": lambda n: [
        {
            "object": "trace.span",
            "id": str(i),
            "trace_id": "t",
            "parent_id": str(i - 1),
            "span_data": {
                "type": "custom",
                "data": {"sdk_span_type": "task", "usage": {"requests": 1}},
            },
        }
        for i in range(n)
    ],
    "resources of a span each": lambda n: [
        {"scopeSpans": [{"spans": [{"traceId": str(i), "spanId": "s", "name": "x"}]}]}
        for i in range(n)
    ],
    "repeated calls with long ids of digits or letters alone": lambda n: [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [CALL | {"id": character * (10 * n)}],
        }
        for character in "9a"
        for _ in range(2)
    ],
    "requests of one prompt": lambda n: {
        **LOGS["copilot-chat-replay"]["prompts"][0],
        "logs": LOGS["copilot-chat-replay"]["prompts"][0]["logs"] * n,
    },
    "requests that repeat what was said": lambda n: (
        LOGS["trae"] | {"llm_interactions": LOGS["trae"]["llm_interactions"] * n}
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HEAVY)
def test_no_reader_is_worse_than_linear(kind):
    def reading(count):
        value = HEAVY[kind](count)

        def read():
            with contextlib.suppress(TraceError):
                read_traces(value)

        return read

    # Quadratic work would take 256 times as long.
    assert_takes_at_most(32, reading, size=1_600, of=100)


def test_spans_of_one_id_are_one_span_whatever_they_hold():
    spans = [
        {
            "traceId": "a",
            "spanId": "b",
            "name": str(number),
            "attributes": {"gen_ai.tool.name": "t"},
        }
        for number in range(3)
    ]
    [trace] = read_traces(spans)
    assert [step.id for step in trace.steps] == ["b"]
    unnamed = [span | {"spanId": ""} for span in spans]
    [trace] = read_traces(unnamed)
    assert len(trace.steps) == 3
    assert all(one.id != other.id for one, other in pairwise(trace.steps))


@pytest.mark.parametrize("text", ["\ud800", 'data: {"type": "\ud800"}\n\ndata: [DONE]\n'])
def test_text_with_half_a_surrogate_pair_is_refused_and_does_not_raise_anything_else(text):
    with pytest.raises(TraceError):
        read_traces(text)

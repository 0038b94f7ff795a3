"""Traces of Confident AI's DeepEval: alone, or in the saved results of a test run, of which each test case is a trace.

A test case without a trace of its own has its input, its answer and the tools that were called, and no model calls.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call, first_of, json_of
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import Facts, Run
from weighbridge.traces.fields import (
    cost_of,
    count_of,
    counted,
    id_of,
    object_of,
    objects_of,
    parse_arguments,
    python_object_in,
    read_usage,
    scalars,
    string_of,
    time_of,
    usage_of,
    word_of,
)
from weighbridge.traces.importer import Importer
from weighbridge.traces.spans.messages import messages_in
from weighbridge.traces.spans.records import recorded_span
from weighbridge.traces.spans.steps import traces_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace, Usage
    from weighbridge.traces.spans.spans import Span

_LOOKED_AT = 20  #: traces and test cases that decide whether a value is of this form
#: Where a trace has its spans, and their kinds; those with definitions of tools come first.
_GROUPS = {
    "llmSpans": "llm",
    "toolSpans": "tool",
    "agentSpans": "agent",
    "retrieverSpans": "retriever",
    "baseSpans": "chain",
}
_STEPS = ("llmSpans", "toolSpans", "agentSpans", "retrieverSpans")
_RUN, _CASES, _TALKS = "testRunData", "testCases", "conversationalTestCases"
_CASE_FIELDS = frozenset({"actualOutput", "expectedOutput", "metricsData", "toolsCalled"})
_CALLED = "toolsCalled"
_PARAMETERS = ("inputParameters", "input_parameters")
_TOOL_PREFIXES = ("Function tool: ", "execute_tool ")
_LISTING = "MCP tool"  #: the description of a span in which a client asked a server for its tools
_FAILED = "ERRORED"
#: What an item of a list of messages may be, beside a message.
_CALL_TYPES = frozenset({"function", "tool_call", "function_call", "FUNCTION", "MCP"})
_RESULT_TYPES = frozenset({"tool", "function_call_output"})
#: Roles under which integrations list the tools that were offered, between the messages.
_OFFERS = frozenset({"Tool Input", "Model Request Parameters"})
_USAGES = ("usage", "usage_metadata")  #: in the provider's own answer
_SPAN_FIELDS = frozenset(
    {
        *("uuid", "parentUuid", "traceUuid", "name", "type", "status", "error", "input", "output"),
        *("startTime", "endTime", "model", "inputTokenCount", "outputTokenCount", _CALLED),
        *("costPerInputToken", "costPerOutputToken", "availableTools", "provider", "integration"),
        *("description", "metadata", "tokenIntervals"),
    }
)
_TRACE_FIELDS = frozenset(
    {
        *(*_GROUPS, "uuid", "name", "startTime", "endTime", "threadId", "environment", "status"),
        *("input", "output", _CALLED, "tags", "metadata", "userId"),
    }
)
_CASE_CARRIED = frozenset(
    {
        *("name", "input", "actualOutput", _CALLED, "trace", "tokenCost", "completionTime"),
        *("order", "success", "runDuration", "turns", "scenario", "tags"),
    }
)
_REASONS: dict[Capability, str] = {
    "token_usage": "the test case has no trace, whose spans would record tokens",
    "timing": "the test case has no trace, whose spans would record times",
    "cost": "the test case has no tokenCost",
    "tool_definitions": "the test case does not list the tools that were offered",
}
_NO_CALLS = "the test case does not record toolsCalled"


def _is_trace(value: Any) -> bool:
    if type(value) is not dict or type(value.get("uuid")) is not str:
        return False
    groups = [value[name] for name in _GROUPS if name in value]
    return any(type(group) is list for group in groups) and all(
        group is None or (type(group) is list and all(map(_is_span, group[:_LOOKED_AT])))
        for group in groups
    )


def _is_span(value: Any) -> bool:
    return type(value) is dict and type(value.get("uuid")) is str and "startTime" in value


def _is_case(value: Any) -> bool:
    if type(value) is not dict:
        return False
    return _is_trace(value.get("trace")) or (
        type(value.get("input")) is str and not _CASE_FIELDS.isdisjoint(value)
    )


def _is_talk(value: Any) -> bool:
    turns = value.get("turns") if type(value) is dict else None
    return (
        type(turns) is list
        and bool(turns)
        and all(type(turn) is dict and {"role", "content"} <= turn.keys() for turn in turns[:3])
    )


def _run_of(value: Any) -> dict[str, Any]:
    """Return the object with the test cases, which some files keep under a key."""
    held = object_of(value)
    return held if _RUN not in held else object_of(held[_RUN])


def _matches(value: Any) -> bool:
    if type(value) is list:
        return bool(value) and all(map(_is_trace, value[:_LOOKED_AT]))
    if _is_trace(value):
        return True
    run = _run_of(value)
    cases, talks = objects_of(run.get(_CASES)), objects_of(run.get(_TALKS))
    return bool(cases or talks) and all(
        (*map(_is_case, cases[:_LOOKED_AT]), *map(_is_talk, talks[:_LOOKED_AT]))
    )


def _parts(value: Any) -> list[tuple[str | None, Any]]:
    if type(value) is list:
        return [(string_of(trace.get("uuid")), trace) for trace in objects_of(value)]
    run = _run_of(value)
    if _is_trace(value) or len(objects_of(run.get(_CASES)) + objects_of(run.get(_TALKS))) < 2:
        return [(None, value)]
    return [
        (_name_of(case), {key: [case]})
        for key in (_CASES, _TALKS)
        for case in objects_of(run.get(key))
    ]


def _name_of(case: dict[str, Any]) -> str | None:
    return id_of(object_of(case.get("trace")).get("uuid")) or id_of(case.get("name"))


def _read(value: Any) -> list[Trace]:
    if type(value) is list:
        traces = objects_of(value)
        kept = [trace for trace in traces if _has_steps(trace)]
        left = {"traces without a model call, tool call or agent": len(traces) - len(kept)}
        listed = [
            _trace(trace, {} if number else left) for number, trace in enumerate(kept or traces)
        ]
        return [trace for found in listed for trace in found]
    if _is_trace(value):
        return _trace(value, {})
    run = _run_of(value)
    traces_found: list[Trace] = []
    for case in objects_of(run.get(_CASES)):
        traces_found += _case(case)
    return [*traces_found, *map(_talk, objects_of(run.get(_TALKS)))]


def _has_steps(trace: dict[str, Any]) -> bool:
    return any(objects_of(trace.get(group)) for group in _STEPS)


def _case(case: dict[str, Any]) -> list[Trace]:
    trace = object_of(case.get("trace"))
    if not _has_steps(trace):
        return [_untraced(case)]
    name = string_of(case.get("name"))
    found = _trace(trace, _left(case, _CASE_CARRIED, "test case"))
    return [replace(each, metadata={**scalars(test_case=name), **each.metadata}) for each in found]


def _untraced(case: dict[str, Any]) -> Trace:
    chat = ChatLog()
    chat.notes.add_fields(case, _CASE_CARRIED, "test case")
    chat.say("user", case.get("input"))
    _answer(chat, case, case.get("actualOutput"), 0)
    return _of_chat(chat, case, has_calls=type(case.get(_CALLED)) is list)


def _talk(case: dict[str, Any]) -> Trace:
    """Return a conversation as a trace."""
    chat = ChatLog()
    chat.notes.add_fields(case, _CASE_CARRIED, "test case")
    made = 0
    has_calls = False
    for turn in objects_of(case.get("turns")):
        if turn.get("role") == "assistant":
            made += _answer(chat, turn, turn.get("content"), made)
            has_calls = has_calls or type(turn.get(_CALLED)) is list
        else:
            chat.say(word_of(turn.get("role")) or "user", turn.get("content"))
    return _of_chat(chat, case, has_calls=has_calls)


def _answer(chat: ChatLog, held: dict[str, Any], answer: Any, made: int) -> int:
    """Add the calls that came before an answer, and the answer; return how many calls there were."""
    called = objects_of(held.get(_CALLED))
    for number, tool in enumerate(called, made + 1):
        call = Call(f"call_{number}", _tool_name(tool), _parameters(tool))
        chat.ask(call)
        if tool.get("output") is not None:
            chat.result(call.id, tool["output"])
    if answer is not None:
        chat.answer(answer, facts=Facts())
    return len(called)


def _parameters(tool: dict[str, Any]) -> Any:
    return parse_arguments(first_of(tool, _PARAMETERS))


def _tool_name(held: dict[str, Any]) -> str | None:
    name = string_of(held.get("name"))
    for prefix in _TOOL_PREFIXES:
        if name and name.startswith(prefix):
            return name.removeprefix(prefix) or name
    return name


def _of_chat(chat: ChatLog, case: dict[str, Any], *, has_calls: bool) -> Trace:
    cost = cost_of(case.get("tokenCost"))
    run = Run(
        id=_name_of(case),
        cost_usd=cost,
        totals_from="tokenCost" if cost else "",
        metadata=scalars(
            test_case=case.get("name"),
            scenario=case.get("scenario"),
            completion_time=case.get("completionTime"),
        ),
    )
    trace = chat.trace("deepeval", _REASONS, run, totals_from=run.totals_from)
    if has_calls:
        return trace
    return replace(trace, missing={"tool_calls": _NO_CALLS, **trace.missing})


def _left(record: dict[str, Any], carried: frozenset[str], of: str) -> dict[str, int]:
    """Return the fields of a record that are not carried, as notes."""
    return {
        f"{of} field {str(key)[:40]!r}": 1
        for key, held in record.items()
        if key not in carried and held not in (None, "", False, [], {})
    }


def _trace(trace: dict[str, Any], notes: dict[str, int]) -> list[Trace]:
    own_id = id_of(trace.get("uuid"))
    left: Counter[str] = Counter(notes)
    left.update(_left(trace, _TRACE_FIELDS, "trace"))
    wrapped = _wrapped(trace)
    spans: list[Span] = []
    for group, kind in _GROUPS.items():
        for record in objects_of(trace.get(group)):
            left.update(_left(record, _SPAN_FIELDS, "span"))
            key = id_of(record.get("parentUuid")), _tool_name(record)
            is_repeat = kind == "tool" and key in wrapped
            spans.append(_span(record, own_id, "chain" if is_repeat else kind))
    if not any(_asks(span) for span in spans):
        spans += _declared(trace, own_id)
    about = scalars(
        name=trace.get("name"),
        thread=trace.get("threadId"),
        environment=trace.get("environment"),
    )
    return [
        replace(
            found,
            metadata={**found.metadata, **about},
            started_at=time_of(trace.get("startTime")),
            ended_at=time_of(trace.get("endTime")),
        )
        for found in traces_of(spans, "deepeval", left)
    ]


def _wrapped(trace: dict[str, Any]) -> set[tuple[str | None, str | None]]:
    """Return the uuid and name of each call in which LlamaIndex runs a tool, whose own span inside of it is the same call."""
    return {
        (id_of(record.get("uuid")), _tool_name(record))
        for record in objects_of(trace.get("toolSpans"))
        if "tool_kwargs" in object_of(object_of(json_of(record.get("input"))).get("ev"))
    }


def _asks(span: Span) -> bool:
    """Return whether a span is of a tool call, or of a model call that asks for one."""
    kind = span.attributes.get("langfuse.observation.type")
    answered = span.attributes.get("langfuse.observation.output")
    return kind == "tool" or (kind == "llm" and _calls_a_tool(answered))


def _calls_a_tool(answered: Any) -> bool:
    return any(message.calls for message in messages_in(answered, "assistant"))


def _declared(trace: dict[str, Any], trace_id: str | None) -> Iterator[Span]:
    """Yield the calls that a trace without spans of tools only names: itself, or else the first of its spans that does."""
    records = [trace, *(each for group in _GROUPS for each in objects_of(trace.get(group)))]
    holder = next((each for each in records if objects_of(each.get(_CALLED))), {})
    parent = None if holder is trace else id_of(holder.get("uuid"))
    for number, tool in enumerate(objects_of(holder.get(_CALLED)), 1):
        span = recorded_span(
            trace_id,
            f"call_{number}",
            parent,
            _tool_name(tool),
            "tool",
            sent=_parameters(tool),
            answered=tool.get("output"),
        )
        span.attributes["gen_ai.tool.name"] = span.name
        yield span


def _span(record: dict[str, Any], trace_id: str | None, kind: str) -> Span:
    about = object_of(record.get("metadata"))
    sent, answered = json_of(record.get("input")), json_of(record.get("output"))
    name, call_id, tools = string_of(record.get("name")), None, None
    usage = cost = None
    if kind == "tool":
        kind = "chain" if _is_listing(record) else kind
        name = _tool_name(record)
        call_id = _call_id(answered)
        sent, answered = _arguments(record, sent), _result(answered)
    elif kind == "llm":
        usage = counted(_usage(record, about, object_of(answered)))
        cost = _cost(record)
        sent = _request(sent)
        tools = _tools(about, sent)
        sent, answered = _messages(sent), _said(record, answered)
    elif kind == "agent":
        names = record.get("availableTools")
        tools = [{"name": each} for each in names] if type(names) is list else None
    span = recorded_span(
        trace_id,
        id_of(record.get("uuid")),
        id_of(record.get("parentUuid")),
        name,
        kind,
        sent=sent,
        answered=answered,
        model=string_of(record.get("model")) if kind == "llm" else None,
        usage=usage,
        cost_usd=cost,
        tools=tools,
        error=_error(record),
        started_at=time_of(record.get("startTime")),
        ended_at=time_of(record.get("endTime")),
    )
    if kind == "tool":
        span.attributes["gen_ai.tool.name"] = name
        if call_id:
            span.attributes["gen_ai.tool.call.id"] = call_id
    return span


def _error(record: dict[str, Any]) -> str | None:
    failed = record.get("status") == _FAILED
    return string_of(record.get("error")) or ("error" if failed else None)


def _usage(record: dict[str, Any], about: dict[str, Any], answered: dict[str, Any]) -> Usage | None:
    """Return a model call's tokens: DeepEval's counts, or else those in the provider's answer; cached ones are input."""
    of_provider = read_usage(first_of(answered, _USAGES))
    cached = count_of(about.get("cached_input_tokens"))
    if cached is None and of_provider is not None:
        cached = of_provider.cached_tokens
    stated = usage_of(
        record.get("inputTokenCount"), record.get("outputTokenCount"), cached_tokens=cached or None
    )
    return stated if counted(stated) else of_provider


def _cost(record: dict[str, Any]) -> float | None:
    total = 0.0
    for count, price in (
        ("inputTokenCount", "costPerInputToken"),
        ("outputTokenCount", "costPerOutputToken"),
    ):
        tokens, each = count_of(record.get(count)), cost_of(record.get(price))
        if tokens is None or each is None:
            return None
        total += tokens * each
    return cost_of(total) or None


def _request(sent: Any) -> Any:
    """Return a request, which a wrapped client's method has as its first argument."""
    listed = object_of(sent).get("args")
    return listed[0] if type(listed) is list and listed and type(listed[0]) is dict else sent


def _tools(about: dict[str, Any], sent: Any) -> Any:
    """Return the tools that a model was offered: of its metadata, its request, or what stands between the messages."""
    listed = object_of(about.get("invocation_params")).get("tools") or object_of(sent).get("tools")
    if listed:
        return listed
    offered = [item["content"] for item in objects_of(sent) if _is_offer(item)]
    return [tool for each in offered for tool in _offer(each)]


def _is_offer(item: Any) -> bool:
    return (
        type(item) is dict
        and word_of(item.get("role")) in _OFFERS
        and item.get("content") is not None
    )


def _offer(content: Any) -> list[dict[str, Any]]:
    """Return the tools in LangChain's text of one, as Python prints a dict, or in Pydantic AI's list."""
    held = json_of(content)
    if type(held) is str:
        held = python_object_in(held)
    listed = object_of(held).get("function_tools")
    if type(listed) is not list:
        return [held] if type(held) is dict else []
    return [
        {**tool, "parameters": tool.get("parameters_json_schema")} for tool in objects_of(listed)
    ]


def _messages(sent: Any) -> Any:
    """Return what a model was sent, with calls and results in a usual form; instructions come first."""
    request = object_of(sent)
    listed = sent if type(sent) is list else request.get("input", request.get("messages"))
    if type(listed) is str:
        listed = [{"role": "user", "content": listed}]
    if type(listed) is not list:
        return sent
    items = [_item(item) for item in listed if not _is_offer(item)]
    instructions = string_of(request.get("instructions"))
    return [{"role": "system", "content": instructions}, *items] if instructions else items


def _item(item: Any) -> Any:
    """Return a message, or a call or a result that stands in its place."""
    if type(item) is not dict or "content" in item:
        return item
    kind = word_of(item.get("type"))
    if "output" in item and (item.get("role") == "tool" or kind in _RESULT_TYPES):
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item["output"]}
    call = _call_in(item)
    return item if call is None else {"role": "assistant", "tool_calls": [call]}


def _call_in(item: dict[str, Any]) -> dict[str, Any] | None:
    """Return the call that an item of an answer is, in whichever integration's spelling; None for another item."""
    kind = word_of(item.get("type"))
    function = object_of(item.get("function")) or item
    name = string_of(first_of(function, ("name", "toolName")))
    if name is None or "content" in item or "role" in item or (kind and kind not in _CALL_TYPES):
        return None
    arguments = first_of(function, ("arguments", "args", "input", *_PARAMETERS))
    return {
        "id": id_of(first_of(item, ("call_id", "toolCallId", "id"))),
        "name": name,
        "arguments": {} if arguments is None else arguments,
    }


def _said(record: dict[str, Any], answered: Any) -> Any:
    """Return what a model answered, with the calls that it asked for: those of toolsCalled, if the output has none."""
    items = answered if type(answered) is list else [answered]
    calls = [_call_in(item) if type(item) is dict else None for item in items]
    if any(call is not None for call in calls):
        rest = [item for item, call in zip(items, calls, strict=True) if call is None]
        asked = {"role": "assistant", "tool_calls": [call for call in calls if call is not None]}
        return [*rest, asked]
    called = [
        {"name": _tool_name(tool), "arguments": _parameters(tool)}
        for tool in objects_of(record.get(_CALLED))
    ]
    if called and not _calls_a_tool(answered):
        said = [] if answered is None else items
        return [*said, {"role": "assistant", "tool_calls": called}]
    return answered


def _is_listing(record: dict[str, Any]) -> bool:
    return record.get("description") == _LISTING and word_of(record.get("name")).startswith(
        _LISTING
    )


def _arguments(record: dict[str, Any], sent: Any) -> Any:
    """Return a tool's arguments: out of the event that LlamaIndex wraps, or of toolsCalled if the input is left out."""
    held = object_of(sent)
    event = object_of(held.get("ev"))
    if "tool_kwargs" in event:
        return event["tool_kwargs"]
    if held.keys() == {"args"} and type(held["args"]) is list:  # by position
        return held["args"][0] if len(held["args"]) == 1 else held["args"]
    called = objects_of(record.get(_CALLED))
    # Its own call; an empty object stands there for one that is not recorded.
    return (_parameters(called[0]) or None) if sent is None and len(called) == 1 else sent


def _result(answered: Any) -> Any:
    """Return a tool's result, without what ADK and LlamaIndex repeat of the call."""
    held = object_of(answered)
    if held.keys() >= {"name", "response"} and held.keys() <= {"id", "name", "response"}:
        return held["response"]
    inner = object_of(held.get("tool_output")) if "tool_kwargs" in held else held
    if "raw_output" in inner:
        return inner["raw_output"]
    return answered


def _call_id(answered: Any) -> str | None:
    """Return the id of the call that a LangChain tool message answers."""
    held = object_of(answered)
    return string_of(held.get("tool_call_id")) or string_of(
        object_of(held.get("kwargs")).get("tool_call_id")
    )


IMPORTER = Importer(
    id="deepeval",
    name="DeepEval traces and test runs",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id of the trace", "uuid, or name of a test case; of a step uuid"),
        ("parent_id", "parentUuid"),
        (
            "type",
            "llmSpans, toolSpans, agentSpans; retrieverSpans are other; baseSpans are no steps",
        ),
        ("name, arguments", "name and input of a tool's span, or inputParameters of toolsCalled"),
        ("input, output", "input, output; of a test case actualOutput"),
        ("error", "error, or status: ERRORED"),
        ("model, tools", "model; metadata.invocation_params.tools, availableTools"),
        (
            "usage",
            "inputTokenCount, outputTokenCount, metadata.cached_input_tokens; else usage in the output",
        ),
        (
            "cost_usd",
            "the counts by costPerInputToken, costPerOutputToken; of a test case tokenCost",
        ),
        ("started_at, ended_at", "startTime, endTime"),
        ("metadata", "name, threadId, environment; of a test case its name"),
    ),
    tried_on="288 real traces of its integrations' tests, and real test runs with and without traces",
    lacks="scores; model calls, tokens and times of a test case without a trace",
)

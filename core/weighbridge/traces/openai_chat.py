"""OpenAI chat messages, with `tool_calls` or the older `function_call`; also a whole chat completion."""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Capability, Step, StepType, Trace, Usage
from weighbridge.traces.reading import (
    StepIds,
    cost_of,
    parse_arguments,
    string_of,
    text_of,
    time_of,
    tools_of,
    usage_of,
)

ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_SYSTEM = frozenset({"system", "developer"})
_RESULT = frozenset({"tool", "function"})
NO_USAGE = "OpenAI chat messages carry no token counts"
NO_TIMES = "OpenAI chat messages carry no times"
NO_COST = "OpenAI chat messages carry no cost"
NO_TOOLS = "the messages come without the tools that were offered"
_USAGE_KEYS = (
    ("prompt_tokens", "input_tokens"),
    ("completion_tokens", "output_tokens"),
    ("total_tokens",),
)
_CARRIED = frozenset(
    {
        *("role", "content", "tool_calls", "function_call", "tool_call_id", "name", "id"),
        *("model", "usage", "cost", "timestamp", "error", "refusal", "requestor", "turn_idx"),
    }
)


@dataclass(slots=True)
class MessageFacts:
    """What stands beside a message elsewhere in a file, by the message's place."""

    usage: dict[int, Usage] = field(default_factory=dict)
    started_at: dict[int, int] = field(default_factory=dict)
    ended_at: dict[int, int] = field(default_factory=dict)
    models: dict[int, str] = field(default_factory=dict)
    #: by tool step's place among the tool calls
    call_started_at: dict[int, int] = field(default_factory=dict)
    call_ended_at: dict[int, int] = field(default_factory=dict)
    call_errors: dict[int, str] = field(default_factory=dict)


def are_messages(value: Any) -> bool:
    """Whether a value is a list of chat messages."""
    if type(value) is not list or not value:
        return False
    for message in value[:20]:
        if type(message) is not dict or message.get("role") not in ROLES:
            return False
        content = message.get("content")
        if type(content) is list and any(
            type(part) is dict and part.get("type") in _ANTHROPIC_PARTS for part in content
        ):
            return False
    return True


_ANTHROPIC_PARTS = frozenset({"tool_use", "tool_result", "server_tool_use", "thinking"})


def _matches(value: Any) -> bool:
    if type(value) is dict:
        return are_messages(value.get("messages")) or _is_completion(value)
    return are_messages(value)


def _is_completion(value: dict[str, Any]) -> bool:
    choices = value.get("choices")
    if type(choices) is not list or not choices or type(choices[0]) is not dict:
        return False
    return are_messages([choices[0].get("message")])


def _read(value: Any) -> list[Trace]:
    whole = value if type(value) is dict else {"messages": value}
    messages = list(whole.get("messages") or ())
    facts = MessageFacts()
    if _is_completion(whole):
        messages.append(whole["choices"][0]["message"])
        usage = read_usage(whole.get("usage"))
        if usage:
            facts.usage[len(messages) - 1] = usage
        started = time_of(whole.get("created"))
        if started:
            facts.started_at[len(messages) - 1] = started
        whole = {key: item for key, item in whole.items() if key != "usage"}
    metadata = whole.get("metadata")
    return [
        read_messages(
            messages,
            trace_id=string_of(whole.get("id")),
            format_id="openai-chat",
            tools=whole.get("tools") or whole.get("functions"),
            facts=facts,
            usage=read_usage(whole.get("usage")),
            model=string_of(whole.get("model")),
            metadata=metadata if type(metadata) is dict else {},
        )
    ]


def read_usage(value: Any) -> Usage | None:
    """Return the token counts of an OpenAI `usage` object, of either API."""
    if type(value) is not dict:
        return None
    sent, received, total = (
        next((value[key] for key in keys if key in value), None) for keys in _USAGE_KEYS
    )
    details = value.get("prompt_tokens_details") or value.get("input_tokens_details")
    cached = details.get("cached_tokens") if type(details) is dict else None
    return usage_of(sent, received, total, cached)


def read_messages(
    messages: list[Any],
    *,
    trace_id: str | None,
    format_id: str,
    tools: Any = None,
    facts: MessageFacts | None = None,
    usage: Usage | None = None,
    cost_usd: float | None = None,
    started_at: int | None = None,
    ended_at: int | None = None,
    model: str | None = None,
    metadata: dict[str, Any] | None = None,
) -> Trace:
    """Return chat messages as a trace: a step for each message, and for each tool call with its result."""
    reader = _Reader(messages, facts or MessageFacts(), model)
    steps = reader.steps()
    offered = tools_of(tools)
    missing: dict[Capability, str] = {}
    has_usage = usage is not None or any(step.usage for step in steps)
    if not has_usage:
        missing["token_usage"] = NO_USAGE
    if started_at is None and not any(step.started_at for step in steps):
        missing["timing"] = NO_TIMES
    if cost_usd is None and not has_usage and not any(step.cost_usd is not None for step in steps):
        missing["cost"] = NO_COST
    if not offered:
        missing["tool_definitions"] = NO_TOOLS
    return Trace(
        id=trace_id,
        steps=tuple(steps),
        format=format_id,
        tools=offered,
        metadata=metadata or {},
        usage=usage,
        cost_usd=cost_usd,
        started_at=started_at,
        ended_at=ended_at,
        missing=missing,
        not_carried=reader.not_carried(),
    )


class _Reader:
    def __init__(self, messages: list[Any], facts: MessageFacts, model: str | None) -> None:
        self._messages = messages
        self._facts = facts
        self._model = model
        self._ids = StepIds()
        self._calls = 0
        self._steps: list[Step] = []
        #: results in the order in which they came: by call id, and those without one
        self._results: dict[str, deque[int]] = defaultdict(deque)
        self._loose: deque[int] = deque()
        self._notes: dict[str, int] = {}
        for place, message in enumerate(messages):
            if message["role"] in _RESULT:
                call = _result_id(message)
                (self._results[call] if call else self._loose).append(place)

    def steps(self) -> list[Step]:
        for place, message in enumerate(self._messages):
            role = message["role"]
            if role in _RESULT:
                continue
            if role == "assistant":
                self._assistant(place, message)
            else:
                kind: StepType = "system" if role in _SYSTEM else "user"
                parent = self._add(kind, place, message)
                self._tool_calls(message, parent, place)
            if not _CARRIED.issuperset(message):
                for key in message.keys() - _CARRIED:
                    if message[key] not in (None, [], {}, ""):
                        self._note(f"message field {key!r}")
        orphans = [place for queue in self._results.values() for place in queue]
        for place in sorted([*orphans, *self._loose]):
            self._note("tool results of no call")
            self._add("other", place, self._messages[place])
        return self._steps

    def not_carried(self) -> tuple[str, ...]:
        return tuple(f"{what} ({count:,})" for what, count in sorted(self._notes.items()))

    def _note(self, what: str) -> None:
        self._notes[what] = self._notes.get(what, 0) + 1

    def _add(self, kind: StepType, place: int, message: dict[str, Any]) -> str:
        content = message.get("content")
        text = text_of(content)
        step = Step(
            id=self._ids.take(None, len(self._steps) + 1),
            type=kind,
            name=string_of(message.get("name")),
            output=content if text is None else text,
            started_at=self._started(place, message),
            ended_at=self._facts.ended_at.get(place),
        )
        self._steps.append(step)
        return step.id

    def _assistant(self, place: int, message: dict[str, Any]) -> None:
        text = text_of(message.get("content"))
        if text is None:
            text = string_of(message.get("refusal"))
        step = Step(
            id=self._ids.take(None, len(self._steps) + 1),
            type="llm",
            output=text,
            model=string_of(message.get("model")) or self._facts.models.get(place) or self._model,
            usage=self._facts.usage.get(place) or read_usage(message.get("usage")),
            cost_usd=cost_of(message.get("cost")),
            started_at=self._started(place, message),
            ended_at=self._facts.ended_at.get(place),
        )
        self._steps.append(step)
        self._tool_calls(message, step.id, place)

    def _started(self, place: int, message: dict[str, Any]) -> int | None:
        return self._facts.started_at.get(place) or time_of(message.get("timestamp"))

    def _tool_calls(self, message: dict[str, Any], parent: str, place: int) -> None:
        calls = message.get("tool_calls")
        for call in calls if type(calls) is list else ():
            if type(call) is dict:
                function = call["function"] if type(call.get("function")) is dict else call
                self._call(call.get("id"), function, parent, place)
        old = message.get("function_call")
        if type(old) is dict:
            self._call(None, old, parent, place)

    def _call(self, call_id: Any, function: dict[str, Any], parent: str, place: int) -> None:
        number, facts = self._calls, self._facts
        self._calls += 1
        name = string_of(function.get("name"))
        # The form of custom tools: their input is text.
        given = function.get("arguments", function.get("input"))
        found = self._result(call_id, place)
        result = self._messages[found] if found is not None else {}
        content = result.get("content")
        text = text_of(content)
        self._steps.append(
            Step(
                id=self._ids.take(call_id, len(self._steps) + 1),
                type="tool",
                parent_id=parent,
                name=name,
                output=content if text is None else text,
                arguments=parse_arguments(given),
                error=facts.call_errors.get(number) or _error(result, text),
                started_at=facts.call_started_at.get(number),
                ended_at=facts.call_ended_at.get(number) or time_of(result.get("timestamp")),
            )
        )

    def _result(self, call_id: Any, place: int) -> int | None:
        """Return the place of a call's result: the next under its id, else the next that has no id."""
        queue = self._results.get(call_id) if type(call_id) is str else None
        if not queue:
            queue = self._loose
        return queue.popleft() if queue and queue[0] > place else None


def _result_id(message: dict[str, Any]) -> str | None:
    return string_of(message.get("tool_call_id")) or string_of(message.get("id"))


def _error(result: dict[str, Any], text: str | None) -> str | None:
    failed = result.get("error")
    if failed is True:
        return text or "error"
    return failed if type(failed) is str and failed else None


IMPORTER = Importer(
    id="openai-chat",
    name="OpenAI chat messages",
    matches=_matches,
    read=_read,
    fields=(
        ("id of a message", "its place: s1, s2, ..."),
        ("id of a tool call", "tool_calls[].id; for function_call its place"),
        ("type", "role: assistant is llm; each of its calls is tool"),
        ("name", "tool_calls[].function.name, function_call.name"),
        ("arguments", "tool_calls[].function.arguments, function_call.arguments"),
        ("output", "content; of a tool call, the content of the tool or function message"),
        ("model", "model of the whole, or of the message"),
        ("usage", "usage of a completion, or of the message"),
        ("tools", "tools, functions"),
    ),
    lacks="tokens, times and cost, unless they stand beside the messages",
)

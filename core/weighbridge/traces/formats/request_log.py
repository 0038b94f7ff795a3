"""Logs of a chat API: bodies of requests, each followed by its answer, or requests alone that grow.

A request that begins with the messages of an earlier one continues its conversation, even with other instructions, as
after a handoff to another agent. Each conversation is a trace, and each call counts once, however often it is sent.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from weighbridge.traces.chat.conversation import Facts, Run, are_messages, read_messages
from weighbridge.traces.chat.function_tags import with_tagged_calls
from weighbridge.traces.chat.message_digests import digests_of, without_cache_marks
from weighbridge.traces.chat.roles import MODEL_ROLES
from weighbridge.traces.fields import (
    cost_of,
    id_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
    word_of,
)
from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace

_LOOKED_AT = 20  #: number of values, one of which must be an answer, or a request that has grown
#: Parameters of a request to OpenAI's API or a compatible one.
_PARAMETERS = frozenset(
    {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "functions", "stop"}
    | {"parallel_tool_calls", "function_call", "temperature", "top_p", "top_k", "min_p", "n"}
    | {"max_tokens", "max_completion_tokens", "presence_penalty", "frequency_penalty", "seed"}
    | {"logit_bias", "logprobs", "top_logprobs", "response_format", "user", "store", "metadata"}
    | {"reasoning_effort", "reasoning", "thinking", "verbosity", "service_tier", "timeout"}
    | {"prompt_cache_key", "safety_identifier", "extra_body", "extra_headers", "timestamp"}
)
_SYSTEM = frozenset({"system", "developer"})
_REASONS: dict[Capability, str] = {
    "token_usage": "the answers of this log carry no token counts",
    "timing": "the answers of this log carry no times",
    "cost": "the answers of this log carry no cost",
    "tool_definitions": "the requests of this log offer no tools",
}


class _Call(Struct, eq=False):
    """A request and its answer, either of which may be missing."""

    request: dict[str, Any] | None = None
    answer: dict[str, Any] | None = None
    instructions: bytes = b""  #: digest of the system messages before all other messages
    begun: tuple[bytes, ...] = ()  #: digests of the other messages, up to each message
    has_answers: bool = False  #: whether the request's messages include an answer of the model


def _is_request(value: Any) -> bool:
    if type(value) is not dict or not _PARAMETERS.issuperset(value):
        return False
    messages: Any = value.get("messages")
    is_named = type(value.get("model")) is str
    return is_named and are_messages(messages) and _role(messages[-1]) not in MODEL_ROLES


def _role(message: Any) -> str:
    return word_of(object_of(message).get("role"))


def _is_answer(value: Any) -> bool:
    choices = value.get("choices") if type(value) is dict else None
    if type(choices) is not list or not choices or value.get("messages"):
        return False
    return are_messages([object_of(choices[0]).get("message")])


def _matches(value: Any) -> bool:
    if type(value) is not list or not _is_request(value[0] if value else None):
        return False
    if not all(_is_request(each) or _is_answer(each) for each in value):
        return False
    some = pairwise(value[:_LOOKED_AT])
    return any(
        _is_answer(after) or _grows(before, after) for before, after in some if _is_request(before)
    )


def _grows(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Return whether a request begins with the messages of the request before, and has more."""
    held, more = (objects_of(each["messages"]) for each in (before, after))
    return len(more) > len(held) and digests_of(more[: len(held)]) == digests_of(held)


def _calls(value: list[Any]) -> list[_Call]:
    """Return the requests, each with the answer right after it; any other answer becomes a call without a request."""
    calls: list[_Call] = []
    is_open = False
    for item in value:
        if _is_answer(item):
            if is_open:
                calls[-1].answer = item
            else:
                calls.append(_Call(answer=item))
            is_open = False
        elif is_open := _is_request(item):
            calls.append(_requested(item))
    return calls


def _requested(request: dict[str, Any]) -> _Call:
    instructions, messages = _apart(request)
    return _Call(
        request,
        instructions=digests_of(instructions)[-1],
        begun=digests_of(messages)[1:],
        has_answers=any(_role(message) in MODEL_ROLES for message in messages),
    )


def _apart(request: dict[str, Any]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the instructions at the beginning of a request, and its other messages."""
    messages = objects_of(request.get("messages"))
    count = sum(1 for _ in takewhile(lambda each: _role(each) in _SYSTEM, messages))
    return messages[:count], messages[count:]


def _key(message: dict[str, Any]) -> bytes:
    """Return a key that a message has in each request; for a result it is the call's ID, as its text may be shortened."""
    call_id = id_of(message.get("tool_call_id"))
    said: list[Any] = [_role(message) in MODEL_ROLES, call_id]
    if call_id is None:
        calls = objects_of(message.get("tool_calls"))
        said += [
            without_cache_marks(message).get("content") or None,
            [_asked(call) for call in calls],
        ]
        said.append(message.get("function_call"))
    try:
        return hashlib.blake2b(orjson.dumps(said), digest_size=16).digest()
    except TypeError:  # an integer beyond 64 bits, or very deep
        return b""


def _asked(call: dict[str, Any]) -> list[Any]:
    function = object_of(call.get("function"))
    return [call.get("id"), function.get("name"), function.get("arguments")]


def _answers_in(call: _Call) -> list[tuple[bytes, bytes]]:
    """Return the model's messages in a request, the last first, each with the digest of the messages before it."""
    messages = _apart(call.request or {})[1]
    before = (b"", *call.begun)
    answers = [
        (digest, _key(message))
        for digest, message in zip(before, messages, strict=False)
        if _role(message) in MODEL_ROLES
    ]
    return answers[::-1]


def _answer_of(call: _Call) -> dict[str, Any]:
    return object_of(call.answer and call.answer["choices"][0]["message"])


def _conversations(value: list[Any]) -> list[list[_Call]]:
    """Return the calls of a log by conversation, each in the order of the log.

    Equal requests without an answer of the model begin a conversation each, as if a task is run again. The model's answers
    distinguish conversations with the same beginning, and join requests whose beginning changes.
    """
    found: list[list[_Call]] = []
    #: Conversations, by the messages of a request and its answer; by the answer alone if it has calls.
    answered: dict[tuple[bytes, bytes], list[_Call]] = {}
    #: Conversations, by the messages of a request, with and without its instructions.
    known: dict[tuple[bytes, bytes], list[_Call]] = {}
    for call in _calls(value):
        earlier = call.begun if call.has_answers else call.begun[:-1]
        names = (
            (name, digest) for digest in reversed(earlier) for name in (call.instructions, b"")
        )
        answers = _answers_in(call)
        conversation = next((answered[each] for each in answers if each in answered), None)
        if conversation is None:
            conversation = next((known[name] for name in names if name in known), None)
        if conversation is None:
            of_calls = ((b"", key) for _, key in answers)
            conversation = next((answered[each] for each in of_calls if each in answered), None)
        if conversation is None:
            conversation = []
            found.append(conversation)
        conversation.append(call)
        for name in (call.instructions, b"") if call.begun else ():
            known[name, call.begun[-1]] = conversation
        answer = _answer_of(call)
        if answer and (key := _key(answer)):
            if call.begun:
                answered[call.begun[-1], key] = conversation
            if any(id_of(each.get("id")) for each in objects_of(answer.get("tool_calls"))):
                answered[b"", key] = conversation
    return found


def begins_request_log(raw: bytes) -> bool:
    """Return whether a line has a request, as does the first line of a log."""
    if b'"messages"' not in raw:
        return False
    try:
        return _is_request(orjson.loads(raw))
    except ValueError:
        return False


def request_log_parts(value: list[Any]) -> list[tuple[str | None, Any]]:
    """Return the conversations in the values of a log, each as a separate log; none if the values are not a log."""
    return _parts(value) if _matches(value) else []


def _parts(value: list[Any]) -> list[tuple[str | None, Any]]:
    return [(None, _part(conversation)) for conversation in _conversations(value)]


def _part(conversation: list[_Call]) -> Any:
    """Return a conversation as a log, or as its last value if it is not a log."""
    held = [item for call in conversation for item in (call.request, call.answer) if item]
    return held if _matches(held) else held[-1]


def _read(value: list[Any]) -> list[Trace]:
    return [_Reader().read(conversation) for conversation in _conversations(value)]


def _followed(call: _Call) -> Iterator[bytes]:
    """Yield the digests of the messages before each answer in a request."""
    messages = _apart(call.request or {})[1]
    for digest, message in zip(call.begun, messages[1:], strict=False):
        if _role(message) in MODEL_ROLES:
            yield digest


class _Reader:
    def __init__(self) -> None:
        self._run = Run()
        self._told: list[dict[str, Any]] = []
        self._of_message: dict[int, Facts] = {}
        self._instructions: set[bytes] = set()  #: digests of the instructions that were added
        self._known: set[bytes] = set()  #: digests of the messages up to each message
        self._answered: set[bytes] = set()  #: the same digests, of whole requests with an answer
        #: Numbers of the messages that were added, by the message's key.
        self._counts: Counter[bytes] = Counter()

    def read(self, conversation: list[_Call]) -> Trace:
        """Return the trace of a conversation."""
        tools: dict[str, Any] = {}
        followed = {name for call in conversation for name in _followed(call)}
        for call in conversation:
            request = call.request or {}
            for tool in objects_of(request.get("tools")):
                function = object_of(tool.get("function"))
                tools.setdefault(string_of(function.get("name")) or str(tool), tool)
            self._request(call, request)
            model = string_of(request.get("model"))
            if call.answer is not None:
                self._answered.update(call.begun[-1:])
                self._answer(call.answer, model)
            elif followed.isdisjoint(call.begun[-1:]):
                self._run.notes.add("requests without an answer")
                self._told.append({"role": "assistant", "content": None, "model": model})
        self._run.tools = list(tools.values())
        self._run.of_message = self._of_message
        told = with_tagged_calls(self._told, self._run.tools)
        return read_messages(told, "request-log", self._run, _REASONS)

    def _request(self, call: _Call, request: dict[str, Any]) -> None:
        """Add the new messages of a request, except answers that the log has."""
        instructions, messages = _apart(request)
        if call.instructions not in self._instructions:
            self._instructions.add(call.instructions)
            self._told += instructions
        before = b""
        seen: Counter[bytes] = Counter()
        new = next(
            (at for at in range(len(messages), 0, -1) if _role(messages[at - 1]) in MODEL_ROLES), 0
        )
        for at, (message, digest) in enumerate(zip(messages, call.begun, strict=True)):
            key = _key(message)
            seen[key] += 1
            is_told = _role(message) in MODEL_ROLES and before in self._answered
            is_again = at < new and key != b"" and seen[key] <= self._counts[key]
            if digest not in self._known and not is_told and not is_again:
                self._told.append(message)
                self._counts[key] += 1
            self._known.add(digest)
            before = digest

    def _answer(self, answer: dict[str, Any], model: str | None) -> None:
        choices = answer["choices"]
        if len(choices) > 1:
            self._run.notes.add("other choices of the completion", len(choices) - 1)
        self._of_message[len(self._told)] = Facts(
            model=string_of(answer.get("model")) or model,
            usage=read_usage(answer.get("usage")),
            cost_usd=cost_of(answer.get("cost")),
            ended_at=time_of(answer.get("created")),
        )
        self._told.append({"id": answer.get("id"), **choices[0]["message"]})
        self._counts[_key(choices[0]["message"])] += 1


IMPORTER = Importer(
    id="request-log",
    name="logs of chat requests and answers",
    matches=_matches,
    read=_read,
    parts=_parts,
    fields=(
        ("id", "id of an answer; of a tool call tool_calls[].id"),
        (
            "type",
            "an answer is llm; so is a message of the role assistant in a request, if the log lacks it as an answer",
        ),
        ("name, arguments", "tool_calls[].function"),
        ("output", "content; of a tool call, the content of its tool message in a later request"),
        ("model, usage, cost_usd", "model, usage and cost of an answer"),
        ("ended_at", "created of an answer"),
        ("tools", "tools of all requests"),
    ),
    tried_on="a real log of CAI; synthetic ones",
    lacks="the result of a call after which no request was made",
)

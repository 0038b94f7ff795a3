"""Matching of the tool calls in model answers with the tool spans that ran them, so that each call counts once."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from weighbridge.traces.chat.call_parts import Call, Result
from weighbridge.traces.equality import key_of
from weighbridge.traces.spans.attributes import arguments_of, call_id_of, tool_name_of
from weighbridge.traces.spans.operations import Operation

_ITEM = "fc_"  #: start of the ids of the items of the Responses API that are calls


@dataclass(slots=True)
class RequestedCall:
    """Tool call requested by the model, with its result if a later request contains it."""

    call: Call
    caller: int  #: the index of the model call
    result: Result | None = None


@dataclass(slots=True)
class ToolCalls:
    """Index of the calls in the model's answers and of the operations that ran them."""

    #: Calls that ran, by the tool operation's index.
    ran: dict[int, RequestedCall] = field(default_factory=dict)
    unseen: dict[int, list[RequestedCall]] = field(default_factory=lambda: defaultdict(list))
    """Calls that no span records, by the caller's index."""
    results: dict[int, Result] = field(default_factory=dict)
    """Results in later requests, for calls that are in no answer, by the tool operation's index."""
    in_requests: dict[int, list[RequestedCall]] = field(default_factory=lambda: defaultdict(list))
    """Calls of the current turn that only a model call's request has, by the index of the model call."""
    #: Number of calls in requests that were made before the user's last message.
    earlier: int = 0


_Facts = tuple[str | None, str | None, Any]
"""Facts of a tool operation: the call's ID, the tool's name, the arguments."""


def tool_calls_of(operations: Sequence[Operation]) -> ToolCalls:
    """Match the calls in the model's answers with the tool operations, each in order.

    They match by the call's ID, otherwise by name and arguments. If one of the two has no ID, the name alone is enough; names
    of handoffs are then compared in lower case.
    """
    tools = {index: _facts(found) for index, found in enumerate(operations) if found.kind == "tool"}
    answers = _Answers(operations)
    found = ToolCalls()
    left = list(_requested_calls(operations))
    for one in left:
        one.result = answers.take(one.call.id, one.call.name)
    _match_second_ids(left, tools.values(), answers)
    for key_of_call, key_of_tool in _KEYS:
        left = _match(left, tools, found.ran, key_of_call, key_of_tool)
    for one in left:
        found.unseen[one.caller].append(one)
    for index, (call_id, name, _) in tools.items():
        result = answers.take(call_id, name) if call_id and index not in found.ran else None
        if result:
            found.results[index] = result
    _add_unrecorded(operations, tools.values(), found, answers)
    return found


def _match_second_ids(
    calls: list[RequestedCall], tools: Iterable[_Facts], answers: _Answers
) -> None:
    """Match results with calls of the Responses API that OpenLLMetry names by their items' ids; results have the calls' ids.

    They are in the order of the calls if they first stand in one request, before the next such calls, and are as many.
    """
    lacking: dict[int, list[RequestedCall]] = {}
    for one in calls:
        if one.result is None and (one.call.id or "").startswith(_ITEM):
            lacking.setdefault(one.caller, []).append(one)
    if not lacking:
        return
    known = {one.call.id for one in calls} | {facts[0] for facts in tools}
    told = answers.by_request(known)
    for caller, following in zip_longest(lacking, [*lacking][1:]):
        request = next((number for number in told if number > caller), None)
        if request is None or (following is not None and request > following):
            continue
        names = told[request]
        if len(names) == len(lacking[caller]):
            for one, name in zip(lacking[caller], names, strict=True):
                one.result = answers.take(name, None)


def _add_unrecorded(
    operations: Sequence[Operation],
    tools: Iterable[_Facts],
    found: ToolCalls,
    answers: _Answers,
) -> None:
    """Find the calls in requests that have neither an answer nor a tool span, because those spans were lost.

    A request also contains earlier turns, which were separate runs: they end before the user's last message.
    """
    recorded = _Recorded(tools)
    for operation in operations:
        for message in operation.outputs:
            for call in message.calls:
                recorded.add(call.id, call.name, call.arguments)
    in_requests: set[Hashable] = set()
    for index, operation in enumerate(operations):
        inputs = operation.inputs if operation.has_own_messages else ()
        users = (number for number, said in enumerate(inputs) if said.role == "user" and said.texts)
        turn = max(users, default=-1)
        for number, message in enumerate(inputs):
            for part, call in enumerate(message.calls):
                # Later requests repeat a call at the same index.
                key: Hashable = call.id or (number, part, call.name)
                if key in in_requests or recorded.has(call):
                    continue
                in_requests.add(key)
                if number > turn:
                    requested = RequestedCall(call, index, answers.take(call.id, call.name))
                    found.in_requests[index].append(requested)
                else:
                    found.earlier += 1


class _Recorded:
    """The calls that spans record, by id, by name with arguments, and by name."""

    def __init__(self, tools: Iterable[_Facts]) -> None:
        self._ids: set[str] = set()
        self._wholes: set[tuple[str, bytes] | None] = set()
        self._names: set[str | None] = set()
        self._vague_names: set[str | None] = set()  #: names of calls without an ID or arguments
        for facts in tools:
            self.add(*facts)

    def add(self, call_id: str | None, name: str | None, arguments: Any) -> None:
        """Add a call."""
        if call_id is not None:
            self._ids.add(call_id)
        self._wholes.add(_whole(name, arguments))
        self._names.add(name)
        if call_id is None or arguments is None:
            self._vague_names.add(name)

    def has(self, call: Call) -> bool:
        """Return whether a call may be one of these."""
        if call.id in self._ids or call.name in self._vague_names:
            return True
        whole = _whole(call.name, call.arguments)
        if whole is not None and whole in self._wholes:
            return True
        return call.id is None and call.name in self._names


def _facts(operation: Operation) -> _Facts:
    return (
        operation.first(call_id_of),
        operation.first(tool_name_of),
        operation.first(arguments_of),
    )


def _requested_calls(operations: Sequence[Operation]) -> Iterable[RequestedCall]:
    for index, operation in enumerate(operations):
        seen: set[tuple[str, str | None]] = set()
        for message in operation.outputs if operation.has_own_messages else ():
            for call in message.calls:
                if call.id is None or (call.id, call.name) not in seen:
                    yield RequestedCall(call, index)
                if call.id is not None:
                    seen.add((call.id, call.name))


def _match(
    left: list[RequestedCall],
    tools: dict[int, _Facts],
    ran: dict[int, RequestedCall],
    key_of_call: Callable[[Call], Hashable],
    key_of_tool: Callable[[_Facts], Hashable],
) -> list[RequestedCall]:
    """Match calls and tool operations that have the same key; return the calls without a match."""
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for index, facts in tools.items():
        key = key_of_tool(facts)
        if key is not None and index not in ran:
            waiting[key].append(index)
    still = []
    for one in left:
        key = key_of_call(one.call)
        found = waiting.get(key) if key is not None else None
        if found:
            ran[found.popleft()] = one
        else:
            still.append(one)
    return still


def _whole(name: str | None, arguments: Any) -> tuple[str, bytes] | None:
    return None if name is None or arguments is None else (name, key_of(arguments))


_KEYS: tuple[tuple[Callable[[Call], Hashable], Callable[[_Facts], Hashable]], ...] = (
    (lambda call: call.id, lambda tool: tool[0]),
    (lambda call: _whole(call.name, call.arguments), lambda tool: _whole(tool[1], tool[2])),
    (lambda call: call.name, lambda tool: None if tool[0] else tool[1]),
    (lambda call: None if call.id else call.name, lambda tool: tool[1]),
    (lambda call: _handoff(call.name), lambda tool: None if tool[0] else _handoff(tool[1])),
)


def _handoff(name: str | None) -> str | None:
    """Return the name of a handoff's tool in lower case, which only newer versions of OpenAI's Agents SDK write.

    None for other tools.
    """
    return name.lower() if name and name.startswith("transfer_to_") else None


class _Answers:
    """Tool results sent to the model; a conversation repeats each one in all later requests."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        found: dict[tuple[bool, str], dict[tuple[int, ...], Result]] = defaultdict(dict)
        #: By a call's ID: the first model call whose request has its result.
        self._requests: dict[str, int] = {}
        for number, operation in enumerate(operations):
            if operation.has_own_messages:
                # Requests repeat a message at the same index; the results in an answer are in no other message.
                for source, messages in ((-1, operation.inputs), (number, operation.outputs)):
                    for index, message in enumerate(messages):
                        for part, result in enumerate(message.results):
                            key = result.call_id is not None, result.call_id or result.name or ""
                            found[key].setdefault((source, index, part), result)
                            if result.call_id is not None and source == -1:
                                self._requests.setdefault(result.call_id, number)
        self._waiting = {key: deque(results.values()) for key, results in found.items()}

    def by_request(self, known: Container[str | None]) -> dict[int, list[str]]:
        """Return the IDs of calls in results, without those that are known, by the first model call whose request has them."""
        found: dict[int, list[str]] = defaultdict(list)
        for call_id, number in self._requests.items():
            if call_id not in known:
                found[number].append(call_id)
        return found

    def take(self, call_id: str | None, name: str | None) -> Result | None:
        """Return the next result of a call by ID, or of a call without an ID by name."""
        waiting = self._waiting.get((call_id is not None, call_id or name or ""))
        return waiting.popleft() if waiting else None

"""Deduplication of spans: several nested spans may describe the same model call or tool call.

A framework, its adapter and the provider's client may each write a span for one call of the model; an agent and an MCP
client and server for one call of a tool. Such spans become one operation.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from weighbridge.traces.spans.ai_sdk import wraps_calls
from weighbridge.traces.spans.attributes import (
    Kind,
    arguments_of,
    call_id_of,
    kind_of,
    names_tool,
    only_names_model,
    tool_name_of,
)
from weighbridge.traces.spans.content import inputs_of, outputs_of
from weighbridge.traces.spans.messages import Message
from weighbridge.traces.spans.spans import Parents, Span, in_order, nearest, parents_of
from weighbridge.traces.spans.twins import merge_twins
from weighbridge.traces.spans.usage import usage_of_span

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")
#: Minimum number of spans begun after the end of their parent, a model call, at which they are calls of their own.
_LATE_CHILDREN_MINIMUM = 2
_MCP = "mcp.method.name"
#: Characters that clients put between the names of an MCP server and its tool.
_SERVER_SEPARATORS = ("_", "-", ".", "/", ":")
#: Maximum number of nested spans passed that have a call's ID but not its tool's name.
_PASSED_LIMIT = 8


@dataclass(slots=True)
class Operation:
    """A model call, a tool call, an agent's run, or something else that is a step."""

    kind: Kind
    spans: list[Span]  #: the spans that record it, the most detailed first
    parent: int | None = None  #: the index of the operation that this one is part of
    #: Whether it is inside a tool call, or inside an agent that another agent called.
    is_inner: bool = False
    #: Whether its messages are its own, and do not repeat those of the calls inside it.
    has_own_messages: bool = False
    inputs: list[Message] = field(default_factory=list)
    outputs: list[Message] = field(default_factory=list)

    def first(self, fact: Callable[[Span], T | None]) -> T | None:
        """Return a value from the first span that has it."""
        for span in self.spans:
            found = fact(span)
            if found is not None:
                return found
        return None

    @property
    def started_at(self) -> int | None:
        """When it began, in nanoseconds since 1970-01-01 UTC."""
        return self.first(lambda span: span.started_at)

    @property
    def ended_at(self) -> int | None:
        """When it ended, in nanoseconds since 1970-01-01 UTC."""
        return self.first(lambda span: span.ended_at)


def operations_of(spans: Sequence[Span], *, has_wrapped: bool) -> list[Operation]:
    """Return the operations that spans record, in the order of their start, parents before their children.

    `has_wrapped`: whether the source records the model calls inside the AI SDK's requests in traces of their own.
    """
    kinds = [kind_of(span) for span in spans]
    if not has_wrapped:
        _promote_unmatched_wrappers(spans, kinds)
    _drop_mentions(spans, kinds)
    is_kept = [kind not in {"none", "group"} for kind in kinds]
    above = nearest(parents_of(spans), is_kept)
    kept = [index for index in range(len(spans)) if is_kept[index]]
    representative = _representatives(spans, kinds, above, kept)
    members: dict[int, list[int]] = {
        index: [index] for index in kept if representative[index] == index
    }
    outer = {best: _outside(best, representative, above, members[best]) for best in members}
    for index in kept:
        if representative[index] != index and kinds[index] == "tool":
            members[representative[index]].append(index)
    merge_twins(spans, kinds, outer, members)
    final = {index: best for best, indices in members.items() for index in indices}
    operations, parents, numbers = [], [], {best: number for number, best in enumerate(members)}
    for best, indices in members.items():
        parent = outer[best]
        parents.append(None if parent is None else numbers[final[parent]])
        operations.append(Operation(kinds[best], [spans[index] for index in indices]))
    _adopt_siblings(operations, parents)
    return _finished(operations, parents)


def _promote_unmatched_wrappers(spans: Sequence[Span], kinds: list[Kind]) -> None:
    """Treat AI SDK wrapper spans as model calls if the trace has no model-call spans."""
    if "llm" not in kinds:
        for index, span in enumerate(spans):
            if kinds[index] == "group" and wraps_calls(span.attributes):
                kinds[index] = "llm"


def _drop_mentions(spans: Sequence[Span], kinds: list[Kind]) -> None:
    """Drop the spans that only name a model, such as a change of the model, if other spans record model calls."""
    models = [index for index, kind in enumerate(kinds) if kind == "llm"]
    mentions = [index for index in models if only_names_model(spans[index])]
    if len(mentions) < len(models):
        for index in mentions:
            kinds[index] = "none"


def _representatives(
    spans: Sequence[Span], kinds: list[Kind], above: Parents, kept: list[int]
) -> list[int]:
    """Return for each span the most informative span of the same operation.

    For nested model calls, that is the innermost; for nested tool calls, the outermost. A span that encloses several
    model calls is not counted as one itself: it becomes another kind of step. Some sources make the first model call the
    parent of all spans of the run. If several spans began after its end, they are calls of their own.
    """
    after = {index for index in kept if _is_after(spans, index, above[index])}
    late_children = Counter(above[index] for index in after)
    representative = list(range(len(spans)))
    inside: dict[int, list[int]] = defaultdict(list)
    for index in kept:
        outer = above[index]
        if outer is None or kinds[outer] != kinds[index]:
            continue
        if kinds[index] == "llm":
            if index not in after or late_children[outer] < _LATE_CHILDREN_MINIMUM:
                inside[outer].append(index)
        elif kinds[index] == "tool" and _is_same_call(
            spans[_named(outer, spans, kinds, above)], spans[index]
        ):
            representative[index] = outer
    for outer, calls in inside.items():
        if len(calls) == 1:
            representative[outer] = calls[0]
        else:
            kinds[outer] = "other"
    for index in kept:  # follow each chain to its end, once
        path = []
        at = index
        while representative[at] != at:
            path.append(at)
            at = representative[at]
        for passed in path:
            representative[passed] = at
    return representative


def _named(index: int, spans: Sequence[Span], kinds: list[Kind], above: Parents) -> int:
    """Return a tool span that names its tool: the given one, or else a span around it that records the same call.

    If there is none, the outermost span of the call is returned.
    """
    for _ in range(_PASSED_LIMIT):
        outer = above[index]
        call_id = call_id_of(spans[index])
        if names_tool(spans[index]) or outer is None or kinds[outer] != "tool" or call_id is None:
            break
        if call_id_of(spans[outer]) != call_id:
            break
        index = outer
    return index


def _is_after(spans: Sequence[Span], index: int, outer: int | None) -> bool:
    """Return whether a span began when its parent had ended."""
    if outer is None:
        return False
    began, begin, end = spans[index].started_at, spans[outer].started_at, spans[outer].ended_at
    return began is not None and begin is not None and end is not None and begin < end < began


def _is_same_call(outer: Span, inner: Span) -> bool:
    """Return whether a tool span nested in another tool span describes the same call."""
    ids = call_id_of(outer), call_id_of(inner)
    if None not in ids:
        return ids[0] == ids[1]
    if not _is_same_tool(outer, inner):
        return False
    is_mcp = _MCP in inner.attributes or _MCP in outer.attributes
    if not is_mcp and outer.scope == inner.scope and outer.name == inner.name:
        return False  # a tool that calls itself
    arguments = arguments_of(outer), arguments_of(inner)
    return None in arguments or arguments[0] == arguments[1]


def _is_same_tool(outer: Span, inner: Span) -> bool:
    """Return whether two spans name the same tool; an MCP client may put the server's name before it."""
    names = tool_name_of(outer) or "", tool_name_of(inner) or ""
    if names[0] == names[1]:
        return True
    is_sent = inner.attributes.get(_MCP) == "tools/call" and bool(names[1])
    return is_sent and names[0].endswith(tuple(mark + names[1] for mark in _SERVER_SEPARATORS))


def _outside(
    best: int, representative: list[int], above: Parents, members: list[int]
) -> int | None:
    """Return the enclosing operation; add the outer spans of this operation to its members, inner ones first."""
    outer = above[best]
    while outer is not None and representative[outer] == best:
        members.append(outer)
        outer = above[outer]
    return None if outer is None else representative[outer]


def _adopt_siblings(operations: list[Operation], parents: Parents) -> None:
    """Move calls that stand beside an agent into it, if they are part of its run.

    Microsoft's Agent Framework records streamed runs in this way. Such calls ran during the agent's run, and the sum of
    their tokens is the agent's count.
    """
    beside: dict[int | None, list[int]] = defaultdict(list)
    for index, parent in enumerate(parents):
        beside[parent].append(index)
    for siblings in beside.values():
        agents = _apart(
            [index for index in siblings if operations[index].kind == "agent"], operations
        )
        starts = [start for start, _, _ in agents]
        inside: dict[int, list[int]] = defaultdict(list)
        for index in siblings if agents else ():
            start, end = operations[index].started_at, operations[index].ended_at
            if operations[index].kind == "agent" or start is None or end is None:
                continue
            at = bisect_right(starts, start) - 1
            if at >= 0 and end <= agents[at][1]:
                inside[agents[at][2]].append(index)
        for agent, indices in inside.items():
            calls = [operations[index] for index in indices if operations[index].kind == "llm"]
            if calls and _tokens(operations[agent]) == sum(_tokens(call) or 0 for call in calls):
                for index in indices:
                    parents[index] = agent


def _apart(agents: list[int], operations: list[Operation]) -> list[tuple[int, int, int]]:
    """Return the start, end and index of the agents that ran while no other one did, in order."""
    runs = sorted(
        (start, end, index)
        for index in agents
        if (start := operations[index].started_at) is not None
        and (end := operations[index].ended_at) is not None
    )
    latest_ends = list(accumulate((end for _, end, _ in runs), max))
    return [
        run
        for at, run in enumerate(runs)
        if (at == 0 or latest_ends[at - 1] <= run[0])
        and (at + 1 == len(runs) or run[1] <= runs[at + 1][0])
    ]


def _tokens(operation: Operation) -> int | None:
    usage = operation.first(usage_of_span)
    if usage is None or usage.total is not None:
        return usage.total if usage else None
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


def _finished(operations: list[Operation], parents: Parents) -> list[Operation]:
    """Return operations in order, with their parents and the model's input and output."""
    order = in_order(parents, [operation.started_at for operation in operations])
    indices = {index: number for number, index in enumerate(order)}
    ordered = [operations[index] for index in order]
    for number, index in enumerate(order):
        parent = parents[index]
        ordered[number].parent = None if parent is None else indices[parent]
    _read_messages(ordered)
    _mark_inner(ordered)
    return ordered


def _read_messages(operations: list[Operation]) -> None:
    """Read the messages of model calls and agents; an agent's are its own if the calls inside it have none."""
    has_messages = [False] * len(operations)
    for number in reversed(range(len(operations))):  # children come before their parents
        operation = operations[number]
        if operation.kind in {"llm", "agent"} or _is_around_calls(operation):
            operation.inputs = operation.first(lambda span: inputs_of(span) or None) or []
            operation.outputs = operation.first(lambda span: outputs_of(span) or None) or []
            operation.has_own_messages = operation.kind == "llm" or not has_messages[number]
            has_messages[number] = has_messages[number] or bool(
                operation.inputs or operation.outputs
            )
        if operation.parent is not None and has_messages[number]:
            has_messages[operation.parent] = True


def _is_around_calls(operation: Operation) -> bool:
    return operation.kind == "other" and kind_of(operation.spans[0]) == "llm"


def _mark_inner(operations: list[Operation]) -> None:
    agents: Parents = []  #: for each operation, the index of the agent that it is, or is part of
    for number, operation in enumerate(operations):
        inherited = None if operation.parent is None else agents[operation.parent]
        agents.append(number if operation.kind == "agent" else inherited)
    calling = {agents[number] for number, found in enumerate(operations) if found.kind == "llm"}
    for operation in operations:
        if operation.parent is not None:
            parent, agent = operations[operation.parent], agents[operation.parent]
            is_called = operation.kind == "agent" and agent is not None and agent in calling
            operation.is_inner = parent.is_inner or parent.kind == "tool" or is_called

"""Spans in a form independent of the tracing system, and the tree that they form."""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Sources of the trace model's fields, for the table in the documentation.
FIELDS = (
    ("id", "the span's id; of a call that only the model's answer shows, the call's id"),
    ("parent_id", "the nearest step around the span; of a tool call, the model call that asked"),
    (
        "type",
        "openinference.span.kind, gen_ai.operation.name, traceloop.span.kind, or other attributes",
    ),
    ("name", "gen_ai.tool.name, tool.name, gen_ai.agent.name; else the span's name"),
    (
        "arguments",
        "gen_ai.tool.call.arguments, input.value, traceloop.entity.input; else the model's answer",
    ),
    (
        "output of a model call",
        "gen_ai.output.messages, gen_ai.choice, gen_ai.completion.*, llm.output_messages.*",
    ),
    (
        "output of a tool call",
        "gen_ai.tool.call.result, output.value; else the result as sent to the model",
    ),
    (
        "user and system steps",
        "gen_ai.input.messages, gen_ai.user.message, gen_ai.prompt.*, llm.input_messages.*",
    ),
    (
        "error",
        "the status ERROR with its message, an exception, error.type, gen_ai.tool.status, status.ok",
    ),
    ("model", "gen_ai.response.model, gen_ai.request.model, llm.model_name, llm.model"),
    (
        "finish_reason",
        "gen_ai.response.finish_reasons, ai.response.finishReason, llm.finish_reason; else finish_reason or stop_reason of the answer",
    ),
    (
        "usage",
        "gen_ai.usage.input_tokens or prompt_tokens and so on, llm.token_count.*, llm.usage.total_tokens, llm.input_tokens",
    ),
    ("cost_usd", "llm.cost.total, gen_ai.usage.cost, mlflow.llm.cost"),
    ("started_at, ended_at", "the span's own"),
    (
        "least_duration_ms of the run",
        "the outermost spans around its steps, whatever their kind: from the first start to the last end",
    ),
    ("tools", "gen_ai.tool.definitions, llm.request.functions.*, llm.tools.*"),
)
LACKS = "the content of messages, arguments and results, unless the instrumentation records it"

Parents = list[int | None]
"""For each span, the index of its parent, or of another ancestor; None if it has none."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened during a span; a log record that names the span is one too."""

    name: str
    attributes: dict[str, Any]
    body: Any = None  #: body of a log record


@dataclass(slots=True)
class Span:
    """One operation, with its attributes by their names."""

    trace_id: str
    id: str  #: empty where the source gives none
    parent_id: str | None
    name: str
    started_at: int | None  #: nanoseconds since 1970-01-01 UTC
    ended_at: int | None  #: the same
    attributes: dict[str, Any]
    events: list[Event] = field(default_factory=list)
    status: Literal["unset", "ok", "error"] = "unset"
    status_message: str | None = None
    scope: str = ""  #: the library that wrote it
    service: str = ""


def parents_of(spans: Sequence[Span]) -> Parents:
    """Return each span's parent, if it is among the spans; in a cycle of spans, one parent is left out."""
    indices = {span.id: index for index, span in reversed(list(enumerate(spans))) if span.id}
    parents: Parents = [indices.get(span.parent_id) if span.parent_id else None for span in spans]
    walks = [0] * len(spans)  # number of the walk that passed a span first; 0: none yet
    for start in range(len(spans)):
        index: int | None = start
        while index is not None and not walks[index]:
            walks[index] = start + 1
            parent = parents[index]
            if parent is not None and walks[parent] == start + 1:
                parents[index] = parent = None
            index = parent
    return parents


def nearest(parents: Parents, wanted: Sequence[bool]) -> Parents:
    """Return for each span its nearest ancestor in the wanted set."""
    found: Parents = [None] * len(parents)
    known = [False] * len(parents)
    for start in range(len(parents)):
        path: list[int] = []
        index: int | None = start
        ancestor: int | None = None
        while index is not None:
            if known[index]:
                ancestor = found[index]
                break
            path.append(index)
            index = parents[index]
            if index is not None and wanted[index]:
                ancestor = index
                break
        # No span on the path is wanted itself, so all of them have the same wanted ancestor.
        for passed in path:
            found[passed] = ancestor
            known[passed] = True
    return found


def in_order(parents: Parents, starts: Sequence[int | None]) -> list[int]:
    """Return the indices of spans in the order of their start, with each parent before its children.

    A span without a start takes that of its parent; a root without a start comes first.
    """
    children: list[list[int]] = [[] for _ in parents]
    ready: list[tuple[int, int]] = []
    for index, parent in enumerate(parents):
        if parent is None:
            ready.append((starts[index] or 0, index))
        else:
            children[parent].append(index)
    heapify(ready)
    order = []
    while ready:
        time, index = heappop(ready)
        order.append(index)
        for child in children[index]:
            heappush(ready, (starts[child] or time, child))
    return order

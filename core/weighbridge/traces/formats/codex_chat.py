"""Sessions of Codex converted to chat messages, with Codex's own records of tokens in `meta`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.calls import apart
from weighbridge.traces.chat.conversation import Run, are_messages, read_messages
from weighbridge.traces.chat.facts import Facts
from weighbridge.traces.chat.timed_messages import FIELDS_OF_CALLS, is_answer, joined, with_time
from weighbridge.traces.fields import added, counted, object_of, objects_of, scalars, string_of
from weighbridge.traces.formats.codex_rollouts import usage_in
from weighbridge.traces.formats.coding_agent_results import with_failures_of_coding_agents
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability, Trace, Usage

_COUNTS = "token_counts"
_FIELDS = frozenset({"messages", "meta"})
_REASONS: dict[Capability, str] = {
    "token_usage": "no record in meta has a total_token_usage",
    "timing": "no message has a timestamp in _metadata",
    "cost": "sessions record no cost, and this one no tokens to compute it from",
    "tool_definitions": "the session does not list its tools",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict or not are_messages(value.get("messages")):
        return False
    meta = object_of(value.get("meta"))
    counts = meta.get(_COUNTS)
    is_codex = "session_id" not in object_of(meta.get("session_meta"))
    return (
        is_codex
        and type(counts) is list
        and any(each.get("type") == "token_count" for each in objects_of(counts))
    )


def _read(value: dict[str, Any]) -> list[Trace]:
    meta = object_of(value["meta"])
    session = object_of(meta.get("session_meta"))
    counts = list(_counts_of_answers(meta[_COUNTS]))
    answers = list(_answers(value["messages"]))
    places = [index for index, message in enumerate(answers) if is_answer(message)]
    own = [usage for _, usage in counts] if len(places) == len(counts) else []
    run = Run(
        id=string_of(session.get("id")),
        usage=_sum_of(counts),
        counts=Counts(llm_calls=len(counts)) if counts else None,
        of_message={index: Facts(usage=usage) for index, usage in zip(places, own, strict=False)},
        totals_from="the last total_token_usage, and how often it grew" if counts else "",
        metadata=scalars(
            version=session.get("cli_version"), provider=session.get("model_provider")
        ),
    )
    run.notes.add_fields(value, _FIELDS, "session")
    trace = read_messages(answers, "codex-chat", run, _REASONS)
    return [replace(trace, steps=with_failures_of_coding_agents(trace.steps))]


def _answers(messages: list[Any]) -> Iterator[Any]:
    """Yield messages, with the parts of each answer as one: another answer follows only a result or a request.

    A message with more than a text and calls is none of these parts. An answer has the time of its last part.
    """
    parts: list[dict[str, Any]] = []
    for message in map(with_time, messages):
        is_part = is_answer(message) and message.keys() <= FIELDS_OF_CALLS and not apart(message)[1]
        if parts and not is_part:
            yield joined(parts)
            parts = []
        if is_part:
            parts.append(message)
        else:
            yield message
    if parts:
        yield joined(parts)


def _counts_of_answers(counts: list[Any]) -> Iterator[tuple[Usage, Usage | None]]:
    """Yield the session's total after each answer, and the answer's own usage; Codex repeats a count without a new answer."""
    before = None
    for count in objects_of(counts):
        info = object_of(count.get("info"))
        total = counted(usage_in(info.get("total_token_usage")))
        if total is not None and total != before:
            yield total, usage_in(info.get("last_token_usage"))
            before = total


def _sum_of(counts: list[tuple[Usage, Usage | None]]) -> Usage | None:
    """Return the last total, or the sum of the answers' usages if a total is less than one before: then it began again."""
    totals = [total.total or 0 for total, _ in counts]
    if totals != sorted(totals):
        return added(usage for _, usage in counts)
    return counts[-1][0] if counts else None


IMPORTER = Importer(
    id="codex-chat",
    name="Codex sessions as chat messages",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "meta.session_meta.id; of a tool call tool_calls[].id"),
        ("type", "role: adjacent messages of the assistant are one llm; each call is tool"),
        ("name, arguments", "tool_calls[].function, or a content part of type tool_call"),
        ("output", "content; of a tool call, the content of its tool message"),
        ("error", "a result that is Codex's text for a failure"),
        (
            "usage",
            "last_token_usage of the answer's count in meta.token_counts, if there are as many counts as answers",
        ),
        ("usage of the run", "the last total_token_usage in meta.token_counts"),
        ("model calls of the run", "how often total_token_usage grew, if that is more"),
        ("started_at, ended_at", "_metadata.timestamp"),
        ("metadata", "cli_version and model_provider of meta.session_meta"),
    ),
    tried_on="a real converted session",
    lacks="the tools, and the parts of the model's reasoning",
)

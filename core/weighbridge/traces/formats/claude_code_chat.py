"""Sessions of Claude Code converted to chat messages, those of sub-agents among them, with records of tokens in `meta`.

The converter writes each block of an answer as a message, and the answer's tokens so far at the time of each block.
"""

from __future__ import annotations

from bisect import bisect
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import PROGRAM, Run, are_messages, read_messages
from weighbridge.traces.chat.facts import Facts
from weighbridge.traces.chat.timed_messages import is_answer, joined, with_time
from weighbridge.traces.fields import object_of, objects_of, scalars, string_of, time_of, word_of
from weighbridge.traces.formats.codex_rollouts import usage_in
from weighbridge.traces.formats.coding_agent_results import with_failures_of_coding_agents
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Counts
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.traces.model import Capability, Trace, Usage

_LOOKED_AT = 20  #: number of messages by which the format is recognised
_COUNTS = "token_counts"
_SUB_AGENT = "assistant-subagent-"  #: beginning of the role of a sub-agent's messages
_OF_SUB_AGENTS = frozenset({"original_role", "source"})  #: fields of the metadata of their messages
_FIELDS = frozenset({"messages", "meta"})
_REASONS: dict[Capability, str] = {
    "token_usage": "no record in meta has the tokens of an answer",
    "timing": "no message has a timestamp in _metadata",
    "cost": "sessions record no cost, and this one no tokens to compute it from",
    "tool_definitions": "the session does not list its tools",
}
_UNREAD: dict[Capability, str] = {
    "cost": "the tokens that were written to the cache are not recorded"
}
_UNREAD_OF_SUB_AGENTS: dict[Capability, str] = {
    "llm_calls": "which messages of a sub-agent are one answer is not recorded",
    **dict.fromkeys(("token_usage", "cost"), "the tokens of sub-agents are not recorded"),
}


def _matches(value: Any) -> bool:
    if type(value) is not dict or type(value.get("messages")) is not list:
        return False
    meta = object_of(value.get("meta"))
    session = object_of(meta.get("session_meta"))
    is_session = type(session.get("session_id")) is str and type(meta.get(_COUNTS)) is list
    return is_session and are_messages([*map(_of_sub_agent, value["messages"][:_LOOKED_AT])])


def _of_sub_agent(message: Any) -> Any:
    """Return a message of a sub-agent in the role that it had in the sub-agent's session, under the sub-agent's name."""
    role = word_of(message.get("role")) if type(message) is dict else ""
    if not role.startswith(_SUB_AGENT):
        return message
    beside = object_of(message.get("_metadata"))
    rest = {name: item for name, item in beside.items() if name not in _OF_SUB_AGENTS}
    return {
        **message,
        "role": word_of(beside.get("original_role")) or "assistant",
        "name": role.removeprefix(_SUB_AGENT) or "subagent",
        "_metadata": rest,
    }


@dataclass(slots=True)
class _Counted:
    """The answer of one model call, as its blocks' records tell of it."""

    usage: Usage
    times: set[int]


def _read(value: dict[str, Any]) -> list[Trace]:
    meta = object_of(value["meta"])
    session = object_of(meta.get("session_meta"))
    counted = _answers_in(meta[_COUNTS], _request_times(value["messages"]))
    messages, of_message, others = _whole_answers(value["messages"], counted)
    has_sub_agents = any(is_answer(message) and "name" in message for message in messages)
    run = Run(
        id=string_of(session.get("session_id")),
        counts=Counts(llm_calls=len(counted) + others) if counted and not has_sub_agents else None,
        of_message=of_message,
        totals_from="token_counts of meta" if counted else "",
        metadata=scalars(version=session.get("version")),
    )
    run.notes.add_fields(value, _FIELDS, "session")
    if counted:
        run.notes.add("tokens written to the cache, which are not recorded")
    trace = read_messages(messages, "claude-code-chat", run, _REASONS)
    trace = replace(trace, steps=with_failures_of_coding_agents(trace.steps))
    lacking = (_UNREAD if counted else {}) | (_UNREAD_OF_SUB_AGENTS if has_sub_agents else {})
    return [with_unknown_part(trace, lacking)]


def _request_times(messages: list[Any]) -> list[int]:
    """Return the times of the user's messages in order."""
    asked = (with_time(each) for each in objects_of(messages) if each.get("role") == "user")
    return sorted(time for each in asked if (time := time_of(each.get("timestamp"))) is not None)


def _answers_in(counts: list[Any], requests: list[int]) -> list[_Counted]:
    """Return the answers that the records of their blocks tell of: all of an answer's have its input, and its output grows.

    None goes on after one of the `requests`, which are times of the user's messages.
    """
    answers: list[_Counted] = []
    before: Usage | None = None
    passed = 0  #: number of requests before the last record
    for count in objects_of(counts):
        recorded = object_of(object_of(count.get("info")).get("last_token_usage"))
        # The total leaves out the tokens read from the cache.
        usage = usage_in({**recorded, "total_tokens": None})
        if usage is None:
            continue
        time = time_of(count.get("_timestamp"))
        requested = passed if time is None else bisect(requests, time)
        if not answers or requested > passed or not _goes_on(before, usage):
            answers.append(_Counted(usage, set()))
        answers[-1].usage = usage
        if time is not None:
            answers[-1].times.add(time)
        before, passed = usage, requested
    return answers


def _goes_on(before: Usage | None, usage: Usage) -> bool:
    return (
        before is not None
        and (before.input_tokens, before.cached_tokens) == (usage.input_tokens, usage.cached_tokens)
        and (before.output_tokens or 0) <= (usage.output_tokens or 0)
    )


def _whole_answers(
    messages: Iterable[Any], counted: list[_Counted]
) -> tuple[list[Any], dict[int, Facts], int]:
    """Return messages with the blocks of each answer as one, the metadata of answers by index, and how many have no record.

    Results may stand between the blocks of one answer. Without a record, only blocks that follow each other are one answer.
    """
    answer_at: dict[int | None, int] = {
        time: number for number, each in enumerate(counted) for time in each.times
    }
    whole: list[list[Any]] = []  #: messages, each as its blocks
    at: dict[int, int] = {}  #: index of each answer with a record
    last: int | None = None  #: index of an answer without a record that ends with the last message
    others = 0
    for message in map(with_time, map(_of_sub_agent, messages)):
        number = None
        if is_answer(message) and "name" not in message:
            number = answer_at.get(time_of(message.get("timestamp")))
        place = last if number is None else at.get(number)
        is_block = is_answer(message)
        if is_block and place is not None and whole[place][0].get("name") == message.get("name"):
            whole[place].append(message)
            continue
        last = None
        if number is not None:
            at[number] = len(whole)
        elif is_block:
            last, others = len(whole), others + 1
        whole.append([_of_program(message)])
    facts = {index: Facts(usage=counted[number].usage) for number, index in at.items()}
    return [*map(joined, whole)], facts, others


def _of_program(message: Any) -> Any:
    """Return a message to a sub-agent as one of the program, because no user but the agent that started it wrote it."""
    is_given = type(message) is dict and message.get("role") == "user" and "name" in message
    return {**message, "role": PROGRAM} if is_given else message


IMPORTER = Importer(
    id="claude-code-chat",
    name="Claude Code sessions as chat messages",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "meta.session_meta.session_id; of a tool call tool_calls[].id"),
        (
            "type",
            "role: the assistant's messages at the times of one answer's records in meta.token_counts are one llm; each call is tool",
        ),
        ("name", "of a sub-agent's messages, the end of their role"),
        ("name, arguments", "tool_calls[].function, or a content part of type tool_call"),
        ("output", "content; of a tool call, the content of its tool message"),
        ("error", "a result that is Claude Code's text for a failure"),
        (
            "usage",
            "the last of the answer's records in meta.token_counts; input_tokens and cached_input_tokens are the input",
        ),
        ("model calls of the run", "the number of answers in meta.token_counts, if that is more"),
        ("started_at, ended_at", "_metadata.timestamp"),
        ("metadata", "version of meta.session_meta"),
    ),
    tried_on="real converted sessions, one of them with a sub-agent",
    lacks="the tools, the model's reasoning, the tokens written to the cache and those of sub-agents",
)

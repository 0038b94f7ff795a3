"""Haystack: messages as `ChatMessage.to_dict()` writes them, an agent's result or state, and the outputs of a pipeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import (
    CHAT_FIELDS,
    MESSAGE_FIELDS,
    Run,
    are_messages,
    read_messages,
)
from weighbridge.traces.chat.message_metadata import with_usage_of_metadata
from weighbridge.traces.equality import key_of
from weighbridge.traces.fields import (
    count_of,
    counted,
    counts_of,
    object_of,
    read_usage,
)
from weighbridge.traces.importer import Importer, objects_in
from weighbridge.traces.model import COUNTED
from weighbridge.traces.unread_counts import with_unknown_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge.traces.model import Capability, Counts, Trace, Usage

_KEYS = frozenset({"role", "meta", "name", "content"})
_OLDER_KEYS = {"_role": "role", "_meta": "meta", "_name": "name", "_content": "content"}
_MESSAGES, _REPLIES = "messages", "replies"
_RESULT, _REASONING = "tool_call_result", "reasoning"
_RUN_FIELDS = frozenset(
    {_MESSAGES, "last_message", "token_usage", "step_count", "tool_call_counts"}
)
_LOOKED_AT = 20
_PIPELINE = (
    "the outputs of a pipeline have those of its last components, not the calls of the others"
)
_REASONS: dict[Capability, str] = {
    "token_usage": "these answers have no usage in their meta; streamed ones have it if the request asks for it",
    "timing": "Haystack's messages have no times",
    "cost": "Haystack records no cost, and these messages have no tokens",
    "tool_definitions": "Haystack's messages come without the tools that were offered",
}


@dataclass(slots=True)
class _Said:
    """Messages of a run, with what an agent's result states beside them."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    beside: dict[str, Any] = field(default_factory=dict)
    is_of_pipeline: bool = False


def _matches(value: Any) -> bool:
    said = _said(value)
    return said is not None and bool(said.messages)


def _said(value: Any) -> _Said | None:
    """Return the messages that a value has; None if they are not in Haystack's form."""
    if type(value) is list:
        return _Said(_plain(value)) if _are_haystack(value) else None
    if type(value) is not dict:
        return None
    held = object_of(object_of(value.get("data")).get("serialized_data"))
    if "schema" in value and _are_haystack(held.get(_MESSAGES)):
        return _Said(_plain(held[_MESSAGES]), held)
    if _are_haystack(value.get(_MESSAGES)):
        return _Said(_plain(value[_MESSAGES]), value)
    return _of_pipeline(value)


def _of_pipeline(value: dict[str, Any]) -> _Said | None:
    """Return the messages in the outputs of a pipeline's components, each message once."""
    outputs = [held for held in value.values() if type(held) is dict]
    found: list[dict[str, Any]] = []
    known: set[Any] = set()  #: of the lists before, since one list may repeat a message
    if len(outputs) < len(value):
        return None
    for output in outputs:
        for key in (_MESSAGES, _REPLIES):
            if _are_haystack(output.get(key)):
                said = _plain(output[key])
                keys = list(map(key_of, said))
                found += [
                    each for each, of_it in zip(said, keys, strict=True) if of_it not in known
                ]
                known.update(keys)
    single = object_of(outputs[0]) if len(outputs) == 1 else {}
    return _Said(found, single if _MESSAGES in single else {}, True) if found else None


def _are_haystack(value: Any) -> bool:
    if type(value) is not list or not value:
        return False
    first = value[:_LOOKED_AT]
    return all(type(each) is dict for each in first) and (
        all(
            each.keys() == _KEYS and type(each["meta"]) is dict and are_messages([each])
            for each in first
        )
        or all(each.keys() >= _OLDER_KEYS.keys() for each in first)
    )


def _plain(messages: list[Any]) -> list[Any]:
    """Return messages with the keys of newer versions; what is no message is refused when they are read."""
    return [
        {_OLDER_KEYS.get(key, key): item for key, item in each.items()}
        if type(each) is dict
        else each
        for each in messages
    ]


def _read(value: Any) -> list[Trace]:
    said = _said(value) or _Said()
    run = Run(fields=MESSAGE_FIELDS)
    run.notes.add_fields(said.beside, _RUN_FIELDS, "run")
    messages = list(_first_choices(objects_in(said.messages, "message"), run))
    prepared = with_usage_of_metadata(map(_with_parts, messages))
    run.usage = _usage_of_run(said.beside, prepared)
    run.totals_from = "token_usage" if run.usage else ""
    run.counts = _counts_of_run(said.beside, prepared)
    trace = read_messages(prepared, "haystack", run, _REASONS)
    if not said.is_of_pipeline:
        return [trace]
    return [with_unknown_part(trace, dict.fromkeys(COUNTED, _PIPELINE))]


def _first_choices(messages: Iterable[dict[str, Any]], run: Run) -> Iterator[dict[str, Any]]:
    """Yield the messages without further choices of one model call, each of which repeats the call's tokens."""
    before: dict[str, Any] = {}
    for message in messages:
        index = object_of(message.get("meta")).get("index")
        if type(index) is int and index > 0 and before.get("role") == "assistant":
            run.notes.add("other choices of an answer")
            continue
        before = message
        yield message


def _usage_of_run(beside: dict[str, Any], messages: list[dict[str, Any]]) -> Usage | None:
    """Return the tokens that an agent's result states; None if each answer has its own, as also those of earlier runs."""
    answers = [each for each in messages if each.get("role") == "assistant"]
    if answers and all(read_usage(each.get("usage")) for each in answers):
        return None
    return counted(read_usage(beside.get("token_usage")))


def _counts_of_run(beside: dict[str, Any], messages: list[dict[str, Any]]) -> Counts | None:
    """Return the calls that an agent's result states, if the messages have fewer: an agent may have dropped some."""
    answers = sum(each.get("role") == "assistant" for each in messages)
    called = map(count_of, object_of(beside.get("tool_call_counts")).values())
    stated = count_of(beside.get("step_count")) or 0
    return counts_of(stated, sum(filter(None, called))) if stated > answers else None


def _with_parts(message: dict[str, Any]) -> dict[str, Any]:
    parts = message.get("content")
    return message if type(parts) is not list else {**message, "content": list(map(_part, parts))}


def _part(part: Any) -> Any:
    """Return a part in the form of other providers: results name the call that they answer."""
    held = object_of(part)
    if type(held.get(_RESULT)) is dict:
        result = held[_RESULT]
        origin = object_of(result.get("origin"))
        return {
            "type": "tool_result",
            "id": origin.get("id"),
            "name": origin.get("tool_name"),
            "content": result.get("result"),
            "is_error": result.get("error"),
        }
    if type(held.get(_REASONING)) is dict:
        return {"type": "reasoning", "text": held[_REASONING].get("reasoning_text")}
    return part


IMPORTER = Importer(
    id="haystack",
    name="Haystack messages",
    matches=_matches,
    read=_read,
    fields=(
        *CHAT_FIELDS,
        ("output of a tool call", "tool_call_result.result"),
        ("error", "tool_call_result.error: the result is the reason"),
        (
            "model, usage",
            "meta.model and meta.usage of an answer; token_usage of an agent's result",
        ),
        (
            "counts",
            "step_count and tool_call_counts of an agent's result, if the messages have fewer answers",
        ),
    ),
    lacks="times, cost and the tools offered; the tokens of streamed answers, unless the request asks for them; of a pipeline, the calls of components whose outputs it does not return",
    tried_on="records made with haystack-ai 3.4 and a scripted model",
)

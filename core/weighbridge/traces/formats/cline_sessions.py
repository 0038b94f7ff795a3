"""Sessions of Cline's SDK and command line: Anthropic's blocks, with the metrics, the model and the time of each message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.anthropic_blocks import Blocks
from weighbridge.traces.chat.conversation import Run, read_messages
from weighbridge.traces.fields import cost_of, id_of, object_of, string_of, time_of

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

_SESSION = frozenset({"sessionId", "messages"})
_FIELDS = _SESSION | {"version", "updated_at", "agent", "system_prompt"}
_METRICS, _MODEL, _TIME = "metrics", "modelInfo", "ts"
_MESSAGE_FIELDS = frozenset({_METRICS, _MODEL, _TIME})
_REASONS: dict[Capability, str] = {
    "token_usage": "no message of this session has metrics with tokens",
    "timing": "the messages of this session have no ts",
    "cost": "the metrics of this session have no cost",
    "tool_definitions": "a session does not keep the tools apart from the prompt",
}


def is_session(value: Any) -> bool:
    """Return whether a value is a session, one of whose messages has metrics and a model."""
    if type(value) is not dict or not value.keys() >= _SESSION:
        return False
    messages = value["messages"]
    return (
        type(value["sessionId"]) is str
        and type(messages) is list
        and all(type(message) is dict and type(message.get("role")) is str for message in messages)
        and any(
            type(message.get(_METRICS)) is type(message.get(_MODEL)) is dict for message in messages
        )
    )


def read_session(value: dict[str, Any]) -> Trace:
    """Return a session as a trace."""
    blocks = Blocks()
    blocks.notes.add_fields(value, _FIELDS, "session")
    if string_of(value.get("system_prompt")):
        blocks.add({"role": "system", "content": value["system_prompt"]})
    for message in value["messages"]:
        time, metrics = time_of(message.get(_TIME)), object_of(message.get(_METRICS))
        blocks.add(_as_anthropic(message), time, cost_of(metrics.get("cost")))
    run = Run(
        id=id_of(value.get("sessionId")),
        of_message=blocks.of_message,
        of_call=blocks.of_call,
        notes=blocks.notes,
    )
    return read_messages(blocks.messages, "cline", run, _REASONS)


def _as_anthropic(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with its model and usage; the input includes the tokens of caches."""
    metrics = object_of(message.get(_METRICS))
    cached, written = metrics.get("cacheReadTokens"), metrics.get("cacheWriteTokens")
    usage = {
        "prompt_tokens": metrics.get("inputTokens"),
        "completion_tokens": metrics.get("outputTokens"),
        "prompt_tokens_details": {"cached_tokens": cached, "cache_creation_tokens": written},
    }
    kept = {name: held for name, held in message.items() if name not in _MESSAGE_FIELDS}
    return {**kept, "model": object_of(message.get(_MODEL)).get("id"), "usage": usage}

"""Results of the batch APIs of OpenAI, of compatible providers and of Anthropic: an answer or an error on each line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import missing_of, object_of, string_of
from weighbridge.traces.formats import anthropic, openai_chat, openai_responses
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability

_ANSWERS = (openai_responses.IMPORTER, anthropic.IMPORTER, openai_chat.IMPORTER)
_ENDED = frozenset({"succeeded", "errored", "canceled", "expired"})
_REASONS: dict[Capability, str] = {
    "token_usage": "the result is an error, which states no tokens",
    "timing": "results of a batch carry no times",
    "cost": "results of a batch carry no cost",
    "tool_definitions": "results of a batch come without the requests",
}


def is_batch_result(value: Any) -> bool:
    """Return whether a JSON value has the shape of one result of a batch."""
    if type(value) is not dict or type(value.get("custom_id")) is not str or "inputs" in value:
        return False
    if "response" in value:
        return "error" in value and ("body" in object_of(value["response"]) or _failed(value))
    result = object_of(value.get("result"))
    return string_of(result.get("type")) in _ENDED


def _failed(value: dict[str, Any]) -> bool:
    return value["response"] is None and type(value["error"]) is dict


def _read(value: dict[str, Any]) -> list[Trace]:
    answer = object_of(value.get("response")).get("body") or object_of(value.get("result"))
    answer = object_of(object_of(answer).get("message")) or answer
    importer = next((known for known in _ANSWERS if known.matches(answer)), None)
    if importer is not None:
        trace = importer.read(answer)[0]
    else:
        error = _error(object_of(answer)) or _error(value)
        steps = (Step(id="s1", type="llm", error=error or _ended(value)),)
        trace = Trace(id=None, steps=steps, format="", missing=missing_of(steps, _REASONS))
    return [replace(trace, id=value["custom_id"], format="batch-results")]


def _error(value: dict[str, Any]) -> str | None:
    """Return the message of an error, which may be nested in other objects."""
    for _ in range(3):
        inner = object_of(value.get("error"))
        if not inner:
            return string_of(value.get("message")) or string_of(value.get("code"))
        value = inner
    return None


def _ended(value: dict[str, Any]) -> str:
    kind = string_of(object_of(value.get("result")).get("type"))
    return kind or "no answer that can be read"


IMPORTER = Importer(
    id="batch-results",
    name="results of batch APIs",
    matches=is_batch_result,
    read=_read,
    fields=(
        ("id", "custom_id"),
        ("everything of an answer", "response.body or result.message, as in its API's own format"),
        ("error", "error.message, also in response.body or result.error"),
    ),
    tried_on="a real result of Groq's batch API; synthetic ones of OpenAI's and Anthropic's",
    lacks="times, cost, tool definitions, and what was asked",
)

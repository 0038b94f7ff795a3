"""Answers of models in executions of n8n: as its models record them, and as nodes that call a provider return them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.fields import (
    cost_of,
    counted,
    finish_reason_in,
    finish_reason_of,
    object_of,
    objects_of,
    read_usage,
    string_of,
    text_of,
)

if TYPE_CHECKING:
    from weighbridge.traces.model import Usage

_MODEL_KEYS = ("model", "modelName", "model_name")
_ENDED_KEYS = ("finish_reason", "finishReason", "stop_reason")


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer, with what is known of the call."""

    text: str | None
    prompt: Any = None
    model: str | None = None
    finish_reason: str | None = None
    usage: Usage | None = None
    is_estimated: bool = False  #: whether n8n has estimated the usage
    cost_usd: float | None = None
    error: str | None = None


def answer_of(sent: Any, result: Any) -> Answer:
    """Return the answer of a model's run, from what it was given and what it returned."""
    asked, held = object_of(sent), object_of(result)
    response, options = object_of(held.get("response")), object_of(asked.get("options"))
    listed = response.get("generations")
    first = listed[0] if type(listed) is list and listed else None
    # Older versions have one list, newer ones a list for each prompt.
    made = objects_of(first if type(first) is list else listed)
    about = object_of(made[0].get("generationInfo")) if made else {}
    usages = [held.get("tokenUsage"), object_of(response.get("llmOutput")).get("tokenUsage")]
    stated = next((each for each in usages if counted(read_usage(each))), None)
    usage = counted(read_usage(stated or held.get("tokenUsageEstimate")))
    if usage and not stated:
        # The estimate is of texts, and an answer with calls alone has none.
        usage = structs.replace(usage, is_partial=not usage.output_tokens)
    cost = object_of(stated).get("cost", object_of(stated).get("totalCost"))
    texts = [each["text"] for each in made if type(each.get("text")) is str]
    messages = asked.get("messages")
    prompt = messages[0] if type(messages) is list and len(messages) == 1 else messages
    names = (about.get("model_name"), *map(options.get, _MODEL_KEYS))
    return Answer(
        text="\n".join(texts) or None,
        prompt=prompt or None,
        model=next(filter(None, map(string_of, names)), None),
        finish_reason=finish_reason_of(next(filter(None, map(about.get, _ENDED_KEYS)), None)),
        usage=usage,
        is_estimated=bool(usage and not stated),
        cost_usd=None if cost is None else cost_of(cost),
        error=error_in(result),
    )


def own_answer(result: dict[str, Any]) -> Answer:
    """Return the answer in a result of a node that calls a provider, which is the provider's response or a part of it."""
    usages = (result.get("usage"), result.get("usageMetadata"))
    ended = finish_reason_in(result) or result.get("finishReason")
    return Answer(
        text=_text_in(result),
        model=string_of(result.get("model")),
        finish_reason=finish_reason_of(ended),
        usage=next(filter(None, (counted(read_usage(each)) for each in usages)), None),
        error=error_in(result),
    )


def _text_in(response: dict[str, Any]) -> str | None:
    choices = objects_of(response.get("choices"))
    message = choices[0].get("message") if choices else response.get("message")
    held = object_of(message) or response
    content = held.get("content", held.get("output", held.get("text")))
    if type(content) is dict:  # Gemini's
        content = content.get("parts")
    if type(content) is not list:
        return string_of(content)
    # An item of OpenAI's Responses has parts of its own.
    texts = (text_of(part.get("content", [part])) for part in objects_of(content))
    return "\n".join(filter(None, texts)) or None


def error_in(item: Any) -> str | None:
    """Return the error in the item that n8n makes of a failure where a workflow goes on after it."""
    if type(item) is not dict or item.keys() != {"error"}:
        return None
    return string_of(item["error"]) or string_of(object_of(item["error"]).get("message"))

"""Streamed answers of model APIs: the events of one or more answers, in a list or one a line."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from msgspec import structs

from weighbridge.traces.chat.conversation import Facts, Run, read_messages
from weighbridge.traces.chat.provider_bodies import as_openai
from weighbridge.traces.chat.streamed_answers import completions_of, messages_of, responses_of
from weighbridge.traces.fields import (
    json_in,
    object_of,
    objects_of,
    read_usage,
    string_of,
    text_of,
    time_of,
    word_of,
)
from weighbridge.traces.formats import anthropic, openai_responses
from weighbridge.traces.importer import Importer, damaged

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Step, Trace

_LOOKED_AT = 20  #: number of events examined, one of which must belong to an API
_ANTHROPIC = frozenset(
    {
        *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
        *("message_delta", "message_stop"),
    }
)
_CHUNK = "chat.completion.chunk"
_CHUNKS = ("", _CHUNK)  #: values of `object` in chunks; Azure's first chunk has none
_BETWEEN = frozenset({"ping", "error", "keepalive"})  #: events that a stream of any API may have
_REASONS: dict[Capability, str] = {
    "token_usage": "no event of the stream has the usage",
    "timing": "the events carry no times but when an answer began",
    "cost": "the events carry no cost, and these no usage to compute it from",
    "tool_definitions": "the events come without the request, which lists the tools",
}

_Api = Literal["chat", "anthropic", "responses", "gemini"]


def _matches(value: Any) -> bool:
    return type(value) is list and _api(value) is not None


def _api(value: list[Any]) -> _Api | None:
    """Return the API that streamed a list of events; None if it is unknown, or if there are several."""
    found: set[_Api] = set()
    for each in value[:_LOOKED_AT]:
        event = _opened(each)
        if event is None:
            return None
        api = _api_of(event)
        if api is not None:
            found.add(api)
        elif word_of(event.get("type")) not in _BETWEEN and event.get("object") not in _CHUNKS:
            return None
    if found == {"gemini"}:
        return "gemini" if _is_one_answer(value) else None
    return found.pop() if len(found) == 1 else None


def _opened(value: Any) -> dict[str, Any] | None:
    """Return an event, taken out of an object with its name and raw data if it is in one."""
    if type(value) is not dict:
        return None
    held = value.get("data")
    if type(value.get("event")) is not str or held is None:
        return value
    if type(held) is str:
        try:
            held = json_in(held)
        except ValueError:
            return {"type": "ping"}  # such as [DONE]
    return held if type(held) is dict else None


def _api_of(event: dict[str, Any]) -> _Api | None:
    kind = event.get("type")
    if event.get("object") == _CHUNK and type(event.get("choices")) is list:
        return "chat"
    if type(kind) is str and kind in _ANTHROPIC:
        return "anthropic"
    if type(kind) is str and kind.startswith("response.") and "payload" not in event:
        return "responses"
    if type(event.get("candidates")) is list or type(event.get("promptFeedback")) is dict:
        return "gemini"
    return None


def _is_one_answer(value: list[Any]) -> bool:
    """Return whether bodies of Gemini are pieces of one answer: from one stream, with one ID, or with one finish reason."""
    if all(type(object_of(each).get("event")) is str for each in value):
        return True
    ids = {string_of(object_of(each).get("responseId")) for each in value}
    if len(value) < 2:
        return False
    ended = [
        any("finishReason" in each for each in objects_of(object_of(body).get("candidates")))
        for body in value
    ]
    return (len(ids) == 1 and None not in ids) or (ended[-1] and not any(ended[:-1]))


def _is_line(value: Any) -> bool:
    event = _opened(value)
    return event is not None and _api_of(event) in {"chat", "anthropic", "responses"}


def _read(value: list[Any]) -> list[Trace]:
    api = _api(value)
    events = [event for each in value if (event := _opened(each)) is not None]
    errors = [_error(event) for event in events if event.get("type") == "error"]
    events = [event for event in events if _api_of(event) == api]
    if api == "anthropic":
        [trace] = anthropic.IMPORTER.read(_some(messages_of(events)))
    elif api == "responses":
        [trace] = openai_responses.IMPORTER.read(_some(responses_of(events)))
    else:
        trace = _chat(completions_of(events) if api == "chat" else [_gemini(events)])
    if errors and trace.steps:
        trace = replace(trace, steps=_with_error(trace.steps, errors[-1]))
    return [replace(trace, format="api-stream")]


def _some(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    if not answers:
        raise damaged("the stream lacks the event with which an answer begins")
    return answers


def _error(event: dict[str, Any]) -> str:
    recorded = object_of(event.get("error"))
    return string_of(recorded.get("message")) or string_of(event.get("message")) or "error"


def _with_error(steps: tuple[Step, ...], error: str) -> tuple[Step, ...]:
    """Return the steps with an error on the last answer."""
    last = max((index for index, step in enumerate(steps) if step.type == "llm"), default=None)
    return tuple(
        structs.replace(step, error=step.error or error) if index == last else step
        for index, step in enumerate(steps)
    )


def _gemini(events: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the pieces of one answer of Gemini as a completion; the last usage covers the whole answer."""
    parts: list[Any] = []
    whole: dict[str, Any] = {}
    for event in events:
        whole |= {key: held for key, held in event.items() if held is not None}
        for candidate in objects_of(event.get("candidates"))[:1]:
            parts += objects_of(object_of(candidate.get("content")).get("parts"))
    texts = [text for part in parts if not part.get("thought") and (text := text_of([part]))]
    others = [part for part in parts if part.get("thought") or text_of([part]) is None]
    joined = [{"text": "".join(texts)}] if texts else []
    answered = [{"content": {"parts": [*joined, *others]}}] if "candidates" in whole else []
    return as_openai({**whole, "candidates": answered})


def _chat(bodies: list[dict[str, Any]]) -> Trace:
    run = Run(id=string_of(bodies[0].get("id") or bodies[0].get("responseId")))
    facts: dict[int, Facts] = {}
    for number, body in enumerate(bodies):
        facts[number] = Facts(
            model=string_of(body.get("model")),
            usage=read_usage(body.get("usage")),
            started_at=time_of(body.get("created")),
        )
        if len(body["choices"]) > 1:
            run.notes.add("other choices of the completion", len(body["choices"]) - 1)
    run.of_message = facts
    messages = [body["choices"][0]["message"] for body in bodies]
    return read_messages(messages, "api-stream", run, _REASONS)


IMPORTER = Importer(
    id="api-stream",
    name="streams of model APIs",
    matches=_matches,
    read=_read,
    is_line=_is_line,
    fields=(
        ("id", "id of the completion, message or response; of a tool call its id"),
        ("type", "each answer is llm, each call in it is tool"),
        ("name, arguments", "the pieces of tool_calls, of a tool_use block, or of an item"),
        ("output", "the pieces of the text"),
        ("error", "an event of type error; response.failed"),
        ("model", "model"),
        ("usage", "the last usage of an answer; message_start with message_delta; usageMetadata"),
        ("started_at", "created, created_at"),
    ),
    tried_on="real streams of Anthropic's, Google's and OpenAI's APIs",
    lacks="what was asked, tool definitions, results of calls, cost, and when an answer ended",
)

"""OpenAI chat messages, with `tool_calls` or the older `function_call`; also a chat completion with its request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat import (
    browser_actions,
    llama_index,
    message_metadata,
    skill_executions,
    timed_messages,
)
from weighbridge.traces.chat.anthropic_blocks import SINGLE_BLOCKS
from weighbridge.traces.chat.call_parts import CALL_FIELDS, first_of
from weighbridge.traces.chat.calls import SEVERAL_IN_ONE, calls_of
from weighbridge.traces.chat.conversation import Run, are_messages, ends_with, read_messages
from weighbridge.traces.chat.dialects import without_dialects
from weighbridge.traces.chat.exchanges import (
    APART,
    UNREAD,
    are_apart,
    body_of,
    has_response,
    joined,
)
from weighbridge.traces.chat.facts import Facts
from weighbridge.traces.chat.function_tags import with_tagged_calls
from weighbridge.traces.chat.litellm_records import (
    COST,
    ORIGINAL,
    original_answer,
    times_of_call,
    with_tools,
)
from weighbridge.traces.chat.litellm_records import FIELDS as LITELLM_FIELDS
from weighbridge.traces.chat.llama_index import with_memory
from weighbridge.traces.chat.prompt_completion import usage_of_run, with_joined_messages
from weighbridge.traces.chat.provider_bodies import as_openai
from weighbridge.traces.chat.roles import MODEL_ROLES
from weighbridge.traces.chat.sharegpt import are_turns, messages_of, with_messages
from weighbridge.traces.chat.stated_failures import with_errors_named
from weighbridge.traces.chat.thinking_messages import with_whole_answers
from weighbridge.traces.chat.unread_parts import missing_of_unread_parts
from weighbridge.traces.fields import (
    TOOL_FIELDS,
    cost_of,
    finish_reason_in,
    object_of,
    objects_of,
    read_usage,
    string_of,
    time_of,
    tools_field,
)
from weighbridge.traces.formats.coding_agent_results import with_failures_of_coding_agents
from weighbridge.traces.importer import Importer
from weighbridge.traces.model import COUNTED
from weighbridge.traces.unread_counts import missing_of_session, with_unknown_part

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace

#: Dialects of the messages, in the order of their conversions.
DIALECTS = (
    llama_index.DIALECT,
    skill_executions.DIALECT,
    message_metadata.DIALECT,
    browser_actions.DIALECT,
    SEVERAL_IN_ONE,
    SINGLE_BLOCKS,
    timed_messages.DIALECT,
)
_ANSWERS = ("response", "completion", "output", "outputs", "model_output", ORIGINAL)
_TEXTS = frozenset(_ANSWERS) - {"response", ORIGINAL}  #: those that may be a text
#: Keys that show that a request was answered; in a data set, `answer` may be the one that is wanted.
_ANSWERED = frozenset({*_ANSWERS, "answer"})
_CONTENTS = CALL_FIELDS | {"content", "contents", "parts", "blocks", "tool_responses", "refusal"}
_LOOKED_AT = 20  #: number of messages, one of which must have content or calls
_TOTAL = "token_usage"  #: key of the usage of a whole run
_STARTS, _ENDS = ("started_at", "start_time", "startTime"), ("ended_at", "end_time", "endTime")
_FIELDS = frozenset(
    {
        *(
            "id",
            "conversation_id",
            "messages",
            "choices",
            "tools",
            "functions",
            "model",
            "metadata",
            "usage",
        ),
        *("created", "object", "conversations", "cost", _TOTAL),
        *LITELLM_FIELDS,
        *_STARTS,
        *_ENDS,
    }
)
_REASONS: dict[Capability, str] = {
    "token_usage": "the messages carry no token counts",
    "timing": "the messages carry no times",
    "cost": "the messages carry no cost",
    "tool_definitions": "the messages come without the tools that were offered",
}


def _matches(value: Any) -> bool:
    if type(value) is not dict:
        return _are_said(value) or are_turns(value)
    whole = _whole(value)
    return _are_said(whole.get("messages")) or _answer(whole) is not None


def _are_said(value: Any) -> bool:
    """Return whether a value is a list of messages, and one of the first has content or calls.

    Messages of other programs have roles, too, but their texts are in other fields.
    """
    return are_messages(value) and not all(map(_CONTENTS.isdisjoint, value[:_LOOKED_AT]))


def _whole(value: dict[str, Any]) -> dict[str, Any]:
    """Return a request and its response as one object, if a value has them separately."""
    if are_apart(value):
        value = joined(value)
    whole = as_openai(with_joined_messages(with_messages(with_memory(value))))
    return _with_answer(whole) if "messages" in whole else whole


def _with_answer(request: dict[str, Any]) -> dict[str, Any]:
    """Return a request with the completion or the message that some programs keep among its fields."""
    if "choices" in request and _answer(request) is not None:
        return request
    for key in _ANSWERS:
        held = original_answer(request) if key == ORIGINAL else request.get(key)
        body = body_of(held)
        if key in _TEXTS and _answer(body) is None and (said := _said_in(held, key, request)):
            body = {"choices": [{"message": message} for message in said]}
        elif are_messages([body]):
            body = {"choices": [{"message": body}]}
        if _answer(body) is not None:
            return body | {name: held for name, held in request.items() if name != key}
    return request


def _said_in(held: Any, key: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the messages in an answer that is a text or a message, or a list of one; none in other values, and for an answered request.

    Under `outputs`, several texts are the choices of one answer.
    """
    messages: list[Any] = request.get("messages", [])
    if not are_messages(messages) or not _is_unanswered(request):
        return []
    listed = held if type(held) is list else [held]
    if len(listed) == 1 and are_messages(listed):
        said = listed
    else:
        texts = [
            each.get("text") if type(each) is dict and listed is held else each for each in listed
        ]
        are_given = all(type(text) is str for text in texts)
        is_one = len(texts) == 1 or key == "outputs"
        told = [text for text in texts if text or listed is held] if are_given and is_one else []
        said = [{"role": "assistant", "content": text} for text in told]
    return [] if said and _is_known(said[0], messages) else said


def _is_known(answer: dict[str, Any], messages: list[Any]) -> bool:
    """Return whether an answer is the last one among the messages, none of which asks anything after it."""
    content = object_of(messages[-1]).get("content") if messages else None
    if type(content) is str and "?" in content:
        return False
    answers = [each for each in objects_of(messages) if string_of(each.get("role")) in MODEL_ROLES]
    return ends_with(answers, answer)


def _is_unanswered(request: dict[str, Any]) -> bool:
    """Return whether the last message of a request is none of a model."""
    messages = request.get("messages")
    last = object_of(messages[-1]) if type(messages) is list and messages else {}
    role = last.get("role")
    return role is not None and string_of(role) not in MODEL_ROLES


def _answer(whole: dict[str, Any]) -> dict[str, Any] | None:
    """Return the message of a chat completion."""
    choices = whole.get("choices")
    if type(choices) is not list or not choices or type(choices[0]) is not dict:
        return None
    message = choices[0].get("message")
    if message is None and whole.get("object") == "text_completion":
        message = {"role": "assistant", "content": choices[0].get("text")}
    return message if are_messages([message]) else None


def _is_last(value: dict[str, Any], messages: list[Any]) -> bool:
    """Return whether a response in plain text repeats the last message, as in data sets of conversations."""
    last = object_of(messages[-1] if messages else None)
    text = string_of(value.get("response"))
    return text is not None and last.get("role") == "assistant" and last.get("content") == text


def _cost(whole: dict[str, Any]) -> float | None:
    """Return the cost of a request; LiteLLM writes 0 if it has no price."""
    stated = whole.get("cost")
    # It may also be an object with the costs of parts.
    stated = None if type(stated) is dict else cost_of(stated)
    return stated if stated is not None else cost_of(whole.get(COST)) or None


def _converted(messages: list[Any]) -> list[Any]:
    return with_whole_answers(without_dialects(messages, DIALECTS))


def _trace(messages: list[Any], run: Run) -> Trace:
    listed = list(with_tagged_calls(messages, run.tools))
    trace = read_messages(listed, "openai-chat", run, _REASONS)
    steps = with_errors_named(with_failures_of_coding_agents(trace.steps), listed)
    unread = missing_of_unread_parts(listed, steps)
    return replace(trace, steps=steps, missing={**unread, **trace.missing})


def _read(value: Any) -> list[Trace]:
    if type(value) is list:
        value = list(messages_of(value)) if are_turns(value) else value
        return [_trace(_converted(value), Run())]
    whole = with_tools(_whole(value))
    messages = whole.get("messages")
    messages = _converted(messages) if type(messages) is list else []
    metadata, tools = whole.get("metadata"), tools_field(whole)
    run = Run(
        id=string_of(whole.get("id")) or string_of(whole.get("conversation_id")),
        tools=whole.get(tools),
        model=string_of(whole.get("model")),
        metadata=metadata if type(metadata) is dict else {},
        cost_usd=_cost(whole),
        ended_at=time_of(first_of(whole, _ENDS)),
    )
    times = times_of_call(whole)
    if times is None:  # the times of the last call only
        run.started_at = time_of(first_of(whole, _STARTS))
    run.notes.add_fields(whole, _FIELDS | {tools}, "run")
    if are_apart(value):
        run.notes.add_fields(value, APART, "log")
    answer, usage = _answer(whole), read_usage(whole.get("usage"))
    answers = sum(object_of(message).get("role") == "assistant" for message in messages)
    stated = usage_of_run(whole.get(_TOTAL), answers)
    is_unread = answer is None and _has_unread_answer(value, whole, messages)
    if is_unread and are_apart(value):
        # The usage is that of the answer, not of the run.
        usage = usage and structs.replace(usage, is_partial=True)
    if answer is None:
        run.usage = usage or stated
        run.totals_from = "usage beside the messages" if usage else _TOTAL if stated else ""
    else:
        run.usage, run.totals_from = stated, _TOTAL if stated else ""
        if not ends_with(messages, answer):
            messages = [*messages, answer]
        began, ended = times or (time_of(whole.get("created")), None)
        facts = Facts(
            usage=usage,
            cost_usd=run.cost_usd,
            started_at=began,
            ended_at=ended,
            finish_reason=finish_reason_in(whole),
        )
        run.of_message, run.cost_usd = {len(messages) - 1: facts}, None
        _note_other_choices(run, whole["choices"])
    trace = _trace(messages, run)
    if is_unread:
        trace = with_unknown_part(trace, dict.fromkeys(COUNTED, UNREAD))
    return [with_unknown_part(trace, missing_of_session(whole))]


def _has_unread_answer(value: dict[str, Any], whole: dict[str, Any], messages: list[Any]) -> bool:
    """Return whether a request has an answer beside its messages, which is not the last of them."""
    has_answer = (
        has_response(value)
        or bool(value.get(ORIGINAL))
        or (_is_unanswered(whole) and any(_is_new(whole.get(key), messages) for key in _ANSWERED))
    )
    return has_answer and not _is_last(value, messages)


def _is_new(held: Any, messages: list[Any]) -> bool:
    """Return whether there is an answer, and it is not the text of the last one among the messages."""
    text = held[0] if type(held) is list and len(held) == 1 else held
    return bool(held) and not _is_known({"role": "assistant", "content": text}, messages)


def _note_other_choices(run: Run, choices: list[Any]) -> None:
    """Note the choices of a completion after the first, and the calls in them."""
    if len(choices) > 1:
        run.notes.add("other choices of the completion", len(choices) - 1)
        # Some proxies put the text into one choice and the calls into another.
        others = (object_of(choice.get("message")) for choice in objects_of(choices[1:]))
        run.notes.calls_left += sum(len(calls_of(other)) for other in others)


IMPORTER = Importer(
    id="openai-chat",
    name="OpenAI chat messages",
    matches=_matches,
    read=_read,
    is_general=True,
    tried_on="real chats of tau-bench and AgentDojo, and real answers of OpenAI, Azure and Google; synthetic ones of Bedrock, LlamaIndex, TRL and verifiers",
    fields=(
        ("id of a message", "id; else its number: s1, s2, ..."),
        ("id of a tool call", "tool_calls[].id; for function_call its place"),
        ("type", "role: assistant is llm; each of its calls is tool; a user's own calls are other"),
        (
            "name",
            "tool_calls[].function.name, tool_calls[].custom.name, function_call.name, skillExecutions[].slug",
        ),
        ("arguments", "function.arguments, custom.input, function_call.arguments"),
        (
            "output",
            "content, blocks of LlamaIndex, or refusal; of the answer to a request a text under completion, output, outputs or model_output; of a tool call, the content of its tool or function message",
        ),
        (
            "error",
            "error or is_error of the tool message; error of a functionResponse; a result that is Codex's or Claude Code's text for a failure, or without any marks a text of no command that begins with Error:",
        ),
        ("model", "model of the whole, or of the message"),
        (
            "finish_reason",
            "finish_reason of the choice, or of the message; finishReason, stopReason or done_reason of other providers",
        ),
        (
            "usage, cost_usd",
            "usage and cost of a completion, of a message, or of the whole; token_usage of the whole",
        ),
        (
            "started_at, ended_at",
            "timestamp, _metadata.timestamp or created_at of a message; created of a completion",
        ),
        ("tools", "the first with a definition of " + ", ".join(TOOL_FIELDS)),
    ),
    lacks="tokens, times and cost, unless they are stored next to the messages",
)

"""Why a model's answer ended, in the words of OpenTelemetry's conventions for generative AI."""

from __future__ import annotations

from typing import Any

from weighbridge.traces.fields.values import object_of

_LIMIT = 60  #: maximum length of a reason
#: The words of providers and frameworks, in lower case and with `_`, by OpenTelemetry's word.
_WORDS = {
    "stop": (
        *("stop", "end_turn", "endturn", "stop_sequence", "stopsequence", "complete", "completed"),
        *("eos", "eos_token", "finish_reason_stop", "eosfound", "stopstringfound"),
    ),
    "length": (
        *("length", "max_tokens", "maxtokens", "max_output_tokens", "model_length"),
        *("model_context_window_exceeded", "finish_reason_max_tokens"),
        *("maxpredictedtokensreached", "contextlengthreached"),
    ),
    "tool_call": (
        *("tool_call", "tool_calls", "toolcalls", "tool_use", "tooluse"),
        *("function_call", "function_calls"),
    ),
    "content_filter": (
        *("content_filter", "content_filtered", "contentfilter", "refusal", "safety", "recitation"),
        *("blocklist", "prohibited_content", "spii", "guardrail_intervened"),
    ),
    "error": (
        *("error", "malformed_function_call", "unexpected_tool_call", "malformed_tool_use"),
        "malformed_model_output",
    ),
}
_REASONS = {word: reason for reason, words in _WORDS.items() for word in words}


def finish_reason_of(value: Any) -> str | None:
    """Return why an answer ended: OpenTelemetry's word for it, or the source's own if there is none; None for no text.

    Of a list, which has a reason for each choice, the first one counts.
    """
    if type(value) is list and value:
        value = value[0]
    if type(value) is not str:
        return None
    known = _REASONS.get(value)
    if known is None:
        # Python prints the member of an enum with the name of its class.
        plain = value[:_LIMIT].rpartition(".")[2].lower().replace("-", "_")
        known = _REASONS.get(plain) or value[:_LIMIT]
    return known or None


def finish_reason_in(response: dict[str, Any]) -> Any:
    """Return why the answer in a response ended, of several choices the first one, in the provider's words."""
    choices = response.get("choices")
    held = object_of(choices[0]) if type(choices) is list and choices else response
    ended = held.get("finish_reason") or held.get("stop_reason")
    return ended or object_of(response.get("incomplete_details")).get("reason")

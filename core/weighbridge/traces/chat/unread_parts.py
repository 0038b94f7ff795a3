"""Parts of answers whose type is not known; in such parts, applications may record what their agents did between texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import opened
from weighbridge.traces.chat.dialects import fields_of
from weighbridge.traces.chat.roles import MODEL_ROLES
from weighbridge.traces.fields import objects_of, string_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.model import Capability, Step

_REASON = "the answers have parts of types that are not read, which may be calls: see what was not carried over"
_FIELDS = frozenset({"content", "blocks", "parts", "steps", "actions"})
#: Types of parts that are not calls: text, media, reasoning, sources and marks.
_NO_CALLS = frozenset(
    {
        *("text", "output_text", "input_text", "markdown", "refusal", "summary_text", "error"),
        *("image", "image_url", "input_image", "output_image", "audio", "input_audio", "audio_url"),
        *("output_audio", "video", "video_url", "file", "input_file", "document", "media"),
        *("think", "thought", "thoughts", "transcript", "image_file", "search_result"),
        *("reasoning_text", "summary", "citation", "citations", "source", "source-url"),
        *("source-document", "step-start", "cachePoint", "guardContent", "fallback", "message"),
    }
)
#: Prefix of the types of data that applications of Vercel's AI SDK send to their page.
_DATA_PREFIX = "data-"


def missing_of_unread_parts(
    messages: list[dict[str, Any]], steps: Sequence[Step]
) -> dict[Capability, str]:
    """Return tool calls and model calls as missing if answers have more unread parts than there are tool calls among the steps."""
    answers = [message for message in messages if message.get("role") in MODEL_ROLES]
    unread = 0
    for field in _FIELDS & fields_of(answers):
        for answer in answers:
            held = answer.get(field)
            if type(held) is list:
                unread += sum(map(_is_unread, objects_of(held)))
            elif type(held) is dict:
                unread += _is_unread(held)
    if not unread:
        return {}
    tool_calls = sum(step.type == "tool" for step in steps)
    return {"tool_calls": _REASON, "llm_calls": _REASON} if unread > tool_calls else {}


def _is_unread(part: dict[str, Any]) -> bool:
    kind = string_of(part.get("type")) or ""
    is_typed = bool(kind) or string_of(part.get("tool")) is not None
    is_said = kind in _NO_CALLS or kind.startswith(_DATA_PREFIX) or type(part.get("text")) is str
    return is_typed and not is_said and not opened(part)[0]

"""Messages in two lists, `prompt` and `completion`: TRL's conversational data sets, and results of the library verifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.conversation import are_messages, are_messages_or_none
from weighbridge.traces.fields import counted, object_of, read_usage, scalars

if TYPE_CHECKING:
    from weighbridge.traces.model import Usage

_PROMPT, _COMPLETION = "prompt", "completion"
_TIMING, _TOOLS = "timing", "tool_defs"
_READ = frozenset({_PROMPT, _COMPLETION, _TIMING, _TOOLS})
#: Keys of other objects that may have a prompt: whole runs, answers, and preferences between answers.
_OTHER_KEYS = frozenset({"messages", "choices", "chosen", "rejected"})
_METADATA = (
    *("example_id", "task", "reward", "is_completed", "is_truncated", "stop_condition"),
    *("rollout_number", "label"),
)


def with_joined_messages(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object of a prompt and its completion with the messages of both in one list; any other object unchanged.

    The completion has no messages if a run ended before its first answer.
    """
    prompt, completion = value.get(_PROMPT), value.get(_COMPLETION)
    if not (are_messages_or_none(prompt) and _OTHER_KEYS.isdisjoint(value)):
        return value
    if not (are_messages(completion) or (prompt and _broke_off(value))):
        return value
    timing = object_of(value.get(_TIMING))
    generation = object_of(timing.get("generation"))
    about = scalars(**{name: value.get(name) for name in _METADATA})
    return {
        "started_at": generation.get("start", timing.get("start_time")),
        "ended_at": generation.get("end"),
        **{key: held for key, held in value.items() if key not in _READ and key not in about},
        "metadata": about | object_of(value.get("metadata")),
        "tools": value.get("tools") or value.get(_TOOLS),
        "messages": [*(prompt or ()), *(completion or ())],
    }


def _broke_off(value: dict[str, Any]) -> bool:
    return "example_id" in value and value.get(_COMPLETION) in (None, [])


def usage_of_run(recorded: Any, answers: int) -> Usage | None:
    """Return the tokens that verifiers states for a run with a number of answers.

    Some versions that also state the tokens of the last request (`final_input_tokens`) exclude cached tokens from the
    input. The count is a lower bound if the last request shows this, or if several answers could hide it.
    """
    usage = counted(read_usage(recorded))
    held = object_of(recorded)
    last = read_usage(
        {
            "input_tokens": held.get("final_input_tokens"),
            "output_tokens": held.get("final_output_tokens"),
        }
    )
    if usage and last and (answers > 1 or (last.total or 0) > (usage.total or 0)):
        return structs.replace(usage, is_partial=True)
    return usage

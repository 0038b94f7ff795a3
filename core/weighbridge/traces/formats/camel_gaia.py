"""Results of CAMEL's benchmark GAIA: the calls of a run and its last answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.conversation import Run
from weighbridge.traces.fields import object_of, objects_of, scalars, string_of

if TYPE_CHECKING:
    from weighbridge.traces.chat.chat_log import ChatLog
    from weighbridge.traces.model import Capability

_FIELDS = frozenset({"task_id", "model_answer", "ground_truth", "tool_calls", "error", "score"})
_OPTIONAL_FIELDS = frozenset({"question", "level", "history"})
REASONS: dict[Capability, str] = {
    "token_usage": "a result of CAMEL's benchmark carries no tokens",
    "timing": "a result of CAMEL's benchmark has no times",
    "cost": "a result of CAMEL's benchmark carries no cost",
    "tool_definitions": "a result of CAMEL's benchmark does not keep the tools",
}
_LAST_ANSWER = "a result of CAMEL's benchmark has the last answer, and not each model call"
_FAILED = "a result of CAMEL's benchmark that ended in an error has no calls"


def is_result(value: Any) -> bool:
    """Return whether a value is the result of a run of one agent."""
    if type(value) is not dict or not _FIELDS <= value.keys() <= _FIELDS | _OPTIONAL_FIELDS:
        return False
    calls = value["tool_calls"]
    if type(calls) is not list or not all(map(_is_call, calls)):
        return False
    return type(value["history"]) is list if "history" in value else bool(string_of(value["error"]))


def _is_call(value: Any) -> bool:
    held = object_of(value)
    return "args" in held and "result" in held and ("func_name" in held or "tool_name" in held)


def calls_in(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the calls of a run; those of older versions get the newer field with the tool's name."""
    return [
        {"tool_name": call.get("func_name"), **call} for call in objects_of(result["tool_calls"])
    ]


def add_answer(result: dict[str, Any], chat: ChatLog) -> None:
    """Add the last answer: a message of CAMEL, or in newer versions the last message in the agent's memory."""
    history = result.get("history")
    if not history:
        return
    listed = history[0] if type(history[0]) is list else history
    messages = objects_of(listed)
    answers = [each for each in messages if each.get("role", "assistant") == "assistant"]
    if others := len(messages) - len(answers[-1:]):
        chat.notes.add("messages of the agent's memory", others)
    if answers:
        chat.answer(string_of(answers[-1].get("content")))


def run_of(result: dict[str, Any]) -> Run:
    """Return the data of the run in a result."""
    return Run(
        id=string_of(result["task_id"]),
        metadata=scalars(score=result["score"], level=result.get("level"), error=result["error"]),
    )


def lacking(result: dict[str, Any]) -> dict[Capability, str]:
    """Return the calls that a result lacks, with the reason."""
    if "history" not in result:
        return {"llm_calls": _FAILED, "tool_calls": _FAILED}
    return {"llm_calls": _LAST_ANSWER}

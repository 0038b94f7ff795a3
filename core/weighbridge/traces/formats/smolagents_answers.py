"""Answers of smolagents' benchmarks: a record for each question, with the agent's steps under `intermediate_steps`.

`examples/smolagents_benchmark` and `examples/open_deep_research` have written the steps in four forms: as objects, as the
messages made from an agent's memory, as a text in Python's notation for each step, and as one such text for all steps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import object_of, objects_of, python_object_in, text_of, word_of
from weighbridge.traces.formats.smolagents_reprs import (
    UNREAD,
    are_steps_in_python,
    is_step_in_python,
    step_in_python,
    steps_in_python,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability

STEPS = "intermediate_steps"
_ELSEWHERE = "open_deep_research also calls models outside of these steps: to phrase the answer, and in agents that are tools"
_NO_STEPS = "this record keeps none of the run's steps"
_CUT_OFF = "a step in Python's notation could not be read whole"
_LOOKED_AT = 20  #: number of steps by which the format is recognised
_OF_DEEP_RESEARCH = "augmented_question"
_OF_BENCHMARK = "agent_action_type"
_CALL = "tool-call"
_ROLES = frozenset({"system", "user", "assistant", _CALL, "tool-response"})
_TASK = "New task:\n"
_CALLS = "Calling tools:\n"
_is_result = re.compile(r"(?:Call id: [^\n]{0,200}\n)?(?:Tool calling o|O)bservation:\n").match
_is_failure = re.compile(r"(?:Call id: [^\n]{0,200}\n)?Error:\n").match
_PLANNED = "Now proceed and carry out this plan."
_CALLS_OF_RUN: tuple[Capability, ...] = ("llm_calls", "tool_calls")


def is_answer(value: Any) -> bool:
    """Return whether a value is a record of a benchmark's question."""
    if type(value) is not dict or STEPS not in value or type(value.get("question")) is not str:
        return False
    if _OF_DEEP_RESEARCH not in value and _OF_BENCHMARK not in value:
        return False
    steps = value[STEPS]
    if not steps:
        return True
    if type(steps) is str:
        return value.get(_OF_BENCHMARK) == "vanilla" or are_steps_in_python(steps)
    if type(steps) is not list:
        return False
    some = steps[:_LOOKED_AT]
    return all(map(_is_message, some)) or any(
        is_step_in_python(each) if type(each) is str else _is_step(each) for each in some
    )


def _is_message(value: Any) -> bool:
    return type(value) is dict and word_of(value.get("role")) in _ROLES and "content" in value


def _is_step(value: Any) -> bool:
    return type(value) is dict and "step_number" in value and "model_output" in value


def steps_of_answer(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of an answer in the form of a memory."""
    steps = answer[STEPS]
    asked = {"task": answer.get(_OF_DEEP_RESEARCH) or answer["question"]}
    if not steps:
        return [asked]
    if type(steps) is str:
        if are_steps_in_python(steps):
            return steps_in_python(steps)
        return [asked, _new_step(1, steps)]
    if all(map(_is_message, steps[:_LOOKED_AT])):
        return list(_steps_of_messages(objects_of(steps)))
    return [
        step_in_python(each) if type(each) is str else each
        for each in steps
        if type(each) in {str, dict}
    ]


def lacks_calls(answer: dict[str, Any], steps: list[dict[str, Any]]) -> dict[Capability, str]:
    """Return the calls that may be missing in an answer's steps, with the reason."""
    if not answer[STEPS]:
        return dict.fromkeys(_CALLS_OF_RUN, _NO_STEPS)
    if any(UNREAD in step for step in steps):
        return dict.fromkeys(_CALLS_OF_RUN, _CUT_OFF)
    return {"llm_calls": _ELSEWHERE} if _OF_DEEP_RESEARCH in answer else {}


def _new_step(number: int, said: str | None) -> dict[str, Any]:
    return {"step_number": number, "model_output": said, "tool_calls": None, "observations": None}


def _steps_of_messages(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the steps from which messages were made: an answer, its calls, their observations, and an error."""
    step: dict[str, Any] | None = None
    number = 0
    for message in messages:
        role, text = word_of(message.get("role")), text_of(message.get("content"))
        if text is None:  # the images from an action
            continue
        if role in {"system", "user"}:
            if step is not None:
                is_plan = text.strip() == _PLANNED and _may_have(step, "tool_calls")
                yield {"plan": step["model_output"]} if is_plan else step
                step = None
                if is_plan:
                    continue
            key = "system_prompt" if role == "system" else "task"
            yield {key: text.removeprefix(_TASK)}
            continue
        field, held = _held(role, text)
        if step is None or not _may_have(step, field):
            if step is not None:
                yield step
            number += 1
            step = _new_step(number, None)
        step[field] = held
        if field == "tool_calls" and type(held) is str:
            step |= {field: [{"function": {"name": None, "arguments": held}}], UNREAD: True}
    if step is not None:
        yield step


def _held(role: str, text: str) -> tuple[str, Any]:
    """Return the field of a step that a message was made from, and its value."""
    if role == _CALL or (
        role == "assistant" and text.startswith(_CALLS)
    ):  # the form of older versions
        written = text.removeprefix(_CALLS)
        return "tool_calls", _calls_in(written) or written
    if role == "assistant":
        return "model_output", text
    if _is_failure(text):
        return "error", text
    found = _is_result(text)
    return "observations", text[found.end() :] if found else text


_ORDER = ("model_output", "tool_calls", "observations", "error")


def _may_have(step: dict[str, Any], field: str) -> bool:
    """Return whether a step may get a field: it has neither that field nor one that comes after it."""
    return all(step.get(each) is None for each in _ORDER[_ORDER.index(field) :])


def _calls_in(text: str) -> list[dict[str, Any]]:
    """Return the calls in a list in Python's notation; none if the text is too long or cannot be parsed."""
    text = text.strip()
    # Forks of smolagents have the list in an object.
    held = python_object_in(text if text.startswith("{") else f"{{'tools': {text}}}")
    return objects_of(object_of(held).get("tools"))

"""Calls of OpenAI's `multi_tool_use.parallel`, a wrapper that a model may write around several calls: they are the calls."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from weighbridge.traces.chat.call_parts import json_of
from weighbridge.traces.fields import StepIds, object_of, parse_arguments, string_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Step, Trace

_NAMES = frozenset(
    {"multi_tool_use.parallel", "multi_tool_use_parallel", "functions.multi_tool_use.parallel"}
)
_USES, _RECIPIENT, _PARAMETERS = "tool_uses", "recipient_name", "parameters"
_NAMESPACE = "functions."  #: in which a model sees its tools
_ONE_RESULT = "results of calls made at once that are recorded as one, which the first call has"


def with_wrapped_calls(trace: Trace) -> Trace:
    """Return a trace with the calls within each wrapper in its place.

    A wrapper is kept if its calls are steps too, or if it is none of the tools that were offered and was not carried out: then
    it is a call of an unknown tool.
    """
    if not any(step.name in _NAMES and step.type == "tool" for step in trace.steps):
        return trace
    around = {step.parent_id for step in trace.steps}
    is_offered = not trace.tools or not _NAMES.isdisjoint(tool.name for tool in trace.tools)
    ids = StepIds()
    steps: list[Step] = []
    undivided = 0
    for step in trace.steps:
        is_call = is_offered or (step.output is not None and step.error is None)
        uses = _uses_of(step) if is_call and step.id not in around else []
        if not uses:
            steps.append(structs.replace(step, id=ids.take(step.id, len(steps) + 1)))
            continue
        outputs = _outputs_of(step.output, len(uses))
        undivided += len(uses) > 1 and step.output is not None and outputs[0] is step.output
        for call in _calls(step, uses, outputs):
            steps.append(structs.replace(call, id=ids.take(step.id, len(steps) + 1)))
    notes = (f"{_ONE_RESULT} ({undivided:,})",) if undivided else ()
    return replace(trace, steps=tuple(steps), not_carried=(*trace.not_carried, *notes))


def _uses_of(step: Step) -> list[Any]:
    """Return what a wrapper says of the calls within it; empty for another step."""
    if step.type != "tool" or step.name not in _NAMES:
        return []
    uses = object_of(json_of(step.arguments)).get(_USES)
    listed: list[Any] = uses if type(uses) is list else []
    return listed if any(_RECIPIENT in object_of(use) for use in listed) else []


def _calls(step: Step, uses: list[Any], outputs: list[Any]) -> Iterator[Step]:
    """Yield the calls within a wrapper; one that is not an object has no name."""
    for at, (use, output) in enumerate(zip(uses, outputs, strict=True)):
        held = object_of(use)
        name = string_of(held.get(_RECIPIENT))
        call = structs.replace(
            step,
            name=name and (name.removeprefix(_NAMESPACE) or None),
            arguments=parse_arguments(held.get(_PARAMETERS)),
            output=output,
        )
        yield structs.replace(call, usage=None, cost_usd=None, input=None) if at else call


def _outputs_of(output: Any, calls: int) -> list[Any]:
    """Return the output of each call: the items of a list that has one for each, or else all of it for the first call."""
    listed = json_of(output)
    if calls > 1 and type(listed) is list and len(listed) == calls:
        return listed
    return [output] + [None] * (calls - 1)

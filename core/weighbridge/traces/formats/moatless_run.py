"""Steps of a run of Moatless: messages, completions of models, and actions with their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import first_of
from weighbridge.traces.fields import (
    Notes,
    StepIds,
    cost_of,
    count_of,
    counted,
    object_of,
    objects_of,
    read_usage,
    string_of,
    text_of,
    time_of,
    usage_of,
)
from weighbridge.traces.model import Step

if TYPE_CHECKING:
    from weighbridge.traces.model import StepType, Usage

_COMPLETION_FIELDS = frozenset(
    {"model", "response", "usage", "retries", "attempts", "start_time", "end_time"}
)


class MoatlessRun:
    """Collects the steps of a run in their order."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.notes = Notes()
        self.retries = 0  #: number of repeated model calls, whose last attempt alone is recorded
        self.unrecorded = 0  #: number of actions whose completion is not recorded
        self._ids = StepIds()

    def say(self, kind: StepType, text: Any, error: str | None = None) -> None:
        """Add a message, or an error that belongs to no call."""
        self.steps.append(Step(id=self._next_id(), type=kind, output=text, error=error))

    def complete(
        self, completion: Any, name: str | None = None, said: Any = None, error: str | None = None
    ) -> str:
        """Add the model calls of a completion, which may not be recorded, and return the ID of the last one.

        `said` is the text of the answer if the completion does not have it.
        """
        held = object_of(completion)
        self.notes.add_fields(held, _COMPLETION_FIELDS, "completion")
        self.retries += count_of(held.get("retries")) or 0
        attempts = objects_of(held.get("attempts"))
        for attempt in attempts[:-1]:
            self._call(held, attempt, name, None, None)
        return self._call(held, attempts[-1] if attempts else held, name, said, error)

    def act(
        self, parent_id: str | None, name: str | None, arguments: Any, output: Any, **facts: Any
    ) -> None:
        """Add an action of an answer."""
        self.steps.append(
            Step(
                id=self._next_id(),
                type="tool",
                parent_id=parent_id,
                name=name,
                arguments={} if arguments is None else arguments,
                output=output,
                **facts,
            )
        )

    def _call(
        self,
        held: dict[str, Any],
        attempt: dict[str, Any],
        name: str | None,
        said: Any,
        error: str | None,
    ) -> str:
        response = object_of(held.get("response"))
        failure = string_of(attempt.get("failure_reason"))
        step = Step(
            id=self._next_id(),
            type="llm",
            name=name,
            output=_text(response) or said,
            error=error or failure,
            model=string_of(held.get("model")),
            usage=_usage(attempt.get("usage"), response.get("usage")),
            # A cost that could not be computed is 0.
            cost_usd=cost_of(object_of(attempt.get("usage")).get("completion_cost")) or None,
            started_at=time_of(attempt.get("start_time")) or time_of(response.get("created")),
            ended_at=time_of(attempt.get("end_time")),
        )
        self.steps.append(step)
        return step.id

    def _next_id(self) -> str:
        return self._ids.take(None, len(self.steps) + 1)


def _text(response: dict[str, Any]) -> str | None:
    """Return the text of an answer in OpenAI's or Anthropic's form."""
    choices = objects_of(response.get("choices"))
    message = object_of(choices[0].get("message")) if choices else response
    return text_of(message.get("content")) or None


def _usage(stated: Any, by_provider: Any) -> Usage | None:
    """Return the tokens of a completion: its own count, which includes retries, or the provider's for the last answer.

    If the provider's prompt count excludes tokens read from a cache, so does the completion's own count.
    """
    own, theirs = object_of(stated), object_of(by_provider)
    sent = count_of(own.get("prompt_tokens"))
    cached = count_of(first_of(own, ("cached_tokens", "cache_read_tokens")))
    is_apart = "cache_read_input_tokens" in theirs and "prompt_tokens" not in theirs
    if sent is not None and cached and (is_apart or cached > sent):
        sent += cached
    own_usage = counted(
        usage_of(
            sent,
            own.get("completion_tokens"),
            cached_tokens=cached,
            cache_write_tokens=own.get("cache_write_tokens"),
        )
    )
    usage = counted(read_usage(theirs))
    if usage is None or (own_usage is not None and (own_usage.total or 0) > (usage.total or 0)):
        return own_usage
    return usage

"""Traces that begin with the whole of another one, as the rows of a log of requests do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.text import pluralize

if TYPE_CHECKING:
    from weighbridge.traces import Step, Trace


class Histories:
    """Counts the traces of a file that begin with all steps of an earlier one, among them a model's answer."""

    def __init__(self) -> None:
        self._whole: set[int] = set()  #: hashes of the steps of each trace with an answer
        self._traces = 0
        self._repeating = 0

    def add(self, trace: Trace) -> None:
        """Add the next trace of the file."""
        self._traces += 1
        steps, is_answered, is_repeating = 0, False, False
        for step in trace.steps:
            is_repeating = is_repeating or (is_answered and steps in self._whole)
            steps = hash((steps, _hash_of(step)))
            is_answered = is_answered or (step.type == "llm" and bool(step.output))
        self._repeating += is_repeating
        if is_answered:
            self._whole.add(steps)

    def note(self) -> str:
        """Return the note that some traces have the calls of others; empty if none has."""
        if not self._repeating:
            return ""
        begins = "begins" if self._repeating == 1 else "begin"
        return (
            f"{self._repeating:,} of {pluralize(self._traces, 'trace')} {begins} with the whole of another one, "
            "as the rows of a log of requests do; its calls are counted in each"
        )


def _hash_of(step: Step) -> int:
    return hash((step.type, step.name, _text_of(step.output), _text_of(step.arguments)))


def _text_of(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)

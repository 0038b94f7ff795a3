"""A line's inputs, as its graders and receipts want them: each form made once, however many graders there are."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from weighbridge.errors import TraceError
from weighbridge.grading.receipt import canonical_json
from weighbridge.traces import read_trace


class Inputs:
    """The inputs of one line."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given

    @cached_property
    def canonical(self) -> bytes:
        """The inputs in RFC 8785 canonical form."""
        return canonical_json(self.given)

    @cached_property
    def with_trace_read(self) -> dict[str, Any]:
        """The inputs with the trace as a `Trace`; as they were given, where it cannot be read."""
        try:
            return {**self.given, "trace": read_trace(self.given["trace"])}
        except TraceError:
            return self.given  # each grader says why

"""Where a mapped trace is in its file, for errors that name the line of the step that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.errors import TraceError

_SHOWN = 60  #: characters of an id
LINE, ITEM = "line", "item"


@dataclass(frozen=True, slots=True)
class TracePlace:
    """The place of a trace: its line, its item in a document, or those of its steps; nothing if whoever reads it knows."""

    unit: str = ""  #: LINE or ITEM
    number: int = 0
    steps: Sequence[int] = ()  #: numbers of the lines or items that are its steps, if they are
    run: str = ""  #: what its run is called

    def fault(self, code: str, message: str, hint: str, step: int | None = None) -> Fault:
        """Return a fault that begins with the place, or with that of a step, which is given by its number in the trace."""
        return Fault(code, f"{self._of(step)}{message}", hint)

    def misfit(self, error: TraceError) -> Fault:
        """Return the fault for a trace that the mapping does not fit."""
        run = f" {self.run}" if self.run else ""
        message = f"the trace mapping does not fit{run}: {error.message}"
        return self.fault(ErrorCode.INVALID_FIELD, message, error.hint, error.step)

    def _of(self, step: int | None) -> str:
        if not self.unit:
            return ""
        number = self.steps[step - 1] if step and self.steps else self.number
        return f"{self.unit} {number:,}: "


def run_named(run: str) -> str:
    """Return a run by its id, in words."""
    return f"run {run[:_SHOWN]!r}"

"""The parent's record of a child between two checks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_worker.parent.death_causes import activity_of

if TYPE_CHECKING:
    from weighbridge.jobs.error_codes import ErrorCode
    from weighbridge_worker.scoreboard import SlotSnapshot


@dataclass(slots=True)
class ChildRecord:
    """The last observed state of a child; times are from `time.monotonic`."""

    sequence: int
    moved_at: float  #: when its job was first observed, or the last time that no job ran
    cpu_seconds: float = 0.0  #: CPU time at that moment
    token: str = ""
    graded_at: float = 0.0  #: when the chunk's first job was observed
    entered_at: float = 0.0
    renewed_at: float = 0.0
    missing_since: float = 0.0
    killed_for: ErrorCode | None = None
    external_cause: str = ""  #: reason why its end was not caused by a job
    reported: str = ""  #: how it ended

    def follow(self, seen: SlotSnapshot, now: float) -> None:
        """Update the record with the changes since the last check."""
        if seen.sequence != self.sequence:
            self.sequence, self.moved_at = seen.sequence, now
            activity = activity_of(seen.pid)
            self.cpu_seconds = activity.cpu_seconds if activity else 0.0
        if seen.work is None:
            self.moved_at = now
            return
        if seen.work.token != self.token:
            self.token, self.entered_at, self.renewed_at = seen.work.token, now, now
            self.graded_at = 0.0
        if seen.line is not None:
            self.graded_at = self.graded_at or now

    def external_cause_at_hard_limit(self, seen: SlotSnapshot, graded_limit_seconds: float) -> str:
        """Return the reason why reaching Celery's hard limit was not caused by a job; empty if it was.

        Celery's time starts with the message, so the child may have spent it waiting for the server.
        """
        graded = time.monotonic() - self.graded_at if self.graded_at else 0.0
        if seen.line is not None and graded >= graded_limit_seconds:
            return ""
        return "it spent most of that time waiting for Redis"

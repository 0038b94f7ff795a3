"""What the parent remembers of a child between two looks."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_worker.blame import activity_of

if TYPE_CHECKING:
    from weighbridge.jobs.model import ErrorCode
    from weighbridge_worker.scoreboard import SlotSnapshot


@dataclass(slots=True)
class ChildRecord:
    """A child as it was seen last; times are those of `time.monotonic`."""

    sequence: int
    moved_at: float  #: when its job was seen to begin, or no job ran
    cpu_seconds: float = 0.0  #: that it had used then
    token: str = ""
    graded_at: float = 0.0  #: when the chunk's first job was seen
    entered_at: float = 0.0
    renewed_at: float = 0.0
    missing_since: float = 0.0
    killed_for: ErrorCode | None = None
    excuse: str = ""  #: why its end is no job's doing
    reported: str = ""  #: how it ended

    def follow(self, seen: SlotSnapshot, now: float) -> None:
        """Take note of what has changed since the last look."""
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

    def excuse_at_hard_limit(self, seen: SlotSnapshot, graded_limit_seconds: float) -> str:
        """Return why Celery's hard limit is no job's doing; empty if it is.

        Celery counts from the message on, so the time may have gone by while the child waited for the server.
        """
        graded = time.monotonic() - self.graded_at if self.graded_at else 0.0
        if seen.line is not None and graded >= graded_limit_seconds:
            return ""
        return "most of its time it waited"

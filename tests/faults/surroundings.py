"""What every batch of a soak shares, and which answers of it pass."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from faults.incidents import Incidents
    from faults.surfaces import CliReader, HttpReader, Submissions

FINAL = frozenset({"completed", "cancelled", "expired", "failed"})
#: refusals of a server that is away, full or being changed, and of a producer that was killed: ask again
PASSING = frozenset(
    {
        "",
        "KILLED",
        "REDIS_ERROR",
        "REDIS_UNAVAILABLE",
        "REDIS_FULL",
        "IDEMPOTENCY_KEY_IN_USE",
        "TOO_MANY_UPLOADS",
        "TOO_MANY_STREAMS",
        "UPLOAD_SILENT",
        "INTERNAL_ERROR",
    }
)


@dataclass
class Surroundings:
    """What every batch of a soak shares."""

    folder: Path
    incidents: Incidents
    submissions: Submissions
    cli: CliReader
    http: HttpReader
    redis_url: str
    timeout_seconds: float = 300.0
    #: what result lines are turned into before they are judged, to show that the judgement finds it
    tamper: Callable[[list[bytes]], list[bytes]] = list
    #: set once a batch has a result
    working: threading.Event = field(default_factory=threading.Event)

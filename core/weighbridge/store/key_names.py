"""Names: of a batch, and of its keys, which share a hash tag and so lie together on a cluster."""

from __future__ import annotations

import re
import secrets
from typing import Any

KEYS = ("meta", "open", "chunks", "log", "ids")
#: What is not of one batch shares a hash tag of its own.
FLEET = "wb:{fleet}:"
BATCHES = f"{FLEET}batches"  #: all batches, by age
ACTIVE = f"{FLEET}active"  #: those that have not ended
DUE = f"{FLEET}due"  #: when the sweeper has to look at each of those, in ms
SWEEPER = f"{FLEET}sweeper"  #: the worker that sweeps, for a while
PAUSED = ""  #: stands first among the turns of a queue that is paused
LISTED_SECONDS = 366 * 24 * 3600  #: the longest that a list of batches looks back
_BATCH_ID = re.compile(r"wb_([0-9a-f]{8})_([0-9a-f]{1,8})_[0-9a-f]{20}")


def new_batch_id(created: int, lives_seconds: int) -> str:
    """Return a fresh batch id: when it was made, how long it lives, both in hexadecimal seconds, and 80 random bits."""
    return f"wb_{created:08x}_{lives_seconds:x}_{secrets.token_hex(10)}"


def opened_at(batch: str) -> float:
    """Return when a batch was opened, in seconds since the epoch; ValueError when it is no batch id."""
    return _times(batch)[0]


def dies_at(batch: str) -> float:
    """Return when a batch's keys die, in seconds since the epoch; ValueError when it is no batch id."""
    return sum(_times(batch))


def _times(batch: str) -> tuple[int, int]:
    found = _BATCH_ID.fullmatch(batch)
    if not found:
        raise ValueError(batch)
    return int(found[1], 16), int(found[2], 16)


def key(batch: str, name: str) -> str:
    """Return the key of that name of a batch."""
    return f"wb:{{{batch}}}:{name}"


def turns(queue: str, lane: str = "") -> str:
    """Return the key of the batches of a queue, or of one of its lanes, in the order of their turns."""
    return f"{FLEET}ready:{queue}{f'/{lane}' if lane else ''}"


def listing(project: str | None = None) -> str:
    """Return the key of the list of batches, newest last: of one project, or all."""
    return BATCHES if project is None else f"{BATCHES}:{project}"


def text(value: Any) -> str:
    """Return a server's answer as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)

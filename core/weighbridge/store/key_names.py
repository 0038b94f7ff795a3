"""Batch ids and key names; the keys of a batch share a hash tag, so a cluster keeps them on one node."""

from __future__ import annotations

import re
import secrets
from typing import Any

KEYS = ("meta", "open", "chunks", "log", "ids")


def shared_key(name: str) -> str:
    """Return the full name of a key that belongs to no batch; on a cluster these keys are on one node."""
    return f"wb:{{fleet}}:{name}"


BATCHES = shared_key("batches")  #: all batches, by age
ACTIVE = shared_key("active")  #: batches that have not ended
DUE = shared_key("due")  #: time in ms of the sweeper's next check of each active batch
SWEEPER = shared_key("sweeper")  #: name of the worker that currently sweeps; expires
PAUSED = shared_key("paused")  #: names of paused queues
LANE_SECONDS = 3600  #: how long the turns in a lane are kept after the last one was given
LISTED_SECONDS = 366 * 24 * 3600  #: maximum age of a batch in the lists
_BATCH_ID = re.compile(r"wb_([0-9a-f]{11})_([0-9a-f]{1,8})_[0-9a-f]{20}")


def new_batch_id(created: float, lives_seconds: int) -> str:
    """Return a new batch id: creation time in ms and lifetime in seconds, in hexadecimal, and 80 random bits.

    `created` is in seconds since the epoch. Ids are in the order of creation.
    """
    return f"wb_{round(created * 1000):011x}_{lives_seconds:x}_{secrets.token_hex(10)}"


def is_batch_id(text: str) -> bool:
    """Return whether a text has the form of a batch id."""
    return _BATCH_ID.fullmatch(text) is not None


def opened_at(batch: str) -> float:
    """Return when a batch was opened, in seconds since the epoch; ValueError if the id is invalid."""
    return _times(batch)[0]


def expires_at(batch: str) -> float:
    """Return when a batch's keys expire, in seconds since the epoch; ValueError if the id is invalid."""
    return sum(_times(batch))


def _times(batch: str) -> tuple[float, int]:
    found = _BATCH_ID.fullmatch(batch)
    if not found:
        raise ValueError(batch)
    return int(found[1], 16) / 1000, int(found[2], 16)


def key(batch: str, name: str) -> str:
    """Return the full name of a batch's key."""
    return f"wb:{{{batch}}}:{name}"


def turns(queue: str, lane: str = "") -> str:
    """Return the key of the turns (batches in scheduling order) of a queue or of one of its lanes."""
    return shared_key(f"ready:{queue}{f'/{lane}' if lane else ''}")


def listing(project: str | None = None) -> str:
    """Return the key of the list of all batches, or of one project's, newest last."""
    return BATCHES if project is None else f"{BATCHES}:{project}"


def text(value: Any) -> str:
    """Return a server's reply as text."""
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)

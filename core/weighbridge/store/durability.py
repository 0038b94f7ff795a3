"""Durability of the last writes to a server: on its disk, on its replicas, or only in its memory."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoPermissionError, ResponseError

from weighbridge.store.cluster import is_cluster
from weighbridge.text import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Queue = Callable[[Any], object]  #: adds a command to a pipeline


#: Pauses in seconds after each check of the sync; the server often notes a sync only with its next command.
_SYNC_PAUSES = (0.0, 0.0, 0.0005, *[0.001] * 18)


@dataclass(frozen=True, slots=True)
class Durability:
    """Where a server has confirmed writes to be, besides its memory."""

    #: Whether the server reports the writes as synced to disk (WAITAOF); None if it cannot tell. With appendfsync
    #: everysec, Valkey 9.1 and some releases of Redis report this up to a second too early.
    disk: bool | None
    replicas: int  #: number of replicas that have them in memory
    connected_replicas: int = 0
    append_only: bool = False  #: whether the server has an append-only file
    #: time that the confirmations took; 0 if there was nothing to wait for
    waited_seconds: float = 0.0
    limit_seconds: float = 0.0  #: time limit of each confirmation

    def __str__(self) -> str:
        if self.disk:
            return f"synced to disk, as the Redis server reports{self._copied()}"
        if self.disk is False:
            return f"not confirmed to be on the Redis server's disk within {self.limit_seconds:g} s{self._copied()}"
        if self.append_only:
            return f"written to the append-only file of a Redis server that cannot confirm its sync{self._copied()}"
        return f"in the Redis server's memory only{self._copied()}"

    def _copied(self) -> str:
        if not self.connected_replicas:
            return ""
        if self.replicas >= self.connected_replicas:
            return f", and copied to {pluralize(self.replicas, 'replica')}"
        return f", and copied to {self.replicas} of {pluralize(self.connected_replicas, 'replica')}"

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form, with the description as `text`."""
        return asdict(self) | {"text": str(self)}


def confirm(
    redis: Any, write: Queue, read: Queue, timeout_seconds: float
) -> tuple[Durability, Any]:
    """Wait until the server confirms earlier writes on its disk and on replicas, up to `timeout_seconds` for each.

    WAITAOF and WAIT only cover writes of their own connection, so `write` queues a write without effect, which the
    server orders after all writes that it has accepted. Also returns the reply to the command that `read` queues.
    """
    began = time.monotonic()
    durability, found = _confirmed(redis, write, read, timeout_seconds)
    if durability.append_only or durability.connected_replicas:
        durability = replace(durability, waited_seconds=round(time.monotonic() - began, 3))
    return durability, found


def _confirmed(
    redis: Any, write: Queue, read: Queue, timeout_seconds: float
) -> tuple[Durability, Any]:
    if is_cluster(redis):
        kept = redis.info("persistence"), redis.info("replication")
    else:
        pipe = redis.pipeline(transaction=False)
        write(pipe)
        pipe.client_id()
        pipe.info("persistence")
        pipe.info("replication")
        _, connection, *kept = pipe.execute()
        if early := _is_synced_soon(redis, connection, kept, timeout_seconds, read):
            return early
        # If the write and the wait arrived together, the server would check the sync only on its timer, every 0.1 s.
        found = _wait(redis, kept, timeout_seconds, read, lambda pipe: pipe.client_id())
        if found[-1] == connection:
            return found[:2]
    return _wait(redis, kept, timeout_seconds, read, write)[:2]


def _is_synced_soon(
    redis: Any,
    connection: int,
    kept: Sequence[dict[str, Any]],
    timeout_seconds: float,
    read: Queue,
) -> tuple[Durability, Any] | None:
    """Return the durability if the server's disk, and no replica, is to be waited for, and has the writes within 20 ms.

    While a sync is in progress, the server writes what came since only after its next command or on its timer, so a
    client that is blocked in WAITAOF waits for the timer. In a transaction WAITAOF does not block.
    """
    append_only, connected = _kept(kept)
    if not append_only or connected:
        return None
    for pause in _SYNC_PAUSES:
        pipe = redis.pipeline()
        pipe.client_id()
        pipe.execute_command("WAITAOF", 1, 0, 1)
        read(pipe)
        try:
            same, synced, found = pipe.execute()
        except ResponseError:  # `_wait` finds out which command was refused
            return None
        if same != connection:
            return None
        if synced[0]:
            return Durability(True, 0, append_only=True, limit_seconds=timeout_seconds), found
        time.sleep(pause)
    return None


def _wait(
    redis: Any, kept: Sequence[dict[str, Any]], timeout_seconds: float, read: Queue, first: Queue
) -> tuple[Durability, Any, Any]:
    """Return the durability of this connection's writes, and the replies to what `read` and `first` queue."""
    append_only, connected = _kept(kept)
    milliseconds = max(1, int(timeout_seconds * 1000))  # 0 would mean no limit
    pipe = redis.pipeline(transaction=False)
    first(pipe)
    if append_only:
        pipe.execute_command("WAITAOF", 1, 0, milliseconds)
    if connected:
        pipe.execute_command("WAIT", connected, milliseconds)
    read(pipe)
    *answers, found = pipe.execute(raise_on_error=False)
    for answer in (answers[0], found):
        if isinstance(answer, Exception):
            raise answer
    replicas = answers[-1] if connected else 0
    durability = Durability(
        disk=_on_disk(answers[1]) if append_only else None,
        replicas=0 if _is_refused(replicas) else int(replicas),
        connected_replicas=connected,
        append_only=append_only,
        limit_seconds=timeout_seconds,
    )
    return durability, found, answers[0]


def _kept(kept: Sequence[dict[str, Any]]) -> tuple[bool, int]:
    """Return whether the server has an append-only file, and its number of replicas."""
    return bool(kept[0].get("aof_enabled")), int(kept[1].get("connected_slaves") or 0)


def _on_disk(answer: Any) -> bool | None:
    return None if _is_refused(answer) else bool(answer[0])


def _is_refused(answer: Any) -> bool:
    """Return whether the server lacks the command or denies permission; raise any other error."""
    if isinstance(answer, NoPermissionError):
        return True
    if isinstance(answer, ResponseError):
        return "unknown command" in str(answer)
    if isinstance(answer, Exception):
        raise answer
    return False

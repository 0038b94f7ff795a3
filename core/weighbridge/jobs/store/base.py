"""The server, the scripts, and why a batch is not there."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from weighbridge.errors import BatchError, BatchExpiredError, BatchLostError, BatchNotFoundError
from weighbridge.jobs.connection import connect, plain_errors, server_time
from weighbridge.jobs.store.keys import KEYS, dies_at, key
from weighbridge.jobs.store.shapes import BatchOptions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from redis.commands.core import Script

_LUA = files("weighbridge.jobs") / "lua"


@contextmanager
def readable(batch: str) -> Iterator[None]:
    """Turn what reading damaged or forged fields of a batch raises into a BatchError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BatchError(
            f"batch {batch} cannot be read: what the server holds of it is damaged ({error})"[:300],
            "delete it; does something else write to this server?",
        ) from None


class StoreBase:
    """A connection to one Redis server, with the scripts at hand."""

    def __init__(self, url: str, *, patient: bool = True) -> None:
        self.url = url
        self._patient = patient
        # redis-py types every answer as a union over client kinds and protocols; ours is known, and checked by tests.
        self.redis: Any = connect(url, patient=patient)
        prelude = (_LUA / "prelude.lua").read_text()
        self._scripts: dict[str, Script] = {
            name: self.redis.register_script(prelude + (_LUA / f"{name}.lua").read_text())
            for name in (
                *("open_batch", "submit_chunk", "taken", "seal", "claim", "renew", "release"),
                *("record", "split", "strike", "sweep", "close", "reopen", "look", "claimants"),
            )
        }

    def close(self) -> None:
        """Drop the connections."""
        self.redis.close()

    @cached_property
    def _blocking(self) -> Any:
        # A read that waits for news must not hold the connection that others need.
        return connect(self.url, patient=self._patient)

    def _run(self, script: str, batch: str, *args: Any, more_keys: Sequence[str] = ()) -> Any:
        keys = [key(batch, name) for name in (*KEYS, *more_keys)]
        with plain_errors():
            return self._scripts[script](keys=keys, args=args)

    def now(self) -> float:
        """Return the server's time, by which batches begin and end, in seconds since the epoch."""
        return server_time(self.redis)

    def options(self, batch: str) -> BatchOptions:
        """Return what a batch was submitted with."""
        with plain_errors():
            data = self.redis.hget(key(batch, "meta"), "options")
        if data is None:
            raise self.missing(batch)
        with readable(batch):
            return BatchOptions.unpack(data)

    def missing(self, batch: str) -> BatchNotFoundError | BatchExpiredError | BatchLostError:
        """Say why a batch is not there."""
        try:
            dies = dies_at(batch)
        except ValueError:
            return BatchNotFoundError(
                f"{batch[:80]!r} is no batch id", "`weighbridge batches` lists them"
            )
        if self.now() >= dies:
            return BatchExpiredError(
                f"batch {batch} has expired, and its results are gone", "submit its input again"
            )
        with plain_errors():
            deleted = self.redis.exists(key(batch, "deleted"))
        if deleted:
            return BatchNotFoundError(f"batch {batch} was deleted", "submit its input again")
        return BatchLostError(
            f"batch {batch} should be on this server until {time.strftime('%F %T', time.gmtime(dies))} UTC and is not",
            "is this the right server? If it is, it has lost its data: is its append-only file on?",
        )

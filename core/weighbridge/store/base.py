"""Connection to the server, execution of the Lua scripts, and the error for a missing batch."""

from __future__ import annotations

import time
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError

from weighbridge.errors import BatchError, BatchExpiredError, BatchLostError, BatchNotFoundError
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.outcome import CUT_SHORT, UNGRADED, Outcome
from weighbridge.store.cluster import is_cluster
from weighbridge.store.connection import connect, server_time, translate_errors
from weighbridge.store.key_names import DUE, LANE_SECONDS, expires_at, key, text, turns
from weighbridge.store.records import BatchOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from redis.commands.core import Script

_SCRIPTS = files("weighbridge.store") / "scripts"


@cache
def source_of(script: str) -> str:
    """Return the source of a script, after the constants and functions that all scripts share."""
    constants = (
        f"local OUTCOMES, UNGRADED, CUT_SHORT = {_lua_list(Outcome)}, {_lua_list(UNGRADED.values())}, {_lua_list(CUT_SHORT)}\n"
        f"local LANE_SECONDS = {LANE_SECONDS}\n"
    )
    return constants + "".join(
        (_SCRIPTS / f"{name}.lua").read_text() for name in ("prelude", script)
    )


def _lua_list(names: Iterable[str]) -> str:
    return "{" + ", ".join(f"'{name}'" for name in names) + "}"


@contextmanager
def readable(batch: str) -> Iterator[None]:
    """Raise BatchError for the errors that damaged or forged fields of a batch cause."""
    try:
        yield
    except DAMAGED_DATA as error:
        raise BatchError(
            f"batch {batch} cannot be read: its data in Redis is damaged ({error})"[:300],
            "delete it, and check whether another program writes to this Redis server",
        ) from None


class StoreBase:
    """A connection to one Redis server, with the scripts registered."""

    def __init__(self, url: str, *, retry: bool = True) -> None:
        self.url = url
        self._retry = retry
        # redis-py types each reply as a union over client kinds and protocols; ours are known, and tested.
        self.redis: Any = connect(url, retry=retry)
        self.is_cluster = is_cluster(self.redis)
        self._scripts: dict[str, Script] = {
            name: self.redis.register_script(source_of(name))
            for name in (
                *(
                    "open_batch",
                    "submit_chunk",
                    "find_duplicates",
                    "seal",
                    "claim_next",
                    "renew",
                    "release",
                ),
                *(
                    "set_aside",
                    "record",
                    "split",
                    "count_failure",
                    "held_chunks",
                    "reschedule_check",
                ),
                *("close", "pause", "reopen", "scan_log", "unindexed_duplicates", "delete", "free"),
                "read_results",
            )
        }

        #: Names of scripts that the server has had; it may have been replaced since.
        self._found_loaded: set[str] = set()

    def close(self) -> None:
        """Close the connections."""
        self.redis.close()

    @cached_property
    def _blocking(self) -> Any:
        # A blocking read must not occupy the connection that other commands need.
        return connect(self.url, retry=self._retry)

    def forget_connections(self) -> None:
        """Close the connections, so that reads after a failover reach the new primary."""
        if readers := self.__dict__.pop("_blocking", None):
            readers.close()
        # A node of a cluster refuses keys for which it is not the master.
        if not self.is_cluster:
            self.redis.connection_pool.disconnect(inuse_connections=False)

    def _keys(self, batch: str, order: str = "") -> list[str]:
        """Return the KEYS that each script of a batch takes; `order` is the key of turns that it changes, if any."""
        return [key(batch, "meta"), *(() if self.is_cluster else (order or turns(""), DUE))]

    def _run_all(
        self,
        batch: str,
        calls: Sequence[tuple[Any, ...]],
        after: Callable[[Any], object] | None = None,
        client: Any = None,
        last: Sequence[tuple[Any, ...]] = (),
    ) -> list[Any]:
        """Run idempotent scripts in order and in one round trip, and return their replies.

        Each call is a script's name and its arguments after the batch. Raises the first error among the replies.
        `after` adds commands to the pipeline that run before the scripts, and whose replies are not returned. The
        commands in `last` run after the scripts; an error is their reply, also if they ran too early.
        """
        pipe = (client or self.redis).pipeline(transaction=False)
        if after:
            after(pipe)
        first = len(pipe)
        for name, *args in calls:
            sha, keys = self._scripts[name].sha, self._keys(batch)
            pipe.execute_command("EVALSHA", sha, len(keys), *keys, batch, *args)
        for command in last:
            pipe.execute_command(*command)
        with translate_errors():
            replies: list[Any] = pipe.execute(raise_on_error=False)
        end = first + len(calls)
        earlier, answers, later = replies[:first], replies[first:end], replies[end:]
        unknown = [at for at in range(len(calls)) if isinstance(answers[at], NoScriptError)]
        if unknown:
            # What came after a script that was not loaded ran too early. Calls are repeated in order.
            later = [answers[unknown[0]]] * len(later)
            for at in range(unknown[0], len(calls)):
                name, *args = calls[at]
                answers[at] = self._run(name, batch, *args, client=client)
        with translate_errors():
            for answer in (*earlier, *answers):
                if isinstance(answer, Exception):
                    raise answer
        self._found_loaded.update(name for name, *_ in calls)
        return [*answers, *later]

    def _run(self, script: str, batch: str, *args: Any, order: str = "", client: Any = None) -> Any:
        keys, registered = self._keys(batch, order), self._scripts[script]
        with translate_errors():
            try:
                return registered(keys=keys, args=[batch, *args], client=client)
            except NoScriptError:
                # The scripts were flushed, or a failover happened, between loading and running the script.
                if self.is_cluster:
                    return registered(keys=keys, args=[batch, *args], client=client)
                # Unlike EVAL, which our Redis users may not run, these two commands are in their ACL.
                pipe = (client or self.redis).pipeline(transaction=True)
                pipe.script_load(registered.script)
                pipe.evalsha(registered.sha, len(keys), *keys, batch, *args)
                _, answer = pipe.execute(raise_on_error=False)
                if isinstance(answer, Exception):
                    raise answer from None
                return answer

    def _take_turn(self, batch: str) -> None:
        """On a cluster, give a batch its turn and schedule a sweep; on one server the scripts do that."""
        if not self.is_cluster:
            return
        with translate_errors():
            meta = self.redis.hmget(key(batch, "meta"), ["ready", "queue"])
            if meta[0] == b"1":
                order = turns(text(meta[1]))
                first = self.redis.zrange(order, 0, 0, withscores=True)
                self.redis.zadd(order, {batch: first[0][1] if first else 0}, nx=True)
        self._schedule_check(batch, 1.0)

    def _schedule_check(self, batch: str, after_seconds: float) -> None:
        """On a cluster, schedule the sweeper's next check of a batch for a time, unless an earlier one is set."""
        if self.is_cluster:
            with translate_errors():
                self.redis.zadd(DUE, {batch: int((self.now() + after_seconds) * 1000)}, lt=True)

    def _forget_turns(self, batch: str, lanes: Iterable[str]) -> None:
        """Remove a batch from the turns of its queue and of the given lanes."""
        with translate_errors():
            queue = text(self.redis.hget(key(batch, "meta"), "queue") or b"")
            for lane in ("", *lanes):
                self.redis.zrem(turns(queue, lane), batch)

    def now(self) -> float:
        """Return the server's time, which all times of batches refer to, in seconds since the epoch."""
        return server_time(self.redis)

    def options(self, batch: str, packed: bytes = b"") -> BatchOptions:
        """Return the options that a batch was submitted with; `packed` are those that a claim returned, if any."""
        if not packed:
            with translate_errors():
                packed = self.redis.hget(key(batch, "meta"), "options")
        if packed is None:
            raise self.missing(batch)
        with readable(batch):
            return BatchOptions.unpack(packed)

    def missing(self, batch: str) -> BatchNotFoundError | BatchExpiredError | BatchLostError:
        """Return the error that says why a batch is missing."""
        try:
            dies = expires_at(batch)
        except ValueError:
            return BatchNotFoundError(
                f"{batch[:80]!r} is not a batch id", "`weighbridge batches` lists them"
            )
        if self.now() >= dies:
            return BatchExpiredError(
                f"batch {batch} has expired, and its results are gone", "submit its input again"
            )
        with translate_errors():
            deleted = self.redis.exists(key(batch, "deleted"))
        if deleted:
            return BatchNotFoundError(f"batch {batch} was deleted", "submit its input again")
        return BatchLostError(
            f"batch {batch} is not on this Redis server, and by its id should be until"
            f" {time.strftime('%F %T', time.gmtime(dies))} UTC",
            "check each character of the id, and the URL: `weighbridge batches` lists what is there; if both are right, the"
            " server has lost its data: check that its append-only file is on",
        )

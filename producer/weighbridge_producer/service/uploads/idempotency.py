"""Idempotency-Key: a repeated request continues the batch that the first one created."""

from __future__ import annotations

import re
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from redis.exceptions import LockError

from weighbridge.store.connection import translate_errors
from weighbridge.store.key_names import shared_key
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from redis.lock import Lock

KEPT_SECONDS = 24 * 3600
LEASE_SECONDS = 30.0
_VALID_KEY = re.compile(r"[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?")


class IdempotencyKeys:
    """The keys used in the last 24 hours, in the store and so common to all instances of the service."""

    def __init__(self, redis: Any) -> None:
        self._redis = redis

    def claim(self, caller: str, value: str, fingerprint: str) -> HeldKey:
        """Lock a caller's key for one request; ProblemError if it is locked, or was used for different content."""
        if not _VALID_KEY.fullmatch(value):
            raise ProblemError(
                *(422, "INVALID_REQUEST", "an Idempotency-Key has 1 to 255 printable characters"),
                "use a UUID, for example",
            )
        name = shared_key(f"idempotency:{sha256(f'{caller} {value}'.encode()).hexdigest()}")
        with translate_errors():
            # The lease expires if its holder dies.
            lease = self._redis.lock(f"{name}:lease", timeout=LEASE_SECONDS, thread_local=False)
            if not lease.acquire(blocking=False):
                raise ProblemError(
                    *(
                        409,
                        "IDEMPOTENCY_KEY_IN_USE",
                        "a request with this Idempotency-Key is running",
                    ),
                    "wait for its response, or send the request again later",
                    {"Retry-After": "5"},
                )
            held = HeldKey(self._redis, name, lease, fingerprint)
            known = self._redis.hget(name, "fingerprint")
        if known is not None and known.decode() != fingerprint:
            held.release()
            raise other_content("with other graders, metadata or strictness")
        return held


class HeldKey:
    """A key locked by one request."""

    def __init__(self, redis: Any, name: str, lease: Lock, fingerprint: str) -> None:
        self._redis = redis
        self._name = name
        self._lease = lease
        self._fingerprint = fingerprint

    def batch(self) -> str | None:
        """Return the batch created with the key, or None."""
        with translate_errors():
            found = self._redis.hget(self._name, "batch")
        return found.decode() if found else None

    def bind(self, batch: str) -> None:
        """Store the batch created with the key."""
        with translate_errors():
            pipe = self._redis.pipeline(transaction=True)
            pipe.hset(self._name, mapping={"fingerprint": self._fingerprint, "batch": batch})
            pipe.expire(self._name, KEPT_SECONDS)
            pipe.execute()

    def forget(self) -> None:
        """Remove the batch from the key, because it can never be completed, so that the key can create another."""
        with translate_errors():
            self._redis.delete(self._name)

    def renew(self) -> bool:
        """Extend the lock; return False if it has been lost."""
        with translate_errors():
            try:
                return bool(self._lease.reacquire())
            except LockError:
                return False

    def release(self) -> None:
        """Unlock the key."""
        # An expired lock may belong to another request by now.
        with translate_errors(), suppress(LockError):
            self._lease.release()


def other_content(how: str) -> ProblemError:
    """Return the problem of a key that was reused for different content."""
    return ProblemError(
        422,
        "IDEMPOTENCY_KEY_REUSED",
        f"this Idempotency-Key was used before, {how}",
        "use a new key for a different request; to repeat a request, send it unchanged",
    )

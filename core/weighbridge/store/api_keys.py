"""API keys: created and revoked in the store, which holds only a digest of each."""

from __future__ import annotations

import hmac
import math
import secrets
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel, Field, ValidationError

from weighbridge.errors import InvalidKeyError
from weighbridge.jobs.limits import NAME_LIMIT, VALID_NAME
from weighbridge.store.audit import Action, AuditLog, Entry, command_line_actor
from weighbridge.store.connection import server_time, translate_errors
from weighbridge.store.key_names import shared_key
from weighbridge.store.projects import DEFAULT_PROJECT, check_project

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.store.audit import Actor

API_KEYS = shared_key("api_keys")
KEYS_LIMIT = 1_000  #: maximum number of keys
_DAY_SECONDS = 24 * 3600.0
LONGEST_SECONDS = 100 * 366 * _DAY_SECONDS
_PREFIX = "wbk"
_ID_BYTES, _SECRET_BYTES = 6, 32
_TOKEN_LIMIT = 128  #: maximum length in characters; real tokens have 60
#: Compared with the secret if there is no such key; no secret has this digest.
_NO_DIGEST = "0" * 64


class Role(StrEnum):
    """Permissions of a key; each role includes those before it."""

    READ = "read"  #: view its project's batches and results, and the workers
    SUBMIT = "submit"  #: submit, resume, cancel and retry batches of its project, and try graders
    #: delete batches of its project, resume those of other keys, read its audit log
    MANAGE = "manage"
    #: all of that in every project; drain workers, pause queues, create and revoke keys, and view problems of Redis
    ADMIN = "admin"

    def includes(self, other: Role) -> bool:
        """Return whether this role has all permissions of the other."""
        roles = list(Role)
        return roles.index(self) >= roles.index(other)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """An API key without its secret."""

    id: str
    name: str
    role: Role
    project: str  #: gives access to its batches; for an admin key, the default of submissions
    created_at: float  #: seconds since the epoch
    expires_at: float | None = None  #: None: never

    def has_expired(self, now: float) -> bool:
        """Return whether the key has expired at a time of the server's clock."""
        return self.expires_at is not None and now >= self.expires_at


@dataclass(frozen=True, slots=True)
class KeyList:
    """All keys, and the server's time, which their expiry refers to."""

    keys: list[ApiKey]
    now: float  #: seconds since the epoch


class _StoredKey(BaseModel):
    """A key in its stored form."""

    name: str
    role: Role
    project: str
    created_at: float
    expires_at: float | None
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")


class ApiKeys:
    """The API keys stored on one server."""

    def __init__(self, redis: Any, actor: Actor | None = None) -> None:
        """Manage keys; the audit log names `actor`, by default the user of this process."""
        self._redis = redis
        self._actor = actor or command_line_actor()

    def make(
        self,
        name: str,
        role: Role,
        lives_seconds: float | None = None,
        *,
        project: str = DEFAULT_PROJECT,
    ) -> tuple[ApiKey, str]:
        """Create a key and return it with its token, which cannot be retrieved later.

        Raises InvalidKeyError, InvalidProjectError.
        """
        _check(name, role, lives_seconds)
        now = server_time(self._redis)
        expires = None if lives_seconds is None else now + lives_seconds
        made = secrets.token_hex(_ID_BYTES)
        key = ApiKey(made, name, Role(role), check_project(project), now, expires)
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        kept = asdict(key) | {"digest": _digest(secret)}
        with translate_errors():
            if self._redis.hlen(API_KEYS) >= KEYS_LIMIT:
                raise InvalidKeyError(f"there are {KEYS_LIMIT:,} keys already", "revoke some first")
            self._redis.hset(API_KEYS, key.id, orjson.dumps(kept))
        self._record(Action.MAKE_KEY, key)
        return key, f"{_PREFIX}_{key.id}_{secret}"

    def revoke(self, key_id: str) -> bool:
        """Revoke a key, effective immediately; return False if there is no such key."""
        field = key_id.encode(errors="replace")
        with translate_errors():
            found = _read(key_id, self._redis.hget(API_KEYS, field))
            if not self._redis.hdel(API_KEYS, field):
                return False
        if found:
            self._record(Action.REVOKE_KEY, found[0])
        return True

    def _record(self, action: Action, key: ApiKey) -> None:
        details = {"key": key.id, "name": key.name, "role": str(key.role)}
        entry = Entry(action, self._actor, key.project, details=details)
        AuditLog(self._redis).record(entry)

    def valid_among(self, key_ids: Sequence[str]) -> set[str]:
        """Return the ids among `key_ids` that are valid now, in one read."""
        if not key_ids:
            return set()
        with translate_errors():
            held = self._redis.hmget(API_KEYS, key_ids)
        found = [_read(*pair) for pair in zip(key_ids, held, strict=True)]
        now = server_time(self._redis)
        return {key.id for key, _ in filter(None, found) if not key.has_expired(now)}

    def all(self) -> list[ApiKey]:
        """Return all keys including expired ones, oldest first; entries that cannot be read are skipped."""
        with translate_errors():
            held = self._redis.hgetall(API_KEYS)
        found = [_read(key_id.decode(errors="replace"), data) for key_id, data in held.items()]
        return sorted(
            (key for key, _ in filter(None, found)), key=lambda key: (key.created_at, key.id)
        )

    def listed(self) -> KeyList:
        """Return all keys with the server's time."""
        return KeyList(self.all(), server_time(self._redis))

    def find(self, token: str) -> ApiKey | None:
        """Return the valid key that a token belongs to; None for any other token."""
        if len(token) > _TOKEN_LIMIT:
            return None
        prefix, _, rest = token.partition("_")
        key_id, _, secret = rest.partition("_")
        with translate_errors():
            data = self._redis.hget(API_KEYS, key_id.encode(errors="replace"))
        found = _read(key_id, data)
        # The comparison is made even if there is no such key, so that timing does not reveal which ids exist.
        same = hmac.compare_digest(found[1] if found else _NO_DIGEST, _digest(secret))
        if not found or not same or prefix != _PREFIX:
            return None
        ends = found[0].expires_at is not None
        return None if ends and found[0].has_expired(server_time(self._redis)) else found[0]


def _digest(secret: str) -> str:
    # A plain hash is enough: a secret has 256 random bits and cannot be guessed.
    return sha256(secret.encode(errors="replace")).hexdigest()


def _read(key_id: str, data: bytes | None) -> tuple[ApiKey, str] | None:
    """Return a stored key with its digest; None if it cannot be read."""
    try:
        kept = _StoredKey.model_validate_json(data or b"")
    except ValidationError:
        return None
    found = ApiKey(*(key_id, kept.name, kept.role, kept.project, kept.created_at, kept.expires_at))
    return found, kept.digest


def _check(name: str, role: str, lives_seconds: float | None) -> None:
    if not VALID_NAME.fullmatch(name) or not _is_writable(name):
        raise InvalidKeyError(
            f"{name[:80]!r} cannot be a key's name",
            f"give it 1 to {NAME_LIMIT} characters, none of them control characters",
        )
    if role not in list(Role):
        raise InvalidKeyError(
            f"there is no role {str(role)[:80]!r}", f"choose one of {', '.join(Role)}"
        )
    if lives_seconds is None:
        return
    if not math.isfinite(lives_seconds) or not 0 < lives_seconds <= LONGEST_SECONDS:
        raise InvalidKeyError(
            f"a key cannot be valid for {lives_seconds:g} seconds ({lives_seconds / _DAY_SECONDS:g} days)",
            f"choose more than 0 and at most {LONGEST_SECONDS:,.0f} seconds ({LONGEST_SECONDS / _DAY_SECONDS:,.0f} days),"
            " or no expiry",
        )


def _is_writable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True

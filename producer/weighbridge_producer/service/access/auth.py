"""API-key authentication, and dependencies for authorised access to batches with limits on large reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Annotated

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import (
    BatchNotFoundError,
    KeyRefusedError,
    KeyRequiredError,
    RoleTooLowError,
)
from weighbridge.store.api_keys import Role
from weighbridge.store.audit import Actor
from weighbridge.store.projects import DEFAULT_PROJECT, check_project
from weighbridge_producer.client.redis_batch import RedisBatch
from weighbridge_producer.service.limits.key_watch import PROJECT, key_ended
from weighbridge_producer.service.limits.slots import TURN_SECONDS, take_turn
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.service import Served, Service

COOKIE = "weighbridge_key"
WRONG_KEYS_PER_MINUTE = 20


@dataclass(frozen=True, slots=True)
class Identity:
    """The key's owner, role and project in a request."""

    role: Role
    key_id: str  #: empty if keys are not required
    name: str
    project: str

    @property
    def sees(self) -> str | None:
        """The project whose batches are visible; None for all."""
        return None if self.role is Role.ADMIN else self.project

    @property
    def actor(self) -> Actor:
        """The actor for the audit log."""
        return Actor(self.name, self.key_id)

    def project_for(self, named: str | None) -> str:
        """Return the project of a request: the key's, unless an admin names another."""
        if not named or named == self.project:
            return self.project
        if self.role is not Role.ADMIN:
            raise ProblemError(
                403,
                "OTHER_PROJECT",
                f"the API key belongs to the project {self.project!r}, not {named[:80]!r}",
                "leave the project out; only an admin key may name another",
            )
        return check_project(named)


#: Only declares in the OpenAPI document which routes need a key; `token_of` reads it.
_BEARER = HTTPBearer(
    auto_error=False, scheme_name="key", description="`weighbridge keys make` creates a key"
)

#: The identity of all requests if keys are not required.
LOCAL_ADMIN = Identity(Role.ADMIN, "", "local", DEFAULT_PROJECT)


def require(role: Role) -> Callable[..., Awaitable[Identity]]:
    """Return a dependency that requires a key with at least a given role."""

    async def identity(
        request: Request, service: Served, _: Annotated[object, Security(_BEARER)] = None
    ) -> Identity:
        if not service.keys_required:
            return LOCAL_ADMIN
        found = await run_in_threadpool(
            _identify, service, token_of(request), address_of(request), role
        )
        service.key_watch.add(found.key_id, key_ended(request.scope))
        request.scope[PROJECT] = found.project
        return found

    return identity


#: Dependencies that require a role, and provide the identity.
Reader = Annotated[Identity, Depends(require(Role.READ))]
Submitter = Annotated[Identity, Depends(require(Role.SUBMIT))]
Manager = Annotated[Identity, Depends(require(Role.MANAGE))]
Admin = Annotated[Identity, Depends(require(Role.ADMIN))]

BatchId = Annotated[str, Path(description="`batch_id` of the submission", examples=["wb_..."])]


def visible_batch(service: Service, identity: Identity, batch_id: str) -> RedisBatch:
    """Return a handle to a batch that is visible to an identity.

    For another project's batch this raises BatchNotFoundError, with the same message and after the same work as for a
    batch that does not exist.
    """
    project = identity.sees
    if project is not None and not service.projects.has(project, batch_id):
        raise BatchNotFoundError(
            f"there is no batch {batch_id[:80]!r}",
            "`weighbridge batches` and GET /api/batches list the batches",
        )
    return service.client.batch(batch_id, identity.actor)


async def _readable(batch_id: BatchId, service: Served, identity: Reader) -> RedisBatch:
    return await run_in_threadpool(visible_batch, service, identity, batch_id)


async def _submittable(batch_id: BatchId, service: Served, identity: Submitter) -> RedisBatch:
    return await run_in_threadpool(visible_batch, service, identity, batch_id)


async def _manageable(batch_id: BatchId, service: Served, identity: Manager) -> RedisBatch:
    return await run_in_threadpool(visible_batch, service, identity, batch_id)


#: The batch in a route's path, after authorisation; routes must not read the id themselves.
ReadBatch = Annotated[RedisBatch, Depends(_readable)]
SubmitBatch = Annotated[RedisBatch, Depends(_submittable)]
ManageBatch = Annotated[RedisBatch, Depends(_manageable)]


async def _large_read(request: Request, service: Served, _: Reader) -> None:
    await take_turn(request.scope, service.reads, timeout_seconds=TURN_SECONDS)


async def search_turn(request: Request, service: Served, _: Reader) -> None:
    """Wait for a turn to search results."""
    await take_turn(request.scope, service.searches, timeout_seconds=TURN_SECONDS)


#: A turn to read a case with its results, of up to 32 MiB each; granted only after authentication.
LargeRead = Annotated[None, Depends(_large_read)]
#: A turn to search results.
SearchTurn = Annotated[None, Depends(search_turn)]


def resumable_batch(service: Service, identity: Identity, batch_id: str) -> RedisBatch:
    """Return a batch to be resumed; allowed for the key that opened it, and for manage keys of its project."""
    batch = visible_batch(service, identity, batch_id)
    opened_by = batch.options().submitter_key
    if identity.role.includes(Role.MANAGE) or (opened_by and opened_by == identity.key_id):
        return batch
    raise ProblemError(
        403,
        "BATCH_OF_ANOTHER_KEY",
        f"another key opened batch {batch_id[:80]!r}",
        "resume it with that key, or with a manage key of the project; or submit the cases as a new batch",
    )


async def rate_limited(request: Request, service: Served) -> None:
    """Allow a request without a key, with the rate limit of a key."""
    limit = service.settings.rate_limit_per_minute
    if service.keys_required and limit:
        await run_in_threadpool(service.rate_limit.count, "open", address_of(request), limit)


def token_of(request: Request) -> str:
    """Return the key in a request's header or cookie; "" if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.cookies.get(COOKIE, "")


def address_of(request: Request) -> str:
    """Return a request's IP address; for IPv6 the /64 network, because one client can use all its addresses."""
    host = request.client.host if request.client else "unknown"
    with suppress(ValueError):
        address = ip_address(host.partition("%")[0])
        if isinstance(address, IPv6Address):
            return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
    return host


def _identify(service: Service, token: str, address: str, role: Role) -> Identity:
    """Return the identity of a key; raises KeyRequiredError, KeyRefusedError, RoleTooLowError or RateLimitedError."""
    if not token:
        raise KeyRequiredError(role)
    identity = sign_in(service, token, address)
    if limit := service.settings.rate_limit_per_minute:
        service.rate_limit.count("key", identity.key_id, limit)
    if not identity.role.includes(role):
        raise RoleTooLowError(identity.role, role)
    return identity


def sign_in(service: Service, token: str, address: str) -> Identity:
    """Return the identity of a token; raises KeyRefusedError or, after many wrong tokens, RateLimitedError."""
    key = service.keys.find(token)
    if key is None:
        # Valid keys are not limited by this, because several users may share an address.
        service.rate_limit.count("wrong", address, WRONG_KEYS_PER_MINUTE)
        raise KeyRefusedError
    return Identity(key.role, key.id, key.name, key.project)

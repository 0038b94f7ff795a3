"""Who asks, and what their key's role lets them do."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.security import HTTPBearer
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import KeyRefusedError, KeyRequiredError, RoleTooLowError
from weighbridge.jobs.api_keys import Role
from weighbridge_producer.http.service import Served, Service

COOKIE = "weighbridge_key"
WRONG_KEYS_PER_MINUTE = 20


@dataclass(frozen=True, slots=True)
class Identity:
    """Who asks."""

    role: Role
    key_id: str  #: empty where keys are off
    name: str


#: So that the OpenAPI document says which routes take a key; `token_of` reads it.
_BEARER = HTTPBearer(
    auto_error=False, scheme_name="key", description="`weighbridge keys make` makes one"
)

LOCAL = Identity(Role.ADMIN, "", "local")  #: everybody, where keys are off


def require(role: Role) -> Callable[..., Awaitable[Identity]]:
    """Return a dependency that lets in who has a key with that role, or a higher one."""

    async def identity(
        request: Request, service: Served, _: Annotated[object, Security(_BEARER)] = None
    ) -> Identity:
        if not service.keys_required:
            return LOCAL
        return await run_in_threadpool(
            _identify, service, token_of(request), address_of(request), role
        )

    return identity


#: Who may read, submit and administer; a route gets whose key it is.
Reader = Annotated[Identity, Depends(require(Role.READ))]
Submitter = Annotated[Identity, Depends(require(Role.SUBMIT))]
Admin = Annotated[Identity, Depends(require(Role.ADMIN))]


async def anybody(request: Request, service: Served) -> None:
    """Let in whoever asks, key or not, but not more often than a key could."""
    limit = service.settings.rate_limit_per_minute
    if service.keys_required and limit:
        await run_in_threadpool(service.rate_limit.count, "open", address_of(request), limit)


def token_of(request: Request) -> str:
    """Return the key that a request shows, in its header or cookie; "" for none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    return request.cookies.get(COOKIE, "")


def address_of(request: Request) -> str:
    """Return the address that a request comes from; of IPv6 the network, for whoever has one address has all in it."""
    host = request.client.host if request.client else "unknown"
    with suppress(ValueError):
        address = ip_address(host.partition("%")[0])
        if isinstance(address, IPv6Address):
            return str(address.ipv4_mapped or IPv6Network((int(address), 64), strict=False))
    return host


def _identify(service: Service, token: str, address: str, role: Role) -> Identity:
    """Return whose key it is; KeyRequiredError, KeyRefusedError, RoleTooLowError or RateLimitedError."""
    if not token:
        raise KeyRequiredError(role)
    identity = sign_in(service, token, address)
    if limit := service.settings.rate_limit_per_minute:
        service.rate_limit.count("key", identity.key_id, limit)
    if not identity.role.includes(role):
        raise RoleTooLowError(identity.role, role)
    return identity


def sign_in(service: Service, token: str, address: str) -> Identity:
    """Return whose key a token is; KeyRefusedError, and RateLimitedError for who tries many."""
    key = service.keys.find(token)
    if key is None:
        # A key that is right is let in all the same: others may share the address.
        service.rate_limit.count("wrong", address, WRONG_KEYS_PER_MINUTE)
        raise KeyRefusedError
    return Identity(key.role, key.id, key.name)

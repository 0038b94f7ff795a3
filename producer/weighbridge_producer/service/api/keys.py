"""Routes for admins to create, list and revoke API keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec
from fastapi import APIRouter, Path
from pydantic import BaseModel, Field

from weighbridge.errors import NoSuchKeyError
from weighbridge.store.api_keys import LONGEST_SECONDS, Role
from weighbridge.store.projects import DEFAULT_PROJECT
from weighbridge_producer.batch_shapes import ApiKeyInfo, CreatedApiKey
from weighbridge_producer.service.access.auth import Admin
from weighbridge_producer.service.service import Served

router = APIRouter(prefix="/api/keys", tags=["operations"])


@dataclass(frozen=True, slots=True)
class ApiKeyList:
    """All API keys, including expired ones, oldest first."""

    keys: Annotated[list[ApiKeyInfo], Field(description="the keys, oldest first")]
    now: Annotated[
        float, Field(description="seconds since the epoch: the server's time, by which keys expire")
    ]


class NewApiKey(BaseModel, extra="forbid"):
    """Parameters of a new API key."""

    name: str = Field(description="a name that identifies who or what uses the key")
    role: Role = Field(description="what the key may do")
    project: str = Field(
        DEFAULT_PROJECT, description="the project whose batches the key gives access to"
    )
    lives_seconds: float | None = Field(
        None,
        description=f"more than 0 and at most {LONGEST_SECONDS:,.0f}; null: valid until it is revoked",
    )


@router.get("", response_description="the keys without their secrets")
def list_keys(service: Served, _: Admin) -> ApiKeyList:
    """Return the API keys, without their secrets."""
    return msgspec.convert(service.client.keys(), ApiKeyList, from_attributes=True)


@router.post("", status_code=201, response_description="the key, which is shown only here")
def make_key(new: NewApiKey, service: Served, identity: Admin) -> CreatedApiKey:
    """Create an API key and return it; it cannot be retrieved later, because only a digest is stored."""
    key, token = service.client.make_key(
        new.name, new.role, new.lives_seconds, project=new.project, actor=identity.actor
    )
    return CreatedApiKey.of(key, token)


@router.delete("/{key_id}", status_code=204, response_description="revoked; there is no body")
def revoke_key(
    key_id: Annotated[str, Path(description="the id of a key, as listed")],
    service: Served,
    identity: Admin,
) -> None:
    """Revoke an API key, effective immediately."""
    if not service.client.revoke_key(key_id, identity.actor):
        raise NoSuchKeyError(key_id)

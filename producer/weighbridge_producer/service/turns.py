"""Requests that take much memory or time take turns; who waits holds no thread.

`Security` ends a turn when the answer is counted among the bytes that wait to be read, or when the request ends: no more
answers are in memory than have a turn or are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends, Request

from weighbridge_producer.service.auth import Reader
from weighbridge_producer.service.service import Served

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from weighbridge_producer.limits import Slot, Slots
    from weighbridge_producer.service.auth import Identity
    from weighbridge_producer.service.service import Service

_TURN = "weighbridge.turn"
_PATIENCE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Turns:
    """The turns of one request."""

    scope: MutableMapping[str, Any]
    project: str

    async def take(self, slots: Slots, *, patience_seconds: float | None = None) -> Slot:
        """Wait for a turn, which ends with the next piece of answer; the refusal of the slots is raised in its place."""
        end_turn(self.scope)
        slot = await slots.turn(self.project, patience_seconds=patience_seconds)
        self.scope[_TURN] = slot
        return slot


def end_turn(scope: MutableMapping[str, Any]) -> None:
    """End the turn that a request has, if it has one."""
    slot: Slot | None = scope.pop(_TURN, None)
    if slot:
        slot.release()


async def _large_read(request: Request, service: Served, identity: Reader) -> None:
    turns = Turns(request.scope, identity.project)
    await turns.take(service.reads, patience_seconds=_PATIENCE_SECONDS)


async def _search(request: Request, service: Served, identity: Reader) -> None:
    await search_turn(request, service, identity)


async def search_turn(request: Request, service: Service, identity: Identity) -> None:
    """Wait for a turn to look through results."""
    turns = Turns(request.scope, identity.project)
    await turns.take(service.searches, patience_seconds=_PATIENCE_SECONDS)


#: To read a case with its results, of up to 32 MiB each. Named behind the key, so that who has none does not wait.
LargeRead = Annotated[None, Depends(_large_read)]
#: To look through results.
SearchTurn = Annotated[None, Depends(_search)]

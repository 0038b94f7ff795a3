"""Route of server-sent events with a batch's state."""

from __future__ import annotations

from contextlib import ExitStack, aclosing
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Header, Response
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import WeighbridgeError
from weighbridge_producer.service.access.auth import ReadBatch, Reader
from weighbridge_producer.service.caches.live_batches import Snapshot, problem_event, sse_event
from weighbridge_producer.service.problems import problem_of
from weighbridge_producer.service.responses.slot_stream import HeldStream
from weighbridge_producer.service.service import Served

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from weighbridge_producer.service.service import Service

EVENT_STREAM = "text/event-stream"
_EVENT = {
    "type": "object",
    "properties": {
        "event": {"type": "string", "enum": ["counts", "end", "problem"]},
        "id": {"type": "string"},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "description": "the batch's state; for `problem` a problem document",
        },
        "retry": {"type": "integer"},
    },
}
_HEARTBEAT = b":\n\n"
_RETRY = b"retry: 2000\n\n"

router = APIRouter(prefix="/api/batches", tags=["batches"])


@router.get(
    "/{batch_id}/events",
    responses={
        200: {
            "description": "`counts` with the batch's state whenever it changes, `end` once it has ended, `problem` when"
            " it no longer exists",
            "content": {EVENT_STREAM: {"itemSchema": _EVENT}},
        },
        204: {"description": "Last-Event-ID is that of `end`: there will be no more events"},
    },
    response_class=Response,
)
async def batch_events(
    service: Served,
    identity: Reader,
    batch: ReadBatch,
    last_event_id: Annotated[
        str, Header(description="the id of the last event seen; it is not sent again")
    ] = "",
) -> Response:
    """Stream a batch's state after each change, as server-sent events, until the batch ends."""
    with ExitStack() as held:
        slot = held.enter_context(service.listeners.take(identity.project))
        state = await run_in_threadpool(batch.status)
        if state.status.final and last_event_id == _end_id(Snapshot.of(state)):
            return Response(status_code=204)
        held.pop_all()
        return HeldStream(
            *(_events(service, batch.id, last_event_id), [slot], EVENT_STREAM),
            headers={"X-Accel-Buffering": "no"},
        )


async def _events(service: Service, batch_id: str, seen: str) -> AsyncGenerator[bytes]:
    yield _RETRY
    try:
        async with aclosing(service.live.snapshots(batch_id)) as snapshots:
            async for snapshot in snapshots:
                if snapshot is None:
                    yield _HEARTBEAT
                    continue
                if snapshot.etag != seen:
                    yield snapshot.event
                seen = ""
                if snapshot.state.status.final:
                    yield sse_event("end", _end_id(snapshot), snapshot.data)
    except WeighbridgeError as error:
        yield problem_event(problem_of(error), f"/api/batches/{batch_id}/events")


def _end_id(snapshot: Snapshot) -> str:
    return f"{snapshot.etag}-end"

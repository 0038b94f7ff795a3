"""Filters the broker's messages: only Weighbridge's wake-up messages reach the worker, without untrusted headers.

Anyone with access to the broker can write to the queue. Celery trusts its content: a single item that is not a
message, or a header of an unexpected type, stops the worker, or is put back for the next one.
"""

from __future__ import annotations

import base64
import logging
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from weighbridge.broker import transport
from weighbridge.broker.wake_up import GRADE_TASK, WakeUp

if TYPE_CHECKING:
    from collections.abc import Sequence

_MESSAGE_LIMIT_BYTES = 16_384  #: ten times the size of our messages
_SHOWN_BYTES = 200
_log = logging.getLogger("weighbridge.worker")


class _Admission:
    """Mixin for kombu's channels that checks each item before kombu parses it."""

    sep: str

    def _create_client(self, asynchronous: bool = False) -> Any:
        client: Any = super()._create_client(asynchronous)  # type: ignore[misc]
        client.set_response_callback("BRPOP", self._admit)
        return client

    def _admit(self, found: Sequence[bytes] | None, **_: Any) -> tuple[bytes, bytes] | None:
        """Return the key and item from BRPOP, or None to drop the item."""
        if not found:
            return None
        key, item = found
        queue = key.decode(errors="replace").rsplit(self.sep, 1)[0]
        if message := sanitize(item, queue):
            return key, message
        # BRPOP has already removed it from the queue.
        _log.warning(
            "dropped a message on queue %r that is not from Weighbridge: %r; find the program that sent it",
            *(queue, item[:_SHOWN_BYTES]),
        )
        return None


class Channel(_Admission, transport.Channel):
    """A channel of a single server."""


class SentinelChannel(_Admission, transport.SentinelChannel):
    """A channel of the primary reported by Sentinel."""


class Transport(transport.Transport):
    """The transport for a single server."""

    Channel = Channel


class SentinelTransport(transport.SentinelTransport):
    """The transport for Sentinel."""

    Channel = SentinelChannel


def register() -> None:
    """Register these transports for Celery in this process, for all forms of broker URLs."""
    transport.name_transports(Transport, SentinelTransport)


def sanitize(item: bytes, queue: str) -> bytes | None:
    """Return a clean wake-up message for an item, without time limits or dates; None if it is not one of ours."""
    if len(item) > _MESSAGE_LIMIT_BYTES:
        return None
    try:
        match orjson.loads(item):
            case {
                "headers": {"task": task, "id": str(task_id)},
                "properties": {"body_encoding": "base64"},
                "body": str(body),
            } if task == GRADE_TASK:
                payload = orjson.loads(base64.b64decode(body, validate=True))
            case _:
                return None
    except ValueError:
        return None
    match payload:
        case [[], said, dict()] if message := WakeUp.parse(said):
            return _message(task_id, message, queue)
    return None


def _message(task_id: str, message: WakeUp, queue: str) -> bytes:
    arguments = [[], message.as_arguments(), {}]
    return orjson.dumps(
        {
            "body": base64.b64encode(orjson.dumps(arguments)).decode(),
            "content-type": "application/json",
            "content-encoding": "utf-8",
            "headers": {"lang": "py", "task": GRADE_TASK, "id": task_id, "root_id": task_id},
            "properties": {
                "correlation_id": task_id,
                "delivery_info": {"exchange": "", "routing_key": queue},
                # New, because two messages with the same tag would be acknowledged together.
                "delivery_tag": str(uuid4()),
                "priority": 0,
                "body_encoding": "base64",
            },
        }
    )

"""The one message between producers and workers: it wakes a worker, and names no chunk."""

from __future__ import annotations

import base64
from typing import Any, NamedTuple
from uuid import uuid4

import orjson

from weighbridge.jobs.limits import SCHEMA_VERSION

GRADE_TASK = "weighbridge.grade_chunk"


class WakeUp(NamedTuple):
    """What a wake-up message says; its fields are the arguments of the task."""

    schema_version: int = SCHEMA_VERSION
    lane: str = ""  #: the lane that it is for; empty: any chunk of the queue
    hops: int = 0  #: how often workers without the lane's capability have sent it on

    @classmethod
    def parse(cls, said: object) -> WakeUp | None:
        """Return the message with these arguments; None if they are not those of a wake-up."""
        match said:
            case {"schema_version": int(version), "lane": str(lane), "hops": int(hops)}:
                # From a negative number of hops on, the limit would never be reached.
                return cls(version, lane, hops) if hops >= 0 else None
        return None

    def to_bytes(self, queue: str, task_id: str = "") -> bytes:
        """Return the item of a queue's list that Celery reads as a call of the task.

        It is a message of Celery's protocol 2 in the envelope of kombu's Redis transport
        (https://docs.celeryq.dev/en/stable/internals/protocol.html), without the headers that workers do not need.
        Celery takes ten times as long to make one.
        """
        task_id = task_id or str(uuid4())
        arguments = [[], self._asdict(), {}]
        return orjson.dumps(
            {
                "body": base64.b64encode(orjson.dumps(arguments)).decode(),
                "content-type": "application/json",
                "content-encoding": "utf-8",
                "headers": {"lang": "py", "task": GRADE_TASK, "id": task_id, "root_id": task_id},
                "properties": {
                    "correlation_id": task_id,
                    "delivery_info": {"exchange": "", "routing_key": queue},
                    # A new one, because two messages with the same tag would be acknowledged together.
                    "delivery_tag": str(uuid4()),
                    "priority": 0,
                    "body_encoding": "base64",
                },
            }
        )

    @classmethod
    def from_bytes(cls, item: bytes) -> tuple[WakeUp, str] | None:
        """Return the wake-up in an item of a queue's list, and the id of its task; None if it is not one of ours."""
        try:
            match orjson.loads(item):
                case {
                    "headers": {"task": task, "id": str(task_id)},
                    "properties": {"body_encoding": "base64"},
                    "body": str(body),
                } if task == GRADE_TASK:
                    payload: Any = orjson.loads(base64.b64decode(body, validate=True))
                case _:
                    return None
        except ValueError:
            return None
        match payload:
            case [[], said, dict()] if message := cls.parse(said):
                return message, task_id
        return None

"""The one message between producers and workers: it wakes a worker, and names no chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.limits import SCHEMA_VERSION

if TYPE_CHECKING:
    from celery.app.base import Celery

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

    def as_arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of the task."""
        return self._asdict()


class _Sent:
    """The result object of a sent message; Celery's own class spends 20 ms per thread looking for a result backend."""

    def __init__(self, task_id: str) -> None:
        self.id = task_id


def send_wake_up(app: Celery, message: WakeUp, queue: str, **retrying: Any) -> None:
    """Send a wake-up message to a queue; `retrying` are Celery's options `retry` and `retry_policy`."""
    app.send_task(
        GRADE_TASK,
        kwargs=message.as_arguments(),
        # The default exchange needs no look-up of bindings on the broker.
        exchange="",
        routing_key=queue,
        ignore_result=True,
        # Only for Celery's logs, and slow to make from the arguments.
        argsrepr="...",
        kwargsrepr="...",
        result_cls=_Sent,  # type: ignore[arg-type]
        add_to_parent=False,  # do not add it to the results of the task that sends it
        **retrying,
    )

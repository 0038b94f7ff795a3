"""The Celery application: one task, and signal handlers that start and stop the supervisor and the children."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from billiard.exceptions import WorkerLostError
from billiard.process import current_process
from celery import Task, bootsteps, signals
from celery.worker.components import Pool
from celery.worker.request import Request

from weighbridge.broker.publisher import Publisher
from weighbridge.broker.wake_up import GRADE_TASK
from weighbridge.child_process import collect_garbage_seldom, tie_to_parent
from weighbridge.errors import ServerError, WeighbridgeError
from weighbridge.graders.registry import default_registry
from weighbridge.jobs.limits import SCHEMA_VERSION
from weighbridge.settings import DEFAULT_REDIS_URL, read_settings
from weighbridge.store.addresses import checked_url
from weighbridge.store.worker_registry import WorkerInfo
from weighbridge_worker.celery_settings import make_celery
from weighbridge_worker.child.child import Child
from weighbridge_worker.child_cgroups import ChildCgroups
from weighbridge_worker.child_lock import ChildLock
from weighbridge_worker.logs import configure_logging
from weighbridge_worker.parent.child_end import how_it_ended
from weighbridge_worker.parent.memory_watch import BETWEEN_JOBS_FACTOR
from weighbridge_worker.parent.supervisor import Supervisor
from weighbridge_worker.scoreboard import Scoreboard

if TYPE_CHECKING:
    from celery import Celery

_REPORT_SECONDS = 0.25
_log = logging.getLogger("weighbridge.worker")

settings = read_settings()
# Checked here, because Celery would retry an invalid address forever.
store_url = checked_url(settings.store_address or DEFAULT_REDIS_URL)
broker_url = settings.broker_address or DEFAULT_REDIS_URL
app: Celery = make_celery(settings, broker_url)
app.set_current()
app.conf.worker_pool = "weighbridge_worker.child_pool:ChildTaskPool"


class _WorkerState:
    """State of a worker process besides its Celery application, inherited by children through fork."""

    def __init__(self) -> None:
        self.scoreboard = Scoreboard(1)  # replaced when the number of children is known
        self.lock = ChildLock()
        self.cgroups = ChildCgroups(
            settings.child_cgroup, BETWEEN_JOBS_FACTOR * settings.child_memory_limit_bytes
        )
        self.name = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
        # A child would wait for 20 s, and the sweeper replaces a lost message sooner.
        self.publisher = Publisher(settings, broker_url, retry=False)
        self.supervisor: Supervisor | None = None
        self.child: Child | None = None
        self.hub: Any = None

    def reconnect(self) -> None:
        """Simulate a lost connection in Celery's loop, which runs in another thread."""
        if self.hub:
            self.hub.call_soon(_lose_connection)


def _lose_connection() -> None:
    raise ConnectionResetError("the broker no longer responds")


worker_state = _WorkerState()


class ChunkRequest(Request):
    """Celery's request for one message in the parent, with hooks for children that died or were killed."""

    def on_failure(self, exc_info: Any, *args: Any, **kwargs: Any) -> Any:
        """Report a dead child to the supervisor."""
        outcome = super().on_failure(exc_info, *args, **kwargs)
        error = exc_info.exception
        error = getattr(error, "exc", error)
        if (
            isinstance(error, (WorkerLostError, SystemExit))
            and worker_state.supervisor
            and self.worker_pid
        ):
            worker_state.supervisor.report_death(int(self.worker_pid), how_it_ended(error))
        return outcome

    def on_timeout(self, soft: bool, timeout: float) -> Any:
        """Report a child that Celery kills because it exceeded the hard limit."""
        outcome = super().on_timeout(soft, timeout)
        if not soft and worker_state.supervisor and self.worker_pid:
            worker_state.supervisor.report_death(
                int(self.worker_pid), "the hard time limit", timed_out=True
            )
        return outcome


class PoolMaintenance(bootsteps.StartStopStep):
    """Makes Celery's pool detect dead children quickly, and stop without waiting forever."""

    requires = (Pool,)

    def register_with_event_loop(self, worker: Any, hub: Any) -> None:
        """Check for dead children often; by default, Celery takes up to five seconds."""
        hub.call_repeatedly(_REPORT_SECONDS, worker.pool.maintain_pool)
        worker_state.hub = hub

    def stop(self, worker: Any) -> None:
        """Drop the messages that no child has started, because the stopping pool no longer passes them to children.

        The pool would wait for them forever. They are not acknowledged, so other workers get them.
        """
        worker.pool.flush()


app.steps["worker"].add(PoolMaintenance)


class ChunkTask(Task):  # type: ignore[type-arg]
    """The base of the one task."""

    Request = ChunkRequest  # type: ignore[assignment]


@app.task(name=GRADE_TASK, base=ChunkTask)
def grade_chunk(schema_version: int, lane: str, hops: int) -> None:  # noqa: ARG001 - not used so far
    """Grade the next chunk that is due; the message is only a wake-up, and the store determines the chunk."""
    child = worker_state.child
    assert child is not None, "a worker child was started without its set-up"
    try:
        outcome = child.grade_next(lane, hops)
    except WeighbridgeError as error:
        _log.warning(
            "processing a message failed, and another is sent for work that waits: %s", error
        )
        _wake_another()
        return
    except Exception:  # noqa: BLE001 - an error of one message must not end the child
        # The child handles errors in grading, so this one was raised before or after.
        _log.exception(
            "unexpected error in processing a message: a chunk leased for it is put back when its lease ends"
        )
        return
    _log.debug("message processed: %s", outcome)


def _wake_another() -> None:
    # This message is acknowledged, so a chunk that is still waiting needs a new one.
    with suppress(ServerError):
        _wake("", 0)


def _wake(lane: str, hops: int) -> None:
    worker_state.publisher.wake(lane=lane, hops=hops)


@signals.setup_logging.connect
def _set_up_logging(loglevel: int = logging.INFO, **_: Any) -> None:
    configure_logging(loglevel, as_json=settings.logs_json)


@signals.celeryd_after_setup.connect
def _start(instance: Any, **_: Any) -> None:
    registry = default_registry()
    registry.preload()  # before the fork, so that children share its memory
    # The maximum of `--autoscale`.
    concurrency = max(instance.concurrency, instance.max_concurrency or 0)
    worker_state.scoreboard = Scoreboard(concurrency)
    info = WorkerInfo(
        name=worker_state.name,
        host=socket.gethostname(),
        pid=os.getpid(),
        concurrency=concurrency,
        queue=settings.queue,
        schema_version=SCHEMA_VERSION,
        graders=registry.versions(),
        broken_plug_ins=registry.failures,
        started_at=time.time(),
    )
    worker_state.supervisor = Supervisor(
        *(
            settings,
            store_url,
            info,
            worker_state.scoreboard,
            worker_state.cgroups,
            worker_state.reconnect,
        )
    )
    worker_state.supervisor.start()
    collect_garbage_seldom()  # billiard collects garbage before each fork, which took most of the start-up time


@signals.worker_process_init.connect
def _start_child(**_: Any) -> None:
    # The original parent's id, because it may have died already; a pool without processes has none.
    tie_to_parent(getattr(current_process(), "_parent_pid", None))
    slot = worker_state.scoreboard.take(os.getpid())
    worker_state.supervisor = None
    worker_state.child = Child(
        *(
            settings,
            store_url,
            worker_state.name,
            slot,
            worker_state.lock,
            worker_state.cgroups,
            _wake,
        )
    )


@signals.worker_ready.connect
def _ready(**_: Any) -> None:
    if worker_state.supervisor:
        worker_state.supervisor.note_children_ready()
    _log.info(
        "worker %s is ready: graders %s", worker_state.name, ", ".join(default_registry().ids())
    )


@signals.worker_shutting_down.connect
def _expect_end(**_: Any) -> None:
    if worker_state.supervisor:
        worker_state.supervisor.note_shutdown()


@signals.worker_shutdown.connect
def _stop(**_: Any) -> None:
    if worker_state.supervisor:
        worker_state.supervisor.stop()

"""What every route needs: the settings, the store's client, the keys, the limits, and who may ask."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated

from anyio import CapacityLimiter
from fastapi import Depends
from starlette.requests import HTTPConnection

from weighbridge.errors import TrialsBusyError
from weighbridge.settings import MIB
from weighbridge.store.api_keys import ApiKeys
from weighbridge.store.audit import Actor, AuditLog
from weighbridge_producer.limits import ByteBudget, Slots
from weighbridge_producer.sandbox.case_reader import TooMuchError
from weighbridge_producer.sandbox.pool import Trials
from weighbridge_producer.service.key_watch import KeyWatch
from weighbridge_producer.service.live_batches import LiveBatches
from weighbridge_producer.service.metrics import RequestMetrics
from weighbridge_producer.service.problems import busy
from weighbridge_producer.service.project_index import ProjectIndex
from weighbridge_producer.service.rate_limit import RateLimit

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.client.redis_client import RedisClient

_ARRIVING_BYTES = 256 * MIB  #: of forms and single jobs, while they arrive
_ANSWER_BYTES = 96 * MIB  #: of answers that wait to be read, and of streams as much again
_STREAMS = 64  #: of results, at once
_READS = 4  #: of one case with its results, or of one stream's next results
_SEARCHES = 4
_WAITING = 64  #: requests of one project that wait for a turn of either
_TRIALS = 2
_TRIALS_WAITING = 8  #: each holds its inputs in memory
_PREVIEWS = 2  #: looks at the beginnings of inputs
_PREVIEWS_WAITING = 8
_LARGE_CASES = 3  #: that are read for the page, each in a process of its own
_LARGE_LINES = 2  #: of uploads, over 1 MiB each
_STREAM_THREADS = 8  #: that read results for streams
_PROBE_THREADS = 2  #: that ask whether the store answers


class Service:
    """One copy of the service; it keeps nothing that another copy would miss."""

    def __init__(self, client: RedisClient, *, keys_required: bool = True) -> None:
        self.client = client
        self.settings: Settings = client.settings
        self.keys_required = keys_required  #: False only where nobody but this machine can ask
        if not keys_required:
            client.actor = Actor("local")
        self.keys = ApiKeys(client.store.redis)
        self.key_watch = KeyWatch(self.keys)
        self.projects = ProjectIndex(client.store)
        self.audit = AuditLog(client.store.redis)
        self.rate_limit = RateLimit(client.store.redis)
        self.metrics = RequestMetrics()
        #: Set when the process is about to end: event streams end then.
        self.closing = asyncio.Event()
        self.stream_threads = CapacityLimiter(_STREAM_THREADS)
        self.probe_threads = CapacityLimiter(_PROBE_THREADS)
        self.live = LiveBatches(client, self.closing)
        self._make_limits()
        names = (name.strip().lower() for name in (client.settings.public_hosts or "").split(","))
        #: The names it answers to, besides this machine's own; empty: any, where keys are required.
        self.public_hosts = frozenset(filter(None, names))

    def _make_limits(self) -> None:
        settings, share = self.settings, self._share
        uploads, listeners = settings.uploads_at_once, settings.listeners_at_once
        self.uploads = Slots(uploads, share(uploads), busy("UPLOADS", uploads))
        self.upload_threads = ThreadPoolExecutor(uploads, "upload")
        self.large_lines = Slots(
            *(_LARGE_LINES, share(_LARGE_LINES), busy("UPLOADS", _LARGE_LINES)),
            waiting_of_one=uploads,
        )
        self.listeners = Slots(listeners, share(listeners), busy("LISTENERS", listeners))
        self.result_streams = Slots(_STREAMS, _STREAMS // 2, busy("STREAMS", _STREAMS))
        self.reads = Slots(_READS, share(_READS), busy("READS", _READS), waiting_of_one=_WAITING)
        self.searches = Slots(
            _SEARCHES,
            share(_SEARCHES),
            busy("SEARCHES", _SEARCHES),
            waiting_of_one=_WAITING + _STREAMS,
        )
        self.previews = Slots(
            *(_PREVIEWS, share(_PREVIEWS), busy("PREVIEWS", _PREVIEWS)),
            waiting_of_one=_PREVIEWS_WAITING,
        )
        self.large_cases = Slots(_LARGE_CASES, share(_LARGE_CASES + 1), _too_many_large_cases)
        self.arriving_bytes = ByteBudget(
            _ARRIVING_BYTES, share(_ARRIVING_BYTES), busy("BODIES", _ARRIVING_BYTES)
        )
        self.answer_bytes = ByteBudget(
            *(_ANSWER_BYTES, share(_ANSWER_BYTES), busy("READS", _ANSWER_BYTES)),
            waiting_of_one=settings.listeners_at_once,
        )
        # Streams apart: those that nobody reads must not hold up the pages of the same project.
        self.stream_bytes = ByteBudget(
            *(_ANSWER_BYTES, share(_ANSWER_BYTES), busy("STREAMS", _ANSWER_BYTES)),
            waiting_of_one=_STREAMS,
        )
        self.stream_reads = Slots(
            _READS, share(_READS), busy("STREAMS", _READS), waiting_of_one=_STREAMS
        )
        self.trials = Trials(settings, self._trial_slots())

    def _trial_slots(self) -> Slots:
        def refusal() -> TrialsBusyError:
            return TrialsBusyError("many try graders at once here, or in this project")

        return Slots(
            *(_TRIALS, self._share(_TRIALS), refusal), waiting_of_one=self._share(_TRIALS_WAITING)
        )

    def _share(self, most: int) -> int:
        """Return what one project may have of a limit: half of it, where there can be others."""
        return max(1, most // 2) if self.keys_required else most


def _too_many_large_cases() -> TooMuchError:
    return TooMuchError("many large cases are being read: load the page again in a moment")


def served(connection: HTTPConnection) -> Service:
    """Return the service that an application was made for."""
    service: Service = connection.app.state.service
    return service


Served = Annotated[Service, Depends(served)]

"""State common to all routes: settings, the client, keys and limits."""

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
from weighbridge_producer.sandbox.pool import Sandbox
from weighbridge_producer.service.caches.case_views import CaseViews
from weighbridge_producer.service.caches.live_batches import LiveBatches
from weighbridge_producer.service.caches.project_index import ProjectIndex
from weighbridge_producer.service.caches.slice_counts import SliceCounts
from weighbridge_producer.service.limits.key_watch import KeyWatch
from weighbridge_producer.service.limits.rate_limit import RateLimit
from weighbridge_producer.service.limits.slots import ByteBudget, Slots, too_many
from weighbridge_producer.service.metrics import RequestMetrics
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.client.redis_client import RedisClient

_ARRIVING_BYTES = 256 * MIB  #: of forms and trials while they arrive
_ANSWER_BYTES = 96 * MIB  #: of unread responses, and the same for streams
_STREAMS = 64  #: concurrent streams of results
_READS = 4  #: concurrent reads of a case with its results, or of a stream's next results
_SEARCHES = 4
_WAITING = 64  #: waiting requests per project, for each limit
_TRIALS = 2
_TRIALS_WAITING = 8  #: waiting trials, each with its inputs in memory
_PREVIEWS = 2  #: concurrent previews of inputs
_PREVIEWS_WAITING = 8
_LARGE_CASES = 3  #: processed concurrently for pages, in the sandbox
_LARGE_LINES = 2  #: concurrent lines over 1 MiB in uploads
_STREAM_THREADS = 8  #: threads that read results for streams
_PROBE_THREADS = 2  #: threads that check whether the store answers


class Service:
    """One instance of the service; it has no state that other instances would need."""

    def __init__(self, client: RedisClient, *, keys_required: bool = True) -> None:
        self.client = client
        self.settings: Settings = client.settings
        self.keys_required = keys_required  #: False only if just this machine can connect
        if not keys_required:
            client.actor = Actor("local")
        self.keys = ApiKeys(client.store.redis)
        self.key_watch = KeyWatch(self.keys)
        self.projects = ProjectIndex(client.store)
        self.audit = AuditLog(client.store.redis)
        self.rate_limit = RateLimit(client.store.redis)
        self.metrics = RequestMetrics()
        #: Set when the process is about to end, to end event streams.
        self.closing = asyncio.Event()
        self.stream_threads = CapacityLimiter(_STREAM_THREADS)
        self.probe_threads = CapacityLimiter(_PROBE_THREADS)
        self.live = LiveBatches(client, self.closing)
        self.case_views = CaseViews(client.store, self.closing.is_set)
        self.slice_counts = SliceCounts(client.store)
        self._make_limits()
        self.sandbox = Sandbox(self.settings)
        names = (name.strip().lower() for name in (client.settings.public_hosts or "").split(","))
        #: Accepted host names besides those of this machine; empty: any name, if keys are required.
        self.public_hosts = frozenset(filter(None, names))

    def _make_limits(self) -> None:
        uploads, listeners = self.settings.uploads_at_once, self.settings.listeners_at_once
        self.uploads = self._slots("UPLOADS", uploads)
        self.upload_threads = ThreadPoolExecutor(uploads, "upload")
        self.large_lines = self._slots("UPLOADS", _LARGE_LINES, waiting=uploads)
        self.listeners = self._slots("LISTENERS", listeners)
        self.result_streams = Slots(
            _STREAMS, _STREAMS // 2, too_many("STREAMS", _STREAMS, _STREAMS // 2)
        )
        self.stream_reads = self._slots("STREAMS", _READS, waiting=_STREAMS)
        self.reads = self._slots("READS", _READS, waiting=_WAITING)
        self.searches = self._slots("SEARCHES", _SEARCHES, waiting=_WAITING + _STREAMS)
        self.previews = self._slots("PREVIEWS", _PREVIEWS, waiting=_PREVIEWS_WAITING)
        self.large_cases = Slots(_LARGE_CASES, self._share(_LARGE_CASES + 1), _too_many_large_cases)
        self.trials = Slots(
            *(_TRIALS, self._share(_TRIALS), _too_many_trials),
            waiting_of_one=self._share(_TRIALS_WAITING),
        )
        self.arriving_bytes = self._bytes("BODIES", _ARRIVING_BYTES)
        self.answer_bytes = self._bytes("READS", _ANSWER_BYTES, waiting=listeners)
        # Separate, so that unread streams do not block the pages of the same project.
        self.stream_bytes = self._bytes("STREAMS", _ANSWER_BYTES, waiting=_STREAMS)

    def _slots(self, what: str, most: int, *, waiting: int = 0) -> Slots:
        share = self._share(most)
        return Slots(most, share, too_many(what, most, share), waiting_of_one=waiting)

    def _bytes(self, what: str, most: int, *, waiting: int = 0) -> ByteBudget:
        share = self._share(most)
        return ByteBudget(most, share, too_many(what, most, share), waiting_of_one=waiting)

    def _share(self, most: int) -> int:
        """Return the share of one project in a limit: half of it, if there can be several projects."""
        return max(1, most // 2) if self.keys_required else most


def _too_many_large_cases() -> ProblemError:
    detail = "many large cases are being read"
    return ProblemError(503, "TOO_MANY_LARGE_CASES", detail, "load the page again in a moment")


def _too_many_trials() -> TrialsBusyError:
    return TrialsBusyError(
        "too many graders are being tried at once, in this process or this project"
    )


def served(connection: HTTPConnection) -> Service:
    """Return the service of an application."""
    service: Service = connection.app.state.service
    return service


Served = Annotated[Service, Depends(served)]

"""Prometheus metrics: of this instance's requests, and of the store common to all instances."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from weighbridge.jobs.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from prometheus_client.metrics_core import Metric
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.store.health import Health

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class RequestMetrics:
    """Counts and times requests by route, never by URL."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "weighbridge_http_requests",
            "Requests answered.",
            ("route", "method", "status"),
            registry=self._registry,
        )
        self._seconds = Histogram(
            "weighbridge_http_request_seconds",
            "From a request's head to the end of its response.",
            ("route", "method"),
            buckets=_SECONDS,
            registry=self._registry,
        )

    def count(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request."""
        route = getattr(scope.get("route"), "path", None) or "none"
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._requests.labels(route, method, str(status)).inc()
        self._seconds.labels(route, method).observe(seconds)

    def text(
        self, health: Health, active: Sequence[BatchState], *, with_requests: bool = True
    ) -> bytes:
        """Return the metrics in Prometheus' text format; `with_requests` adds those of requests in all projects."""
        of_store = CollectorRegistry()
        of_store.register(_StoreMetrics(health, active))
        requests = generate_latest(self._registry) if with_requests else b""
        return requests + generate_latest(of_store)


class _StoreMetrics(Collector):
    """Metrics of the store at one moment."""

    def __init__(self, health: Health, active: Sequence[BatchState]) -> None:
        self._health = health
        self._active = active

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        health = self._health
        for name, meaning, value in (
            ("queue_length", "Chunks that wait for a worker.", health.queue_length),
            ("workers", "Workers that are running.", len(health.workers)),
            (
                "worker_children",
                "Processes that grade.",
                sum(worker.concurrency for worker in health.workers),
            ),
            ("batches_active", "Batches that have not ended.", health.active_batches),
            ("chunks_stuck", "Chunks that make no progress.", len(health.stuck)),
            (
                "dead_letter_jobs",
                "Jobs of the newest batches given up after crashes, timeouts or excessive memory.",
                sum(letter.jobs for letter in health.dead_letters),
            ),
        ):
            yield GaugeMetricFamily(f"weighbridge_{name}", meaning, value)
        jobs = GaugeMetricFamily(
            "weighbridge_active_jobs",
            "Jobs of the active batches among the newest 100.",
            labels=("outcome",),
        )
        for outcome in map(str, (*Outcome, "pending")):
            total = sum(getattr(state.counts, outcome) for state in self._active)
            jobs.add_metric([outcome], total)
        yield jobs


class Measure:
    """Middleware that counts all requests, including those that reach no route."""

    def __init__(self, app: ASGIApp, metrics: RequestMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve and count one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        status = 499  # the client disconnected before the response

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            self._metrics.count(scope, status, time.perf_counter() - started)

"""Celery alone, with many lines per message, or with one as in its tutorial or tuned."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from celery import Celery

from benchmarks.task import URL_VARIABLE, grade_line, grade_slice, numbered_lines, task
from benchmarks.ways.way import MessageWay, start_worker
from weighbridge_worker.celery_settings import broker_url

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack

_url = broker_url(os.environ[URL_VARIABLE]) if URL_VARIABLE in os.environ else None
app = Celery("benchmark", broker=_url, backend=_url)


@app.task(name="benchmark.grade_lines")
def grade_lines(first: int, lines: str) -> str:
    """Grade the lines of a message."""
    return grade_slice(first, lines.encode()).decode()


@app.task(name="benchmark.grade_one")
def grade_one(number: int, line: str) -> str:
    """Grade one line."""
    return grade_line(number, line.encode()).decode()


class Chunked(MessageWay):
    """Many lines per message, with a default worker."""

    worker_options: tuple[str, ...] = ()

    def start(self, stack: ExitStack) -> None:
        """Start server and worker."""
        url = broker_url(self.start_server(stack))
        app.conf.update(broker_url=url, result_backend=url)
        target, count = "benchmarks.ways.celery_way:app", f"-c{task().workers}"
        start_worker(
            stack, "celery", "-A", target, "worker", count, "-lERROR", *self.worker_options
        )
        self.warm_up()

    def graded(
        self, messages: Iterator[tuple[int, bytes]] | list[tuple[int, bytes]]
    ) -> Iterator[bytes]:
        """Send all messages, then wait for each result."""
        sent = [grade_lines.delay(first, lines.decode()) for first, lines in messages]
        for result in sent:
            yield result.get().encode()


class Plain(Chunked):
    """One line per message, with only the broker and the result backend configured."""

    def grade_all(self) -> None:
        """Send all lines, then write their results."""
        with task().out.open("wb") as target:
            for results in self.graded(numbered_lines()):
                target.write(results)

    def graded(
        self, messages: Iterator[tuple[int, bytes]] | list[tuple[int, bytes]]
    ) -> Iterator[bytes]:
        """Send all messages, then wait for each result."""
        sent = [grade_one.delay(number, line.decode()) for number, line in messages]
        for result in sent:
            yield result.get().encode()


class Tuned(Plain):
    """One line per message, tuned for many small tasks: prefetching, no gossip, one connection for sending."""

    worker_options = ("--prefetch-multiplier=256", "--without-gossip", "--without-mingle")

    def graded(
        self, messages: Iterator[tuple[int, bytes]] | list[tuple[int, bytes]]
    ) -> Iterator[bytes]:
        """Send all over one connection, then wait for each."""
        with app.producer_pool.acquire() as producer:
            sent = [
                grade_one.apply_async((number, line.decode()), producer=producer)
                for number, line in messages
            ]
        for result in sent:
            yield result.get().encode()

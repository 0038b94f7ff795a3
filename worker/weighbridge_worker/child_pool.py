"""Celery's pool of forked children, without an error that ends a worker."""

from __future__ import annotations

from typing import Any

from celery import platforms
from celery.concurrency.asynpool import AsynPool
from celery.concurrency.prefork import TaskPool

# Celery calls it in each child before `tie_to_parent` does the same; where cffi is installed, billiard's version of it
# took most of a child's start-up time, because it loads a parser of C.
platforms.set_pdeathsig = lambda _name: None  # type: ignore[attr-defined]  # not in the stubs


class ChildPool(AsynPool):
    """Pool of children that a lost connection and a dead child together do not end."""

    def _track_child_process(self, proc: Any, hub: Any) -> None:
        # Celery watches all children again after a lost connection. A dead child that is not yet replaced has no file
        # descriptor left to watch, which Celery takes for an unrecoverable error (celery#9250).
        if getattr(proc, "_sentinel_poll", "not watched yet") is not None:
            super()._track_child_process(proc, hub)  # type: ignore[misc]  # not in Celery's stubs


class ChildTaskPool(TaskPool):
    """Celery's prefork pool with children in a ChildPool."""

    Pool = ChildPool

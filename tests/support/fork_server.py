"""The process from which the tests' processes are forked: `python -m support.fork_server REQUESTS ALIVE`.

The arguments are a listening socket, and the reading end of a pipe with whose closing the process ends.
"""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import select
import sys
from functools import cache, cached_property
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

_MADV_COLLAPSE = 25  #: of Linux 6.1 and newer; older ones refuse it
_HUGE_PAGE = 2 << 20

# Only modules that do not read the environment when imported.
_PRELOADED = [
    *(f"weighbridge.graders.{name}" for name in ("budget", "loop.judgement", "tool_schema")),
    *(f"weighbridge.graders.{name}" for name in ("string_match", "true_false")),
    *(f"celery.app.{name}" for name in ("amqp", "control", "events", "log", "routes")),
    *(f"billiard.{name}" for name in ("popen_fork", "sharedctypes", "synchronize")),
    *("argparse", "multiprocessing.popen_fork"),
    "celery.apps.worker",
    "celery.backends.base",
    "celery.concurrency.prefork",
    "celery.events.receiver",
    "celery.fixups.django",
    *(f"celery.worker.{name}" for name in ("autoscale", "components", "strategy", "worker")),
    "celery.worker.consumer.delayed_delivery",
    "kombu.pidbox",
    "kombu.transport.redis",
    *(
        f"weighbridge_worker.{name}"
        for name in ("__main__", "child.child", "child_cgroups", "child_lock", "child_pool")
    ),
    *(f"weighbridge_worker.{name}" for name in ("celery_settings", "logs", "transport")),
    "weighbridge_worker.parent.supervisor",
    *(f"weighbridge_producer.cli.{name}" for name in ("batches", "commands", "compare", "keys")),
    *(f"weighbridge_producer.cli.{name}" for name in ("results", "results_summary", "run")),
    *(f"weighbridge_producer.cli.{name}" for name in ("serve", "submit", "trace_input")),
    *(f"weighbridge_producer.cli.{name}" for name in ("traces", "verify", "workers")),
    *(f"weighbridge_producer.client.{name}" for name in ("client", "connection_check")),
    "weighbridge_producer.client.redis_client",
    *(f"weighbridge_producer.input.{name}" for name in ("further_rows", "joins", "repeated_ids")),
    "weighbridge_producer.input.rows.json_rows",
    "weighbridge_producer.input.yaml_file",
    "weighbridge_producer.run.local_run",
    "weighbridge_producer.run.local_service",
    "weighbridge_producer.submit.missing_grader",
    "weighbridge_producer.run.options",
    "weighbridge_producer.run.verify",
    "weighbridge_producer.server",
    "weighbridge_producer.service.service",
    "typer._adapters",
    "typer._click.decorators",
    "uvicorn.loops.uvloop",
    "anyio._backends._asyncio",
    "support.preloaded",
]


def main(requests: int, alive: int) -> None:
    """Import the code when the first process is requested, and fork all of them."""
    ready, _, _ = select.select([requests, alive], [], [])
    if requests not in ready:
        return
    gc.disable()
    for name in _PRELOADED:
        importlib.import_module(name)
    _keep_installed_packages()
    _prepare()
    # Otherwise collecting garbage in a forked process would copy all that was imported.
    gc.freeze()
    gc.enable()
    _use_large_pages()
    from multiprocessing import forkserver

    forkserver.main(requests, alive, [])


class _InstalledPackage(PathDistribution):
    """A package whose metadata are read once: each process looks at those of all packages."""

    entry_points = cached_property(PathDistribution.entry_points.fget)
    metadata = cached_property(PathDistribution.metadata.fget)
    _normalized_name = cached_property(PathDistribution._normalized_name.fget)


def _keep_installed_packages() -> None:
    """Keep the installed packages with their metadata; a forked process reads only those of other folders."""
    importlib.metadata.PathDistribution = cache(_InstalledPackage)
    importlib.metadata.entry_points()
    importlib.metadata.version("redis")  # which each client tells its server


def _prepare() -> None:
    """Prepare what is the same in all services, workers and commands, and took most of their start-up time."""
    # Imported here, because only a requested process needs it.
    from celery.utils.imports import load_extension_class_names

    from weighbridge_producer import app
    from weighbridge_producer.cli.commands import COMMANDS, _commands_of
    from weighbridge_producer.pages.rendering import compile_templates

    load_extension_class_names("celery.result_backends")
    for route in app._routes():
        # FastAPI prepares routes when they are first compared with a request.
        route.matches({"type": "http", "method": "GET", "path": "/unknown"})
    compile_templates()
    for entry in COMMANDS.values():
        for command in _commands_of(entry.module).values():
            _prepare_parameters(command)


def _prepare_parameters(command: Any) -> None:
    for parameter in command.params:
        parameter.get_runtime_param()
    for within in getattr(command, "commands", {}).values():
        _prepare_parameters(within)


def _use_large_pages() -> None:
    """Move this process's memory to huge pages where the system has them: that makes a fork take half the time."""
    maps = Path("/proc/self/maps")
    if not maps.exists():
        return
    madvise = ctypes.CDLL(None).madvise
    for line in maps.read_text("ascii").splitlines():
        addresses, access, *_, inode = line.split(maxsplit=5)[:5]
        if access == "rw-p" and inode == "0":  # anonymous memory
            start, end = (int(address, 16) for address in addresses.split("-"))
            start, end = -(-start // _HUGE_PAGE) * _HUGE_PAGE, end // _HUGE_PAGE * _HUGE_PAGE
            if start < end:
                madvise(*map(ctypes.c_size_t, (start, end - start)), _MADV_COLLAPSE)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))

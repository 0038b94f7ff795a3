"""`python -m weighbridge_worker`: start a worker, or check the health of one."""

from __future__ import annotations

import argparse
import json
import logging
import os
import socket
import sys
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from weighbridge.child_process import collect_garbage_seldom, tie_to_parent
from weighbridge.errors import WeighbridgeError

_SLOW_TO_LOAD = (
    "celery.apps.worker",
    "celery.worker.consumer",
    "weighbridge_worker.child.child",
    "weighbridge_worker.child_pool",
    "weighbridge_worker.parent.supervisor",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    collect_garbage_seldom()  # garbage collection takes a tenth of the time of the imports
    lifeline = os.environ.pop("WEIGHBRIDGE_LIFELINE_FD", None)
    if lifeline and arguments is None and sys.argv[1:] == ["prepared"]:
        arguments = _import_and_await_arguments(int(lifeline))
    options = _parse(arguments)
    if options.redis_url:
        os.environ["WEIGHBRIDGE_REDIS_URL"] = options.redis_url
    if options.log_format:
        os.environ["WEIGHBRIDGE_LOG_FORMAT"] = options.log_format
    if lifeline:
        tie_to_parent(lifeline_fd=int(lifeline))
    try:
        return _health() if options.command == "health" else _work(options)
    except WeighbridgeError as error:
        print(f"{error.code}: {error}", file=sys.stderr)
        return 1


def _import_and_await_arguments(lifeline: int) -> list[str]:
    """Import the slow modules, then read the arguments, the environment and a log file from the lifeline."""
    for module in _SLOW_TO_LOAD:
        import_module(module)
    orders = b""
    while not orders.endswith(b"\n"):
        received = os.read(lifeline, 65536)
        if not received:
            sys.exit(0)  # the prepared worker is not needed
        orders += received
    order = json.loads(orders)
    os.environ.update(order["environment"])
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for descriptor in (sys.stdout.fileno(), sys.stderr.fileno()):
        os.dup2(log, descriptor)
    os.close(log)
    arguments: list[str] = order["arguments"]
    return arguments


def _work(options: argparse.Namespace) -> NoReturn:
    """Run a worker until it is stopped; it exits the process itself."""
    from weighbridge.settings import read_settings
    from weighbridge_worker.logs import configure_logging

    # Before Celery configures logging, so that early messages, such as those on broken plug-ins, are formatted too.
    as_json = read_settings().logs_json
    configure_logging(logging.getLevelName(options.log_level.upper()), as_json=as_json)
    if as_json:
        # Celery writes notices on signals there, as text; the worker logs what they say.
        sys.__stdout__ = Path(os.devnull).open("w", encoding="utf-8")  # type: ignore[misc]  # noqa: SIM115
    # Imported here, because the import reads the settings.
    from weighbridge_worker.app import app

    # Like `celery worker`, but without its command line, which takes 0.2 s to load.
    worker = app.Worker(
        hostname=_hostname(),
        pool_cls=app.conf.worker_pool,
        concurrency=options.concurrency,
        loglevel=logging.getLevelName(options.log_level.upper()),
        quiet=True,  # no banner: it is no message of a log, and asks the system for its name in a process of its own
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m weighbridge_worker", description="Grade what producers submit."
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=["run", "health"],
        default="run",
        help="run a worker (default), or exit 0 if one is running on this host",
    )
    parser.add_argument(
        "--concurrency",
        type=int,
        default=os.cpu_count() or 1,
        help="child processes (default: one per CPU core)",
    )
    parser.add_argument(
        "--redis-url",
        help="the Redis server (default: WEIGHBRIDGE_REDIS_URL; prefer it for a URL with a password, because `ps` shows arguments)",
    )
    parser.add_argument(
        "--log-format",
        choices=["text", "json"],
    )
    parser.add_argument(
        "--log-level", choices=["debug", "info", "warning", "error"], default="info"
    )
    return parser.parse_args(arguments)


def _hostname() -> str:
    return f"weighbridge-{os.getpid()}@{socket.gethostname()}"


def _health() -> int:
    from weighbridge.settings import DEFAULT_REDIS_URL, read_settings
    from weighbridge.store import Store
    from weighbridge.store.worker_registry import WorkerRegistry

    store = Store(read_settings().store_address or DEFAULT_REDIS_URL, retry=False)
    here = [
        worker.name
        for worker in WorkerRegistry(store.redis).alive()
        if worker.host == socket.gethostname()
    ]
    print("\n".join(here) or "no worker is running on this host")
    return 0 if here else 1


if __name__ == "__main__":
    sys.exit(main())

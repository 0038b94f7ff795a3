"""Commands about workers."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import asdict
from typing import Annotated

import typer

from weighbridge.errors import ServerError
from weighbridge.settings import read_settings
from weighbridge.store.addresses import checked_url
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import out, print_json, print_paused_queues, shown, table


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (worker, workers, drain):
        app.command()(command)


def worker(
    concurrency: Annotated[
        int,
        typer.Option(min=1, help="Child processes that grade.", show_default=opt.ONE_PER_CORE),
    ] = os.cpu_count() or 1,
    log_format: Annotated[
        str | None, typer.Option(help="text or json (default: WEIGHBRIDGE_LOG_FORMAT, or text)")
    ] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error")] = "info",
    redis_url: opt.RedisUrl = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --log-format json.")] = False,
) -> None:
    """Start a worker on this machine; it runs until it is stopped or drained."""
    settings = read_settings()
    address = redis_url or settings.store_address
    if not address:
        raise ServerError(
            "no Redis server is named",
            "give --redis-url or WEIGHBRIDGE_REDIS_URL; `weighbridge run` needs no worker",
        )
    checked_url(address)
    if redis_url:
        os.environ["WEIGHBRIDGE_REDIS_URL"] = redis_url
    flags = [f"--concurrency={concurrency}", f"--log-level={log_level}"]
    chosen_format = "json" if as_json else log_format
    if chosen_format:
        flags.append(f"--log-format={chosen_format}")
    # The worker replaces this process, so that it gets the signals and determines the exit status.
    os.execv(sys.executable, [sys.executable, "-m", "weighbridge_worker", *flags])  # noqa: S606


def workers(url: opt.Url = None, as_json: opt.AsJson = False) -> None:
    """List the running workers."""
    with opt.client(url) as client:
        running = client.workers()
        print_paused_queues(client)
    if as_json:
        print_json([asdict(info) for info in running])
        return
    rows = table("worker", "queue", "children", "jobs", "up", "state", "graders")
    for info in running:
        graders = ", ".join(f"{grader} {version}" for grader, version in info.graders.items())
        up = f"{(time.time() - info.started_at) / 60:,.0f} min"
        state = "draining" if info.draining else "working"
        rows.add_row(
            *(shown(info.name), shown(info.queue), str(info.concurrency), f"{info.jobs:,}"),
            *(up, state, shown(graders)),
        )
    out.print(rows)


def drain(
    name: Annotated[
        str,
        typer.Argument(metavar="WORKER", help="A worker's name, as `workers` lists it, or all."),
    ],
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Stop a worker once its work in progress is completed."""
    with opt.client(url) as client:
        names = [info.name for info in client.workers()] if name == "all" else [name]
        for worker_name in names:
            client.drain(worker_name)
            if not as_json:
                out.print(f"{shown(worker_name)} is draining")
    if as_json:
        print_json({"draining": names})

"""What completes the value of an argument or an option, while somebody types; nothing here raises or waits for long."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

import typer

from weighbridge.errors import WeighbridgeError

if TYPE_CHECKING:
    from weighbridge_producer.client.backend import ListedBatch
    from weighbridge_producer.comparison.baselines import Baseline

_SECONDS = 2.0  #: that whoever types waits for a server
_BATCHES = 50

Completions = list[tuple[str, str]]  #: each a value, and what some shells show beside it


def batch_ids(context: typer.Context, incomplete: str) -> Completions:
    """Return the newest batches that begin so, if the server answers within two seconds."""
    return [
        (each.state.batch_id, f"{each.state.status}, {each.source}")
        for each in _newest_batches(context.params.get("url"))
        if each.state.batch_id.startswith(incomplete)
    ]


def _newest_batches(url: str | None) -> list[ListedBatch]:
    from weighbridge.settings import read_settings
    from weighbridge_producer.client.client import Client

    found: list[ListedBatch] = []
    try:
        client = Client(url, settings=read_settings())
    except WeighbridgeError:
        return []

    def ask() -> None:
        # Nobody who presses a key wants to read of an error.
        with suppress(Exception):
            found.extend(client.listed(_BATCHES))

    # A thread, because a server that is away would otherwise be waited for; it ends with the process.
    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_SECONDS)
    return list(found)


def grader_ids(incomplete: str) -> Completions:
    """Return the graders installed here that begin so, with the label before the id left as it is."""
    from weighbridge.graders.registry import default_registry

    label, equals, begun = incomplete.rpartition("=")
    return [
        (f"{label}{equals}{each['id']}", str(each["name"]))
        for each in default_registry().catalogue()
        if str(each["id"]).startswith(begun)
    ]


def runs(context: typer.Context, incomplete: str) -> Completions:
    """Return the baselines and the newest batches that begin so."""
    from weighbridge.settings import read_settings
    from weighbridge_producer.comparison.baselines import list_baselines

    kept: list[Baseline] = []
    with suppress(WeighbridgeError):
        settings = read_settings()
        kept = list_baselines(settings.baseline_folder, settings)
    named = [(each.name, f"baseline of {each.source}") for each in kept]
    found = [pair for pair in named if pair[0].startswith(incomplete)]
    return found + batch_ids(context, incomplete)

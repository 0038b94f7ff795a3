"""Shell completion of the values of arguments and options; nothing here raises or blocks for long."""

from __future__ import annotations

from contextlib import suppress
from glob import escape, iglob
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import typer

from weighbridge.errors import WeighbridgeError

if TYPE_CHECKING:
    from weighbridge_producer.client.backend import ListedBatch
    from weighbridge_producer.comparison.baselines import Baseline

_SECONDS = 2.0  #: longest wait for a server while the user types
_BATCHES = 50
_FILES = 200

Completions = list[tuple[str, str]]  #: pairs of a value and its description


def batch_ids(context: typer.Context, incomplete: str) -> Completions:
    """Return the newest batches that start with `incomplete`, if the server answers within two seconds."""
    return [
        (each.state.batch_id, f"{each.state.status}, {each.source}")
        for each in _newest_batches(context.params.get("url"))
        if each.state.batch_id.startswith(incomplete)
    ]


def _newest_batches(url: str | None) -> list[ListedBatch]:
    from weighbridge.settings import read_settings
    from weighbridge_producer.client.client import backend_of

    found: list[ListedBatch] = []
    try:
        client = backend_of(url, None, read_settings(), retry=False)
    except WeighbridgeError:
        return []

    def ask() -> None:
        # Pressing Tab must not print errors.
        with suppress(Exception):
            found.extend(client.listed(_BATCHES))

    # A daemon thread, because connecting to an unavailable server would block for longer.
    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_SECONDS)
    return list(found)


def grader_ids(incomplete: str) -> Completions:
    """Return the installed graders whose id starts with `incomplete`; a label before the id is kept."""
    from weighbridge.graders.registry import default_registry

    label, equals, begun = incomplete.rpartition("=")
    return [
        (f"{label}{equals}{each['id']}", str(each["name"]))
        for each in default_registry().catalogue()
        if str(each["id"]).startswith(begun)
    ]


def runs(context: typer.Context, incomplete: str) -> Completions:
    """Return the baselines and newest batches that start with `incomplete`, and files beside them."""
    named = baseline_names(incomplete) + batch_ids(context, incomplete)
    # A shell completes files itself, but only where there is nothing else.
    return named + _files(incomplete) if named else []


def _files(incomplete: str) -> Completions:
    found = islice(iglob(f"{escape(incomplete)}*"), _FILES)  # noqa: PTH207 - of names as they were typed
    return sorted(
        (f"{name}/", "folder") if Path(name).is_dir() else (name, "file") for name in found
    )


def sweep_params(incomplete: str) -> Completions:
    """Return the limits that a sweep can vary and that start with `incomplete`."""
    from weighbridge_producer.sweep import PARAMS

    return [(name, what) for name, what in PARAMS.items() if name.startswith(incomplete)]


def baseline_names(incomplete: str) -> Completions:
    """Return the baselines that start with `incomplete`."""
    from weighbridge.settings import read_settings
    from weighbridge_producer.comparison.baselines import list_baselines

    kept: list[Baseline] = []
    with suppress(WeighbridgeError):
        settings = read_settings()
        kept = list_baselines(settings.baseline_folder, settings)
    named = [(each.name, f"baseline of {each.source}") for each in kept]
    return [pair for pair in named if pair[0].startswith(incomplete)]

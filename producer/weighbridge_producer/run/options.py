"""What a `weighbridge run` is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge_producer.input.remote import RemoteFile, is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.model import GraderSpec
    from weighbridge_producer.gating.fields import FieldPath
    from weighbridge_producer.gating.gates import Gate
    from weighbridge_producer.input.source import Source


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What to run and where its results go."""

    source: Source
    graders: tuple[GraderSpec, ...]
    outputs: tuple[str, ...]
    workers: int
    sort: bool = False
    by_case: bool = False  #: tables have a row for each case
    with_cases: bool = (
        False  #: result lines carry their cases; they are in the order of the input then
    )
    url: str | None = None  #: a server of the user's own; None: a private one
    by: tuple[FieldPath, ...] = ()  #: fields of the metadata to count results by
    gates: tuple[Gate, ...] = ()  #: what reports say of them
    fail_fast: int = 0  #: failures after which the rest is cancelled; 0: never
    once: bool = False  #: `source` is a copy of what could be read only once


def default_output(cases: Sequence[str]) -> str:
    """Return the results file of a run that names none."""
    first = cases[0]
    is_one = len(cases) == 1 and first != "-" and not has_magic(first)
    if is_url(first):
        is_one, first = len(cases) == 1, RemoteFile(first).name
    name = Path(first).absolute().name if is_one else "weighbridge"
    for suffix in (
        ".gz",
        ".zst",
        ".jsonl",
        ".ndjson",
        ".json",
        ".traj",
        ".csv",
        ".tsv",
        ".parquet",
    ):
        name = name.removesuffix(suffix)
    return f"{name}.results.jsonl"

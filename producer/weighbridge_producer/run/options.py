"""Options of `weighbridge run`."""

from __future__ import annotations

from dataclasses import dataclass
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge_producer.input.files.remote_files import RemoteFile, is_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.gating.fields import FieldPath
    from weighbridge_producer.gating.gates import Gate
    from weighbridge_producer.input.source import Source


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The input of a run, its graders, and the outputs for its results."""

    source: Source
    graders: tuple[GraderSpec, ...]
    outputs: tuple[str, ...]
    workers: int
    sort: bool = False
    by_case: bool = False  #: tables have one row per case instead of one per result
    with_cases: bool = False  #: result lines contain their cases, and are then in input order
    url: str | None = None  #: a shared server; None: a private one
    by: tuple[FieldPath, ...] = ()  #: metadata fields by which results are counted
    gates: tuple[Gate, ...] = ()  #: checked by the reports
    fail_fast: int = 0  #: number of failures after which the rest is cancelled; 0: never
    once: bool = False  #: `source` is a copy of an input that could be read only once


def default_output(cases: Sequence[str]) -> str:
    """Return the default name of a run's results file."""
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

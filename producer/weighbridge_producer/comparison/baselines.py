"""Baselines: results stored under a name to compare later runs with, in a file that outlives their batch.

A baseline is a zstd file of JSON Lines, about 50 bytes per result: a header line, then one entry per line.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
import zstandard

from weighbridge.errors import FileError, InputError
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.comparison.compared_results import Entry
from weighbridge_producer.comparison.runs import Run
from weighbridge_producer.gating.fields import leaves_among
from weighbridge_producer.input.files.lines import StreamLines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from weighbridge.settings import Settings
    from weighbridge_producer.gating.fields import FieldPath

_FORM = 2  #: version of the file format, raised when older files become unreadable
_SUFFIX = ".baseline.zst"
_NAME = re.compile(r"(?!wb_)[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_HINT = "`weighbridge baseline set NAME RUN` makes one, `weighbridge baseline list` shows them"


class Baseline(msgspec.Struct, frozen=True):
    """The header line of a baseline."""

    baseline: int  #: version of the file format
    name: str
    source: str  #: the batch or file with the results
    created_at: float  #: seconds since the epoch
    results: int
    unnamed: int = 0  #: results without a custom_id, which are not stored


_header = msgspec.json.Decoder(Baseline)
_entry = msgspec.json.Decoder(Entry)
_encoder = msgspec.json.Encoder()


def check_name(name: str) -> None:
    """Raise InputError if a name is not valid for a baseline."""
    if not _NAME.fullmatch(name):
        raise InputError(
            f"{name[:80]!r} cannot be the name of a baseline",
            "use up to 100 letters, digits, dots, hyphens and underscores, not beginning with wb_",
        )


def save_baseline(folder: Path, name: str, run: Run) -> Baseline:
    """Store a run's results under a name, replacing an earlier baseline; raises FileError, InputError."""
    check_name(name)
    path = _path(folder, name)
    growing = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (
            growing.open("wb") as file,
            zstandard.ZstdCompressor(level=6).stream_writer(file) as packed,
        ):
            for entry in run.entries(None):
                packed.write(_encoder.encode(entry) + b"\n")
        kept = Baseline(_FORM, name, run.name, time.time(), run.results, run.unnamed)
        _put_ahead(growing, kept)
        growing.replace(path)
    except OSError as error:
        raise FileError(f"{error.strerror or error}: {error.filename or folder}") from None
    finally:
        with suppress(OSError):
            growing.unlink(missing_ok=True)
    return kept


def _put_ahead(path: Path, header: Baseline) -> None:
    """Prepend the header line as a separate zstd frame, and sync the file to disk."""
    whole = path.with_name(f"{path.name}.whole")
    head = zstandard.ZstdCompressor().compress(_encoder.encode(header) + b"\n")
    with path.open("rb") as entries, whole.open("wb") as file:
        file.write(head)
        while block := entries.read(1024 * 1024):
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    whole.replace(path)


def list_baselines(folder: Path, settings: Settings) -> list[Baseline]:
    """Return all baselines, newest first; other files are ignored."""
    found = []
    for path in sorted(folder.glob(f"*{_SUFFIX}")) if folder.is_dir() else []:
        with suppress(InputError):
            found.append(next(_lines(path, settings))[0])
    return sorted(found, key=lambda baseline: -baseline.created_at)


def baseline_like(folder: Path, name: str) -> str | None:
    """Return the name of the baseline that a misspelt one probably means; None if there is none."""
    return closest(name, (path.name.removesuffix(_SUFFIX) for path in folder.glob(f"*{_SUFFIX}")))


def has_baseline(folder: Path, name: str) -> bool:
    """Return whether a baseline with that name exists."""
    return bool(_NAME.fullmatch(name)) and _path(folder, name).is_file()


def delete_baseline(folder: Path, name: str) -> None:
    """Delete a baseline; raises InputError if it does not exist."""
    check_name(name)
    if not has_baseline(folder, name):
        meant = did_you_mean(baseline_like(folder, name))
        raise InputError(f"there is no baseline {name!r} in {str(folder)!r}{meant}", _HINT)
    _path(folder, name).unlink()


def run_of_baseline(folder: Path, name: str, settings: Settings) -> Run:
    """Return the run stored under a name; reading it may raise InputError."""
    path = _path(folder, name)

    def read(wanted: tuple[FieldPath, ...] | None, *, in_full: bool = False) -> Iterator[Entry]:
        lines = _lines(path, settings)
        header, _ = next(lines)
        run.unnamed, run.results = header.unnamed, header.unnamed
        for number, (_, line) in enumerate(lines, start=2):
            try:
                entry = _entry.decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise InputError(f"line {number} of {str(path)!r} is damaged: {error}") from None
            if wanted is None:
                yield entry
            else:
                fields = leaves_among(entry.fields, wanted)
                if in_full:
                    fields = entry.fields | fields
                yield msgspec.structs.replace(entry, fields=fields)

    run = Run(name, read)
    return run


def _lines(path: Path, settings: Settings) -> Iterator[tuple[Baseline, bytes]]:
    """Yield the lines of a baseline, each with the header; raises InputError."""
    header: Baseline | None = None
    # Similar lines compress far better than usual input.
    allowed = settings.model_copy(update={"expansion_limit": 1_000})
    with path.open("rb") as stream:
        for line in StreamLines(stream, str(path), allowed):
            if line.fault:
                raise InputError(f"the baseline {str(path)!r} is damaged: {line.fault.message}")
            if header is None:
                header = _described(line.raw, path)
            yield header, line.raw
    if header is None:
        raise InputError(f"{str(path)!r} is empty", _HINT)


def _described(line: bytes, path: Path) -> Baseline:
    try:
        header = _header.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise InputError(f"{str(path)!r} is not a baseline", _HINT) from None
    if header.baseline != _FORM:
        raise InputError(
            f"{str(path)!r} is a baseline of another release of Weighbridge", "set it again"
        )
    return header


def _path(folder: Path, name: str) -> Path:
    return folder / f"{name}{_SUFFIX}"

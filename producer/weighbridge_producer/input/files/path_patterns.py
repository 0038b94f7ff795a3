"""Files whose paths match a pattern, such as `runs/**/*.jsonl`."""

from __future__ import annotations

import glob
from fnmatch import fnmatchcase
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.errors import InputError
from weighbridge_producer.input.files.folder_files import OUR_RESULTS, is_ours
from weighbridge_producer.input.files.input_paths import HINT

if TYPE_CHECKING:
    from collections.abc import Sequence


def matching_files(pattern: str) -> tuple[Path, ...]:
    """Return the files that match a pattern, sorted, each once; InputError if there are none, or only earlier results."""
    found = [Path(name) for name in sorted(glob.glob(pattern, recursive=True))]  # noqa: PTH207 - absolute patterns too
    matching = _each_once([file for file in found if file.is_file()])
    files = tuple(file for file in matching if not is_ours(file.name))
    if matching and not files:
        raise InputError(
            f"the pattern {pattern!r} matches only results of earlier runs",
            f"files that end in {OUR_RESULTS} are never read as input",
        )
    if not files:
        raise InputError(f"no file matches the pattern {pattern!r}", HINT)
    return files


def folder_of_pattern(pattern: Path) -> Path:
    """Return the folder in which all files that match a pattern lie: its parts before the first with a wildcard."""
    return Path(*takewhile(lambda part: not glob.has_magic(part), pattern.parts))


def matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether a path matches a pattern, part by part; `**` matches any number of folders."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(matches(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and matches(parts[1:], pattern[1:])


def _each_once(files: Sequence[Path]) -> list[Path]:
    """Return files without those that `**` found again, through links to folders, which may lead in a circle."""
    folders = {folder: folder.resolve() for folder in {file.parent for file in files}}
    first: dict[Path, Path] = {}
    for file in sorted(files, key=lambda file: len(file.parts)):
        first.setdefault(folders[file.parent] / file.name, file)
    kept = set(first.values())
    return [file for file in files if file in kept]

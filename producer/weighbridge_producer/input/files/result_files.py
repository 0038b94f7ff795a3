"""Files of results among those of a folder or a pattern, which are not read as input unless they have the cases too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.jobs.result_line_parts import case_in
from weighbridge.settings import MIB
from weighbridge_producer.input.files.file_groups import part

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ENDINGS = (".jsonl", ".ndjson")
_BEGINNING = b'{"custom_id":'
_FIELDS = (b',"line":', b',"grader_version":', b',"config_digest":')
_HEAD_BYTES = 2048  #: has these fields of a result, also beside an id of 256 characters
_LINE_BYTES = 4 * MIB


def without_results(files: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that are not results without their cases, and those that are."""
    results = [file for file in files if is_only_results(file)]
    left_out = set(results)
    return [file for file in files if file not in left_out], results


def is_only_results(file: Path) -> bool:
    """Return whether a file begins with a result line that does not have its case."""
    if not file.name.endswith(_ENDINGS):
        return False
    head = part(file, 0, _HEAD_BYTES)
    if not (head.startswith(_BEGINNING) and all(field in head for field in _FIELDS)):
        return False
    line = part(file, 0, _LINE_BYTES).partition(b"\n")[0]
    try:
        return case_in(line) is None
    except ValueError:
        return False  # reading it reports what is wrong with it

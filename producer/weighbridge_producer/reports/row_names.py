"""How reports name the case of a result: by its id, and by its file if the id does not tell it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.jobs.result_line import ResultRow


def file_of(row: ResultRow) -> str:
    """Return the `file` in the metadata of a result; empty if there is none, or the custom_id and it have one name."""
    file, name = (row.metadata or {}).get("file"), row.custom_id or ""
    if not isinstance(file, str) or name.startswith(file) or PurePosixPath(file).stem == name:
        return ""
    return file


def with_file(name: str, file: str) -> str:
    """Return the name of a case, with its file unless that is empty."""
    return f"{name} ({file})" if file else name

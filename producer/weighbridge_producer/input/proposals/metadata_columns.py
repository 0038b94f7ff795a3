"""Columns of short values, by which results can be grouped, proposed as metadata."""

from __future__ import annotations

from typing import Any

from weighbridge_producer.input.mapping.path_texts import is_first_entry, levels
from weighbridge_producer.input.mapping.row_values import Path, is_binary, json_within
from weighbridge_producer.input.proposals.column_names import is_for_groups, is_within_metadata
from weighbridge_producer.input.proposals.proposed_ids import IS_SYNTAX

METADATA_MOST = 6  #: columns
_DEPTH = 2  #: levels of an object that are searched for metadata, unless it is named so
_CHARACTERS = 60  #: longest value


def metadata_paths(columns: dict[str, list[Any]], taken: set[str]) -> list[str]:
    """Return the paths to short values, those first chosen by which results can be grouped."""
    short: dict[str, str] = {}
    for path, values in columns.items():
        is_near = levels(path) < _DEPTH or is_within_metadata(path)
        if path not in taken and is_near and _is_metadata(path, values):
            short.setdefault(Path(path).name, path)
    ranks = {
        path: (_usefulness(columns[path]), not is_within_metadata(path)) for path in short.values()
    }
    chosen = sorted(ranks, key=lambda path: ranks[path])[:METADATA_MOST]
    return [path for path in columns if path in chosen]


def _is_metadata(path: str, values: list[Any]) -> bool:
    return (
        not is_first_entry(path)
        and is_for_groups(path)
        and not IS_SYNTAX.search(path)
        and all(map(_is_short, values))
        and any(value not in {None, ""} for value in values)
    )


def _usefulness(values: list[Any]) -> int:
    """Return 0 for a column with several values that repeat, 1 for one of different values, 2 for a constant."""
    different = len(set(map(str, values)))
    if different == 1 < len(values):
        return 2
    return 0 if different < len(values) else 1


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        is_structure = isinstance(json_within(value), (dict, list))
        return len(value) <= _CHARACTERS and not is_structure
    return not (isinstance(value, (dict, list)) or is_binary(value))

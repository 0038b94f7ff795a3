"""The ids that are proposed for rows: a column, or one that repeats together with what differs each time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.jobs.line import is_valid_name
from weighbridge_producer.input.column_names import ID_NAMES, VARIANT_NAMES, id_names_of, normal
from weighbridge_producer.input.mapping import Path

if TYPE_CHECKING:
    from weighbridge_producer.input.column_choice import Columns

#: In a mapping, names with these are not read as the names of columns.
IS_SYNTAX = re.compile(r"[=|]|\{[^{}]+\}")
_ENDS_IN_ID = re.compile(r"^[^./]+(?:[\W_](?i:id)|[a-z](?:Id|ID))$")


def id_path(columns: Columns, rows: int) -> str | None:
    """Return the path to a unique value with a name typical of an id."""
    for name in ID_NAMES:
        for path, values in columns.items():
            if name in id_names_of(path) and len(values) == rows and _are_ids(values):
                return path
    if rows > 1:
        for path, values in columns.items():
            if _ENDS_IN_ID.search(path) and len(values) == rows and _are_ids(values):
                return path
    return None


def id_of_variants(columns: Columns, rows: int) -> tuple[str, str] | None:
    """Return the path to an id that repeats, after that to what differs each time, such as the model or the epoch."""
    complete = {path: values for path, values in columns.items() if len(values) == rows > 1}
    variants = [path for path in complete if normal(Path(path).name) in VARIANT_NAMES]
    for name in ID_NAMES:
        for path, ids in complete.items():
            if name not in id_names_of(path) or IS_SYNTAX.search(path):
                continue
            for variant in variants:
                pairs = zip(complete[variant], ids, strict=True)
                is_plain = variant != path and not IS_SYNTAX.search(variant)
                if is_plain and _are_ids([f"{of}/{own}" for of, own in pairs]):
                    return variant, path
    return None


def _are_ids(values: list[Any]) -> bool:
    texts = [str(value) if type(value) is int else value for value in values]
    valid = all(isinstance(text, str) and is_valid_name(text) for text in texts)
    return valid and len(set(texts)) == len(texts)

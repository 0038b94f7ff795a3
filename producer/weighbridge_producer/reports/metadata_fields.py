"""Metadata fields by dotted paths, as used for the columns of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge_producer.gating.fields import by_precedence

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEPTH_LIMIT = 4


def flat(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the fields by path; lists, and empty or deeply nested objects, are values.

    Of two fields with one path, the one that `value_at` finds counts.
    """
    if dict not in map(type, metadata.values()):
        return metadata
    fields: dict[str, Any] = {}
    for path, value in _leaves(metadata):
        if fields.get(path) is None:
            fields[path] = value
    return fields


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Yield the paths and values of fields; lists, and empty or deeply nested objects, are values."""
    if type(value) is not dict or depth >= _DEPTH_LIMIT or not value:
        if depth:
            yield path, value
        return
    for name in by_precedence(value):
        yield from _leaves(value[name], f"{path}.{name}" if depth else name, depth + 1)

"""Maps of Arrow and Parquet as objects, so that paths lead to the values under their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Converted = Callable[[Any], Any]


def conversion_of(kind: Any) -> Converted | None:
    """Return a function that converts the maps in values of a type to objects; None if the type has no maps.

    A map becomes a list of pairs if one of its keys is not a text, or is repeated.
    """
    from pyarrow import types

    if types.is_map(kind):
        of_items = conversion_of(kind.item_type)
        return lambda pairs: None if pairs is None else _object(pairs, of_items)
    if types.is_struct(kind):
        fields = {field.name: conversion_of(field.type) for field in kind}
        nested = {name: of_values for name, of_values in fields.items() if of_values}
        return (lambda value: _with_fields(value, nested)) if nested else None
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    if is_list and (of_entries := conversion_of(kind.value_type)):
        return lambda values: None if values is None else list(map(of_entries, values))
    return None


def _object(pairs: list[tuple[Any, Any]], of_items: Converted | None) -> Any:
    items = [(key, of_items(value) if of_items else value) for key, value in pairs]
    found = dict(items) if all(isinstance(key, str) for key, _ in items) else {}
    return found if len(found) == len(items) else items


def _with_fields(value: dict[str, Any] | None, nested: dict[str, Converted]) -> Any:
    if value is None:
        return None
    found = {name: of_values(value[name]) for name, of_values in nested.items() if name in value}
    return value | found

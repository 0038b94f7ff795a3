"""Metadata of a batch, checked before anything is submitted with it."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from weighbridge.errors import InputError
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES
from weighbridge.text import shorten

_SHAPE = 'give strings by their names, such as {"run": "7"}'
_NAME_CHARACTERS = 80


def checked_metadata(metadata: object) -> dict[str, str] | None:
    """Return the metadata of a batch; InputError unless it is a mapping of strings to strings that can be stored."""
    if metadata is None:
        return None
    if not isinstance(metadata, Mapping):
        raise InputError(f"the metadata is of the type {type(metadata).__name__}", _SHAPE)
    for name, value in metadata.items():
        shown = shorten(repr(name), _NAME_CHARACTERS)
        if not isinstance(name, str):
            raise InputError(
                f"the metadata has a name of the type {type(name).__name__}, {shown}", _SHAPE
            )
        if not isinstance(value, str):
            raise InputError(
                f"the metadata's value of {shown} is of the type {type(value).__name__}", _SHAPE
            )
    given = dict(metadata)
    try:
        size = len(orjson.dumps(given))
    except TypeError as error:
        raise InputError(f"the metadata cannot be stored: {error}", _SHAPE) from None
    if size > METADATA_LIMIT_BYTES:
        raise InputError(f"the metadata is over {METADATA_LIMIT_BYTES // 1024} KiB", "shorten it")
    return given

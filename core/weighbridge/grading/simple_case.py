"""Fast parser for the commonest cases: an id, a few texts, perhaps one grader id; takes half the time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
import orjson

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES
from weighbridge.jobs.line import is_valid_name

_KEYS = frozenset(("custom_id", "inputs", "grader", "metadata"))
_OBJECTS = 3  #: limit for a simple case: itself, its inputs and its metadata
_MANY_COLONS = 20  #: in a line; if there are more, they are probably not all after keys


class Case(msgspec.Struct, frozen=True, gc=False):
    """One line of input, ready to be graded."""

    custom_id: str
    inputs: dict[str, Any]
    graders: tuple[GraderSpec, ...]
    metadata: dict[str, Any] | None


def read_simple_case(raw: bytes, defaults: tuple[GraderSpec, ...]) -> Case | None:
    """Parse a line of the simplest shape, whose values are all texts; return None for other lines.

    A returned case is always identical to that of the strict parser.
    """
    colons = raw.count(b":")
    if colons > _MANY_COLONS or raw.count(b"{") > _OBJECTS or len(raw) > METADATA_LIMIT_BYTES:
        return None
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if type(value) is not dict:
        return None
    custom_id, inputs, metadata = value.get("custom_id"), value.get("inputs"), None
    if type(custom_id) is not str or type(inputs) is not dict or not is_valid_name(custom_id):
        return None
    keys = len(value) + len(inputs)
    graders = defaults
    if len(value) > 2:
        if not value.keys() <= _KEYS:
            return None
        if "grader" in value:
            grader = value["grader"]
            if type(grader) is not str or not is_valid_name(grader):
                return None
            graders = _named(grader)
        if (metadata := value.get("metadata")) is not None:
            if type(metadata) is not dict:
                return None
            keys += len(metadata)
            for text in metadata.values():
                if type(text) is not str:
                    return None
    for text in inputs.values():
        if type(text) is not str:
            return None
    # Without colons in texts, each colon follows a key; more colons than keys mean a duplicate key.
    return Case(custom_id, inputs, graders, metadata) if graders and colons == keys else None


@lru_cache(maxsize=256)
def _named(grader: str) -> tuple[GraderSpec, ...]:
    return (GraderSpec(grader),)

"""Fast parser for the commonest cases: an id, a few texts or booleans, perhaps one grader id; takes half the time."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES
from weighbridge.jobs.line import is_valid_name

_REQUIRED = 2  #: keys
_MANY_COLONS = 20  #: in a line; if there are more, they are probably not all after keys


class Case(msgspec.Struct, frozen=True, gc=False):
    """One line of input, ready to be graded."""

    custom_id: str
    inputs: dict[str, Any]
    graders: tuple[GraderSpec, ...]
    metadata: dict[str, Any] | None


class _SimpleLine(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    custom_id: str
    inputs: dict[str, str | bool | None]
    grader: str | UnsetType = UNSET
    metadata: dict[str, str] | UnsetType | None = UNSET


_decode = msgspec.json.Decoder(_SimpleLine).decode


def read_simple_case(raw: bytes, defaults: tuple[GraderSpec, ...]) -> Case | None:
    """Parse a line of the simplest shape, whose values are texts, booleans or null; return None for other lines.

    A returned case is always identical to that of the strict parser.
    """
    colons = raw.count(b":")
    if colons > _MANY_COLONS or len(raw) > METADATA_LIMIT_BYTES:
        return None
    try:
        line = _decode(raw)
    except DAMAGED_DATA:
        return None
    keys, graders, metadata = _REQUIRED + len(line.inputs), defaults, None
    if line.grader is not UNSET:
        if not is_valid_name(line.grader):
            return None
        keys += 1
        graders = _named(line.grader)
    if line.metadata is not UNSET:
        keys += 1
        metadata = line.metadata
        if metadata is not None:
            keys += len(metadata)
    # Without colons in texts, each colon follows a key; more colons than keys mean a duplicate key.
    if colons != keys or not graders or not is_valid_name(line.custom_id):
        return None
    return Case(line.custom_id, line.inputs, graders, metadata)


@lru_cache(maxsize=256)
def _named(grader: str) -> tuple[GraderSpec, ...]:
    return (GraderSpec(grader),)

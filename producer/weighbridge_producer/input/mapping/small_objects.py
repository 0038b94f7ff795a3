"""An object of a row that is left out where it is larger than the metadata of a case may be, such as a file among a sample's metadata."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.jobs.limits import METADATA_LIMIT_BYTES
from weighbridge_producer.input.mapping.row_values import MISSING, Path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.mapping.row_values import Row

_BYTES = METADATA_LIMIT_BYTES // 2  #: leaves room for other metadata, and for escapes


@dataclass(frozen=True, slots=True)
class SmallObject:
    """The object at a path; MISSING if it is large."""

    path: Path

    def __str__(self) -> str:
        """Return the path."""
        return str(self.path)

    def of(self, row: Row, number: int) -> Any:
        """Return the object."""
        found = self.path.of(row, number)
        return found if found is MISSING or _size(found) <= _BYTES else MISSING

    def paths(self) -> Iterable[Path]:
        """Return the path."""
        return (self.path,)


def _size(value: Any) -> int:
    """Return the length of a value as JSON."""
    try:
        return len(orjson.dumps(value, str))
    except TypeError:  # an integer over 64 bits, which becomes text in the metadata of a case
        return len(json.dumps(value, default=str))

"""Lines of the native form, as `trace show --json` and `trace convert` write them."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

import orjson

from weighbridge.errors import TraceError
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.traces.formats.native import to_native
from weighbridge.traces.own_id import metadata_with_id
from weighbridge_producer.input.duplicates import Duplicate

if TYPE_CHECKING:
    from weighbridge_producer.cli.trace_input import NamedTrace
    from weighbridge_producer.input.duplicates import DuplicateIndex

#: The end of an id that stays in it whatever number follows the location.
_END_CHARACTERS = NAME_LIMIT - len(f", {2**63}")


class UniqueLines:
    """Converts traces to lines, and gives different traces different ids."""

    def __init__(self, ids: DuplicateIndex) -> None:
        self._ids = ids
        self._location = ""
        #: the last number at the location, by end of the id
        self._numbers: Counter[str] = Counter()
        self._renamed: dict[bytes, str] = {}  #: ids given at the location, by digest of the trace

    def line(self, found: NamedTrace, location: str) -> bytes:
        """Return a trace as a line with its name as id, and also the location of its line if another trace has that id."""
        trace_id = found.name or location
        line = native_line(found, trace_id)
        if self._ids.claim(trace_id, line) is not Duplicate.CONFLICT:
            return line
        if location != self._location:
            self._location = location
            self._numbers.clear()
            self._renamed.clear()
        key = blake2b(line, digest_size=16).digest()
        known = self._renamed.get(key)
        if known is not None:
            return native_line(found, known)
        while True:
            trace_id = self._next_id(found.name)
            line = native_line(found, trace_id)
            if self._ids.claim(trace_id, line) is not Duplicate.CONFLICT:
                self._renamed[key] = trace_id
                return line

    def _next_id(self, name: str) -> str:
        # Numbers go on where the last trace with the same end of its id left off: to try them all again would take
        # quadratic time.
        end = f"{name} ({self._location})"[-_END_CHARACTERS:]
        self._numbers[end] += 1
        number = self._numbers[end]
        where = self._location if number == 1 else f"{self._location}, {number}"
        return f"{name} ({where})"[-NAME_LIMIT:]


def native_line(found: NamedTrace, trace_id: str) -> bytes:
    """Return a trace in the native form as a line; raises TraceError if the line would be invalid as input."""
    data = {**to_native(found.trace), "id": trace_id}
    if metadata := metadata_with_id(found.trace, trace_id):
        data["metadata"] = metadata
    try:
        return orjson.dumps(data, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise TraceError(
            f"it cannot be written: {error}",
            "integers of more than 64 bits and halves of surrogate pairs are refused in input, too",
        ) from None

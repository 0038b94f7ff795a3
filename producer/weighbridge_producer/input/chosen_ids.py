"""Selection of cases by id, such as those that failed in an earlier run."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from hashlib import blake2b
from typing import TYPE_CHECKING

from weighbridge.jobs.error_codes import UNREAD_INPUT
from weighbridge_producer.input.sampling import hash_of, id_of
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_SHIFT = 56  #: of a hash, to the part of its table


class ChosenIds:
    """A set of known ids, some of which are selected, stored in eight bytes each."""

    def __init__(self, custom_ids: Iterable[tuple[str, bool]]) -> None:
        """Create a set from ids, each with whether it is selected; one that occurs several times is if it is once."""
        known, chosen = _HashTable(), _HashTable()
        for custom_id, is_chosen in custom_ids:
            hashed = hash_of(custom_id)
            known.add(hashed)
            if is_chosen:
                chosen.add(hashed)
        self._known, self._hashes = known.sorted(), chosen.sorted()
        self._seen = bytearray(len(self._hashes))
        self._digest = blake2b(self._hashes.tobytes(), digest_size=8).hexdigest()
        self.unknown = 0  #: number of cases in the lines read last whose ids are not known
        self.unnamed = 0  #: number of lines read last without a valid id, which are left out

    def __len__(self) -> int:
        return len(self._hashes)

    def __str__(self) -> str:
        """Return a digest of the set."""
        return self._digest

    @property
    def missing(self) -> int:
        """Number of ids that did not occur in the lines read last."""
        return len(self._seen) - sum(self._seen)

    def of(self, lines: Iterable[SourceLine]) -> Iterator[SourceLine]:
        """Yield the lines of the selected cases, and blank lines for the others, so that line numbers stay the same.

        A fault that ends the input is selected too, because cases may stand behind it.
        """
        self._seen, self.unknown, self.unnamed = bytearray(len(self._hashes)), 0, 0
        for line in lines:
            custom_id = id_of(line)
            is_end = line.fault is not None and line.fault.code in UNREAD_INPUT
            if is_end or (custom_id is not None and self._take(hash_of(custom_id))):
                yield line
            else:
                self.unnamed += custom_id is None and bool(line.fault or line.raw.strip())
                yield SourceLine(b"\n", None, line.size, line.origin)

    def _take(self, hashed: int) -> bool:
        place = _place_of(hashed, self._hashes)
        if place is None:
            self.unknown += _place_of(hashed, self._known) is None
            return False
        self._seen[place] = 1
        return True


class _HashTable:
    """Hashes in parts, each of which is sorted by itself, so that no list of all is needed."""

    def __init__(self) -> None:
        self._parts = [array("Q") for _ in range(256)]

    def add(self, hashed: int) -> None:
        self._parts[hashed >> _SHIFT].append(hashed)

    def sorted(self) -> array[int]:
        """Return the different hashes in ascending order, and forget them."""
        found = array("Q")
        for place, part in enumerate(self._parts):
            found.extend(sorted(set(part)))
            self._parts[place] = array("Q")
        return found


def _place_of(hashed: int, hashes: array[int]) -> int | None:
    place = bisect_left(hashes, hashed)
    return place if place < len(hashes) and hashes[place] == hashed else None

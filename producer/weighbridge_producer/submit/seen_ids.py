"""The custom_ids of a batch's earlier chunks, so that the feeder asks the server about few of a new chunk's: it finds the duplicates."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from weighbridge_producer.submit.bloom_filter import BloomFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Ids whose digests are kept; with 8 bytes each, they take as much memory as the filter.
_MOST_ASCENDING = 1 << 21


class SeenIds:
    """A record of ids in constant memory: an id is either certainly new or possibly seen before.

    Ids in ascending order, shorter ones first, such as `q9`, `q10` or `job-0001`, are all new. This is checked several
    times faster than ids are added to a Bloom filter, which is filled with the first id that is not in order.
    """

    def __init__(self) -> None:
        self._filter: BloomFilter | None = None
        self._digests = array("Q")  #: of the ids so far, while there is no filter
        self._greatest = (0, "")  #: length and text of the greatest of them

    def add(self, ids: Sequence[str], digests: bytes) -> list[int]:
        """Add different ids with their digests of 8 bytes, and return the indices of those that may have been added before."""
        if self._filter is None:
            if self._continue_order(ids):
                self._digests.frombytes(digests)
                return []
            self._filter = BloomFilter()
            for digest in self._digests:
                self._filter.add(digest)
            self._digests = array("Q")
        add = self._filter.add
        return [index for index, digest in enumerate(array("Q", digests)) if add(digest)]

    def _continue_order(self, ids: Sequence[str]) -> bool:
        """Return whether ids are in order and after all earlier ones; if so, note the greatest."""
        if not ids:
            return True
        is_later = self._greatest < (len(ids[0]), ids[0])
        if len(self._digests) + len(ids) > _MOST_ASCENDING or not is_later:
            return False
        # Sorting what is sorted takes less time than comparing neighbours.
        if sorted(sorted(ids), key=len) != ids:
            return False
        self._greatest = len(ids[-1]), ids[-1]
        return True

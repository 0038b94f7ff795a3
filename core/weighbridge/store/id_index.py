"""Look-ups in a batch that do not read all of it: by custom_id, by chunk, and along the log."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import ServerError
from weighbridge.jobs.chunk import DAMAGED_BLOB, Chunk, decompressed_lines
from weighbridge.store.base import StoreBase
from weighbridge.store.connection import translate_errors
from weighbridge.store.cursor import ResultsVersion, results_lost
from weighbridge.store.key_names import key, text
from weighbridge.store.records import LogEntry, ScanResult

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

_ENTRIES_AT_ONCE = 500  #: log entries per scan; the server is blocked meanwhile
_FOUND_AT_ONCE = 16  #: entries that one scan returns
_CHUNKS_AT_ONCE = 2_000  #: chunk numbers passed to a script
_CLAIMS_AT_ONCE = 150_000  #: ids of 12 bytes scanned by one script, approximately


class IdIndex(StoreBase):
    """Look-ups in a batch."""

    def results_version(self, batch: str) -> ResultsVersion:
        """Return how often results of the batch were withdrawn by retries."""
        with translate_errors():
            epoch, reopened = self.redis.hmget(key(batch, "meta"), ["epoch", "reopened"])
        if epoch is None:
            raise self.missing(batch)
        return ResultsVersion(int(epoch), int(reopened or 0))

    def scan_log(
        self,
        batch: str,
        after: str,
        texts: Sequence[str],
        numbers: Collection[int] | None = None,
        or_text: str = "",
    ) -> ScanResult | None:
        """Scan the log after a position for chunks whose records contain all of `texts`; None at the log's end.

        With `numbers`, a chunk must have one of these numbers or contain `or_text` in its record. Raises BatchLostError if
        the log has lost its first entries.
        """
        among = "" if numbers is None else f" {' '.join(map(str, numbers))} "
        answer = self._run(
            "scan_log", batch, after, _ENTRIES_AT_ONCE, _FOUND_AT_ONCE, among, or_text, *texts
        )
        if not answer:
            return None
        if answer == [b"lost"]:
            raise results_lost(batch)
        at, last, name, *found = answer
        passed = LogEntry(text(last), text(name)) if last else None
        entries = [
            LogEntry(text(position), text(chunk))
            for position, chunk in zip(found[::3], found[1::3], strict=True)
        ]
        records = map(_object, found[2::3])
        return ScanResult(text(at), passed, list(zip(entries, records, strict=True)))

    def result_lines(self, batch: str, chunk: str) -> Iterator[bytes]:
        """Yield a finished chunk's result lines in blocks; nothing if it has none or they were freed."""
        with translate_errors():
            blob = self.redis.hget(key(batch, "chunks"), f"{chunk} results")
            if blob is None:
                # The connection may still be to a demoted primary, whose data is out of date.
                self.forget_connections()
                blob = self.redis.hget(key(batch, "chunks"), f"{chunk} results")
        try:
            yield from () if blob is None else decompressed_lines(blob)
        except DAMAGED_BLOB as error:
            raise ServerError(f"the results of chunk {chunk} of {batch} are damaged") from error

    def submitted(self, batch: str, number: int) -> Chunk | None:
        """Return a chunk as it was submitted; None if it was freed or cannot be read."""
        with translate_errors():
            blob = self.redis.hget(key(batch, "chunks"), f"{number} lines")
        try:
            return None if blob is None else Chunk.unpack(blob)
        except DAMAGED_BLOB:
            return None

    def chunks_of_id(self, batch: str, digest: bytes) -> list[str]:
        """Return the finished chunks that may hold the result of a custom_id, given 8 bytes of its digest."""
        # The index is read last, so that an id which is indexed meanwhile is found there.
        numbers = self._fresh_claimants(batch, digest)
        with translate_errors():
            bucket = self.redis.hget(key(batch, "ids"), digest[:2]) or b""
            entries = [bucket[at : at + 13] for at in range(0, len(bucket), 13)]
            numbers |= {int.from_bytes(entry[10:]) for entry in entries if entry[:6] == digest[2:]}
            ordered = sorted(numbers)
            fields = [field for number in ordered for field in (f"{number}", f"{number} parts")]
            named = self.redis.hmget(key(batch, "chunks"), fields) if fields else []
        return [name for names in named if names for name in text(names).split()]

    def _fresh_claimants(self, batch: str, digest: bytes) -> set[int]:
        """Return the numbers of the chunks that contain an id but are not indexed yet."""
        with translate_errors():
            counts = self.redis.hmget(key(batch, "meta"), ["indexed", "chunks", "lines"])
        indexed, chunks, lines = (int(count or 0) for count in counts)
        at_once = min(max(_CLAIMS_AT_ONCE * chunks // max(lines, 1), 1), _CHUNKS_AT_ONCE)
        found: set[int] = set()
        for first in range(indexed, chunks, at_once):
            some = range(first, min(first + at_once, chunks))
            found.update(map(int, self._run("unindexed_duplicates", batch, digest, *some)))
        return found


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}

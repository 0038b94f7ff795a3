"""Input order: what a comparison finds in partitions, on disk, and read again in the order of the runs' inputs."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Self

from weighbridge_producer.input.temporary import scratch_database

if TYPE_CHECKING:
    from collections.abc import Iterator


_LINES_MOST = 2**62  #: lines beyond it, which a forged result may name, come last


class InputOrder:
    """Encoded findings in a temporary database, in the order of the first run and then of what only later runs have."""

    def __init__(self) -> None:
        table = "findings (run INTEGER, line INTEGER, content BLOB)"
        self._base = scratch_database(table, has_long_rows=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._base.close()

    def add(self, run: int, line: int, finding: bytes) -> None:
        """Store a finding about a line of the input of a run, the first that has its case."""
        row = (run, min(line, _LINES_MOST), finding)
        self._base.execute("INSERT INTO findings VALUES (?, ?, ?)", row)

    def read(self) -> Iterator[bytes]:
        """Yield the findings; those about one line are in the order in which they were added."""
        found = self._base.execute("SELECT content FROM findings ORDER BY run, line, rowid")
        with closing(found):
            for (content,) in found:
                yield content

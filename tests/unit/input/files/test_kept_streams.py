"""Streams whose beginning is read several times."""

from __future__ import annotations

import io
import random
import zlib
from pathlib import Path

import pytest

from weighbridge.settings import MIB
from weighbridge_producer.input.files.kept_streams import KeptStream

DATA = random.Random(1).randbytes(3 * MIB)


def open_files() -> list[str]:
    return sorted(each.name for each in Path("/proc/self/fd").iterdir())


@pytest.mark.parametrize("size", [0, 10, MIB, 2 * MIB, len(DATA) + 1])
def test_a_beginning_is_read_again_and_then_all(size: int) -> None:
    kept = KeptStream(io.BytesIO(DATA))
    for part in (size // 2, size):
        assert kept.beginning().read(part) == DATA[:part]
    assert io.BufferedReader(kept.rest()).read() == DATA


def test_a_stream_that_fails_does_so_again_after_what_was_read() -> None:
    class Damaged(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            data = super().read1(size)
            if not data:
                raise zlib.error("damaged")
            return data

    kept = KeptStream(Damaged(b"some"))
    for stream in (kept.beginning(), kept.beginning(), io.BufferedReader(kept.rest())):
        assert stream.read1(9) == b"some"
        with pytest.raises(zlib.error):
            stream.read1(9)


def test_a_stream_that_is_left_early_leaves_no_file_open() -> None:
    before = open_files()
    kept = KeptStream(io.BytesIO(DATA))
    kept.beginning().read()
    assert len(open_files()) > len(before)
    del kept
    assert open_files() == before

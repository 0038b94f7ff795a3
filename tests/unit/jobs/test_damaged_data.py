"""Damaged data: whatever stands in the place of a record, reading it raises one of the known errors."""

import pytest

from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.store.leasing import decoded_info
from weighbridge.store.records import BatchOptions, project_in

DAMAGED = [b"", b"\xff", b"{", b"[]", b"7", b'{"jobs": "x"}', b'{"graders": 7}', b"[" * 200_000]


@pytest.mark.parametrize("data", DAMAGED)
def test_a_damaged_record_raises_an_error_that_readers_catch(data: bytes) -> None:
    assert project_in(data) == ""
    with pytest.raises(DAMAGED_DATA):
        BatchOptions.unpack(data)


@pytest.mark.parametrize("data", [b"\xff", b"{", b"7", b'{"jobs": "x"}', b'{"jobs":' * 200_000])
def test_a_damaged_chunk_record_raises_an_error_that_readers_catch(data: bytes) -> None:
    with pytest.raises(DAMAGED_DATA):
        decoded_info(data)

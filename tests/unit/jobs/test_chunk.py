"""Chunks: packing and unpacking preserves the lines and their numbers."""

from concurrent.futures import ThreadPoolExecutor

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import Fault
from weighbridge.jobs.chunk import (
    DAMAGED_BLOB,
    Chunk,
    ChunkId,
    compress,
    content_checksum,
    decompress,
    decompressed_lines,
)
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.limits import SCHEMA_VERSION

FAULT = Fault("LINE_TOO_LONG", "too long", "split it")


def chunk_of(*rows: bytes, first: int = 1) -> Chunk:
    return Chunk(first, b"".join(rows), len(rows))


@given(st.binary())
def test_a_blob_is_what_it_was_after_compression(data: bytes) -> None:
    assert decompress(compress(data)) == data


def test_the_checksum_of_a_blob_is_that_of_its_content() -> None:
    packed = compress(b"one\ntwo\n" * 1000)
    finer = zstandard.ZstdCompressor(level=19, write_checksum=True).compress(b"one\ntwo\n" * 1000)
    assert finer != packed
    assert content_checksum(finer) == content_checksum(packed)
    assert content_checksum(compress(b"one\ntwO\n" * 1000)) != content_checksum(packed)


def test_a_blob_with_another_content_than_was_compressed_is_refused() -> None:
    packed, other = compress(b"a\n" * 1000), compress(b"b\n" * 1000)
    mixed = other[:-4] + packed[-4:]
    for unpack in (decompress, lambda blob: b"".join(decompressed_lines(blob))):
        with pytest.raises(DAMAGED_BLOB):
            unpack(mixed)


WHOLE = ChunkId(0, 1, 8, "0123456789abcdef")


@pytest.mark.parametrize(
    ("name", "chunk_id"),
    [
        ("0:1-8.0123456789abcdef", WHOLE),
        ("17:12001-12501.9f3a2b1c4d5e6f70@1", ChunkId(17, 12001, 12501, "9f3a2b1c4d5e6f70", 1)),
        ("0~3-4.0123456789abcdef", WHOLE.part(3, 4)),
        ("0~3-4.0123456789abcdef@12", WHOLE.part(3, 4).of_epoch(12)),
    ],
)
def test_a_chunk_id_is_read_as_it_is_written(name: str, chunk_id: ChunkId) -> None:
    assert str(chunk_id) == name
    assert ChunkId.parse(name) == chunk_id


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "0",
            "0:1-8",
            "0:1-8.0123456789abcde",
            "0:1-8.0123456789ABCDEF",
            "0:1-8.0123456789abcdef@",
        ),
        *(
            "0:1-8.0123456789abcdef\n",
            " 0:1-8.0123456789abcdef",
            "-1:1-8.0123456789abcdef",
            "\u0660:1-8.0123456789abcdef",
        ),
        "9" * 5000,
    ],
)
def test_what_is_no_name_of_a_chunk_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not the name of a chunk"):
        ChunkId.parse(text)
    assert not ChunkId.is_name(text)


def test_a_part_keeps_the_number_the_digest_and_the_epoch_of_its_chunk() -> None:
    part = WHOLE.of_epoch(2).part(2, 6)
    assert str(part.part(3, 4)) == "0~3-4.0123456789abcdef@2"
    assert part.part(3, 4) == WHOLE.of_epoch(2).part(3, 4)


def test_a_part_of_all_lines_is_another_chunk_than_the_whole() -> None:
    assert WHOLE.part(1, 8) != WHOLE
    assert str(WHOLE.part(1, 8)) != str(WHOLE)


def test_a_packed_chunk_says_all_that_it_said() -> None:
    chunk = chunk_of(b'{"a": 1}\n', b"\n", b'{"b": 2}\n', b'{"b": 2}\n', b"\n", first=101)
    chunk.repeats = {3}
    chunk.faults = {4: FAULT}
    again = Chunk.unpack(chunk.pack())
    assert again == chunk
    assert list(again.jobs()) == list(chunk.jobs())


def test_lines_of_several_files_tell_the_file_and_their_number_there() -> None:
    chunk = Chunk(101)
    stands = [("a, line", 7), ("a, line", 8), ("b, line", 1), ("b, line", 2), ("c, item", 3)]
    for name, number in stands:
        chunk.note_origin(name, number)
        chunk.line_count += 1
        chunk.raw += b"x\n"
    assert chunk.origins == [(0, "a, line", 7), (2, "b, line", 1), (4, "c, item", 3)]
    again = Chunk.unpack(chunk.pack())
    assert again == chunk
    assert [line.location for line in again.jobs()] == [f"{of} {n}" for of, n in stands]
    assert [line.location for line in again.lines(WHOLE.part(104, 105))] == ["b, line 2"]
    assert [line.location for line in chunk_of(b"x\n").jobs()] == [""]


def test_lines_keep_their_numbers_past_blanks_and_repeats() -> None:
    chunk = chunk_of(b"one\n", b"\n", b" \t\r\n", b"two\r\n", b"two\r\n", b"\n", b"three", first=11)
    chunk.repeats = {4}
    chunk.faults = {5: FAULT}
    found = [(line.index, line.number, line.raw.strip(), line.fault) for line in chunk.jobs()]
    assert found == [
        (0, 11, b"one", None),
        (3, 14, b"two", None),
        (5, 16, b"", FAULT),
        (6, 17, b"three", None),
    ]  # fmt: skip


def test_a_line_of_other_white_space_is_not_blank() -> None:
    """Only what JSON calls white space is: the producer counts lines by the same rule."""
    chunk = chunk_of(b"\x0c\n", b"\x0b\n", b"\xc2\xa0\n")
    assert len(list(chunk.jobs())) == 3


def test_parts_have_the_lines_of_the_whole_each_once() -> None:
    chunk = chunk_of(*(b"%d\n" % number for number in range(10)), first=5)
    chunk.repeats = {2}
    whole = ChunkId(1, 5, 15, "0123456789abcdef")
    parts = [whole.part(5, 8), whole.part(8, 9), whole.part(9, 15)]
    together = [line for part in parts for line in chunk.lines(part)]
    assert together == list(chunk.lines(whole))
    assert [[line.number for line in chunk.lines(part)] for part in parts] == [
        [5, 6],
        [8],
        [9, 10, 11, 12, 13, 14],
    ]


def test_of_a_chunk_that_is_lost_every_part_stands_for_as_many_jobs_as_it_was_counted_as() -> None:
    chunk = Chunk.lost(3)
    for name in (WHOLE, WHOLE.part(2, 3)):
        lines = list(chunk.lines(name))
        assert [line.number for line in lines] == [0, 0, 0]
        assert {line.fault.code for line in lines if line.fault} == {ErrorCode.INPUT_LOST}


def test_a_chunk_of_an_unknown_version_errors_each_line_and_still_has_its_numbers() -> None:
    header = {"v": SCHEMA_VERSION + 1, "first": 7, "lines": 2, "something": "new"}
    chunk = Chunk.unpack(compress(orjson.dumps(header) + b"\nwhatever it holds"))
    lines = list(chunk.jobs())
    assert [line.number for line in lines] == [7, 8]
    for line in lines:
        assert line.fault
        assert line.fault.code == ErrorCode.SCHEMA_VERSION
        assert str(SCHEMA_VERSION + 1) in line.fault.message
        assert line.fault.hint


@given(st.lists(st.binary(max_size=8).filter(lambda row: b"\n" not in row), max_size=8))
def test_any_lines_survive_packing(rows: list[bytes]) -> None:
    chunk = chunk_of(*(row + b"\n" for row in rows))
    lines = list(Chunk.unpack(chunk.pack()).jobs())
    assert [line.raw for line in lines] == [row for row in rows if row.strip(b" \t\r\n")]
    assert all(rows[line.index] == line.raw for line in lines)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b"\n"],
        [b"a\n", b"\n", b"b\n"],
        [b"x" * 299_999 + b"\n"] * 5,
        [b"y" * 3_000_000 + b"\n", b"short\n"],
        [b"1234\n"] * 100_000,
        [b"a\n", b"no end"],
        [b"z" * 700_000],
    ],
    ids=lambda lines: f"{len(lines)} of {len(lines[0]) if lines else 0}",
)
def test_a_blob_comes_back_in_whole_lines_whatever_their_length(lines: list[bytes]) -> None:
    blocks = list(decompressed_lines(compress(b"".join(lines))))
    assert b"".join(blocks) == b"".join(lines)
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(blocks)


@pytest.mark.parametrize("blob", [b"", b"nonsense", compress(b"a\n" * 1000)[:-3]])
def test_a_damaged_blob_gives_no_lines_but_an_error(blob: bytes) -> None:
    with pytest.raises(DAMAGED_BLOB):
        assert b"".join(decompressed_lines(blob)) == b"a\n" * 1000


def test_many_threads_compress_and_decompress_at_once() -> None:
    blobs = [bytes([number]) * 200_000 for number in range(64)]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(5):
            assert list(pool.map(lambda blob: decompress(compress(blob)), blobs)) == blobs

"""Reading: every line of any input once, in order, numbered; and for what cannot be read, a fault in its place."""

from __future__ import annotations

import gzip
import io
import os
import random
import re
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from support.trace_examples.editor_agents import CURSOR_EXPORT, OPENCODE_EXPORT, SPECSTORY_HISTORY
from weighbridge.errors import InputError, MappingNeededError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB, Settings
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge_producer.input.source_lines import SourceLine

RANDOM = random.Random(1)
LINES = [
    b'{"custom_id": "%d", "text": "%s"}\n' % (number, RANDOM.randbytes(20).hex().encode())
    for number in range(3000)
]
TEXT = b"".join(LINES)


def read(cases: Any, **settings: Any) -> list[SourceLine]:
    return list(Source(cases, Settings(**settings)))


def raws(lines: list[SourceLine]) -> list[bytes]:
    return [line.raw for line in lines]


def codes(lines: list[SourceLine]) -> dict[int, str]:
    """Return the faults by line number."""
    return {number: line.fault.code for number, line in enumerate(lines, 1) if line.fault}


def zstd(data: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(data)


FORMATS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip in members": lambda data: gzip.compress(data[:5000]) + gzip.compress(b"") + gzip.compress(data[5000:]),
    "padded gzip": lambda data: gzip.compress(data) + b"\0" * 1000,
    "zstd": zstd,
    "zstd in frames": lambda data: zstd(data[:5000]) + zstd(b"") + zstd(data[5000:]),
    "zstd with a skippable frame": lambda data: b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd(data),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMATS)
def test_a_file_is_read_line_by_line_whatever_its_form(form: str, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"  # the content determines the kind, not the name
    path.write_bytes(FORMATS[form](TEXT))
    source = Source(path, Settings())
    assert raws(list(source)) == LINES
    assert raws(list(source)) == LINES, "a file can be read again"
    assert source.rereadable
    assert source.consumed == source.size == path.stat().st_size
    assert source.name == str(path)


@pytest.mark.parametrize("form", FORMATS)
def test_a_stream_is_read_like_a_file(form: str) -> None:
    source = Source(io.BytesIO(FORMATS[form](TEXT)), Settings())
    assert raws(list(source)) == LINES
    assert not source.rereadable


@pytest.mark.slow
def test_standard_input_is_read_like_a_file() -> None:
    script = (
        "import sys; from weighbridge.settings import Settings; from weighbridge_producer.input.source import Source\n"
        "source = Source('-', Settings()); lines = list(source)\n"
        "print(len(lines), sum(len(line.raw) for line in lines), source.name, source.rereadable)"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script],
        input=TEXT,
        capture_output=True,
        check=True,
        timeout=60,
    ).stdout
    assert shown.decode().strip() == f"{len(LINES)} {len(TEXT)} standard input False"


# The other forms are read from a stream above.
@pytest.mark.parametrize("form", ["plain", "gzip"])
def test_a_named_pipe_is_read_as_it_comes(form: str, tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(FORMATS[form](TEXT),), daemon=True)
    writer.start()
    source = Source(path, Settings())
    assert raws(list(source)) == LINES
    assert not source.rereadable
    writer.join(10)


def test_a_line_of_a_pipe_is_there_before_the_next_is_written() -> None:
    reading_end, writing_end = os.pipe()
    with os.fdopen(reading_end, "rb") as stream, os.fdopen(writing_end, "wb", 0) as pipe:
        lines = iter(Source(stream, Settings()))
        for line in LINES[:5]:
            pipe.write(line)
            assert next(lines).raw == line


def test_carriage_returns_blank_lines_and_a_missing_last_newline_keep_their_places() -> None:
    rows = [b'{"a": 1}\r\n', b"\r\n", b"\n", b'{"b": 2}\r\n', b" \n", b'{"c": 3}']
    assert raws(read(io.BytesIO(b"".join(rows)))) == rows


@pytest.mark.parametrize("form", FORMATS)
def test_an_empty_input_has_no_lines(form: str) -> None:
    assert read(io.BytesIO(FORMATS[form](b""))) == []


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("limit", [MIB, 2])
def test_a_byte_order_mark_is_passed_over_at_the_start_only(form: str, limit: int) -> None:
    mark = b"\xef\xbb\xbf"
    source = Source(
        io.BytesIO(FORMATS[form](mark + b"{}\n" + mark + b"\n")),
        Settings(line_limit_bytes=max(limit, 4)),
    )
    assert raws(list(source)) == [b"{}\n", mark + b"\n"]
    assert source.byte_order_mark


def test_a_byte_order_mark_does_not_lengthen_its_line() -> None:
    lines = read(io.BytesIO(b"\xef\xbb\xbf" + b"x" * 10 + b"\n" + b"y\n"), line_limit_bytes=10)
    assert raws(lines) == [b"x" * 10 + b"\n", b"y\n"]
    lines = read(io.BytesIO(b"\xef\xbb\xbf" + b"x" * 11 + b"\n" + b"y\n"), line_limit_bytes=10)
    assert codes(lines) == {1: "LINE_TOO_LONG"}
    assert len(lines) == 2


@pytest.mark.parametrize("form", FORMATS)
def test_one_line_over_the_limit_is_that_lines_fault_alone(form: str) -> None:
    rows = [b"a" * 100 + b"\n", b"b" * 1_000_000 + b"\n", b"c" * 101 + b"\n", b"d\n", b"e" * 101]
    lines = read(io.BytesIO(FORMATS[form](b"".join(rows))), line_limit_bytes=100)
    assert codes(lines) == dict.fromkeys((2, 3, 5), "LINE_TOO_LONG")
    assert raws(lines) == [rows[0], b"\n", b"\n", rows[3], b"\n"]
    fault = lines[1].fault
    assert fault
    assert fault.message == "the line has 1,000,001 bytes, at most 100 are allowed"
    assert "WEIGHBRIDGE_LINE_LIMIT_BYTES" in fault.hint
    assert sum(line.size for line in lines) == sum(map(len, rows))


@given(
    st.lists(st.binary(max_size=12).map(lambda row: row.replace(b"\n", b"")), max_size=19),
    st.integers(1, 8),
    st.sampled_from(sorted(FORMATS)),
)
def test_line_numbers_are_those_of_the_file_whatever_the_limit(
    rows: list[bytes], limit: int, form: str
) -> None:
    rows = [b"{", *rows]  # a file with another beginning gets an error about its kind
    data = b"".join(row + b"\n" for row in rows)
    lines = read(io.BytesIO(FORMATS[form](data)), line_limit_bytes=limit)
    assert len(lines) == len(rows)
    for row, line in zip(rows, lines, strict=True):
        assert line.size == len(row) + 1
        assert line.raw == (row + b"\n" if len(row) <= limit else b"\n")
        assert bool(line.fault) == (len(row) > limit)


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "plain"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_all_that_a_cut_archive_still_has_is_read_and_its_end_is_noticed(
    form: str, share: float
) -> None:
    packed = FORMATS[form](TEXT).rstrip(b"\0")
    lines = read(io.BytesIO(packed[: int(len(packed) * share)]))
    assert codes(lines) == {len(lines): "INPUT_TRUNCATED"}
    assert raws(lines[:-1]) == LINES[: len(lines) - 1]
    if "gzip" in form:  # zstd gives whole blocks of 128 KiB only
        assert len(lines) > len(LINES) * share * 0.8
    fault = lines[-1].fault
    assert fault
    assert "ends early or is damaged" in fault.message
    assert "the lines before it are graded" in fault.hint


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_an_archive_that_lacks_only_its_last_byte_is_noticed(form: str) -> None:
    lines = read(io.BytesIO(FORMATS[form](TEXT)[:-1]))
    assert codes(lines) == {len(lines): "INPUT_TRUNCATED"}


def test_a_damaged_archive_is_noticed() -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[len(packed) // 2] ^= 0xFF
    lines = read(io.BytesIO(bytes(packed)))
    assert codes(lines) == {len(lines): "INPUT_TRUNCATED"}
    checksum = bytearray(gzip.compress(TEXT))
    checksum[-6] ^= 0xFF
    lines = read(io.BytesIO(bytes(checksum)))
    assert raws(lines[:-1]) == LINES[: len(lines) - 1]
    assert len(lines) > len(LINES) * 0.9
    assert codes(lines) == {len(lines): "INPUT_TRUNCATED"}


def test_what_follows_an_archive_and_is_none_is_noticed() -> None:
    lines = read(io.BytesIO(gzip.compress(TEXT) + b"and more"))
    assert raws(lines[:-1]) == LINES
    assert codes(lines) == {len(lines): "INPUT_TRUNCATED"}


def test_a_zstd_frame_that_wants_a_giant_window_is_refused() -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=30, compression_level=1)
    compressor = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    packed = compressor.compress(b"{}\n") + compressor.flush()
    lines = read(io.BytesIO(packed))
    assert codes(lines) == {1: "INPUT_TRUNCATED"}
    assert "too much memory" in (lines[0].fault.message if lines[0].fault else "")


def bomb(form: str, plain: bytes, times: int) -> bytes:
    """Compress the same megabytes over and over, without ever having them all."""
    if form == "gzip":
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
            for _ in range(times):
                file.write(plain)
        return packed.getvalue()
    compressor = zstandard.ZstdCompressor(level=3).compressobj()
    return b"".join(compressor.compress(plain) for _ in range(times)) + compressor.flush()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "filling"),
    [
        ("gzip", b" " * 15 + b"\n"),
        ("gzip", b"\0"),
        ("zstd", b"\0"),
        ("zstd", b"{}" + b" " * 61 + b"\n"),
    ],
)
def test_a_bomb_is_given_up_in_seconds_at_constant_memory(form: str, filling: bytes) -> None:
    packed = b'{"custom_id": "good"}\n'
    data = FORMATS[form](packed) + bomb(form, (filling * MIB)[:MIB], 32)
    assert len(data) < MIB // 8
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    first = last = None
    count = 0
    for line in Source(io.BytesIO(data), Settings(line_limit_bytes=MIB)):
        first, last, count = first or line, line, count + 1
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert first
    assert first.raw == packed
    assert last
    assert last.fault
    assert last.fault.code == ErrorCode.INPUT_TOO_LARGE
    assert "200-fold" in last.fault.message
    assert "WEIGHBRIDGE_EXPANSION_LIMIT" in last.fault.hint
    assert time.monotonic() - began < 60  # on a busy machine; alone it takes few
    assert grown_kib < 100 * 1024


@pytest.mark.parametrize("form", ["gzip", "zstd"])
def test_an_input_that_compresses_well_is_no_bomb(form: str) -> None:
    rows = b'{"custom_id": "a", "inputs": {"agent_response": "yes"}}\n' * 100
    assert len(read(io.BytesIO(FORMATS[form](rows * 10)))) == 1000


@pytest.mark.slow
def test_the_expansion_limit_can_be_raised() -> None:
    data = bomb("gzip", b"x" * (MIB - 1) + b"\n", 10)
    assert codes(read(io.BytesIO(data)))
    assert codes(read(io.BytesIO(data), expansion_limit=2000)) == {}


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: path.with_name(f"my-{path.name}").touch(), "does not exist; did you mean '"),
        (lambda path: path.symlink_to(path), "cannot be read"),
    ],
)
def test_an_input_that_is_no_file_is_refused_at_once(
    make: Callable[[Path], None], why: str, tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    make(path)
    with pytest.raises(InputError) as caught:
        Source(path, Settings())
    assert f"{str(path)!r} {why}" in caught.value.message
    assert "JSON Lines, JSON, CSV" in caught.value.hint
    assert caught.value.code == "INPUT_UNREADABLE"


def test_a_folder_is_read_in_the_order_of_its_names_and_what_is_no_input_left_out(
    tmp_path: Path,
) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "2.jsonl.gz").write_bytes(gzip.compress(b'{"custom_id": "2"}'))
    (tmp_path / "1.json").write_bytes(b'{"custom_id": "1"}\n')
    for other in (".hidden.jsonl", "notes.txt", "1.results.jsonl", "1.results.jsonl.gz"):
        (tmp_path / other).write_bytes(b'{"custom_id": "no"}\n')
    assert raws(read(tmp_path)) == [b'{"custom_id": "1"}\n', b'{"custom_id": "2"}\n']
    assert raws(read(str(tmp_path / "*.json"))) == [b'{"custom_id": "1"}\n']
    assert raws(read(str(tmp_path / "1*"))) == [b'{"custom_id": "1"}\n']
    source = Source(tmp_path, Settings())
    assert source.rereadable
    assert [name for name, _, _ in source.fingerprint()] == [str(file) for file in source.files]
    assert sum(1 for _ in source) == 2
    assert source.consumed == source.size


def test_files_of_a_folder_with_other_endings_are_named(tmp_path: Path) -> None:
    mapping = parse_mapping(["custom_id=id,agent_response=output"])
    for name in ("1.jsonl", "2.feather", "3.pq", "4.tab.gz"):
        (tmp_path / name).write_bytes(b"{}\n")
    (tmp_path / ".git").mkdir()
    for never in (".hidden", "1.results.jsonl", ".git/config"):
        (tmp_path / never).write_bytes(b"")
    every = Source(tmp_path, Settings(), mapping)
    assert [file.name for file in every.files] == ["1.jsonl", "2.feather", "3.pq", "4.tab.gz"]
    assert every.skipped_note() == ""
    (tmp_path / "notes.txt").write_bytes(b"")
    assert (
        Source(tmp_path, Settings(), mapping)
        .skipped_note()
        .startswith(
            "1 file skipped (notes.txt): in a folder, only files are read that end in .jsonl, .ndjson"
        )
    )
    note = Source(tmp_path, Settings()).skipped_note()
    assert note.startswith(
        "4 files skipped (2.feather, 3.pq, 4.tab.gz, ...): in a folder, only files are read"
    )
    assert note.endswith(
        ".eval, and databases and Markdown of known agents; a file of another name is read if you name"
        " it; tables are read with a mapping"
    )
    assert Source(tmp_path / "1.jsonl", Settings()).skipped_note() == ""


@pytest.mark.parametrize(
    ("names", "read"),
    [
        (["dataset_info.json", "train.jsonl"], ["train.jsonl"]),
        (["dataset_infos.json", "state.json", "train.parquet"], ["train.parquet"]),
        (["data.arrow", "state.json"], ["data.arrow"]),
        (["dataset_dict.json", "test/data.arrow", "test/state.json"], ["data.arrow"]),
        (["state.json", "train.jsonl"], ["state.json", "train.jsonl"]),
        (["dataset_info.json", "state.json"], ["dataset_info.json", "state.json"]),
    ],
)
def test_descriptions_of_a_data_set_are_skipped_beside_its_files_and_named(
    names: list[str], read: list[str], tmp_path: Path
) -> None:
    (tmp_path / "test").mkdir()
    for name in names:
        (tmp_path / name).write_bytes(b"{}\n")
    source = Source(tmp_path, Settings(), parse_mapping(["custom_id=id,agent_response=output"]))
    assert [file.name for file in source.files] == read
    skipped = [name for name in names if name.rpartition("/")[2] not in read]
    note = source.skipped_note()
    assert note.startswith(f"{len(skipped)} file" if skipped else "")
    assert bool(note) == bool(skipped)
    assert all(name in note.partition(":")[0] for name in skipped)
    if skipped:
        those = ", ".join(sorted(name.rpartition("/")[2] for name in skipped))
        assert note.endswith(f", .feather, but not {those} of Hugging Face")


@pytest.mark.parametrize("is_mapped", [True, False])
def test_files_of_a_folder_without_a_row_are_named(is_mapped: bool, tmp_path: Path) -> None:
    mapping = parse_mapping(["custom_id=custom_id,agent_response=x"]) if is_mapped else None
    (tmp_path / "1.jsonl").write_bytes(b'{"custom_id": "1", "x": "a"}\n')
    empty = {"2.jsonl": b"", "3.json": b""} | ({"4.csv": b"custom_id,x\n"} if is_mapped else {})
    for name, content in empty.items():
        (tmp_path / name).write_bytes(content)
    source = Source(tmp_path, Settings(), mapping)
    assert sum(1 for _ in source) == 1
    assert source.notes.counts() == [f"{len(empty)} files have no row: {', '.join(empty)}"]
    alone = Source(tmp_path / "2.jsonl", Settings(), mapping)
    assert (list(alone), alone.notes.counts()) == ([], [])


def places(cases: Any) -> list[str]:
    """Return the location of each line, as shown in errors."""
    return [line.as_job(number).location for number, line in enumerate(read(cases), 1)]


def test_each_of_several_files_begins_a_line_of_its_own_and_counts_from_one(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "a.jsonl").write_bytes(b'{"custom_id": "1"}\n\n{"custom_id": "2"}')
    (tmp_path / "b" / "a.jsonl").write_bytes(b'{"custom_id": "3"}\noops')
    assert raws(read(tmp_path)) == [
        *(b'{"custom_id": "1"}\n', b"\n", b'{"custom_id": "2"}\n'),
        *(b'{"custom_id": "3"}\n', b"oops\n"),
    ]
    of_all = [f"a.jsonl, line {n}" for n in (1, 2, 3)] + [f"b/a.jsonl, line {n}" for n in (1, 2)]
    assert places(tmp_path) == of_all
    assert places(str(tmp_path / "**" / "*.jsonl")) == of_all
    assert places(str(tmp_path / "*" / "a.jsonl")) == of_all[3:]
    assert set(places(tmp_path / "a.jsonl")) == {""}


def test_traces_and_documents_among_several_files_tell_their_place(tmp_path: Path) -> None:
    trace = b'{"messages": [{"role": "user", "content": "hi"}]}'
    (tmp_path / "a.jsonl").write_bytes(b"\n".join([b"", trace, b"oops", trace]))
    (tmp_path / "b.json").write_bytes(b"\n[\n" + b",\n".join([trace] * 2) + b"\n]\n")
    (tmp_path / "c.json").write_bytes(b"{\n oops\n}\n")
    assert places(tmp_path) == [
        *("a.jsonl, line 1", "a.jsonl, line 2", "a.jsonl, line 3", "a.jsonl, line 4"),
        *("b.json, line 1", "b.json, item 1", "b.json, item 2"),
        *("c.json, line 1", "c.json, line 2", "c.json, line 3"),
    ]


def test_a_session_of_several_files_names_its_damaged_line_by_its_number_in_the_file_alone(
    tmp_path: Path,
) -> None:
    head = {"timestamp": "2025-09-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s"}}
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    item = {"timestamp": "2025-09-01T10:00:01Z", "type": "response_item", "payload": said}
    lines = b"\n".join(map(orjson.dumps, (head, item))) + b"\n"
    (tmp_path / "a.jsonl").write_bytes(lines + b'{"times')
    (tmp_path / "b.jsonl").write_bytes(lines)
    assert places(tmp_path) == ["a.jsonl, item 1", "a.jsonl", "b.jsonl, item 1"]
    torn = read(tmp_path)[1].fault
    assert torn
    assert torn.at("a.jsonl").message.startswith("a.jsonl: line 3, the last of the session, is cut")


def test_a_file_whose_name_is_no_utf8_is_named_by_its_bytes(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.jsonl")).write_bytes(b"oops\n")
    assert places(tmp_path) == ["\\udcff.jsonl, line 1"]


@pytest.mark.parametrize(
    ("cases", "file", "is_taken"),
    [
        (".", "out.jsonl", True),
        (".", "sub/out.json.gz", True),
        (".", "out.csv", False),
        (".", "out.results.jsonl", False),
        (".", "out.results.jsonl.zst", False),
        (".", "../out.jsonl", False),
        ("*.jsonl", "out.jsonl", True),
        ("*.jsonl", "./sub/../out.jsonl", True),
        ("*.jsonl", "sub/out.jsonl", False),
        ("*.jsonl", "out.results.jsonl", False),
        ("*.jsonl", "out.jsonl.gz", False),
        ("**/*.jsonl", "out.jsonl", True),
        ("**/*.jsonl", "sub/sub/out.jsonl", True),
        ("*", "out.csv", True),
        ("in.jsonl", "out.jsonl", False),
    ],
)
def test_a_file_that_would_be_input_the_next_time_is_known(
    cases: str, file: str, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.jsonl").write_bytes(TEXT)
    monkeypatch.chdir(tmp_path)
    for base in ("", f"{tmp_path}/"):
        source = Source(f"{base}{cases}", Settings())
        assert source.would_take(file) is is_taken
        assert source.would_take(str(tmp_path / file)) is is_taken


@pytest.mark.parametrize(("link", "to"), [("runs/circle", "."), ("again", "runs")])
def test_a_pattern_that_meets_a_linked_folder_reads_each_file_once(
    link: str, to: str, tmp_path: Path
) -> None:
    (tmp_path / "runs").mkdir()
    for name in ("a.jsonl", "runs/b.jsonl"):
        (tmp_path / name).write_text('{"custom_id": "1"}\n')
    (tmp_path / link).symlink_to(tmp_path / to)
    files = Source(str(tmp_path / "**" / "*.jsonl"), Settings()).files
    assert sorted(file.name for file in files) == ["a.jsonl", "b.jsonl"]


@pytest.mark.parametrize(
    ("cases", "complaint"),
    [
        ("", "has no file to read"),
        ("*.jsonl.gz", "no file matches"),
        ("*.jsonl", "matches only results of earlier runs"),
    ],
)
def test_a_folder_or_pattern_without_input_is_refused_at_once(
    cases: str, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_bytes(b"{}")
    (tmp_path / "weighbridge.results.jsonl").write_bytes(b"{}")
    with pytest.raises(InputError, match=complaint):
        Source(tmp_path / cases, Settings())


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "/dev/null/cases.jsonl"])
def test_an_impossible_path_is_refused_like_a_missing_one(path: str) -> None:
    with pytest.raises(InputError):
        Source(path, Settings())


def test_a_file_that_vanishes_before_it_is_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(TEXT)
    source = Source(path, Settings())
    path.unlink()
    with pytest.raises(InputError, match="cannot be read"):
        list(source)


def test_cases_can_be_mappings_lines_or_text() -> None:
    case = {"custom_id": "a", "inputs": {"x": [1, 2.5, None, "é"]}}
    line = orjson.dumps(case)
    given: list[Any] = [
        case,
        line,
        line + b"\n",
        line + b"\r\n",
        line.decode(),
        line.decode() + "\n",
    ]
    assert set(raws(read(given))) == {line + b"\n"}


def test_a_generator_is_read_as_it_goes() -> None:
    drawn = []

    def cases() -> Any:
        for number in range(1000):
            drawn.append(number)
            yield {"custom_id": str(number)}

    lines = iter(Source(cases(), Settings()))
    next(lines)
    next(lines)
    assert drawn == [0, 1]


def test_a_text_stream_is_read_line_by_line() -> None:
    assert raws(read(io.StringIO('{"a": "é"}\n\n{"b": 1}'))) == [
        '{"a": "é"}\n'.encode(),
        b"\n",
        b'{"b": 1}\n',
    ]


def test_a_case_given_as_an_object_is_bound_by_the_line_limit() -> None:
    lines = read([{"custom_id": "a" * 100}, b"b" * 101, "c" * 100], line_limit_bytes=100)
    assert codes(lines) == {1: "LINE_TOO_LONG", 2: "LINE_TOO_LONG"}


def test_what_a_generator_raises_is_raised() -> None:
    def cases() -> Any:
        yield {"custom_id": "a"}
        raise ZeroDivisionError

    lines = iter(Source(cases(), Settings()))
    next(lines)
    with pytest.raises(ZeroDivisionError):
        next(lines)


def test_a_row_without_the_id_names_the_path_and_its_own_columns(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,x\n1,a\n")
    (tmp_path / "b.jsonl").write_bytes(b'{"key": "2", "gold": "b"}\n{"id": null, "x": "b"}\n')
    source = Source(tmp_path, Settings(), parse_mapping(["custom_id=id,agent_response=x"]))
    faults = [line.fault for line in source if line.fault]
    what = "the row has no value in 'id', which custom_id is mapped to"
    assert [(fault.message, fault.hint) for fault in faults] == [
        (what, "its columns: key, gold"),
        (what, "its columns: id, x"),
    ]


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"id,x\n1,a\n")
    (tmp_path / "b.csv").write_bytes(b"id,x" + b",y" * 9_999 + b"\n")
    source = Source(tmp_path, Settings(), parse_mapping(["custom_id=id,agent_response=x"]))
    with pytest.raises(InputError, match=r"^b\.csv: the table has 10,001 columns"):
        list(source)


#: more than two blocks
CASES = b"".join(
    b'{"custom_id": "%d", "inputs": {"text": "%s"}}\n'
    % (number, RANDOM.randbytes(50).hex().encode())
    for number in range(4000)
)
LONG = b'{"custom_id": "long", "inputs": {"text": "%s"}}\n' % (b"x" * 300_000)
CUT = CASES[:300_000] + LONG + CASES[300_000:]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "settings"),
    [
        (CASES, {}),
        (CASES[:-1], {}),
        (b"\xef\xbb\xbf" + CASES.replace(b"\n", b"\r\n"), {}),
        (CASES.replace(b"\n", b"\n \n", 50), {}),
        (CUT, {}),
        (CUT, {"line_limit_bytes": 290_000}),
        (LONG + CASES + b"no JSON\n\r\n", {"line_limit_bytes": 290_000}),
        (CASES + LONG, {"line_limit_bytes": 100}),
        (CASES, {"batch_limit_lines": 3000}),
        (CASES, {"batch_limit_bytes": 400_000}),
        (gzip.compress(CASES), {}),
        (gzip.compress(CASES)[:-9], {}),
    ],
    ids=lambda given: str(given) if isinstance(given, dict) else "",
)
def test_blocks_have_the_lines_that_are_read_one_by_one(
    content: bytes, settings: dict[str, int], tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(content)
    source = Source(path, Settings(**settings))
    blocks = list(source.blocks())
    assert [line for block in blocks for line in block.lines()] == list(source)
    assert all(block.raw.count(b"\n") == block.count for block in blocks if block.count > 1)
    if not settings:
        assert len(blocks) < 2000


BLANK = b"\n \r\n\t\n" * 10_000
TRACE = b'{"messages": [{"role": "user", "content": "Hi"}]}\n'


@pytest.mark.parametrize(
    ("content", "settings"),
    [
        (CASES, {}),
        (b" \n" + CASES, {}),
        (TRACE, {}),
        (TRACE.replace(b", ", b",\n"), {}),
        (b"", {}),
        (b" ", {}),
        (b" " * 100_000 + b"\n" + CASES, {}),
        (CASES, {"batch_limit_lines": 25_000}),
        (CASES, {"line_limit_bytes": 40}),
    ],
    ids=["cases", "space", "trace", "document", "nothing", "torn", "wide", "many lines", "long"],
)
@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_blank_lines_before_the_first_other_one_come_in_blocks(
    content: bytes, settings: dict[str, int], packed: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(packed(BLANK + content))
    source = Source(path, Settings(**settings))
    blocks = list(source.blocks())
    assert [line for block in blocks for line in block.lines()] == list(source)
    assert max(block.count for block in blocks) > 4_000 or settings


TABLE = b"id,answer,gold\n" + b"".join(
    b"c%d,\xc3\xa9%d,no\n" % (number, number) for number in range(999)
)


@pytest.mark.parametrize(
    ("table", "settings"),
    [
        (TABLE, {}),
        (TABLE.replace(b",no\n", b',"no\nno"\n', 9), {}),
        (TABLE.replace(b"c500,", b"c500," + b"x" * 30_000), {}),
        (TABLE.replace(b"c500,", b",").replace(b"c700,", b"c700,,"), {}),
        (TABLE, {"batch_limit_lines": 300}),
        (TABLE, {"batch_limit_bytes": 4_000}),
    ],
    ids=["plain", "of several lines", "long", "faulty", "too many lines", "too many bytes"],
)
def test_blocks_of_a_mapped_table_have_the_lines_that_are_read_one_by_one(
    table: bytes, settings: dict[str, int], tmp_path: Path
) -> None:
    path = tmp_path / "cases.csv"
    path.write_bytes(table)
    mapping = parse_mapping(["custom_id=id,agent_response=answer,expected_output=gold"])
    source = Source(path, Settings(**settings), mapping)
    blocks = list(source.blocks())
    assert [line for block in blocks for line in block.lines()] == list(source)
    assert sum(block.size for block in blocks) == sum(line.size for line in source)
    assert all(block.raw.count(b"\n") == block.count for block in blocks if block.count > 1)
    assert len(blocks) < 20 or settings


@pytest.mark.parametrize("limit", [20, 50, 200])
def test_a_bomb_gives_the_same_lines_in_blocks_as_one_by_one(limit: int, tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(
        gzip.compress((b'{"custom_id": "%s", "inputs": {}}\n' % (b"a" * 999)) * 12_000)
    )
    source = Source(path, Settings(expansion_limit=limit))
    lines = [line for block in source.blocks() for line in block.lines()]
    assert lines == list(source)
    fault = lines[-1].fault
    assert fault
    assert fault.code == "INPUT_TOO_LARGE"


def test_lines_that_have_arrived_in_a_pipe_are_not_kept_back() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        lines = Source(stream, Settings()).blocks()
        for number in range(5):
            os.write(writing, b'{"custom_id": "%d", "inputs": {}}\n{"custom_id"' % number)
            assert next(lines).raw.endswith(b'"%d", "inputs": {}}\n' % number)
            os.write(writing, b': "b", "inputs": {}}\n')
            assert next(lines).raw == b'{"custom_id": "b", "inputs": {}}\n'
        os.close(writing)


def test_a_table_without_a_mapping_is_refused_with_what_python_takes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,output,gold\n1,a,b\n")
    with pytest.raises(MappingNeededError, match=r"parse_mapping\(\[\.\.\.\]\)"):
        list(Source(tmp_path / "a.csv", Settings()))


HISTORY = "# aider chat started at 2026-03-02 10:00:00\n\n#### fix it\n\nDone.\n"


def test_a_folder_with_nothing_else_is_read_from_aiders_histories(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".aider.chat.history.md").write_text(HISTORY)
    (tmp_path / "a/notes.md").write_text("x")
    cases = [orjson.loads(line.raw) for line in Source(str(tmp_path), Settings())]
    assert [case["custom_id"] for case in cases] == [
        f"{name}/.aider.chat.history.md:1" for name in ("a", "b")
    ]
    (tmp_path / "c.jsonl").write_text('{"custom_id": "1", "inputs": {}}\n')
    assert len(list(Source(str(tmp_path), Settings()))) == 1


def test_a_note_on_tables_alone_does_not_say_that_naming_them_is_enough(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"custom_id": "1", "inputs": {}}\n')
    (tmp_path / "b.csv.gz").write_bytes(b"")
    note = Source(tmp_path, Settings()).skipped_note()
    assert note.endswith("of known agents; tables are read with a mapping")


def test_aiders_histories_of_another_name_are_read_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "1.aider.chat.history.md").write_text(f"\n{HISTORY}")
    (tmp_path / "2.md").write_text(f"# Notes\n\n{HISTORY}")
    (tmp_path / "c.jsonl").write_text('{"custom_id": "c", "inputs": {}}\n')
    source = Source(tmp_path, Settings())
    cases = [orjson.loads(line.raw)["custom_id"] for line in source if line.raw.strip()]
    assert cases == ["1.aider.chat.history.md:2", "c"]
    assert source.skipped_note().startswith("1 file skipped (2.md)")
    assert source.skipped_note().endswith("; a file of another name is read if you name it")


def test_histories_in_markdown_are_read_in_a_folder_and_other_markdown_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "README.md").write_text("# Notes\n")
    (tmp_path / "2026-01-05.md").write_text(SPECSTORY_HISTORY)
    (tmp_path / "chat.md").write_text(CURSOR_EXPORT)
    (tmp_path / "session-ses_1.md").write_text(OPENCODE_EXPORT)
    (tmp_path / "runs.jsonl").write_text('{"custom_id":"a","inputs":{}}\n')
    source = Source(tmp_path, Settings())
    assert [orjson.loads(line.raw)["custom_id"] for line in source] == [
        *("2026-01-05.md:1", "chat.md:1"),
        "a",
        "session-ses_1.md:1",
    ]
    assert "README.md" in source.skipped_note()


def test_a_folder_without_a_file_to_read_is_refused_with_what_it_has(tmp_path: Path) -> None:
    for name in ("a.md", ".b.json", "c\n.txt", "d.txt"):
        (tmp_path / name).write_text("x")
    with pytest.raises(InputError, match=re.escape(r"only .b.json, a.md, c\n.txt, ...")) as refused:
        Source(str(tmp_path), Settings())
    assert "except hidden ones" in refused.value.hint

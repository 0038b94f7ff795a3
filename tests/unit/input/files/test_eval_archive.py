"""Inspect's archives: each sample becomes a line, for all compression methods, and damage is reported."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import zstandard

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import MIB, Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.input.source_lines import SourceLine


def sample(number: int, epoch: int = 1) -> dict[str, Any]:
    answer = {"role": "assistant", "content": f"answer {number}"}
    return {
        "id": number,
        "epoch": epoch,
        "input": "q",
        "target": f"answer {number}",
        "messages": [{"role": "user", "content": "q"}, answer],
        "output": {
            "model": "m",
            "choices": [{"message": answer}],
            "completion": f"answer {number}",
        },
    }


def archive(*samples: dict[str, Any], header: bytes | None = b"{}", **members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        if header is not None:
            made.writestr("header.json", header)
        for each in samples:
            name = f"samples/{each['id']}_epoch_{each['epoch']}.json"
            made.writestr(name, orjson.dumps(each, option=orjson.OPT_INDENT_2))
        for member, content in members.items():
            made.writestr(member, content)
    return file.getvalue()


def read(data: bytes, **settings: Any) -> list[SourceLine]:
    return list(Source(io.BytesIO(data), Settings(**settings)))


def test_each_sample_is_a_trace_with_an_id_of_its_own() -> None:
    lines = read(archive(sample(1), sample(2), sample(1, 2)))
    assert [line.fault for line in lines] == [None] * 3
    cases = [orjson.loads(line.raw) for line in lines]
    assert len({case["custom_id"] for case in cases}) == 3
    assert [case["inputs"]["trace"]["id"] for case in cases] == [1, 2, 1]


START = {"_journal/start.json": b"{}"}


@pytest.mark.parametrize(
    ("header", "status"),
    [
        (b'{"status": "cancelled"}', "cancelled"),
        (b'{"status": "error", "eval": {}}', "error"),
        (None, "started"),
    ],
)
def test_samples_of_an_evaluation_that_did_not_end_well_say_so(
    header: bytes | None, status: str
) -> None:
    data = archive(sample(1), sample(2), header=header, **START)
    for line, plain in zip(read(data), read(archive(sample(1), sample(2))), strict=True):
        case, expected = orjson.loads(line.raw), orjson.loads(plain.raw)
        assert case["custom_id"] == expected["custom_id"]
        trace, whole = (read_trace(each["inputs"]["trace"]) for each in (case, expected))
        assert (trace.steps, trace.metadata) == (whole.steps, {**whole.metadata, "status": status})
        assert len(trace.not_carried) == len(whole.not_carried) + 1


@pytest.mark.parametrize(
    "header",
    [
        *(b'{"status": "success"}', b'{"status": 7}', b"{", b"\xff", b"[]", None),
        pytest.param(b'{"status":' + b"[" * 100_000, id="deep"),
    ],
)
def test_samples_of_other_evaluations_stay_as_they_are(header: bytes | None) -> None:
    [line] = read(archive(sample(1), header=header))
    assert orjson.loads(line.raw)["inputs"]["trace"] == sample(1)


def test_samples_are_answers_for_graders_of_answers(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(archive(sample(1), sample(1, 2)))
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen is not None
    assert seen.mapping is not None
    cases = [orjson.loads(line.raw) for line in Source(path, Settings(), seen.mapping)]
    assert [case["custom_id"] for case in cases] == ["1/1", "1/2"]
    assert cases[0]["inputs"] == {"agent_response": "answer 1", "expected_output": "answer 1"}


def test_an_archive_from_a_pipe_is_read_too() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: Any) -> int:
            raise io.UnsupportedOperation

    assert len(list(Source(Pipe(archive(sample(1), sample(2))), Settings()))) == 2


def test_samples_packed_with_zstandard_are_read() -> None:
    stored = io.BytesIO()
    packed = zstandard.ZstdCompressor().compress(orjson.dumps(sample(3)))
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_STORED) as made:
        made.writestr("samples/3_epoch_1.json", packed)
    data = bytearray(stored.getvalue())
    # The compression method is at byte 8 of the member's header, and at byte 10 of its entry in the directory.
    directory = data.index(b"PK\x01\x02")
    data[8:10] = data[directory + 10 : directory + 12] = (93).to_bytes(2, "little")
    [line] = read(bytes(data))
    assert orjson.loads(line.raw)["inputs"]["trace"]["id"] == 3


def test_a_zip_archive_of_other_things_is_told_as_one() -> None:
    [line] = read(archive())
    assert line.fault is not None
    assert "not an Inspect log" in line.fault.message


def test_a_damaged_sample_is_its_own_fault() -> None:
    data = bytearray(archive(sample(1), sample(2)))
    at = data.index(b"samples/1_epoch_1.json") + 40
    data[at : at + 20] = b"\0" * 20
    first, second = read(bytes(data))
    assert first.fault is not None
    assert first.fault.code == "INPUT_TRUNCATED"
    assert second.fault is None


@pytest.mark.parametrize("cut", [10, 200])
def test_an_archive_that_ends_early_is_one_fault(cut: int) -> None:
    [line] = read(archive(sample(1))[:cut])
    assert line.fault is not None
    assert line.fault.code == "INPUT_TRUNCATED"


def test_a_sample_that_is_too_long_is_refused_and_the_others_read() -> None:
    large = sample(1) | {"store": "x" * 5_000}
    first, second = read(archive(large, sample(2)), line_limit_bytes=2_000)
    assert first.fault is not None
    assert first.fault.code == "LINE_TOO_LONG"
    assert second.fault is None


def test_an_archive_that_expands_too_much_is_not_read_on() -> None:
    bomb = sample(1) | {"store": "x" * (12 * MIB)}
    *_, last = read(archive(bomb, sample(2)), expansion_limit=10)
    assert last.fault is not None
    assert last.fault.code == "INPUT_TOO_LARGE"

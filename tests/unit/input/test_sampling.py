"""Samples: the same cases each time, selected by id, in any order and among any other cases."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import orjson
import pytest

from weighbridge.errors import InputError
from weighbridge.settings import Settings
from weighbridge_producer.input.sampling import Sample
from weighbridge_producer.input.source import Source

CASES = [{"custom_id": f"case-{n}", "inputs": {"n": n}} for n in range(1_000)]


def chosen(text: str, cases: list[dict[str, object]]) -> set[str]:
    sample = Sample.parse(text).bounded(Source(cases, Settings()))
    lines = list(Source(cases, Settings(), None, sample))
    assert len(lines) == len(cases), "numbers of lines stay"
    return {orjson.loads(line.raw)["custom_id"] for line in lines if line.raw.strip()}


@pytest.mark.parametrize("text", ["100", "10%"])
def test_the_same_cases_are_chosen_in_any_order_and_with_repeats(text: str) -> None:
    shuffled = random.Random(1).sample([*CASES, *CASES[:50]], 1_050)
    assert chosen(text, CASES) == chosen(text, shuffled)


def test_a_number_is_exact_and_a_share_about_right() -> None:
    assert len(chosen("100", CASES)) == 100
    assert 60 < len(chosen("10%", CASES)) < 140
    assert len(chosen("5000", CASES)) == 1_000
    assert len(chosen("100%", CASES)) == 1_000
    assert chosen("3", []) == set()


def test_a_smaller_sample_is_part_of_a_larger_one() -> None:
    assert chosen("50", CASES) < chosen("100", CASES)
    assert chosen("5%", CASES) < chosen("20%", CASES)


def test_cases_that_are_added_change_a_share_by_themselves_only() -> None:
    more = [*CASES, *({"custom_id": f"new-{n}", "inputs": {}} for n in range(500))]
    assert {name for name in chosen("10%", more) if name.startswith("case")} == chosen("10%", CASES)


@pytest.mark.parametrize("text", ["1", "1%", "100%"])
def test_lines_without_an_id_and_the_end_of_a_cut_file_are_in_each_sample(
    text: str, tmp_path: Path
) -> None:
    lines = [*map(orjson.dumps, CASES), b"{no JSON", b'{"inputs": {}}']
    packed = gzip.compress(b"\n".join(lines) + b"\n", mtime=0)
    (tmp_path / "cut.jsonl.gz").write_bytes(
        packed[:-9]
    )  # without the check sum and the end of the last line
    sampled = Source(tmp_path / "cut.jsonl.gz", Settings())
    sample = Sample.parse(text).bounded(sampled)
    read = list(Source(tmp_path / "cut.jsonl.gz", Settings(), None, sample))
    assert [line.fault.code for line in read if line.fault] == ["INPUT_TRUNCATED"]
    (tmp_path / "whole.jsonl").write_bytes(b"\n".join(lines))
    read = list(Source(tmp_path / "whole.jsonl", Settings(), None, sample))
    assert [line.raw.strip() for line in read[-2:]] == lines[-2:]


@pytest.mark.parametrize("text", ["", "0", "-3", "0%", "101%", "2.5", "ten", "5 %", "1e3"])
def test_another_size_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="not a valid sample size"):
        Sample.parse(text)

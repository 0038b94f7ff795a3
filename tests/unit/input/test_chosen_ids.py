"""Cases chosen by their ids: only these are read, at their own line numbers."""

import gzip

import orjson

from weighbridge.settings import Settings
from weighbridge_producer.input.chosen_ids import ChosenIds
from weighbridge_producer.input.source import Source


def source(tmp_path, *ids):
    path = tmp_path / "cases.jsonl"
    path.write_bytes(
        b"".join(orjson.dumps({"custom_id": name, "inputs": {}}) + b"\n" for name in ids)
    )
    return Source(path, Settings())


def read(cases):
    return [(number, line.raw) for number, line in enumerate(cases, 1) if line.raw.strip()]


def test_only_the_cases_with_these_ids_are_read_at_their_lines(tmp_path):
    cases = source(tmp_path, "a", "b", "c", "d", 5, "e")
    ids = [("d", True), ("b", True), ("b", False), ("a", False), ("gone", True)]
    cases.only = ChosenIds(ids)
    for _ in range(2):
        assert [number for number, _ in read(cases)] == [2, 4]
        only = cases.only
        assert (len(only), only.missing, only.unknown, only.unnamed) == (3, 1, 2, 1)
    assert not cases.is_one_stream


def test_the_end_of_a_cut_file_is_read_with_any_choice(tmp_path):
    whole = b"".join(line.raw for line in source(tmp_path, *map(str, range(2_000))))
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(whole)[:-900])
    cases = Source(tmp_path / "cut.jsonl.gz", Settings())
    cases.only = ChosenIds([("1999", True)])
    assert [line.fault.code for line in cases if line.fault] == ["INPUT_TRUNCATED"]
    assert (cases.only.missing, cases.only.unnamed) == (1, 0)


def test_without_any_id_nothing_is_read(tmp_path):
    cases = source(tmp_path, "a")
    cases.only = ChosenIds([])
    assert read(cases) == []


def test_the_same_ids_in_any_order_are_the_same_choice():
    ids = [("a", True), ("b", True)]
    assert str(ChosenIds(ids)) == str(ChosenIds(ids[::-1])) != str(ChosenIds(ids[:1]))

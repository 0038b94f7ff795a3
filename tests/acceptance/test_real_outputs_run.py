"""Stored outputs of real models through `weighbridge run` as one batch, where a copy of that data set lies beside us."""

from __future__ import annotations

import gzip
import string
from collections import Counter
from pathlib import Path

import orjson
import pytest

from support.cases import write_cases

OUTPUTS = Path(__file__).resolve().parents[3] / "shared" / "data" / "outputs"
FILES = sorted(OUTPUTS.glob("*.jsonl.gz"))
RECORDS = 8434
SECONDS = 60
MODES = {
    "exact": {},
    "strip": {"strip_whitespace": True},
    "strip_lower": {"strip_whitespace": True, "case_sensitive": False},
    "collapse_ws": {"collapse_whitespace": True},
    "squad": {
        "case_sensitive": False,
        "ignore_punctuation": True,
        "ignore_articles": True,
        "collapse_whitespace": True,
    },
}
# Answers of punctuation alone that differ, and that squad's own rule makes equal: they must fail.
EMPTIED_PAIRS = {
    ("string_bbh", "response"): 133,
    ("string_bbh", "extracted"): 181,
    ("string_cruxeval", "extracted"): 20,
}

pytestmark = pytest.mark.skipif(not FILES, reason="the data set is not there")


def records():
    for path in FILES:
        with gzip.open(path) as lines:
            for number, line in enumerate(lines):
                yield path.name.removesuffix(".jsonl.gz"), number, orjson.loads(line)


def judged():
    """Yield every text that is judged: its id, its record, and what is expected of it."""
    for file, number, record in records():
        for text, expect in record["expect"].items():
            if record[text] is not None and expect is not None:
                yield f"{file}/{number}/{text}", record, text, expect


def case(custom_id, record, text):
    inputs = {"agent_response": record[text], "expected_output": record["gold"]}
    graders = [{"grader": record["grader"], "config": record.get("config")}]
    if record["grader"] == "string-match":
        graders = [
            {"grader": "string-match", "label": mode, "config": config}
            for mode, config in MODES.items()
        ]
    return {"custom_id": custom_id, "inputs": inputs, "graders": graders}


def expected_of(record, expect):
    """Return label -> whether the text is expected to pass."""
    if record["grader"] == "true-false":
        return {"true-false": expect["passed"]}
    return {mode: expect[mode] for mode in MODES}


def is_punctuation(text):
    words = "".join(c for c in text.lower() if c not in string.punctuation).split()
    return not [word for word in words if word not in {"a", "an", "the"}]


@pytest.mark.slow
def test_every_stored_output_gets_its_expected_verdict(cli, tmp_path):
    assert sum(1 for _ in records()) == RECORDS
    write_cases(
        tmp_path / "cases.jsonl", (case(i, record, text) for i, record, text, _ in judged())
    )
    ended = cli("run", "cases.jsonl", "-o", "out.jsonl", "--sort", seconds=SECONDS)
    assert ended.status == 100, ended.err

    rows = map(orjson.loads, (tmp_path / "out.jsonl").read_bytes().splitlines())
    differences, emptied = [], Counter()
    for custom_id, record, text, expect in judged():
        wanted = expected_of(record, expect)
        found = {row["label"]: row for _, row in zip(wanted, rows, strict=False)}
        for label, passed in wanted.items():
            row = found[label]
            assert row["custom_id"] == custom_id
            if row["result"]["passed"] is passed and _same_status(row, record, expect):
                continue
            if label == "squad" and is_punctuation(record[text]) and is_punctuation(record["gold"]):
                assert row["result"]["verdict"] == "fail"
                emptied[custom_id.split("/")[0], text] += 1
            else:
                differences.append((custom_id, label, row["result"]["details"]))
    assert differences == []
    assert emptied == EMPTIED_PAIRS
    assert next(rows, None) is None


def _same_status(row, record, expect):
    if record["grader"] != "true-false":
        return True
    return row["result"]["details"]["match_status"] == expect["match_status"]

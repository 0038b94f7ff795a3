"""Stored outputs of real models with gold answers, where a copy of that data set lies beside the repository."""

from __future__ import annotations

import gzip
import json
import re
import string
from collections import Counter
from pathlib import Path

import pytest

from weighbridge.graders import default_registry

OUTPUTS = Path(__file__).resolve().parents[4] / "shared" / "data" / "outputs"
FILES = sorted(OUTPUTS.glob("*.jsonl.gz"))
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
# Answers of punctuation alone that differ, and that squad's own rule makes equal.
EMPTIED_PAIRS = {
    ("string_bbh", "response"): 133,
    ("string_bbh", "extracted"): 181,
    ("string_cruxeval", "extracted"): 20,
}

pytestmark = pytest.mark.skipif(not FILES, reason="the data set is not there")


def cases(grader_id):
    for path in FILES:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                for text, expect in record["expect"].items():
                    if (
                        record["grader"] == grader_id
                        and expect is not None
                        and record[text] is not None
                    ):
                        yield path.name.removesuffix(".jsonl.gz"), record, text, expect


def is_emptied_by_squad(text):
    kept = "".join(character for character in text.lower() if character not in string.punctuation)
    return not re.sub(r"\b(a|an|the)\b", " ", kept).strip()


def test_true_false_gives_every_expected_match_status():
    differences = []
    for _, record, text, expect in cases("true-false"):
        grader = default_registry().create("true-false", record.get("config"))
        result = grader.grade(record[text], record["gold"])
        if (result["details"]["match_status"], result["passed"]) != (
            expect["match_status"],
            expect["passed"],
        ):
            differences.append((record["id"], text, result["details"]))
    assert differences == []


def test_string_match_gives_every_expected_verdict_but_for_answers_of_punctuation_alone():
    graders = {
        mode: default_registry().create("string-match", config) for mode, config in MODES.items()
    }
    differences, emptied = [], Counter()
    for file, record, text, expect in cases("string-match"):
        for mode, grader in graders.items():
            result = grader.grade(record[text], record["gold"])
            if result["passed"] is expect[mode]:
                continue
            if (
                mode == "squad"
                and is_emptied_by_squad(record[text])
                and is_emptied_by_squad(record["gold"])
            ):
                emptied[file, text] += 1
                assert not result["passed"]
            else:
                differences.append((record["id"], text, mode, result["details"]))
    assert differences == []
    assert emptied == EMPTIED_PAIRS

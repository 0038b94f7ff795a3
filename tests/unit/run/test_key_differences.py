"""What keeps a run from continuing an interrupted run of the same input."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.settings import Settings
from weighbridge_producer.run.judging import judging
from weighbridge_producer.run.key_differences import key_differences, share_a_file

GRADERS = parse_specs(["loop", {"grader": "budget", "config": {"max_steps": 3}}])
BEFORE: dict[str, Any] = {
    "input": [["/data/a.jsonl", 10, 1], ["/data/b.jsonl", 10, 1]],
    "names": ["a.jsonl", "b.jsonl"],
    "names_locations": True,
    "mapping": None,
    "joins": [],
    "trace_mapping": None,
    "sample": None,
    "only": None,
    "reading_limits": {"line_limit_bytes": 100},
    **judging(GRADERS, Settings()),
    "outputs": ["/data/out.jsonl"],
    "server": "",
}


@pytest.mark.parametrize(
    ("changed", "clauses"),
    [
        (
            {"input": [["/data/a.jsonl", 10, 2], BEFORE["input"][1]]},
            ["/data/a.jsonl has another size or time"],
        ),
        (
            {"input": [["/data/a.jsonl", 10, 2], ["/data/b.jsonl", 11, 1]]},
            ["2 files have other sizes or times (the first: /data/a.jsonl)"],
        ),
        (
            {"input": [BEFORE["input"][1], ["/data/c.jsonl", 1, 1]], "names": ["b.jsonl", "c"]},
            ["/data/c.jsonl was not read before", "/data/a.jsonl is no longer read"],
        ),
        ({"input": BEFORE["input"][::-1]}, ["the files are read in another order"]),
        ({"names": ["x/a.jsonl", "x/b.jsonl"]}, ["the input is named in another way"]),
        ({"sample": "10%"}, ["--sample differs"]),
        ({"only": "f00"}, ["the cases of --only-failed differ"]),
        ({"mapping": {}}, ["the mapping differs"]),
        ({"joins": [["gold", "f00"]]}, ["the joined rows differ"]),
        ({"trace_mapping": "steps: /x"}, ["the trace mapping differs"]),
        (
            {"reading_limits": {"line_limit_bytes": 5}},
            ["WEIGHBRIDGE_LINE_LIMIT_BYTES is 5, and was 100"],
        ),
        (
            judging(GRADERS, Settings(job_deadline_seconds=2.5)),
            ["WEIGHBRIDGE_JOB_DEADLINE_SECONDS is 2.5, and was 10.0"],
        ),
        (judging(GRADERS[:1], Settings()), ["the graders differ (before: loop, budget)"]),
        (judging(GRADERS[::-1], Settings()), ["the graders differ (before: loop, budget)"]),
        (
            judging(parse_specs(["loop", "budget"]), Settings()),
            ["the configuration of 'budget' differs"],
        ),
        (
            {"versions": {**BEFORE["versions"], "loop": 1000, "Weighbridge": "9.9"}},
            [
                f"the version of Weighbridge is 9.9, and was {BEFORE['versions']['Weighbridge']}",
                f"the version of grader 'loop' is 1000, and was {BEFORE['versions']['loop']}",
            ],
        ),
        ({"outputs": ["/data/x.csv"]}, ["the outputs differ (before: /data/out.jsonl)"]),
        ({"server": "redis://x"}, ["the Redis server differs (before: a private one)"]),
    ],
)
def test_each_part_of_a_key_that_differs_is_named_with_its_former_value(
    changed: dict[str, Any], clauses: list[str]
) -> None:
    assert key_differences(BEFORE, BEFORE | changed) == clauses


def test_equal_keys_do_not_differ() -> None:
    assert key_differences(BEFORE, dict(BEFORE)) == []


@pytest.mark.parametrize("damage", [None, 1, "x", [None], [[]], [{"label": []}], {"a": [1]}])
def test_a_damaged_key_differs_from_a_new_one(damage: object) -> None:
    assert key_differences({}, BEFORE)
    for part, sound in BEFORE.items():
        assert damage == sound or key_differences(BEFORE | {part: damage}, BEFORE), part
    assert not share_a_file(BEFORE | {"input": damage}, BEFORE)


def test_what_another_version_of_weighbridge_has_saved_is_called_so() -> None:
    old = BEFORE | {"versions": ["0.1.0", 33, 8]}
    assert key_differences(old, BEFORE) == ["it is of another version of Weighbridge"]


def test_runs_are_alike_if_they_read_a_file_in_common() -> None:
    assert share_a_file(BEFORE, BEFORE | {"input": [["/data/b.jsonl", 3, 3]]})
    assert not share_a_file(BEFORE, BEFORE | {"input": [["/data/c.jsonl", 10, 1]]})
    assert not share_a_file({}, {})

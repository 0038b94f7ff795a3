"""Evidence for display: what is a list or an object in a result is shown in words, with the JSON beside it."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge_producer.trace_view.evidence import ShownEvidence, shown_evidence


def entry(**fields: Any) -> ShownEvidence:
    [shown] = shown_evidence({"evidence": [{"check": "c", "description": "d"} | fields]})
    return shown


@pytest.mark.parametrize(
    ("fields", "limit"),
    [
        ({"limit": ["not in the blocklist", "the schema in the trace's tools"], "passed": True}, "not in the blocklist; the schema in the trace's tools"),
        ({"check": "tool_known", "limit": ["find", "refund"], "passed": False}, "a tool that is defined: find, refund"),
        ({"check": "tool_allowed", "limit": ["find"], "passed": False}, "a tool in the allowlist: find"),
        ({"check": "tool_not_blocked", "limit": ["delete_*"], "passed": False}, "no tool in the blocklist: delete_*"),
        ({"check": "tool_not_blocked", "limit": ["not in the blocklist"], "passed": True}, "not in the blocklist"),
        ({"limit": [f"t{n}" for n in range(22)]}, ", ".join(f"t{n}" for n in range(20)) + " and 2 more"),
        ({"limit": [1, {"a": 2}]}, '[1, {"a": 2}]'),
        ({"limit": []}, "[]"),
        ({"limit": 30_000}, "30,000"),
        ({"limit": "text"}, "text"),
    ],
)  # fmt: skip
def test_a_limit_is_shown_in_words_where_it_has_some(fields: dict[str, Any], limit: str) -> None:
    assert entry(**fields).limit == limit


@pytest.mark.parametrize(
    ("observed", "words"),
    [
        ({"tool": "find", "calls": 1}, "find, 1 call"),
        ({"tool": "find", "calls": 1_200}, "find, 1,200 calls"),
        ({"rows": 3, "kind": "x", "ok": True}, "rows: 3; kind: x; ok: true"),
        ({"rows": [1]}, '{"rows": [1]}'),
        ({}, "{}"),
    ],
)
def test_what_was_observed_is_shown_in_words_where_it_has_some(
    observed: dict[str, Any], words: str
) -> None:
    assert entry(observed=observed).observed == words


def test_the_json_of_what_is_shown_in_other_words_is_kept() -> None:
    problem = {"path": "/a", "keyword": "type", "message": '1 is not of type "string"'}
    shown = entry(limit=["the schema"], observed={"tool": "t", "problems": [problem]})
    assert shown.as_json == (
        '{"limit": ["the schema"], "observed": {"tool": "t", "problems": [{"path": "/a", "keyword": "type", '
        '"message": "1 is not of type \\"string\\""}]}}'
    )
    assert shown.problems
    assert shown.observed is None
    assert entry(limit=3, observed=4).as_json == ""
    assert entry(limit="a").as_json == ""

"""Verdicts beside those that the input has recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.result_lines import case, graded
from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.reports.recorded_verdicts import RecordedVerdicts, recorded_verdicts

if TYPE_CHECKING:
    from pathlib import Path


def answer(name: str, sign: str, recorded: Any) -> bytes:
    """Return a case that passes (`+`), fails (`-`) or is ungradable (`?`)."""
    expected = None if sign == "?" else "Lisbon"
    metadata = {} if recorded is None else {"recorded_verdict": recorded}
    return case(name, "Lisbon" if sign == "+" else "Porto", expected, metadata=metadata)


def test_verdicts_unlike_the_recorded_ones_are_counted_and_named_in_the_order_of_the_input(
    tmp_path: Path,
) -> None:
    signs = [("q0", "+", "pass"), ("q1", "-", "fail"), ("none", "+", None), ("open", "?", "pass")]
    signs += [(f"bad{n}", "-", True) for n in range(6)] + [("good", "+", "fail"), ("x", "+", "P")]
    lines = graded(answer(*each) for each in signs)
    results = tmp_path / "results.jsonl"
    results.write_bytes(b"".join(reversed(lines)))
    found = recorded_verdicts(results)
    assert found.of("string-match") == (
        "7 of 9 verdicts unlike those recorded in the input (metadata.recorded_verdict):"
        " 6 failed here and passed there, 1 passed here and failed there: bad0, bad1, bad2, bad3, bad4, ..."
    )
    assert found.as_dict() == {
        "string-match": {
            "agree": 2,
            "failed_here": 6,
            "passed_here": 1,
            "first": ["bad0", "bad1", "bad2", "bad3", "bad4"],
        }
    }
    assert found.of("loop") == ""


def test_no_results_have_no_recorded_verdicts(tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    results.write_bytes(b"")
    assert recorded_verdicts(results).as_dict() == {}
    results.write_bytes(b"".join(graded([answer("q0", "+", None)])))
    assert recorded_verdicts(results).as_dict() == {}


def test_a_summary_says_so_if_all_verdicts_are_as_recorded() -> None:
    found = RecordedVerdicts()
    recorded = [("+", "pass"), ("-", "False"), ("+", 1), ("-", 0.0), ("-", [1])]
    for line in graded(answer(f"q{n}", *each) for n, each in enumerate(recorded)):
        found.add(ResultRow.from_bytes(line))
    assert found.of("string-match") == "4 verdicts as recorded in the input"
    assert RecordedVerdicts().as_dict() == {}

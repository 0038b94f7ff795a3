from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.grading.tally import SummaryRow, Tally, packed_rows
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.error_codes import DEADLY
from weighbridge.jobs.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
ROWS = st.builds(SummaryRow, st.none() | TEXTS, st.none() | TEXTS, TEXTS, TEXTS)


@given(ROWS)
def test_a_row_is_stored_as_a_json_list_and_parsed_again(row: SummaryRow) -> None:
    assert str(row).encode() == orjson.dumps([*row])
    assert SummaryRow.parse(str(row)) == SummaryRow.parse(str(row).encode()) == row
    assert SummaryRow.is_row(str(row).encode())


@pytest.mark.parametrize("text", ["", "7", "{}", "[]", '["a", "b", "c"]', "[1, 2, 3, 4]", b"\xff"])
def test_what_is_no_row_is_damaged_data(text: str | bytes) -> None:
    with pytest.raises(DAMAGED_DATA):
        SummaryRow.parse(text)


def test_the_rows_of_a_packed_tally_are_those_of_its_summary() -> None:
    tally = Tally()
    tally.count("a", "string-match", Outcome.PASSED, score=1.0)
    tally.count("a", "string-match", Outcome.FAILED, "string_match: case")
    tally.count(None, None, Outcome.ERRORED, "INVALID_JSON")
    assert dict(packed_rows(tally.pack())) == tally.summary


@pytest.mark.parametrize(
    ("row", "matches"),
    [
        (("a", "b", Outcome.ERRORED, "WORKER_KILLED"), True),
        ((None, None, Outcome.ERRORED, "TIMEOUT"), True),
        (("a", "b", Outcome.ERRORED, ""), False),
        (("a", "b", Outcome.FAILED, "TIMEOUT"), False),
    ],
)
def test_a_pattern_matches_the_rows_of_an_outcome_with_a_cause(
    row: Sequence[str | None], matches: bool
) -> None:
    # Square brackets and `*` mean the same to fnmatch as to Redis.
    assert (
        fnmatchcase(str(SummaryRow(*row)), SummaryRow.pattern(Outcome.ERRORED, DEADLY)) is matches
    )

"""What is said of a proposal whose paths take the first entries of lists, and how to take the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge_producer.input.mapping.list_entries import EACH
from weighbridge_producer.input.mapping.path_texts import (
    is_within,
    path_of,
    rest_within,
    without_firsts,
)
from weighbridge_producer.input.mapping.row_values import EACH_ENTRY, Path
from weighbridge_producer.input.proposals.first_of_lists import (
    how_to_keep_correct,
    list_of_several,
    list_with_one,
    lists_of_several,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from weighbridge_producer.input.mapping.row_values import Row

_ID, _RESPONSE, _EXPECTED = "custom_id", "agent_response", "expected_output"


@dataclass(frozen=True, slots=True)
class FirstEntries:
    """The proposed paths by field, some of which may take the first entry of a list."""

    paths: Mapping[str, str]
    rows: Sequence[Row]
    is_whole: bool  #: True if the list of expected answers is mapped whole, or said to be left out
    #: True if the agent's answers are in a list beside one of as many expected ones
    is_paired: bool

    def notes(self, *, accepts_several: bool) -> list[str]:
        """Return what is said of each field."""
        expected = "" if self.is_whole else self._of_expected(accepts_several=accepts_several)
        notes = [self._of_ids(), self._of_response(), expected]
        for field in (_RESPONSE, _EXPECTED):
            how = self._how_to_accept_each if accepts_several and field == _EXPECTED else None
            outer = list_with_one(self.paths[field], self.rows)
            if outer and not is_within(self.paths[_ID], outer):
                what = f"taken from the first entry of {outer!r}, as the others have none"
                notes.append(f"{field}: {what}{how('take it from any', outer) if how else ''}")
        return list(filter(None, notes))

    def _of_ids(self) -> str:
        lists = lists_of_several(self.paths[_ID], self.rows)
        if not lists:
            return ""
        named = " and ".join(map(repr, lists))
        return (
            f"{_ID}: only the first entry of {named} in each row is a case, and the others are not graded"
            f"{_how_to_grade_each(lists[-1])}"
        )

    def _of_response(self) -> str:
        several = list_of_several(self.paths[_RESPONSE], self.rows)
        if not several:
            return ""
        how = "" if self.is_paired else _how_to_grade_each(several)
        return f"{_RESPONSE}: only the first of several answers in {several!r}{how}"

    def _of_expected(self, *, accepts_several: bool) -> str:
        several = list_of_several(self.paths[_EXPECTED], self.rows)
        if not several:
            return ""
        how = how_to_keep_correct(several, self.rows)
        others = (self.paths[_ID], self.paths[_RESPONSE])
        is_of_cases = any(is_within(path, several) for path in others)
        if accepts_several and not (how or is_of_cases):
            how = self._how_to_accept_each("accept each entry", several)
        return f"{_EXPECTED}: only the first of several entries of {several!r}, even if another is the correct one{how}"

    def _how_to_accept_each(self, what: str, outer: str) -> str:
        path = self.paths[_EXPECTED]
        _, *rest = rest_within(path, outer)
        before = Path(path).parts[: -len(rest) - 1]
        return f"; to {what}, map {_EXPECTED}={path_of((*before, EACH_ENTRY, *rest))}"


def _how_to_grade_each(path: str) -> str:
    """Return how to grade all entries of a list, in a path to which lists on the way have the index 0."""
    return f"; to grade each entry, map {EACH}={without_firsts(path)}"

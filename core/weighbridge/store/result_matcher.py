"""Matches results against a filter: chunks by their tally, lines by a search of their bytes and then by parsing."""

from __future__ import annotations

import re
from math import inf
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.grading.tally import SummaryRow, packed_rows
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge.jobs.result_line import JobProfile, ResultRow
from weighbridge.jobs.result_line_parts import field_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from weighbridge.store.result_filter import ResultFilter

_OUTCOMES = {outcome.value: outcome for outcome in Outcome}
_ESCAPED = re.compile(r'["\\/\x00-\x1f\x7f]')  #: characters that JSON writers may escape


class Matcher:
    """Matcher of chunks and result lines against one filter."""

    def __init__(self, wanted: ResultFilter) -> None:
        self._wanted = wanted
        self._needles = [needle for needle in _needles(wanted) if needle]
        #: Texts that the record of each chunk with a match contains.
        self.record_texts = list(_record_texts(wanted))
        self._text = _Text(wanted.text) if wanted.text else None

    def most_in(self, record: Mapping[str, Any]) -> float:
        """Return the maximum number of matches in a chunk, from its record; infinity if that cannot be read."""
        try:
            return sum(jobs for row, jobs in packed_rows(record["tally"]) if self._counts(row))
        except DAMAGED_DATA:
            return inf

    def _counts(self, row: SummaryRow) -> bool:
        """Return whether a row of a tally counts matching jobs."""
        outcome, cause = row.outcome, row.cause
        if outcome == VACUOUS:
            outcome, cause = Outcome.PASSED.value, VACUOUS
        # Jobs with a cause are also counted in a row without it, and by their score.
        if outcome not in _OUTCOMES or bool(cause) != bool(self._wanted.cause):
            return False
        return self._wanted.admits(JobProfile(row.label, row.grader, _OUTCOMES[outcome], cause))

    def matches(self, results: bytes, offset: int) -> Iterator[tuple[bytes | None, int]]:
        """Yield candidate lines, each with its end; None in place of a line that does not match."""
        if self._text and not self._text.folded and not self._text.is_in(results):
            return
        for start, end in self._candidates(results, offset):
            line = results[start:end]
            yield line if self._matches(line) else None, end + 1

    def _candidates(self, results: bytes, at: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of the lines that contain the rarest part of the filter."""
        needle = self._needles[0] if self._needles else b""
        if self._text and self._text.folded:
            results, needle = results.lower(), self._text.folded
        found = results.find(needle, at)
        while 0 <= found < len(results):
            end = results.find(b"\n", found)
            end = len(results) if end < 0 else end
            yield results.rfind(b"\n", at, found) + 1 or at, end
            at = end + 1
            found = results.find(needle, at)

    def _matches(self, line: bytes) -> bool:
        if not all(needle in line for needle in self._needles):
            return False
        if self._text and not self._text.is_in(line):
            return False
        return not self._needles or self._fields_match(line)

    def _fields_match(self, line: bytes) -> bool:
        """Return whether the line's fields match, rather than its bytes just containing the values."""
        try:
            row = ResultRow.from_bytes(line)
            return self._wanted.custom_id in {"", row.custom_id} and self._wanted.admits(row)
        except DAMAGED_DATA:
            return False


class _Text:
    """A text to be found case-insensitively, either literally or in its JSON form."""

    def __init__(self, text: str) -> None:
        forms = {text, orjson.dumps(text).decode()[1:-1]}
        self._ascii = text.isascii()
        self._bytes = [form.lower().encode() for form in forms]
        self._strings = [form.casefold() for form in forms]
        #: the text's only form, if searching the lower-cased line is enough
        self.folded = self._bytes[0] if self._ascii and len(forms) == 1 else b""

    def is_in(self, results: bytes) -> bool:
        """Return whether results contain the text."""
        if self._ascii:
            lower = results.lower()
            return any(form in lower for form in self._bytes)
        folded = results.decode(errors="replace").casefold()
        return any(form in folded for form in self._strings)


def _needles(wanted: ResultFilter) -> Iterator[bytes]:
    """Yield bytes that every matching line contains, presumably rarest first."""
    if wanted.custom_id:
        yield field_bytes("custom_id", wanted.custom_id)
    # A cause is an error's code, or a check's name, optionally followed by ": " and a status.
    yield orjson.dumps(wanted.cause.partition(": ")[0])[1:-1]
    for name in ("verdict", "status", "label", "grader"):
        if value := getattr(wanted, name):
            yield field_bytes(name, value)


def _record_texts(wanted: ResultFilter) -> Iterator[str]:
    """Yield texts that the record of a chunk with a match contains, except those that JSON writers may escape."""
    for value in (wanted.cause, wanted.label, wanted.grader):
        if value and not _ESCAPED.search(value):
            yield value
    if len(wanted.outcomes) == 1:
        yield f'{next(iter(wanted.outcomes))}\\":'  # a key of its counts

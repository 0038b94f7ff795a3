"""Selection of the results of a batch or file by the options of the command line."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from itertools import groupby
from typing import TYPE_CHECKING

import orjson

from weighbridge.jobs.outcome import Outcome
from weighbridge.jobs.result_line import ResultRow, is_kind_of
from weighbridge.settings import read_settings
from weighbridge.text import closest, did_you_mean, pluralize, shorten
from weighbridge_producer.input.files.input_paths import repeatable_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from weighbridge_producer.client.batch import Batch

_CAUSES_NAMED = 10
_CAUSE_WIDTH = 60
_LABELS_NAMED = 10


class ResultSelection:
    """A selection of results."""

    def __init__(
        self,
        custom_id: str | None,
        causes: list[str],
        label: str | None,
        *,
        failed: bool,
        errored: bool,
        of_cases: bool = False,
    ) -> None:
        """Create a selection; `of_cases` takes the results of all labels of a case of which one is selected."""
        self._of_cases = of_cases and label is None
        wanted = {Outcome.FAILED: failed, Outcome.ERRORED: errored}
        self._outcomes = {outcome for outcome, is_wanted in wanted.items() if is_wanted}
        self._custom_id = custom_id
        self._causes = causes
        self._label = label
        self.takes_all = not (self._outcomes or causes) and custom_id is None and label is None
        self.cursor = ""
        self.repeated = 0  #: selected results with the custom_id and label of an earlier one, if they are counted
        self._is_empty = True
        #: Outcomes of results that only --failed or --errored leaves out.
        self._left_out: Counter[Outcome] = Counter()
        self._labels: dict[str, None] = {}  #: of results, while none is selected
        self._found: dict[str, None] = {}  #: the first causes of results that did not pass

    def takes(self, row: ResultRow) -> bool:
        """Return whether a result is selected."""
        matches = self._matches(row)
        is_taken = matches and self._has_wanted_outcome(row)
        self._is_empty &= not is_taken
        if matches and not is_taken:
            self._left_out[row.outcome] += 1
        if row.label and self._is_empty and len(self._labels) <= _LABELS_NAMED:
            self._labels[row.label] = None
        return is_taken

    def note(self, source: str) -> str:
        """Return what to try if no result was selected; empty if one was, or if all are."""
        if self.takes_all or not self._is_empty:
            return ""
        for outcome in (Outcome.FAILED, Outcome.ERRORED):
            if jobs := self._left_out[outcome]:
                return (
                    f"no result in {source} matches these options, but {pluralize(jobs, 'job')} {outcome}:"
                    f" --{outcome} selects {'it' if jobs == 1 else 'them'}"
                )
        label = None if self._causes or not self._labels else self._label
        if label is not None and label not in self._labels:
            found = sorted(self._labels)[:_LABELS_NAMED]
            more = ", ..." if len(self._labels) > _LABELS_NAMED else ""
            meant = did_you_mean(closest(label, found))
            return f"no result in {source} has the label {label!r} (labels: {', '.join(found)}{more}){meant}"
        if not self._causes:
            return f"no result in {source} matches these options"
        causes = " or ".join(f"'{cause}'" for cause in self._causes)
        if not self._found:
            return f"no result has the cause {causes}, or any other"
        found = sorted(self._found)
        named = ", ".join(f"'{shorten(cause, _CAUSE_WIDTH)}'" for cause in found[:_CAUSES_NAMED])
        more = ", ..." if len(found) > _CAUSES_NAMED else ""
        return (
            f"no result has the cause {causes}; there are {named}{more}, with examples in"
            f" `weighbridge results {repeatable_name(source, 'FILE')} --causes`"
        )

    def _has_wanted_outcome(self, row: ResultRow) -> bool:
        return not self._outcomes or row.outcome in self._outcomes

    def _matches(self, row: ResultRow) -> bool:
        """Return whether a result meets all conditions but that on its outcome."""
        if self._label is not None and row.label != self._label:
            return False
        if self._custom_id is not None and row.custom_id != self._custom_id:
            return False
        if self._causes and row.outcome is Outcome.PASSED:
            return False
        if self._causes and row.cause and len(self._found) <= _CAUSES_NAMED:
            self._found[row.cause] = None
        if not self._causes:
            return True
        return any(is_kind_of(cause, wanted) for cause in row.causes for wanted in self._causes)

    def lines_of(self, handle: Batch, cursor: str | None, *, follow: bool) -> Iterator[bytes]:
        """Yield the selected lines of a batch, many at a time."""
        if self._custom_id is not None:
            for result in handle.result(self._custom_id):
                line = orjson.dumps(result, option=orjson.OPT_APPEND_NEWLINE)
                if self.takes(ResultRow.from_bytes(line)):
                    yield line
            return
        for page in handle.pages(cursor, follow=follow):
            self.cursor = str(page.cursor)
            if self.takes_all:
                yield page.lines
            else:
                rows = page.lines.splitlines(keepends=True)
                read = ((row, ResultRow.from_bytes(row)) for row in rows)
                yield b"".join(self._taken(read))

    def lines_in(self, file: Path, *, counts_repeats: bool) -> Iterator[bytes]:
        """Yield the selected lines of a file; raises InputError for a line that is not a result."""
        from weighbridge_producer.reports.result_reader import result_lines

        lines = result_lines(file, read_settings())
        rows = ((line.raw, line.row) for line in lines)
        yield from self._taken(self._with_repeats_counted(rows) if counts_repeats else rows)

    def _with_repeats_counted(
        self, rows: Iterable[tuple[bytes, ResultRow]]
    ) -> Iterator[tuple[bytes, ResultRow]]:
        from weighbridge_producer.input.duplicates import Duplicate, DuplicateIndex

        with closing(DuplicateIndex()) as earlier:
            for raw, row in rows:
                is_wanted = self._matches(row) and self._has_wanted_outcome(row)
                if row.custom_id is not None and is_wanted:
                    key = f"{row.label}\0{row.custom_id}"
                    self.repeated += earlier.claim(key, b"") is not Duplicate.FIRST
                yield raw, row

    def _taken(self, rows: Iterable[tuple[bytes, ResultRow]]) -> Iterator[bytes]:
        """Yield the lines of the results that are selected, or of whole cases, whose results are next to each other."""
        if not self._of_cases:
            yield from (raw for raw, row in rows if self.takes(row))
            return
        for _, group in groupby(rows, key=lambda each: each[1].line):
            case = list(group)
            if any(self.takes(row) for _, row in case):
                yield from (raw for raw, _ in case)

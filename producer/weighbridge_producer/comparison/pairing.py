"""Pairing by a metadata field, for runs whose results have other custom_ids each time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from weighbridge.errors import InvalidFilterError
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import closest, did_you_mean
from weighbridge_producer.gating.fields import FieldPath, field_name, parse_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.comparison.compared_results import Entry
    from weighbridge_producer.comparison.runs import Run

_FIELDS_NAMED = 12
#: Beginning of the error of a line that could not be read, if the input has several files: `INVALID_JSON: b.jsonl, line 2: `.
_LOCATION = re.compile(r"[A-Z_]+: (.*?), (?:line|item) \d+: ", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PairKey:
    """The field whose value names a case; the cases of a run with the same value are numbered in the order of the input.

    A line of a file that could not be read has a number too, so that the lines after it have the same ones in each run.
    """

    path: FieldPath

    @classmethod
    def parse(cls, text: str) -> PairKey | None:
        """Parse `metadata.FIELD`, or None for an empty text; raises InvalidFilterError."""
        return cls(parse_field(text)) if text else None

    def of(self, entry: Entry) -> str:
        """Return the value of a result, or else its custom_id; of a line that could not be read its file."""
        if value := entry.fields.get(field_name(self.path)):
            return value
        located = _LOCATION.match(entry.reason) if entry.outcome == Outcome.ERRORED else None
        return located[1] if located else entry.custom_id or ""

    def keyed(self, run: Run, entries: Iterable[Entry]) -> Iterator[tuple[str, Entry]]:
        """Yield results with their values; InvalidFilterError if there are some, and none has a value of the field."""
        results = found = 0
        for entry in entries:
            results += entry.custom_id is not None
            found += bool(entry.fields.get(field_name(self.path)))
            yield self.of(entry), entry
        if results and not found:
            raise without_field(run, self.path)

    def named(self, numbered: Iterable[tuple[int, Entry]]) -> Iterator[tuple[int, Entry]]:
        """Yield results that have custom_ids, given with the numbers of their runs, with the names of their cases in place of them."""
        in_order = sorted(numbered, key=lambda each: each[1].line)
        cases: dict[tuple[int, str], dict[str | int, str]] = {}
        for run, entry in in_order:
            value = self.of(entry)
            names = cases.setdefault((run, value), {})
            number = len(names) + 1
            custom_id = entry.custom_id
            name = f"{value} ({number})" if number > 1 else value
            name = names.setdefault(entry.line if custom_id is None else custom_id, name)
            if custom_id is not None:
                yield run, replace(entry, custom_id=name)


def without_field(run: Run, path: FieldPath, or_else: str = "") -> InvalidFilterError:
    """Return the error for a field of which no result has a value; it names the fields of the first results."""
    name = field_name(path)
    present: dict[str, bool] = {}
    run.note_fields(present)
    fields = ", ".join(sorted(present)[:_FIELDS_NAMED])
    has = f"; the fields of its metadata: {fields}" if fields else "; it has no metadata"
    value = "a value of " if name in present else ""
    meant = "" if name in present else did_you_mean(closest(name, sorted(present)))
    return InvalidFilterError(
        f"no result of {run.name} has {value}{name}{meant}",
        f"name a metadata field of the results{or_else}{has}",
    )

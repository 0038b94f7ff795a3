"""Verifying: grading the cases again, here, and comparing with the results at hand."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grading import LineGrader, Tally
from weighbridge.jobs.model import RETRYABLE, JobStatus
from weighbridge_producer.reading import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from weighbridge.jobs.model import GraderSpec
    from weighbridge.settings import Settings

_SHOWN = 20


class _Place(msgspec.Struct):
    line: int


_place = msgspec.json.Decoder(_Place)


@dataclass(slots=True)
class Verification:
    """What came of verifying a file of results."""

    proven: int = 0  #: graded again to the same bytes
    changed: int = 0  #: the result is another than the cases give
    unproven: int = 0  #: errored by what happened then, which grading now cannot tell
    missing: int = 0  #: jobs of the cases without a result
    surplus: int = 0  #: results without a job, or twice
    complaints: list[str] = field(default_factory=list)  #: the first few

    @property
    def ok(self) -> bool:
        """Whether nothing speaks against the results."""
        return not (self.changed or self.missing or self.surplus)

    def complain(self, what: str) -> None:
        """Note a complaint, unless there are many already."""
        if len(self.complaints) < _SHOWN:
            self.complaints.append(what)

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as JSON shows it."""
        return {
            "ok": self.ok,
            "proven": self.proven,
            "changed": self.changed,
            "unproven": self.unproven,
            "missing": self.missing,
            "surplus": self.surplus,
            "complaints": self.complaints,
        }


def verify(
    results: Path, cases: str, graders: Sequence[GraderSpec], settings: Settings
) -> Verification:
    """Grade every case again and compare; memory grows by 16 bytes a result."""
    outcome = Verification()
    grader, tally = LineGrader(graders), Tally()
    with results.open("rb") as file:
        index = _Index(file)
        for number, line in enumerate(Source(cases, settings), start=1):
            raw = line.raw.strip()
            if raw or line.fault:
                expected = grader.grade(Line(number - 1, number, raw, line.fault), tally)
                _compare(expected, index.rows(number), number, outcome)
        outcome.surplus += index.left()
    return outcome


def _compare(expected: bytes, found: list[bytes], number: int, outcome: Verification) -> None:
    wanted = Counter(expected.splitlines(keepends=True))
    given = Counter(found)
    same = wanted & given
    outcome.proven += same.total()
    missing, extra = list((wanted - same).elements()), list((given - same).elements())
    by_label = {_label(row): row for row in missing}
    for row in extra:
        kind = _judge(row)
        if kind == "repeat" or (kind == "unproven" and by_label.pop(_label(row), None) is not None):
            outcome.unproven += 1
            by_label.clear() if kind == "repeat" else None
        elif by_label.pop(_label(row), None) is not None:
            outcome.changed += 1
            outcome.complain(
                f"line {number}, label {_label(row)!r}: the result is not what the case gives"
            )
        else:
            outcome.surplus += 1
            outcome.complain(f"line {number}, label {_label(row)!r}: there is no such job")
    outcome.missing += len(by_label)
    for label in by_label:
        outcome.complain(f"line {number}, label {label!r}: no result")


def _label(row: bytes) -> str | None:
    label: str | None = orjson.loads(row).get("label")
    return label


def _judge(row: bytes) -> str:
    value = orjson.loads(row)
    code = (value.get("error") or {}).get("code")
    if code == "ID_CONFLICT":
        return "repeat"
    return (
        "unproven"
        if code in RETRYABLE or value.get("status") in {JobStatus.CANCELLED, JobStatus.EXPIRED}
        else ""
    )


class _Index:
    """Where each line's results are in a file, in any order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        lines, offsets = array("Q"), array("Q")
        offset = 0
        for row in file:
            lines.append(_place.decode(row).line)
            offsets.append(offset)
            offset += len(row)
        order = sorted(range(len(lines)), key=lines.__getitem__)
        self._lines = array("Q", (lines[i] for i in order))
        self._offsets = array("Q", (offsets[i] for i in order))
        self._next = 0
        self._passed = 0

    def rows(self, number: int) -> list[bytes]:
        """Return the results of a line; to be asked in ascending order."""
        return list(self._take(number))

    def _take(self, number: int) -> Iterator[bytes]:
        while self._next < len(self._lines) and self._lines[self._next] <= number:
            if self._lines[self._next] == number:
                self._file.seek(self._offsets[self._next])
                yield self._file.readline()
            else:
                self._passed += 1
            self._next += 1

    def left(self) -> int:
        """Return how many results belong to no line."""
        return self._passed + len(self._lines) - self._next

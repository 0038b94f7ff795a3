"""Verifying: grading the cases again, here, and comparing with the results at hand."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from weighbridge.jobs.chunk import Line
from weighbridge.jobs.codec import JSON_SPACE, peek_custom_id
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
    """Grade every case again and compare; memory grows by 16 bytes a result and 8 a case."""
    outcome, repeats = Verification(), _Repeats()
    grader, tally = LineGrader(graders), Tally()
    with results.open("rb") as file:
        index = _Index(file, outcome)
        for number, line in enumerate(Source(cases, settings), start=1):
            raw = line.raw.strip(JSON_SPACE)
            if not raw and not line.fault:
                continue
            repeats.note(number, raw)
            found = index.rows(number)
            if found or not repeats.may_be(raw):
                expected = grader.grade(
                    Line(number - 1, number, line.raw.rstrip(b"\n"), line.fault), tally
                )
                _compare(expected, found, number, outcome)
            else:
                repeats.suspect(number, grader.jobs_of(Line(number - 1, number, line.raw)))
        outcome.surplus += index.left()
    repeats.judge(outcome)
    return outcome


class _Repeats:
    """Which lines without results are repeats of an earlier line, and rightly have none."""

    def __init__(self) -> None:
        self._lines, self._digests = array("Q"), array("Q")
        self._suspects: dict[int, int] = {}

    def note(self, number: int, raw: bytes) -> None:
        """Take note of a line of input."""
        self._lines.append(number)
        self._digests.append(int.from_bytes(blake2b(raw, digest_size=8).digest()))

    @staticmethod
    def may_be(raw: bytes) -> bool:
        """Whether a line could be left out as a repeat; one without an id never is."""
        return peek_custom_id(raw) is not None

    def suspect(self, number: int, jobs: int) -> None:
        """Remember the line noted last: it has no results."""
        self._suspects[number] = jobs

    def judge(self, outcome: Verification) -> None:
        """Count as missing the results of lines that repeat no earlier one."""
        wanted = {
            digest
            for number, digest in zip(self._lines, self._digests, strict=True)
            if number in self._suspects
        }
        first: dict[int, int] = {}
        for number, digest in zip(self._lines, self._digests, strict=True):
            if digest in wanted:
                first.setdefault(digest, number)
        originals = set(first.values())
        for number, jobs in self._suspects.items():
            if number in originals:
                outcome.missing += jobs
                outcome.complain(f"line {number}: no result")


def _compare(expected: bytes, found: list[bytes], number: int, outcome: Verification) -> None:
    wanted = Counter(expected.splitlines())
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
    error = value.get("error")
    code = error.get("code") if isinstance(error, dict) else None
    if code == "ID_CONFLICT":
        return "repeat"
    return (
        "unproven"
        if code in RETRYABLE or value.get("status") in {JobStatus.CANCELLED, JobStatus.EXPIRED}
        else ""
    )


class _Index:
    """Where each line's results are in a file, in any order."""

    def __init__(self, file: BinaryIO, outcome: Verification) -> None:
        self._file = file
        lines, offsets = array("Q"), array("Q")
        offset = 0
        for at, row in enumerate(file, start=1):
            try:
                lines.append(_place.decode(row).line)
                offsets.append(offset)
            except (msgspec.MsgspecError, OverflowError):
                outcome.surplus += 1
                outcome.complain(f"line {at} of the results is no result")
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
                yield self._file.readline().rstrip(b"\n")
            else:
                self._passed += 1
            self._next += 1

    def left(self) -> int:
        """Return how many results belong to no line."""
        return self._passed + len(self._lines) - self._next

"""Judges what a user can read of a batch; it knows what was submitted, and nothing of how the product works.

It is given plain values: result lines as bytes, counts as a mapping. It returns what it objects to.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from faults.workload import Key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from faults.workload import Expected

#: outcomes of jobs that a batch's end took the place of grading for
UNDONE = frozenset({"CANCELLED", "EXPIRED"})
_ENDS = ("graded", "errored", "cancelled", "expired")


class Violation(NamedTuple):
    """Something that must not be."""

    kind: str  #: lost, doubled, wrong, surplus, counts, fell, cursor, claim, stuck, leftover
    batch: str
    detail: str


class Row(NamedTuple):
    """What one result line says."""

    key: Key
    custom_id: str | None
    outcome: str
    status: str
    raw: bytes


def parse(line: bytes) -> Row:
    """Read one result line."""
    row: dict[str, Any] = json.loads(line)
    graded = row["status"] == "graded"
    outcome = row["result"]["verdict"] if graded else row["error"]["code"]
    return Row(Key(row["line"], row["label"]), row["custom_id"], outcome, row["status"], line)


def check_results(
    batch: str,
    expected: Mapping[Key, Expected],
    rows: Iterable[Row],
    *,
    undone_allowed: bool = False,
) -> list[Violation]:
    """Object to every line and label without exactly one result, and to every wrong result.

    With `undone_allowed`, of a batch that was cancelled say, a result may also say that nobody graded it.
    """
    found: Counter[Key] = Counter()
    violations = []
    for row in rows:
        found[row.key] += 1
        wanted = expected.get(row.key)
        if wanted is None:
            violations.append(Violation("surplus", batch, f"{row.key} has {row.outcome}"))
        elif row.custom_id != wanted.custom_id:
            what = f"{row.key} names {row.custom_id!r}, not {wanted.custom_id!r}"
            violations.append(Violation("wrong", batch, what))
        elif row.outcome != wanted.outcome and not (undone_allowed and row.outcome in UNDONE):
            what = f"{row.key} has {row.outcome}, not {wanted.outcome}: {row.raw[:300]!r}"
            violations.append(Violation("wrong", batch, what))
    violations += [
        Violation("doubled", batch, f"{key} has {times} results")
        for key, times in found.items()
        if times > 1
    ]
    violations += [
        Violation("lost", batch, f"{key} has no result") for key in expected if key not in found
    ]
    return violations


def check_counts(
    batch: str, counts: Mapping[str, int], before: Mapping[str, int] | None = None
) -> list[Violation]:
    """Object to counts that do not sum, and to fewer finished jobs than `before`.

    `before` is left out where they may fall: after a rollback of the server, and after a retry.
    """
    violations = []
    if counts["total"] != finished(counts) + counts["pending"] or min(counts.values()) < 0:
        violations.append(Violation("counts", batch, f"the total is not the sum: {dict(counts)}"))
    if counts["graded"] != counts["passed"] + counts["failed"] + counts["ungradable"]:
        violations.append(Violation("counts", batch, f"graded is not the sum: {dict(counts)}"))
    if before and finished(counts) < finished(before):
        what = f"{finished(before)} jobs were finished, now {finished(counts)} are"
        violations.append(Violation("fell", batch, what))
    return violations


def finished(counts: Mapping[str, int]) -> int:
    """Return how many jobs nothing more happens to."""
    return sum(counts[name] for name in _ENDS)


def check_tally(batch: str, counts: Mapping[str, int], rows: Iterable[Row]) -> list[Violation]:
    """Object to counts of an ended batch that are not those of its result lines."""
    told: Counter[str] = Counter()
    for row in rows:
        told["total"] += 1
        told[row.status] += 1
        if row.status == "graded":
            told[{"pass": "passed", "fail": "failed"}.get(row.outcome, row.outcome)] += 1
    wrong = {name: (n, told[name]) for name, n in counts.items() if n != told[name]}
    if not wrong:
        return []
    return [Violation("counts", batch, f"(counted, found in the results): {wrong}")]


def check_collected(
    batch: str, collected: Iterable[Row], afresh: Iterable[Row], *, repeats_allowed: bool = False
) -> list[Violation]:
    """Object where results collected bit by bit are not the results read afresh.

    A collector may get a result again (`repeats_allowed`) if the server forgot that it had been there, and
    the message of its error may be another one then.
    """
    got: Counter[object]
    there: Counter[object]
    if repeats_allowed:
        got, there = Counter({row[:4] for row in collected}), Counter({row[:4] for row in afresh})
    else:
        got, there = Counter(row.raw for row in collected), Counter(row.raw for row in afresh)
    missing, surplus = there - got, got - there
    return [
        Violation(
            "cursor",
            batch,
            f"{len(rows)} collected results are {what}: {str(next(iter(rows)))[:300]}",
        )
        for rows, what in ((missing, "missing"), (surplus, "too many"))
        if rows
    ]

"""Pairs: the results of two runs with the same custom_id and label, and the changes between them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.outcome import OUTCOME_OF, VACUOUS, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.comparison.compared_results import Entry, FailedCheck
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.fields import Leaves

Labelled = dict[str | None, "Entry"]  #: a case's results in one run, by label
FILE = "metadata.file"  #: the field with the file of a result, where the input may have several
_JUDGED = frozenset(outcome.value for outcome in Outcome if outcome.has_score)
_GRADED = frozenset(outcome.value for outcome in OUTCOME_OF.values())


class Group(StrEnum):
    """The change of a result between two runs."""

    UNCHANGED = "unchanged"  #: the same outcome, for the same reasons
    REGRESSED = "regressed"  #: passed before, fails now
    REPAIRED = "repaired"  #: failed before, passes now
    #: the same outcome, but other checks fail, or at other steps; or ungradable for another reason
    CHANGED_EVIDENCE = "changed evidence"
    LOST = "lost"  #: passed or failed before, is ungradable or not graded now
    GAINED = "gained"  #: ungradable or not graded before, passes or fails now
    ERRORED = "errored"  #: neither passed nor failed, and at least one of the two was not graded
    NEW = "new"  #: only in the second run
    GONE = "gone"  #: only in the first run


class Condition(StrEnum):
    """The first difference in the conditions under which the two results of a pair were graded."""

    NONE = ""  #: no detectable difference, or one of them was not graded
    VERSION = "version"  #: the grader, or its version
    CONFIGURATION = "configuration"  #: of the same version of the same grader
    EXPECTED = "expected value"  #: of the case, under the same configuration
    INPUTS = "inputs"  #: although expected values and results are equal


def condition_of(before: Entry, after: Entry) -> Condition:
    """Return the first difference; a changed answer with a changed result is not a difference in conditions."""
    if not before.receipt or not after.receipt or before.receipt == after.receipt:
        return Condition.NONE
    if (before.grader, before.grader_version) != (after.grader, after.grader_version):
        return Condition.VERSION
    if before.config != after.config:
        return Condition.CONFIGURATION
    shared = before.limits.keys() & after.limits.keys() - {VACUOUS}
    if any(before.limits[check] != after.limits[check] for check in shared):
        return Condition.EXPECTED
    # Graders are deterministic, so different receipts of equal results mean different inputs.
    return Condition.INPUTS if before.digest == after.digest else Condition.NONE


class Pair(NamedTuple):
    """The results of two runs under one custom_id and label; one of them may be missing."""

    custom_id: str
    label: str | None
    before: Entry | None
    after: Entry | None

    @property
    def group(self) -> Group:
        """The kind of change of the result."""
        before, after = self.before, self.after
        if before is None or after is None:
            return Group.NEW if after else Group.GONE
        was_judged, is_judged = before.outcome in _JUDGED, after.outcome in _JUDGED
        if was_judged != is_judged:
            return Group.LOST if was_judged else Group.GAINED
        if not (before.outcome in _GRADED and after.outcome in _GRADED):
            return Group.ERRORED
        if before.outcome != after.outcome:
            return Group.REGRESSED if before.outcome == Outcome.PASSED else Group.REPAIRED
        return self._same_outcome(before, after)

    def _same_outcome(self, before: Entry, after: Entry) -> Group:
        checks = before.failed_checks, after.failed_checks
        is_same = (
            before.cause == after.cause
            and len(checks[0]) == len(checks[1])
            and all(check.is_same(other) for check, other in zip(*checks, strict=True))
        )
        return Group.UNCHANGED if is_same else Group.CHANGED_EVIDENCE

    @property
    def is_judged(self) -> bool:
        """True if both results passed or failed, so that the pair counts in the rates."""
        before, after = self.before, self.after
        return bool(before and after and before.outcome in _JUDGED and after.outcome in _JUDGED)

    @property
    def lost_verdict(self) -> bool:
        """True if only the first run's result passed or failed."""
        before, after = self.before, self.after
        judged_before = before is not None and before.outcome in _JUDGED
        return judged_before and (after is None or after.outcome not in _JUDGED)

    @property
    def condition(self) -> Condition:
        """The first difference in the conditions of grading."""
        before, after = self.before, self.after
        return condition_of(before, after) if before and after else Condition.NONE

    def check_changes(self) -> list[dict[str, Any]]:
        """Return the checks that fail in one run only, or in both with different steps or values."""
        sides = [_numbered_checks(entry) for entry in (self.before, self.after)]
        changes = []
        for key in dict.fromkeys((*sides[0], *sides[1])):
            before, after = sides[0].get(key), sides[1].get(key)
            if not (before and before.is_same(after)):
                changes.append(
                    {
                        "check": key[0],
                        "fails": "in both" if before and after else "before" if before else "after",
                        "steps_before": list(before.step_ids) if before else [],
                        "steps_after": list(after.step_ids) if after else [],
                    }
                )
        return changes

    @property
    def fields(self) -> Leaves:
        """The metadata fields that were read, by their names: of the second run's result, or of the only one."""
        entry = self.after or self.before
        return entry.fields if entry else {}

    def as_dict(self) -> dict[str, Any]:
        """Return the pair in its JSON form."""
        return {
            "custom_id": self.custom_id,
            "label": self.label,
            "change": str(self.group),
            "before": _side(self.before),
            "after": _side(self.after),
            "checks": self.check_changes(),
            "condition": str(self.condition),
        }


def _numbered_checks(entry: Entry | None) -> dict[tuple[str, int], FailedCheck]:
    """Return a result's failed checks by name and number; the number counts repeated failures of a check."""
    found: dict[tuple[str, int], FailedCheck] = {}
    for check in entry.failed_checks if entry else ():
        number = sum(name == check.check for name, _ in found)
        found[check.check, number] = check
    return found


def _side(entry: Entry | None) -> dict[str, Any] | None:
    if entry is None:
        return None
    return {
        "line": entry.line,
        "outcome": entry.outcome,
        "cause": entry.cause,
        "reason": entry.reason,
        "expected": entry.expected,
        "observed": entry.observed,
    }


def by_case(
    numbered: Iterable[tuple[int, Entry]], runs: list[Run]
) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield the id of each case in a partition with its results in each run; the first of repeated results counts."""
    cases: dict[str, list[Labelled]] = {}
    for run, entry in numbered:
        sides = cases.setdefault(entry.custom_id or "", [{} for _ in runs])
        if entry.label in sides[run]:
            runs[run].repeated += 1
        else:
            sides[run][entry.label] = entry
    yield from cases.items()


def place_of(number: int, before: Labelled, after: Labelled) -> tuple[int, int]:
    """Return the number of the first run that has a case, of run 0 and another one, and the case's line in its input.

    The line is 0 if neither has it.
    """
    run, results = (0, before) if before else (number, after)
    return run, min((entry.line for entry in results.values()), default=0)


def pairs_of(custom_id: str, before: Labelled, after: Labelled) -> Iterator[Pair]:
    """Yield the pairs of one case.

    An unreadable line has a single result without a label, which represents all of its graders.
    """
    labels = dict.fromkeys((*before, *after))
    if len(labels) > 1:
        labels.pop(None, None)
    for label in labels:
        yield Pair(
            custom_id,
            label,
            before.get(label) or before.get(None),
            after.get(label) or after.get(None),
        )

"""Pairs: the results of two runs with the same custom_id and label, and the changes between them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.jobs.outcome import VACUOUS, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.comparison.entries import Entry, FailedCheck
    from weighbridge_producer.comparison.runs import Run

Labelled = dict[str | None, "Entry"]  #: a case's results in one run, by label
_JUDGED = frozenset({str(Outcome.PASSED), str(Outcome.FAILED)})
_GRADED = _JUDGED | {str(Outcome.UNGRADABLE)}


class Group(StrEnum):
    """The change of a result between two runs."""

    UNCHANGED = "unchanged"  #: the same outcome, for the same reasons
    REGRESSED = "regressed"  #: it passed, and fails now
    REPAIRED = "repaired"  #: it failed, and passes now
    CHANGED_EVIDENCE = (
        "changed evidence"  #: the same outcome, but other checks fail, or the same ones elsewhere
    )
    UNGRADABLE = "ungradable"  #: at least one of the two lacks what the grader needs
    ERRORED = "errored"  #: at least one of the two was not graded
    NEW = "new"  #: only the second run has it
    GONE = "gone"  #: only the first run has it


class Condition(StrEnum):
    """What was not the same when the two results of a pair were graded."""

    NONE = ""  #: nothing that can be told, or one of them was not graded
    VERSION = "version"  #: the grader, or its version
    CONFIGURATION = "configuration"  #: of the same version of the same grader
    EXPECTED = "expected value"  #: of the case, under the same configuration
    INPUTS = "inputs"  #: beside equal expected values and an equal result


def condition_of(before: Entry, after: Entry) -> Condition:
    """Return what differed first; that an agent answered otherwise, with another result, is not looked for."""
    if not before.receipt or not after.receipt or before.receipt == after.receipt:
        return Condition.NONE
    if (before.grader, before.grader_version) != (after.grader, after.grader_version):
        return Condition.VERSION
    if before.config != after.config:
        return Condition.CONFIGURATION
    shared = before.limits.keys() & after.limits.keys() - {VACUOUS}
    if any(before.limits[check] != after.limits[check] for check in shared):
        return Condition.EXPECTED
    # A grader returns the same for the same inputs, so that other receipts of equal results mean other inputs.
    return Condition.INPUTS if before.digest == after.digest else Condition.NONE


class Pair(NamedTuple):
    """The results of two runs under one custom_id and label; one of them may be missing."""

    custom_id: str
    label: str | None
    before: Entry | None
    after: Entry | None

    @property
    def group(self) -> Group:
        """What became of the result."""
        before, after = self.before, self.after
        if before is None or after is None:
            return Group.NEW if after else Group.GONE
        if before.outcome in _JUDGED and after.outcome in _JUDGED:
            if before.outcome != after.outcome:
                return Group.REGRESSED if before.outcome == Outcome.PASSED else Group.REPAIRED
            return self._same_outcome(before, after)
        if before.outcome in _GRADED and after.outcome in _GRADED:
            return Group.UNGRADABLE
        return Group.ERRORED

    def _same_outcome(self, before: Entry, after: Entry) -> Group:
        alike = before.cause == after.cause and before.failed_checks == after.failed_checks
        return Group.UNCHANGED if alike else Group.CHANGED_EVIDENCE

    @property
    def is_judged(self) -> bool:
        """Whether both passed or failed, so that the pair counts for the rates."""
        before, after = self.before, self.after
        return bool(before and after and before.outcome in _JUDGED and after.outcome in _JUDGED)

    @property
    def lost_verdict(self) -> bool:
        """Whether the first run judged it and the second did not."""
        before, after = self.before, self.after
        judged_before = before is not None and before.outcome in _JUDGED
        return judged_before and (after is None or after.outcome not in _JUDGED)

    @property
    def condition(self) -> Condition:
        """What was not the same when the two were graded."""
        before, after = self.before, self.after
        return condition_of(before, after) if before and after else Condition.NONE

    def check_changes(self) -> list[dict[str, Any]]:
        """Return each check that fails on one side only, or on both for other steps or values."""
        sides = [_numbered_checks(entry) for entry in (self.before, self.after)]
        changes = []
        for key in dict.fromkeys((*sides[0], *sides[1])):
            before, after = sides[0].get(key), sides[1].get(key)
            if before != after:
                changes.append(
                    {
                        "check": key[0],
                        "fails": "in both" if before and after else "before" if before else "after",
                        "steps_before": list(before.step_ids) if before else [],
                        "steps_after": list(after.step_ids) if after else [],
                    }
                )
        return changes

    def as_dict(self) -> dict[str, Any]:
        """Return the pair as JSON shows it."""
        return {
            "custom_id": self.custom_id,
            "label": self.label,
            "group": str(self.group),
            "before": _side(self.before),
            "after": _side(self.after),
            "checks": self.check_changes(),
            "condition": str(self.condition),
        }


def _numbered_checks(entry: Entry | None) -> dict[tuple[str, int], FailedCheck]:
    """Return a result's failed checks by name, and by number where a check failed more than once."""
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
    }


def by_case(
    numbered: Iterable[tuple[int, Entry]], runs: list[Run]
) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield each case of a partition: its id and its results in each run; of repeated ones the first counts."""
    cases: dict[str, list[Labelled]] = {}
    for run, entry in numbered:
        sides = cases.setdefault(entry.custom_id or "", [{} for _ in runs])
        if entry.label in sides[run]:
            runs[run].repeated += 1
        else:
            sides[run][entry.label] = entry
    yield from cases.items()


def pairs_of(custom_id: str, before: Labelled, after: Labelled) -> Iterator[Pair]:
    """Yield the pairs of one case.

    A line that could not be read has one result without a label, which stands for all of its graders.
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

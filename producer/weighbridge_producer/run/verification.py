"""The outcome of verifying a results file, with its problems in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec

_SHOWN = 20
LABEL_SHOWN = 80  #: characters
_LABELS_SHOWN = 10
_OTHERS = (
    "No result belongs to these cases and graders: give the cases of the run, and the same --grader, --config and"
    " --graders."
)
_ALTERED = (
    "Check that this command has the cases of the run, with their files named in the same way, its mapping and joined files, its"
    " --grader, --config and --graders, and its version of Weighbridge. If so, these results were altered after the run: run"
    " the cases again."
)
_UNNAMED = "give the --grader, --config and --graders of the run"
_UNPROVEN = (
    "Grading again cannot reproduce why a job was not graded: `weighbridge retry` grades such jobs again, and"
    " --allow-unproven accepts them as they are."
)


@dataclass(slots=True)
class Verification:
    """Result of verifying a results file."""

    allow_unproven: bool = False  #: whether unproven results are accepted
    proven: int = 0  #: results that grading again reproduced byte for byte
    changed: int = 0  #: results that differ from those of grading again
    #: results of jobs not graded because of a past event, which cannot be reproduced
    unproven: int = 0
    missing: int = 0  #: jobs without a result
    surplus: int = 0  #: results without a job, duplicate results, and lines that are not results
    problems: list[str] = field(default_factory=list)  #: the first few problems
    more_problems: int = 0  #: number of problems not in `problems`
    #: Graders of results, by label, that the command does not name, and no case does; the first few of them.
    unnamed: dict[str, str] = field(default_factory=dict)
    of_unnamed: int = 0  #: number of missing and surplus results that they explain
    #: True if a result is of a job of the cases, and not only of a bad line.
    has_labelled: bool = False
    #: Missing results of lines that have those of graders that are not named, in the words of `problems`.
    replaced: list[str] = field(default_factory=list)
    more_replaced: int = 0  #: number of these that are not in `problems`

    @property
    def ok(self) -> bool:
        """True if no problem was found."""
        doubted = self.unproven and not self.allow_unproven
        return not (self.changed or self.missing or self.surplus or doubted)

    def add_problem(self, what: str, *, is_replaced: bool = False) -> None:
        """Add a problem, or only count it if there are many already."""
        if len(self.problems) < _SHOWN:
            self.problems.append(what)
            self.replaced += [what] if is_replaced else []
        else:
            self.more_problems += 1
            self.more_replaced += is_replaced

    def add_unnamed(self, label: str, grader: str) -> None:
        """Count a surplus result of a grader that the command does not name."""
        self.surplus += 1
        self.of_unnamed += 1
        if label in self.unnamed or len(self.unnamed) <= _LABELS_SHOWN:
            self.unnamed[label] = grader

    def name_unnamed(self, graders: Sequence[GraderSpec]) -> None:
        """Add the first problem: the graders that the results have, but neither the cases nor `graders`."""
        if not self.unnamed:
            return
        names = [
            label[:LABEL_SHOWN] if label == grader else f"{label}={grader}"[: 2 * LABEL_SHOWN]
            for label, grader in list(self.unnamed.items())[:_LABELS_SHOWN]
        ]
        listed = ", ".join(names) + (" and more" if len(self.unnamed) > _LABELS_SHOWN else "")
        why = f"the results are also of {listed}, which this command does not name"
        if not graders:
            why = f"no grader is named, and the results are of {listed}"
        elif not self.has_labelled:
            given = ", ".join(spec.label[:LABEL_SHOWN] for spec in graders[:_LABELS_SHOWN])
            given += " and more" if len(graders) > _LABELS_SHOWN else ""
            why = f"the results are of {listed}, and none is of {given}, which this command names"
            self._leave_out_replaced()
        self.problems.insert(0, f"{why}: {_UNNAMED}")

    def _leave_out_replaced(self) -> None:
        """Leave out the missing results that the labels of the others explain."""
        self.of_unnamed += len(self.replaced) + self.more_replaced
        self.problems = [each for each in self.problems if each not in self.replaced]
        self.more_problems -= self.more_replaced

    def advice(self) -> list[str]:
        """Return advice on the problems that were found."""
        found = []
        if self.changed + self.missing + self.surplus > self.of_unnamed:
            is_other = not self.proven and (self.missing or self.surplus)
            found.append(_OTHERS if is_other else _ALTERED)
        if self.unproven and not self.allow_unproven:
            found.append(_UNPROVEN)
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome in its JSON form."""
        return {
            "ok": self.ok,
            "proven": self.proven,
            "changed": self.changed,
            "unproven": self.unproven,
            "missing": self.missing,
            "surplus": self.surplus,
            "problems": self.problems,
            "more_problems": self.more_problems,
        }

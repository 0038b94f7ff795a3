"""Several expected answers of one row: the first is the case's, and the others go into its graders' configurations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from weighbridge.errors import UnknownGraderError
from weighbridge.graders.registry import default_registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Row, Value

_FURTHER = "expected_any"  #: the setting of graders that accept further answers
_EXPECTED = "expected_output"


@dataclass(frozen=True, slots=True)
class ExpectedAnswers:
    """A list of expected answers at a path, for graders that accept more than one.

    If one of the graders does not accept further answers, a list of several stays the expected output, so that the job is
    ungradable: a failure by the first answer alone would be wrong.
    """

    path: Value
    graders: tuple[GraderSpec, ...] = ()

    def apply(self, case: dict[str, Any], row: Row, number: int) -> None:
        """Replace a list of expected answers in a case by the first, and name the others to its graders."""
        answers = self.path.of(row, number)
        are_texts = isinstance(answers, list) and all(type(each) is str for each in answers)
        if not (answers and are_texts and _EXPECTED in case["inputs"]):
            return
        first, *further = answers
        if further and not all_accept_several(self.graders):
            return
        case["inputs"][_EXPECTED] = first
        if further:
            case["graders"] = [_with_further(spec, further) for spec in self.graders]


def with_accepted_answers(mapping: FieldMapping, graders: Sequence[GraderSpec]) -> FieldMapping:
    """Return a mapping by which the graders accept each of the texts in a list that it maps to the expected output."""
    expected = mapping.inputs.get(_EXPECTED)
    if mapping.change or expected is None or not all_accept_several(graders):
        return mapping
    return replace(mapping, change=ExpectedAnswers(expected, tuple(graders)))


def all_accept_several(graders: Sequence[GraderSpec]) -> bool:
    """Return whether there are graders, and each accepts several expected answers."""
    return bool(graders) and all(map(_takes_further, graders))


def _takes_further(spec: GraderSpec) -> bool:
    try:
        return _FURTHER in default_registry().get(spec.grader).Config.model_fields
    except UnknownGraderError:
        return False


def _with_further(spec: GraderSpec, answers: Sequence[str]) -> dict[str, Any]:
    config = dict(spec.config or {})
    given = config.get(_FURTHER, ())
    config[_FURTHER] = [*(given if isinstance(given, (list, tuple)) else [given]), *answers]
    return {**spec.as_dict(), "config": config}

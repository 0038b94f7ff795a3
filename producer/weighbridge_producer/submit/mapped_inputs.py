"""Checks that a mapping gives cases the inputs that their graders take and require."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import MappingError
from weighbridge.text import closest, did_you_mean, shorten
from weighbridge_producer.input.grader_inputs import known_inputs, needed_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping


def check_known_inputs(mapping: FieldMapping, graders: Sequence[GraderSpec]) -> None:
    """Raise MappingError for an input that no grader has; graders that are not installed here may have any."""
    known = known_inputs(graders)
    if wrong := next((name for name in mapping.inputs if known and name not in known), None):
        meant = did_you_mean(closest(wrong, known))
        raise MappingError(
            f"no grader has an input {shorten(wrong, 80, '...')!r}{meant}",
            f"inputs of {' and '.join(spec.label for spec in graders)}: {', '.join(known)}",
        )


def check_needed_inputs(
    mapping: FieldMapping, graders: Sequence[GraderSpec], how_to_add: Callable[[str], str]
) -> None:
    """Raise MappingError if a grader requires an input that no case would have, so that it could grade none.

    `how_to_add` returns the hint for fields such as `expected_output=COLUMN` that are missing.
    """
    for spec in graders if mapping.change is None else ():
        if lacking := [name for name in needed_inputs([spec]) if name not in mapping.inputs]:
            hint = how_to_add(",".join(f"{name}=COLUMN" for name in lacking))
            if len(graders) > 1:
                hint += "; run graders that need other inputs separately"
            lack = " and no ".join(lacking)
            raise MappingError(f"the mapping has no {lack}, which {spec.label} needs", hint)

"""The inputs that graders take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.errors import UnknownGraderError
from weighbridge.graders.registry import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.grader_spec import GraderSpec

USUAL_INPUTS = ("agent_response", "expected_output")  #: the inputs of most graders


def needed_inputs(graders: Iterable[GraderSpec]) -> tuple[str, ...]:
    """Return the inputs required by those graders that are installed here."""
    needed: dict[str, None] = {}
    for spec in graders:
        try:
            schema = default_registry().get(spec.grader).inputs_schema()
        except UnknownGraderError:
            continue
        needed |= dict.fromkeys(schema.get("required", ()))
    return tuple(needed)


def known_inputs(graders: Iterable[GraderSpec]) -> list[str]:
    """Return the inputs that at least one of the graders takes; none if a grader is not installed here, or takes any."""
    known: dict[str, None] = {}
    for spec in graders:
        try:
            schema = default_registry().get(spec.grader).inputs_schema()
        except UnknownGraderError:
            return []
        if schema.get("additionalProperties"):
            return []
        known |= dict.fromkeys(schema.get("properties", ()))
    return list(known)


def input_groups(graders: Iterable[GraderSpec]) -> dict[tuple[str, ...], list[GraderSpec]]:
    """Return graders by the inputs that they require, one group for those that can judge the same cases.

    A case must not have inputs that one of its graders does not take.
    """
    groups: dict[tuple[str, ...], list[GraderSpec]] = {}
    for spec in graders:
        if needed := needed_inputs([spec]):
            groups.setdefault(needed, []).append(spec)
    known = {name for needed in groups for name in needed}
    schemas = [default_registry().get(spec.grader).inputs_schema() for spec, *_ in groups.values()]
    if groups and all(known <= schema.get("properties", {}).keys() for schema in schemas):
        every = [spec for specs in groups.values() for spec in specs]
        return {tuple(dict.fromkeys(name for needed in groups for name in needed)): every}
    return groups

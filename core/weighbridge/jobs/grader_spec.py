"""Specifications of graders: which grader to use, with which configuration and label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.errors import GraderSpecError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.limits import NAME_LIMIT, VALID_NAME
from weighbridge.text import closest, did_you_mean, found_instead

GRADERS_LIMIT = 64  #: on one case
CONFIG_LIMIT_BYTES = 256 * 1024  #: of a grader, in a case
#: How a grader is specified.
GRADER_FORM = 'a grader is an id, or {"grader": ..., "config": ..., "label": ...}'


@dataclass(frozen=True, slots=True)
class GraderSpec:
    """A grader to use, with its configuration and the label of its results."""

    grader: str
    config: Mapping[str, Any] | None = None
    label: str = field(default="")

    def __post_init__(self) -> None:
        if not self.label:
            object.__setattr__(self, "label", self.grader)

    @classmethod
    def parse(cls, value: object, *path: str | int) -> GraderSpec:
        """Parse an id, a `{"grader", "config", "label"}` mapping, or a spec; `path` is its location in the input.

        Raises GraderSpecError.
        """
        if isinstance(value, str):
            fields: Mapping[str, Any] = {"grader": value}
        elif isinstance(value, GraderSpec):
            fields = {"grader": value.grader, "config": value.config, "label": value.label}
        elif isinstance(value, Mapping):
            fields = value
        elif path:
            raise _must_be("a grader's id, or an object", path)
        else:
            raise GraderSpecError(ErrorCode.INVALID_FIELD, GRADER_FORM)
        _check_fields(fields, path)
        _check_name(fields["grader"], (*path, "grader"))
        label = fields.get("label")
        if label is not None:
            _check_name(label, (*path, "label"))
        config = fields.get("config")
        if not isinstance(config, Mapping | None):
            raise _must_be("an object", (*path, "config"))
        return cls(fields["grader"], config, label or "")

    def as_dict(self) -> dict[str, Any]:
        """Return the spec in its JSON form."""
        return {
            "grader": self.grader,
            "config": None if self.config is None else dict(self.config),
            "label": self.label,
        }


def parse_specs(values: Sequence[str | Mapping[str, Any] | GraderSpec]) -> tuple[GraderSpec, ...]:
    """Parse a list of graders, whose labels must differ; raises GraderSpecError."""
    specs = tuple(GraderSpec.parse(value, "graders", index) for index, value in enumerate(values))
    labels: set[str] = set()
    for index, spec in enumerate(specs):
        if spec.label in labels:
            raise GraderSpecError(
                ErrorCode.INVALID_FIELD,
                f"two graders are labelled {spec.label!r}",
                "give one of them another label",
                ("graders", index),
            )
        labels.add(spec.label)
    return specs


def _check_fields(given: Mapping[str, Any], path: tuple[str | int, ...]) -> None:
    known = ("grader", "config", "label")
    unknown = [str(name) for name in given if name not in known]
    if "grader" not in given:
        raise GraderSpecError(
            ErrorCode.MISSING_FIELD,
            f"{_dotted((*path, 'grader'))} is missing",
            found_instead("grader", unknown) or GRADER_FORM,
            path,
        )
    if unknown:
        meant = did_you_mean(closest(unknown[0], known), before="", after=" ")
        raise GraderSpecError(
            ErrorCode.UNKNOWN_FIELD,
            f"unknown field {_dotted((*path, unknown[0]))}",
            f"{meant}Known: {', '.join(known)}",
            (*path, unknown[0]),
        )


def _check_name(name: object, path: tuple[str | int, ...]) -> None:
    if not isinstance(name, str):
        raise _must_be("a string", path)
    if not name:
        raise _must_be("not empty", path)
    if len(name) > NAME_LIMIT:
        raise _must_be(f"at most {NAME_LIMIT} characters", path)
    if not VALID_NAME.fullmatch(name):
        raise _must_be("without control characters", path)


def _must_be(expected: str, path: tuple[str | int, ...]) -> GraderSpecError:
    return GraderSpecError(
        ErrorCode.INVALID_FIELD, f"{_dotted(path)} must be {expected}", GRADER_FORM, path
    )


def _dotted(path: tuple[str | int, ...]) -> str:
    return repr(".".join(map(str, path))[:80])

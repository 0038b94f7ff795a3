"""Cases: parses and validates one line, with its inputs and graders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NotRequired

import orjson
from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from weighbridge.errors import LineError
from weighbridge.grading.hints import hint_for
from weighbridge.grading.simple_case import Case, read_simple_case
from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.line import describe_name_fault
from weighbridge.jobs.model import (
    GRADERS_LIMIT,
    METADATA_LIMIT_BYTES,
    NAME_LIMIT,
    ErrorCode,
    GraderSpec,
)
from weighbridge.text import closest, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Case", "CaseShape", "Name", "parse_case"]

# \Z instead of $, which would accept a trailing newline.
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LIMIT, pattern=r"\A[^\x00-\x1f\x7f-\x9f]*\z"),
]

_STRICT = ConfigDict(extra="forbid", strict=True)


@with_config(_STRICT)
class _SpecShape(TypedDict):
    grader: Name
    config: NotRequired[dict[str, Any] | None]
    label: NotRequired[Name]


@with_config(_STRICT)
class CaseShape(TypedDict):
    """One line of input, as JSON."""

    custom_id: Name
    inputs: dict[str, Any]
    grader: NotRequired[Name]
    config: NotRequired[dict[str, Any] | None]
    graders: NotRequired[list[_SpecShape]]
    metadata: NotRequired[dict[str, Any] | None]


_validate = TypeAdapter(CaseShape).validator.validate_python  # avoids a layer of Python code
_NEEDED: dict[type, str] = {
    CaseShape: 'it needs "custom_id" and "inputs"',
    _SpecShape: 'a grader is an id, or {"grader": ..., "config": ..., "label": ...}',
}
_EXPECTED = {
    "string_type": "a string",
    "dict_type": "an object",
    "list_type": "an array",
    "string_too_short": "not empty",
    "string_too_long": f"at most {NAME_LIMIT} characters",
    "string_pattern_mismatch": "without control characters",
}


def parse_case(raw: bytes, defaults: tuple[GraderSpec, ...], *, needs_grader: bool = True) -> Case:
    """Parse the case on a line; raises LineError if it is invalid, or if it `needs_grader` and names none."""
    if case := read_simple_case(raw, defaults):
        return case
    value = decode_line(raw)
    if "inputs" not in value:
        _reject_non_case(value)
    _check_bounds(value, len(raw))
    _write_out_graders(value)
    try:
        shape: CaseShape = _validate(value)
    except ValidationError as error:
        raise _explain(error, value) from None
    return Case(
        shape["custom_id"],
        shape["inputs"],
        _graders(shape, defaults, needs_grader=needs_grader),
        shape.get("metadata"),
    )


def _reject_non_case(value: dict[str, Any]) -> None:
    """Reject an object that is not a case, with a hint on what it seems to be."""
    advice = hint_for(value)
    if advice or "custom_id" not in value:
        lacking = "'inputs'" if "custom_id" in value else "'custom_id' and 'inputs'"
        raise LineError(
            ErrorCode.MISSING_FIELD,
            f"not a case (missing {lacking}) and not a recognised trace format",
            advice or _instead_of("inputs", value, CaseShape) or _NEEDED[CaseShape],
        )


def _write_out_graders(value: dict[str, Any]) -> None:
    """Convert graders given by id to objects."""
    graders = value.get("graders")
    if type(graders) is list:
        value["graders"] = [{"grader": spec} if type(spec) is str else spec for spec in graders]


def _check_bounds(value: dict[str, Any], size: int) -> None:
    """Reject large invalid values early, because pydantic would keep an error object for each fault."""
    _check_keys(value, CaseShape, "")
    graders = value.get("graders")
    if type(graders) is list:
        if len(graders) > GRADERS_LIMIT:
            raise LineError(
                ErrorCode.INVALID_FIELD,
                f"the case has {len(graders):,} graders, at most {GRADERS_LIMIT} are allowed",
                "split it into several cases",
            )
        for index, spec in enumerate(graders):
            if type(spec) is dict:
                _check_keys(spec, _SpecShape, f"graders.{index}.")
    # Metadata is repeated in each result of the case.
    if size > METADATA_LIMIT_BYTES and (metadata := value.get("metadata")):
        length = len(orjson.dumps(metadata))
        if length > METADATA_LIMIT_BYTES:
            raise LineError(
                ErrorCode.INVALID_FIELD,
                f"the metadata has {length:,} bytes, at most {METADATA_LIMIT_BYTES:,} are allowed",
                "store large values elsewhere, and put a reference here",
            )


def _check_keys(value: dict[str, Any], shape: type, path: str) -> None:
    known = shape.__annotations__
    if len(value) > len(known):
        raise _unknown_field(path, next(name for name in value if name not in known), known)


def _instead_of(missing: str, value: dict[str, Any], shape: type) -> str:
    """Return the unknown key that is probably a misspelt missing key; empty if there is none."""
    unknown = [key for key in value if key not in shape.__annotations__]
    given = closest(missing, unknown)
    return f"found {given[:80]!r}{did_you_mean(missing)}" if given else ""


def _unknown_field(path: str, name: str, known: Iterable[str]) -> LineError:
    meant = did_you_mean(closest(name, known), before="", after=" ")
    return LineError(
        ErrorCode.UNKNOWN_FIELD,
        f"unknown field {(path + name)[:80]!r}",
        f"{meant}Known: {', '.join(known)}; put fields of your own into 'metadata'",
    )


def _graders(
    shape: CaseShape, defaults: tuple[GraderSpec, ...], *, needs_grader: bool
) -> tuple[GraderSpec, ...]:
    if "grader" in shape:
        if "graders" in shape:
            raise LineError(
                ErrorCode.INVALID_FIELD,
                "the case has both 'grader' and 'graders'",
                "keep one of them",
            )
        return (GraderSpec(shape["grader"], shape.get("config")),)
    if shape.get("config") is not None:
        raise LineError(
            ErrorCode.INVALID_FIELD,
            "the case has a 'config' and no 'grader'",
            "name the grader beside it",
        )
    if "graders" not in shape:
        if needs_grader and not defaults:
            raise LineError(
                ErrorCode.NO_GRADER,
                "no grader is named",
                "give the case a 'grader', or the batch one: --grader ID",
            )
        return defaults
    specs = tuple(
        GraderSpec(spec["grader"], spec.get("config"), spec.get("label", ""))
        for spec in shape["graders"]
    )
    labels = {spec.label for spec in specs}
    if not specs:
        raise LineError(
            ErrorCode.INVALID_FIELD,
            "'graders' is empty",
            "name at least one grader, or leave it out",
        )
    if len(labels) < len(specs):
        raise LineError(
            ErrorCode.INVALID_FIELD,
            "two of the case's graders have one label",
            "give each its own 'label'",
        )
    return specs


def _explain(error: ValidationError, value: dict[str, Any]) -> LineError:
    """Convert pydantic's first error to a LineError: first missing fields, then unknown ones, then others."""
    order = {"missing": 0, "extra_forbidden": 1}
    first = min(error.errors(include_url=False), key=lambda fault: order.get(fault["type"], 2))
    path = ".".join(map(str, first["loc"]))
    name = str(first["loc"][-1])
    match first["type"]:
        case "missing":
            in_graders = first["loc"][0] == "graders"
            shape = _SpecShape if in_graders else CaseShape
            where: Any = value["graders"][first["loc"][1]] if in_graders else value
            return LineError(
                ErrorCode.MISSING_FIELD,
                f"the case lacks {path!r}",
                _instead_of(name, where, shape) or _NEEDED[shape],
            )
        case "extra_forbidden":
            shape = _SpecShape if "graders" in first["loc"] else CaseShape
            return _unknown_field(path.removesuffix(name), name, shape.__annotations__)
        case _ if first["loc"] == ("custom_id",):
            fault = describe_name_fault(value["custom_id"])
            hint = f"use 1 to {NAME_LIMIT} characters, none of them control characters"
            return LineError(
                ErrorCode.INVALID_CUSTOM_ID, f"the custom_id is not valid: {fault}", hint
            )
        case kind:
            expected = _EXPECTED.get(kind, first["msg"])
            if type(first["loc"][-1]) is int:  # an index of `graders`, the one list
                expected = "a grader's id, or an object"
            return LineError(
                ErrorCode.INVALID_FIELD, f"{path[:80]!r} must be {expected}", "see the case format"
            )

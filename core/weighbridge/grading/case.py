"""Cases: parses and validates one line, with its inputs and graders."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired

import orjson
from pydantic import ConfigDict, StringConstraints, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from weighbridge.errors import GraderSpecError, LineError
from weighbridge.grading.hints import OWN_COLUMNS, OWN_FORMAT, hint_for
from weighbridge.grading.simple_case import Case, read_simple_case
from weighbridge.grading.strict_json import decode_line
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GRADERS_LIMIT, GraderSpec, parse_specs
from weighbridge.jobs.limits import METADATA_LIMIT_BYTES, NAME_LIMIT
from weighbridge.jobs.line import describe_name_fault
from weighbridge.text import closest, did_you_mean, found_instead

__all__ = ["Case", "CaseShape", "Name", "may_be_case", "parse_case"]

# \Z instead of $, which would accept a trailing newline.
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=NAME_LIMIT, pattern=r"\A[^\x00-\x1f\x7f-\x9f]*\z"),
]


@with_config(ConfigDict(extra="forbid", strict=True))
class CaseShape(TypedDict):
    """One line of input, as JSON."""

    custom_id: Name
    inputs: dict[str, Any]
    grader: NotRequired[Any]
    config: NotRequired[Any]
    graders: NotRequired[list[Any]]
    metadata: NotRequired[dict[str, Any] | None]


_FIELDS = tuple(CaseShape.__annotations__)
_REQUIRED = ("custom_id", "inputs")
_KNOWN_INPUTS = frozenset({"trace", "agent_response", "expected_output", "expected_any"})
#: beside those of cases, of an object with `inputs` that is no case, such as a span
_OTHER_FIELDS = 2
_validate = TypeAdapter(CaseShape).validator.validate_python  # avoids a layer of Python code
_NEEDED = 'it needs "custom_id" and "inputs"'
_EXPECTED = {
    "string_type": "a string",
    "dict_type": "an object",
    "list_type": "an array",
}


def parse_case(raw: bytes, defaults: tuple[GraderSpec, ...], *, needs_grader: bool = True) -> Case:
    """Parse the case on a line; raises LineError if it is invalid, or if it `needs_grader` and names none."""
    if case := read_simple_case(raw, defaults):
        return case
    value = decode_line(raw)
    if "inputs" not in value or not may_be_case(value):
        _reject_non_case(value)
    _check_bounds(value, len(raw))
    try:
        shape: CaseShape = _validate(value)
    except ValidationError as error:
        raise _explain(error, value) from None
    try:
        graders = _graders(shape, defaults, needs_grader=needs_grader)
    except GraderSpecError as error:
        raise LineError(error.line_code, error.message, error.hint) from None
    return Case(shape["custom_id"], shape["inputs"], graders, shape.get("metadata"))


def may_be_case(value: dict[str, Any]) -> bool:
    """Return whether an object has a case's id, or inputs of a case.

    Spans and runs have a field `inputs` too: one counts if an input of graders is in it, or few other fields are beside it.
    """
    if "custom_id" in value or "inputs" not in value:
        return "custom_id" in value
    inputs = value["inputs"]
    if type(inputs) is dict and not _KNOWN_INPUTS.isdisjoint(inputs):
        return True
    return len(value.keys() - CaseShape.__annotations__.keys()) < _OTHER_FIELDS


def _reject_non_case(value: dict[str, Any]) -> None:
    """Reject an object that is not a case, with a hint on what it seems to be."""
    advice = hint_for(value)
    if advice or "custom_id" not in value:
        lacking = " and ".join(f"'{name}'" for name in _REQUIRED if name not in value)
        raise LineError(
            ErrorCode.MISSING_FIELD,
            f"not a case (missing {lacking}) and not a recognised trace format",
            advice or f"{_found_instead('inputs', value) or _NEEDED}; {OWN_COLUMNS}; {OWN_FORMAT}",
        )


def _check_bounds(value: dict[str, Any], size: int) -> None:
    """Reject large invalid values early, because pydantic would keep an error object for each fault."""
    if len(value) > len(_FIELDS):
        raise _unknown_field(next(name for name in value if name not in _FIELDS))
    graders = value.get("graders")
    if type(graders) is list and len(graders) > GRADERS_LIMIT:
        raise LineError(
            ErrorCode.INVALID_FIELD,
            f"the case has {len(graders):,} graders, at most {GRADERS_LIMIT} are allowed",
            "split it into several cases",
        )
    # Metadata is repeated in each result of the case.
    if size > METADATA_LIMIT_BYTES and (metadata := value.get("metadata")):
        length = len(orjson.dumps(metadata))
        if length > METADATA_LIMIT_BYTES:
            raise LineError(
                ErrorCode.INVALID_FIELD,
                f"the metadata has {length:,} bytes, at most {METADATA_LIMIT_BYTES:,} are allowed",
                "store large values elsewhere, and put a reference here",
            )


def _found_instead(missing: str, value: dict[str, Any]) -> str:
    return found_instead(missing, (name for name in value if name not in _FIELDS))


def _unknown_field(name: str) -> LineError:
    meant = did_you_mean(closest(name, _FIELDS), before="", after=" ")
    return LineError(
        ErrorCode.UNKNOWN_FIELD,
        f"unknown field {name[:80]!r}",
        f"{meant}Known: {', '.join(_FIELDS)}; put fields of your own into 'metadata'",
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
        return (GraderSpec.parse({"grader": shape["grader"], "config": shape.get("config")}),)
    if shape.get("config") is not None:
        raise LineError(
            ErrorCode.INVALID_FIELD,
            "the case has a 'config' and no 'grader'",
            "name the grader too",
        )
    if "graders" not in shape:
        if needs_grader and not defaults:
            raise LineError(
                ErrorCode.NO_GRADER,
                "no grader is named",
                "give the case a 'grader', or the batch one: --grader ID",
            )
        return defaults
    if not shape["graders"]:
        raise LineError(
            ErrorCode.INVALID_FIELD,
            "'graders' is empty",
            "name at least one grader, or leave it out",
        )
    return parse_specs(shape["graders"])


def _explain(error: ValidationError, value: dict[str, Any]) -> LineError:
    """Convert pydantic's first error to a LineError: first missing fields, then unknown ones, then others."""
    order = {"missing": 0, "extra_forbidden": 1}
    first = min(error.errors(include_url=False), key=lambda fault: order.get(fault["type"], 2))
    name = str(first["loc"][-1])
    match first["type"]:
        case "missing":
            return LineError(
                ErrorCode.MISSING_FIELD,
                f"the case lacks {name!r}",
                _found_instead(name, value) or _NEEDED,
            )
        case "extra_forbidden":
            return _unknown_field(name)
        case _ if first["loc"] == ("custom_id",):
            fault = describe_name_fault(value["custom_id"])
            hint = f"use 1 to {NAME_LIMIT} characters, none of them control characters"
            return LineError(
                ErrorCode.INVALID_CUSTOM_ID, f"the custom_id is not valid: {fault}", hint
            )
        case kind:
            expected = _EXPECTED.get(kind, first["msg"])
            return LineError(
                ErrorCode.INVALID_FIELD, f"{name!r} must be {expected}", "see the case format"
            )

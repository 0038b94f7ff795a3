"""What a grader's configuration is, and how a bad one is explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError, PydanticSerializationError

from weighbridge.errors import ConfigError, ConfigTypeError, nearest
from weighbridge.graders.inputs import as_json, printable

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SHOWN_CHARACTERS = 80
_UNKNOWN_KEY = "unknown_key"
_WANTED = {
    "bool_type": "true or false",
    "string_type": "a string",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "int_type": "an integer",
    "float_type": "a number",
}


def as_tuple(value: object) -> object:
    """Return a list as a tuple, which nobody can change, and anything else as it is."""
    return tuple(value) if isinstance(value, list) else value


Strings = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
"""A list of strings in a configuration, kept as a tuple so that nobody can change it."""


class GraderConfig(BaseModel):
    """A grader's parameters: immutable, strictly typed, and closed to unknown keys."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, title=None
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_keys(cls, given: object) -> object:
        for key in given if isinstance(given, dict) else ():
            if key not in cls.model_fields:
                raise PydanticCustomError(
                    _UNKNOWN_KEY,
                    "{text}",
                    {"text": _unknown_key(key, list(cls.model_fields)), "key": str(key)},
                )
        return given


ConfigT = TypeVar("ConfigT", bound=GraderConfig)


def parse_config(model: type[ConfigT], config: object, grader_id: str) -> ConfigT:
    """Return the configuration as its model; None counts as `{}`.

    Raises ConfigTypeError for a value of the wrong type, and ConfigError for anything else that is wrong.
    """
    if config is not None and not isinstance(config, dict):
        raise ConfigTypeError(
            f"grader {grader_id!r}: config must be an object or null, not {_shown(config)}"
        )
    try:
        parsed = model.model_validate({} if config is None else config)
        parsed.model_dump_json()
    except PydanticSerializationError:
        raise ConfigError(
            f"grader {grader_id!r}: config must be JSON, with no lone surrogate in its texts"
        ) from None
    except ValidationError as invalid:
        first, *others = invalid.errors(include_url=False)
        error_class = ConfigTypeError if _is_wrong_type(first) else ConfigError
        more = f" (and {len(others)} more)" if others else ""
        error = error_class(printable(f"grader {grader_id!r}: {_explain(first)}{more}"))
        error.path = (
            (*first["loc"], first["ctx"]["key"]) if first["type"] == _UNKNOWN_KEY else first["loc"]
        )
        raise error from None
    return parsed


def _unknown_key(key: object, known: list[str]) -> str:
    guess = nearest(key, known) if isinstance(key, str) else None
    meant = f"; did you mean {guess!r}?" if guess else "."
    return f"unknown key {_shown(key)}{meant} Known keys: {', '.join(known) or 'none'}"


def _is_wrong_type(error: ErrorDetails) -> bool:
    if error["type"] == "literal_error":
        strings_wanted = "'" in error["ctx"]["expected"]
        return strings_wanted != isinstance(error["input"], str)
    return error["type"].endswith("_type")


def _explain(error: ErrorDetails) -> str:
    kind, path = error["type"], _path(error["loc"])
    if kind == _UNKNOWN_KEY:
        return f"{path}: {error['msg']}" if path else error["msg"]
    if kind == "missing":
        parent = _path(error["loc"][:-1])
        return f"{parent or 'config'} lacks the key {error['loc'][-1]!r}"
    if kind == "value_error":
        reason = str(error["ctx"]["error"])
        return f"{path}: {reason}" if path else reason
    if kind in _WANTED:
        return f"{path} must be {_WANTED[kind]}, not {_shown(error['input'])}"
    subject, should, rest = error["msg"].partition(" should ")
    if not should:
        return f"{path}: {error['msg']}"
    return f"{path} must {rest}" + (f", not {_shown(error['input'])}" if subject == "Input" else "")


def _path(places: tuple[int | str, ...]) -> str:
    """Write a place in the configuration as `aliases.true[0]`."""
    return "".join(
        f"[{place}]" if isinstance(place, int) else f".{place}" for place in places
    ).lstrip(".")


def _shown(value: Any) -> str:
    text = repr(value) if type(value) is str else as_json(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 1] + "…"

"""Configurations of graders, and error messages for invalid ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError, PydanticSerializationError

from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders.values import as_json
from weighbridge.text import closest, did_you_mean, encodable, shorten

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_SHOWN_CHARACTERS = 80
_FAULTS_SHOWN = 10
_UNKNOWN_KEY = "unknown_key"
_LISTS = ("list_type", "tuple_type")
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
#: Common keys of other tools, which are spelt like keys that mean something else -> the key to suggest.
_OTHER_NAMES = {
    "ignore_case": "case_sensitive",
    "lowercase": "case_sensitive",
    "max_iterations": "max_llm_calls",
    "max_model_calls": "max_llm_calls",
    "max_seconds": "max_duration_ms",
    "max_time": "max_duration_ms",
    "max_time_ms": "max_duration_ms",
    "max_total_tokens": "max_tokens",
    "max_turns": "max_llm_calls",
}


def as_tuple(value: object) -> object:
    """Convert a list to a tuple, which is immutable; return other values unchanged."""
    return tuple(value) if isinstance(value, list) else value


Strings = Annotated[tuple[str, ...], BeforeValidator(as_tuple)]
"""A list of strings in a configuration, stored as an immutable tuple."""


class GraderConfig(BaseModel):
    """A grader's parameters: immutable, strictly typed, without unknown keys."""

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
    """Parse a configuration with its model; None means `{}`.

    Raises ConfigTypeError for a value of the wrong type, and ConfigError for any other problem.
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
        raise _refusal(model, config, invalid, grader_id) from None
    return parsed


class ConfigFault(NamedTuple):
    """One problem of a configuration."""

    path: tuple[str | int, ...]  #: location; empty for the configuration as a whole
    text: str


def config_faults(model: type[GraderConfig], config: object) -> list[ConfigFault]:
    """Return the problems of a configuration with their paths, up to a limit."""
    try:
        model.model_validate(config)
    except ValidationError as invalid:
        faults = invalid.errors(include_url=False)[:_FAULTS_SHOWN]
        return [ConfigFault(fault["loc"], encodable(_explain(fault))) for fault in faults]
    return []


def _refusal(
    model: type[ConfigT], config: object, invalid: ValidationError, grader_id: str
) -> ConfigError | ConfigTypeError:
    """Return an error that lists all problems, up to a limit."""
    faults = invalid.errors(include_url=False)
    texts = [_explain(fault) for fault in faults[:_FAULTS_SHOWN]]
    count = len(faults)
    if isinstance(config, dict) and faults[0]["type"] == _UNKNOWN_KEY and not faults[0]["loc"]:
        # An unknown key hides other problems, which should be reported too.
        _, *unknown = (key for key in config if key not in model.model_fields)
        others = _faults_of_known(model, config)
        texts += [
            _unknown_key(key, list(model.model_fields), brief=True)
            for key in unknown[:_FAULTS_SHOWN]
        ]
        texts += map(_explain, others[:_FAULTS_SHOWN])
        count += len(unknown) + len(others)
    error_class = ConfigTypeError if _is_wrong_type(faults[0]) else ConfigError
    error = error_class(encodable(f"grader {grader_id!r}: {_listed(texts, count)}"))
    error.path = faults[0]["loc"]
    if faults[0]["type"] == _UNKNOWN_KEY:
        error.path = (*faults[0]["loc"], faults[0]["ctx"]["key"])
    return error


def _faults_of_known(model: type[ConfigT], config: dict[str, Any]) -> list[ErrorDetails]:
    """Return the problems of known keys, except missing ones, which may be misspelt as an unknown key."""
    try:
        model.model_validate({key: config[key] for key in config if key in model.model_fields})
    except ValidationError as invalid:
        found = invalid.errors(include_url=False)
        return [fault for fault in found if fault["loc"] and fault["type"] != "missing"]
    return []


def _listed(texts: list[str], count: int) -> str:
    if count == 1:
        return texts[0]
    shown = "; ".join(f"({at}) {text}" for at, text in enumerate(texts[:_FAULTS_SHOWN], 1))
    rest = count - _FAULTS_SHOWN
    return f"{count:,} faults: {shown}" + (f"; and {rest:,} more" if rest > 0 else "")


def _unknown_key(key: object, known: list[str], *, brief: bool = False) -> str:
    guess = None
    if isinstance(key, str):
        other = _OTHER_NAMES.get(key)
        guess = other if other in known else closest(key, known)
    meant = did_you_mean(guess) or ("" if brief else ".")
    listed = "" if brief else f" Known keys: {', '.join(known) or 'none'}"
    return f"unknown key {_shown(key)}{meant}{listed}"


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
        given = _shown(error["input"])
        instead = ""
        if kind in _LISTS and type(error["input"]) is str and len(given) < _SHOWN_CHARACTERS:
            instead = f"; write [{as_json(error['input'])}]"
        return f"{path} must be {_WANTED[kind]}, not {given}{instead}"
    subject, should, rest = error["msg"].partition(" should ")
    if not should:
        return f"{path}: {error['msg']}"
    return f"{path} must {rest}" + (f", not {_shown(error['input'])}" if subject == "Input" else "")


def _path(keys: tuple[int | str, ...]) -> str:
    """Return a path in the configuration in the form `aliases.true[0]`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip(".")


def _shown(value: Any) -> str:
    text = repr(value) if type(value) is str else as_json(value)
    return shorten(text, _SHOWN_CHARACTERS)

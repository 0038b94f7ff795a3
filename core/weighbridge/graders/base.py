"""The base of graders: pure, stateless, deterministic judges that return a verdict with evidence.

A verdict is a grader's decision on its inputs: `pass`, `fail`, or `ungradable` if they lack data that the grader
needs. Evidence says what was checked, against which limit, what was observed, and at which steps of a trace.
"""

from __future__ import annotations

import copy
import logging
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, NotRequired, TypedDict

from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders.config import GraderConfig, Strings, parse_config
from weighbridge.text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Difference",
    "Evidence",
    "Grader",
    "GraderConfig",
    "GraderInterface",
    "GraderRequirements",
    "GraderResult",
    "Judgement",
    "OutputGrader",
    "Strings",
    "Verdict",
    "graded",
    "unreadable",
]

_log = logging.getLogger("weighbridge.graders")


class Verdict(StrEnum):
    """A grader's decision on its inputs."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    UNGRADABLE = "ungradable"  #: the inputs lack what the grader needs


class Difference(TypedDict):
    """The first difference of a text from the expected one, with invisible characters made visible."""

    index: int  #: index of the first character that differs
    before: str  #: the equal text before it, at most 40 characters
    expected: str  #: the expected differing text, at most 80 characters
    observed: str
    after: str  #: the equal text after it, at most 40 characters


class Evidence(TypedDict):
    """One check that a verdict rests on."""

    check: str  #: a stable name of what was checked
    description: str  #: a readable description with the specific values
    passed: bool
    cause: NotRequired[str]  #: kind of a failure, for grouping failures of a check
    limit: NotRequired[object]  #: the threshold applied, or the value expected
    observed: NotRequired[object]  #: the value seen
    step_ids: list[str]  #: the steps concerned, in trace order; empty for output graders
    excerpt: NotRequired[str]  #: at most 200 characters of the content, if any
    difference: NotRequired[Difference]  #: between two texts


class GraderResult(TypedDict):
    """The return value of `grade`, which is plain JSON data."""

    passed: bool  #: exactly when the verdict is `pass`
    score: float  #: 0.0 to 1.0; 0.0 when ungradable
    verdict: str  #: a `Verdict`'s value
    details: dict[str, object]  #: grader-specific fields, which are always all present
    evidence: list[Evidence]  #: at least one entry, even for passes


@dataclass(frozen=True, slots=True)
class GraderRequirements:
    """The data that a grader needs from a trace; empty for graders of outputs."""

    step_types: tuple[str, ...] = ()
    #: among llm_calls, tool_calls, token_usage, timing, cost, tool_definitions
    capabilities: tuple[str, ...] = ()


class GraderInterface(ABC):
    """The minimal interface of a grader."""

    @abstractmethod
    def grade(self, *args: Any, **inputs: Any) -> GraderResult:
        """Judge the inputs, without side effects; never raises."""

    @abstractmethod
    def validate_config(self, config: Any = None) -> bool:
        """Return whether a configuration is valid; never raises."""


class _ConfigValidation:
    """Descriptor of `validate_config`, for use on the class and on instances."""

    def __get__(self, instance: Grader | None, owner: type[Grader]) -> Callable[..., bool]:
        def validate_config(config: Any = None) -> bool:
            """Return whether a configuration is valid; log a warning if it is not.

            None means an empty configuration on the class, and the instance's own one on an instance.
            """
            if config is None and instance is not None:
                return True
            try:
                owner(config=config)
            except Exception as error:  # noqa: BLE001 - must never raise
                _log.warning("invalid configuration of %s: %s", owner.__name__, _text_of(error))
                return False
            return True

        return validate_config


class Grader(GraderInterface):
    """Base class of graders, with a configuration that is parsed once, and immutable instances."""

    id: ClassVar[str]
    name: ClassVar[str]
    description: ClassVar[str]
    version: ClassVar[int]  #: to be raised whenever any verdict could change
    Config: ClassVar[type[GraderConfig]] = GraderConfig
    #: True if results have no floats but the score, and only ASCII keys, which halves the time for a receipt.
    has_plain_results: ClassVar[bool] = False

    grader_id: str
    #: the parsed configuration; subclasses narrow the type to their `Config`
    settings: GraderConfig

    def __init__(self, grader_id: str | None = None, config: dict[str, Any] | None = None) -> None:
        self.grader_id = type(self).id if grader_id is None else _checked_id(grader_id)
        self.settings = parse_config(self.Config, config, self.grader_id)
        self._given = copy.deepcopy(config or {})
        self.prepare()
        self._is_complete = True

    @classmethod
    def preload(cls) -> None:
        """Import what only grading needs; workers call this once, before they fork."""

    def prepare(self) -> None:
        """Precompute data for `grade` from `settings`; attributes cannot be set after this."""

    def __setattr__(self, name: str, value: object) -> None:
        """Set an attribute during construction; raise afterwards."""
        if "_is_complete" in self.__dict__:
            self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        """Raise, because graders are immutable."""
        self._refuse_change(name)

    def _refuse_change(self, name: str) -> NoReturn:
        raise AttributeError(
            f"{type(self).__name__} never changes; {name!r} cannot be set or deleted"
        )

    @property
    def config(self) -> dict[str, Any]:
        """A copy of the configuration as given; `{}` if none was given."""
        return copy.deepcopy(self._given)

    def effective_config(self) -> dict[str, Any]:
        """Return the configuration with defaults, as plain JSON data."""
        return self.settings.model_dump(mode="json")

    validate_config = _ConfigValidation()

    @classmethod
    def config_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the configuration."""
        return cls.Config.model_json_schema()

    @classmethod
    @abstractmethod
    def inputs_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a job's inputs, the keyword arguments of `grade`."""

    @classmethod
    def requirements(cls, config: dict[str, Any] | None = None) -> GraderRequirements:  # noqa: ARG003
        """Return the data that the grader needs from a trace with a given configuration."""
        return GraderRequirements()

    @classmethod
    @abstractmethod
    def example(cls) -> dict[str, Any]:
        """Return a `config` and `inputs` that show the grader at work."""


Judgement = tuple[Verdict, str, str, Evidence]
"""Result of a comparison: verdict, match status, reason, and evidence."""


class OutputGrader(Grader):
    """A grader that judges an agent's answer against an expected one."""

    @abstractmethod
    def grade(self, agent_response: object, expected_output: object) -> GraderResult:
        """Judge an answer, without side effects; never raises."""

    @classmethod
    def inputs_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the two inputs, which may be any JSON value."""
        return {
            "type": "object",
            "properties": {
                "agent_response": {"description": "What the agent answered."},
                "expected_output": {"description": "What it should have answered."},
            },
            "required": ["agent_response", "expected_output"],
            "additionalProperties": False,
        }


def graded(
    verdict: Verdict,
    details: dict[str, object],
    evidence: list[Evidence],
    score: float | None = None,
) -> GraderResult:
    """Build a result; the score defaults to 1.0 for a pass and 0.0 otherwise."""
    passed = verdict is Verdict.PASS
    return {
        "passed": passed,
        "score": float(passed) if score is None else score,
        "verdict": str(verdict),
        "details": details,
        "evidence": evidence,
    }


def unreadable(check: str, reason: str, shown: str, cause: str) -> Evidence:
    """Return evidence that one side of a comparison is not comparable."""
    evidence: Evidence = {
        "check": check,
        "description": reason,
        "passed": False,
        "cause": cause,
        "observed": shown or None,
        "step_ids": [],
    }
    if shown:
        evidence["excerpt"] = shown
    return evidence


def _checked_id(grader_id: object) -> str:
    if not isinstance(grader_id, str):
        raise ConfigTypeError(f"grader_id must be a string, not {type(grader_id).__name__}")
    if not grader_id.strip():
        raise ConfigError("grader_id must not be empty")
    return grader_id


def _text_of(error: Exception) -> str:
    try:
        return encodable(str(error))
    except Exception:  # noqa: BLE001 - an error that cannot be formatted must not raise either
        return f"the config cannot be read: {type(error).__name__}"

"""The registry of graders: the built-in ones, then plug-ins of other packages."""

from __future__ import annotations

import inspect
import logging
import re
from copy import deepcopy
from functools import cache, cached_property
from importlib.metadata import entry_points
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from weighbridge.errors import ConfigError, UnknownGraderError, WeighbridgeError
from weighbridge.graders.base import Grader
from weighbridge.graders.config import GraderConfig

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "weighbridge.graders"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MESSAGE_LIMIT = 300  #: characters of a plug-in's error
_log = logging.getLogger("weighbridge.graders")

#: The built-in graders by id; each is imported on first use, since some take 0.1 s.
BUILT_IN = {
    "string-match": "weighbridge.graders.string_match:StringMatchGrader",
    "true-false": "weighbridge.graders.true_false:TrueFalseGrader",
    "budget": "weighbridge.graders.budget:BudgetGrader",
    "loop": "weighbridge.graders.loop:LoopGrader",
    "tool-schema": "weighbridge.graders.tool_schema:ToolSchemaGrader",
}


class Registry:
    """Grader classes by id, in the order of registration."""

    def __init__(
        self, plug_ins: Iterable[EntryPoint] = (), graders: Iterable[type[Grader]] = ()
    ) -> None:
        self._classes: dict[str, type[Grader] | str] = dict(BUILT_IN)
        self._classes |= {grader.id: grader for grader in graders}
        self._failures: dict[str, str] = {}
        for plug_in in sorted(plug_ins, key=lambda plug_in: (plug_in.name, plug_in.value)):
            self._add(plug_in)

    @property
    def failures(self) -> dict[str, str]:
        """The errors of plug-ins that could not be loaded, by entry point name."""
        return dict(self._failures)

    def ids(self) -> list[str]:
        """Return all grader ids, built-in ones first."""
        return list(self._classes)

    def versions(self) -> dict[str, int]:
        """Return the versions of graders by id; this imports all of them."""
        return {grader_id: self.get(grader_id).version for grader_id in self._classes}

    def preload(self) -> None:
        """Import all graders, and what they need to grade."""
        for grader_id in self._classes:
            self.get(grader_id).preload()

    def get(self, grader_id: str) -> type[Grader]:
        """Return the grader class with an id; raises UnknownGraderError if there is none."""
        try:
            grader = self._classes[grader_id]
        except KeyError:
            raise UnknownGraderError(grader_id, known=self.ids()) from None
        if isinstance(grader, str):
            grader = self._classes[grader_id] = resolve_name(grader)
        return grader

    def create(self, grader_id: str, config: dict[str, Any] | None = None) -> Grader:
        """Create a grader with a configuration.

        Raises UnknownGraderError, ConfigError or ConfigTypeError.
        """
        grader = self.get(grader_id)
        try:
            return grader(config=config)
        except (WeighbridgeError, MemoryError):
            raise
        except Exception as error:
            # `prepare` of a plug-in may raise anything.
            raise ConfigError(f"grader {grader_id!r} cannot be built: {_brief(error)}") from error

    def catalogue(self) -> list[dict[str, Any]]:
        """Return the catalogue: descriptions of all graders, without creating instances."""
        return deepcopy(self._described)

    @cached_property
    def _described(self) -> list[dict[str, Any]]:
        return [
            {
                "id": grader.id,
                "name": grader.name,
                "description": grader.description,
                "version": grader.version,
                "config_schema": grader.config_schema(),
                "inputs_schema": grader.inputs_schema(),
                "requirements": _requirements(grader, grader.example()["config"]),
                "example": grader.example(),
            }
            for grader in map(self.get, self.ids())
        ]

    def _add(self, plug_in: EntryPoint) -> None:
        try:
            grader = plug_in.load()
            problem = _problem(grader) or self._clash(grader.id)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a broken plug-in must not affect others
            problem = _brief(error)
        if problem:
            self._failures[plug_in.name] = problem
            _log.warning(
                "grader plug-in %r (%s) was not loaded: %s", plug_in.name, plug_in.value, problem
            )
        else:
            self._classes[grader.id] = grader

    def _clash(self, grader_id: str) -> str:
        return f"the id {grader_id!r} is taken" if grader_id in self._classes else ""


@cache
def default_registry() -> Registry:
    """Return the registry of this process: the built-in graders and every installed plug-in."""
    return Registry(entry_points(group=ENTRY_POINT_GROUP))


def _problem(grader: object) -> str:
    """Return the reason why an object cannot be registered as a grader; "" if it can."""
    if not (isinstance(grader, type) and issubclass(grader, Grader)):
        return "not a subclass of weighbridge.graders.Grader"
    if inspect.isabstract(grader):
        return f"lacks the methods {', '.join(sorted(grader.__abstractmethods__))}"
    facts = {
        fact: getattr(grader, fact, None)
        for fact in ("id", "name", "description", "version", "Config")
    }
    wrong = [
        fact
        for fact in ("name", "description")
        if not (isinstance(facts[fact], str) and facts[fact])
    ]
    if not (isinstance(facts["id"], str) and _ID.fullmatch(facts["id"])):
        wrong.insert(0, "id")
    if type(facts["version"]) is not int or facts["version"] < 1:
        wrong.append("version")
    if not (isinstance(facts["Config"], type) and issubclass(facts["Config"], GraderConfig)):
        wrong.append("Config")
    if wrong:
        return f"lacks valid class attributes: {', '.join(wrong)}"
    for describe in (grader.config_schema, grader.inputs_schema, grader.example):
        if describe() is None:
            return f"{describe.__name__} returns nothing"
    return _unlike_schema(grader)


def _unlike_schema(grader: type[Grader]) -> str:
    """Return which inputs only `grade` or only the schema has, so that no case would have all that are needed; "" if none."""
    named = grader.inputs_schema().get("properties", {})
    taken = [p for p in inspect.signature(grader.grade).parameters.values() if p.name != "self"]
    if any(p.kind in {p.VAR_POSITIONAL, p.VAR_KEYWORD} for p in taken):
        return ""
    wrong = [p.name for p in taken if p.default is p.empty and p.name not in named]
    wrong += [name for name in named if name not in {p.name for p in taken}]
    if not wrong:
        return ""
    return (
        f"grade takes {', '.join(p.name for p in taken)}, but inputs_schema has {', '.join(named)}:"
        " override inputs_schema to have the parameters of grade"
    )


def _requirements(grader: type[Grader], config: dict[str, Any] | None) -> dict[str, list[str]]:
    needed = grader.requirements(config)
    return {
        "step_types": list(needed.step_types),
        "capabilities": list(needed.capabilities),
    }


def _brief(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_MESSAGE_LIMIT]
    except Exception:  # noqa: BLE001 - nor must an error that cannot be formatted
        return f"{type(error).__name__}: no message"

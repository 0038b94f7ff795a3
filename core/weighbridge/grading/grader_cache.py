"""Cache of graders, created once per config, with precomputed data for their jobs."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import Fault, UnknownGraderError, WeighbridgeError
from weighbridge.graders.registry import BUILT_IN, default_registry
from weighbridge.graders.trace_grader import TraceGrader
from weighbridge.grading.receipt import Receipts
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import CONFIG_LIMIT_BYTES, GraderSpec
from weighbridge.settings import KIB
from weighbridge.text import closest, did_you_mean, found_instead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from weighbridge.graders.base import Grader, GraderResult
    from weighbridge.graders.registry import Registry

_KEPT_CONFIG_BYTES = 64 * KIB
MESSAGE_LIMIT = 300  #: characters of an exception's message


@dataclass(frozen=True, slots=True)
class ReadyGrader:
    """A grader for one config, with data for its jobs."""

    grade: Callable[..., GraderResult]
    version: int
    id_and_version: str
    receipts: Receipts
    required: frozenset[str]
    known: frozenset[str]
    reads_trace: bool  #: True if it accepts a trace that has already been read
    is_built_in: bool  #: True if it certainly leaves its inputs unchanged

    def fault_of(self, inputs: dict[str, Any]) -> Fault | None:
        """Return a fault if input names are missing or unknown, or None."""
        given = inputs.keys()
        unknown = sorted(given - self.known)
        for name in sorted(self.required - given):
            return missing_input(name, self.required, unknown)
        for name in unknown:
            meant = did_you_mean(closest(name, self.known), before="", after=" ")
            known = ", ".join(sorted(self.known))
            return Fault(
                ErrorCode.UNKNOWN_FIELD,
                f"unknown input {name[:80]!r}",
                f"{meant}Known: {known}",
            )
        return None


def missing_input(name: str, required: Iterable[str], unknown: list[str]) -> Fault:
    """Return the fault of inputs that lack one of those required, beside which they have unknown ones."""
    found = found_instead(name, unknown) or (
        f"unknown input {unknown[0][:80]!r};" if unknown else ""
    )
    hint = f"{found} needed: {', '.join(sorted(required))}".lstrip()
    return Fault(ErrorCode.MISSING_FIELD, f"the inputs lack {name!r}", hint)


class GraderCache:
    """Creates graders and caches the most recently used ones."""

    def __init__(self, registry: Registry | None = None) -> None:
        self._registry = registry or default_registry()
        self._build = lru_cache(maxsize=256)(self._build_uncached)

    def get(self, spec: GraderSpec) -> ReadyGrader | Fault:
        """Return the grader for a spec, or a fault."""
        if spec.config is None:
            return self._build(spec.grader, b"")
        config = orjson.dumps(spec.config, option=orjson.OPT_SORT_KEYS)
        if len(config) > CONFIG_LIMIT_BYTES:
            return Fault(
                ErrorCode.INVALID_CONFIG,
                f"the config has {len(config):,} bytes, at most {CONFIG_LIMIT_BYTES:,} are allowed",
                "put what is judged into the inputs; the config only says how to judge",
            )
        # Untrusted lines may each have a different large config; caching them would exhaust the memory.
        build = self._build if len(config) <= _KEPT_CONFIG_BYTES else self._build_uncached
        return build(spec.grader, config)

    def _build_uncached(self, grader_id: str, config: bytes) -> ReadyGrader | Fault:
        try:
            grader = self._registry.create(grader_id, orjson.loads(config) if config else None)
        except WeighbridgeError as error:
            return Fault(error.code, error.message, error.hint or _hint(error, grader_id))
        required, known = _parameters(type(grader))
        version = type(grader).version
        return ReadyGrader(
            grader.grade,
            version,
            f"{grader_id}={version}",
            Receipts(
                grader_id,
                version,
                grader.effective_config(),
                are_plain=type(grader).has_plain_results,
            ),
            required,
            known,
            reads_trace=isinstance(grader, TraceGrader),
            is_built_in=grader_id in BUILT_IN,
        )


def brief(error: BaseException) -> str:
    """Return an error's message on one line."""
    return f"{type(error).__name__}: {error}"[:MESSAGE_LIMIT]


@lru_cache(maxsize=256)
def _parameters(grader: type[Grader]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the inputs that a grader requires and those that it accepts, from the parameters of `grade`."""
    found = [p for name, p in inspect.signature(grader.grade).parameters.items() if name != "self"]
    required = frozenset(p.name for p in found if p.default is p.empty)
    return required, frozenset(p.name for p in found)


def _hint(error: Exception, grader_id: str) -> str:
    if isinstance(error, UnknownGraderError):
        return "correct the id, or install the plug-in that has this grader where the workers run"
    return f"`weighbridge graders show {grader_id}` lists the keys of its config"

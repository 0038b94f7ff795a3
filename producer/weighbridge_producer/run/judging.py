"""What decides the results of a run besides its lines: an interrupted run goes on only with the same."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from weighbridge.errors import UnknownGraderError
from weighbridge.graders import default_registry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings


#: The settings that decide how a job ends.
_LIMITS = ("job_deadline_seconds", "child_memory_limit_bytes", "observed_deaths_limit")


def judging(graders: Iterable[GraderSpec], settings: Settings) -> dict[str, Any]:
    """Return a value of JSON that differs for graders, versions and limits of jobs that yield other results."""
    specs = list(graders)
    return {
        "graders": [spec.as_dict() for spec in specs],
        "versions": {
            "Weighbridge": version("weighbridge"),
            **{spec.grader: _version_of(spec.grader) for spec in specs},
        },
        "job_limits": {limit: getattr(settings, limit) for limit in _LIMITS},
    }


def _version_of(grader_id: str) -> int | None:
    """Return the version of a grader; None if only the workers of a server have it."""
    try:
        return default_registry().get(grader_id).version
    except UnknownGraderError:
        return None

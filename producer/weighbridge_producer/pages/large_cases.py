"""Large cases are processed in the sandbox, with the time and memory limits of a job."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar, TypeVarTuple

from anyio import from_thread

from weighbridge.jobs.error_codes import ErrorCode
from weighbridge_producer.sandbox.pool import SandboxLimitError, SandboxStartError
from weighbridge_producer.service.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge_producer.service.service import Service

_View = TypeVar("_View")
_Facts = TypeVarTuple("_Facts")

#: members of objects and arrays that can be processed in a fraction of a second
_PARTS_HERE = 60_000


class LargeCaseError(Exception):
    """A large case cannot be shown; the message is the reason."""


def read_case(
    service: Service,
    project: str,
    view: Callable[[bytes | None, *_Facts], _View],
    line: bytes | None,
    *facts: *_Facts,
) -> _View:
    """Return `view(line, *facts)`, computed in this thread or, for a large line, in the sandbox.

    Raises LargeCaseError if that exceeds the limits of a job, or if too many large cases are being processed.
    """
    if line is None or parts_of(line) <= _PARTS_HERE:
        return view(line, *facts)
    try:
        with service.large_cases.take(project):
            return from_thread.run(service.sandbox.run, partial(view, line, *facts))
    except ProblemError as error:
        fault = error.problem.fault
        raise LargeCaseError(f"{fault.message}: {fault.hint}") from None
    except SandboxStartError:
        raise LargeCaseError("no process is available to read the case") from None
    except SandboxLimitError as error:
        raise LargeCaseError(_limit_text(error, service.settings.job_deadline_seconds)) from None


def _limit_text(error: SandboxLimitError, seconds: float) -> str:
    if error.code == ErrorCode.TIMEOUT:
        return f"reading the case takes more than {seconds:g} s"
    if error.code == ErrorCode.OUT_OF_MEMORY:
        return "reading the case takes more memory than a job may have"
    return f"the process that read the case crashed (status {error.exit_status})"


def parts_of(text: bytes) -> int:
    """Estimate the number of members in JSON; too low by at most one or two."""
    return text.count(b",") + text.count(b"{") + text.count(b"[")

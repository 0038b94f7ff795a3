"""The base class of the client's backends, which each have the methods of Client."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from weighbridge.errors import GraderSpecError
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.grader_spec import GRADER_FORM, GraderSpec, parse_specs

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import BatchState, Priority
    from weighbridge.store.api_keys import ApiKey, KeyList, Role
    from weighbridge.store.audit import Entry
    from weighbridge.store.health import Health
    from weighbridge.store.worker_registry import WorkerInfo
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.input.source import Cases

Grader = str | Mapping[str, Any] | GraderSpec
Graders = Grader | Sequence[Grader]


def specs_of(graders: Any) -> tuple[GraderSpec, ...]:
    """Return the specs of graders, of which a single one need not be in a list; raises GraderSpecError."""
    if isinstance(graders, (str, Mapping, GraderSpec)):
        return parse_specs([graders])
    if not isinstance(graders, Iterable):
        kind = type(graders).__name__
        raise GraderSpecError(
            ErrorCode.INVALID_FIELD, f"the graders are of the type {kind}", GRADER_FORM
        )
    return parse_specs(tuple(graders))


@dataclass(frozen=True, slots=True)
class ListedBatch:
    """A batch's state, with its source, options and owner, as lists show it."""

    state: BatchState
    source: str  #: name of the input
    project: str
    submitted_by: str

    def as_dict(self) -> dict[str, Any]:
        """Return it in its JSON form."""
        return {
            **self.state.as_dict(),
            "source": self.source,
            "project": self.project,
            "submitted_by": self.submitted_by,
        }


class Backend(ABC):
    """A connection to the batches; Client documents the methods."""

    url: str

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None: ...

    @abstractmethod
    def submit(
        self,
        cases: Cases,
        *,
        graders: Graders = (),
        metadata: dict[str, str] | None = None,
        resume: str | None = None,
        strict: bool = False,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> Batch: ...

    @abstractmethod
    def open(
        self,
        name: str,
        graders: Graders = (),
        *,
        metadata: dict[str, str] | None = None,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> Batch: ...

    @abstractmethod
    def batch(self, batch_id: str) -> Batch: ...

    def batches(self, most: int = 100, *, project: str | None = None) -> list[BatchState]:
        return [each.state for each in self.listed(most, project=project)]

    @abstractmethod
    def listed(self, most: int = 100, *, project: str | None = None) -> list[ListedBatch]: ...

    @abstractmethod
    def workers(self) -> list[WorkerInfo]: ...

    @abstractmethod
    def drain(self, worker: str) -> None: ...

    @abstractmethod
    def health(self) -> Health: ...

    @abstractmethod
    def graders(self) -> list[dict[str, Any]]: ...

    @abstractmethod
    def pause_queue(self, queue: str) -> None: ...

    @abstractmethod
    def unpause_queue(self, queue: str) -> None: ...

    @abstractmethod
    def audit(
        self,
        *,
        batch: str | None = None,
        project: str | None = None,
        since: float = 0.0,
        most: int = 100,
    ) -> list[Entry]: ...

    @abstractmethod
    def keys(self) -> KeyList: ...

    @abstractmethod
    def make_key(
        self,
        name: str,
        role: Role,
        lives_seconds: float | None = None,
        *,
        project: str = "default",
    ) -> tuple[ApiKey, str]: ...

    @abstractmethod
    def revoke_key(self, key_id: str) -> bool: ...

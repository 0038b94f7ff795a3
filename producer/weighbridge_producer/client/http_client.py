"""The client that stands on `weighbridge serve`: what the client on Redis does, asked for by HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import httpx2
import msgspec

from weighbridge.errors import ServerError
from weighbridge.jobs.model import BatchState, parse_specs
from weighbridge.settings import read_settings
from weighbridge.store import Durability
from weighbridge.store.health import Health
from weighbridge.store.worker_registry import WorkerInfo
from weighbridge_producer.client.http_batch import HttpBatch
from weighbridge_producer.client.http_session import HttpSession, RetryableError, decoded, in_path
from weighbridge_producer.client.http_upload import Upload

if TYPE_CHECKING:
    from weighbridge.jobs.model import Priority
    from weighbridge.settings import Settings
    from weighbridge_producer.client.backend import Graders
    from weighbridge_producer.client.http_session import Params
    from weighbridge_producer.input.source import Cases

_LISTED_AT_ONCE = 200
_FULL_SECONDS = 60.0  #: beyond what the service itself waits when its server is full


class _Durability(msgspec.Struct):
    disk: bool | None
    replicas: int
    connected_replicas: int
    append_only: bool
    waited_seconds: float


class _Submitted(msgspec.Struct):
    batch_id: str
    durability: _Durability


class _Listed(msgspec.Struct):
    batches: list[BatchState]
    next_cursor: str | None


class _Workers(msgspec.Struct):
    workers: list[WorkerInfo]


class _Catalogue(msgspec.Struct):
    graders: list[dict[str, Any]]


class HttpClient:
    """A connection to a `weighbridge serve`, by default WEIGHBRIDGE_API_URL with WEIGHBRIDGE_API_KEY.

    What may be asked twice is, while the service is away for seconds or busy.
    """

    def __init__(
        self, url: str | None = None, *, key: str | None = None, settings: Settings | None = None
    ) -> None:
        self.settings = settings or read_settings()
        address, own_key = self.settings.api_url, self.settings.api_key
        self.url = url or (address.get_secret_value() if address else "")
        if not self.url:
            raise ServerError(
                "no service is named",
                "give the URL of `weighbridge serve`, or set WEIGHBRIDGE_API_URL",
            )
        self._session = HttpSession(
            self.url, key or (own_key.get_secret_value() if own_key else None)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._session.close()

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
    ) -> HttpBatch:
        """Submit cases as one batch; see Client.submit.

        They are sent while they are read. When the connection breaks off, cases that can be read again are sent again,
        and the service goes on with what it has; others are lost, and their batch ends as failed.
        """
        specs = parse_specs(graders)
        upload = Upload(
            *(cases, specs, self.settings),
            metadata=metadata,
            strict=strict,
            resume=resume,
            priority=priority,
            project=project,
        )
        headers = {"Content-Type": upload.content_type}
        if upload.rereadable:
            headers["Idempotency-Key"] = str(uuid4())
        else:
            self.batches(1)  # what can be read only once is not begun for a service that is away
        pauses = self._session.pauses()
        while True:
            try:
                return self._send(upload, headers)
            except RetryableError as error:
                if upload.failure:
                    raise upload.failure from None
                if not upload.repeatable:
                    raise error.told from None
                pauses.before_next(error)

    def _send(self, upload: Upload, headers: dict[str, str]) -> HttpBatch:
        # Who sends waits as long as the service may wait for room in its store.
        timeout = self.settings.full_server_timeout_seconds + _FULL_SECONDS
        with self._session.stream(
            *("POST", "api/batches"),
            headers=headers,
            content=upload.pieces(),
            timeout=httpx2.Timeout(timeout, connect=5.0),
        ) as answer:
            submitted = decoded(answer.read(), _Submitted)
        batch = self.batch(submitted.batch_id)
        batch.durability = Durability(**msgspec.structs.asdict(submitted.durability))
        return batch

    def batch(self, batch_id: str) -> HttpBatch:
        """Return a handle on a batch; nothing is asked of the service yet."""
        return HttpBatch(self._session, batch_id)

    def batches(self, most: int = 100, *, project: str | None = None) -> list[BatchState]:
        found: list[BatchState] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < most:
            params: Params = {"limit": min(most - len(found), _LISTED_AT_ONCE)}
            if cursor:
                params["cursor"] = cursor
            if project:
                params["project"] = project
            listed = self._session.ask("GET", "api/batches", _Listed, params=params)
            found += listed.batches
            cursor = listed.next_cursor
        return found

    def workers(self) -> list[WorkerInfo]:
        return self._session.ask("GET", "api/workers", _Workers).workers

    def drain(self, worker: str) -> None:
        self._session.ask("POST", f"api/workers/{in_path(worker)}/drain", dict)

    def health(self) -> Health:
        return self._session.ask("GET", "api/health", Health)

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of graders installed where the service runs."""
        return self._session.ask("GET", "api/graders", _Catalogue).graders

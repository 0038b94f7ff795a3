"""HTTP backend of the client, for `weighbridge serve`."""

from __future__ import annotations

from types import NoneType
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import msgspec

from weighbridge.errors import NoSuchKeyError
from weighbridge.settings import read_settings
from weighbridge.store.api_keys import ApiKey, KeyList, Role
from weighbridge.store.health import Health
from weighbridge.store.projects import DEFAULT_PROJECT
from weighbridge.store.worker_registry import WorkerInfo
from weighbridge_producer.batch_shapes import (
    AuditLogPage,
    BatchList,
    BatchSummary,
    CreatedApiKey,
    WorkerList,
)
from weighbridge_producer.client.address import address_of
from weighbridge_producer.client.backend import Backend, ListedBatch, specs_of
from weighbridge_producer.client.given_source import given_source
from weighbridge_producer.client.http_batch import HttpBatch
from weighbridge_producer.client.http_session import HttpSession, in_path
from weighbridge_producer.client.http_upload import Upload

if TYPE_CHECKING:
    from weighbridge.jobs.batch_state import Priority
    from weighbridge.settings import Settings
    from weighbridge.store.audit import Entry
    from weighbridge_producer.client.backend import Graders
    from weighbridge_producer.client.http_session import Params
    from weighbridge_producer.input.source import Cases

_LISTED_AT_ONCE = 200
_ENTRIES_AT_ONCE = 1_000


class _Catalogue(msgspec.Struct):
    # Entries are passed on as they are: a service of another release may have more in them.
    graders: list[dict[str, Any]]


class HttpClient(Backend):
    """A connection to `weighbridge serve`, by default at WEIGHBRIDGE_URL with WEIGHBRIDGE_API_KEY.

    With `retry`, idempotent requests are repeated while the service is busy or briefly unavailable.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        key: str | None = None,
        settings: Settings | None = None,
        retry: bool = True,
    ) -> None:
        self.settings = settings or read_settings()
        own_key = self.settings.api_key
        self.url = address_of(url, self.settings)
        self.session = HttpSession(
            self.url, key or (own_key.get_secret_value() if own_key else None), retry=retry
        )

    def close(self) -> None:
        self.session.close()

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

        Cases are sent while they are read. If the connection breaks, cases that can be read again are sent again, and
        the service skips those that it has; otherwise the remaining cases are lost and the batch ends as failed.
        """
        specs = specs_of(graders)
        own = self.batch(resume).options().graders if resume else specs
        source = given_source(cases, own, self.settings, is_resumed=bool(resume))
        source.on_lines = None  # the service does that
        upload = Upload(
            *(source, specs, self.settings),
            metadata=metadata,
            strict=strict,
            resume=resume,
            priority=priority,
            project=project,
        )
        headers = {}
        if upload.rereadable:
            headers["Idempotency-Key"] = str(uuid4())
        else:
            self.batches(1)  # check the service first: the cases can be read only once
        submitted = upload.send(self.session, headers)
        batch = self.batch(submitted.batch_id)
        batch.note_submitted(submitted)
        return batch

    def open(
        self,
        name: str,
        graders: Graders = (),
        *,
        metadata: dict[str, str] | None = None,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> HttpBatch:
        wanted = {
            "source": name.encode(errors="replace").decode(),
            "graders": [spec.as_dict() for spec in specs_of(graders)],
            "metadata": metadata or {},
            "priority": priority,
            "project": project or "",
        }
        # Not idempotent: a second request would leave an empty batch open.
        opened = self.session.request(
            "POST", "api/open-batches", BatchSummary, body=wanted, idempotent=False
        )
        return self.batch(opened.batch_id)

    def batch(self, batch_id: str) -> HttpBatch:
        """Return a handle to a batch, without making a request."""
        return HttpBatch(self.session, batch_id, self.settings)

    def listed(self, most: int = 100, *, project: str | None = None) -> list[ListedBatch]:
        found: list[ListedBatch] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < most:
            params = _given(cursor=cursor, project=project)
            params["limit"] = min(most - len(found), _LISTED_AT_ONCE)
            listed = self.session.request("GET", "api/batches", BatchList, params=params)
            found += [
                ListedBatch(each.state(), each.source, each.project, each.submitted_by)
                for each in listed.batches
            ]
            cursor = listed.next_cursor
        return found

    def workers(self) -> list[WorkerInfo]:
        return self.session.request("GET", "api/workers", WorkerList).workers

    def drain(self, worker: str) -> None:
        self.session.request("POST", f"api/workers/{in_path(worker)}/drain", dict)

    def health(self) -> Health:
        return self.session.request("GET", "api/health", Health)

    def graders(self) -> list[dict[str, Any]]:
        """Return the catalogue of the graders installed on the service."""
        return self.session.request("GET", "api/graders", _Catalogue).graders

    def grader(self, grader: str) -> dict[str, Any]:
        """Return one grader's entry in the service's catalogue."""
        return self.session.request("GET", f"api/graders/{in_path(grader)}", dict)

    def grade(
        self, grader: str, inputs: dict[str, Any], config: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Grade one set of inputs on the service, without a batch; return the fields of its result line."""
        body = {"inputs": inputs, "config": config}
        return self.session.request("POST", f"api/graders/{in_path(grader)}/grade", dict, body=body)

    def pause_queue(self, queue: str) -> None:
        self.session.request("POST", f"api/queues/{in_path(queue)}/pause", dict)

    def unpause_queue(self, queue: str) -> None:
        self.session.request("POST", f"api/queues/{in_path(queue)}/unpause", dict)

    def audit(
        self,
        *,
        batch: str | None = None,
        project: str | None = None,
        since: float = 0.0,
        most: int = 100,
    ) -> list[Entry]:
        found: list[Entry] = []
        cursor: str | None = ""
        while cursor is not None and len(found) < most:
            params = _given(batch=batch, project=project, cursor=cursor)
            params |= {"since": repr(since), "limit": min(most - len(found), _ENTRIES_AT_ONCE)}
            page = self.session.request("GET", "api/audit", AuditLogPage, params=params)
            found += [each.entry() for each in page.entries]
            cursor = page.next_cursor
        return found

    def keys(self) -> KeyList:
        return self.session.request("GET", "api/keys", KeyList)

    def make_key(
        self,
        name: str,
        role: Role,
        lives_seconds: float | None = None,
        *,
        project: str = DEFAULT_PROJECT,
    ) -> tuple[ApiKey, str]:
        wanted = {
            "name": name.encode(errors="replace").decode(),
            "role": str(role),
            "lives_seconds": lives_seconds,
            "project": project,
        }
        # Not idempotent: a second request would create a key whose token is never seen.
        made = self.session.request(
            "POST", "api/keys", CreatedApiKey, body=wanted, idempotent=False
        )
        return made.api_key(), made.key

    def revoke_key(self, key_id: str) -> bool:
        try:
            self.session.request("DELETE", f"api/keys/{in_path(key_id)}", NoneType)
        except NoSuchKeyError:
            return False
        return True


def _given(**params: str | None) -> Params:
    """Return the parameters that have a value."""
    return {name: value for name, value in params.items() if value}

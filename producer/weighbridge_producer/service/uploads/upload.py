"""Uploads: submits a request's body as a batch while it arrives, in constant memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from weighbridge.errors import ServerError
from weighbridge_producer.service.limits.key_watch import key_ended
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.uploads.body_stream import BodyStream
from weighbridge_producer.service.uploads.form import Form, NextFile
from weighbridge_producer.service.uploads.idempotency import LEASE_SECONDS, HeldKey, IdempotencyKeys
from weighbridge_producer.service.uploads.request_bodies import declared_size
from weighbridge_producer.service.uploads.submission import (
    CLOSE,
    Received,
    UploadBrokenError,
    UploadSubmission,
)
from weighbridge_producer.service.uploads.submission_params import SubmissionParams, fields_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.access.auth import Identity
    from weighbridge_producer.service.service import Service

FORM = "multipart/form-data"
LINES = (
    *("application/x-ndjson", "application/jsonl", "application/jsonlines", "application/json"),
    *("application/gzip", "application/x-gzip", "application/zstd", "application/octet-stream"),
    *("text/plain", "binary/octet-stream"),
)
#: Media types of tables, which need a mapping, and the endings of such files.
TABLES = {
    "text/csv": ".csv",
    "text/tab-separated-values": ".tsv",
    "application/vnd.apache.parquet": ".parquet",
}
_STORED_LOOK_SECONDS = 2.0  #: between checks of the project's stored bytes
_END_SECONDS = 5.0  #: time for the thread to end its batch when the service stops
#: Accepted, but the content decides.
_ENCODINGS = {
    "",
    "identity",
    "gzip",
    "x-gzip",
    "zstd",
}


#: Parses a form's fields and file name; returns the parameters, and cases that precede the file's.
FormReader = Callable[[list[tuple[str, str]], str], tuple[SubmissionParams, bytes]]


async def receive_batch(
    request: Request, service: Service, identity: Identity, read_form: FormReader | None = None
) -> RedisBatch:
    """Submit a request's cases while they arrive, and return the sealed batch.

    The body is JSONL (plain, gzip, zstd), or a form whose last field is the file; a page's form has different fields,
    which `read_form` parses. Raises ProblemError and WeighbridgeError.
    """
    return (await receive(request, service, identity, read_form=read_form)).batch


async def receive(
    request: Request,
    service: Service,
    identity: Identity,
    *,
    key: str | None = None,
    read_form: FormReader | None = None,
) -> Received:
    """Like `receive_batch`; with an idempotency key, continue the batch of an earlier request."""
    _check_head(request, service)
    with service.uploads.take(identity.project):
        upload = _Upload(request, service, identity, read_form)
        await upload.begin()
        held = None
        if key is not None:
            keys = IdempotencyKeys(service.client.store.redis)
            fingerprint = upload.params.fingerprint()
            held = await run_in_threadpool(keys.claim, identity.key_id, key, fingerprint)
        async with _renewed(held):
            return await upload.submit(held)


def _check_head(request: Request, service: Service) -> None:
    media_type = _media_type(request)
    if media_type and media_type != FORM and media_type not in (*LINES, *TABLES):
        raise ProblemError(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            f"a body of type {media_type[:80]!r} is not accepted",
            f"send JSON Lines as application/x-ndjson (`-H 'Content-Type: application/x-ndjson'`), or {FORM}; with a mapping also {', '.join(TABLES)}",
        )
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise ProblemError(
            415,
            "UNSUPPORTED_ENCODING",
            f"a Content-Encoding of {encoding[:80]!r} is not accepted",
            "send the body plain, or as gzip or zstd",
            {"Accept-Encoding": "gzip, zstd"},
        )
    if declared_size(request) > service.settings.upload_limit_bytes:
        raise _too_large(service)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _params_of(request: Request) -> SubmissionParams:
    suffix = TABLES.get(_media_type(request), "")
    return replace(SubmissionParams.of_request(request), suffix=suffix)


def _too_large(service: Service) -> ProblemError:
    limit = service.settings.upload_limit_bytes
    return ProblemError(
        413,
        "UPLOAD_TOO_LARGE",
        f"the body is over {limit:,} bytes",
        "compress it, send it as several batches, or raise WEIGHBRIDGE_UPLOAD_LIMIT_BYTES",
        CLOSE,
    )


class _Upload:
    """The upload of one request's body to the store."""

    def __init__(
        self,
        request: Request,
        service: Service,
        identity: Identity,
        read_form: FormReader | None = None,
    ) -> None:
        self._service = service
        self._identity = identity
        self._key_ended = key_ended(request.scope)
        self._body = _pieces(request, service)
        self._form: Form | None = None
        if _media_type(request) == FORM:
            takes_any = read_form is not None
            self._form = Form(request.headers["content-type"], takes_any_field=takes_any)
        self._read_form = read_form or partial(_read_form, request)
        self._first: list[bytes | NextFile] = []  # received together with the head of the form
        self.params = SubmissionParams() if self._form else _params_of(request)

    async def begin(self) -> None:
        """Read the parameters."""
        if not self._form:
            return
        while self._form.file_name is None and (piece := await anext(self._body, b"")):
            self._first = self._form.feed(piece)
        if self._form.file_name is None:
            self._form.check_end()
        self.params, before = await run_in_threadpool(
            self._read_form, self._form.fields, self._form.file_name or ""
        )
        self._first.insert(0, before)

    async def submit(self, held: HeldKey | None) -> Received:
        """Submit the cases while they arrive."""
        # Traces without ids are named after their file, as if it were read here.
        stream = BodyStream(self.params.source.rpartition("/")[2] or self.params.source)
        submission = UploadSubmission(self._service, self._identity, self.params, stream, held)
        loop = asyncio.get_running_loop()
        submitting = loop.run_in_executor(self._service.upload_threads, submission.run)
        besides = [
            asyncio.create_task(self._pump(stream)),
            asyncio.create_task(self._end_with_key(stream)),
            asyncio.create_task(self._end_when_full(stream)),
        ]
        try:
            # Submission may end before the body: if graders are rejected, or a limit is exceeded.
            return await asyncio.shield(submitting)
        finally:
            for task in besides:
                task.cancel()
            stream.break_off(UploadBrokenError("the service stopped before the upload's end"))
            await asyncio.wait({submitting}, timeout=_END_SECONDS)

    async def _end_with_key(self, stream: BodyStream) -> None:
        await self._key_ended.wait()
        stream.break_off(_key_refused())

    async def _end_when_full(self, stream: BodyStream) -> None:
        """End the upload when its project exceeds the limit on stored input."""
        project = self._identity.project_for(self.params.project)
        while limit := self._service.settings.project_limit_bytes:
            with suppress(ServerError):  # the upload's own requests report this error
                if await run_in_threadpool(self._service.client.store.input_bytes, project) > limit:
                    stream.break_off(_project_full(limit))
            await asyncio.sleep(_STORED_LOOK_SECONDS)

    async def _pump(self, stream: BodyStream) -> None:
        try:
            for part in self._first:
                await stream.put(part)
            async for piece in self._body:
                for part in self._form.feed(piece) if self._form else [piece]:
                    await stream.put(part)
            if self._form:
                self._form.check_end()
        except Exception as error:  # noqa: BLE001 - any exception is passed on to the reading thread
            stream.break_off(error)
        else:
            stream.end()


def _key_refused() -> UploadBrokenError:
    return UploadBrokenError("the API key was revoked, or has expired", 401, "KEY_REFUSED")


def _project_full(limit: int) -> ProblemError:
    return ProblemError(
        507,
        "PROJECT_FULL",
        f"the batches of this project have over {limit:,} bytes of input",
        "delete some of them, or raise WEIGHBRIDGE_PROJECT_LIMIT_BYTES",
        CLOSE,
    )


def _read_form(
    request: Request, fields: list[tuple[str, str]], file_name: str
) -> tuple[SubmissionParams, bytes]:
    return SubmissionParams.of([*fields_of(request), *fields], file_name), b""


async def _pieces(request: Request, service: Service) -> AsyncIterator[bytes]:
    """Yield a request's body while it arrives; raises if it is silent, too large, or interrupted."""
    settings = service.settings
    pieces, received = request.stream(), 0
    while True:
        try:
            async with asyncio.timeout(settings.upload_silence_seconds):
                piece = await anext(pieces, b"")
        except TimeoutError:
            silence = f"the upload sent nothing for {settings.upload_silence_seconds:g} s"
            raise UploadBrokenError(silence, 408, "UPLOAD_SILENT") from None
        except ClientDisconnect:
            raise UploadBrokenError(f"the upload was cut off after {received:,} bytes") from None
        if not piece:
            return
        received += len(piece)
        if received > settings.upload_limit_bytes:
            raise _too_large(service)
        yield piece


@asynccontextmanager
async def _renewed(held: HeldKey | None) -> AsyncIterator[None]:
    """Keep an idempotency key locked for as long as its request runs."""
    if held is None:
        yield
        return
    renewing = asyncio.create_task(_renew(held))
    try:
        yield
    finally:
        renewing.cancel()
        await run_in_threadpool(held.release)


async def _renew(held: HeldKey) -> None:
    while True:
        await asyncio.sleep(LEASE_SECONDS / 3)
        # If the lock is lost, two requests may fill the batch, which is safe; the later one gets an error.
        with suppress(ServerError):
            await run_in_threadpool(held.renew)

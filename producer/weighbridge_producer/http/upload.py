"""Uploads: a request's body becomes a batch while it arrives, at constant memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from weighbridge.errors import (
    BatchClosedError,
    BatchError,
    ChunkConflictError,
    ServerError,
    WeighbridgeError,
)
from weighbridge_producer.framing import unframed
from weighbridge_producer.http.body_stream import BodyStream
from weighbridge_producer.http.form import Form
from weighbridge_producer.http.idempotency import (
    LEASE_SECONDS,
    HeldKey,
    IdempotencyKeys,
    other_content,
)
from weighbridge_producer.http.order import Order
from weighbridge_producer.http.problems import ProblemError
from weighbridge_producer.lines import StreamLines
from weighbridge_producer.reading import Source
from weighbridge_producer.strict import checked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from typing import BinaryIO

    from weighbridge_producer.batch import RedisBatch
    from weighbridge_producer.encoding import SourceLine
    from weighbridge_producer.http.service import Service

FORM = "multipart/form-data"
LINES = (
    *("application/x-ndjson", "application/jsonl", "application/jsonlines", "application/json"),
    *("application/gzip", "application/x-gzip", "application/zstd", "application/octet-stream"),
    *("text/plain", "binary/octet-stream"),
)
_CLOSE = {"Connection": "close"}  #: or the rest of the body would be read, and thrown away
_END_SECONDS = 5.0  #: for the thread to end its batch when the service stops
_ENCODINGS = {"", "identity", "gzip", "x-gzip", "zstd"}  #: found by content; the header may say so


class UploadBrokenError(ProblemError):
    """The rest of an upload will not come in this request."""

    def __init__(self, why: str, status: int = 400, code: str = "UPLOAD_BROKEN") -> None:
        hint = "send it again; with an Idempotency-Key it goes on from what has arrived"
        super().__init__(status, code, why, hint, _CLOSE)


@dataclass(frozen=True, slots=True)
class Received:
    """What an upload came to."""

    batch: RedisBatch
    replayed: bool = (
        False  #: whether it was all there already, from an earlier request with the same key
    )


class Uploads:
    """The uploads that run in this process, each with a thread that submits it."""

    def __init__(self, most: int) -> None:
        self._most = self._free = most
        self.threads = ThreadPoolExecutor(most, "upload")

    @contextmanager
    def place(self) -> Iterator[None]:
        """Take one of the places; ProblemError when none is free."""
        if not self._free:
            raise ProblemError(
                503,
                "TOO_MANY_UPLOADS",
                f"{self._most} uploads run here already",
                "send it again in a moment, or run more copies of the service",
                {"Retry-After": "5"},
            )
        self._free -= 1
        try:
            yield
        finally:
            self._free += 1


#: From a form's fields and its file's name to what is wanted, and cases that stand before the file's.
FormReader = Callable[[list[tuple[str, str]], str], tuple[Order, bytes]]


async def receive_batch(
    request: Request, service: Service, read_form: FormReader | None = None
) -> RedisBatch:
    """Submit what a request brings, as it arrives, and return the batch, sealed.

    The body is JSONL (plain, gzip, zstd), or a form whose last field is the file; a page's form has fields of its own,
    which `read_form` reads. Raises ProblemError and our errors.
    """
    return (await receive(request, service, read_form=read_form)).batch


async def receive(
    request: Request,
    service: Service,
    *,
    caller: str = "",
    key: str | None = None,
    read_form: FormReader | None = None,
) -> Received:
    """Do as `receive_batch`, and with an idempotency key go on with what the caller began before."""
    _check_head(request, service)
    with service.uploads.place():
        upload = _Upload(request, service, read_form)
        await upload.begin()
        held = None
        if key is not None:
            keys = IdempotencyKeys(service.client.store.redis)
            held = await run_in_threadpool(keys.claim, caller, key, upload.order.fingerprint())
        async with _renewed(held):
            return await upload.submit(held)


def _check_head(request: Request, service: Service) -> None:
    media_type = _media_type(request)
    if media_type and media_type != FORM and media_type not in LINES:
        raise ProblemError(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            f"a body of type {media_type[:80]!r} is not taken",
            f"send JSON lines as application/x-ndjson (`-H 'Content-Type: application/x-ndjson'`), or {FORM}",
        )
    encoding = request.headers.get("content-encoding", "").strip().lower()
    if encoding not in _ENCODINGS:
        raise ProblemError(
            415,
            "UNSUPPORTED_ENCODING",
            f"a Content-Encoding of {encoding[:80]!r} is not taken",
            "send the body plain, or as gzip or zstd",
            {"Accept-Encoding": "gzip, zstd"},
        )
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length[:20]) > service.settings.upload_limit_bytes:
        raise _too_large(service)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _too_large(service: Service) -> ProblemError:
    limit = service.settings.upload_limit_bytes
    return ProblemError(
        413,
        "UPLOAD_TOO_LARGE",
        f"the body is over {limit:,} bytes",
        "compress it, send it as several batches, or raise WEIGHBRIDGE_UPLOAD_LIMIT_BYTES",
        _CLOSE,
    )


class _Upload:
    """One request's body on its way into the store."""

    def __init__(
        self, request: Request, service: Service, read_form: FormReader | None = None
    ) -> None:
        self._service = service
        self._body = _pieces(request, service)
        self._form: Form | None = None
        if _media_type(request) == FORM:
            takes_any = read_form is not None
            self._form = Form(request.headers["content-type"], takes_any_field=takes_any)
        self._read_form = read_form or _read_form
        self._first = b""  # what of the cases came with the head of the form
        self.order = Order() if self._form else Order.of_request(request)

    async def begin(self) -> None:
        """Read as far as it takes to know what is wanted."""
        if not self._form:
            return
        while self._form.file_name is None and (piece := await anext(self._body, b"")):
            self._first = self._form.feed(piece)
        if self._form.file_name is None:
            self._form.check_end()
        self.order, before = await run_in_threadpool(
            self._read_form, self._form.fields, self._form.file_name or ""
        )
        self._first = before + self._first

    async def submit(self, held: HeldKey | None) -> Received:
        """Submit the cases as they arrive."""
        stream = BodyStream(self.order.source)
        submission = _Submission(self._service, self.order, stream, held)
        loop = asyncio.get_running_loop()
        submitting = loop.run_in_executor(self._service.uploads.threads, submission.run)
        pumping = asyncio.create_task(self._pump(stream))
        try:
            # Submitting may end first: when the graders are refused, or the cases are past a limit.
            return await asyncio.shield(submitting)
        finally:
            pumping.cancel()
            stream.break_off(UploadBrokenError("the service stopped before the upload's end"))
            await asyncio.wait({submitting}, timeout=_END_SECONDS)

    async def _pump(self, stream: BodyStream) -> None:
        try:
            if self._first:
                await stream.put(self._first)
            async for piece in self._body:
                cases = self._form.feed(piece) if self._form else piece
                if cases:
                    await stream.put(cases)
            if self._form:
                self._form.check_end()
        except Exception as error:  # noqa: BLE001 - whatever it is, the thread that reads is told
            stream.break_off(error)
        else:
            stream.end()


def _read_form(fields: list[tuple[str, str]], file_name: str) -> tuple[Order, bytes]:
    return Order.of(fields, file_name), b""


async def _pieces(request: Request, service: Service) -> AsyncIterator[bytes]:
    """Yield a request's body as it comes; raise when it is silent, too large, or breaks off."""
    settings = service.settings
    pieces, received = request.stream(), 0
    while True:
        try:
            async with asyncio.timeout(settings.upload_silence_seconds):
                piece = await anext(pieces, b"")
        except TimeoutError:
            silence = f"nothing of the upload came for {settings.upload_silence_seconds:g} s"
            raise UploadBrokenError(silence, 408, "UPLOAD_SILENT") from None
        except ClientDisconnect:
            raise UploadBrokenError(f"the upload broke off after {received:,} bytes") from None
        if not piece:
            return
        received += len(piece)
        if received > settings.upload_limit_bytes:
            raise _too_large(service)
        yield piece


#: After these the rest may still come, in a request with the same key.
_RESUMABLE = (UploadBrokenError, ServerError)


class _Submission:
    """What a thread does with the cases while they arrive."""

    def __init__(
        self, service: Service, order: Order, stream: BodyStream, held: HeldKey | None
    ) -> None:
        self._client = service.client
        self._settings = service.settings
        self._order = order
        self._stream = stream
        self._held = held

    def run(self) -> Received:
        """Submit all that comes, and seal the batch."""
        order, stream = self._order, self._stream
        if order.strict:  # else they are checked when the batch is opened, which is now
            self._client.check_graders(order.graders)
        sent = self._framed() if order.framed else stream
        readable = (
            checked(sent, order.graders, self._settings) if order.strict else nullcontext(sent)
        )
        with readable as cases:
            batch, begun_before = self._batch()
            replayed = begun_before and self._client.store.position(batch.id).sealed
            with self._ended_on_error(batch, begun_before=begun_before):
                source = Source(cases, self._settings)
                batch.feeder(source, should_stop=lambda: bool(stream.failure)).feed()
                if stream.failure:
                    raise stream.failure
        return Received(batch, replayed)

    def _framed(self) -> Iterator[SourceLine]:
        stream = cast("BinaryIO", self._stream)
        return unframed(StreamLines(stream, self._order.source, self._settings))

    def _batch(self) -> tuple[RedisBatch, bool]:
        """Return the batch to fill, and whether an earlier request began it."""
        if self._order.resume:
            return self._client.batch(self._order.resume), True
        begun = self._held.batch() if self._held else None
        if begun:
            return self._begun_batch(begun), True
        batch = self._client.open(
            self._order.source, self._order.graders, metadata=self._order.metadata
        )
        if self._held:
            self._held.bind(batch.id)
        return batch, False

    def _begun_batch(self, batch_id: str) -> RedisBatch:
        batch = self._client.batch(batch_id)
        try:
            batch.status()
        except BatchError as error:
            raise ProblemError(
                409,
                "IDEMPOTENCY_KEY_SPENT",
                f"this Idempotency-Key was used before, and {error.message}",
                "send the request with another key to submit the cases again",
            ) from None
        return batch

    @contextmanager
    def _ended_on_error(self, batch: RedisBatch, *, begun_before: bool) -> Iterator[None]:
        """End the batch as failed when the rest of it will never come."""
        try:
            yield
        except ChunkConflictError:
            if begun_before and not self._order.resume:
                raise other_content("with other cases") from None
            raise
        except BatchClosedError:
            raise  # somebody has ended it: the key must not begin it anew
        except Exception as error:
            kept = self._held or self._order.resume
            if not kept or not isinstance(error, _RESUMABLE):
                self._give_up(batch, error)
            raise

    def _give_up(self, batch: RedisBatch, error: Exception) -> None:
        # The reason why it failed matters more than that this fails too; in the end the batch expires.
        with suppress(WeighbridgeError):
            batch.give_up(str(error)[:300])
        if self._held:
            with suppress(WeighbridgeError):
                self._held.forget()


@asynccontextmanager
async def _renewed(held: HeldKey | None) -> AsyncIterator[None]:
    """Keep an idempotency key held as long as its request runs."""
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
        # Should it be lost, two requests may fill the batch; that is safe, and the second to come is told.
        with suppress(ServerError):
            await run_in_threadpool(held.renew)

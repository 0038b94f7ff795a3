"""Upload of cases to a service as a multipart form, generated while it is sent, with the cases as its last field."""

from __future__ import annotations

import time
from secrets import token_hex
from typing import TYPE_CHECKING

import httpx2
import orjson

from weighbridge_producer.batch_shapes import SubmittedBatch
from weighbridge_producer.client.http_session import RetryableError, decoded
from weighbridge_producer.input.annotated_lines import annotate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import BinaryIO

    from weighbridge.jobs.batch_state import Priority
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.client.http_session import HttpSession
    from weighbridge_producer.input.source import Source

_BLOCK_BYTES = 64 * 1024
_HELD_SECONDS = 0.5  #: longest time to buffer a line while more lines come
_FULL_SECONDS = 60.0  #: in addition to the service's own wait for a full Redis server


class Upload:
    """One submission as a request body; if the cases can be read again, `pieces` can generate it more than once.

    A single file or stream is sent unchanged, compressed or not, and is parsed by the service. Lines made here, from
    Python objects or from several files, are sent in frames.
    """

    def __init__(
        self,
        source: Source,
        graders: Sequence[GraderSpec],
        settings: Settings,
        *,
        metadata: dict[str, str] | None,
        strict: bool,
        resume: str | None,
        priority: Priority = "normal",
        project: str | None = None,
    ) -> None:
        self._source = source
        # The service itself may wait this long for free memory in Redis.
        self._timeout = httpx2.Timeout(
            settings.full_server_timeout_seconds + _FULL_SECONDS, connect=5.0
        )
        self._fields = {
            "graders": orjson.dumps([spec.as_dict() for spec in graders]),
            "metadata": orjson.dumps(metadata or {}),
            "strict": b"true" if strict else b"false",
            "resume": (resume or "").encode(errors="replace"),
            "priority": priority.encode(),
            "project": (project or "").encode(errors="replace"),
        }
        self._boundary = token_hex(16).encode()
        self._begun = False
        self.failure: BaseException | None = None  #: the exception raised by reading the cases

    def send(
        self,
        session: HttpSession,
        headers: Mapping[str, str] | None = None,
        on_wait: Callable[[str], None] = lambda _: None,
    ) -> SubmittedBatch:
        """Send the submission and return the batch, with retries if the cases can be read again.

        Raises the exception from reading the cases, or the service's error.
        """
        pauses = session.pauses()
        while True:
            try:
                return self._sent(session, headers or {})
            except RetryableError as error:
                if self.failure:
                    raise self.failure from None
                if not self.repeatable:
                    raise error.cause from None
                on_wait(error.cause.message)
                pauses.before_next(error)

    def _sent(self, session: HttpSession, headers: Mapping[str, str]) -> SubmittedBatch:
        with session.stream(
            *("POST", "api/batches"),
            headers={"Content-Type": self.content_type, **headers},
            content=self.pieces(),
            timeout=self._timeout,
        ) as answer:
            return decoded(answer.read(), SubmittedBatch)

    @property
    def content_type(self) -> str:
        """The Content-Type header."""
        return f"multipart/form-data; boundary={self._boundary.decode()}"

    @property
    def rereadable(self) -> bool:
        """True if the cases can be read more than once."""
        return self._source.rereadable

    @property
    def repeatable(self) -> bool:
        """True if the submission can be sent from its start, for the first time or again."""
        return self._source.rereadable or not self._begun

    def pieces(self) -> Iterator[bytes]:
        """Yield the request body."""
        try:
            if self._source.is_one_stream:
                for _, stream in self._source.streams():
                    yield self._head(framed=False)
                    self._begun = True
                    yield from _blocks_of(stream)
            else:
                yield self._head(framed=True)
                self._begun = True
                yield from _gathered(annotate(self._source))
        except Exception as error:
            self.failure = error
            raise
        yield b"\r\n--" + self._boundary + b"--\r\n"

    def _head(self, *, framed: bool) -> bytes:
        """Return all form fields before the cases."""
        fields = self._fields | {
            "framed": b"true" if framed else b"false",
            "source": self._source.name.encode(errors="replace"),
        }
        parts = [self._part(field) + value for field, value in fields.items()]
        return b"\r\n".join([*parts, self._part('file"; filename="cases')])

    def _part(self, name: str) -> bytes:
        disposition = f'\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n'
        return b"--" + self._boundary + disposition.encode()


def _blocks_of(stream: BinaryIO) -> Iterator[bytes]:
    # read1 returns what a pipe has; read would delay lines until a block is full.
    read = getattr(stream, "read1", stream.read)
    while block := read(_BLOCK_BYTES):
        yield block


def _gathered(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Join lines into blocks, and yield a block when it is full or old enough."""
    held: list[bytes] = []
    size, since = 0, time.monotonic()
    for line in lines:
        held.append(line)
        size += len(line)
        if size >= _BLOCK_BYTES or time.monotonic() - since > _HELD_SECONDS:
            yield b"".join(held)
            held.clear()
            size, since = 0, time.monotonic()
    if held:
        yield b"".join(held)

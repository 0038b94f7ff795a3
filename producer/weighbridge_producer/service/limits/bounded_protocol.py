"""uvicorn's HTTP protocol with limits on clients that send or read too slowly, or endlessly."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from weighbridge_producer.service.limits.slow_readers import SlowReaders
from weighbridge_producer.service.problems import MEDIA_TYPE, Problem

HEAD_LIMIT_BYTES = 64 * 1024
HEAD_SECONDS = 30.0
REST_SECONDS = 30.0  #: for the rest of a body after its response is sent

_MALFORMED = Problem.of(400, "INVALID_REQUEST", "this is not HTTP", "send HTTP/1.1")
_TOO_LARGE = Problem.of(
    431,
    "HEADERS_TOO_LARGE",
    f"the request's head has more than {HEAD_LIMIT_BYTES:,} bytes",
    "send fewer or shorter headers",
)


class BoundedProtocol(HttpToolsProtocol):
    """HTTP protocol with a limit on a request's head, which uvicorn would buffer without limit."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head_bytes = 0
        self._headers_bytes = 0
        self._in_head = True
        self._head_timer: asyncio.TimerHandle | None = None
        self._in_body = False
        self._rest_timer: asyncio.TimerHandle | None = None
        self._readers: SlowReaders = vars(self.server_state).setdefault(
            "slow_readers", SlowReaders(self.loop)
        )

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout for a request."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """Release the connection's timers."""
        self._stop_timer()
        self._stop_rest_timer()
        self._readers.remove(self.transport)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received data, and close the connection if the head is over the limit."""
        # A head may end within this data; the rest is counted for the next head.
        self._head_bytes += len(data) if self._in_head else 0
        super().data_received(data)
        if self._in_head and self._head_bytes > HEAD_LIMIT_BYTES:
            self._refuse(_TOO_LARGE)

    def on_message_begin(self) -> None:
        """Start a request's head."""
        self._in_head = True
        self._headers_bytes = 0
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._give_up)
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header or trailer within the limit."""
        self._headers_bytes += len(name) + len(value)
        if self._headers_bytes > HEAD_LIMIT_BYTES:
            raise ValueError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start serving the request."""
        self._in_head = False
        self._in_body = True
        self._head_bytes = 0
        self._stop_timer()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End the request's body."""
        self._in_body = False
        self._stop_rest_timer()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """End a response, and limit the time for the rest of its request."""
        super().on_response_complete()
        if self._in_body and not self.transport.is_closing():
            self._rest_timer = self.loop.call_later(REST_SECONDS, self.transport.close)

    def pause_writing(self) -> None:
        """Pause while the client reads, and watch its speed."""
        super().pause_writing()
        self._readers.add(self.transport)

    def resume_writing(self) -> None:
        """Resume after the client has read."""
        self._readers.remove(self.transport)
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - replaced by a more precise message
        """Reject an invalid request."""
        self._refuse(_TOO_LARGE if self._headers_bytes > HEAD_LIMIT_BYTES else _MALFORMED)

    def _refuse(self, problem: Problem) -> None:
        if self.transport.is_closing():
            return
        body = problem.as_json("")
        head = (
            f"HTTP/1.1 {problem.status} {problem.title}\r\ncontent-type: {MEDIA_TYPE}\r\n"
            f"content-length: {len(body)}\r\nx-content-type-options: nosniff\r\n"
            "cache-control: no-store\r\nconnection: close\r\n\r\n"
        )
        self.transport.write(head.encode() + body)
        self.transport.close()

    def _give_up(self) -> None:
        self._head_timer = None
        answering = bool(self.cycle) and not self.cycle.response_complete
        if self._in_head and not answering and not self.transport.is_closing():
            self.transport.close()

    def _stop_rest_timer(self) -> None:
        if self._rest_timer:
            self._rest_timer.cancel()
            self._rest_timer = None

    def _stop_timer(self) -> None:
        if self._head_timer:
            self._head_timer.cancel()
            self._head_timer = None

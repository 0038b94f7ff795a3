"""Request checks and response headers for every route."""

from __future__ import annotations

import asyncio
import logging
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request

from weighbridge.errors import KeyRefusedError
from weighbridge_producer.service.caches.live_batches import problem_event
from weighbridge_producer.service.limits.key_watch import key_ended
from weighbridge_producer.service.limits.slots import end_turn
from weighbridge_producer.service.problems import Problem, answer, problem_of
from weighbridge_producer.service.responses.response_sender import ResponseSender, SlowReaderError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from weighbridge_producer.service.service import Service

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
PATH_LIMIT_BYTES = 8 * 1024
#: Headers of a reverse proxy, through which other machines can send requests.
_PROXIED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})
#: A name or address with an optional port: other values are interpreted differently by other programs.
_HOST = re.compile(r"([\w.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?", re.ASCII)
_SAFE = {"GET", "HEAD", "OPTIONS"}
_log = logging.getLogger("weighbridge.http")


class Security:
    """Middleware that rejects unsafe requests, and adds the security headers to all responses."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self._app = app
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        body = _Body(request.headers, receive)
        receive = body.receive
        ended = key_ended(scope)
        reply = _Reply(scope, send, body, self._service)
        problem = self._refusal(request)
        try:
            if problem:
                await answer(request, problem)(scope, receive, reply.send)
            else:
                await self._serve(scope, receive, reply)
        except (ClientDisconnect, SlowReaderError):
            return  # the client has disconnected, or reads too slowly
        except Exception:
            _log.exception("unexpected error in answering %s %r", scope["method"], scope["path"])
            if reply.started:
                raise  # close the connection, so that a partial response is not taken for complete
            failure = Problem.of(
                500,
                "INTERNAL_ERROR",
                "an unexpected error occurred in the service",
                "see the service's log for the cause",
            )
            await answer(request, failure)(scope, receive, reply.send)
        finally:
            self._service.key_watch.remove(ended)
            end_turn(scope)

    async def _serve(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        if scope["method"] == "HEAD":
            # An endless stream ends at once when only its head is wanted.
            as_get: Scope = {**scope, "method": "GET"}
            try:
                await self._app(as_get, _until(receive, reply.ended), reply.send)
            finally:
                end_turn(as_get)
            scope["route"] = as_get.get("route")
        elif scope["method"] == "GET":
            closing, ended = self._service.closing, key_ended(scope)
            receive = _until(receive, closing, lambda: reply.streams_events)
            await self._app(scope, _until(receive, ended), reply.send)
            # Close other streams, so that a partial response is not taken for complete.
            if ended.is_set() and reply.streams_events and not reply.ended.is_set():
                problem = problem_of(KeyRefusedError())
                await reply.end(problem_event(problem, quote(scope["path"], safe="/:@")))
            elif closing.is_set() and reply.streams_events:
                await reply.end()
        else:
            await self._app(scope, receive, reply.send)

    def _refusal(self, request: Request) -> Problem | None:
        """Return the reason to reject a request, or None."""
        if len(request.scope.get("raw_path") or b"") + len(request.scope["query_string"]) > (
            PATH_LIMIT_BYTES
        ):
            return Problem.of(
                414, "ADDRESS_TOO_LONG", "the address has more than 8 KiB", "shorten it"
            )
        if "\n" in request.scope["path"]:
            # Routes ignore a trailing line break, and would return a different result.
            return Problem.of(404, "NOT_FOUND", "a URL cannot contain line breaks")
        hosts = request.headers.getlist("host")
        if len(hosts) > 1 or not _HOST.fullmatch("".join(hosts)):
            return Problem.of(
                421, "WRONG_HOST", "a request needs one Host header: a name with or without port"
            )
        host = _name_of(hosts[0])
        if not self._answers_to(host):
            return Problem.of(
                421,
                "WRONG_HOST",
                f"this service does not accept the host name {host[:80]!r}",
                "WEIGHBRIDGE_PUBLIC_HOSTS sets the names that it accepts",
            )
        if not self._service.keys_required and not _PROXIED.isdisjoint(request.headers):
            return Problem.of(
                403,
                "PROXY_WITHOUT_KEYS",
                "a proxy forwarded this request, and API keys are off because only this machine may connect",
                "start the service with --require-keys",
            )
        if request.method not in _SAFE and _is_cross_site(
            request.headers, self._service.public_hosts
        ):
            return Problem.of(
                403,
                "CROSS_SITE",
                "another site's page sent this request",
                "send it from the service's own pages, or from a program",
            )
        return None

    def _answers_to(self, host: str) -> bool:
        if not self._service.keys_required:
            # Prevents DNS rebinding: another site's name can resolve to this machine.
            return is_loopback(host)
        hosts = self._service.public_hosts
        return not hosts or host in hosts or is_loopback(host)


class _Reply:
    """Sends a response with the common headers; for HEAD, without the body."""

    def __init__(self, scope: Scope, send: Send, body: _Body, service: Service) -> None:
        self._body = body
        self._answers = ResponseSender(scope, send, service.answer_bytes)
        self._https = scope["scheme"] == "https"
        self._head_only = scope["method"] == "HEAD"
        self._send = send
        self.started = False
        self.streams_events = False
        self.ended = asyncio.Event()

    async def send(self, message: Message) -> None:
        """Send one part of the response."""
        if self.ended.is_set():
            return
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            self._complete(headers)
            if message["status"] >= 400 and not self._body.ended:
                headers["Connection"] = "close"  # otherwise the rest would be read and discarded
            await self._send(message)
            if self._head_only:
                await self.end()
            return
        await self._answers.send(message)
        if not message.get("more_body", False):
            self.ended.set()

    async def end(self, last: bytes = b"") -> None:
        """End the response early, with one last piece."""
        if not self.ended.is_set():
            self.ended.set()
            await self._send({"type": "http.response.body", "body": last, "more_body": False})

    def _complete(self, headers: MutableHeaders) -> None:
        for name, value in _HEADERS.items():
            headers[name] = value
        headers.setdefault("Cache-Control", "no-store")
        if self._https:
            headers["Strict-Transport-Security"] = "max-age=31536000"
        self.streams_events = headers.get("content-type", "").startswith("text/event-stream")


class _Body:
    """Receives a request's body."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self._receive = receive
        length = headers.get("content-length", "0")
        #: True if the body is complete.
        self.ended = "transfer-encoding" not in headers and length == "0"

    async def receive(self) -> Message:
        """Receive the next part."""
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self.ended = True
        return message


def _until(
    receive: Receive, event: asyncio.Event, may_be_cut: Callable[[], bool] = lambda: True
) -> Receive:
    """Return a `receive` that reports a disconnect once an event is set, if the response may be cut."""

    async def receive_or_end() -> Message:
        inner = asyncio.ensure_future(receive())
        cut = asyncio.ensure_future(event.wait())
        try:
            await asyncio.wait({inner, cut}, return_when=asyncio.FIRST_COMPLETED)
            if not inner.done() and may_be_cut():
                return {"type": "http.disconnect"}
            return await inner
        finally:
            cut.cancel()
            inner.cancel()

    return receive_or_end


def is_loopback(host: str) -> bool:
    """Return whether a name or address always refers to this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """Return the name in a Host header, without port and brackets; "" if it is invalid."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_cross_site(headers: Headers, public_hosts: frozenset[str]) -> bool:
    """Return whether a request was sent by a page of another site, according to the browser's headers."""
    if headers.get("authorization", "").lower().startswith("bearer "):
        return False  # not sent by browsers for cross-site requests without a preflight
    if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        return True
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return True
    # A load balancer may change the Host header.
    return parts.netloc != headers.get("host") and parts.hostname not in public_hosts

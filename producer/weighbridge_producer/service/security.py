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
from weighbridge_producer.service.answers import AnswerSender, SlowReaderError
from weighbridge_producer.service.key_watch import key_ended
from weighbridge_producer.service.limits import end_turn
from weighbridge_producer.service.live_batches import problem_event
from weighbridge_producer.service.problems import Problem, answer, problem_of

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
#: What tells that a proxy lets others ask who are not on this machine.
_PROXIED = frozenset({"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"})
#: A name or address, with or without a port: what else may stand there is read differently by others.
_HOST = re.compile(r"([\w.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?", re.ASCII)
_SAFE = {"GET", "HEAD", "OPTIONS"}
_log = logging.getLogger("weighbridge.http")


class Security:
    """Refuses what no route should see, and gives every answer its headers."""

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
            return  # nobody waits for the answer any more, or for too long
        except Exception:
            _log.exception("%s %r failed", scope["method"], scope["path"])
            if reply.started:
                raise  # the connection is cut, so that nobody takes a part for the whole
            failure = Problem(500, "INTERNAL_ERROR", "the service failed", "its log says why")
            await answer(request, failure)(scope, receive, reply.send)
        finally:
            self._service.key_watch.remove(ended)
            end_turn(scope)

    async def _serve(self, scope: Scope, receive: Receive, reply: _Reply) -> None:
        if scope["method"] == "HEAD":
            # What streams for ever need not, where only its head is wanted.
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
            # Other streams are cut, so that nobody takes a part for the whole.
            if ended.is_set() and reply.streams_events and not reply.ended.is_set():
                problem = problem_of(KeyRefusedError())
                await reply.end(problem_event(problem, quote(scope["path"], safe="/:@")))
            elif closing.is_set() and reply.streams_events:
                await reply.end()
        else:
            await self._app(scope, receive, reply.send)

    def _refusal(self, request: Request) -> Problem | None:
        """Return why a request goes no further."""
        if len(request.scope.get("raw_path") or b"") + len(request.scope["query_string"]) > (
            PATH_LIMIT_BYTES
        ):
            return Problem(414, "ADDRESS_TOO_LONG", "the address has more than 8 KiB", "shorten it")
        if "\n" in request.scope["path"]:
            # Routes pass over one at the end: they would serve somebody else's result.
            return Problem(404, "NOT_FOUND", "a URL cannot contain line breaks")
        hosts = request.headers.getlist("host")
        if len(hosts) > 1 or not _HOST.fullmatch("".join(hosts)):
            return Problem(
                421, "WRONG_HOST", "a request needs one Host header: a name with or without port"
            )
        host = _name_of(hosts[0])
        if not self._answers_to(host):
            return Problem(
                421,
                "WRONG_HOST",
                f"this service does not accept the host name {host[:80]!r}",
                "WEIGHBRIDGE_PUBLIC_HOSTS sets the names that it accepts",
            )
        if not self._service.keys_required and not _PROXIED.isdisjoint(request.headers):
            return Problem(
                403,
                "PROXY_WITHOUT_KEYS",
                "a proxy forwarded this request, and API keys are off because only this machine may connect",
                "start the service with --require-keys",
            )
        if request.method not in _SAFE and _is_cross_site(
            request.headers, self._service.public_hosts
        ):
            return Problem(
                403,
                "CROSS_SITE",
                "another site's page sent this request",
                "send it from the service's own pages, or from a program",
            )
        return None

    def _answers_to(self, host: str) -> bool:
        if not self._service.keys_required:
            # A name that a stranger's page has pointed at this machine is not ours (DNS rebinding).
            return is_loopback(host)
        hosts = self._service.public_hosts
        return not hosts or host in hosts or is_loopback(host)


class _Reply:
    """Passes an answer on with the headers of every answer; of one to HEAD, nothing more."""

    def __init__(self, scope: Scope, send: Send, body: _Body, service: Service) -> None:
        self._body = body
        self._answers = AnswerSender(scope, send, service.answer_bytes)
        self._https = scope["scheme"] == "https"
        self._head_only = scope["method"] == "HEAD"
        self._send = send
        self.started = False
        self.streams_events = False
        self.ended = asyncio.Event()

    async def send(self, message: Message) -> None:
        """Pass on one part of the answer."""
        if self.ended.is_set():
            return
        if message["type"] == "http.response.start":
            self.started = True
            headers = MutableHeaders(scope=message)
            self._complete(headers)
            if message["status"] >= 400 and not self._body.ended:
                headers["Connection"] = "close"  # else all the rest would be read, and thrown away
            await self._send(message)
            if self._head_only:
                await self.end()
            return
        await self._answers.send(message)
        if not message.get("more_body", False):
            self.ended.set()

    async def end(self, last: bytes = b"") -> None:
        """End the answer where it is, with one more piece."""
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
    """A request's body on its way in."""

    def __init__(self, headers: Headers, receive: Receive) -> None:
        self._receive = receive
        length = headers.get("content-length", "0")
        self.ended = "transfer-encoding" not in headers and length == "0"  #: whether all has come

    async def receive(self) -> Message:
        """Hand on the next part."""
        message = await self._receive()
        if message["type"] == "http.request" and not message.get("more_body", False):
            self.ended = True
        return message


def _until(
    receive: Receive, event: asyncio.Event, may_be_cut: Callable[[], bool] = lambda: True
) -> Receive:
    """Return a `receive` that, from an event on, says that nobody waits for the answer any more, if it may be cut."""

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
    """Whether a name or address can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _name_of(host: str) -> str:
    """Return the name of a Host header, without port and brackets; "" for what is none."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_cross_site(headers: Headers, public_hosts: frozenset[str]) -> bool:
    """Whether a browser says that another site's page sent a request."""
    if headers.get("authorization", "").lower().startswith("bearer "):
        return False  # no page can make a browser send that unasked
    if headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        return True
    origin = headers.get("origin")
    if origin is None:
        return False
    try:
        parts = urlsplit(origin)
    except ValueError:
        return True
    # A load balancer may give us another Host than the browser knows.
    return parts.netloc != headers.get("host") and parts.hostname not in public_hosts

"""HTTP requests to `weighbridge serve`: idempotent ones are retried, and its problem documents raise our errors."""

from __future__ import annotations

import random
import ssl
import time
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote
from urllib.request import getproxies

import httpx2
import msgspec
import orjson

from weighbridge import errors
from weighbridge.errors import (
    CertificateError,
    InvalidUrlError,
    RateLimitedError,
    RefusedError,
    ServerError,
    ServiceUnavailableError,
    WeighbridgeError,
)
from weighbridge.jobs.damaged_data import DAMAGED_DATA
from weighbridge.settings import masked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 60.0
_IDLE_SECONDS = 3.0  #: keep-alive of idle connections; the service closes them after 5 s
#: How long to retry with a service that has never answered, that is temporarily unavailable (an interrupted upload can
#: hold its idempotency key for 30 s), and that limits the requests per minute.
_FIRST_CONTACT_SECONDS, _UNAVAILABLE_SECONDS, _LIMITED_SECONDS = 2.0, 45.0, 150.0
#: Pauses between attempts, doubled each time.
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.2, 5.0
_SHOWN = 300  #: characters shown of a response in an unknown form

Params = dict[str, str | int]
T = TypeVar("T")


class RetryableError(Exception):
    """A request failed but may succeed if retried; `cause` is the error to raise if it is not retried."""

    def __init__(
        self, cause: WeighbridgeError, *, not_sent: bool, after_seconds: float | None = None
    ) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.not_sent = not_sent  #: True if the request did not reach the service
        self.after_seconds = after_seconds  #: the service's Retry-After; None if it sent none


def _certificates(url: httpx2.URL) -> bool | ssl.SSLContext:
    """Return what to trust: the system's certificates, or none if nothing is encrypted, because loading takes 20 ms."""
    is_encrypted = any(each.startswith("https:") for each in (str(url), *getproxies().values()))
    return True if is_encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class HttpSession:
    """HTTP connections to one service; without `retry`, no request is repeated."""

    def __init__(self, url: str, key: str | None, *, retry: bool = True) -> None:
        self.url = url.strip()
        self._retry = retry
        self._has_answered = False
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._timeout = httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS)
        try:
            base = httpx2.URL(self.url)
            self._http = httpx2.Client(
                base_url=base,
                headers=headers,
                timeout=self._timeout,
                limits=httpx2.Limits(keepalive_expiry=_IDLE_SECONDS),
                verify=_certificates(base),
            )
        except (httpx2.InvalidURL, ValueError) as error:
            raise self._no_url(str(error)) from None
        if not base.host:
            raise self._no_url("it names no host")

    def _no_url(self, why: str) -> InvalidUrlError:
        return InvalidUrlError(
            f"{masked(self.url)} is not the URL of a service: {why}",
            "write http://HOST:PORT or https://HOST",
        )

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def pauses(self) -> RetryPauses:
        """Return the retry schedule for one request."""
        seconds = _UNAVAILABLE_SECONDS if self._has_answered else _FIRST_CONTACT_SECONDS
        return RetryPauses(seconds, retry=self._retry)

    def request(
        self,
        method: str,
        path: str,
        shape: type[T],
        *,
        params: Params | None = None,
        body: Any = None,
        idempotent: bool = True,
    ) -> T:
        """Send a request, with `body` as JSON, and return the decoded response.

        After a failure it is sent again if it is `idempotent`, or if it did not reach the service.
        """
        pauses = self.pauses()
        content = None if body is None else [orjson.dumps(body)]
        headers = None if body is None else {"Content-Type": "application/json"}
        while True:
            try:
                with self.stream(
                    method, path, params=params, headers=headers, content=content
                ) as answer:
                    return decoded(answer.read(), shape)
            except RetryableError as error:
                if not (idempotent or error.not_sent):
                    raise error.cause from None
                pauses.before_next(error)

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        content: Iterable[bytes] | None = None,
        timeout: httpx2.Timeout | None = None,
    ) -> Iterator[httpx2.Response]:
        """Send a request once and return its response, to be read inside the context.

        Raises RetryableError for temporary failures, and otherwise the error in the problem document.
        """
        with self._translated_errors():
            asked = self._http.stream(
                *(method, path),
                params=params,
                headers=headers,
                content=content,
                timeout=timeout or self._timeout,
            )
            with asked as answer:
                self._has_answered = True
                if not answer.is_success:
                    answer.read()
                    raise _refusal(answer)
                yield answer

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except (httpx2.UnsupportedProtocol, httpx2.InvalidURL) as error:
            raise self._no_url(str(error)) from None
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            if reason := CertificateError.reason_in(error):
                raise CertificateError(
                    f"{masked(self.url)}: the certificate of the service is not valid here: {reason}",
                    "of an authority of your own, name the certificate in the environment: SSL_CERT_FILE=/path/to/ca.pem",
                ) from error
            not_sent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            what = "nothing answers" if not_sent else "the connection was lost"
            failure = ServiceUnavailableError(
                f"{masked(self.url)}: {what}: {str(error) or type(error).__name__}",
                "is `weighbridge serve` running there?" if not_sent else "",
            )
            raise RetryableError(failure, not_sent=not_sent) from error


class RetryPauses:
    """The retry schedule of one request: growing pauses, up to a time limit that starts at the first failure."""

    def __init__(self, silent_seconds: float, *, retry: bool = True) -> None:
        self._retry = retry
        self._failing_since: float | None = None
        self._silent_seconds = silent_seconds
        self._next_seconds = _FIRST_PAUSE_SECONDS

    def before_next(self, error: RetryableError) -> None:
        """Wait before the next attempt, or raise `error.cause` when the time limit is reached."""
        if not self._retry:
            raise error.cause from None
        now = time.monotonic()
        if self._failing_since is None:
            self._failing_since = now
        if not error.not_sent:
            self._silent_seconds = _UNAVAILABLE_SECONDS  # it has answered before
        # Jitter, so that clients disconnected at the same moment do not all reconnect at once.
        spread = random.uniform(0.8, 1.2)  # noqa: S311 - not a secret
        pause = max(self._next_seconds * spread, error.after_seconds or 0.0)
        if now + pause > self._failing_since + self._time_limit_for(error):
            raise error.cause from None
        self._next_seconds = min(2 * self._next_seconds, _LONGEST_PAUSE_SECONDS)
        time.sleep(pause)

    def _time_limit_for(self, error: RetryableError) -> float:
        if isinstance(error.cause, RateLimitedError):
            return _LIMITED_SECONDS
        return self._silent_seconds if error.after_seconds is None else _UNAVAILABLE_SECONDS


def in_path(name: str) -> str:
    """Return a name percent-encoded as a single path segment, even if it is `.` or contains a slash."""
    return quote(name, safe="", errors="replace").replace(".", "%2E")


def decoded(content: bytes, shape: type[T]) -> T:
    """Decode a response into a type; ServerError if it does not fit."""
    try:
        return msgspec.json.decode(content or b"null", type=shape)
    except msgspec.MsgspecError as error:
        raise ServerError(
            f"the answer cannot be read: {error}: {content[:_SHOWN].decode(errors='replace')}",
            "is this a `weighbridge serve`, and of this release?",
        ) from None


def _refusal(answer: httpx2.Response) -> Exception:
    error = error_of(answer.status_code, answer.content)
    after = str(answer.headers.get("retry-after", ""))
    if not after.isdigit():
        return error
    if isinstance(error, RateLimitedError):
        error.retry_after_seconds = int(after)
    return RetryableError(error, not_sent=answer.status_code == 429, after_seconds=float(after))


def error_of(status: int, content: bytes) -> WeighbridgeError:
    """Return the error for a problem document's code or, for any other response, for its status."""
    try:
        problem = orjson.loads(content)
        code, message, hint = (str(problem[name]) for name in ("code", "detail", "hint"))
    except DAMAGED_DATA:
        text = content[:_SHOWN].decode(errors="replace")
        code, message, hint = "", f"HTTP {status}: {text}", "is this a `weighbridge serve`?"
    kind = _kinds().get(code)
    if not kind:
        return RefusedError(message, hint, problem=code, status=status)
    error = kind.__new__(kind)
    # Subclasses build the message in __init__ from its parts; here the message is already complete.
    WeighbridgeError.__init__(error, message, hint)
    return error


@cache
def _kinds() -> dict[str, type[WeighbridgeError]]:
    """Return the error classes by code; where several share a code, the first."""
    found = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    ours = [kind for kind in found if issubclass(kind, WeighbridgeError)]
    return {kind.code: kind for kind in reversed(ours)}

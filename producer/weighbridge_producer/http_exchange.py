"""Asking a `weighbridge serve`: patiently where asking twice does no harm, with its refusals as our errors."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2
import orjson

from weighbridge import errors
from weighbridge.errors import (
    RefusedError,
    ServerError,
    ServerUnavailableError,
    WeighbridgeError,
)
from weighbridge.settings import masked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 60.0
_TRIES = 4  #: of a request that gets no answer; the pauses between them double
_FIRST_PAUSE_SECONDS = 0.2
_PATIENCE_SECONDS = (
    150.0  #: with a service that answers that it cannot just now; its limits are of a minute
)
_BUSY = {429, 503}
_SHOWN = 300  #: characters of an answer that is no problem document

Params = dict[str, str | int]


class Exchange:
    """Requests to one service."""

    def __init__(self, url: str, key: str | None) -> None:
        self.url = url.strip()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        try:
            self._http = httpx2.Client(
                base_url=self.url,
                headers=headers,
                timeout=httpx2.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            )
        except (httpx2.InvalidURL, ValueError) as error:
            raise ServerError(
                f"{masked(url)} is no URL: {error}", "write http://HOST:PORT or https://HOST"
            ) from None

    def close(self) -> None:
        """Drop the connections."""
        self._http.close()

    def get(self, path: str, params: Params | None = None) -> Any:
        """Return what a GET answers, as Python objects."""
        return self.ask("GET", path, params=params)

    def ask(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        again: bool = True,
    ) -> Any:
        """Return a request's answer, as Python objects; `again`: whether it may be made twice without harm."""
        pauses = Pauses()
        while True:
            try:
                with self.stream(method, path, params=params) as answer:
                    return _objects(answer.read())
            except NoAnswerError as error:
                if not (again or error.never_arrived):
                    raise
                pauses.after_silence(error)
            except BusyError as error:
                if not (again or error.status == 429):
                    raise error.refusal from None
                pauses.after_refusal(error)

    @contextmanager
    def stream(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        headers: Mapping[str, str] | None = None,
        content: Iterator[bytes] | None = None,
        timeout: httpx2.Timeout | None = None,
    ) -> Iterator[httpx2.Response]:
        """Make a request once and give its answer, to be read here.

        Raises NoAnswerError and BusyError, which another try may not meet, and what a refusal says.
        """
        with self._told_plainly():
            asked = self._http.stream(
                method,
                path,
                params=params,
                headers=headers,
                content=content,
                timeout=timeout or self._http.timeout,
            )
            with asked as answer:
                if not answer.is_success:
                    answer.read()
                    raise _refusal(answer)
                yield answer

    @contextmanager
    def _told_plainly(self) -> Iterator[None]:
        try:
            yield
        except (httpx2.TransportError, httpx2.DecodingError) as error:
            never = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
            kind = "nothing answers" if never else "the connection broke off"
            why = str(error) or type(error).__name__
            raise NoAnswerError(
                f"{masked(self.url)}: {kind}: {why}", never_arrived=never
            ) from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise ServerError(f"{masked(self.url)}: {error}", "write http://HOST:PORT") from None


class NoAnswerError(ServerUnavailableError):
    """A request has no answer, or only the beginning of one."""

    def __init__(self, message: str, *, never_arrived: bool) -> None:
        super().__init__(message, "is `weighbridge serve` running there?" if never_arrived else "")
        self.never_arrived = never_arrived  #: whether the service cannot have seen the request


class BusyError(Exception):
    """The service cannot do it just now."""

    def __init__(self, refusal: WeighbridgeError, status: int, retry_after_seconds: float) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal
        self.status = status
        self.retry_after_seconds = retry_after_seconds


class Pauses:
    """How long to wait between tries, and when to give up."""

    def __init__(self) -> None:
        self._tries = 1
        self._deadline = time.monotonic() + _PATIENCE_SECONDS

    def after_silence(self, error: NoAnswerError) -> None:
        """Wait a little, longer each time; raise the error after the last try."""
        if self._tries >= _TRIES:
            raise error
        time.sleep(self._next_pause())

    def after_refusal(self, error: BusyError) -> None:
        """Wait as long as the service asks for; raise the refusal when that is past all patience."""
        pause = max(error.retry_after_seconds, self._next_pause())
        if time.monotonic() + pause > self._deadline:
            raise error.refusal
        time.sleep(pause)

    def _next_pause(self) -> float:
        # Spread, so that clients which were cut off together do not come back together.
        pause: float = min(_FIRST_PAUSE_SECONDS * 2.0 ** (self._tries - 1), 5.0) * random.uniform(
            0.8, 1.2
        )  # noqa: S311
        self._tries += 1
        return pause


def _refusal(answer: httpx2.Response) -> BusyError | WeighbridgeError:
    error = error_of(answer.status_code, answer.content)
    if answer.status_code not in _BUSY:
        return error
    after = str(answer.headers.get("retry-after", ""))
    return BusyError(error, answer.status_code, float(after) if after.isdigit() else 0.0)


def error_of(status: int, content: bytes) -> WeighbridgeError:
    """Return the error that a problem document tells of, by its code; of another answer, by its status."""
    try:
        problem = orjson.loads(content)
        code, message, hint = (str(problem[name]) for name in ("code", "detail", "hint"))
    except (ValueError, TypeError, KeyError):
        text = content[:_SHOWN].decode(errors="replace")
        code, message, hint = "", f"HTTP {status}: {text}", "is this a `weighbridge serve`?"
    kind = _kinds().get(code)
    if not kind:
        return RefusedError(message, hint, problem=code, status=status)
    error = kind.__new__(kind)
    # Their own __init__ takes what the message is made of; here it is made.
    WeighbridgeError.__init__(error, message, hint)
    return error


@cache
def _kinds() -> dict[str, type[WeighbridgeError]]:
    """Return the classes of our errors by their code, the first of those that share one."""
    found = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    ours = [kind for kind in found if issubclass(kind, WeighbridgeError)]
    return {kind.code: kind for kind in reversed(ours)}


def _objects(content: bytes) -> Any:
    try:
        return orjson.loads(content) if content else None
    except ValueError:
        raise ServerError(
            f"the answer is not JSON: {content[:_SHOWN].decode(errors='replace')}",
            "is this a `weighbridge serve`?",
        ) from None

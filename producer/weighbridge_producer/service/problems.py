"""Errors as application/problem+json (RFC 9457), or as pages for browsers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from weighbridge import errors as err
from weighbridge.errors import Fault, RateLimitedError, WeighbridgeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fastapi import FastAPI

MEDIA_TYPE = "application/problem+json"
_SHOWN = 2_000  #: characters quoted from a request

#: Status of each error whose status is not that of its base class.
_STATUSES: dict[type[WeighbridgeError], int] = {
    err.BatchNotFoundError: 404,
    err.NoSuchResultError: 404,
    err.NoSuchWorkerError: 404,
    err.NoSuchQueueError: 404,
    err.NoSuchKeyError: 404,
    err.BatchExpiredError: 410,
    err.BatchLostError: 410,
    err.BatchError: 409,
    err.ResultsFreedError: 410,
    err.InputsFreedError: 410,
    err.ResultsIncompleteError: 410,
    err.StaleCursorError: 410,
    err.ConfigError: 422,
    err.ConfigTypeError: 422,
    err.UnknownGraderError: 422,  # routes with the grader in the path override this with 404
    err.LineError: 422,
    err.TraceError: 422,
    err.InvalidInputError: 422,
    err.MappingError: 422,
    err.MappingNeededError: 422,
    err.NoCasesError: 422,
    err.InvalidFilterError: 422,
    err.InvalidGateError: 422,
    err.InvalidKeyError: 422,
    err.InvalidProjectError: 422,
    err.KeyRequiredError: 401,
    err.KeyRefusedError: 401,
    err.AccessError: 403,
    err.RateLimitedError: 429,
    err.TrialsBusyError: 503,
    err.ServerFullError: 507,
    err.ServerError: 503,
    err.WeighbridgeError: 400,
}


#: What is wrong with a parameter or field, in plain words in place of pydantic's.
_WORDS = {"extra_forbidden": "unknown", "missing": "missing"}

#: Phrases of RFC 9110 where Python before 3.13 has earlier ones.
_PHRASES = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}


def phrase_of(status: int) -> str:
    """Return the phrase of an HTTP status, the same with any version of Python."""
    return _PHRASES.get(status) or HTTPStatus(status).phrase


class ProblemDetails(BaseModel, title="Problem"):
    """A problem as in RFC 9457, with an error code and a hint."""

    type: str = Field(description="`urn:weighbridge:problem:` and the code")
    title: str = Field(description="the phrase of the HTTP status")
    status: int = Field(description="the HTTP status")
    detail: str = Field(description="what is wrong")
    code: str = Field(description="the error code; it stays the same between releases")
    hint: str = Field(description="what would work; may be empty")
    instance: str = Field(description="the path of the request")


#: Error responses common to all routes, for the OpenAPI document.
PROBLEM_ANSWERS: dict[int | str, dict[str, Any]] = {
    status: {
        "description": phrase_of(status),
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status in (
        400,
        401,
        403,
        404,
        405,
        408,
        409,
        410,
        413,
        414,
        415,
        421,
        422,
        429,
        431,
        503,
        507,
    )
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A fault as the answer to a request."""

    status: int
    fault: Fault
    headers: Mapping[str, str]

    @classmethod
    def of(
        cls,
        status: int,
        code: str,
        detail: str,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Self:
        """Return the problem with a fault that has no error class of its own."""
        return cls(status, Fault(code, detail, hint), headers or {})

    @property
    def title(self) -> str:
        """The status phrase."""
        return phrase_of(self.status)

    def as_json(self, instance: str) -> bytes:
        """Return the problem document in ASCII, because quoted text may not be valid Unicode."""
        return json.dumps(
            {
                "type": f"urn:weighbridge:problem:{self.fault.code}",
                "title": self.title,
                "status": self.status,
                "detail": self.fault.message[:_SHOWN],
                "code": self.fault.code,
                "hint": self.fault.hint[:_SHOWN],
                "instance": instance,
            }
        ).encode()


class ProblemError(Exception):
    """A problem specific to HTTP, raised by routes."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: str,
        hint: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.problem = Problem.of(status, code, detail, hint, headers)


def status_of(kind: type[WeighbridgeError]) -> int:
    """Return the HTTP status of a class of errors."""
    return next(_STATUSES[base] for base in kind.__mro__ if base in _STATUSES)


def problem_of(error: WeighbridgeError) -> Problem:
    """Return the problem for a WeighbridgeError."""
    status = status_of(type(error))
    headers = {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="weighbridge"'
    if isinstance(error, RateLimitedError):
        headers["Retry-After"] = str(error.retry_after_seconds)
    elif status == 503:
        headers["Retry-After"] = "5"
    return Problem(status, error.fault, headers)


def answer(request: Request, problem: Problem) -> Response:
    """Return the response for a problem: a page for browsers, JSON for other clients."""
    path = request.url.path
    if not wants_page(request):
        instance = quote(path, safe="/:@")[:_SHOWN]
        return Response(
            problem.as_json(instance), problem.status, dict(problem.headers), MEDIA_TYPE
        )
    response: Response = request.app.state.error_page(request, problem)
    return response


def wants_page(request: Request) -> bool:
    """Return whether a browser requests a page."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get(
        "accept", ""
    )


_OF_STATUS = {
    404: ("NOT_FOUND", "there is nothing at this address", "/api/openapi.json describes the API"),
    405: (
        "METHOD_NOT_ALLOWED",
        "this address does not support that method",
        "the header Allow names those it supports",
    ),
}


def _of_http(error: HTTPException) -> Problem:
    name = re.sub(r"\W", "_", phrase_of(error.status_code).upper())
    code, detail, hint = _OF_STATUS.get(error.status_code, (name, str(error.detail), ""))
    return Problem.of(error.status_code, code, detail, hint, error.headers)


def _allowed(request: Request) -> set[str]:
    """Return the methods allowed for an API path: a route has only its own methods."""
    routes = [route for router in request.app.state.api_routers for route in router.routes]
    found = [route.methods for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return set().union(*found)


def _of_validation(error: RequestValidationError) -> Problem:
    faults = [
        f"{'.'.join(map(str, fault['loc']))}: {_WORDS.get(fault['type'], fault['msg'])}"
        for fault in error.errors()[:20]
    ]
    return Problem.of(
        422, "INVALID_REQUEST", "; ".join(faults), "/api/openapi.json says what is expected"
    )


def add_handlers(app: FastAPI, error_page: Callable[[Request, Problem], Response]) -> None:
    """Make an application return all errors as problems; `error_page` renders them for browsers."""
    app.state.error_page = error_page

    def ours(request: Request, error: WeighbridgeError) -> Response:
        return answer(request, problem_of(error))

    def raised(request: Request, error: ProblemError) -> Response:
        return answer(request, error.problem)

    def of_http(request: Request, error: HTTPException) -> Response:
        problem = _of_http(error)
        if problem.status == 405 and (methods := _allowed(request)):
            problem = replace(problem, headers={"Allow": ", ".join(sorted(methods))})
        return answer(request, problem)

    def invalid(request: Request, error: RequestValidationError) -> Response:
        return answer(request, _of_validation(error))

    handlers: dict[type[Exception], Any] = {
        WeighbridgeError: ours,
        ProblemError: raised,
        HTTPException: of_http,
        RequestValidationError: invalid,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def describe(document: dict[str, Any]) -> dict[str, Any]:
    """Add the schema used by PROBLEM_ANSWERS to an OpenAPI document, and return the document."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    schemas["Problem"] = ProblemDetails.model_json_schema()
    return document

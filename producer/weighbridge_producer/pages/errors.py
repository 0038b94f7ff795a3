"""Error pages: the problem and a hint, or a redirect to the sign-in page."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from starlette.responses import RedirectResponse, Response

from weighbridge_producer.pages.rendering import page

if TYPE_CHECKING:
    from fastapi import Request

    from weighbridge_producer.service.problems import Problem


def error_page(request: Request, problem: Problem) -> Response:
    """Render a problem; without a key or sufficient role, redirect to the sign-in page."""
    refused = problem.status in {401, 403} and problem.fault.code != "CROSS_SITE"
    if refused and request.url.path != "/sign-in":
        return _to_sign_in(request)
    return page(
        *(request, "error.html"),
        status_code=problem.status,
        headers=dict(problem.headers),
        problem=problem,
    )


def _to_sign_in(request: Request) -> Response:
    """Redirect to the sign-in page, which redirects back to the current page."""
    query = f"?{request.url.query}" if request.url.query else ""
    target = f"{request.url.path}{query}" if request.method == "GET" else request.url.path
    if "hx-request" not in request.headers:
        return RedirectResponse(f"/sign-in?next={quote(target, safe='')}", 303)
    # A script requested a part of a page: the whole page must be redirected.
    with suppress(ValueError):
        current = urlsplit(request.headers.get("hx-current-url", ""))
        target = (current.path or "/") + (f"?{current.query}" if current.query else "")
    return Response(None, 401, {"HX-Redirect": f"/sign-in?next={quote(target, safe='')}"})

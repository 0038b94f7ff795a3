"""Refusals as pages: what is wrong and what would work, or the page that asks for an API key."""

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
    """Render a problem; who lacks a key or a role is sent to the sign-in page."""
    refused = problem.status in {401, 403} and problem.code != "CROSS_SITE"
    if refused and request.url.path != "/sign-in":
        return _to_sign_in(request)
    return page(
        *(request, "error.html"),
        status_code=problem.status,
        headers=dict(problem.headers),
        problem=problem,
    )


def _to_sign_in(request: Request) -> Response:
    """Send somebody to the page that asks for a key, and from there back to where they were."""
    query = f"?{request.url.query}" if request.url.query else ""
    target = f"{request.url.path}{query}" if request.method == "GET" else request.url.path
    if "hx-request" not in request.headers:
        return RedirectResponse(f"/sign-in?next={quote(target, safe='')}", 303)
    # A script sent it for a part of a page: it is the page that has to go there.
    with suppress(ValueError):
        current = urlsplit(request.headers.get("hx-current-url", ""))
        target = (current.path or "/") + (f"?{current.query}" if current.query else "")
    return Response(None, 401, {"HX-Redirect": f"/sign-in?next={quote(target, safe='')}"})

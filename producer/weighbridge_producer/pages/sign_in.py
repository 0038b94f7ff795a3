"""Sign-in with an API key, which is stored in an HttpOnly cookie."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import AccessError
from weighbridge.store.api_keys import ApiKey
from weighbridge_producer.pages.forms import entries_of
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.service.access.auth import COOKIE, address_of, rate_limited, sign_in
from weighbridge_producer.service.problems import Problem, problem_of
from weighbridge_producer.service.service import Served

router = APIRouter()
_FORM_LIMIT_BYTES = 16 * 1024


@router.get("/sign-in", dependencies=[Depends(rate_limited)])
def ask_for_key(request: Request, service: Served, next: str = "/") -> Response:  # noqa: A002 - the name in the URL
    """Show the sign-in form; it is not needed if keys are not required."""
    if not service.keys_required:
        return RedirectResponse(local_address(next), 303)
    return _form(request, next, current=service.keys.find(request.cookies.get(COOKIE, "")))


@router.post("/sign-in")
async def take_key(request: Request, service: Served) -> Response:
    """Store a valid key in a cookie, and redirect to the requested page."""
    entries = await entries_of(request, _FORM_LIMIT_BYTES)
    target = entries.get("next", ["/"])[-1]
    key = entries.get("key", [""])[-1].strip()
    if not service.keys_required:
        return RedirectResponse(local_address(target), 303)
    try:
        await run_in_threadpool(sign_in, service, key, address_of(request))
    except AccessError as error:
        return _form(request, target, problem=problem_of(error))
    answer = RedirectResponse(local_address(target), 303)
    answer.set_cookie(
        *(COOKIE, key),
        path="/",
        secure=request.scope["scheme"] == "https",
        httponly=True,
        samesite="strict",
    )
    return answer


@router.post("/sign-out")
def forget_key(request: Request) -> Response:
    """Delete the cookie."""
    answer = RedirectResponse("/sign-in", 303)
    is_secure = request.scope["scheme"] == "https"
    answer.delete_cookie(COOKIE, path="/", secure=is_secure, httponly=True, samesite="strict")
    return answer


def _form(
    request: Request, target: str, *, current: ApiKey | None = None, problem: Problem | None = None
) -> Response:
    # A WWW-Authenticate header on a page would make some browsers show a password dialog.
    headers = {
        name: value
        for name, value in (problem.headers if problem else {}).items()
        if name != "WWW-Authenticate"
    }
    return page(
        *(request, "sign_in.html"),
        status_code=problem.status if problem else 200,
        headers=headers,
        target=local_address(target),
        current_key=current,
        problem=problem,
    )


def local_address(target: str) -> str:
    """Return a redirect target if it is a path on this service, or else the first page."""
    # Browsers treat a backslash as a slash, and ignore tabs and line breaks.
    is_plain = target.isascii() and target.isprintable() and "\\" not in target
    return target if is_plain and target.startswith("/") and not target.startswith("//") else "/"

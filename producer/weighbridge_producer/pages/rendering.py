"""Renders templates, with the navigation and the URLs of static files."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse

from weighbridge_producer.service.access.auth import COOKIE
from weighbridge_producer.templating import STATIC_FOLDER, environment

if TYPE_CHECKING:
    from fastapi import Request
    from jinja2 import Environment

_NAVIGATION = (
    ("/", "Batches"),
    ("/new", "New batch"),
    ("/compare", "Compare"),
    ("/graders", "Graders"),
    ("/workers", "Workers"),
)

#: Colour themes; `system` follows the operating system's preference.
THEMES = ("light", "dark", "system")
THEME_COOKIE = "weighbridge_theme"
SHORTCUTS_COOKIE = "weighbridge_shortcuts"  #: "off" where keys without a modifier do nothing
SHORTCUTS_OFF = "off"


def page(
    request: Request,
    template: str,
    *,
    status_code: int = 200,
    headers: dict[str, str] | None = None,
    **context: Any,
) -> HTMLResponse:
    """Return a template as a response; a template that does not extend `base.html` is a fragment."""
    html = (
        _environment()
        .get_template(template)
        .render(
            current=_current(request.scope["path"]),
            is_signed_in=COOKIE in request.cookies,
            theme=_theme(request),
            shortcuts=request.cookies.get(SHORTCUTS_COOKIE) != SHORTCUTS_OFF,
            page_address=_address_of(request),
            **context,
        )
    )
    # Untrusted text may contain lone surrogates, which UTF-8 cannot encode.
    return HTMLResponse(html.encode(errors="replace"), status_code, headers)


def compile_templates() -> None:
    """Compile all templates in advance, so that first requests are fast."""
    environment = _environment()
    for name in environment.list_templates():
        environment.get_template(name)


def asset(name: str) -> str:
    """Return the URL of a static file, with a digest of its content."""
    return f"/static/{name}?v={_digest(name)}"


@cache
def _digest(name: str) -> str:
    return sha256((STATIC_FOLDER / name).read_bytes()).hexdigest()[:12]


@cache
def _environment() -> Environment:
    made = environment()
    made.globals |= {"asset": asset, "navigation": _NAVIGATION, "themes": THEMES}
    return made


def _theme(request: Request) -> str:
    chosen = request.cookies.get(THEME_COOKIE)
    return chosen if chosen in THEMES else THEMES[-1]


def _address_of(request: Request) -> str:
    """Return the current URL, as a target for later redirects; for a POST, that of the first page."""
    if request.scope["method"] not in {"GET", "HEAD"}:
        return "/"
    path, query = request.url.path, request.url.query
    return f"{path}?{query}" if query else path


def _current(path: str) -> str:
    """Return the entry of the navigation that a page belongs to."""
    if path == "/" or path.startswith("/batches"):
        return "/"
    return next((at for at, _ in _NAVIGATION[1:] if path == at or path.startswith(f"{at}/")), "")

"""The Jinja environment of pages and reports: it escapes all values, and makes invisible characters visible."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from weighbridge.jobs.outcome import RATED
from weighbridge.text import compact, duration, elapsed, percent, pluralize, shorten, visible

_PAGES = Path(__file__).parent / "pages"
STATIC_FOLDER = _PAGES / "static"
_TEMPLATES_FOLDER = _PAGES / "templates"
#: Symbols of control characters and of a space, which some fonts lack.
_PICTURES = re.compile("[\u2400-\u2420]")
#: What stands for them on a page, with their names; the others are in caret notation, such as ^G.
_SUBSTITUTES = {
    "␠": ("·", "space"),
    "␊": ("↵", "line break"),
    "␉": ("→", "tab"),
    "␍": ("^M", "carriage return"),
}


@cache
def environment() -> Environment:
    """Return the Jinja environment with the filters for the templates, which keeps those that it has compiled."""
    made = Environment(
        loader=FileSystemLoader(_TEMPLATES_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "visible": visible,
        "pictured": pictured,
        "prose": prose,
        "shown": shown,
        "pretty_json": pretty_json,
        "shorten": shorten,
        "moment": moment,
        "thousands": "{:,}".format,
    }
    made.globals |= {
        "compact": compact,
        "duration": duration,
        "elapsed": elapsed,
        "percent": percent,
        "pluralize": pluralize,
        "rated_outcomes": RATED,
        "version": version("weighbridge"),
    }
    return made


def static_text(name: str) -> str:
    """Return a static file of the web UI, such as a style sheet or a script, as text."""
    return (STATIC_FOLDER / name).read_text(encoding="utf-8")


def pictured(text: object) -> Markup:
    """Return a text as HTML in which symbols of invisible characters are ones that every font has, with their names."""
    escaped = escape(visible(text))
    return Markup(_PICTURES.sub(_substitute, escaped))  # noqa: S704 - escaped, and the substitutes are ours


def _substitute(found: re.Match[str]) -> str:
    code = ord(found[0]) - 0x2400
    glyph, name = _SUBSTITUTES.get(
        found[0], (f"^{chr(code ^ 0x40)}", f"control character U+{code:04X}")
    )
    return (
        f'<span class="glyph" role="img" aria-label="{name}" title="{name}">{escape(glyph)}</span>'
    )


def prose(text: object) -> Markup:
    """Return a description as HTML, with text in backticks as code."""
    pieces = [escape(piece) for piece in visible(text).split("`")]
    if len(pieces) % 2 == 0:  # leave an unpaired backtick as it is
        pieces[-2:] = [escape("`").join(pieces[-2:])]
    marked = (
        Markup("<code>%s</code>") % piece if at % 2 else piece for at, piece in enumerate(pieces)
    )
    return Markup("").join(marked)


def shown(value: object) -> str:
    """Return a JSON value as short text: a string as it is, any other value as JSON."""
    if isinstance(value, str):
        return visible(value)
    try:
        return visible(orjson.dumps(value).decode())
    except TypeError:
        return visible(value)


def pretty_json(value: object) -> str:
    """Return indented JSON; a value that JSON cannot represent is converted to text."""
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        return str(value)


def moment(seconds: float) -> str:
    """Return a time in seconds since the epoch as ISO 8601 in UTC, to the second."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

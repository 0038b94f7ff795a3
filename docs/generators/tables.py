"""Markdown tables, and text that is safe in their cells."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_CODE = re.compile(r"`([^`]*\|[^`]*)`")  #: inline code with a bar


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; empty columns are omitted."""
    listed = [list(map(_cell, row)) for row in rows]
    kept = [at for at in range(len(head)) if any(row[at] for row in listed)]
    lines = [[head[at] for at in kept], ["---"] * len(kept)]
    lines += [[row[at] for at in kept] for row in listed]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def code(text: str) -> str:
    """Return a text as inline code."""
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    """Return a text on one line, with bars escaped; in inline code GitHub and the site agree only on an HTML entity."""
    return _CODE.sub(_code_with_bars, " ".join(text.split())).replace("|", "\\|")


def _code_with_bars(found: re.Match[str]) -> str:
    return f"<code>{escape(found[1])}</code>".replace("|", "&#124;")

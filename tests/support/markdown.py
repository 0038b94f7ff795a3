"""Tables in Markdown."""

from __future__ import annotations

import re


def unpadded(text: str) -> str:
    """Return tables without the spaces that align their columns; an empty cell has one."""
    return re.sub(r"(?<=\|) +| +(?=\|)", " ", text)

"""Renew the generated parts of the reference pages, and write copies with the longest ones: `python -m generators FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from generators import INSERTED, fill, renewed

REFERENCE = Path(__file__).resolve().parents[1] / "reference"


def write_pages(folder: Path) -> None:
    """Renew the parts that stand in the pages, and write each page with an inserted one to a folder."""
    for page in sorted(REFERENCE.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (current := renewed(text)) != text:
            page.write_text(current, encoding="utf-8")
        if INSERTED.search(current):
            written = folder / page.relative_to(REFERENCE)
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(fill(current), encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))

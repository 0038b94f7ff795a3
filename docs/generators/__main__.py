"""Write the reference pages with their generated parts, as Markdown: `python -m generators FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from generators import MARKER, fill

REFERENCE = Path(__file__).resolve().parents[1] / "reference"


def write_pages(folder: Path) -> None:
    """Write each reference page that has a generated part to a folder."""
    for page in sorted(REFERENCE.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if MARKER.search(text):
            written = folder / page.relative_to(REFERENCE)
            written.parent.mkdir(parents=True, exist_ok=True)
            written.write_text(fill(text), encoding="utf-8")


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))

"""The documentation builds as a site without dead links, orphan pages or empty pages."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: As `python -m mkdocs`, but collecting garbage would take a fifth of its time.
MKDOCS = "import gc; gc.disable(); from mkdocs.__main__ import cli; cli()"
NEEDED = ("material", "mkdocs", "mkdocstrings_handlers")


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(find_spec, NEEDED)), reason="the extra `docs` is not installed (`make docs` does)"
)
def test_the_site_builds_strictly_and_every_page_has_text(tmp_path: Path) -> None:
    command = [sys.executable, "-c", MKDOCS, "build", "--strict", "--site-dir", str(tmp_path)]
    ended = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert ended.returncode == 0, ended.stderr
    pages = [path for path in tmp_path.rglob("*.html") if path.name != "404.html"]
    assert len(pages) > 40
    for page in pages:
        article = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
        assert len(re.sub(r"<[^>]*>|\s", "", article)) > 400, page
        assert "<!-- generated" not in article, page
        assert "Generated from the code: " not in article, page
    # Of an attribute that has a `#:` comment and no docstring.
    assert "True if all jobs have been submitted" in (tmp_path / "reference/python.html").read_text(
        "utf-8"
    )

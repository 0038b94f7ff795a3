"""The documentation builds as a site without dead links, orphan pages or empty pages."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.preloaded import ForkedProcess

ROOT = Path(__file__).resolve().parents[2]
NEEDED = ("material", "mkdocs", "mkdocstrings_handlers")


@pytest.mark.slow
@pytest.mark.skipif(
    not all(map(find_spec, NEEDED)), reason="the extra `docs` is not installed (`make docs` does)"
)
def test_the_site_builds_strictly_and_every_page_has_text(tmp_path: Path) -> None:
    site, printed = tmp_path / "site", (tmp_path / "out", tmp_path / "err")
    build = ForkedProcess(
        "support.site:mkdocs",
        ["build", "--strict", "--site-dir", str(site)],
        {**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        ROOT,
        printed,
    )
    assert build.wait(110) == 0, [path.read_text("utf-8") for path in printed]
    pages = [path for path in site.rglob("*.html") if path.name != "404.html"]
    assert len(pages) > 40
    for page in pages:
        article = page.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
        assert len(re.sub(r"<[^>]*>|\s", "", article)) > 400, page
        assert "<!-- " not in article, page
        assert "Generated from the code: " not in article, page
    # Of an attribute that has a `#:` comment and no docstring.
    assert "True if all jobs have been submitted" in (site / "reference/python.html").read_text(
        "utf-8"
    )

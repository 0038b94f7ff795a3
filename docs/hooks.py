"""What the build of the site adds to the pages: generated parts, the changelog, files of the repository, a check of links."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File

from generators import fill
from generators.site_links import dead_links

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parents[1]
CHANGELOG = "changelog.md"
#: A link out of `docs`, to a file of the repository; the site gets a copy of it.
_OUTSIDE = re.compile(r"\]\((?:\.\./)+((?:deploy|examples)/[^)#\s]+)\)")
_log = logging.getLogger("mkdocs.hooks.weighbridge")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the changelog as a page, and each file of the repository that a page links to."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, CHANGELOG, content=changelog))
    linked = {
        name
        for page in files.documentation_pages()
        for name in _OUTSIDE.findall(page.content_string)
    }
    for name in sorted(linked):
        files.append(File.generated(config, f"files/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Put the generated parts into a page, and lead links out of `docs` to the site's copies."""
    up = "../" * page.file.src_uri.count("/")
    return _OUTSIDE.sub(rf"]({up}files/\1)", fill(markdown))


def on_post_build(*, config: MkDocsConfig) -> None:
    """Warn of links and anchors that lead nowhere; a strict build fails then."""
    for link in dead_links(Path(config.site_dir)):
        _log.warning("dead link in %s", link)

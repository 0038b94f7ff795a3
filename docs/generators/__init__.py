"""Generated parts of the reference pages, as Markdown from the product's code.

Most parts stand in the page, between `<!-- generated: NAME -->` and `<!-- end of generated -->`; `python -m generators FOLDER`
writes them anew. The longest ones are inserted only into the site, and into copies of the pages in that folder, at `<!-- inserted: NAME -->`, with
the line below it for readers of the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from generators import commands, error_codes, grader_configs, http_api, settings, trace_formats

if TYPE_CHECKING:
    from collections.abc import Callable

INSERTED = re.compile(
    r"^<!-- inserted: ([a-z-]+) -->(?:\n\*Generated from the code: .*\*)?$", re.MULTILINE
)
_BEGIN = r"<!-- generated: ([a-z-]+)(?: ([a-z-]+))? -->"
_END = "<!-- end of generated -->"
_KEPT = re.compile(rf"^(?P<begin>{_BEGIN})$.*?^{_END}$", re.MULTILINE | re.DOTALL)
PARTS: dict[str, Callable[..., str]] = {
    "commands": commands.markdown,
    "grader-config": grader_configs.markdown,
    "http-problems": error_codes.problems_markdown,
    "http-requests": http_api.markdown,
    "job-errors": error_codes.jobs_markdown,
    "other-errors": error_codes.others_markdown,
    "settings": settings.markdown,
    "trace-formats": trace_formats.markdown,
}


def names_of_parts(text: str) -> set[str]:
    """Return the names of the generated parts in a page."""
    kept = {found[2] for found in _KEPT.finditer(text)}
    return kept | set(INSERTED.findall(text))


def renewed(text: str) -> str:
    """Return a page with the parts that stand in it as the code is now; raises KeyError for an unknown part."""

    def part(found: re.Match[str]) -> str:
        begin, name, argument = found.groups()
        told = PARTS[name](argument) if argument else PARTS[name]()
        return f"{begin}\n{told.strip()}\n{_END}"

    return _KEPT.sub(part, text)


def fill(text: str) -> str:
    """Return a page with all generated parts; raises KeyError for an unknown part."""
    return INSERTED.sub(lambda found: PARTS[found[1]](), renewed(text))

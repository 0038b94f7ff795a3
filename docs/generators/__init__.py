"""Generated parts of the reference pages, as Markdown from the product's code.

A page has `<!-- generated: NAME -->` as a placeholder, which `fill` replaces, with the line below it for readers of the file.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from generators import commands, error_codes, grader_configs, http_api, settings, trace_formats

if TYPE_CHECKING:
    from collections.abc import Callable

MARKER = re.compile(
    r"^<!-- generated: ([a-z-]+)(?: ([a-z-]+))? -->(?:\n\*Generated from the code: .*\*)?$",
    re.MULTILINE,
)
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


def fill(text: str) -> str:
    """Return a page with its generated parts inserted; raises KeyError for an unknown part."""

    def part(marker: re.Match[str]) -> str:
        name, argument = marker.groups()
        return PARTS[name](argument) if argument else PARTS[name]()

    return MARKER.sub(part, text)

"""What a tool does, by its name alone."""

from __future__ import annotations

import re

NAME_CHARACTERS = 256  #: of a tool's name that are read
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MAKING = re.compile(
    r"(?:^|[_\W])(?:create|make|spawn|start|launch|new|add|open|book|order|buy|issue|provision|allocate|generate|roll|draw|register"
    r"|submit|schedule|reserve|clone|fork|insert|upload)(?:[_\W]|$)",
    re.IGNORECASE,
)
_KEEPING = re.compile(
    r"(?:^|[_\W])(?:save|store|remember|memorize|keep|put|set|update|upsert)(?:[_\W]|$)",
    re.IGNORECASE,
)


def with_underscores(name: str) -> str:
    """Write a name in camel case with underscores, cut to the characters that are read."""
    return _CAMEL.sub("_", name[:NAME_CHARACTERS])


def thinks(tool: str) -> bool:
    """Whether a tool does nothing by its name but let the agent think, as a text does."""
    return "think" in tool[:NAME_CHARACTERS].lower()


def makes(tool: str) -> bool:
    """Whether a tool makes something by its name: each time another, though asked for in the same words."""
    return _MAKING.search(with_underscores(tool)) is not None


def keeps(tool: str) -> bool:
    """Whether a tool keeps something by its name: the same kept again is nothing new, whatever its id."""
    return _KEEPING.search(with_underscores(tool)) is not None

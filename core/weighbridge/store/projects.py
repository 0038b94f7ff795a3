"""Projects: the names that keep the batches of one group of people from another's."""

from __future__ import annotations

import re

from weighbridge.errors import InvalidProjectError

DEFAULT_PROJECT = "default"  #: where no other is named
_VALID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def check_project(name: str) -> str:
    """Return a project's name; raise InvalidProjectError when it cannot be one."""
    if not _VALID.fullmatch(name):
        raise InvalidProjectError(
            f"{name[:80]!r} cannot be a project's name",
            "write 1 to 64 letters, digits, dots, dashes or underscores, a letter or digit first",
        )
    return name

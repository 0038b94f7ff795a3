"""Adding lines on facts that are found by their names to a draft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weighbridge_producer.input.trace_drafts.draft import Line
from weighbridge_producer.input.trace_drafts.key_roles import Role, find_role
from weighbridge_producer.input.trace_drafts.observed import (
    At,
    Observed,
)


def add(
    lines: list[Line], name: str, at: At | None, remark: str = "", *, section: str = "step", is_active: bool = True
) -> None:  # fmt: skip
    """Add the line on a fact, if it was found."""
    if at:
        lines.append(Line(section, name, (at.pointer,), remark, is_active))


def unused(
    seen: Observed, wanted: Sequence[str], test: Any, used: set[str], role: Role | None = None
) -> At | None:
    """Return the likeliest values at a pointer that has no other part, or of which no part has one.

    If none has a usual name, they are those whose name hints at a role.
    """
    for depth in (1, 2):
        for name in wanted:
            at = seen.find((name,), test, depth=depth)
            if at and not any(f"{at.pointer}/".startswith(f"{each}/") for each in used):
                return at
        if role and (at := find_role(seen, role, test, used, depth=depth)):
            return at
    return None

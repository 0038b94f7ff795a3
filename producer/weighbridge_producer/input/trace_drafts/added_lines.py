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

ESTIMATED = "an estimate, by its name"  #: remark on a number of tokens


def add(
    lines: list[Line], name: str, at: At | None, remark: str = "", *, section: str = "step", is_active: bool = True
) -> None:  # fmt: skip
    """Add the line on a fact, if it was found."""
    if at:
        lines.append(Line(section, name, (at.pointer,), remark, is_active))


def remark_on_total(at: At) -> str:
    """Return the remark on a number of tokens that may be that of input and output together; empty if its name says so."""
    is_sure = at.keys[-1].startswith("total")
    return "" if is_sure else "taken for the total of input and output"


def remark_on_cost(at: At) -> str:
    """Return the remark on a cost; empty if its name states the currency."""
    return "" if "usd" in at.keys[-1] else "if it is in US dollars"


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

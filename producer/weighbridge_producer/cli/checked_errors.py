"""The errors of a file that `trace check` prints: one of each kind."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge_producer.cli.show import shown

if TYPE_CHECKING:
    from rich.console import Console

_KINDS_SHOWN = 5
_WIDTH = 300
_PLACE = re.compile(r"\b(?:line|item|step|byte|trace|run) (?:'[^']{0,99}'|[\d,]{1,30})")


def print_errors(errors: list[dict[str, Any]], to: Console) -> None:
    """Print the first error of each kind, with the number of those that differ only in their places."""
    kinds: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for error in errors:
        kind = (error["code"], _PLACE.sub("", error["message"]), error["hint"])
        kinds.setdefault(kind, []).append(error)
    listed = list(kinds.values())
    for first, *alike in listed[:_KINDS_SHOWN]:
        to.print(f"  [red]{first['code']}[/]: {shown(first['message'], _WIDTH)}")
        if first["hint"]:
            to.print(f"    {shown(first['hint'], _WIDTH)}")
        if alike:
            to.print(f"    and {len(alike):,} more of this kind (--json has all)")
    if more := sum(map(len, listed[_KINDS_SHOWN:])):
        to.print(f"  and {more:,} more errors (--json has all)")

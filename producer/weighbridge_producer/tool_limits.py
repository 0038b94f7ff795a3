"""Limits of `budget` on the calls of one tool, whose name may be misspelt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.text import closest, did_you_mean, shorten

if TYPE_CHECKING:
    from collections.abc import Mapping

BUDGET = "budget"
_TOOLS_SHOWN = 10
_TOOLS_LIMIT = 1_000  #: distinct tools that are remembered


class ToolLimit:
    """A limit on one tool, and which tools were called in the results of `budget` that were added."""

    def __init__(self, tool: str) -> None:
        self.tool = tool
        #: True if the tool is called, or may be among those that a result does not list.
        self.may_be_called = False
        self._called: set[str] = set()

    def add(self, details: Mapping[str, Any]) -> None:
        """Note the tools in the details of a result."""
        by_tool = details.get("tool_calls_by_tool") or {}
        has_unlisted = len(by_tool) < (details.get("tools_called") or 0)
        if has_unlisted or self.tool in by_tool:
            self.may_be_called = True
        if len(self._called) < _TOOLS_LIMIT:
            self._called.update(by_tool)

    @property
    def note(self) -> str:
        """What to print if no run calls the tool, with the nearest name; else empty."""
        if self.may_be_called:
            return ""
        called = sorted(self._called)
        more = ", ..." if len(called) > _TOOLS_SHOWN else ""
        return (
            f"no run calls a tool {shorten(self.tool, 80)!r}{did_you_mean(closest(self.tool, called))}"
            f" (called: {', '.join(called[:_TOOLS_SHOWN]) or 'none'}{more})"
        )

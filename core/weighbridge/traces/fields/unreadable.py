"""Values that a source records, but that are no times, amounts or counts: what they belong to is then known only in part."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.traces.model import Capability

#: Reasons why a capability is missing of which a value cannot be read; what else is recorded of it is a lower bound.
UNREADABLE: dict[Capability, str] = {
    "llm_calls": "a recorded number of model calls is no count",
    "tool_calls": "a recorded number of tool calls is no count",
    "token_usage": "a recorded number of tokens is no count",
    "timing": "a recorded time or duration cannot be read",
    "cost": "a recorded cost is no amount of money",
}
_noted: ContextVar[set[Capability] | None] = ContextVar("noted", default=None)


def note_unreadable(capability: Capability) -> None:
    """Note that a value cannot be read, for whoever reads the trace that it is in."""
    noted = _noted.get()
    if noted is not None:
        noted.add(capability)


@contextmanager
def unreadable_noted() -> Iterator[set[Capability]]:
    """Collect the capabilities of which values cannot be read; also for an outer reading."""
    outer, found = _noted.get(), set[Any]()
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)
        if outer is not None:
            outer |= found

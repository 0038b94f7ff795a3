"""The types of some steps: model calls, tool calls or events of several kinds, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge_producer.input.trace_drafts.observed import At

OTHER = "other"


@dataclass(slots=True)
class Typed:
    """What a word is mapped to, and why that is uncertain."""

    type: str
    remark: str = ""


@dataclass(slots=True)
class Shape:
    """The types of some steps."""

    entries: Sequence[Any]
    kinds: tuple[str, ...] = ()  #: pointers to the words that tell types apart
    types: dict[str, Typed] = field(default_factory=dict)
    type_of: list[str] = field(default_factory=list)  #: of each entry
    tool: str = ""  #: pointer to the name of a tool
    calls: At | None = None  #: the calls within a step
    calls_remark: str = ""
    notes: list[str] = field(default_factory=list)  #: on the whole
    score: float = 0.0
    is_totals: bool = False  #: True if each entry has the totals of a run
    is_chat: bool = False  #: True if the steps are messages with roles
    is_sure: bool = True  #: False if it is not certain that the steps are calls

    def of_type(self, *types: str) -> list[Any]:
        """Return the steps of some types."""
        return [each for each, of in zip(self.entries, self.type_of, strict=True) if of in types]

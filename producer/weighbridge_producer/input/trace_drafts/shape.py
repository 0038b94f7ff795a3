"""What the steps of an array are, with the type of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.traces.mapped_types import OTHERWISE
from weighbridge_producer.input.trace_drafts.kind_words import LLM
from weighbridge_producer.input.trace_drafts.observed import At, Observed

MOST = 0.9  #: share of the steps that have what all of a kind have
WEAK = 0.25  #: what a step counts of which it is not sure that it is a call
WORDS_LISTED = 60
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
    arguments: str = ""  #: pointer to the arguments of steps that name no tool
    calls: At | None = None  #: the calls within a step
    calls_remark: str = ""
    results: At | None = None  #: arrays of results in turns
    #: pointer to the text of the model, where each step may be its answer and the call, too
    thought: str = ""
    notes: list[str] = field(default_factory=list)  #: on the whole
    score: float = 0.0
    is_totals: bool = False  #: True if each entry has the totals of a run
    is_chat: bool = False  #: True if the steps are messages with roles
    is_sure: bool = True  #: False if it is not certain that the steps are calls

    def type_of_word(self, word: str) -> str:
        """Return the type that a word stands for, which may be that of all others."""
        return (self.types.get(word) or self.types.get(OTHERWISE) or Typed(OTHER)).type

    def of_type(self, *types: str) -> list[Any]:
        """Return the steps of some types."""
        return [each for each, of in zip(self.entries, self.type_of, strict=True) if of in types]


def all_of(
    entries: Sequence[Any], seen: Observed, kind: str, evidence: At, calls: At | None
) -> Shape:
    """Return steps that are all of one kind, with what shows it."""
    what = "a model call" if kind == LLM else "a tool call"
    shape = Shape(entries, calls=calls)
    shape.types[OTHERWISE] = Typed(
        kind, f"each step is taken for {what}, because of {evidence.pointer}"
    )
    shape.type_of = [kind] * len(entries)
    called = sum(len(each) if type(each) is list else 1 for each in calls.values) if calls else 0
    shape.score = len(evidence.values) + called
    if len(evidence.values) < seen.count:
        shape.types[OTHERWISE].remark += f", which only {len(evidence.values):,} of {seen.count:,} have"  # fmt: skip
    return shape

"""The results of gates for display: a limited number for each gate."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from weighbridge_producer.gating.gates import GateResult

_SHOWN = 20  #: of a gate for each label or each value


class ListedGate(NamedTuple):
    """The results of one gate that a list shows, and a text about the others."""

    gate: str  #: as on the command line
    results: list[GateResult]
    more: str  #: `and 3 more, all met`; empty if all are shown

    def lines(self) -> Iterator[str]:
        """Yield each result, and what is not shown, as a line of text."""
        yield from (result.line for result in self.results)
        if self.more:
            yield f"gate {self.gate}: {self.more}"


def listed_gates(results: Iterable[GateResult]) -> Iterator[ListedGate]:
    """Yield the first results of each gate; if it has more than are shown, those that are not met come first."""
    for gate, group in groupby(results, key=attrgetter("gate")):
        of_gate = list(group)
        if len(of_gate) <= _SHOWN:
            yield ListedGate(gate, of_gate, "")
            continue
        of_gate.sort(key=attrgetter("met"))
        unmet = sum(not result.met for result in of_gate[_SHOWN:])
        which = f"{unmet:,} of them not met" if unmet else "all met"
        yield ListedGate(
            gate,
            of_gate[:_SHOWN],
            f"and {len(of_gate) - _SHOWN:,} more, {which}",
        )

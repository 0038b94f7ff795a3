"""Gates: required shares for a run's results, and the result of checking each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from weighbridge.errors import InvalidGateError
from weighbridge.jobs.outcome import VACUOUS, Outcome
from weighbridge.text import closest, did_you_mean, percent, shorten
from weighbridge_producer.gating.fields import (
    BUILT_IN,
    MISSING,
    absence,
    compact_list,
    field_name,
    parse_field,
    value_key,
)
from weighbridge_producer.gating.slices import summary_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.gating.fields import FieldPath
    from weighbridge_producer.gating.slices import SliceTally

PASSED, ERROR, FAILED = 0, 1, 100  #: exit statuses
EACH = "*"  #: means each label, or each value of a field
_METADATA = "metadata."
_NAMED = 10  #: labels or values in a message
_VALUE_WIDTH = 60
_SHARE = re.compile(
    r"((?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][-+]?[0-9]{1,3})?)\s*(%?)"
)


class GateKind(StrEnum):
    """The quantity that a gate limits, named after its option."""

    #: Minimum share of passes among the jobs that passed or failed.
    MIN_PASS_RATE = "--min-pass-rate"  # noqa: S105 - an option, not a password
    #: Minimum share of jobs that passed or failed among all jobs.
    MIN_GRADABLE = "--min-gradable"
    #: Maximum share of vacuous passes, which had nothing to check, among the passes.
    MAX_VACUOUS = "--max-vacuous"


@dataclass(frozen=True, slots=True)
class Gate:
    """A required share, for all jobs or for those under a label or in a slice."""

    kind: GateKind
    share: float  #: 0 to 1
    given: str  #: the share as it was given, such as `90%`
    label: str = ""  #: a label or EACH
    field: FieldPath = ()
    value: str = ""  #: a value of the field, or EACH

    @property
    def is_whole(self) -> bool:
        """True if the gate applies to all jobs together."""
        return not self.label and not self.field

    @property
    def text(self) -> str:
        """The gate as on the command line."""
        scope = f"{field_name(self.field)}:{self.value}" if self.field else self.label
        return f"{self.kind} {scope}={self.given}" if scope else f"{self.kind} {self.given}"


def parse_gate(kind: GateKind, text: str) -> Gate:
    """Parse `0.9`, `90%`, `LABEL=0.9`, `*=0.9` or `metadata.FIELD:VALUE=0.9`; raises InvalidGateError."""
    scope, _, number = text.rpartition("=")
    share, given = parse_share(number), number.strip()
    if share is None:
        raise InvalidGateError(
            f"{kind} {text[:80]!r} has no share from 0 to 1",
            "write for instance 0.9, 90%, LABEL=0.9 or metadata.FIELD:VALUE=0.9",
        )
    if not scope:
        return Gate(kind, share, given)
    if not scope.startswith(_METADATA):
        return Gate(kind, share, given, label=scope)
    name, colon, value = scope.partition(":")
    if not colon or not value:
        raise InvalidGateError(
            f"{kind} {text[:80]!r} names a field without a value",
            f"write {name}:VALUE={number}, or {name}:*={number} for each value",
        )
    return Gate(kind, share, given, field=parse_field(name), value=value)


def parse_share(text: str) -> float | None:
    """Parse a share such as `0.9` or `90%`; None if the text is no share from 0 to 1."""
    found = _SHARE.fullmatch(text.strip())
    if found is None:
        return None
    # As a decimal number, because 99.9 / 100 is less than 0.999.
    number = Decimal(found[1])
    share = float(number.scaleb(-2) if found[2] else number)
    return share if 0 <= share <= 1 else None


@dataclass(frozen=True, slots=True)
class GateResult:
    """Result of a gate: the required and the observed share, and the exit status that follows."""

    gate: str  #: as on the command line
    scope: str  #: the label or value, if the gate applies to each of them
    required: str
    seen: str
    status: int = PASSED  #: 0: met; 1: cannot be decided, or too few jobs were graded; 100: not met
    is_implied: bool = False  #: it was not asked for: a rule for jobs that no gate covers

    @property
    def met(self) -> bool:
        """True if the gate is met."""
        return self.status == PASSED

    @property
    def line(self) -> str:
        """The result as one line of text."""
        scope = self.scope if self.scope in BUILT_IN or not self.scope else f"({self.scope})"
        met = "met" if self.met else "not met"
        head = " ".join(filter(None, ("gate", self.gate, scope, met)))
        return f"{head}: required {self.required}; seen {self.seen}"

    def as_dict(self) -> dict[str, Any]:
        """Return the result in its JSON form."""
        return {
            "gate": self.gate,
            "scope": self.scope,
            "met": self.met,
            "required": self.required,
            "seen": self.seen,
        }


def added(summaries: Iterable[GraderSummary]) -> GraderSummary:
    """Return the sum of the counts of several labels."""
    rows = list(summaries)
    totals = {str(outcome): sum(row.jobs(outcome) for row in rows) for outcome in Outcome}
    return summary_of("", totals | {VACUOUS: sum(row.vacuous for row in rows)})


def check_gates(
    gates: Sequence[Gate], labels: Sequence[GraderSummary], slices: SliceTally | None = None
) -> list[GateResult]:
    """Return the results of the gates; a gate for each label or value has several."""
    results: list[GateResult] = []
    for gate in gates:
        scopes = _scopes(gate, labels, slices)
        if not scopes:
            results.append(_nothing_there(gate, labels, slices))
        tolerant = _accepts_vacuous(gate, gates)
        results += [
            _check(gate, scope, summary, tolerant=tolerant) for scope, summary in scopes.items()
        ]
    return results


def _scopes(
    gate: Gate, labels: Sequence[GraderSummary], slices: SliceTally | None
) -> Mapping[str, GraderSummary]:
    """Return the counts that a gate applies to, by label or value if there are several."""
    if gate.is_whole:
        return {"": added(labels)}
    if gate.field:
        for_each = gate.value == EACH
        found = slices.values(field_name(gate.field), of_cases=for_each) if slices else {}
        if for_each:
            # If no job has a value, the field is probably misspelt.
            return (
                {value: found[value] for value in sorted(found)} if found.keys() - {MISSING} else {}
            )
        # A long value is named as tables and JSON show it, or whole.
        is_shown = gate.value in found or gate.value in BUILT_IN
        value = gate.value if is_shown else value_key(compact_list(gate.value))
        return {"": found[value]} if value in found else {}
    # Causes beyond the limit of a batch's summary share a label without jobs.
    named = {row.label: row for row in labels if row.label and row.finished}
    if gate.label == EACH:
        return named
    return {"": named[gate.label]} if gate.label in named else {}


def _accepts_vacuous(gate: Gate, gates: Sequence[Gate]) -> bool:
    """Return whether a gate for vacuous passes covers the passes of this gate."""
    return any(
        other.is_whole or (other.label, other.field) == (gate.label, gate.field)
        for other in gates
        if other.kind is GateKind.MAX_VACUOUS
    )


def _nothing_there(
    gate: Gate, labels: Sequence[GraderSummary], slices: SliceTally | None
) -> GateResult:
    if not gate.field:
        known = ", ".join(row.label for row in labels[:_NAMED]) or "none"
        seen = f"no job with that label (labels: {known})"
    elif slices and slices.is_absent(name := field_name(gate.field)):
        seen = "no job with that value: " + absence(name, slices.present)
    else:
        found = slices.values(field_name(gate.field)) if slices else {}
        seen = f"no job with that value{_values_named(gate.value or '', found.keys() - BUILT_IN)}"
    return GateResult(gate.text, "", _required(gate), seen, ERROR)


def _values_named(value: str, known: Collection[str]) -> str:
    """Return which values there are, and which of them a misspelt one probably stands for."""
    listed = sorted(known)
    more = ", ..." if len(listed) > _NAMED else ""
    named = ", ".join(shorten(each, _VALUE_WIDTH) for each in listed[:_NAMED])
    return f" (values: {named}{more}){did_you_mean(closest(value, listed))}" if listed else ""


def _required(gate: Gate) -> str:
    match gate.kind:
        case GateKind.MIN_PASS_RATE:
            return f"at least {_percent(gate.share)} of judged jobs passed"
        case GateKind.MIN_GRADABLE:
            return f"at least {_percent(gate.share)} of all jobs judged"
        case GateKind.MAX_VACUOUS:
            return f"at most {_percent(gate.share)} of passes vacuous (nothing to check)"


def _check(gate: Gate, scope: str, seen: GraderSummary, *, tolerant: bool) -> GateResult:
    part, whole, noun = {
        GateKind.MIN_PASS_RATE: (seen.passed, seen.judged, "judged"),
        GateKind.MIN_GRADABLE: (seen.judged, seen.finished, "jobs"),
        GateKind.MAX_VACUOUS: (seen.vacuous, seen.passed, "passes"),
    }[gate.kind]
    text, status = f"{part:,} of {whole:,} {noun}", PASSED
    if whole:
        # A quotient, because 55 / 100 is rounded to the same float as 0.55, while 0.55 * 100 is not 55.
        share = part / whole
        text = f"{percent(part, whole)} ({text})"
        missed = share > gate.share if gate.kind is GateKind.MAX_VACUOUS else share < gate.share
        status = PASSED if not missed else ERROR if gate.kind is GateKind.MIN_GRADABLE else FAILED
    elif gate.kind is not GateKind.MAX_VACUOUS:
        text, status = "no job was judged" if seen.finished else "no job", ERROR
    if gate.kind is GateKind.MIN_PASS_RATE and not tolerant and 0 < seen.passed == seen.vacuous:
        text += ", all of them vacuous (nothing to check); --max-vacuous 1 accepts that"
        status = FAILED
    return GateResult(gate.text, scope, _required(gate), text, status)


def _percent(share: float) -> str:
    # Twelve digits: as many as a share may reasonably have, without the float's rounding error.
    return f"{share * 100:.12g}%"

"""Check of one measurement against one limit (met, exceeded, or unknown), with its evidence."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING

from msgspec import Struct

from weighbridge.graders.base import Evidence, Verdict
from weighbridge.graders.budget.measurements import as_number
from weighbridge.graders.trace_grader import KNOWN_IN_PART, NOT_RECORDED, STEP_IDS_LIMIT
from weighbridge.text import all_encodable, encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from weighbridge.graders.budget.consumption import Amount
    from weighbridge.traces import Step

_NAMED_STEPS = 3  #: named in a description; the entry lists more
_NAME_CHARACTERS = 40
_HIGHEST_PERCENT = 1_000_000
_PLURAL = re.compile(r"\b(call|step|token)s\b")
_BELOW_ONE = math.nextafter(1.0, 0.0)


class Breach(Struct, frozen=True):
    """The location where a limit was exceeded."""

    text: str
    steps: Sequence[Step] = ()
    excerpt: str = ""
    #: False if the limit may have been exceeded before the first of the steps
    is_first: bool = True


class Reading(Struct, frozen=True):
    """One measurement of a run, to be compared with a limit."""

    unit: str  #: unit after the number: "tokens", "ms"
    known: Amount  #: the exact value if `is_exact`, else a lower bound
    is_exact: bool
    is_stated: bool  #: True if the trace has any data for it
    breach: Callable[[Amount], Breach]  #: finds where a limit was exceeded
    #: the steps that add to it, each with the amount after it; for latencies with that of the step alone
    course: Callable[[], Iterable[tuple[Step, Amount]]]
    steps: Sequence[Step] = ()  #: the steps concerned
    is_ignored: bool = False  #: True if the limit is judged by `known` although it is not exact
    inexact_reason: str = ""  #: reason why it is not exact
    inexact_steps: Sequence[Step] = ()
    remark: str = ""  #: an additional remark
    is_count: bool = False  #: True if it counts steps


class Finding(Struct, frozen=True):
    """Result of checking one limit."""

    verdict: Verdict
    evidence: Evidence
    score: float  #: limit / observed, if exceeded
    is_stated: bool


def judge(check: str, limit: Amount, reading: Reading) -> Finding:
    """Check a measurement against a limit: a lower bound can exceed it, but only an exact value can meet it.

    A lower bound also meets it if the configuration ignores what is missing.
    """
    if reading.known > limit:
        return _exceeded(check, limit, reading)
    if not reading.is_exact and not reading.is_ignored:
        return _unknown(check, limit, reading)
    return _met(check, limit, reading)


def _met(check: str, limit: Amount, reading: Reading) -> Finding:
    observed: Amount | None = reading.known
    if reading.is_exact or reading.is_stated:
        how, most = ("", "") if reading.is_exact else ("at least ", "at most ")
        used = utilisation(reading.known, limit, reading.unit, how)
        description = f"{used}; {most}{shown(limit - reading.known)} left"
    else:
        observed = None
        description = f"limit {_with_unit(limit, reading.unit)}; what was used is not known"
    description += _gap(reading) + reading.remark
    evidence = _evidence(check, description, limit, observed, reading.steps)
    evidence["passed"] = True
    return Finding(Verdict.PASS, evidence, 1.0, reading.is_stated)


def _exceeded(check: str, limit: Amount, reading: Reading) -> Finding:
    breach = reading.breach(limit)
    how = "" if reading.is_exact else "at least "
    used = utilisation(reading.known, limit, reading.unit, how)
    if reading.is_count:
        amount = f"{how}{_with_unit(reading.known, reading.unit)}, limit {shown(limit)}"
        description = f"{amount}: {breach.text}; {used}"
    else:
        over = shown(reading.known - limit)
        description = f"{used}: {how}{over} over the limit; {breach.text}"
    description += _gap(reading) + reading.remark
    evidence = _evidence(check, description, limit, reading.known, breach.steps)
    if breach.excerpt:
        evidence["excerpt"] = breach.excerpt
    score = min(float(limit / reading.known), _BELOW_ONE)
    return Finding(Verdict.FAIL, evidence, score, reading.is_stated)


def _gap(reading: Reading) -> str:
    """Return why a measurement is not exact, after a semicolon; empty if it is exact."""
    if reading.is_exact:
        return ""
    gap = "ignored" if reading.is_ignored else "the rest is not known"
    return f"; {gap}: {reading.inexact_reason}"


def _unknown(check: str, limit: Amount, reading: Reading) -> Finding:
    if reading.is_stated:
        used = utilisation(reading.known, limit, reading.unit, "at least ")
        description = f"{used}, but the rest is not known: {reading.inexact_reason}"
    else:
        most = _with_unit(limit, reading.unit)
        description = f"limit {most}, but what was used is not known: {reading.inexact_reason}"
    observed = reading.known if reading.is_stated else None
    evidence = _evidence(check, description, limit, observed, reading.inexact_steps)
    evidence["cause"] = KNOWN_IN_PART if reading.is_stated else NOT_RECORDED
    return Finding(Verdict.UNGRADABLE, evidence, 0.0, reading.is_stated)


def _evidence(
    check: str, description: str, limit: Amount, observed: Amount | None, steps: Sequence[Step]
) -> Evidence:
    return {
        "check": check,
        "description": encodable(description),
        "passed": False,
        "limit": as_number(limit),
        "observed": None if observed is None else as_number(observed),
        "step_ids": all_encodable([step.id for step in steps[:STEP_IDS_LIMIT]]),
    }


def _with_unit(amount: Amount, unit: str) -> str:
    """Return an amount with its unit, given in the plural: "1 tool call", "1 call of 'search'", "5 ms"."""
    singular = _PLURAL.sub(r"\1", unit, count=1)
    return f"{shown(amount)} {singular if amount == 1 else unit}"


def utilisation(observed: Amount, limit: Amount, unit: str, how: str = "") -> str:
    """Return the share of a limit that was used: `used 3000/5000 tokens = 60%`."""
    share = f" = {percent(observed, limit)}" if limit else ""
    of = _with_unit(limit, unit) if observed == 1 else f"{shown(limit)} {unit}"
    return f"used {how}{shown(observed)}/{of}{share}"


def exact(limit: float) -> Amount:
    """Return a limit of a configuration, or of evidence, as an exact number."""
    return limit if isinstance(limit, int) else Decimal(repr(limit))


def percent(observed: Amount, limit: Amount) -> str:
    """Return a percentage with at most two decimals; 100% means equal to the limit, and 0% means nothing."""
    if observed > limit * (_HIGHEST_PERCENT // 100):
        return f">{_HIGHEST_PERCENT}%"
    hundredths = int((observed * 20_000 + limit) // (2 * limit))
    if not hundredths and observed:
        return "<0.01%"
    if observed < limit:
        hundredths = min(hundredths, 9_999)
    elif observed > limit:
        hundredths = max(hundredths, 10_001)
    return f"{hundredths // 100}.{hundredths % 100:02}".rstrip("0").rstrip(".") + "%"


def shown(amount: Amount) -> str:
    """Return an amount with all its digits, without trailing zeros."""
    if isinstance(amount, int):
        return str(amount)
    is_readable = not amount or -12 <= amount.adjusted() < 18
    digits = f"{amount:f}" if is_readable else str(amount.normalize())
    return digits.rstrip("0").rstrip(".") if is_readable and "." in digits else digits


def named(steps: Sequence[Step]) -> str:
    """Return the names of the first steps: `step s3`, `steps s3, s5, s9 and 4 more`."""
    ids = [step.id[:_NAME_CHARACTERS] for step in steps[:_NAMED_STEPS]]
    if len(steps) == 1:
        return f"step {ids[0]}"
    if len(steps) <= _NAMED_STEPS:
        return f"steps {', '.join(ids[:-1])} and {ids[-1]}"
    return f"steps {', '.join(ids)} and {len(steps) - _NAMED_STEPS} more"

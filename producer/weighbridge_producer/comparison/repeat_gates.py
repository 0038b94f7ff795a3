"""Gates for the reliability of repeated cases in one run: how many may be flaky, and the least pass^k."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.errors import InvalidGateError
from weighbridge.text import pluralize
from weighbridge_producer.comparison.allowance import Allowance
from weighbridge_producer.gating.gates import ERROR, FAILED, PASSED, GateResult, parse_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weighbridge_producer.comparison.reliability import Reliability, RepeatedLabel

_MAX_FLAKY = "--max-flaky"
_MIN_PASS_HAT_K = "--min-pass-hat-k"  # noqa: S105 - an option, not a password
_K = re.compile(r"\s*([1-9][0-9]{0,8})\s*")
#: Estimates are sums of fractions, such as three times 1/3.
_ROUNDING = 1e-9


class LeastPassHatK(NamedTuple):
    """The least probability that all of `k` repeats pass."""

    k: int
    share: float  #: 0 to 1
    given: str  #: as on the command line, such as `3=90%`

    @classmethod
    def parse(cls, text: str) -> LeastPassHatK:
        """Parse `K=SHARE`; raises InvalidGateError."""
        before, _, after = text.partition("=")
        k, share = _K.fullmatch(before), parse_share(after)
        if k is None or share is None:
            raise InvalidGateError(
                f"{_MIN_PASS_HAT_K} {text[:40]!r} is not a number of repeats with a share from 0 to 1",
                "write for instance 3=0.9 or 3=90%: all of 3 repeats pass with this probability",
            )
        return cls(int(k[1]), share, text.strip())


class RepeatGates(NamedTuple):
    """The gates for the repeated cases of a run."""

    max_flaky: Allowance | None = None  #: cases that passed in some repeats and failed in others
    min_pass_hat_k: tuple[LeastPassHatK, ...] = ()
    allow_unjudged: bool = False  #: True to accept repeats that neither passed nor failed

    @classmethod
    def parse(
        cls, max_flaky: str, min_pass_hat_k: Sequence[str], *, allow_unjudged: bool = False
    ) -> RepeatGates:
        """Parse the options as on the command line; raises InvalidGateError."""
        return cls(
            Allowance.parse(_MAX_FLAKY, max_flaky) if max_flaky else None,
            tuple(map(LeastPassHatK.parse, min_pass_hat_k)),
            allow_unjudged,
        )

    @property
    def are_given(self) -> bool:
        """Whether there is any gate."""
        return bool(self.max_flaky or self.min_pass_hat_k)

    def check(self, labels: Sequence[RepeatedLabel], run: int) -> list[GateResult]:
        """Return the result of each gate for a run, by its number from 0; each label has its own pass^k."""
        found = [(label.label, label.runs[run]) for label in labels]
        results = [_flaky(self.max_flaky, [each for _, each in found])] if self.max_flaky else []
        # Lines that are not cases have no label, and no repeats.
        named = [each for each in found if each[0]]
        for least in self.min_pass_hat_k:
            results += _pass_hat_k(least, named)
        unjudged = sum(each.unjudged for _, each in found)
        if results and unjudged and not self.allow_unjudged:
            results.append(_unjudged([each for _, each in found]))
        return results


def _flaky(allowed: Allowance, found: Sequence[Reliability]) -> GateResult:
    gate = f"{_MAX_FLAKY} {allowed.text}"
    required = f"at most {allowed.text} {'of cases' if allowed.is_share else 'cases'} flaky"
    flaky = sum(each.flaky for each in found)
    repeated = sum(each.repeated for each in found)
    if not repeated:
        return GateResult(gate, "", required, "no case was judged more than once", ERROR)
    once = sum(each.cases.total() for each in found) - repeated
    seen = f"{flaky:,} of {pluralize(repeated, 'case')} judged more than once"
    seen += f" ({once:,} judged once)" if once else ""
    return GateResult(
        gate, "", required, seen, FAILED if allowed.is_exceeded(flaky, repeated) else PASSED
    )


def _pass_hat_k(
    least: LeastPassHatK, found: Sequence[tuple[str, Reliability]]
) -> Iterator[GateResult]:
    gate = f"{_MIN_PASS_HAT_K} {least.given}"
    required = f"pass^{least.k} of at least {least.share * 100:.12g}%"
    for label, reliability in found:
        scope = label if len(found) > 1 else ""
        at = reliability.at(least.k)
        if at is None:
            seen = f"no case has {pluralize(least.k, 'judged repeat')}"
            yield GateResult(gate, scope, required, seen, ERROR)
            continue
        fewer = reliability.cases.total() - at.cases
        seen = f"{at.pass_hat_k:.1%} over {pluralize(at.cases, 'case')}"
        seen += f" ({fewer:,} more judged less often)" if fewer else ""
        status = FAILED if at.pass_hat_k < least.share - _ROUNDING else PASSED
        yield GateResult(gate, scope, required, seen, status)
    if not found:
        yield GateResult(gate, "", required, "no case was judged", ERROR)


def _unjudged(found: Sequence[Reliability]) -> GateResult:
    seen = (
        f"{sum(each.errored for each in found):,} errored, {sum(each.ungradable for each in found):,} ungradable;"
        " --allow-lost accepts that"
    )
    return GateResult("no unjudged repeats", "", "a verdict for each repeat", seen, ERROR)

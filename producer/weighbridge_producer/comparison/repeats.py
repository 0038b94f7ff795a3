"""Repeats: the reliability of cases that were run several times, and its change between runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from heapq import heappush, heapreplace
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from weighbridge.errors import InvalidFilterError
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import shorten
from weighbridge_producer.comparison.input_order import InputOrder
from weighbridge_producer.comparison.pairing import without_field
from weighbridge_producer.comparison.partitions import Partitions
from weighbridge_producer.comparison.repeats_conditions import GradedRepeats
from weighbridge_producer.comparison.tallies import Conditions
from weighbridge_producer.gating.fields import FieldPath, field_name, parse_field
from weighbridge_producer.statistics import (
    Interval,
    benjamini_hochberg,
    mcnemar_exact,
    mean,
    mean_interval,
    pass_at_k,
    pass_hat_k,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from weighbridge_producer.comparison.compared_results import Entry
    from weighbridge_producer.comparison.runs import Run

FLAKY_SHOWN = 20  #: per label and run
_LABELS_LIMIT = 1_000
_OTHER_LABELS = "(other labels)"
_CUSTOM_ID = "custom_id"
_KS = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)

Repeats = tuple[int, int]  #: how often a case was judged, and how often it passed
Unjudged = tuple[int, int]  #: how many repeats of a case were ungradable, and how many errored


@dataclass(frozen=True, slots=True)
class RepeatKey:
    """The key common to the repeats of a case: a metadata field, or the custom_id up to a separator."""

    path: FieldPath = ()
    separator: str = ""

    @classmethod
    def parse(cls, text: str) -> RepeatKey:
        """Parse `metadata.FIELD`, `custom_id` or `custom_id:SEPARATOR`; raises InvalidFilterError."""
        root, _, separator = text.partition(":")
        if root == _CUSTOM_ID:
            return cls(separator=separator)
        if not text.startswith("metadata."):
            raise InvalidFilterError(
                f"{text[:80]!r} does not name what repeats have in common",
                "write metadata.FIELD, or custom_id:SEPARATOR for ids such as q1#2, with # as the separator",
            )
        return cls(path=parse_field(text))

    @property
    def fields(self) -> tuple[FieldPath, ...]:
        """The metadata fields that are needed."""
        return (self.path,) if self.path else ()

    def is_in(self, entry: Entry) -> bool:
        """Return whether a result has a value of the metadata field, or the separator in its custom_id, whichever the key is."""
        if self.path:
            return bool(entry.fields.get(field_name(self.path)))
        return self.separator in (entry.custom_id or "")

    def of(self, entry: Entry) -> str:
        """Return the case of a result; a result without a value of the field is a separate case."""
        custom_id = entry.custom_id or ""
        if self.path:
            return entry.fields.get(field_name(self.path)) or custom_id
        before, found, _ = custom_id.rpartition(self.separator) if self.separator else ("", "", "")
        return before if found else custom_id


@dataclass(frozen=True, slots=True)
class AtK:
    """Estimated probabilities that one or all of `k` repeats pass: means over the cases with at least `k` repeats."""

    k: int
    cases: int
    pass_at_k: float
    pass_hat_k: float

    def as_dict(self) -> dict[str, Any]:
        """Return the estimates in their JSON form."""
        return {
            "k": self.k,
            "cases": self.cases,
            "pass_at_k": self.pass_at_k,
            "pass_hat_k": self.pass_hat_k,
        }


@dataclass(slots=True)
class Reliability:
    """The reliability of one run's cases under one label."""

    cases: Counter[Repeats] = field(default_factory=Counter)
    ungradable: int = 0  #: results
    errored: int = 0  #: results that were not graded
    _flaky: list[tuple[float, str, Repeats]] = field(default_factory=list)

    def count(self, case: str, repeats: Repeats) -> None:
        """Count a case."""
        judged, passed = repeats
        if not judged:
            return
        self.cases[repeats] += 1
        if 0 < passed < judged:
            # A heap with the least flaky case on top, to be replaced by one with a rate closer to one half.
            item = (-abs(passed / judged - 0.5), case, repeats)
            if len(self._flaky) < FLAKY_SHOWN:
                heappush(self._flaky, item)
            elif item > self._flaky[0]:
                heapreplace(self._flaky, item)

    @property
    def flaky(self) -> int:
        """Number of cases that passed in some repeats and failed in others."""
        return sum(n for (judged, passed), n in self.cases.items() if 0 < passed < judged)

    @property
    def flaky_cases(self) -> list[tuple[str, Repeats]]:
        """The flakiest cases, each with how often it was judged and passed."""
        ordered = sorted(self._flaky, key=lambda item: (-item[0], item[1]))
        return [(case, repeats) for _, case, repeats in ordered]

    @property
    def rate(self) -> float | None:
        """The mean of the cases' pass rates; None without cases."""
        return mean(self._rates())

    @property
    def interval(self) -> Interval | None:
        """The confidence interval of that mean, over cases."""
        return mean_interval(self._rates(), 0.0, 1.0)

    def _rates(self) -> Counter[float]:
        rates: Counter[float] = Counter()
        for (judged, passed), n in self.cases.items():
            rates[passed / judged] += n
        return rates

    def at_k(self) -> list[AtK]:
        """Return pass@k and pass^k for some k, up to the largest number of repeats."""
        most = max((judged for judged, _ in self.cases), default=0)
        return [self._at(k) for k in sorted({*_KS, most}) if 1 <= k <= most]

    def _at(self, k: int) -> AtK:
        enough = {repeats: n for repeats, n in self.cases.items() if repeats[0] >= k}
        cases = sum(enough.values())
        any_of = sum(n * (pass_at_k(*repeats, k) or 0.0) for repeats, n in enough.items())
        all_of = sum(n * (pass_hat_k(*repeats, k) or 0.0) for repeats, n in enough.items())
        return AtK(k, cases, any_of / cases, all_of / cases)

    def as_dict(self) -> dict[str, Any]:
        """Return the reliability in its JSON form."""
        return {
            "cases": self.cases.total(),
            "unjudged_results": self.ungradable + self.errored,
            "ungradable": self.ungradable,
            "errored": self.errored,
            "rate": self.rate,
            "interval": list(self.interval) if self.interval else None,
            "flaky": self.flaky,
            "at_k": [each.as_dict() for each in self.at_k()],
            "flaky_cases": [
                {"case": case, "judged": judged, "passed": passed}
                for case, (judged, passed) in self.flaky_cases
            ],
        }


@dataclass(slots=True)
class RepeatedLabel:
    """The cases of one label in each run, and the differences of their pass rates from the first run's."""

    label: str
    runs: list[Reliability]
    #: For each further run, the number of cases by the difference of their rates.
    differences: list[Counter[float]]
    #: For each further run, the number of cases with fewer judged repeats than in the first run.
    lost: list[int]
    lost_repeats: list[int]  #: for each further run, by how many repeats those cases have fewer
    #: For each further run, the repeats that were graded under other conditions than in the first run.
    conditions: list[Conditions]
    adjusted_p: list[float] = field(default_factory=list)

    def worse_and_better(self, run: int) -> tuple[int, int]:
        """Return how many cases pass less often, and how many more often, than in the first run."""
        differences = self.differences[run - 1]
        worse = sum(n for difference, n in differences.items() if difference < 0)
        return worse, sum(n for difference, n in differences.items() if difference > 0)

    def difference(self, run: int) -> float | None:
        """Return the mean difference of the cases' rates from the first run; None without common cases."""
        return mean(self.differences[run - 1])

    def interval(self, run: int) -> Interval | None:
        """Return the interval of that mean."""
        return mean_interval(self.differences[run - 1], -1.0, 1.0)

    def p(self, run: int) -> float:
        """Return the p-value of the exact sign test on worse and better cases."""
        return mcnemar_exact(*self.worse_and_better(run))

    def as_dict(self) -> dict[str, Any]:
        """Return the label in its JSON form."""
        return {
            "label": self.label,
            "runs": [run.as_dict() for run in self.runs],
            "differences": [self._difference(run) for run in range(1, len(self.runs))],
        }

    def _difference(self, run: int) -> dict[str, Any]:
        worse, better = self.worse_and_better(run)
        interval = self.interval(run)
        return {
            "cases": self.differences[run - 1].total(),
            "lost": self.lost[run - 1],
            "lost_repeats": self.lost_repeats[run - 1],
            "worse": worse,
            "better": better,
            "difference": self.difference(run),
            "difference_interval": list(interval) if interval else None,
            "p": self.p(run),
            "adjusted_p": self.adjusted_p[run - 1],
        }


class RepeatedCase(NamedTuple):
    """One case of one label in one run."""

    number: int  #: index of the run, because several may have the same name
    run: str
    label: str
    case: str
    judged: int
    passed: int
    unjudged: int  #: repeats that neither passed nor failed

    @property
    def outcome(self) -> str:
        """The outcome of its repeats: `pass`, `fail`, `flaky`, or `unjudged` if none passed or failed."""
        if not self.judged:
            return "unjudged"
        return "flaky" if 0 < self.passed < self.judged else "pass" if self.passed else "fail"


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(RepeatedCase)


def compare_repeats(
    runs: Sequence[Run], key: RepeatKey, on_case: Callable[[RepeatedCase], None] | None = None
) -> list[RepeatedLabel]:
    """Return the reliability of the cases in each run by label, and the differences from the first run.

    `on_case` is called with each case of each run, in the order of the first run's input and then of the others'.

    Memory grows with the number of labels and of distinct repeat counts, not with the results. Raises InvalidFilterError
    if no result of a run has a value of the metadata field, or the separator, that is the key.
    """
    labels: dict[str, RepeatedLabel] = {}
    with Partitions() as partitions, InputOrder() as cases:
        for number, run in enumerate(runs):
            results = without_key = 0
            for entry in run.entries(key.fields):
                results += 1
                without_key += not key.is_in(entry)
                partitions.add(number, key.of(entry), entry)
            if results and results == without_key:
                raise _without_field(run, key)
        for numbered in partitions.read():
            for place, label, case, repeats, unjudged, graded in _cases(numbered, key, len(runs)):
                name = label if label in labels or len(labels) < _LABELS_LIMIT else _OTHER_LABELS
                found = labels.get(name)
                if found is None:
                    found = labels[name] = _empty(name, len(runs))
                _count(found, case, repeats, unjudged)
                for number, conditions in enumerate(found.conditions, start=1):
                    for pair in graded.pairs(number):
                        conditions.count(pair)
                if on_case:
                    for in_run in _in_each_run(runs, label, case, repeats, unjudged):
                        cases.add(*place, _encoder.encode(in_run))
        if on_case:
            for in_run in map(_decoder.decode, cases.read()):
                on_case(in_run)
    ordered = [labels[name] for name in sorted(labels)]
    for number in range(1, len(runs)):
        p_values = benjamini_hochberg([each.p(number) for each in ordered])
        for each, p_value in zip(ordered, p_values, strict=True):
            each.adjusted_p.append(p_value)
    return ordered


def _in_each_run(
    runs: Sequence[Run], label: str, case: str, repeats: list[Repeats], unjudged: list[Unjudged]
) -> Iterator[RepeatedCase]:
    """Yield a case in each run that has it."""
    counts = zip(runs, repeats, unjudged, strict=True)
    for number, (run, (judged, passed), rest) in enumerate(counts):
        if judged + sum(rest):
            yield RepeatedCase(number, run.name, label, case, judged, passed, sum(rest))


def _without_field(run: Run, key: RepeatKey) -> InvalidFilterError:
    """Return the error for a field that no result has a value of, or a separator that none has; it names what the first results have."""
    if not key.path:
        custom_id = next((entry.custom_id or "" for entry in run.entries()), "")
        return InvalidFilterError(
            f"no custom_id of {run.name} has {key.separator!r}, which should precede the number of a repeat",
            f"name the separator of ids such as {shorten(custom_id, 80)!r}, as in custom_id:SEPARATOR; custom_id alone if"
            " repeats have one id; or metadata.FIELD",
        )
    return without_field(run, key.path, ", or custom_id:SEPARATOR")


def _empty(label: str, runs: int) -> RepeatedLabel:
    return RepeatedLabel(
        label,
        [Reliability() for _ in range(runs)],
        [Counter() for _ in range(runs - 1)],
        [0] * (runs - 1),
        [0] * (runs - 1),
        [Conditions() for _ in range(runs - 1)],
    )


def _cases(
    numbered: Iterable[tuple[int, Entry]], key: RepeatKey, runs: int
) -> Iterator[tuple[tuple[int, int], str, str, list[Repeats], list[Unjudged], GradedRepeats]]:
    """Yield the labels and cases of a partition, each with its place in the input of a run, and its repeats, judged or not, in each run."""
    found: dict[tuple[str, str], list[list[int]]] = {}
    places: dict[tuple[str, str], tuple[int, int]] = {}
    graded: defaultdict[tuple[str, str], GradedRepeats] = defaultdict(lambda: GradedRepeats(runs))
    for run, entry in numbered:
        name = (entry.label or "", key.of(entry))
        counts = found.setdefault(name, [[0, 0, 0, 0] for _ in range(runs)])
        place = (run, entry.line)
        if runs > 1:
            graded[name].add(run, entry)
        places[name] = min(places.get(name, place), place)
        passed = entry.outcome == Outcome.PASSED
        if passed or entry.outcome == Outcome.FAILED:
            counts[run][0] += 1
            counts[run][1] += passed
        else:
            counts[run][2 if entry.outcome == Outcome.UNGRADABLE else 3] += 1
    for name, counts in found.items():
        repeats = [(judged, passed) for judged, passed, *_ in counts]
        unjudged = [(ungradable, errored) for *_, ungradable, errored in counts]
        yield places[name], *name, repeats, unjudged, graded[name]


def _count(
    label: RepeatedLabel, case: str, repeats: list[Repeats], unjudged: list[Unjudged]
) -> None:
    for reliability, of_run, (ungradable, errored) in zip(
        label.runs, repeats, unjudged, strict=True
    ):
        reliability.count(case, of_run)
        reliability.ungradable += ungradable
        reliability.errored += errored
    judged, passed = repeats[0]
    for run, (then, passed_then) in enumerate(repeats[1:]):
        # A failing repeat that is not judged any more would look like a repair.
        label.lost[run] += then < judged
        label.lost_repeats[run] += max(0, judged - then)
        if judged and then:
            # Computed from integers, so that equal rates differ by exactly 0.
            difference = (passed_then * judged - passed * then) / (then * judged)
            label.differences[run][difference] += 1

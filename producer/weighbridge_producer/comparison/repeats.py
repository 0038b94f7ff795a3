"""Comparison of runs by cases that were run several times."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from weighbridge.errors import InvalidFilterError
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import shorten
from weighbridge_producer.comparison.input_order import InputOrder
from weighbridge_producer.comparison.pairing import without_field
from weighbridge_producer.comparison.partitions import Partitions
from weighbridge_producer.comparison.reliability import Reliability, RepeatedLabel, Repeats
from weighbridge_producer.comparison.repeat_key import RepeatKey
from weighbridge_producer.comparison.repeats_conditions import GradedRepeats
from weighbridge_producer.comparison.tallies import Conditions
from weighbridge_producer.statistics import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from weighbridge_producer.comparison.compared_results import Entry
    from weighbridge_producer.comparison.runs import Run

_LABELS_LIMIT = 1_000
_OTHER_LABELS = "(other labels)"

Unjudged = tuple[int, int]  #: how many repeats of a case were ungradable, and how many errored


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

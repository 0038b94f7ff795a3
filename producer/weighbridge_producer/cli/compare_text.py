"""Terminal output of a comparison: rates, groups, causes and examples, all limited in length."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from weighbridge.text import pluralize
from weighbridge_producer.cli.show import cell, err, out, shown, table
from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.comparison.regression_gates import p_value
from weighbridge_producer.comparison.rows import (
    GROUPS,
    cause_rows,
    difference_text,
    p_name,
    rate_text,
    steps_texts,
)
from weighbridge_producer.gating.gates import ERROR

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge_producer.comparison.compare import Comparison
    from weighbridge_producer.comparison.pairs import Pair
    from weighbridge_producer.comparison.rates import Rates

_LABELS_SHOWN = 50
_CAUSES_SHOWN = 10
_IDS_SHOWN = 5
_UNPAIRED_SHOWN = 3
_NAME_WIDTH = 24
_REASON_WIDTH = 66
_OF_A_LINE = re.compile(r":[0-9]+\Z")  #: the end of an id that stands for a line of a file
_OF_ONE_RUN = (Group.NEW, Group.GONE)
_OF_BOTH_RUNS = tuple(group for group, _ in GROUPS if group not in _OF_ONE_RUN)


def print_comparison(comparison: Comparison, examples: int) -> None:
    """Print the changes between two runs, with up to `examples` examples per group."""
    out.print(
        f"[bold]{cell(comparison.before.name, 60)} -> {cell(comparison.after.name, 60)}[/]:"
        f" {pluralize(comparison.pairs, 'result')} in both"
    )
    if not comparison.pairs:
        return
    _print_rates(comparison)
    groups = comparison.groups
    counts = ", ".join(f"{groups[group]:,} {group}" for group in Group)
    out.print(f"\n{counts}")
    _print_causes(comparison)
    for group in _OF_BOTH_RUNS:
        _print_examples(group, comparison.examples(group)[:examples], groups[group])
    for group in _OF_ONE_RUN:
        _print_ids(group, comparison.examples(group), groups[group])
    if comparison.notes:
        out.print()
    for note in comparison.notes:
        out.print(shown(note))


def print_unpaired(comparison: Comparison) -> None:
    """Print on standard error that two runs have no result in common, and the first results of each."""
    before, after = (shown(run.name) for run in (comparison.before, comparison.after))
    err.print(
        f"exit status {ERROR}: nothing was compared: no result of {after} has the custom_id and label of one of {before}"
    )
    for name, group in ((before, Group.GONE), (after, Group.NEW)):
        first = comparison.examples(group)[:_UNPAIRED_SHOWN]
        names = [f"{cell(pair.custom_id, 40, err)} ({_name(pair.label)})" for pair in first]
        if left := comparison.groups[group] - len(first):
            names.append(f"{left:,} more" if first else pluralize(left, "result"))
        err.print(f"  {name} has {', '.join(names) or 'no result with a custom_id'}")
    err.print(
        "  name runs of the same cases, graded under the same labels; --pair-by metadata.file pairs traces with ids of their own by file"
    )
    firsts = [*comparison.examples(Group.GONE)[:1], *comparison.examples(Group.NEW)[:1]]
    if firsts and all(_OF_A_LINE.search(pair.custom_id) for pair in firsts):
        err.print(
            "  ids such as FILE:1 stand for lines without an id of their own; if a field has one, map it: --map custom_id=FIELD,..."
        )


def _print_rates(comparison: Comparison) -> None:
    p = p_name(comparison)
    rates = table("label", "before", "after", "difference", p, right=[p])
    for label in comparison.labels[:_LABELS_SHOWN]:
        rates.add_row(_name(label.label), *_rates(label.rates, label.rates.adjusted_p))
        for piece in label.slices:
            name = f"  {piece.field.removeprefix('metadata.')}: {piece.value}"
            rates.add_row(cell(name, _NAME_WIDTH), *_rates(piece.rates, piece.rates.adjusted_p))
    out.print(rates)
    if more := len(comparison.labels) - _LABELS_SHOWN:
        out.print(f"... and {pluralize(more, 'more label')}" if more > 0 else "", end="")


def _rates(rates: Rates, p: float) -> Iterator[str]:
    if rates.before is None or rates.after is None or rates.difference is None:
        yield from ("no pair judged in both", "", "", "")
        return
    yield shown(rate_text(rates.before, rates.before_interval))
    yield shown(rate_text(rates.after, rates.after_interval))
    yield shown(difference_text(rates.difference, rates.interval))
    yield p_value(p)


def _print_causes(comparison: Comparison) -> None:
    found = cause_rows(comparison)
    if not found:
        return
    causes = table("changed", "jobs", "label", "before", "after", right=["jobs"])
    for group in _OF_BOTH_RUNS:
        of_group = [cause for cause in found if cause.group == group]
        for cause in of_group[:_CAUSES_SHOWN]:
            sides = (cell(side, 40) for side in (cause.before, cause.after))
            causes.add_row(str(group), f"{cause.jobs:,}", _name(cause.label), *sides)
        if rest := of_group[_CAUSES_SHOWN:]:
            jobs = sum(cause.jobs for cause in rest)
            causes.add_row(str(group), f"{jobs:,}", "", pluralize(len(rest), "other kind"), "")
    out.print()
    out.print(causes)


def _print_examples(group: Group, pairs: list[Pair], total: int) -> None:
    if not pairs:
        return
    out.print(f"\n[bold]{group}[/] ({total:,})")
    for pair in pairs:
        out.print(f"  {cell(pair.custom_id, 60)}  {cell(pair.label or '', _NAME_WIDTH)}")
        for name, entry in (("before", pair.before), ("after", pair.after)):
            if entry:
                why = entry.reason or entry.cause
                text = f"{entry.outcome}: {why}" if why else entry.outcome
                out.print(f"    {name:<7} {cell(text, _REASON_WIDTH)}")
        for steps in steps_texts(pair.check_changes()):
            out.print(f"    steps   {shown(steps)}")
    if more := total - len(pairs):
        out.print(f"  ... and {more:,} more; -o FILE.jsonl has all")


def _print_ids(group: Group, pairs: list[Pair], total: int) -> None:
    if not pairs:
        return
    results = Counter(pair.custom_id for pair in pairs)  # a case has one for each label
    shown_ids = list(results)[:_IDS_SHOWN]
    names = ", ".join(cell(custom_id, 40) for custom_id in shown_ids)
    left = total - sum(results[custom_id] for custom_id in shown_ids)
    more = f" and {pluralize(left, 'more result')}" if left else ""
    out.print(f"\n[bold]{group}[/] ({total:,}): {names}{more}")


def _name(label: str | None) -> str:
    return cell(label or "(bad lines)", _NAME_WIDTH)

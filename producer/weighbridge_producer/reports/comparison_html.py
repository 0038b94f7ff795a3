"""A self-contained HTML report of a comparison: rates, gates, notes, causes, and the first changed results."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.text import shorten
from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.comparison.rows import (
    CAUSES_SHOWN,
    GROUPS,
    ChangedRow,
    cause_rows,
    p_name,
    rate_rows,
    side_text,
    steps_texts,
)
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.reports.html import report_style
from weighbridge_producer.templating import environment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from weighbridge_producer.comparison.compare import Comparison
    from weighbridge_producer.gating.gates import GateResult

ROWS_LIMIT = 500  #: listed per group and comparison
COMPARISONS_LIMIT = 20  #: per file
_REASON_CHARACTERS = 400
_NAME_CHARACTERS = 120


def comparison_page(
    comparisons: Iterable[tuple[Comparison, list[GateResult]]], changes: Path
) -> Iterator[bytes]:
    """Yield the report; `changes` is a file with all changed results as JSON lines."""
    shown = list(islice(comparisons, COMPARISONS_LIMIT))
    listed = _listed(changes)
    html = (
        environment()
        .get_template("report/comparison.html")
        .render(
            title=" → ".join([shown[0][0].before.name, *(found.after.name for found, _ in shown)]),
            style=report_style(),
            comparisons=[_context(found, gates, listed) for found, gates in shown],
        )
    )
    yield html.encode(errors="replace")


_Listed = dict[tuple[str, str], list[ChangedRow]]  #: by run and group


def _listed(changes: Path) -> _Listed:
    """Return the first changed results of each group in each run, in input order."""
    found: _Listed = {}
    with changes.open("rb") as file:
        for line in file:
            change = orjson.loads(line)
            rows = found.setdefault((change["run"], change["change"]), [])
            if len(rows) < ROWS_LIMIT:
                rows.append(_row(change))
    return found


def _row(change: dict[str, Any]) -> ChangedRow:
    before, after = (_side(change[side]) for side in ("before", "after"))
    name = shorten(change["custom_id"], _NAME_CHARACTERS)
    steps = shorten("; ".join(steps_texts(change["checks"])), _REASON_CHARACTERS)
    return ChangedRow(name, change["label"] or "", None, before, after, steps)


def _side(side: dict[str, Any] | None) -> str:
    if side is None:
        return ""
    named = (side[name] or "" for name in ("outcome", "reason", "cause", "observed"))
    text = side_text(*named)
    return shorten(text, _REASON_CHARACTERS)


def _context(found: Comparison, gates: list[GateResult], listed: _Listed) -> dict[str, Any]:
    groups = found.groups
    return {
        "found": found,
        "gates": list(listed_gates(gates)),
        "rates": list(rate_rows(found)),
        "p_name": p_name(found),
        "causes": cause_rows(found)[:CAUSES_SHOWN],
        "unchanged": groups[Group.UNCHANGED],
        "groups": [
            (str(group), css_class, groups[group], listed.get((found.after.name, group), []))
            for group, css_class in GROUPS
            if groups[group]
        ],
    }

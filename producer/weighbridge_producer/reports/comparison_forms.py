"""Output forms of a comparison: all changes as JSON Lines, a table or OpenTelemetry events, JUnit, an HTML file, and a summary in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import OutputError
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import pluralize
from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.comparison.regression_gates import p_value
from weighbridge_producer.comparison.rows import (
    cause_rows,
    difference_text,
    p_name,
    rate_text,
    side_text,
    slice_name,
    steps_texts,
)
from weighbridge_producer.gating.fields import EACH_ENTRY
from weighbridge_producer.reports.comparison_html import comparison_page
from weighbridge_producer.reports.csv_tables import METADATA_COLUMNS, csv_table, tsv_table
from weighbridge_producer.reports.forms import Form, Output, output_of
from weighbridge_producer.reports.junit import Suite, document, failed_case, passed_case
from weighbridge_producer.reports.markdown import code, gates_table, table
from weighbridge_producer.reports.otel import event_lines
from weighbridge_producer.reports.parquet import parquet_table

if TYPE_CHECKING:
    from pathlib import Path

    from weighbridge_producer.comparison.compare import Comparison
    from weighbridge_producer.comparison.pairs import Pair
    from weighbridge_producer.comparison.rates import Rates
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.gates import GateResult

_SHOWN = 10  #: causes, and examples per group, in a summary
_LABELS_SHOWN = 50
_WORDS = {outcome.value: outcome.word for outcome in Outcome}
#: Groups for which a summary has examples, the worst first.
_EXEMPLIFIED = (Group.REGRESSED, Group.LOST, Group.ERRORED, Group.REPAIRED)
_JUDGED = (Outcome.PASSED, Outcome.FAILED)
_REST = "metadata"
_FIELD = f"{_REST}."


@dataclass(frozen=True, slots=True)
class ComparisonData:
    """The data from which the outputs are generated."""

    comparisons: list[tuple[Comparison, list[GateResult]]]
    changes: Path  #: a file of all changed results, written by `change_line`


def change_line(run: Run, pair: Pair) -> bytes:
    """Return a changed result and the run in which it changed as a JSON line."""
    metadata = {
        name.removeprefix(_FIELD): text
        for name, text in pair.fields.items()
        if not name.endswith(f".{EACH_ENTRY}")  # read for `by`
    }
    change = {"run": run.name, **pair.as_dict(), "metadata": metadata}
    return orjson.dumps(change, option=orjson.OPT_APPEND_NEWLINE)


def comparison_output(text: str) -> Output:
    """Parse an output as `run -o` does; raises OutputError for a form that comparisons do not support."""
    output = output_of(text)
    output.form.check_can_be_written()
    if output.form.name not in _FORMS:
        raise OutputError(
            f"a comparison is not written as {output.form.name} to {output.target!r}",
            f"forms: {', '.join(_FORMS)}; the endings are those of `weighbridge run -o`",
        )
    return output


def comparison_blocks(written: ComparisonData, output: Output) -> Iterator[bytes]:
    """Yield a comparison in the form of an output."""
    return output.packed(blocks_of(written, output.form))


def blocks_of(written: ComparisonData, form: Form) -> Iterator[bytes]:
    """Yield a comparison in one of the supported forms."""
    return _FORMS[form.name](written)


def _lines(written: ComparisonData) -> Iterator[bytes]:
    with written.changes.open("rb") as file:
        while block := file.read(256 * 1024):
            yield block


def _junit(written: ComparisonData) -> Iterator[bytes]:
    """Yield a test case for each result that regressed, was repaired or is judged no longer, and for each gate."""
    regressed = sum(found.groups[Group.REGRESSED] for found, _ in written.comparisons)
    repaired = sum(found.groups[Group.REPAIRED] for found, _ in written.comparisons)
    lost = sum(found.lost_verdicts for found, _ in written.comparisons)
    tests = regressed + repaired + lost
    counts = {"tests": tests, "failures": regressed, "errors": lost, "skipped": 0}
    gates = [gate for _, checked in written.comparisons for gate in checked]
    yield from document([Suite("comparison", counts, _test_cases(written))], gates)


def _test_cases(written: ComparisonData) -> Iterator[str]:
    for change in _read(written):
        if change["change"] == Group.REPAIRED:
            yield passed_case(change["label"] or "", change["custom_id"])
        elif change["change"] == Group.REGRESSED:
            yield _regressed_case(change)
        elif _is_lost(change):
            yield _lost_case(change)


def _regressed_case(change: dict[str, Any]) -> str:
    after = change["after"]
    checks = "\n".join(
        check["check"] + (f": steps {', '.join(steps)}" if (steps := check["steps_after"]) else "")
        for check in change["checks"]
    )
    return failed_case(
        change["label"] or "", change["custom_id"], after["reason"], after["cause"], checks
    )


def _is_lost(change: dict[str, Any]) -> bool:
    """Return whether the first run judged a result, and the second did not."""
    before, after = change["before"], change["after"]
    was_judged = before is not None and before["outcome"] in _JUDGED
    return was_judged and (after is None or after["outcome"] not in _JUDGED)


def _lost_case(change: dict[str, Any]) -> str:
    before, after = change["before"], change["after"] or {}
    is_now = f"{after['outcome']}: {after['reason']}" if after else "gone"
    reason = f"{before['outcome']} before, {is_now}"
    cause = after.get("cause") or after.get("outcome") or "gone"
    return failed_case(change["label"] or "", change["custom_id"], reason, cause, reason, "error")


def _markdown(written: ComparisonData) -> Iterator[bytes]:
    for found, checked in written.comparisons:
        parts = [
            _head(found, checked),
            _rates(found),
            f"### Gates\n\n{gates_table(checked)}" if checked else "",
            _causes(found),
            *(_examples(found, group) for group in _EXEMPLIFIED),
            "\n".join(f"- {code(note)}" for note in found.notes),
        ]
        yield ("\n\n".join(filter(None, parts)) + "\n").encode()


def _head(found: Comparison, checked: list[GateResult]) -> str:
    summary = pluralize(found.pairs, "result") + " in both"
    for group in Group:
        if jobs := found.groups[group]:
            summary += f", {jobs:,} {group}"
    if checked:
        unmet = sum(not gate.met for gate in checked)
        summary += f"; {pluralize(unmet, 'gate')} not met" if unmet else "; all gates met"
    return f"## Weighbridge: {code(found.before.name)} → {code(found.after.name)}\n\n{summary}"


def _rates(found: Comparison) -> str:
    names = ("grader", "before", "after", "difference", p_name(found))
    rows = [
        row
        for label in found.labels[:_LABELS_SHOWN]
        for row in (
            _rate(code(label.label or "(invalid lines)"), label.rates),
            *(
                _rate(f"· {code(slice_name(piece, label.slices))}", piece.rates)
                for piece in label.slices
            ),
        )
    ]
    text = table(names, rows, right=names[1:])
    more = len(found.labels) - _LABELS_SHOWN
    text += f"\n\n... and {pluralize(more, 'more label')}" if more > 0 else ""
    adjusted = ", adjusted for the number of labels, or of slices" if names[-1] != "p" else ""
    return f"{text}\n\nDifferences in percentage points; p: McNemar's exact test{adjusted}."


def _rate(name: str, rates: Rates) -> list[str]:
    if rates.before is None or rates.after is None or rates.difference is None:
        return [name, "", "", "no pair judged in both", ""]
    difference = difference_text(rates.difference, rates.interval)
    return [
        name,
        rate_text(rates.before, rates.before_interval),
        rate_text(rates.after, rates.after_interval),
        f"**{difference}**" if rates.adjusted_p <= 0.05 else difference,
        p_value(rates.adjusted_p),
    ]


def _causes(found: Comparison) -> str:
    causes = cause_rows(found)
    if not causes:
        return ""
    rows = [
        [f"{cause.jobs:,}", cause.group, *map(code, (cause.label, cause.before, cause.after))]
        for cause in causes[:_SHOWN]
    ]
    text = table(("jobs", "change", "grader", "before", "after"), rows, right=("jobs",))
    if rest := causes[_SHOWN:]:
        text += f"\n\n{pluralize(len(rest), 'other kind')} of change"
    return f"### What changed\n\n{text}"


def _examples(found: Comparison, group: Group) -> str:
    pairs = found.examples(group)[:_SHOWN]
    if not pairs:
        return ""
    names = ["case", "grader", "before", "after", "steps"]
    rows = [
        [
            code(pair.custom_id),
            code(pair.label or ""),
            *(
                code(side_text(entry.outcome, entry.reason, entry.cause, entry.observed))
                if entry
                else ""
                for entry in (pair.before, pair.after)
            ),
            code("; ".join(steps_texts(pair.check_changes()))),
        ]
        for pair in pairs
    ]
    if not any(row[-1] for row in rows):
        names, rows = names[:-1], [row[:-1] for row in rows]
    jobs = found.groups[group]
    head = f"### {str(group).capitalize()}: {jobs:,}"
    first = f"\n\nThe first {len(pairs)}." if jobs > len(pairs) else ""
    return f"{head}\n\n{table(names, rows)}{first}"


#: Columns of a table of changes, with their types in Parquet.
_COLUMNS = {
    **dict.fromkeys(("run", "custom_id", "label", "change", "condition"), "string"),
    **{
        f"{side}.{name}": "int64" if name == "line" else "string"
        for side in ("before", "after")
        for name in ("line", "outcome", "cause", "reason", "expected", "observed")
    },
    "checks": "string",
}


def _read(written: ComparisonData) -> Iterator[dict[str, Any]]:
    with written.changes.open("rb") as file:
        yield from map(orjson.loads, file)


def _columns(written: ComparisonData) -> dict[str, str]:
    """Return the columns of a table of changes, with their types in Parquet: metadata beyond the limit is JSON in one."""
    fields = dict.fromkeys(_FIELD + name for each in _read(written) for name in each["metadata"])
    rest = {_REST: "string"} if len(fields) > METADATA_COLUMNS else {}
    return _COLUMNS | dict.fromkeys(list(fields)[:METADATA_COLUMNS], "string") | rest


def _changes(written: ComparisonData, columns: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the cells of each result that changed."""
    for change in _read(written):
        cells: dict[str, Any] = dict.fromkeys(columns)
        metadata = change.pop(_REST)
        for name in list(metadata):
            if _FIELD + name in columns:
                cells[_FIELD + name] = metadata.pop(name)
        if metadata:
            cells[_REST] = orjson.dumps(metadata).decode()
        cells |= {name: change[name] for name in _COLUMNS if name in change}
        for side in ("before", "after"):
            for name, value in (change[side] or {}).items():
                cells[f"{side}.{name}"] = value
        cells["checks"] = ", ".join(each["check"] for each in change["checks"])
        yield cells


def _rows(written: ComparisonData) -> Iterator[list[Any]]:
    columns = _columns(written)
    yield list(columns)
    for cells in _changes(written, columns):
        yield list(cells.values())


def _parquet(written: ComparisonData) -> Iterator[bytes]:
    columns = _columns(written)
    return parquet_table(columns, _changes(written, columns))


def _events(written: ComparisonData) -> Iterator[bytes]:
    """Yield an OpenTelemetry event for each result that changed: its evaluation now, and what it was before."""
    for run in dict.fromkeys(found.after.name for found, _ in written.comparisons):
        changes = (change for change in _read(written) if change["run"] == run)
        yield from event_lines(run, map(_event, changes))


def _event(change: dict[str, Any]) -> dict[str, Any]:
    after = change["after"] or {}
    checks = [each["check"] for each in change["checks"]]
    return {
        "gen_ai.evaluation.name": change["label"] or "weighbridge",
        "gen_ai.evaluation.score.label": _WORDS.get(after.get("outcome", "")),
        "gen_ai.evaluation.explanation": after.get("reason") or None,
        "weighbridge.custom_id": change["custom_id"],
        "weighbridge.change": change["change"],
        "weighbridge.condition": change["condition"] or None,
        "weighbridge.checks": ", ".join(checks) or None,
        **{
            f"weighbridge.{side}.{name}": value
            for side in ("before", "after")
            for name, value in (change[side] or {}).items()
            if value not in ("", None)
        },
    }


_FORMS: dict[str, Callable[[ComparisonData], Iterator[bytes]]] = {
    "jsonl": _lines,
    "csv": lambda written: csv_table(_rows(written)),
    "tsv": lambda written: tsv_table(_rows(written)),
    "parquet": _parquet,
    "md": _markdown,
    "html": lambda written: comparison_page(written.comparisons, written.changes),
    "junit": _junit,
    "otel": _events,
}

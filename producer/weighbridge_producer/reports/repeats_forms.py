"""Output forms of repeats: every case as JSON Lines, a table, JUnit or OpenTelemetry events, an HTML file, and a summary in Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.text import pluralize
from weighbridge_producer.comparison.notes import notes_of_repeats
from weighbridge_producer.comparison.repeats import RepeatedCase
from weighbridge_producer.comparison.repeats_rows import (
    RATE_COLUMNS,
    difference_columns,
    difference_rows,
    flaky_rows,
    label_name,
    rate_rows,
)
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.reports.csv_tables import csv_table, tsv_table
from weighbridge_producer.reports.html import report_style
from weighbridge_producer.reports.junit import COUNTED_AS, Suite, document, failed_case, passed_case
from weighbridge_producer.reports.markdown import code, gates_table, table
from weighbridge_producer.reports.otel import event_lines
from weighbridge_producer.reports.parquet import parquet_table
from weighbridge_producer.templating import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from weighbridge_producer.comparison.reliability import RepeatedLabel
    from weighbridge_producer.comparison.runs import Run
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.forms import Output

_LABELS_SHOWN = 50
_RATES = tuple(map(str.lower, RATE_COLUMNS))


@dataclass(frozen=True, slots=True)
class RepeatsData:
    """The data from which the outputs are generated."""

    runs: Sequence[Run]
    labels: Sequence[RepeatedLabel]
    gates: Sequence[GateResult]
    cases: Path  #: a file of all cases, written by `case_line`

    @property
    def title(self) -> str:
        """The names of the runs."""
        return " → ".join(run.name for run in self.runs)

    def read(self) -> Iterator[RepeatedCase]:
        """Yield all cases."""
        with self.cases.open("rb") as file:
            for line in file:
                yield RepeatedCase(*orjson.loads(line))


def case_line(case: RepeatedCase) -> bytes:
    """Return a case as a line of the file that the outputs are generated from."""
    return orjson.dumps([*case], option=orjson.OPT_APPEND_NEWLINE)


def repeats_blocks(written: RepeatsData, output: Output) -> Iterator[bytes]:
    """Yield repeats in the form of an output, which is one that comparisons have."""
    return output.packed(_FORMS[output.form.name](written))


#: Columns of a table of cases, with their types in Parquet.
_COLUMNS = {
    **dict.fromkeys(("run", "label", "case", "outcome"), "string"),
    **dict.fromkeys(("judged", "passed", "unjudged"), "int64"),
}


def _cells(case: RepeatedCase) -> dict[str, Any]:
    fields = case._asdict() | {"outcome": case.outcome}
    return {name: fields[name] for name in _COLUMNS}


def _lines(written: RepeatsData) -> Iterator[bytes]:
    for case in written.read():
        yield orjson.dumps(_cells(case), option=orjson.OPT_APPEND_NEWLINE)


def _rows(written: RepeatsData) -> Iterator[list[Any]]:
    yield list(_COLUMNS)
    for case in written.read():
        yield list(_cells(case).values())


def _markdown(written: RepeatsData) -> Iterator[bytes]:
    parts = [f"## Weighbridge: {code(written.title)}"]
    if written.gates:
        parts.append(f"### Gates\n\n{gates_table(written.gates)}")
    differences_of = tuple(map(str.lower, difference_columns(len(written.labels))))
    for label in written.labels[:_LABELS_SHOWN]:
        parts.append(f"### {code(label_name(label))}")
        rates = ([code(row.run), *row[1:]] for row in rate_rows(written.runs, label))
        parts.append(table(_RATES, rates, right=_RATES[1:]))
        if differences := list(difference_rows(written.runs, label)):
            rows = ([code(row.run), *row[1:]] for row in differences)
            parts.append(table(differences_of, rows, right=differences_of[1:]))
        if flaky := list(flaky_rows(written.runs, label)):
            named = ([code(row.run), code(row.case), row.passed] for row in flaky)
            parts.append(table(("run", "flaky case", "passed"), named, right=("passed",)))
    if (more := len(written.labels) - _LABELS_SHOWN) > 0:
        parts.append(f"... and {pluralize(more, 'more label')}")
    if notes := notes_of_repeats(written.labels, written.runs):
        parts.append("\n".join(f"- {code(note)}" for note in notes))
    yield ("\n\n".join(parts) + "\n").encode()


def _html(written: RepeatsData) -> Iterator[bytes]:
    html = (
        environment()
        .get_template("report/repeats.html")
        .render(
            title=written.title,
            style=report_style(),
            gates=list(listed_gates(written.gates)),
            notes=notes_of_repeats(written.labels, written.runs),
            rate_columns=RATE_COLUMNS,
            difference_columns=difference_columns(len(written.labels)),
            labels=[
                {
                    "name": label_name(label),
                    "rates": list(rate_rows(written.runs, label)),
                    "differences": list(difference_rows(written.runs, label)),
                    "flaky": list(flaky_rows(written.runs, label)),
                    "flaky_in_all": sum(run.flaky for run in label.runs),
                }
                for label in written.labels[:_LABELS_SHOWN]
            ],
            more_labels=max(0, len(written.labels) - _LABELS_SHOWN),
        )
    )
    yield html.encode(errors="replace")


_KINDS = {"fail": "failure", "flaky": "failure", "unjudged": "skipped"}  #: elements of JUnit


def _junit(written: RepeatsData) -> Iterator[bytes]:
    """Yield a suite for each run, with a test case for each case: it fails unless all its repeats passed."""
    counts = [{"tests": 0, "failures": 0, "errors": 0, "skipped": 0} for _ in written.runs]
    for case in written.read():
        counts[case.number]["tests"] += 1
        if kind := _KINDS.get(case.outcome):
            counts[case.number][COUNTED_AS[kind]] += 1
    suites = [
        Suite(f"repeats of {run.name}", of_run, map(_test_case, _cases_of(written, number)))
        for number, (run, of_run) in enumerate(zip(written.runs, counts, strict=True))
    ]
    yield from document(suites, written.gates)


def _cases_of(written: RepeatsData, number: int) -> Iterator[RepeatedCase]:
    """Yield the cases of one run."""
    return (case for case in written.read() if case.number == number)


def _test_case(case: RepeatedCase) -> str:
    if case.outcome not in _KINDS:
        return passed_case(case.label, case.case)
    reason = f"{case.passed} of {case.judged} repeats passed in {case.run}"
    if case.unjudged:
        reason += f", {case.unjudged} were not judged"
    return failed_case(case.label, case.case, reason, case.outcome, reason, _KINDS[case.outcome])


def _events(written: RepeatsData) -> Iterator[bytes]:
    """Yield an OpenTelemetry event for each case of each run."""
    for number, run in enumerate(written.runs):
        yield from event_lines(run.name, map(_event, _cases_of(written, number)))


def _event(case: RepeatedCase) -> dict[str, Any]:
    return {
        "gen_ai.evaluation.name": case.label or "weighbridge",
        "gen_ai.evaluation.score.value": case.passed / case.judged if case.judged else None,
        "gen_ai.evaluation.score.label": case.outcome,
        "weighbridge.case": case.case,
        "weighbridge.repeats.judged": case.judged,
        "weighbridge.repeats.passed": case.passed,
        "weighbridge.repeats.unjudged": case.unjudged,
    }


_FORMS: dict[str, Callable[[RepeatsData], Iterator[bytes]]] = {
    "jsonl": _lines,
    "csv": lambda written: csv_table(_rows(written)),
    "tsv": lambda written: tsv_table(_rows(written)),
    "parquet": lambda written: parquet_table(_COLUMNS, map(_cells, written.read())),
    "md": _markdown,
    "html": _html,
    "junit": _junit,
    "otel": _events,
}

"""The report at the end of a `run`, for people and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import pluralize, printable
from weighbridge_producer.cli.reading_notes import print_left_out
from weighbridge_producer.cli.show import err, out, shown
from weighbridge_producer.cli.slices_text import print_slices
from weighbridge_producer.cli.summary_tables import print_summary
from weighbridge_producer.reports.forms import goes_to_stdout

if TYPE_CHECKING:
    from weighbridge_producer.input.lost_rows import LostRows
    from weighbridge_producer.input.source import Source
    from weighbridge_producer.run.first_errors import FirstErrors
    from weighbridge_producer.run.run_report import RunReport

_ERROR_WIDTH = 800


def print_report(
    report: RunReport, outputs: tuple[str, ...], source: Source, lost: LostRows
) -> None:
    """Print the summary of a run, its errors, the rows of its source that are `lost`, and where its results are."""
    console = err if any(map(goes_to_stdout, outputs)) else out
    counts = report.state.counts
    if report.byte_order_mark:
        console.print("BYTE_ORDER_MARK: line 1 starts with a byte-order mark, which was ignored")
    # A note on the source says how to save such values as words that the grader knows.
    names_words = not source.notes.wants_integers
    print_summary(
        *(report.summary, counts, console, report.examples),
        names_words=names_words,
        weak=report.weak_passes,
        recorded=report.recorded_verdicts,
    )
    print_slices(report.slices, console)
    if report.errored.messages:
        console.print()
    for text in report.errored.messages:
        console.print("\n".join(shown(line, _ERROR_WIDTH) for line in text.splitlines()))
    if counts.errored > report.errored.jobs:
        console.print(_all_errored(report.errored, counts.errored))
    print_left_out(report.state.duplicates, lost, source, console)
    if not counts.total:
        of = f"the sample of {source.sample} of " if source.sample else ""
        console.print(
            f"[red]NO_CASES[/]: {of}{shown(report.source)} has no cases; nothing was written"
        )
    resumed = ", resumed" if report.resumed else ""
    rate = counts.total / report.seconds if report.seconds else 0
    # How many jobs were done before is not known, so that a resumed run has no rate.
    taken = f"in {report.seconds:.1f} s ({rate:,.0f}/s)"
    if report.resumed:
        taken = f"in all, the last of them in {report.seconds:.1f} s,"
    console.print(f"\n{pluralize(counts.total, 'job')} {taken} on {shown(report.server)}{resumed}")
    if counts.total:
        console.print(f"results: {shown(', '.join(outputs))}")


def _all_errored(first: FirstErrors, errored: int) -> str:
    """Return how many jobs errored and, if it is known and another number, on how many lines."""
    jobs = f"... the output lists all {pluralize(errored, 'errored job')}"
    is_known = first.looked_at == errored != first.lines
    return f"{jobs}, on {pluralize(first.lines, 'line')}" if is_known else jobs


def report_as_dict(
    report: RunReport, outputs: tuple[str, ...], lost: LostRows
) -> dict[str, object]:
    """Return the report in its JSON form."""
    return {
        "batch": report.state.as_dict(),
        "graders": [row.as_dict() for row in report.summary],
        "slices": [row.as_dict() for row in report.slices.slices()],
        "examples": [
            {"label": label, "cause": cause, "example": example}
            for (label, cause), example in report.examples.items()
        ],
        **report.weak_passes.as_dict(),
        "recorded_verdicts": report.recorded_verdicts.as_dict(),
        "lost_rows": lost.as_dict(),
        "seconds": report.seconds,
        "server": report.server,
        "resumed": report.resumed,
        "outputs": [printable(output) for output in outputs],
    }

"""JUnit XML for CI systems: a test case for each job, with evidence for those that did not pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import shorten
from weighbridge_producer.reports.overview import survey
from weighbridge_producer.reports.row_names import file_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.overview import Survey
    from weighbridge_producer.reports.report import Report

COUNTED_AS = {"failure": "failures", "error": "errors", "skipped": "skipped"}  #: counts by element
_MESSAGE_CHARACTERS = 1_000
_BODY_CHARACTERS = 20_000
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Suite(NamedTuple):
    """A suite of test cases."""

    name: str
    counts: dict[str, int]  #: `tests`, `failures`, `errors` and `skipped`
    cases: Iterable[str]  #: elements


def blocks(report: Report) -> Iterator[bytes]:
    """Yield the document: a suite of all jobs, and a suite of the gates if there are any."""
    kinds = _kinds(report)
    cases = (_case(row, kinds[row.outcome]) for row in report.rows())
    suite = Suite("weighbridge", _counts(survey(report), kinds), cases)
    yield from document([suite], report.gates)


def document(suites: Sequence[Suite], gates: Sequence[GateResult]) -> Iterator[bytes]:
    """Yield a document of suites, and of a suite of the gates if there are any."""
    if gates:
        suites = [*suites, _gates_suite(gates)]
    # Jenkins' schema does not allow a count of skipped tests here.
    total = {
        name: sum(suite.counts[name] for suite in suites)
        for name in ("tests", "failures", "errors")
    }
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {_attributes(total)}>\n'.encode()
    for suite in suites:
        name = quoteattr(_xml_text(suite.name))
        yield f"<testsuite name={name} {_attributes(suite.counts)}>\n".encode()
        for case in suite.cases:
            yield case.encode()
        yield b"</testsuite>\n"
    yield b"</testsuites>\n"


def _gates_suite(gates: Sequence[GateResult]) -> Suite:
    unmet = sum(not gate.met for gate in gates)
    counts = {"tests": len(gates), "failures": unmet, "errors": 0, "skipped": 0}
    return Suite("gates", counts, map(_gate_case, gates))


def _kinds(report: Report) -> dict[Outcome, str]:
    """Return the element for each outcome; empty: none."""
    kinds = {outcome: outcome.junit for outcome in Outcome}
    if report.ungradable_is_error:
        kinds[Outcome.UNGRADABLE] = Outcome.ERRORED.junit
    return kinds


def _counts(found: Survey, kinds: dict[Outcome, str]) -> dict[str, int]:
    counts = {"tests": found.total, "failures": 0, "errors": 0, "skipped": 0}
    for outcome, jobs in found.counts.items():
        if kind := kinds[outcome]:
            counts[COUNTED_AS[kind]] += jobs
    return counts


def _attributes(counts: dict[str, int]) -> str:
    return " ".join(f'{name}="{count}"' for name, count in counts.items())


def _case(row: ResultRow, kind: str) -> str:
    label, name = row.label or "weighbridge", row.custom_id or f"line {row.line}"
    if not kind:
        return passed_case(label, name)
    cause = row.cause or row.outcome.word
    return failed_case(
        label, name, row.reason(), cause, "\n".join([*_file(row), *_reasons(row)]), kind
    )


def passed_case(label: str, name: str) -> str:
    """Return a test case that passed."""
    return f"{_head(label, name)}/>\n"


def failed_case(
    label: str, name: str, reason: str, cause: str, body: str, kind: str = "failure"
) -> str:
    """Return a test case that failed or had another outcome, with the element `kind`."""
    message = quoteattr(shorten_reason(_xml_text(reason), _MESSAGE_CHARACTERS))
    text = escape(shorten(_xml_text(body), _BODY_CHARACTERS))
    attributes_text = f"message={message} type={quoteattr(_xml_text(cause))}"
    return f"{_head(label, name)}><{kind} {attributes_text}>{text}</{kind}></testcase>\n"


def _head(label: str, name: str) -> str:
    return f"<testcase classname={quoteattr(_xml_text(label))} name={quoteattr(_xml_text(name))}"


def _reasons(row: ResultRow) -> list[str]:
    """Return the reasons why a job did not pass, each with its steps."""
    return [
        f"{check['check']}: {check['description']}"
        + (f" (steps: {', '.join(check['step_ids'])})" if check["step_ids"] else "")
        for check in row.failed_checks
    ] or [row.reason()]


def _file(row: ResultRow) -> list[str]:
    """Return a line that names the file of a case, for which Jenkins' schema has no attribute, if its id does not."""
    file = file_of(row)
    return [f"file: {file}"] if file else []


def _gate_case(gate: GateResult) -> str:
    head = f'<testcase classname="gates" name={quoteattr(_xml_text(f"{gate.gate} {gate.scope}".strip()))}'
    if gate.met:
        return head + "/>\n"
    return f'{head}><failure message={quoteattr(_xml_text(gate.line))} type="gate"/></testcase>\n'


def _xml_text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)

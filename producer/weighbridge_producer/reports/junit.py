"""JUnit XML for CI systems: a test case for each job, with evidence for those that did not pass."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from weighbridge.text import shorten
from weighbridge_producer.reports.overview import survey

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.gating.gates import GateResult
    from weighbridge_producer.reports.overview import Survey
    from weighbridge_producer.reports.report import Report

_COUNTED_AS = {"failure": "failures", "error": "errors", "skipped": "skipped"}
_MESSAGE_CHARACTERS = 1_000
_BODY_CHARACTERS = 20_000
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def blocks(report: Report) -> Iterator[bytes]:
    """Yield the document: a suite of all jobs, and a suite of the gates if there are any."""
    found = survey(report)
    failed_gates = sum(not gate.met for gate in report.gates)
    counts = _counts(found)
    # Jenkins' schema does not allow a count of skipped tests here.
    total = {name: counts[name] for name in ("tests", "failures", "errors")}
    total["tests"] += len(report.gates)
    total["failures"] += failed_gates
    yield f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {attributes(total)}>\n'.encode()
    yield f'<testsuite name="weighbridge" {attributes(counts)}>\n'.encode()
    for row in report.rows():
        yield _case(row).encode()
    yield b"</testsuite>\n"
    if report.gates:
        gates = {"tests": len(report.gates), "failures": failed_gates, "errors": 0, "skipped": 0}
        yield f'<testsuite name="gates" {attributes(gates)}>\n'.encode()
        yield "".join(map(gate_case, report.gates)).encode()
        yield b"</testsuite>\n"
    yield b"</testsuites>\n"


def _counts(found: Survey) -> dict[str, int]:
    counts = {"tests": found.total, "failures": 0, "errors": 0, "skipped": 0}
    for outcome, jobs in found.counts.items():
        if outcome.junit:
            counts[_COUNTED_AS[outcome.junit]] += jobs
    return counts


def attributes(counts: dict[str, int]) -> str:
    """Return counts as XML attributes of a suite."""
    return " ".join(f'{name}="{count}"' for name, count in counts.items())


def _case(row: ResultRow) -> str:
    label, name, kind = (
        row.label or "weighbridge",
        row.custom_id or f"line {row.line}",
        row.outcome.junit,
    )
    if not kind:
        return passed_case(label, name)
    cause = row.cause or row.outcome.word
    return failed_case(label, name, row.reason(), cause, "\n".join(_reasons(row)), kind)


def passed_case(label: str, name: str) -> str:
    """Return a test case that passed."""
    return f"{_head(label, name)}/>\n"


def failed_case(
    label: str, name: str, reason: str, cause: str, body: str, kind: str = "failure"
) -> str:
    """Return a test case that failed or had another outcome, with the element `kind`."""
    message = quoteattr(shorten(_xml_text(reason), _MESSAGE_CHARACTERS))
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


def gate_case(gate: GateResult) -> str:
    """Return a test case for a gate."""
    head = f'<testcase classname="gates" name={quoteattr(_xml_text(f"{gate.gate} {gate.scope}".strip()))}'
    if gate.met:
        return head + "/>\n"
    return f'{head}><failure message={quoteattr(_xml_text(gate.line))} type="gate"/></testcase>\n'


def _xml_text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)

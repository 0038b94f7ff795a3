"""A self-contained HTML report: rates, gates, causes, all results, and the first failures with evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from markupsafe import Markup

from weighbridge.graders.difference_reason import shorten_reason
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import encodable, revealed, shorten
from weighbridge_producer.gating.listed_gates import listed_gates
from weighbridge_producer.reports.overview import OTHER, survey
from weighbridge_producer.templating import environment, static_text
from weighbridge_producer.trace_view.case_view import StepSelection, view_case
from weighbridge_producer.trace_view.charts import hue_of, loop_strip
from weighbridge_producer.trace_view.evidence import shown_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.reports.overview import Survey
    from weighbridge_producer.reports.report import Report
    from weighbridge_producer.trace_view.timeline import Timeline

ROWS_LIMIT = 100_000  #: rows in the table; if there are more, passes are omitted first
NAMES_LIMIT = 1_000  #: distinct labels, and distinct causes, in the table
EVIDENCE_LIMIT = 500  #: results with evidence
EVIDENCE_BYTES = 5 * 1024 * 1024  #: of all evidence together
ROWS_BYTES = 12 * 1024 * 1024  #: size of the table
_TIMELINE_BYTES = 512 * 1024  #: of one timeline; larger ones are omitted
_CASE_BYTES = 256 * 1024  #: of one case with a timeline
_CASES_BYTES = 64 * 1024 * 1024  #: of all these cases, in memory
_CAUSES_SHOWN = 50
_LABELS_SHOWN = 100
_NAME_CHARACTERS = 120
_REASON_CHARACTERS = 160
_RANKS = {outcome.word: outcome.rank for outcome in Outcome}


class _Exemplar(NamedTuple):
    name: str
    href: str | None
    reason: str


class _Cause(NamedTuple):
    label: str
    reason: str
    jobs: int
    of: int
    href: str
    exemplars: tuple[_Exemplar, ...]

    @property
    def percent(self) -> float:
        return 100 * self.jobs / self.of if self.of else 0.0


@dataclass(slots=True)
class _Numbers:
    """Numbers for names, used in the rows; names beyond the limit share one number."""

    names: dict[str, int] = field(default_factory=dict)

    def of(self, name: str) -> int:
        if name not in self.names and len(self.names) >= NAMES_LIMIT:
            name = OTHER
        return self.names.setdefault(name, len(self.names))


@dataclass(slots=True)
class _Names:
    labels: _Numbers = field(default_factory=_Numbers)
    outcomes: _Numbers = field(default_factory=_Numbers)
    causes: _Numbers = field(default_factory=lambda: _Numbers({"": 0}))


def blocks(report: Report) -> Iterator[bytes]:
    """Yield the report."""
    found, names, templates = survey(report), _Names(), environment()
    yield _bytes(_head(templates, report, found, names))
    shown = 0
    for section in _sections(templates, report):
        shown += 1
        yield _bytes(section)
    yield from _data(report, found, names, shown)
    hidden = found.total - found.counts[Outcome.PASSED] - shown
    tail = templates.get_template("report/tail.html")
    script = Markup(static_text("report.js"))  # noqa: S704 - our own file
    yield _bytes(tail.render(shown=shown, hidden=hidden, script=script))


def report_style() -> Markup:
    """Return the style sheet of self-contained files."""
    names = ("style.css", "batch.css", "report.css")
    return Markup("".join(map(static_text, names)))  # noqa: S704 - our own files


def _bytes(html: str) -> bytes:
    return html.encode(errors="replace")


def _head(templates: Environment, report: Report, found: Survey, names: _Names) -> str:
    labels = found.labels()
    return templates.get_template("report/head.html").render(
        title=report.name,
        style=report_style(),
        total=found.total,
        labels=labels[:_LABELS_SHOWN],
        more_labels=max(0, len(labels) - _LABELS_SHOWN),
        slices=[
            (field, list(slices))
            for field, slices in groupby(report.slices, key=attrgetter("field"))
        ],
        gates=list(listed_gates(report.gates)),
        causes=_causes(found, names),
    )


def _causes(found: Survey, names: _Names) -> dict[str, Any]:
    jobs = {row.label: row.finished for row in found.labels()}
    causes = found.causes()
    others = found.counts[Outcome.UNGRADABLE] + found.counts[Outcome.ERRORED]
    shown = [
        _Cause(
            each.label,
            each.cause,
            each.jobs,
            jobs.get(each.label, 0) if each.label else found.total,
            f"#cause={names.labels.of(each.label)}-{names.causes.of(each.cause)}",
            (_Exemplar(shorten(each.example, _NAME_CHARACTERS), None, each.reason),),
        )
        for each in causes[:_CAUSES_SHOWN]
    ]
    return {
        "shown": shown,
        "total": len(causes),
        "jobs": sum(each.jobs for each in causes),
        "noun": "job that did not pass" if others else "failure",
    }


def _sections(templates: Environment, report: Report) -> Iterator[str]:
    """Yield the first results that did not pass, with their evidence, up to the size limits."""
    cases = _cases_of(report)
    template = templates.get_template("report/result.html")
    left = EVIDENCE_BYTES
    for number, row in enumerate(_not_passed(report), start=1):
        timeline = _timeline(cases.get(row.line), row)
        section = template.render(_context(number, row, timeline))
        if timeline and len(section) > min(_TIMELINE_BYTES, left):
            section = template.render(_context(number, row, None))
        left -= len(section)
        if left < 0:
            return
        yield section


def _not_passed(report: Report) -> Iterator[ResultRow]:
    rows = (row for row in report.rows() if row.outcome is not Outcome.PASSED)
    return islice(rows, EVIDENCE_LIMIT)


def _cases_of(report: Report) -> dict[int, bytes]:
    """Return by line the cases of these results that have traces and are not too large."""
    if report.cases_of is None:
        return {}
    wanted = {
        row.line: row.custom_id
        for row in _not_passed(report)
        if row.custom_id is not None and row.line and any(e["step_ids"] for e in row.evidence)
    }
    cases: dict[int, bytes] = {}
    left = _CASES_BYTES
    for number, case in report.cases_of(wanted) if wanted else ():
        if len(case) <= min(_CASE_BYTES, left):
            cases[number] = case
            left -= len(case)
    return cases


def _timeline(case: bytes | None, row: ResultRow) -> Timeline | None:
    if case is None:
        return None
    spec = GraderSpec(row.grader or "", None, row.label or "")
    return view_case(case, (spec,), row.label, row.result, StepSelection()).timeline


def _context(number: int, row: ResultRow, timeline: Timeline | None) -> dict[str, Any]:
    prefix = f"r{number}-"

    def step_href(step: int) -> str:
        return f"#{prefix}step-{step}"

    return {
        "anchor": f"r-{number}",
        "id_prefix": prefix,
        "name": shorten(row.custom_id or f"line {row.line}", _NAME_CHARACTERS),
        "label": row.label or "",
        "outcome_word": row.outcome.word,
        "reason": shorten_reason(revealed(row.reason()), 2 * _REASON_CHARACTERS),
        "error": row.error,
        "evidence": shown_evidence(row.result, timeline.numbers if timeline else {}, step_href),
        "timeline": timeline,
        "step_href": step_href,
        "loop_strip": loop_strip,
        "hue_of": hue_of,
        "metadata": row.metadata,
    }


def _data(report: Report, found: Survey, names: _Names, shown: int) -> Iterator[bytes]:
    """Yield the rows of the table as JSON in the page."""
    failures = min(ROWS_LIMIT, found.total - found.counts[Outcome.PASSED])
    passes = ROWS_LIMIT - failures
    left, written, number = ROWS_BYTES, 0, 0
    yield b'<script type="application/json" id="data">{"rows":['
    for row in report.rows():
        is_pass = row.outcome is Outcome.PASSED
        number += not is_pass
        room = passes if is_pass else failures
        if not room:
            continue
        line = _row(row, names, number if not is_pass and number <= shown else 0)
        left -= len(line) + 1
        if left < 0:
            break
        passes, failures = passes - is_pass, failures - (not is_pass)
        yield (b"," if written else b"") + line
        written += 1
    named = {name: list(getattr(names, name).names) for name in ("labels", "outcomes", "causes")}
    ranks = [_RANKS[word] for word in names.outcomes.names]
    rest = _json(named | {"ranks": ranks, "missing": found.total - written})
    yield b"]," + rest[1:] + b"</script>\n"


def _row(row: ResultRow, names: _Names, detail: int) -> bytes:
    score = row.score
    return _json(
        [
            shorten(encodable(row.custom_id or f"line {row.line}"), _NAME_CHARACTERS),
            names.labels.of(row.label or ""),
            names.outcomes.of(row.outcome.word),
            round(score, 4) if isinstance(score, float) else score,
            names.causes.of(row.cause if row.outcome is not Outcome.PASSED else ""),
            shorten_reason(revealed(row.reason()), _REASON_CHARACTERS),
            detail,
        ]
    )


def _json(value: Any) -> bytes:
    """Return JSON that is safe inside a script element."""
    return orjson.dumps(value).replace(b"<", b"\\u003c")

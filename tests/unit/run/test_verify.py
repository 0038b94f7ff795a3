"""Verifying: whatever is done to a file of results, what grading again does not give is not proven."""

from __future__ import annotations

import random
from itertools import chain
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.errors import Fault
from weighbridge.graders import TrueFalseGrader
from weighbridge.grading.line_grader import WHOLE_LINE, LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Chunk, unknown_version
from weighbridge.jobs.error_codes import RETRYABLE, ErrorCode
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.outcome import Outcome
from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.run.verify import verify
from weighbridge_producer.submit.chunk_draft import ChunkDraft
from weighbridge_producer.submit.digests import Digester

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from weighbridge.jobs.chunk import Line
    from weighbridge_producer.run.verification import Verification

    Check = Callable[..., Verification]

GRADERS = (GraderSpec("true-false"),)
CLOSED = (Outcome.CANCELLED, Outcome.EXPIRED)
AT_WORK = sorted(RETRYABLE - {ErrorCode.CANCELLED, ErrorCode.EXPIRED})

VERSION = TrueFalseGrader.version


def case(custom_id: str, response: str = "yes", **fields: Any) -> bytes:
    inputs = {"agent_response": response, "expected_output": "true"}
    return orjson.dumps({"custom_id": custom_id, "inputs": inputs} | fields)


TWO_GRADERS = [{"grader": "true-false", "label": "one"}, {"grader": "string-match", "label": "two"}]
PLAIN = [case("a"), case("b", "no")]
EVERYTHING = [
    case("a", metadata={"run": 1.5, "of": ["ü", None]}),
    b"",
    case("b", "no"),
    case("a", metadata={"run": 1.5, "of": ["ü", None]}),
    case("a", "no"),
    case("b", "no") + b" \r",
    case("a", "no"),
    b"{",
    b'{"custom_id": "bad"}',
    b'{"custom_id": "bad"}',
    case("bad"),
    case("c", graders=TWO_GRADERS),
    case("c", graders=TWO_GRADERS[:1]),
    case("d", grader="none-such"),
    b"[" * 300,
    b"\xff",
    case("e", graders=TWO_GRADERS),
]


def lines_of(path: Path) -> Iterator[Line]:
    """Yield the lines of a file that become jobs, as submitted by the producer."""
    draft = ChunkDraft(Digester("batch-1"))
    draft.take(Source(path, Settings()))
    draft.number_lines(1)
    return draft.chunk.jobs()


class Batch:
    """Cases, the results that are true of them, and the check of any others."""

    def __init__(self, folder: Path, cases: list[bytes]) -> None:
        self._cases, self._results = folder / "cases.jsonl", folder / "results.jsonl"
        self._cases.write_bytes(b"\n".join(cases) + b"\n")
        self._grader = LineGrader(GRADERS)
        self.lines = list(lines_of(self._cases))
        self.rows = list(chain.from_iterable(map(self.graded, self.lines)))

    def graded(self, line: Line, quarantined: Mapping[int, Fault] | None = None) -> list[bytes]:
        return self._grader.grade(line, Tally(), quarantined=quarantined).splitlines(keepends=True)

    def closed(self, line: Line, closed_as: Outcome) -> list[bytes]:
        return self._grader.close(line, Tally(), closed_as).splitlines(keepends=True)

    def check(
        self,
        *rows: bytes,
        allow_unproven: bool = False,
        graders: tuple[GraderSpec, ...] = GRADERS,
    ) -> Verification:
        self._results.write_bytes(b"".join(rows))
        source = Source(self._cases, Settings())
        return verify(self._results, source, graders, allow_unproven=allow_unproven)


@pytest.fixture
def plain(tmp_path: Path) -> Batch:
    """`a` passes and `b` fails."""
    return Batch(tmp_path, PLAIN)


@pytest.fixture
def everything(tmp_path: Path) -> Batch:
    """Repeats, conflicts, bad lines, several graders."""
    return Batch(tmp_path, EVERYTHING)


def counts(outcome: Verification) -> dict[str, int]:
    kinds = ("proven", "changed", "unproven", "missing", "surplus")
    return {kind: value for kind in kinds if (value := getattr(outcome, kind))}


def changed(row: bytes, **fields: Any) -> bytes:
    return orjson.dumps(orjson.loads(row) | fields, option=orjson.OPT_APPEND_NEWLINE)


def error(code: str) -> dict[str, Any]:
    return {"code": code, "message": "m", "hint": ""}


def timed_out(row: bytes, **fields: Any) -> bytes:
    nothing = {"status": "errored", "result": None, "error": error("TIMEOUT"), "receipt": None}
    return changed(row, **nothing | fields)


# Correct results.


@pytest.mark.parametrize("seed", range(5))
def test_true_results_of_anything_are_proven_in_any_order(everything: Batch, seed: int) -> None:
    codes = [(orjson.loads(row)["error"] or {}).get("code") for row in everything.rows]
    assert codes.count("ID_CONFLICT") == 4
    random.Random(seed).shuffle(everything.rows)
    outcome = everything.check(*everything.rows)
    assert (counts(outcome), outcome.problems) == ({"proven": len(everything.rows)}, [])
    assert outcome.ok


def test_results_of_repeats_and_blank_lines_are_surplus(everything: Batch) -> None:
    repeat, blank = (changed(everything.rows[0], line=line) for line in (4, 2))
    outcome = everything.check(*everything.rows, repeat, blank)
    assert counts(outcome) == {"proven": len(everything.rows), "surplus": 2}


def test_every_result_left_out_is_missing(everything: Batch) -> None:
    for place in range(len(everything.rows)):
        outcome = everything.check(*everything.rows[:place], *everything.rows[place + 1 :])
        assert counts(outcome) == {"proven": len(everything.rows) - 1, "missing": 1}
    assert counts(everything.check()) == {"missing": len(everything.rows)}


def test_every_result_given_twice_is_surplus(everything: Batch) -> None:
    outcome = everything.check(*everything.rows, *everything.rows)
    assert counts(outcome) == {"proven": len(everything.rows), "surplus": len(everything.rows)}


# What happened then.


@pytest.mark.parametrize("closed_as", CLOSED)
def test_what_was_cancelled_or_expired_is_unproven(everything: Batch, closed_as: Outcome) -> None:
    rows = [row for line in everything.lines for row in everything.closed(line, closed_as)]
    outcome = everything.check(*rows)
    assert (counts(outcome), outcome.ok) == ({"unproven": len(rows)}, False)
    assert everything.check(*rows, allow_unproven=True).ok


@pytest.mark.parametrize("code", AT_WORK)
def test_a_job_that_was_given_up_is_unproven(everything: Batch, code: str) -> None:
    given_up = {0: Fault(code, "what \u2028 happened", "")}
    for line in everything.lines:
        rows, others = everything.graded(line, given_up), everything.graded(line)[1:]
        rest = [row for row in everything.rows if orjson.loads(row)["line"] != line.number]
        rows = [rows[0], *others, *rest]
        is_bad_line = orjson.loads(rows[0])["label"] is None
        outcome = everything.check(*rows)
        assert outcome.unproven == (0 if is_bad_line else 1)
        assert outcome.proven == len(rows) - outcome.unproven
        assert everything.check(*rows, allow_unproven=True).ok


@pytest.mark.parametrize("code", AT_WORK)
def test_a_line_that_was_given_up_has_one_result_for_all_its_jobs(
    everything: Batch, code: str
) -> None:
    given_up = {WHOLE_LINE: Fault(code, "it", "did")}
    rows = [row for line in everything.lines for row in everything.graded(line, given_up)]
    assert counts(everything.check(*rows)) == {"unproven": len(everything.lines)}
    *_, last = rows
    outcome = everything.check(*everything.rows, last, allow_unproven=True)
    assert counts(outcome) == {"proven": len(everything.rows), "surplus": 1}


def test_a_chunk_of_an_unknown_schema_is_unproven(plain: Batch) -> None:
    chunk = Chunk(1, line_count=2, faults=dict.fromkeys(range(2), unknown_version(2)))
    rows = [row for line in chunk.jobs() for row in plain.graded(line)]
    assert counts(plain.check(*rows)) == {"unproven": 2}


@pytest.mark.parametrize("version", [None, VERSION])
def test_a_timeout_is_unproven_with_and_without_the_version(
    plain: Batch, version: int | None
) -> None:
    a, b = plain.rows
    digest = orjson.loads(b)["config_digest"] if version else None
    outcome = plain.check(a, timed_out(b, grader_version=version, config_digest=digest))
    assert (counts(outcome), outcome.ok) == ({"proven": 1, "unproven": 1}, False)


# Modified results.


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"error": error("TIMEOUT")},
        {"error": {"code": "TIMEOUT"}},
        {"status": "cancelled"},
        {"status": "cancelled", "error": error("CANCELLED")},
        {"status": "errored", "error": error("TIMEOUT")},
        {"error": error("ID_CONFLICT")},
        {"error": {"code": "ID_CONFLICT"}},
    ],
)
def test_a_failure_forged_into_a_pass_is_never_let_through(
    plain: Batch, fields: dict[str, Any]
) -> None:
    a, b = plain.rows
    forged = changed(a, custom_id="b", line=2, **fields)
    for rows in ((a, forged), (forged, a), (a, b, forged), (a, forged, b), (a, b, *[forged] * 9)):
        outcome = plain.check(*rows, allow_unproven=True)
        assert not outcome.ok
        assert outcome.changed + outcome.surplus == rows.count(forged)
        assert outcome.proven == len(rows) - rows.count(forged)
        assert outcome.unproven == 0
        assert outcome.problems


@pytest.mark.parametrize(
    "fields",
    [
        {"custom_id": "a"},
        {"grader": "string-match"},
        {"grader_version": VERSION + 1},
        {"config_digest": "0" * 16},
        {"status": "graded"},
        {"status": "cancelled"},
        {"status": "unheard of"},
        {"result": {}},
        {"error": error("CANCELLED")},
        {"error": error("MISSING_FIELD")},
        {"error": error("ID_CONFLICT")},
        {"error": error("TIMEOUT") | {"more": 1}},
        {"error": None},
        {"metadata": {}},
        {"receipt": ""},
        {"more": 1},
    ],
)
def test_what_no_worker_writes_is_changed_not_unproven(
    plain: Batch, fields: dict[str, Any]
) -> None:
    a, b = plain.rows
    outcome = plain.check(a, timed_out(b, **fields), allow_unproven=True)
    assert (counts(outcome), outcome.ok) == ({"proven": 1, "changed": 1}, False)


def test_an_unproven_row_in_other_bytes_is_changed(plain: Batch) -> None:
    a, b = plain.rows
    for row in (timed_out(b).replace(b":", b": ", 1), timed_out(b).replace(b"\n", b"\r\n")):
        assert counts(plain.check(a, row)) == {"proven": 1, "changed": 1}


OTHER_VALUES: dict[str, list[Any]] = {
    "custom_id": ["other", None],
    "grader": ["other", None],
    "grader_version": [VERSION + 1, None],
    "config_digest": ["0" * 16, None],
    "status": ["graded", "errored", "cancelled", "other"],
    "result": [{"verdict": "pass"}, {}, None],
    "error": [error("INVALID_JSON"), error("CANCELLED"), error("ID_CONFLICT"), None],
    "metadata": [{"run": 2}, {}, None],
    "receipt": ["0" * 64, "", None],
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHER_VALUES)
def test_a_row_with_any_field_altered_is_changed(everything: Batch, name: str) -> None:
    for place, row in enumerate(everything.rows):
        rest = everything.rows[:place] + everything.rows[place + 1 :]
        for value in OTHER_VALUES[name]:
            if orjson.loads(row)[name] == value:
                continue
            outcome = everything.check(changed(row, **{name: value}), *rest, allow_unproven=True)
            assert counts(outcome) == {"proven": len(rest), "changed": 1}
            assert not outcome.ok


@pytest.mark.parametrize(("name", "value"), [("line", 99), ("line", 2), ("label", "other")])
def test_a_row_of_another_job_is_surplus_and_its_own_missing(
    everything: Batch, name: str, value: object
) -> None:
    for place, row in enumerate(everything.rows):
        rest = everything.rows[:place] + everything.rows[place + 1 :]
        outcome = everything.check(changed(row, **{name: value}), *rest)
        assert counts(outcome) == {"proven": len(rest), "missing": 1, "surplus": 1}
        assert len(outcome.problems) == 2


NO_RESULTS = {
    "an object": b"{}",
    "a label alone": b'{"line":2,"label":[]}',
    "a conflict alone": b'{"line":2,"error":{"code":"ID_CONFLICT"}}',
    "a code of a wrong type": b'{"line":2,"label":"true-false","error":{"code":[]}}',
    "a status of a wrong type": b'{"line":2,"label":"true-false","status":{}}',
    "no UTF-8": b"\xff",
    "no UTF-8 in a value": b'{"line":2,"label":"\xff"}',
    "no UTF-8 in a name": b'{"line":2,"\xff":1}',
    "half a surrogate pair": b'{"line":2,"label":"\\ud800"}',
    "an infinite line": b'{"line":1e999}',
    "an infinite value": b'{"line":2,"label":"true-false","error":1e999}',
    "a long line number": b'{"line":%d}' % 10**30,
    "a longer one": b'{"line":' + b"9" * 5000 + b"}",
    "a negative one": b'{"line":-1}',
    "a line of nought": b'{"line":0}',
    "deep nesting": b"[" * 200_000,
    "deep nesting in a value": b'{"line":2,"label":' + b"[" * 200_000,
    "nested objects": b'{"line":2,"error":' + b'{"a":' * 200_000,
    "nothing": b"",
    "half a row": b'{"line":2,"label":"true',
}


@pytest.mark.parametrize("kind", NO_RESULTS)
def test_what_is_no_result_is_surplus_with_a_problem(plain: Batch, kind: str) -> None:
    a, b = plain.rows
    junk = NO_RESULTS[kind] + b"\n"
    outcome = plain.check(junk, a, junk, b, allow_unproven=True)
    assert counts(outcome) == {"proven": 2, "surplus": 2}
    assert len(outcome.problems) == 2
    assert not outcome.ok
    outcome = plain.check(a, junk, allow_unproven=True)
    assert counts(outcome) == {"proven": 1, "missing": 1, "surplus": 1}


@pytest.mark.parametrize("name", ["custom_id", "label", "grader", "status", "result", "metadata"])
def test_a_row_with_a_value_of_a_wrong_type_is_no_result(plain: Batch, name: str) -> None:
    a, b = plain.rows
    outcome = plain.check(a, changed(b, **{name: [1]}))
    assert counts(outcome) == {"proven": 1, "missing": 1, "surplus": 1}


# Messages.


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ({"result": {"verdict": "pass"}}, "the verdict is pass, and grading again gives fail"),
        (
            {"grader_version": 9},
            f"graded by version 9 of the grader, and version {VERSION} is installed here",
        ),
        ({"config_digest": "0" * 16}, "graded with another configuration of the grader: 0000000000000000, not "),
        ({"receipt": "x", "metadata": {}}, "changed; differs in: metadata, receipt"),
        ({"more": 1}, "changed; differs in: more"),
        ({"result": {"verdict": [[]]}}, "changed; differs in: result"),
        ({"result": None, "status": "errored", "error": error("NO_GRADER")}, "changed; differs in: status"),
    ],
)  # fmt: skip
def test_a_changed_row_is_told_with_what_differs(
    plain: Batch, fields: dict[str, Any], what: str
) -> None:
    a, b = plain.rows
    outcome = plain.check(a, changed(b, **fields))
    [problem] = outcome.problems
    assert problem.startswith(f"line 2, label 'true-false': {what}")
    assert [advice[:10] for advice in outcome.advice()] == ["Check that"]


def test_the_same_values_in_other_bytes_are_told_apart(plain: Batch) -> None:
    a, b = plain.rows
    [problem] = plain.check(a, b.replace(b":", b": ", 1)).problems
    assert problem.endswith("changed; the values are equal, but the bytes differ")


def test_what_cannot_be_proven_is_told_with_its_code(plain: Batch) -> None:
    a, b = plain.rows
    outcome = plain.check(a, timed_out(b))
    assert outcome.problems == [
        "line 2, label 'true-false': error TIMEOUT cannot be reproduced by grading again"
    ]
    assert [advice[:13] for advice in outcome.advice()] == ["Grading again"]
    accepted = plain.check(a, timed_out(b), allow_unproven=True)
    assert (accepted.problems, accepted.advice()) == ([], [])


def test_results_of_none_of_the_graders_that_are_named_are_told_once_for_all_lines(
    tmp_path: Path,
) -> None:
    batch = Batch(tmp_path, [b"{", *(case(str(number)) for number in range(50))])
    bad, *rows = batch.rows
    others = [changed(row, label=label) for row in rows for label in ("a", "b")]
    outcome = batch.check(bad, *others)
    assert counts(outcome) == {"proven": 1, "missing": 50, "surplus": 100}
    of = "a=true-false, b=true-false, and none is of true-false, which this command names"
    named = "give the --grader, --config and --graders of the run"
    assert outcome.problems == [f"the results are of {of}: {named}"]
    assert (outcome.ok, outcome.more_problems, outcome.advice()) == (False, 0, [])
    # A line without any result is named, with advice.
    lacking = batch.check(bad, *others[2:])
    assert lacking.problems[1:] == ["line 2, label 'true-false': no result"]
    assert [advice[:10] for advice in lacking.advice()] == ["Check that"]
    # Each missing result counts where a label of the command has others.
    assert len(batch.check(bad, rows[0], *others[2:]).problems) == 21


def test_results_of_graders_that_are_not_named_are_told_once_with_these(plain: Batch) -> None:
    short = [changed(row, label="short") for row in plain.rows]
    named = "give the --grader, --config and --graders of the run"
    none = plain.check(*plain.rows, *short, graders=())
    assert counts(none) == {"missing": 2, "surplus": 4}
    of = "true-false, short=true-false"
    assert none.problems == [f"no grader is named, and the results are of {of}: {named}"]
    assert (none.ok, none.advice()) == (False, [])
    some = plain.check(*plain.rows, *short)
    assert counts(some) == {"proven": 2, "surplus": 2}
    of = "short=true-false, which this command does not name"
    assert some.problems == [f"the results are also of {of}: {named}"]
    assert some.advice() == []


def test_results_of_graders_that_are_not_named_excuse_no_others(plain: Batch) -> None:
    a, b = plain.rows
    outcome = plain.check(changed(a, label="short"), changed(b, receipt="x"))
    assert counts(outcome) == {"changed": 1, "missing": 1, "surplus": 1}
    assert outcome.problems[0].startswith("the results are also of short=true-false")
    assert [line[:6] for line in outcome.problems[1:]] == ["line 1", "line 2"]
    assert [advice[:17] for advice in outcome.advice()] == ["No result belongs"]


@pytest.mark.parametrize("bad", [b"{", case("a", graders=TWO_GRADERS), b""])
def test_results_of_lines_that_take_no_graders_of_the_command_are_told_one_by_one(
    tmp_path: Path, bad: bytes
) -> None:
    batch = Batch(tmp_path, [bad, case("z")])
    added = changed(batch.rows[-1], line=1, label="other")
    for graders in ((), GRADERS):
        outcome = batch.check(*batch.rows, added, graders=graders)
        assert "line 1, label 'other': there is no such job" in outcome.problems


def test_only_the_first_graders_that_are_not_named_are_told(plain: Batch) -> None:
    rows = [changed(plain.rows[0], label=f"{n}\x1b" * 99) for n in range(40)]
    [problem, *_] = plain.check(*rows, graders=()).problems
    assert len(problem) < 2_000
    assert " and more: give the" in problem


def test_problems_beyond_the_first_are_counted(tmp_path: Path) -> None:
    batch = Batch(tmp_path, [case(str(number)) for number in range(50)])
    outcome = batch.check(*batch.rows[:10])
    assert (len(outcome.problems), outcome.more_problems) == (20, 20)


def test_a_conflict_is_accepted_once_where_it_is_and_nowhere_else(tmp_path: Path) -> None:
    batch = Batch(tmp_path, [case("a"), case("a", "no"), case("b")])
    a, conflict, b = batch.rows
    assert counts(batch.check(a, conflict, b)) == {"proven": 3}
    assert counts(batch.check(a, conflict, conflict, b)) == {"proven": 3, "surplus": 1}
    outcome = batch.check(a, conflict, changed(conflict, custom_id="b", line=3))
    assert counts(outcome) == {"proven": 2, "missing": 1, "surplus": 1}
    graded = changed(a, line=2)
    assert counts(batch.check(a, graded, b)) == {"proven": 2, "missing": 1, "surplus": 1}
    reworded = changed(conflict, error=error("ID_CONFLICT"))
    assert counts(batch.check(a, reworded, b)) == {"proven": 2, "changed": 1}

"""Result lines like those of a worker, made without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.grading.line_grader import LineGrader
from weighbridge.grading.tally import Tally
from weighbridge.jobs.chunk import Line
from weighbridge.jobs.grader_spec import GraderSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from weighbridge.jobs.chunk import Origin

STRING_MATCH = (GraderSpec("string-match"),)


def case(custom_id: str, answer: Any = "Lisbon", expected: Any = "Lisbon", **fields: Any) -> bytes:
    inputs = {"agent_response": answer, "expected_output": expected}
    return orjson.dumps({"custom_id": custom_id, "inputs": inputs} | fields)


def graded(
    cases: Iterable[bytes],
    graders: Sequence[GraderSpec] = STRING_MATCH,
    origins: Sequence[Origin] = (),
) -> list[bytes]:
    """Return the result lines of cases, in order."""
    grader = LineGrader(tuple(graders))
    lines = (Line(at, at + 1, case, None, origins) for at, case in enumerate(cases))
    return [row for line in lines for row in grader.grade(line, Tally()).splitlines(keepends=True)]

"""The base of graders of traces: reads the trace, and reports the data that it lacks."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from weighbridge.errors import TraceError
from weighbridge.graders.base import (
    Evidence,
    Grader,
    GraderResult,
    Verdict,
    graded,
)
from weighbridge.graders.values import EXCERPT_CHARACTERS
from weighbridge.text import encodable
from weighbridge.traces import Trace, read_trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces import Capability

STEP_IDS_LIMIT = 50  #: per evidence entry; its description has the total number
ENTRIES_LIMIT = 50  #: evidence entries per result
#: Causes of verdicts for which the trace lacks data. The reason is in the description, because it may have numbers or be a plug-in's.
KNOWN_IN_PART = "known in part"
NOT_RECORDED = "not recorded"
_MEANING: dict[Capability, str] = {
    "llm_calls": "model calls",
    "tool_calls": "tool calls",
    "token_usage": "token counts",
    "timing": "times",
    "cost": "costs",
    "tool_definitions": "the definitions of its tools",
}


class TraceGrader(Grader):
    """A grader that judges the trace of an agent's run."""

    def grade(self, trace: object) -> GraderResult:
        """Judge a trace, given as a `Trace` or as JSON in any known format, without side effects; never raises."""
        try:
            read = trace if type(trace) is Trace else read_trace(trace)
        except TraceError as error:
            return graded(Verdict.UNGRADABLE, self.blank_details(), [_unreadable(error)])
        return self.judge(read)

    @abstractmethod
    def judge(self, trace: Trace) -> GraderResult:
        """Judge a parsed trace."""

    @abstractmethod
    def blank_details(self) -> dict[str, object]:
        """Return the details of a result without measurements: all fields, with the thresholds."""

    def lacking(self, trace: Trace, *needed: Capability) -> list[Evidence]:
        """Return evidence of the capabilities that the trace's source lacks, with the importer's reasons."""
        return [_lack(trace, each) for each in needed if each in trace.missing]

    @classmethod
    def inputs_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the input."""
        return {
            "type": "object",
            "properties": {
                "trace": {
                    "description": "The trace, in any format that `weighbridge trace formats` lists.",
                    "type": ["object", "array", "string"],
                },
            },
            "required": ["trace"],
            "additionalProperties": False,
        }


def _lack(trace: Trace, capability: Capability) -> Evidence:
    has_some = _has_some(trace, capability)
    return {
        "check": f"has_{capability}",
        "description": lack_of(trace, capability, in_part=has_some),
        "passed": False,
        "cause": KNOWN_IN_PART if has_some else NOT_RECORDED,
        "observed": None,
        "step_ids": [],
    }


def lack_of(trace: Trace, capability: Capability, *, in_part: bool = False) -> str:
    """Return what a trace's source lacks, all of it or a part, with the importer's reason."""
    lacks = "lacks some" if in_part else "does not record"
    return f"the trace {lacks} {_MEANING[capability]}: {trace.missing[capability]}"


def _has_some(trace: Trace, capability: Capability) -> bool:
    kind = {"llm_calls": "llm", "tool_calls": "tool"}.get(capability)
    return any(step.type == kind for step in trace.steps)


def first_ids(step_ids: Sequence[str]) -> list[str]:
    """Return the first step ids, up to the limit of an evidence entry."""
    return list(step_ids[:STEP_IDS_LIMIT])


def bounded(evidence: list[Evidence], what: str) -> list[Evidence]:
    """Return the first evidence entries, failures before passes; if some are omitted, the last has their total."""
    if len(evidence) <= ENTRIES_LIMIT:
        return evidence
    ordered = sorted(evidence, key=lambda entry: entry["passed"])
    failed = sum(not entry["passed"] for entry in evidence)
    rest: Evidence = {
        "check": "more",
        "description": f"{len(evidence):,} {what} in all, {failed:,} of them failed; "
        f"the first {ENTRIES_LIMIT - 1} are shown, failures before passes",
        "passed": failed < ENTRIES_LIMIT,
        "observed": len(evidence),
        "step_ids": [],
    }
    return [*ordered[: ENTRIES_LIMIT - 1], rest]


def excerpt_of(text: str) -> str:
    """Return the beginning of a text as an excerpt for evidence."""
    return encodable(text[:EXCERPT_CHARACTERS])


def _unreadable(error: TraceError) -> Evidence:
    return {
        "check": "trace_is_readable",
        "description": encodable(f"{error.message} ({error.hint})")[:500],
        "passed": False,
        "observed": error.code,
        "step_ids": [],
    }

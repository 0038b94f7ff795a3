"""Tools with a limit that no trace of a run calls or offers, because their names are probably misspelt."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.jobs.result_line import ResultRow
from weighbridge_producer.tool_limits import BUDGET, ToolLimit

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge_producer.input.source import Source

_LOOKED_AT = 10_000  #: traces that may offer a tool


def uncalled_tools(results: Path, graders: Iterable[GraderSpec]) -> list[ToolLimit]:
    """Return the limits of the graders' configurations on tools that no result has a call of."""
    configs = [(spec.label, spec.config) for spec in graders if spec.grader == BUDGET]
    if not configs:
        return []
    # Imported here, because it loads the grader, which other runs do not need.
    from weighbridge.graders.budget.limit_table import PER_TOOL

    limits = [
        (label, ToolLimit(tool))
        for label, config in configs
        for tool in (config or {}).get(PER_TOOL) or {}
    ]
    if not limits:
        return []
    measured: set[str] = set()  #: labels
    with results.open("rb") as rows:
        for raw in rows:
            if not limits:
                break
            row = ResultRow.from_bytes(raw)
            details = row.result["details"] if row.result and row.grader == BUDGET else {}
            if row.label and details.get("tool_calls_by_tool") is not None:
                measured.add(row.label)
                for label, limit in limits:
                    if label == row.label:
                        limit.add(details)
                limits = [each for each in limits if not each[1].may_be_called]
    return [limit for label, limit in limits if label in measured]


def not_offered(limits: Iterable[ToolLimit], source: Source) -> list[ToolLimit]:
    """Return the limits on tools whose names are nowhere in the traces; none if these cannot be read again."""
    missing = list(limits) if source.rereadable else []
    if missing:
        names = {limit.tool: _as_word(limit.tool) for limit in missing}
        for line in islice(source, _LOOKED_AT):
            missing = [limit for limit in missing if not names[limit.tool].search(line.raw)]
            if not missing:
                break
    return missing


def _as_word(tool: str) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w-])" + re.escape(tool.encode()) + rb"(?![\w-])")

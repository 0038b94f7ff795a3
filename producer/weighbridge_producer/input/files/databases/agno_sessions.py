"""Agno's sessions in SQLite: a team's or a workflow's has the runs of members and steps, which have sessions of their own too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.formats.agno_members import MEMBERS, ContainedRuns
from weighbridge_producer.input.files.databases.row_readers import RowReader, without_bytes

if TYPE_CHECKING:
    from weighbridge_producer.input.files.databases.sqlite_rows import Row

#: Columns of tables with the sessions of teams and workflows.
_TEAM_COLUMNS = frozenset({"team_id", "workflow_id"})
#: Columns by which rows are recognised, and those with runs.
_COLUMNS = frozenset(
    {
        *("run_id", "run_type", "run_data", "session_id", "session_type", "session_data"),
        *("runs", "memory"),
    }
)


class AgnoReader(RowReader):
    """Reader that leaves out the runs of members and steps; their sessions may stand before those that contain them."""

    def __init__(self) -> None:
        self._contained = ContainedRuns()

    def looked_at(self, columns: frozenset[str]) -> frozenset[str]:
        """Return the columns with runs, of a table that may have sessions of teams or workflows."""
        return frozenset() if _TEAM_COLUMNS.isdisjoint(columns) else _COLUMNS & columns

    def look_ahead(self, row: Row) -> None:
        """Add the runs that the runs in a row contain."""
        row = without_bytes(row)
        texts = [cell for cell in row.values() if type(cell) is str]
        if any(name in text for text in texts for name in MEMBERS):
            self._contained.add_row(row)

    def leaves_out(self, trace: Any) -> bool:
        """Return whether another run contains this one."""
        return type(trace) is dict and trace in self._contained

"""Executions of n8n and Flowise in SQLite, of which many are of workflows without a model: these are left out."""

from __future__ import annotations

from typing import Any

from weighbridge.errors import TraceError
from weighbridge.traces.formats import flowise, n8n
from weighbridge_producer.input.files.databases.row_readers import RowReader


class N8nReader(RowReader):
    """Reader of executions of n8n."""

    lacking = "run of a model or tool"

    def tells_nothing(self, value: Any) -> bool:
        """Return whether no model and no tool ran in an execution."""
        try:
            return not n8n.has_runs(value)
        except TraceError:
            return False  # it is read for its error


class FlowiseReader(RowReader):
    """Reader of sessions of Flowise."""

    lacking = "chat, and no run of a model or tool"

    def tells_nothing(self, value: Any) -> bool:
        """Return whether a session has neither a chat nor an execution in which a model or a tool ran."""
        return not flowise.has_runs(value)

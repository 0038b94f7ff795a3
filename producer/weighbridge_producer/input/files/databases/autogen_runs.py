"""The runs of AutoGen Studio in SQLite: the result in the row of a run has all its messages again, which is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from weighbridge.traces.fields import object_of
from weighbridge.traces.formats.autogen_studio import RESULT
from weighbridge.traces.stored_rows import json_cell
from weighbridge_producer.input.files.databases.row_readers import RowReader

if TYPE_CHECKING:
    from weighbridge_producer.input.files.databases.sqlite_rows import Row


class AutoGenReader(RowReader):
    """Reader of runs, whose rows have a message each."""

    def about(self, row: Row) -> Row:
        """Return the row of a run with its result, but for the messages."""
        kept = super().about(row)
        result = object_of(json_cell(kept, RESULT))
        rest = {name: held for name, held in result.items() if name != "task_result"}
        return {**kept, RESULT: orjson.dumps(rest).decode()} if RESULT in kept else kept

"""The fault of a line whose custom_id an earlier, different line has."""

from __future__ import annotations

from dataclasses import replace

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import shorten

_ID_SHOWN = 80  #: characters
ID_CONFLICT = Fault(
    ErrorCode.ID_CONFLICT,
    "an earlier, different line has the same custom_id",
    "give each case its own custom_id; of rows, --map makes one, such as custom_id={id}/{trial} of two columns, or"
    " custom_id={id}#{@file} of several files",
)


def id_conflict(custom_id: str, line: int | None = None) -> Fault:
    """Return ID_CONFLICT with the id, and the number of the earlier line if it is known."""
    where = "" if line is None else f" (line {line})"
    named = f"{ID_CONFLICT.message} {shorten(custom_id, _ID_SHOWN)!r}{where}"
    return replace(ID_CONFLICT, message=named)

"""The values on the lines of a file of which all lines belong together, and what is wrong with the other lines."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.grading.strict_json import SAVE_AS_UTF8
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge.traces.fields import json_in
from weighbridge_producer.input.traces.documents import OTHERS_WERE_READ, lines_are, lines_named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.source_lines import SourceLine


@dataclass(slots=True)
class LineValues:
    """The values of lines with the numbers of these, and the numbers of the lines that have none."""

    values: list[Any] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  #: of the lines of these
    not_utf8: list[int] = field(default_factory=list)
    not_json: list[int] = field(default_factory=list)
    #: Lines that are JSON but for NaN or Infinity.
    with_nan: list[int] = field(default_factory=list)
    #: For each line that was not read what can be known of it: the value with null for NaN, or None.
    unread: list[Any] = field(default_factory=list)

    def faults(self) -> list[Fault]:
        """Return a fault for the lines that are not UTF-8, one for those that are no JSON, and one for those with NaN."""
        others = f"; {OTHERS_WERE_READ}" if self.values else ""
        found = []
        if self.not_utf8:
            text = f"{lines_are(self.not_utf8)} not UTF-8"
            found.append(Fault(ErrorCode.INVALID_UTF8, text, f"{SAVE_AS_UTF8}{others}"))
        if self.not_json:
            text = f"{lines_are(self.not_json)} not JSON"
            hint = f"write one JSON value per line{others}"
            found.append(Fault(ErrorCode.INVALID_JSON, text, hint))
        if self.with_nan:
            has = "has" if len(self.with_nan) == 1 else "have"
            text = f"{lines_named(self.with_nan)} {has} NaN or Infinity, which are not JSON"
            hint = f"write null or a string instead{others}"
            found.append(Fault(ErrorCode.NUMBER_OUT_OF_RANGE, text, hint))
        return found


def line_values(lines: Iterable[SourceLine], first: int) -> LineValues:
    """Return the values on lines, of which the first has the number given; blank lines have none."""
    read = LineValues()
    for number, line in enumerate(lines, first):
        raw = line.raw.strip(JSON_SPACE)
        if not raw:
            continue
        try:
            read.values.append(json_in(raw))
            read.numbers.append(number)
        except UnicodeDecodeError:
            read.not_utf8.append(number)
            read.unread.append(None)
        except ValueError:
            value = _without_nan(raw)
            (read.not_json if value is None else read.with_nan).append(number)
            read.unread.append(value)
    return read


def _without_nan(raw: bytes) -> Any:
    """Return the value of a line that is JSON but for NaN or Infinity, with null instead; None for other text."""
    constants: list[str] = []
    try:
        value = json.loads(raw, parse_constant=constants.append)
    except (ValueError, RecursionError):
        return None
    return value if constants else None

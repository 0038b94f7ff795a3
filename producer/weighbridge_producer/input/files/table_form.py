"""What the user says of tables in text, which do not say it themselves."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableForm:
    """What the user says of tables in text."""

    encoding: str = ""  #: empty to detect it
    has_header: bool = True  #: False if the first row is data, so that columns are numbered
    header_line: int = 0  #: line of the header, from 1; 0 to detect it
    is_of_another: bool = False  #: True if it was said of the input that a file is joined with

    def __str__(self) -> str:
        """Return what differs from tables that say it themselves."""
        header = "" if self.has_header else "no header"
        header = f"header in line {self.header_line}" if self.header_line else header
        return ", ".join(filter(None, (self.encoding, header)))


USUAL_FORM = TableForm()

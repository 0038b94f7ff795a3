"""What the files of an input are read as."""

from __future__ import annotations

from enum import Enum, auto


class ReadAs(Enum):
    """What the files of an input are read as, which decides which of them are read, and whether one by one."""

    RUNS = auto()  #: cases and recorded runs; the files of a run are read together
    MAPPED_RUNS = auto()  #: recorded runs that a mapping file describes, each file as it is
    ROWS = auto()  #: rows of tables or objects of JSON that become cases, each file as it is
    ANYTHING = auto()  #: any of these, to find out which

    @property
    def takes_tables(self) -> bool:
        """True if tables of rows are read."""
        return self in {ReadAs.ROWS, ReadAs.ANYTHING}

    @property
    def takes_stores(self) -> bool:
        """True if databases and Markdown in which agents keep sessions are read."""
        return self is not ReadAs.ROWS

    @property
    def takes_side_files(self) -> bool:
        """True if files are read that an agent keeps beside its sessions, as they may be what is mapped."""
        return self in {ReadAs.MAPPED_RUNS, ReadAs.ROWS}

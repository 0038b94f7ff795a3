"""The columns of a table with a row per job, the same in CSV, TSV and Parquet."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.reports.table_rows import Judgement, TableRow


class Column(NamedTuple):
    """A column whose cells are the attribute of its name, of a result line or of its judgement."""

    name: str
    kind: Literal["string", "int64", "float64"] = "string"  #: pyarrow's type


#: Attributes of a result line.
FACTS = (
    Column("custom_id"),
    Column("line", "int64"),
    Column("label"),
    Column("grader"),
    Column("grader_version", "int64"),
    Column("status"),
)
#: Attributes of a result line's judgement, to the right of the facts.
JUDGED = (
    Column("verdict"),
    Column("score", "float64"),
    Column("expected"),
    Column("observed"),
    Column("reason"),
    Column("cause"),
    Column("error_code"),
    Column("error_message"),
)
#: Attributes of a result line, to the right of the metadata.
PROOFS = (Column("config_digest"), Column("receipt"))


def names_of(columns: tuple[Column, ...]) -> list[str]:
    """Return the headings of columns."""
    return [column.name for column in columns]


facts_of: Callable[[TableRow | ResultRow], tuple[Any, ...]] = attrgetter(*names_of(FACTS))
judged_of: Callable[[Judgement], tuple[Any, ...]] = attrgetter(*names_of(JUDGED))
proofs_of: Callable[[TableRow | ResultRow], tuple[Any, ...]] = attrgetter(*names_of(PROOFS))

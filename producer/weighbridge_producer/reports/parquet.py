"""Apache Parquet: a typed row for each job, with all evidence; requires the optional pyarrow."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import orjson

from weighbridge.errors import OutputError
from weighbridge.jobs.result_line_parts import read_labelled_metadata
from weighbridge.text import encodable
from weighbridge_producer.reports.csv_tables import METADATA_COLUMNS
from weighbridge_producer.reports.job_columns import (
    FACTS,
    JUDGED,
    PROOFS,
    facts_of,
    judged_of,
    proofs_of,
)
from weighbridge_producer.reports.metadata_fields import flat
from weighbridge_producer.reports.report import parsed_lines
from weighbridge_producer.reports.table_rows import Judgement

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.reports.job_columns import Column
    from weighbridge_producer.reports.report import Report

ROWS_AT_ONCE = 10_000  #: rows per row group
BYTES_AT_ONCE = 16 * 1024 * 1024  #: text bytes per row group
_INTEGERS = range(-(2**63), 2**63)


def check() -> None:
    """Raise OutputError if pyarrow is not installed."""
    try:
        import pyarrow as pa  # noqa: F401
    except ImportError:
        raise OutputError(
            "writing Parquet needs pyarrow, which is not installed",
            "pip install 'weighbridge[parquet]'",
        ) from None


class _Sink:
    """A file object that buffers written bytes until they are taken."""

    closed = False

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._written = 0

    def write(self, block: Any) -> int:
        data = bytes(block)
        self._blocks.append(data)
        self._written += len(data)
        return len(data)

    def tell(self) -> int:
        return self._written

    def flush(self) -> None:
        """Do nothing, because nothing is buffered elsewhere."""

    def close(self) -> None:
        """Do nothing, because there is no file to close."""

    def take(self) -> bytes:
        blocks, self._blocks = self._blocks, []
        return b"".join(blocks)


def blocks(report: Report) -> Iterator[bytes]:
    """Yield the file, one row group at a time."""
    import pyarrow as pa

    fields, has_rest = _fields_of(report.results)
    schema = _schema(pa, fields, has_rest=has_rest)
    yield from _written(schema, (_cells(row, fields, has_rest=has_rest) for row in report.rows()))


def parquet_table(columns: Mapping[str, str], rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """Yield rows as a Parquet file; `columns` maps each column to the name of its pyarrow type."""
    import pyarrow as pa

    check()
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in columns.items()])
    yield from _written(schema, rows)


def _written(schema: Any, rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    import pyarrow as pa
    from pyarrow import parquet

    sink = _Sink()
    with parquet.ParquetWriter(pa.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        for group in _groups(rows):
            writer.write_table(pa.Table.from_pylist(group, schema))
            yield sink.take()
    yield sink.take()


def _groups(every: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    size = 0
    for row in every:
        rows.append(row)
        size += sum(len(cell) for cell in rows[-1].values() if type(cell) is str)
        if len(rows) >= ROWS_AT_ONCE or size >= BYTES_AT_ONCE:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _fields_of(results: Path) -> tuple[dict[str, str], bool]:
    """Return the metadata fields with their types, and whether there are more fields than columns."""
    kinds: dict[str, Counter[type]] = {}
    has_rest = False
    for row in parsed_lines(results, read_labelled_metadata):
        for path, value in flat(row.metadata or {}).items():
            if path not in kinds and len(kinds) >= METADATA_COLUMNS:
                has_rest = True
            elif value is not None:
                kind = type(value)
                is_large = kind is int and value not in _INTEGERS
                kinds.setdefault(path, Counter())[str if is_large else kind] += 1
    return {path: _type_of(set(found)) for path, found in kinds.items()}, has_rest


def _type_of(kinds: set[type]) -> str:
    if kinds == {bool}:
        return "bool_"
    if kinds == {int}:
        return "int64"
    return "float64" if kinds <= {int, float} else "string"


def _schema(pa: Any, fields: dict[str, str], *, has_rest: bool) -> Any:
    text = pa.string()
    check = pa.struct(
        [
            *((name, text) for name in ("check", "description")),
            ("passed", pa.bool_()),
            *((name, text) for name in ("cause", "limit", "observed", "excerpt")),
            ("step_ids", pa.list_(text)),
        ]
    )
    columns = [
        *_typed(pa, (*FACTS, *JUDGED)),
        ("evidence", pa.list_(check)),
        *((f"metadata.{path}", getattr(pa, kind)()) for path, kind in fields.items()),
        *([("metadata", text)] if has_rest else []),
        *_typed(pa, PROOFS),
    ]
    return pa.schema(columns)


def _typed(pa: Any, columns: tuple[Column, ...]) -> list[tuple[str, Any]]:
    return [(column.name, getattr(pa, column.kind)()) for column in columns]


def _cells(row: ResultRow, fields: dict[str, str], *, has_rest: bool) -> dict[str, Any]:
    values = (*facts_of(row), *judged_of(Judgement.of(row)), *proofs_of(row))
    columns = zip((*FACTS, *JUDGED, *PROOFS), values, strict=True)
    metadata = flat(dict(row.metadata or {}))
    cells = {
        **{column.name: _value(value, column.kind) for column, value in columns},
        "evidence": [_check(entry) for entry in row.evidence],
        **{f"metadata.{path}": _value(metadata.get(path), kind) for path, kind in fields.items()},
    }
    if has_rest:
        rest = {path: value for path, value in metadata.items() if path not in fields}
        cells["metadata"] = _text(rest) if rest else None
    return cells


def _value(value: Any, kind: str) -> Any:
    return _text(value) if kind == "string" else value


def _check(entry: Any) -> dict[str, Any]:
    names = ("check", "description", "cause", "limit", "observed", "excerpt")
    return {
        **{name: _text(entry.get(name)) for name in names},
        "passed": bool(entry["passed"]),
        "step_ids": [str(step) for step in entry["step_ids"]],
    }


def _text(value: Any) -> str | None:
    if value is None or type(value) is str:
        return encodable(value) if value else value
    return orjson.dumps(value).decode()

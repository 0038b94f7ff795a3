"""Conversion of rows to lines with cases, by a mapping."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.grading.strict_json import INT_MAX, INT_MIN
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import is_valid_name
from weighbridge_producer.input.files.decompress import ExpansionError, check_expansion
from weighbridge_producer.input.mapping.absent_values import why_absent
from weighbridge_producer.input.mapping.missing_paths import listed
from weighbridge_producer.input.mapping.row_values import is_binary
from weighbridge_producer.input.rows.source_rows import plain_value
from weighbridge_producer.input.rows.table_cells import NO_CELLS, is_of_totals
from weighbridge_producer.input.source_lines import SourceLine, encode_case, length_fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge.settings import Settings
    from weighbridge_producer.input.mapping.field_mapping import FieldMapping
    from weighbridge_producer.input.mapping.row_values import Path, Row
    from weighbridge_producer.input.rows.row_notes import RowNotes
    from weighbridge_producer.input.rows.source_rows import SourceRow
    from weighbridge_producer.input.rows.table_cells import Cells

    Naming = Callable[
        [str, Row], str
    ]  #: returns the id of a case, given the mapped one and the row

#: Codes of faults of values that JSON lacks.
_ODD_CODES = frozenset({ErrorCode.NUMBER_OUT_OF_RANGE, ErrorCode.INVALID_JSON})
#: Words that tools write into a text cell without a value.
_NULLS = frozenset({"NULL", "null", "\\N", "NaN", "nan", "<NA>", "#N/A", "None", "NaT"})
#: Bytes that could not be decoded, as `surrogateescape` keeps them.
_UNDECODED = re.compile("[\udc80-\udcff]")


def as_lines(
    rows: Iterable[SourceRow],
    mapping: FieldMapping,
    settings: Settings,
    notes: RowNotes,
    file: str | None = None,
    cells: Cells = NO_CELLS,
    naming: Naming | None = None,
) -> Iterator[SourceLine]:
    """Convert rows to lines with their cases, and add notes on the rows.

    `naming` returns the id of a row's case, from the one that the mapping gives it and the row. A row whose answers are both empty
    `cells` is ungradable. A row that is not a case becomes a blank line. Blank lines are also inserted so that line numbers match
    row numbers; with several files, lines have locations instead.
    """
    case, limit = mapping.case, settings.line_limit_bytes + 1
    fault_of = mapping.fault if mapping.may_fault else None
    kind_of = mapping.others.kind if mapping.others else None
    skips = mapping.skipped_for if mapping.skips else None
    in_line, line_number = f"{file}, line", 0
    for row in notes.watch(rows, mapping):
        number = row.number
        kind = kind_of(row.values) if kind_of else ""
        if skips and not (kind or row.fault) and (lacking := skips(row.values, row.place)):
            kind = f"without {lacking}"
        fault = row.fault or (fault_of(row.values, row.place) if fault_of else None)
        if (row.doubt or row.joined_doubts) and not fault:
            fault = _doubt_of_used(row, mapping)
        if kind:
            notes.count_other(kind)
            line = SourceLine(b"\n")
        elif fault:
            line = _faulty_line(row, fault, mapping, naming)
        else:
            made = case(row.values, row.place)
            inputs = made["inputs"]
            if len(inputs) < len(mapping.inputs):
                _note_absent(row, made, mapping, notes, f"{in_line if file else 'line'} {number}")
            expected = inputs.get("expected_output")
            is_empty = expected == "" == inputs.get("agent_response")
            is_total = is_empty and is_of_totals(row.values)
            if is_empty and not is_total and cells.hold_answers(row.values, mapping):
                notes.count_unfilled()
                inputs["expected_output"] = None
            elif expected == "" and not is_total:
                notes.count_empty_expected(f"{in_line if file else 'line'} {number}")
            elif type(expected) is str and expected in _NULLS:
                notes.count_null(expected, inputs.get("agent_response"))
            if naming and not is_total and type(own_id := made.get("custom_id")) is str:
                made["custom_id"] = naming(own_id, row.values)
            line = encode_case(made, plain_value)
            if is_total:
                notes.count_total()
                line = SourceLine(b"\n")
            elif "custom_id" not in made:
                line = SourceLine(b"\n", _no_id(row, mapping))
            elif line.fault:
                line = _mended(line, made, row, notes)
            if line.size > limit:
                line = SourceLine(b"\n", length_fault(line.size - 1, limit - 1))
        line.size = row.size
        if file:
            line.origin = (in_line, number)
        else:
            line_number += 1
            while line_number < number:
                yield SourceLine(b"\n")
                line_number += 1
        yield line


def within_expansion(lines: Iterable[SourceLine], limit: int) -> Iterator[SourceLine]:
    """Yield the cases of rows' entries; if they grow to more than `limit` times the size of the rows, end with a fault.

    They may grow, since the case of each entry of a list repeats the values beside the list.
    """
    read = made = 0
    for line in lines:
        read += line.size
        made += len(line.raw)
        line.size = line.size or len(line.raw)  # the first entry has the size of the row
        try:
            check_expansion(made, read, limit)
        except ExpansionError:
            what = f"the cases are more than {limit} times as large as their rows: they are not read beyond this one"
            hint = "map fewer of the values beside the list, or raise WEIGHBRIDGE_EXPANSION_LIMIT"
            yield SourceLine(b"\n", Fault(ErrorCode.INPUT_TOO_LARGE, what, hint))
            return
        yield line


def _note_absent(
    row: SourceRow, case: dict[str, Any], mapping: FieldMapping, notes: RowNotes, place: str
) -> None:
    """Note each input that a row has no value for, with the reason."""
    custom_id = case.get("custom_id")
    where = f"{custom_id}, {place}" if type(custom_id) is str else place
    for name, value in mapping.inputs.items():
        if name not in case["inputs"]:
            notes.count_absent(name, why_absent(value, row.values, row.place), where)


def _no_id(row: SourceRow, mapping: FieldMapping) -> Fault:
    """Return the fault of a row without a case ID, such as a row of a file with other columns than the first file."""
    return Fault(
        ErrorCode.MISSING_FIELD,
        f"the row has no value in {str(mapping.custom_id)!r}, which custom_id is mapped to",
        f"its columns: {listed(row.values)}",
    )


def _mended(line: SourceLine, case: dict[str, Any], row: SourceRow, notes: RowNotes) -> SourceLine:
    """Return the line of a case that JSON cannot represent, with changed metadata or a clearer fault.

    If all values that JSON lacks are in the metadata, they are removed or replaced there.
    """
    fault = line.fault
    if fault and fault.code == ErrorCode.LONE_SURROGATE:
        line.fault = _encoding_fault(row) or fault
    elif fault and fault.code in _ODD_CODES and "metadata" in case:
        metadata = case["metadata"]
        binary = [name for name, value in metadata.items() if has_binary(value)]
        texts = without_binary(metadata) if binary else metadata
        numbers = json_numbers(texts)
        changed = encode_case(case | {"metadata": numbers}, plain_value)
        if not changed.fault:
            if binary:
                notes.count_binary(binary)
            if encode_case({"metadata": texts}, plain_value).fault:
                notes.count_odd_metadata()
            return changed
    return line


def without_binary(value: Any) -> Any:
    """Return a value without binary values, which JSON lines lack: entries are removed, items of lists become null."""
    if isinstance(value, Mapping):
        return {key: without_binary(item) for key, item in value.items() if not is_binary(item)}
    if isinstance(value, (list, tuple)):
        return [without_binary(item) for item in value]
    return None if is_binary(value) else value


def has_binary(value: Any) -> bool:
    """Return whether a value is, or contains, bytes that are not text."""
    if isinstance(value, Mapping):
        return any(map(has_binary, value.values()))
    return any(map(has_binary, value)) if isinstance(value, (list, tuple)) else is_binary(value)


def json_numbers(value: Any) -> Any:
    """Return a value without numbers that JSON lines lack: NaN and Infinity become null, integers beyond 64 bits text."""
    if isinstance(value, Mapping):
        return {key: json_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_numbers(item) for item in value]
    if isinstance(value, float):
        return value if isfinite(value) else None
    if type(value) is int and not INT_MIN <= value <= INT_MAX:
        return str(value)
    return value


def _encoding_fault(row: SourceRow) -> Fault | None:
    """Return the fault for a row of a table with a byte that could not be decoded; None if it has none."""
    texts = (value for value in row.values.values() if isinstance(value, str))
    byte = next((found[0] for text in texts if (found := _UNDECODED.search(text))), None)
    if byte is None:
        return None
    return Fault(
        ErrorCode.INVALID_UTF8,
        f"the row has the byte 0x{ord(byte) - 0xDC00:02x}, which is invalid in the file's encoding",
        "save the whole file as UTF-8, or name its encoding with --encoding",
    )


def _doubt_of_used(row: SourceRow, mapping: FieldMapping) -> Fault | None:
    """Return the fault of a number that JSON cannot represent, in a row or its joined rows, if an ID or an input uses it."""
    graded = (mapping.custom_id, *mapping.inputs.values())
    paths = [path for value in graded for path in value.paths()]
    joined = row.joined_doubts or {}
    for name, doubt in joined.items():
        if _has_doubtful(row, [path for path in paths if _column(path, row) == name]):
            return doubt
    own = [path for path in paths if _column(path, row) not in joined]
    return row.doubt if row.doubt and _has_doubtful(row, own) else None


def _column(path: Path, row: SourceRow) -> str:
    return path.text if path.text in row.values else path.parts[0]


def _has_doubtful(row: SourceRow, paths: Iterable[Path]) -> bool:
    values = [path.of(row.values, row.place) for path in paths]
    return encode_case({"used": values}, plain_value).fault is not None


def _faulty_line(
    row: SourceRow, fault: Fault, mapping: FieldMapping, naming: Naming | None
) -> SourceLine:
    """Return a line with a fault and, if its row could be read and has one, the case's id."""
    custom_id = mapping.case(row.values, row.place).get("custom_id") if row.values else None
    if not isinstance(custom_id, str) or not is_valid_name(custom_id):
        return SourceLine(b"\n", fault)
    if naming:
        custom_id = naming(custom_id, row.values)
    only_id = encode_case({"custom_id": custom_id})
    return SourceLine(only_id.raw, fault, custom_id=None if only_id.fault else custom_id)

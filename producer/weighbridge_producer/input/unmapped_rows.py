"""Rows that are sent without a mapping: a table, a document, or the output of a known tool, of which no line is a case."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import TYPE_CHECKING

from weighbridge.errors import MappingNeededError
from weighbridge.jobs.line import BYTE_ORDER_MARK, JSON_SPACE
from weighbridge.settings import MIB
from weighbridge.traces.split import is_trace
from weighbridge_producer.input.files.decompress import DAMAGE, ExpansionError
from weighbridge_producer.input.files.lines import plain_stream
from weighbridge_producer.input.first_rows import Opened, first_rows
from weighbridge_producer.input.grader_inputs import USUAL_INPUTS, known_inputs, needed_inputs
from weighbridge_producer.input.mapping.known_datasets import described_without, shape_of
from weighbridge_producer.input.recognition import begins_document, recognise
from weighbridge_producer.input.rows.row_formats import (
    RowFormat,
    beginning_of,
    table_format,
    table_suffix,
)
from weighbridge_producer.input.rows.rows_search import lists_of_rows
from weighbridge_producer.input.rows.text_encodings import HEAD_BYTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.files.kept_streams import KeptStream
    from weighbridge_producer.input.first_rows import SeenRows

MAPPING_HINT = "send `mapping`, such as custom_id=id,agent_response=answer,expected_output=gold"
JOIN_HINT = "submit with `weighbridge submit --join NAME=FILE --on FIELD --url URL`, which joins the files before it sends them"
TRACE_MAPPING_HINT = "submit with `weighbridge submit --trace-mapping FILE --url URL`, or send what `weighbridge trace convert --trace-mapping FILE` writes"
_AUTO_HINT = "send `mapping=auto`, which recognises these rows"
_DOCUMENTS = (b"{", b"[")
_ARCHIVE = b"PK"
_LINE_BYTES = 4 * MIB  #: of a long line, in which the rows of a known tool begin
_FIELDS_OF_CASES = (b'"custom_id"', b'"inputs"')


def table_name(name: str, head: bytes, suffix: str = "") -> str:
    """Return a file's name, with the ending of a table if its first decompressed bytes are those of one.

    `suffix` is the ending that is declared, which does not count for JSON.
    """
    if table_format(name) or not head:
        return name
    return name + (table_suffix(head) or ("" if _content(head).startswith(_DOCUMENTS) else suffix))


def refuse_unmapped(
    stream: KeptStream,
    name: str,
    graders: Sequence[GraderSpec],
    settings: Settings,
    suffix: str = "",
) -> None:
    """Raise MappingNeededError for rows that could not be graded without a mapping.

    Of JSON Lines only those that arrive with the first are looked at. They are refused if they are of a known tool; others
    are errors of their own.
    """
    with stream.beginning() as begun:
        head = beginning_of(begun, settings)
    content = _content(head)
    if not content:
        return
    named = table_name(name, head, suffix)
    table = table_format(named)
    if table in {RowFormat.PARQUET, RowFormat.ARROW}:
        raise MappingNeededError(name, str(table), MAPPING_HINT)
    is_text = not content.startswith((*_DOCUMENTS, _ARCHIVE))
    if not table and not is_text and _may_be_graded(content, graders):
        return
    opened = Opened(named, name, lambda: io.BytesIO(head))
    is_long = len(head) >= HEAD_BYTES and begins_document(opened, settings)
    if is_text or is_long:
        opened = Opened(named, name, stream.beginning)
    if is_long and b"\n" not in content:
        _refuse_line(opened, content, settings)
    else:
        _refuse_rows(opened, graders, settings)


def unmapped(name: str, seen: SeenRows, graders: Sequence[GraderSpec]) -> MappingNeededError:
    """Return the error for rows that are not mapped: what they are, and what to send."""
    if seen.mapping and seen.mapping.name:
        return MappingNeededError(name, seen.mapping.name, _AUTO_HINT)
    if seen.mapping:
        return MappingNeededError(name, seen.described, _AUTO_HINT)
    if without := described_without(seen.rows, needed_inputs(graders) or USUAL_INPUTS):
        hint = f"{MAPPING_HINT}, if the rows have the value; if another file has it, {JOIN_HINT}"
        return MappingNeededError(name, without, hint)
    if (proposal := seen.proposal) is None:
        return MappingNeededError(name, seen.described, MAPPING_HINT)
    if lacking := seen.no_traces_hint():
        return MappingNeededError(name, seen.described, lacking)
    how = (
        f"send `mapping`: its columns suggest {proposal.text}"
        if proposal.mapping
        else f"send `mapping`, such as {proposal.text} with a column of yours in place of each COLUMN"
    )
    return MappingNeededError(
        name, seen.described, "; ".join(filter(None, (how, proposal.caution, *seen.hints())))
    )


def _content(head: bytes) -> bytes:
    return head.removeprefix(BYTE_ORDER_MARK).strip(JSON_SPACE)


def _may_be_graded(content: bytes, graders: Sequence[GraderSpec]) -> bool:
    """Return whether JSON begins with a case, or may be a trace that one of the graders takes."""
    known = known_inputs(graders)
    first = content.partition(b"\n")[0]
    return not known or "trace" in known or all(field in first for field in _FIELDS_OF_CASES)


def _refuse_rows(opened: Opened, graders: Sequence[GraderSpec], settings: Settings) -> None:
    seen = recognise(opened, graders, settings)
    table = table_format(opened.name)
    if seen is None or seen.layout is None:
        if table:
            raise MappingNeededError(opened.label, str(table), MAPPING_HINT)
        return
    if seen.layout.format is not RowFormat.JSON_LINES or shape_of(seen.rows):
        raise unmapped(opened.label, seen, graders)


def _refuse_line(opened: Opened, content: bytes, settings: Settings) -> None:
    """Refuse a document of one long line, which is not read as a whole."""
    if content.startswith(b"["):
        seen = first_rows(opened, settings)
        if seen.rows and not is_trace(seen.rows):
            raise MappingNeededError(opened.label, seen.described, MAPPING_HINT)
        return
    beginning = b""
    with opened.open() as stream, suppress(ExpansionError, *DAMAGE):  # reading reports the damage
        beginning = plain_stream(stream, settings).read(_LINE_BYTES)
    found = lists_of_rows(io.BytesIO(beginning).read, only_known=True)
    if found.pointer is not None:
        raise MappingNeededError(opened.label, f"JSON, rows at {found.pointer}", _AUTO_HINT)

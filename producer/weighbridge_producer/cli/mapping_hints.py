"""Hints to map CASES: the options that their columns suggest, and how to join what they lack."""

from __future__ import annotations

import shlex
from itertools import islice
from typing import TYPE_CHECKING

from weighbridge.traces.split import is_trace
from weighbridge_producer.input.mapping.list_entries import EACH, present_entries
from weighbridge_producer.input.mapping.mapping_text import value_of
from weighbridge_producer.input.mapping.path_texts import (
    around,
    first_entry_of,
    is_first_entry,
    without_firsts,
)
from weighbridge_producer.input.mapping.row_values import (
    FILE,
    ROW_NUMBER,
    FirstOf,
    Path,
    Template,
    json_within,
)
from weighbridge_producer.input.rows.row_formats import RowFormat

if TYPE_CHECKING:
    from weighbridge_producer.input.first_rows import SeenRows
    from weighbridge_producer.input.mapping.row_values import Value
    from weighbridge_producer.input.proposals.proposal import Proposal

_ENTRIES = 100  #: that a proposal looks at
COLUMN = "COLUMN"  #: in place of a column that is to be named
#: By an answer that another file may have, the name that joins it.
_JOIN_NAMES = {"expected_output": "gold", "agent_response": "answers"}


def suggestion(seen: SeenRows) -> list[str]:
    """Return lines with the option that the columns suggest, and what to check in it."""
    proposal = seen.proposal
    if proposal is None:
        return [f"its columns suggest --map {shlex.quote(str(seen.mapping))}"]
    header = seen.header_hint()
    option = f"--map {shlex.quote(proposal.text)}"
    hint = (
        f"if it is a header, its columns suggest {option}"
        if header
        else f"its columns suggest {option}"
    )
    if lacking := seen.no_traces_hint():
        return [lacking]
    if proposal.mapping is None:
        hint = f"write {option}, with a column of yours in place of each COLUMN"
    inner = ""
    if each := _each_entry(seen):
        hint = f"{each}\n  for the first entry of each row alone, {option}"
    elif inner := seen.inner_hint():
        hint = f"{inner}\n  for the first alone, {option}"
    joining = _joining(proposal) if proposal.missing and not seen.joined else ""
    others = [line for line in seen.hints() if line not in {header, inner}]
    first = (header, _without_header(seen)) if header else ()
    own = _own_traces(seen)
    return list(
        filter(None, (own, *first, hint, joining, proposal.caution, *others, seen.document_hint()))
    )


def _own_traces(seen: SeenRows) -> str:
    """Return the option for traces in a format of the user's own if no column of JSON has a trace in a known one; or empty."""
    proposal = seen.proposal
    is_json = seen.layout and seen.layout.format in {RowFormat.JSON, RowFormat.JSON_LINES}
    if not (is_json and proposal and "trace" in {*proposal.fields, *proposal.missing}):
        return ""
    path = proposal.fields.get("trace")
    if path and any(is_trace(json_within(value_of(path).of(row, 1))) for row in seen.rows):
        return ""
    return (
        f"if these are traces in a format of your own, `weighbridge trace map {shlex.quote(seen.file)}` drafts a mapping file"
        " for it, and --trace-mapping FILE reads them with it: see"
        " docs/how-to/write-an-importer.md#describe-it-in-a-mapping-file in the repository"
    )


def _each_entry(seen: SeenRows) -> str:
    """Return the option by which each entry of the lists in rows is a case, if the proposed id is that of the first; or empty."""
    from weighbridge_producer.input.proposals.first_of_lists import (
        how_to_pair,
        lists_of_several,
        parallel_lists,
    )
    from weighbridge_producer.input.proposals.mapping_proposals import propose

    proposal = seen.proposal
    lists = lists_of_several(proposal.fields.get("custom_id", ""), seen.rows) if proposal else []
    if proposal is None or not lists:
        return ""
    path = without_firsts(lists[-1])
    entries = (entry for row in seen.rows for entry in present_entries(row, Path(path)))
    needed = [*proposal.fields, *proposal.missing]
    found = propose(
        list(islice(entries, _ENTRIES)),
        [name for name in needed if name != "custom_id"],
        accepts_several=proposal.accepts_several,
    )
    expected = found.fields.get("expected_output", "")
    expected = around(expected) if is_first_entry(expected) else expected
    columns = {column for row in seen.rows for column in row}
    first, other = (
        first_entry_of(each, is_column=each in columns) for each in (lists[-1], expected)
    )
    if parallel := parallel_lists(first, other, seen.rows):
        found = found.without_expected(f"expected_output: {how_to_pair(parallel)}")
    option = f"for each entry of {path}, --map {shlex.quote(f'{EACH}={path},{found.text}')}"
    is_joinable = bool(found.missing) and not seen.joined
    joining = _joining(found, f"{EACH}={path}") if is_joinable else ""
    return "\n  ".join(filter(None, (option, joining, found.caution)))


def _without_header(seen: SeenRows) -> str:
    """Return the options that read the first row of a table as data."""
    from weighbridge_producer.input.proposals.mapping_proposals import propose
    from weighbridge_producer.input.rows.header_rows import as_data

    proposal = seen.proposal
    needed = [*proposal.fields, *proposal.missing] if proposal else []
    found = propose(
        as_data(seen.rows, seen.repeated), [name for name in needed if name != "custom_id"]
    )
    option = f"--no-header --map {shlex.quote(found.text)}"
    return f"if it is data, give {option}; the columns are numbered"


def how_to_add(fields: str, custom_id: Value) -> str:
    """Return the options that add fields to a mapping; for one answer without a column, also from another file."""
    hint = f"add --map {shlex.quote(fields)}"
    field = fields.removesuffix(f"={COLUMN}")
    if field not in _JOIN_NAMES:
        return hint
    name = _JOIN_NAMES[field]
    options = _join_options(name, custom_id)
    return f"{hint}, or take it from another file: {options} --map {field}={name}.{COLUMN}"


def _joining(proposal: Proposal, *before: str) -> str:
    """Return the options that take an answer from another file, with fields before; empty unless it is all that is missing."""
    lacking, *more = proposal.missing
    if more or lacking not in _JOIN_NAMES:
        return ""
    name = _JOIN_NAMES[lacking]
    fields = [*before, *(f"{field}={path}" for field, path in proposal.fields.items())]
    mapping = ",".join([*fields, f"{lacking}={name}.{COLUMN}"])
    options = _join_options(name, value_of(proposal.fields["custom_id"]))
    return f"{options} --map {shlex.quote(mapping)}, if it is in another file"


def _join_options(name: str, custom_id: Value) -> str:
    """Return the options that join a file with an input by the first of the columns that the id of a case is made of."""
    whole = str(custom_id) if isinstance(custom_id, (Template, FirstOf)) else ""
    paths = [path.text for path in custom_id.paths()]
    columns = [path for path in paths if path not in {ROW_NUMBER, FILE, whole}]
    return f"--join {name}=FILE --on {shlex.quote(columns[0]) if columns else 'FIELD'}=ID"

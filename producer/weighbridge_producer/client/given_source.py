"""The source of what is given to a client as cases; refused is what could only become errors."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

from weighbridge.errors import MappingNeededError
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.first_rows import Opened, from_first_row_on
from weighbridge_producer.input.grader_inputs import USUAL_INPUTS, needed_inputs
from weighbridge_producer.input.mapping.known_datasets import described_without
from weighbridge_producer.input.recognition import recognise, traces_behind
from weighbridge_producer.input.repeated_ids import with_file_in_id
from weighbridge_producer.input.rows.source_rows import plain_value
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.source_lines import encode_case
from weighbridge_producer.submit.missing_grader import refuse_ungraded, refusing_ungraded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.settings import Settings
    from weighbridge_producer.input.first_rows import SeenRows
    from weighbridge_producer.input.source import Cases

_ROWS = 100  #: that are looked at, if they are Python objects
ASKED = "submission"  #: what the error says that no grader was named in


def given_source(
    cases: Cases, graders: Sequence[GraderSpec], settings: Settings, *, is_resumed: bool
) -> Source:
    """Return the source of cases for graders; rows of a known shape get its mapping, as on the command line.

    Raises MappingNeededError for rows with columns of their own, and NoGraderError if neither the submission nor its first
    cases name a grader; while they are read, if they can be read only once.
    """
    source = Source.of(cases, settings)
    if source.is_at_hand and not (source.mapping or source.trace_mapping):
        source = _recognised(source, graders, settings)
    source.graders = graders
    source.on_lines = None
    if not (graders or is_resumed):
        if source.is_at_hand:
            refuse_ungraded(source, ASKED)
        else:
            source.on_lines = partial(refusing_ungraded, asked=ASKED)
    return source


def _recognised(source: Source, graders: Sequence[GraderSpec], settings: Settings) -> Source:
    """Return a source with the mapping of its rows, or unchanged if it has cases or traces."""
    if source.paths:
        opened = Opened.all_of(source.paths, read_as=ReadAs.ANYTHING)
        files = from_first_row_on(opened, settings)
    elif rows := source.first_objects(_ROWS):
        content = b"".join(encode_case(row, plain_value).raw for row in rows)
        files = [Opened("cases.jsonl", source.name, lambda: io.BytesIO(content))]
    else:
        return source
    seen = recognise(files[0], graders, settings)
    if seen is None or traces_behind(files, graders, settings):
        return source
    if found := with_file_in_id(seen, files, settings).mapping:
        return source.mapped(found)
    if seen.proposal:
        raise _unmapped(seen, graders)
    return source


def _unmapped(seen: SeenRows, graders: Sequence[GraderSpec]) -> MappingNeededError:
    proposal = seen.proposal
    assert proposal is not None
    what = described_without(seen.rows, needed_inputs(graders) or USUAL_INPUTS) or seen.described
    if lacking := seen.no_traces_hint():
        return MappingNeededError(seen.file, what, lacking)
    mapping = f"parse_mapping([{proposal.text!r}])"
    how = (
        f"its columns suggest {mapping}"
        if proposal.mapping
        else f"such as {mapping}, with a column of yours in place of each COLUMN"
    )
    hints = (f"give a Source with a mapping: {how}", proposal.caution, *seen.hints())
    return MappingNeededError(seen.file, what, "; ".join(filter(None, hints)))

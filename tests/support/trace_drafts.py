"""Drafts of mappings for small files, and the traces that they give."""

from __future__ import annotations

import json

from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.trace_drafts.beginning import read_beginning
from weighbridge_producer.input.trace_drafts.draft_text import text_of
from weighbridge_producer.input.trace_drafts.drafting import draft_of
from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping


class Drafts:
    """Drafts mappings for a file with some rows, and reads it with them."""

    def __init__(self, folder):
        self._file, self._mapping = folder / "runs.jsonl", folder / "map.yaml"

    def of_rows(self, *rows):
        """Return the draft for lines."""
        return self.of("".join(json.dumps(row) + "\n" for row in rows))

    def of(self, text):
        """Return the draft for a text, or for a document."""
        self._file.write_text(text if isinstance(text, str) else json.dumps(text))
        return text_of(draft_of(read_beginning(self._file)), [])

    def traces(self, mapping):
        """Return the native traces that a mapping gives for the file."""
        self._mapping.write_text(mapping, encoding="utf-8")
        form = read_trace_mapping(self._mapping)
        found = list(Source(self._file, Settings(), trace_mapping=form))
        assert [line.fault for line in found if line.fault] == []
        return [json.loads(line.raw)["inputs"]["trace"] for line in found]

    def types(self, mapping):
        """Return the types of the steps of each trace, without `other`."""
        return [
            [step["type"] for step in trace["steps"] if step["type"] != "other"]
            for trace in self.traces(mapping)
        ]

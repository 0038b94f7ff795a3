"""Stub until it is written."""

from weighbridge.traces.importer import Importer

IMPORTER = Importer(
    id="openai_responses",
    name="openai_responses",
    matches=lambda _: False,
    read=lambda _: [],
    fields=(),
)

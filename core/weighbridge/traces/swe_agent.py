"""Stub until it is written."""

from weighbridge.traces.importer import Importer

IMPORTER = Importer(
    id="swe_agent", name="swe_agent", matches=lambda _: False, read=lambda _: [], fields=()
)

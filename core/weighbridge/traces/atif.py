"""Stub until it is written."""

from weighbridge.traces.importer import Importer

IMPORTER = Importer(id="atif", name="atif", matches=lambda _: False, read=lambda _: [], fields=())

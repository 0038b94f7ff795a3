"""Importers that other packages add, through the entry point `weighbridge.importers`."""

from __future__ import annotations

import logging
import re
from dataclasses import replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from weighbridge.traces.importer import Importer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from importlib.metadata import EntryPoint

ENTRY_POINT_GROUP = "weighbridge.importers"
_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_log = logging.getLogger("weighbridge.traces")


class Formats:
    """The importers in the order in which they are tried: those of plug-ins before the first general one."""

    def __init__(self, built_in: Sequence[Importer], plug_ins: Iterable[EntryPoint] = ()) -> None:
        self._built_in = tuple(built_in)
        self._added: list[Importer] = []
        self.failures: dict[str, str] = {}  #: reasons why plug-ins cannot be used, by plug-in name
        for plug_in in sorted(plug_ins, key=lambda plug_in: (plug_in.name, plug_in.value)):
            self._add(plug_in)

    @property
    def importers(self) -> tuple[Importer, ...]:
        """All importers."""
        known = self._built_in
        first = next((at for at, each in enumerate(known) if each.is_general), len(known))
        return (*known[:first], *self._added, *known[first:])

    def _add(self, plug_in: EntryPoint) -> None:
        try:
            importer = plug_in.load()
            problem = self._problem(importer)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plug-in's failure must stop nothing else
            problem = f"{type(error).__name__}: {str(error)[:200]}"
        if problem:
            self.failures[plug_in.name] = problem
            _log.warning(
                "importer plug-in %r (%s) was not loaded: %s", plug_in.name, plug_in.value, problem
            )
        else:
            is_line = importer.is_line and _never_raising(importer.is_line)
            self._added.append(
                replace(importer, matches=_never_raising(importer.matches), is_line=is_line)
            )

    def _problem(self, importer: object) -> str:
        """Return the reason an object cannot be used as an importer; "" if it can."""
        if not isinstance(importer, Importer):
            return "not a weighbridge.traces.importer.Importer"
        if not _ID.fullmatch(str(importer.id)):
            return (
                f"its id must be lower-case letters, digits, '.', '_' or '-', not {importer.id!r}"
            )
        if any(known.id == importer.id for known in (*self._built_in, *self._added)):
            return f"the id {importer.id!r} is taken"
        return ""


def installed(built_in: Sequence[Importer]) -> Formats:
    """Return the built-in importers with those of every installed plug-in."""
    return Formats(built_in, entry_points(group=ENTRY_POINT_GROUP))


def _never_raising(matches: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def safe(value: Any) -> bool:
        try:
            return matches(value) is True
        except Exception:  # noqa: BLE001 - other formats must be found all the same
            return False

    return safe

"""Capabilities that a worker must have to grade a chunk."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.jobs.limits import SCHEMA_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_NEED = re.compile(r"(?:grader:(?P<grader>.+)@(?P<version>[0-9]+)|schema:(?P<schema>[0-9]+))")
_SEPARATOR = "+"


@dataclass(frozen=True, slots=True)
class Need:
    """One capability: a grader of at least a version, or a version of the stored chunk."""

    grader: str = ""
    version: int = 0  #: minimum version of the grader, or exact version of the stored chunk

    def __str__(self) -> str:
        return f"grader:{self.grader}@{self.version}" if self.grader else f"schema:{self.version}"

    def is_met_by(self, graders: Mapping[str, int], schema_version: int) -> bool:
        """Return whether a worker with these graders, as versions by id, has the capability."""
        if not self.grader:
            return schema_version == self.version
        return graders.get(self.grader, -1) >= self.version


@dataclass(frozen=True, slots=True)
class Lane:
    """The set of capabilities for which a chunk was set aside."""

    needs: frozenset[Need]

    @classmethod
    def of(cls, needs: Iterable[Need]) -> Lane:
        """Return the lane of workers with all given capabilities."""
        return cls(frozenset(needs))

    @classmethod
    def parse(cls, text: str) -> Lane:
        """Parse the output of `str`; invalid parts are ignored."""
        found = (_NEED.fullmatch(part) for part in text.split(_SEPARATOR))
        return cls(
            frozenset(
                Need(match["grader"] or "", int(match["version"] or match["schema"]))
                for match in found
                if match
            )
        )

    def __str__(self) -> str:
        return _SEPARATOR.join(sorted(map(str, self.needs)))

    def is_met_by(self, graders: Mapping[str, int], schema_version: int = SCHEMA_VERSION) -> bool:
        """Return whether a worker with these graders, as versions by id, has all capabilities."""
        return all(need.is_met_by(graders, schema_version) for need in self.needs)

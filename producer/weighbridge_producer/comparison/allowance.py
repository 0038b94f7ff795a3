"""A number or a percentage that a gate allows, such as `12` or `0.5%`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge.errors import InvalidGateError

_ALLOWED = re.compile(r"([0-9]{1,18})|([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*%")


@dataclass(frozen=True, slots=True)
class Allowance:
    """How many of a number may be counted against a gate."""

    text: str  #: as it was given

    @classmethod
    def parse(cls, option: str, text: str) -> Allowance:
        """Parse a number or a percentage; raises InvalidGateError."""
        if not _ALLOWED.fullmatch(text):
            raise InvalidGateError(
                f"{option} {text[:40]!r} is neither a number nor a share",
                "write for instance 0, 12 or 0.5%",
            )
        return cls(text)

    @property
    def is_share(self) -> bool:
        """Whether it is a percentage."""
        return self.text.endswith("%")

    def is_exceeded(self, count: int, whole: int) -> bool:
        """Return whether a count of a whole, which is not zero, is more than is allowed."""
        if self.is_share:
            return count * 100 / whole > float(self.text[:-1])
        return count > int(self.text)

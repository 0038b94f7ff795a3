"""The key common to the repeats of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from weighbridge.errors import InvalidFilterError
from weighbridge_producer.gating.fields import FieldPath, field_name, parse_field

if TYPE_CHECKING:
    from weighbridge_producer.comparison.compared_results import Entry

_CUSTOM_ID = "custom_id"


@dataclass(frozen=True, slots=True)
class RepeatKey:
    """The key common to the repeats of a case: a metadata field, or the custom_id up to a separator."""

    path: FieldPath = ()
    separator: str = ""

    @classmethod
    def parse(cls, text: str) -> RepeatKey:
        """Parse `metadata.FIELD`, `custom_id` or `custom_id:SEPARATOR`; raises InvalidFilterError."""
        root, _, separator = text.partition(":")
        if root == _CUSTOM_ID:
            return cls(separator=separator)
        if not text.startswith("metadata."):
            raise InvalidFilterError(
                f"{text[:80]!r} does not name what repeats have in common",
                "write metadata.FIELD, or custom_id:SEPARATOR for ids such as q1#2, with # as the separator",
            )
        return cls(path=parse_field(text))

    @property
    def fields(self) -> tuple[FieldPath, ...]:
        """The metadata fields that are needed."""
        return (self.path,) if self.path else ()

    def is_in(self, entry: Entry) -> bool:
        """Return whether a result has a value of the metadata field, or the separator in its custom_id, whichever the key is."""
        if self.path:
            return bool(entry.fields.get(field_name(self.path)))
        return self.separator in (entry.custom_id or "")

    def of(self, entry: Entry) -> str:
        """Return the case of a result; a result without a value of the field is a separate case."""
        custom_id = entry.custom_id or ""
        if self.path:
            return entry.fields.get(field_name(self.path)) or custom_id
        before, found, _ = custom_id.rpartition(self.separator) if self.separator else ("", "", "")
        return before if found else custom_id

"""Logs and experiments of Braintrust: spans, one a line, of which the root of each trace has the answer and the expected one.

Source: the events of the API's `fetch` for logs and experiments, braintrust.dev/docs/api-reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weighbridge_producer.input.mapping.row_values import MISSING, Path, json_within

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Row, Value

_SPAN = frozenset({"id", "span_id", "root_span_id", "input", "output"})
_ABOUT_ROOTS = ("is_root", "span_parents", "span_id", "root_span_id")
_TYPE = Path("span_attributes.type")


@dataclass(frozen=True, slots=True)
class ChildSpans:
    """The spans within a trace, which are no cases, such as calls of models and scorers."""

    def kind(self, row: Row) -> str:
        """Return the type of a span within a trace; empty for the root of one, and for rows that are no spans."""
        if not is_span(row) or _is_root(row):
            return ""
        kind = _TYPE.of(row, 1)
        return f"of type {kind}" if isinstance(kind, str) and kind else "within traces"

    def for_inputs(self, rows: Sequence[Row], inputs: Iterable[Value]) -> ChildSpans | None:
        """Return these rows for a mapping to inputs that a root has; None if only other spans have them."""
        values = list(inputs)
        has_root = any(
            all(value.of(row, 1) not in (MISSING, None) for value in values)
            for row in rows
            if not self.kind(row)
        )
        return self if has_root else None

    def paths(self) -> Iterable[Path]:
        """Return the paths that tell roots from other spans."""
        return (*map(Path, _ABOUT_ROOTS), _TYPE)


def is_span(row: Row) -> bool:
    """Return whether a row is a span of Braintrust."""
    return row.keys() >= _SPAN and not row.keys().isdisjoint({"span_attributes", "span_parents"})


def _is_root(row: Row) -> bool:
    stated = _boolean(row.get("is_root"))
    if stated is not None:
        return stated
    if "span_parents" in row:
        return json_within(row["span_parents"]) in (None, "", [])
    return bool(row["span_id"] == row["root_span_id"])


def _boolean(value: Any) -> bool | None:
    """Return a boolean, also one that a table has as text; None for anything else."""
    return {"true": True, "false": False}.get(str(value).lower())

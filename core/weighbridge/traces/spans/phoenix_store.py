"""Phoenix's database: rows of spans, whose attributes are nested objects, with the trace and the costs that other tables have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import cost_of, id_of, object_of, objects_of
from weighbridge.traces.spans.phoenix_rows import flat_attributes
from weighbridge.traces.stored_rows import PARTS, ROWS, SESSION, are_rows, json_cell

if TYPE_CHECKING:
    from collections.abc import Iterator

_TRACE = "trace_rowid"
_COLUMNS = frozenset({_TRACE, "span_id", "name", "span_kind", "attributes"})
STORED_KEYS = frozenset({_TRACE, SESSION})  #: one of which a row, or a trace with its rows, has

UNREAD = "weighbridge.unread_rows"  #: of a span: how many rows at it cannot be read


def is_stored_trace(value: dict[str, Any]) -> bool:
    """Return whether a value is the row of a trace with those of its spans."""
    return type(value.get(SESSION)) is dict and are_rows(value.get(ROWS), is_stored_span)


def is_stored_span(value: Any) -> bool:
    """Return whether a value is a row of the table of spans."""
    return (
        type(value) is dict
        and value.keys() >= _COLUMNS
        and type(value["span_id"]) is str
        and type(value["name"]) is str
        and id_of(value[_TRACE]) is not None
    )


def spans_of_stored_trace(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the spans of a trace, with their costs."""
    costs = {id_of(row.get("span_rowid")): row.get("total_cost") for row in _objects(value, PARTS)}
    trace_id = value[SESSION].get("trace_id")
    rows = [row for row in _objects(value, ROWS) if is_stored_span(row)]
    damaged = len(value[ROWS]) - len(rows)
    for row in rows:
        span = stored_span(row)
        span[UNREAD] += damaged
        damaged = 0
        if type(trace_id) is str:
            span["context"]["trace_id"] = trace_id
        cost = cost_of(costs.get(id_of(row.get("id"))))
        if cost is not None:
            span["attributes"].setdefault("llm.cost.total", cost)
        yield span


def stored_span(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as a span of Phoenix's API; that alone has no trace but the number of its row."""
    span = {name: row[name] for name in row if name not in _COLUMNS}
    attributes, events = json_cell(row, "attributes"), json_cell(row, "events")
    return span | {
        "name": row["name"],
        "span_kind": row["span_kind"],
        "context": {"trace_id": id_of(row[_TRACE]), "span_id": row["span_id"]},
        "attributes": flat_attributes(object_of(attributes)),
        "events": events if type(events) is list else [],
        UNREAD: int(type(attributes) is not dict),
    }


def _objects(value: dict[str, Any], key: str) -> list[dict[str, Any]]:
    return objects_of(value.get(key))

"""Route of the slices of a batch: its jobs by the values of metadata fields."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from weighbridge_producer.batch_shapes import MetadataSlice, MetadataSlices
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.service.access.auth import ReadBatch, SearchTurn
from weighbridge_producer.service.service import Served

FIELDS_LIMIT = 8

router = APIRouter(prefix="/api/batches", tags=["results"])


class SlicesQuery(BaseModel, extra="forbid"):
    """The fields to break the jobs down by."""

    by: list[Annotated[str, Field(max_length=300)]] = Field(
        min_length=1,
        max_length=FIELDS_LIMIT,
        description="a metadata field such as `metadata.topic`, or `metadata.tags.*` for each entry of a list; may be"
        " repeated",
    )


@router.get("/{batch_id}/slices", response_description="the outcomes by the values of the fields")
def list_slices(
    batch: ReadBatch, service: Served, _turn: SearchTurn, query: Annotated[SlicesQuery, Query()]
) -> MetadataSlices:
    """Return the jobs recorded so far by the values of metadata fields, as many as can be counted in the time limit."""
    by = tuple(dict.fromkeys(map(parse_field, query.by)))
    found = service.slice_counts.count(batch.status(), by)
    return MetadataSlices(
        [MetadataSlice(**each.as_dict()) for each in found.slices], found.jobs, found.complete
    )

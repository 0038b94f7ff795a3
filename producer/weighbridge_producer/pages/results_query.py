"""The query of the table of cases, which other pages keep to lead back to it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qs

from pydantic import BaseModel, Field

from weighbridge.store.result_filter import ResultFilter
from weighbridge_producer.pages.addresses import batch_at
from weighbridge_producer.service.caches.case_views import CaseOrder

TEXT_LIMIT = 600  #: characters of a query that links have
_FIELDS_LIMIT = 40

FieldName = Annotated[str, Field(max_length=200)]


class ResultsQuery(BaseModel):
    """The filters, order and columns, and the page: by number or, if unsorted, by cursor."""

    verdict: str = ""
    status: str = ""
    label: str = ""
    grader: str = ""
    cause: str = ""
    text: str = ""
    custom_id: str = ""
    order: CaseOrder = CaseOrder.FAILURES
    column: list[FieldName] = Field([], max_length=12)
    page: int = Field(1, ge=1, le=10**7)
    cursor: str | None = Field(None, max_length=500)

    def filters(self) -> dict[str, str]:
        """Return the filters that are set."""
        return {name: getattr(self, name) for name in ResultFilter.__dataclass_fields__}

    def address(self, batch_id: str, **changed: object) -> str:
        """Return the URL of the table with changed parameters."""
        order = "" if self.order == CaseOrder.FAILURES else self.order
        own = {**self.filters(), "order": order, "column": list(dict.fromkeys(self.column))}
        return batch_at(batch_id, "results", **(own | changed))

    def as_text(self) -> str:
        """Return the query for links to pages that lead back to the table; empty if it is too long for that."""
        own = self.address("", page=self.page if self.page > 1 else "").partition("?")[2]
        return (own or f"order={self.order}") if len(own) <= TEXT_LIMIT else ""

    @classmethod
    def of_text(cls, text: str) -> ResultsQuery | None:
        """Parse what `as_text` returned; None for anything else."""
        try:
            fields = parse_qs(text, max_num_fields=_FIELDS_LIMIT)
            return cls.model_validate(
                {
                    name: values if name == "column" else values[-1]
                    for name, values in fields.items()
                }
            )
        except ValueError:  # ValidationError is one
            return None

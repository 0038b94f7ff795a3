"""Routes of results: filtered pages, streams, and the results of one case."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated

import msgspec
import orjson
from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import AfterValidator, BaseModel, Field
from pydantic_core import PydanticCustomError
from starlette.concurrency import run_in_threadpool

from weighbridge.errors import NoSuchResultError
from weighbridge.graders.base import Verdict
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.outcome import JobStatus
from weighbridge.store.result_filter import TEXT_LIMIT, ResultFilter
from weighbridge_producer.batch_shapes import CaseResults, ResultsPage
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.service.access.auth import LargeRead, ReadBatch, Reader, search_turn
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.responses.report_stream import report_blocks
from weighbridge_producer.service.responses.result_stream import ResultStream
from weighbridge_producer.service.responses.slot_stream import HeldStream
from weighbridge_producer.service.service import Served

if TYPE_CHECKING:
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.service.limits.slots import Slot
    from weighbridge_producer.service.service import Service

NDJSON = "application/x-ndjson"
PAGE_LIMIT = 1_000

router = APIRouter(prefix="/api/batches", tags=["results"])


_FORMATS = ("json", "ndjson", *FORMS)


def _checked_format(name: str) -> str:
    if name not in _FORMATS:
        known = ", ".join(_FORMATS)
        raise PydanticCustomError("unknown_format", "expected one of {known}", {"known": known})
    return name


_Format = Annotated[
    str, Field(json_schema_extra={"enum": list(_FORMATS)}), AfterValidator(_checked_format)
]


class ResultQuery(BaseModel, extra="forbid"):
    """Filters and format of results; a filter that is omitted or empty matches everything."""

    verdict: str = Field(
        "",
        description="only results with this verdict; empty: all",
        json_schema_extra={"enum": ["", *Verdict]},
    )
    status: str = Field(
        "",
        description="only jobs with this status; empty: all",
        json_schema_extra={"enum": ["", *JobStatus]},
    )
    label: str = Field(
        "", max_length=NAME_LIMIT, description="only results with this label; empty: all"
    )
    grader: str = Field(
        "", max_length=NAME_LIMIT, description="only results of this grader; empty: of all"
    )
    cause: str = Field(
        "",
        max_length=NAME_LIMIT,
        description="a cause as the batch's summary names it, that of the first failed check, or a check for all its kinds",
    )
    text: str = Field(
        "", max_length=TEXT_LIMIT, description="anywhere in the result, ignoring case"
    )
    custom_id: str = Field(
        "",
        max_length=NAME_LIMIT,
        description="only results of the case with this id; empty: of all",
    )
    cursor: str | None = Field(
        None, description="`next_cursor` of the previous page, or any other cursor of the batch"
    )
    limit: int = Field(
        50, ge=1, le=PAGE_LIMIT, description="results in a page; a stream has no limit"
    )
    format: _Format | None = Field(
        None,
        description=f"`json`: a page; `ndjson`, or `Accept: {NDJSON}`: all matching results, one per line; any other: a file of that"
        " form with all matching results, sent once the last of them has been read",
    )
    cases: bool = Field(
        False, description="`csv` and `tsv` have one row per case, with columns for each label"
    )
    with_cases: bool = Field(
        False,
        description="`jsonl`: each result has its `case`, so that the file can be graded again",
    )
    follow: bool = Field(False, description="a stream continues until the batch has ended")
    marked: bool = Field(
        False,
        description="for the Python client: a stream without filters has cursors, each a line of the byte 0x1E and a"
        " JSON string, the `cursor` that continues after the lines before it, or null to keep the connection open",
    )

    def wanted(self) -> ResultFilter:
        """Return the filter."""
        return ResultFilter(
            **{name: getattr(self, name) for name in ResultFilter.__dataclass_fields__}
        )


@router.get(
    "/{batch_id}/results",
    responses={
        200: {
            "description": "a page, or with `ndjson` a stream of result lines; a stream that is cut off is not complete",
            "model": ResultsPage,
            "content": {
                media_type: {"schema": {"type": "string"}}
                for media_type in (NDJSON, *(form.media_type for form in FORMS.values()))
            },
        }
    },
)
async def list_results(
    batch: ReadBatch,
    request: Request,
    service: Served,
    identity: Reader,
    query: Annotated[ResultQuery, Query()],
) -> Response:
    """Return the matching results: a page as JSON, or all of them as a stream of lines."""
    wanted = query.wanted()
    if query.cases and not (query.format in FORMS and FORMS[query.format].has_case_rows):
        raise _invalid("only a table has rows of cases", "ask for it with format=csv or format=tsv")
    if _streams(request, query):
        if query.format in FORMS:
            FORMS[query.format].check_can_be_written()
        if query.with_cases and query.format != "jsonl":
            raise _invalid("only result lines have their cases", "ask for them with format=jsonl")
        if query.marked and query.format not in {None, "ndjson"}:
            raise _invalid("only a stream of lines can be marked", "ask for it with format=ndjson")
        if query.marked and wanted != ResultFilter():
            raise _invalid("a marked stream has no filter", "leave out one of them")
        stream = ResultStream(
            *(service, batch, wanted, query.cursor or None),
            follow=query.follow,
            marked=query.marked,
            scope=request.scope,
        )
        with ExitStack() as held:
            limits = [service.result_streams, *([service.listeners] if query.follow else [])]
            slots = [held.enter_context(limit.take(identity.project)) for limit in limits]
            await stream.begin()
            held.pop_all()
            if query.format in FORMS:
                return _report(service, batch, query, stream, slots)
            return HeldStream(stream.blobs(), slots, NDJSON)
    if query.with_cases:
        raise _invalid("a page of results has no cases", "ask for all of them with format=jsonl")
    if query.follow or query.marked:
        raise _invalid(
            "only a stream can follow a batch, or be marked",
            f"ask for it with format=ndjson, or with `Accept: {NDJSON}`",
        )
    await search_turn(request, service, identity)
    page = await run_in_threadpool(batch.search, wanted, query.cursor or None, query.limit)
    found = ResultsPage(list(map(msgspec.Raw, page.lines)), page.cursor, page.complete)
    return Response(msgspec.json.encode(found), media_type="application/json")


def _report(
    service: Service,
    batch: RedisBatch,
    query: ResultQuery,
    stream: ResultStream,
    slots: list[Slot],
) -> Response:
    """Return the results of a stream as a file in the requested form."""
    form = FORMS[query.format or ""]
    blocks = (
        stream.blobs()
        if form.name == "jsonl" and not query.with_cases
        else report_blocks(
            *(service, stream, form, batch), by_case=query.cases, adds_cases=query.with_cases
        )
    )
    file = f'attachment; filename="{batch.id}{form.endings[0]}"'
    return HeldStream(blocks, slots, form.media_type, {"Content-Disposition": file})


def _invalid(why: str, hint: str) -> ProblemError:
    return ProblemError(422, "INVALID_REQUEST", why, hint)


def _streams(request: Request, query: ResultQuery) -> bool:
    if query.format:
        return query.format != "json"
    return NDJSON in request.headers.get("accept", "")


@router.get(
    "/{batch_id}/results/{custom_id:path}",
    response_model=None,
    responses={200: {"model": CaseResults, "description": "the results of the case"}},
)
def show_results(
    batch: ReadBatch,
    custom_id: Annotated[str, Path(description="the id of the case")],
    _turn: LargeRead,
    label: Annotated[str | None, Query(description="only this label's result")] = None,
) -> Response:
    """Return the results of one case, one per grader."""
    found = batch.result(custom_id)
    chosen = [result for result in found if label is None or result["label"] == label]
    if not chosen:
        labels = ", ".join(str(result["label"])[:80] for result in found)
        raise NoSuchResultError(
            f"case {custom_id[:80]!r} of batch {batch.id} has no label {(label or '')[:80]!r}",
            f"its labels are: {labels}",
        )
    return Response(orjson.dumps(CaseResults(chosen)), media_type="application/json")

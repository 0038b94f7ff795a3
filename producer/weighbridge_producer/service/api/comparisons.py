"""Routes of comparisons of two batches."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import orjson
from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from weighbridge.settings import MIB
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.pairing import PairKey
from weighbridge_producer.comparison.pairs import Pair
from weighbridge_producer.comparison.regression_gates import RegressionGates, incomplete_runs
from weighbridge_producer.comparison.runs import Run, run_of_batch
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.reports.comparison_forms import ComparisonData, blocks_of, change_line
from weighbridge_producer.reports.forms import FORMS
from weighbridge_producer.service.access.auth import Reader, SearchTurn, visible_batch
from weighbridge_producer.service.problems import ProblemError
from weighbridge_producer.service.service import Served

router = APIRouter(prefix="/api", tags=["results"])

RESULTS_LIMIT = 20_000  #: of both batches, which take about a second to compare
INPUT_LIMIT_BYTES = 64 * MIB  #: of both batches' inputs, because results quote large cases


class ComparisonQuery(BaseModel, extra="forbid"):
    """Which batches, and what of them."""

    before: str = Field(max_length=100, description="the id of the batch to compare with")
    after: str = Field(max_length=100, description="the id of the batch to compare")
    by: list[str] = Field(
        [], max_length=8, description="break rates down by a field such as `metadata.topic`"
    )
    format: Literal["json", "jsonl", "csv", "tsv", "parquet", "md", "html", "junit", "otel"] = (
        Field(
            "json",
            description="`json`: groups, rates, gates and examples; `md`: a summary; `html`: a page; `junit`: the regressions;"
            " `otel`: OpenTelemetry events; any other: every result that changed",
        )
    )
    examples: int = Field(10, ge=0, le=1_000, description="in `json`: the first of each group")
    pair_by: str = Field(
        "",
        max_length=200,
        description="a metadata field by which results are paired instead of the custom_id, such as `metadata.file`",
    )
    max_regressions: str = Field(
        "",
        max_length=40,
        description="a gate: the number or percentage of results that may regress, such as `12` or `0.5%`",
    )
    fail_on_regression: bool = Field(
        False, description="a gate: no label's pass rate may be significantly lower"
    )
    min_effect: str = Field(
        "",
        max_length=40,
        description="`fail_on_regression` ignores smaller losses of a rate: a share such as `0.02` or `2%`",
    )
    allow_lost: bool = Field(False, description="accept results that only `before` judged")


@router.get(
    "/compare",
    responses={
        200: {
            "description": "the changes, and the result of each gate",
            "content": {
                media_type: {"schema": {"type": "string"}}
                for media_type in sorted({form.media_type for form in FORMS.values()})
            },
        }
    },
)
def compare(
    service: Served,
    identity: Reader,
    _turn: SearchTurn,
    query: Annotated[ComparisonQuery, Query()],
) -> Response:
    """Return the changes from one batch to another, with results paired by custom_id and label."""
    by, pair_by = tuple(map(parse_field, query.by)), PairKey.parse(query.pair_by)
    gates = RegressionGates(
        query.max_regressions, query.fail_on_regression, query.min_effect, query.allow_lost
    )
    form = FORMS.get(query.format)
    if form:
        form.check_can_be_written()
    batches = [visible_batch(service, identity, each) for each in (query.before, query.after)]
    states = [batch.status() for batch in batches]
    results = sum(state.counts.finished for state in states)
    if results > RESULTS_LIMIT or sum(state.input_bytes for state in states) > INPUT_LIMIT_BYTES:
        raise ProblemError(
            422,
            "COMPARISON_TOO_LARGE",
            f"the two batches have {results:,} results and their inputs; here at most {RESULTS_LIMIT:,} results"
            f" and {INPUT_LIMIT_BYTES // MIB} MiB of input are compared",
            f"use the command line, which has no limit: weighbridge compare {batches[0].id} {batches[1].id} --url URL",
        )
    runs = [run_of_batch(batch, state.status) for batch, state in zip(batches, states, strict=True)]
    with TemporaryDirectory(prefix="weighbridge-") as folder:
        changes = Path(folder) / "changes.jsonl"
        with changes.open("wb") as file:

            def write(run: Run, pair: Pair) -> None:
                file.write(change_line(run, pair))

            [found] = compare_runs(
                runs,
                by=by,
                pair_by=pair_by,
                examples=query.examples,
                on_change=write if form else None,
                in_full=True,
            )
        checked = gates.check(found)
        checked += incomplete_runs(runs) if checked else []
        if form is None:
            content = found.as_dict() | {"gates": [gate.as_dict() for gate in checked]}
            return Response(orjson.dumps(content), media_type="application/json")
        body = b"".join(blocks_of(ComparisonData([(found, checked)], changes), form))
    name = f"{batches[0].id}_{batches[1].id}{form.endings[0]}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=form.media_type, headers=headers)

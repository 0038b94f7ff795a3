"""Pages that compare two batches: the changes, and one case side by side."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from weighbridge.errors import InvalidFilterError, NoSuchResultError
from weighbridge.jobs.limits import NAME_LIMIT
from weighbridge.jobs.outcome import Outcome
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.pairs import Group
from weighbridge_producer.comparison.rows import (
    CAUSES_SHOWN,
    GROUPS,
    ChangedRow,
    cause_rows,
    p_name,
    rate_rows,
    side_text,
    steps_texts,
)
from weighbridge_producer.comparison.runs import run_of_batch
from weighbridge_producer.gating.fields import parse_field
from weighbridge_producer.pages.addresses import batch_at, result_at
from weighbridge_producer.pages.paired_steps import paired_timeline
from weighbridge_producer.pages.rendering import page
from weighbridge_producer.pages.result import CustomId, view_of
from weighbridge_producer.pages.text_diff import side_by_side
from weighbridge_producer.service.access.auth import LargeRead, Reader, SearchTurn, visible_batch
from weighbridge_producer.service.api.comparisons import INPUT_LIMIT_BYTES, RESULTS_LIMIT
from weighbridge_producer.service.service import Served
from weighbridge_producer.trace_view.case_view import StepSelection
from weighbridge_producer.trace_view.evidence import shown_evidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from weighbridge.jobs.result_line import ResultRow
    from weighbridge_producer.client.redis_batch import RedisBatch
    from weighbridge_producer.comparison.pairs import Pair
    from weighbridge_producer.pages.text_diff import Piece
    from weighbridge_producer.service.access.auth import Identity
    from weighbridge_producer.service.service import Service
    from weighbridge_producer.trace_view.case_view import CaseView

router = APIRouter()

_BATCHES_LISTED = 50
_EXAMPLES = 25  #: per group

_BatchQuery = Query(max_length=100)
_Label = Query(max_length=NAME_LIMIT)


class Side(NamedTuple):
    """One of two results shown side by side."""

    name: str
    batch_id: str
    href: Callable[..., str]  #: of the result's page, at a step if one is given
    result: ResultRow
    evidence: list[Any]
    view: CaseView

    @property
    def start(self) -> int:
        """The number of the first step shown; 1 without a trace."""
        return self.view.timeline.window.first if self.view.timeline else 1


@router.get("/compare")
def compare(
    request: Request,
    service: Served,
    identity: Reader,
    _turn: SearchTurn,
    before: Annotated[str, _BatchQuery] = "",
    after: Annotated[str, _BatchQuery] = "",
    by: Annotated[str, Query(max_length=300)] = "",
) -> HTMLResponse:
    """Show the changes from one batch to another or, if one is missing, a form to choose two."""
    context: dict[str, Any] = {"before": before, "after": after, "by": by, "found": None}
    context |= {"problem": "", "is_too_large": False, "results": 0, "most": RESULTS_LIMIT}
    if before and after:
        batches = [visible_batch(service, identity, each) for each in (before, after)]
        states = [each.status() for each in batches]
        context["results"] = results = sum(state.counts.finished for state in states)
        size = sum(state.input_bytes for state in states)
        if results > RESULTS_LIMIT or size > INPUT_LIMIT_BYTES:
            context["is_too_large"] = True
        else:
            context |= _compared(batches, by)
        address = str(request.base_url).rstrip("/")
        command = ["weighbridge", "compare", *(each.id for each in batches), "--url", address]
        context["command"] = shlex.join([*command, *(["--by", by] if by else [])])
        query = {"before": batches[0].id, "after": batches[1].id, "format": "csv"}
        context["csv_href"] = f"/api/compare?{urlencode(query)}"
    store = service.client.store
    ids = store.batches(_BATCHES_LISTED, project=identity.sees)
    return page(
        request,
        "compare.html",
        choices=[(state, options.source) for state, options in store.listed(ids)],
        batch_at=batch_at,
        **context,
    )


def _compared(batches: list[RedisBatch], by: str) -> dict[str, Any]:
    """Return the template's context for two batches."""
    try:
        fields = (parse_field(by),) if by else ()
    except InvalidFilterError as error:
        return {"problem": str(error)}
    [found] = compare_runs(list(map(run_of_batch, batches)), by=fields, examples=_EXAMPLES)
    ids = (batches[0].id, batches[1].id)
    groups = found.groups
    return {
        "found": found,
        "rates": list(rate_rows(found)),
        "p_name": p_name(found),
        "unchanged": groups[Group.UNCHANGED],
        "groups": [
            (str(group), css_class, groups[group], [_row(ids, p) for p in found.examples(group)])
            for group, css_class in GROUPS
            if groups[group]
        ],
        "causes": cause_rows(found)[:CAUSES_SHOWN],
    }


def _row(ids: tuple[str, str], pair: Pair) -> ChangedRow:
    label = pair.label or ""
    query = {"before": ids[0], "after": ids[1], "custom_id": pair.custom_id, "label": label}
    if pair.before and pair.after:
        href = f"/compare/case?{urlencode(query, errors='replace')}"
    else:
        href = result_at(ids[1] if pair.after else ids[0], pair.custom_id, label)
    was, is_now = (
        side_text(entry.outcome, entry.reason, entry.cause) if entry else ""
        for entry in (pair.before, pair.after)
    )
    steps = "; ".join(steps_texts(pair.check_changes()))
    return ChangedRow(pair.custom_id, label, href, was, is_now, steps)


@router.get("/compare/case")
def compare_case(
    request: Request,
    service: Served,
    identity: Reader,
    _turn: LargeRead,
    before: Annotated[str, _BatchQuery],
    after: Annotated[str, _BatchQuery],
    custom_id: CustomId,
    label: Annotated[str, _Label] = "",
    first: Annotated[int | None, Query(alias="from", ge=1, le=10**9)] = None,
) -> HTMLResponse:
    """Show the results of one case in two batches side by side, with their answers or the steps of their traces."""
    both = (("before", before), ("after", after))
    sides = [_side(service, identity, *each, custom_id, label, first) for each in both]
    if first is None and any(side.start > 1 for side in sides):
        # Both from where the first failure is shown; the other side was read from its own first step on.
        failed = (side.start for side in sides if side.result.outcome is Outcome.FAILED)
        first = min(failed, default=1)
        sides = [_side(service, identity, *each, custom_id, label, first) for each in both]
    timelines = [side.view.timeline for side in sides if side.view.timeline]
    is_paired = len(timelines) == len(sides)
    paired = paired_timeline(timelines[0], timelines[1], first) if is_paired else None
    query = {"before": before, "after": after}
    case_query = query | {"custom_id": custom_id, "label": label}
    return page(
        request,
        "compare_case.html",
        custom_id=custom_id,
        label=label,
        sides=sides,
        texts=_texts(sides),
        paired=paired,
        window_href=lambda start: (
            "/compare/case?" + urlencode(case_query | {"from": start}, errors="replace")
        ),
        compare_href=f"/compare?{urlencode(query, errors='replace')}",
    )


def _side(
    service: Service,
    identity: Identity,
    name: str,
    batch_id: str,
    custom_id: str,
    label: str,
    first: int | None,
) -> Side:
    batch = visible_batch(service, identity, batch_id)
    results, line = batch.rows_and_case(custom_id)
    chosen = _labelled(results, label, batch_id)
    view = view_of(service, identity, batch, line, chosen, StepSelection(None, first))
    href = partial(result_at, batch.id, custom_id, chosen.label or "")
    return Side(name, batch.id, href, chosen, shown_evidence(chosen.result), view)


def _labelled(results: list[ResultRow], label: str, batch_id: str) -> ResultRow:
    """Return the result with a label; the single result of an unreadable line counts for all labels."""
    for each in results:
        if each.label in {label or None, None}:
            return each
    raise NoSuchResultError(
        f"batch {batch_id[:80]!r} has no result of that case labelled {label[:80]!r}",
        f"it has {', '.join(str(each.label) for each in results[:20])}",
    )


def _texts(sides: list[Side]) -> list[tuple[str, tuple[list[Piece], list[Piece]], bool]]:
    """Return the inputs of both sides: name, the pieces of each side, and whether a text is truncated."""
    first, second = ({text.name: text for text in side.view.inputs or ()} for side in sides)
    return [
        (
            name,
            side_by_side(text.text, second[name].text),
            text.is_cut or second[name].is_cut,
        )
        for name, text in first.items()
        if name in second
    ]

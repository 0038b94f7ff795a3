"""Commands about batches on a shared server."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.jobs.batch_state import BatchStatus
from weighbridge.text import pluralize
from weighbridge_producer.cli import gate_options as gate_opt
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.completed_values import batch_ids
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.progress_bar import Bar
from weighbridge_producer.cli.show import (
    cell,
    err,
    exit_with,
    input_note,
    out,
    paused_note,
    print_json,
    print_paused_queues,
    print_state,
    share,
    shown,
    table,
)
from weighbridge_producer.cli.slices_text import print_slice_notes, print_slices
from weighbridge_producer.cli.summary_tables import print_summary
from weighbridge_producer.gating.exit_status import decide_on
from weighbridge_producer.gating.slices import SliceTally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.jobs.batch_state import BatchState
    from weighbridge.jobs.outcome import GraderSummary
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.client.client import Client


def add_to(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (status, watch, cancel, retry, pause, unpause, delete, batches):
        app.command()(command)
    app.command("dead-letters")(dead_letters)


def status(
    batch: opt.BatchId,
    by: gate_opt.By = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show the state of a batch."""
    gating = gate_opt.NO_GATES.parse(by)
    with opt.client(url) as client:
        handle = client.batch(batch)
        state, summary = handle.status(), handle.summary()
        slices = _slices(handle, gating)
        if state.counts.pending:
            print_paused_queues(client, handle)
    print_slice_notes(slices)
    if as_json:
        graders, listed = ([row.as_dict() for row in rows] for rows in (summary, slices.slices()))
        print_json({**state.as_dict(), "graders": graders, "slices": listed})
        return
    _print_outcomes(state, summary, slices)


def _print_outcomes(
    state: BatchState, summary: Iterable[GraderSummary], slices: SliceTally
) -> None:
    """Print a batch's state and counts, and where its errors are explained."""
    print_state(state)
    print_summary(summary, state.counts)
    print_slices(slices)
    if state.counts.errored:
        batch = shown(state.batch_id)
        out.print(f"\neach error, with a hint: weighbridge results {batch} --errored")


def _slices(handle: Batch, gating: gate_opt.Gating) -> SliceTally:
    """Return the counts of a batch's current results by the requested fields; empty without fields."""
    slices = SliceTally(gating.fields)
    for page in handle.pages(follow=False) if gating.fields else ():
        slices.add_lines(page.lines)
    return slices


@takes_option_groups
def watch(
    batch: opt.BatchId,
    gates: gate_opt.GateOptions = gate_opt.NO_GATES,
    by: gate_opt.By = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Follow a batch to its end.

    Exit status as for `run`: 0 when every job passed, 100 when jobs failed, 1 otherwise; `run --help` has the details.
    """
    gating = gates.parse(by)
    with opt.client(url) as client:
        handle = client.batch(batch)
        if handle.status().counts.pending:
            print_paused_queues(client, handle)
        state = _followed(handle, quiet=as_json)
        summary, slices = handle.summary(), _slices(handle, gating)
    decision = decide_on(state, summary, gating.gates, slices)
    if as_json:
        shown_slices = [row.as_dict() for row in slices.slices()]
        print_json({**state.as_dict(), "slices": shown_slices, **decision.as_dict()})
    else:
        _print_outcomes(state, summary, slices)
    print_slice_notes(slices)
    exit_with(decision)


def _followed(handle: Batch, *, quiet: bool) -> BatchState:
    """Show a batch's progress until it ends, and return its final state."""
    was_paused = was_idle = False
    with Bar(quiet=quiet) as bar:
        for state in handle.states():
            paused, is_idle = paused_note(state), bool(state.idle_seconds(time.time()))
            if paused and not was_paused:
                err.print(paused)
            if is_idle and not was_idle:
                err.print(input_note(state), soft_wrap=True)
            was_paused, was_idle = bool(paused), is_idle
            if not state.status.final:
                bar.update(state, "paused" if paused else "input not complete" if is_idle else "")
    return state


def cancel(batch: opt.BatchId, url: opt.Url = None, as_json: opt.AsJson = False) -> None:
    """Cancel the jobs that are not graded yet; graded ones are kept."""
    with opt.client(url) as client:
        handle = client.batch(batch)
        had_ended = handle.status().status.final
        state = handle.cancel()
    if had_ended or state.status is BatchStatus.COMPLETED:
        err.print(f"nothing was cancelled: the batch had already ended as {state.status}")
    print_json(state.as_dict()) if as_json else print_state(state)


def retry(batch: opt.BatchId, url: opt.Url = None, as_json: opt.AsJson = False) -> None:
    """Grade again jobs that were cancelled, expired or had a temporary error."""
    with opt.client(url) as client:
        handle = client.batch(batch)
        jobs = handle.retry()
        state = handle.status()
    if note := paused_note(state):
        err.print(note)
    if not jobs:
        err.print(
            "no job was cancelled, expired or had a temporary error, so the batch stays as it is:"
            f" {state.status}"
        )
    if as_json:
        print_json({"batch_id": batch, "retried": jobs})
    else:
        out.print(f"{pluralize(jobs, 'job')} put back to be graded again")


def dead_letters(
    put_back: Annotated[
        bool, typer.Option("--retry", help="Grade them again if their batch has ended.")
    ] = False,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the jobs given up because they crashed their worker process, timed out or took too much memory."""
    with opt.client(url) as client:
        letters = client.health().dead_letters
        if not letters and not as_json:
            err.print("there are no dead letters")
            return
        if put_back:
            batches = dict.fromkeys(letter.batch_id for letter in letters)
            retried = _retry_dead_letters(client, batches, quiet=as_json)
            if as_json:
                print_json(retried)
            return
    if as_json:
        print_json([asdict(letter) for letter in letters])
        return
    rows = table("batch", "label", "grader", "why", "jobs")
    for letter in letters:
        names = (letter.batch_id, letter.label, letter.grader, letter.code)
        rows.add_row(*map(shown, names), f"{letter.jobs:,}")
    out.print(rows)
    first = letters[0]
    out.print(
        "\nthe jobs of a row, with how each ended:"
        f" weighbridge results {shown(first.batch_id)} --errored --cause {shown(first.code)}"
    )


def _retry_dead_letters(
    client: Client, batches: Iterable[str], *, quiet: bool
) -> list[dict[str, str | int]]:
    """Retry the dead letters of batches; return the number per batch in JSON form."""
    retried: list[dict[str, str | int]] = []
    for batch in batches:
        handle = client.batch(batch)
        if handle.status().status.final:
            jobs = handle.retry(dead_letters=True)
            retried.append({"batch_id": batch, "retried": jobs})
            if not quiet:
                out.print(f"{shown(batch)}: {pluralize(jobs, 'job')} put back to be graded again")
        else:
            err.print(f"{shown(batch)} has not ended: wait until it ends, or cancel it")
    return retried


_AnyBatch = Annotated[
    str | None,
    typer.Argument(
        metavar="BATCH", help="A batch id.", callback=opt.utf8, autocompletion=batch_ids
    ),
]
_Queue = Annotated[
    str | None,
    typer.Option(metavar="QUEUE", help="Every batch of this queue instead.", callback=opt.utf8),
]


def pause(
    batch: _AnyBatch = None,
    queue: _Queue = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Stop workers from starting work on a batch or queue; work in progress is completed."""
    _set_paused(batch, queue, url, paused=True, as_json=as_json)


def unpause(
    batch: _AnyBatch = None,
    queue: _Queue = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Let workers continue a paused batch or queue."""
    _set_paused(batch, queue, url, paused=False, as_json=as_json)


def _set_paused(
    batch: str | None, queue: str | None, url: str | None, *, paused: bool, as_json: bool
) -> None:
    if (batch is None) == (queue is None):
        raise typer.BadParameter("give either a batch id or --queue QUEUE")
    with opt.client(url) as client:
        if batch is not None:
            handle = client.batch(batch)
            handle.pause() if paused else handle.unpause()
        else:
            client.pause_queue(queue or "") if paused else client.unpause_queue(queue or "")
    if as_json:
        print_json({"batch_id" if batch else "queue": batch or queue, "paused": paused})
        return
    out.print(f"{shown(batch or queue or '')} {'is paused' if paused else 'is no longer paused'}")


def delete(batch: opt.BatchId, url: opt.Url = None, as_json: opt.AsJson = False) -> None:
    """Delete a batch with its inputs and results."""
    with opt.client(url) as client:
        handle = client.batch(batch)
        handle.status()
        handle.delete()
    if as_json:
        print_json({"batch_id": batch, "deleted": True})
    else:
        out.print(f"{shown(batch)} is deleted")


def batches(
    most: Annotated[
        int, typer.Option("--most", min=1, help="The number of batches to list, newest first.")
    ] = 20,
    project: Annotated[
        str | None,
        typer.Option(metavar="P", help="Only this project's batches.", callback=opt.utf8),
    ] = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the newest batches."""
    with opt.client(url) as client:
        found = client.listed(most, project=project)
    if as_json:
        print_json([each.as_dict() for each in found])
        return
    rows = table("batch", "created (UTC)", "status", "finished", "passed", "source")
    for each in found:
        state, counts = each.state, each.state.counts
        rows.add_row(
            shown(state.batch_id),
            time.strftime("%Y-%m-%d %H:%M", time.gmtime(state.created_at)),
            _status_of(state),
            share(counts.finished, counts.total),
            share(counts.passed, counts.judged),
            cell(each.source, 60),
        )
    out.print(rows)
    for each in found:
        if note := paused_note(each.state):
            err.print(note)
        if each.state.idle_seconds(time.time()):
            err.print(f"{shown(each.state.batch_id)}: {input_note(each.state)}", soft_wrap=True)


def _status_of(state: BatchState) -> str:
    """Return a batch's status, and what keeps it from ending."""
    paused = ", paused" if paused_note(state) else ""
    idle = ", input not complete" if state.idle_seconds(time.time()) else ""
    return f"{state.status}{paused}{idle}"

"""`weighbridge submit`: submit cases as one batch to a shared server."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from weighbridge.errors import InterruptionError, ServerError, WeighbridgeError
from weighbridge.jobs.batch_state import Priority
from weighbridge.settings import masked, read_settings
from weighbridge.text import printable
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.option_groups import takes_option_groups
from weighbridge_producer.cli.reading import source_of
from weighbridge_producer.cli.reading_notes import (
    print_empty_expected,
    print_left_out,
    print_notes,
    print_unused,
)
from weighbridge_producer.cli.reading_options import USUAL_READING, ReadingOptions
from weighbridge_producer.cli.show import (
    err,
    error_value,
    exit_with,
    out,
    print_error,
    print_fault,
    print_json,
    print_paused_queues,
    print_waiting,
    shown,
)
from weighbridge_producer.client.client import check_resumed
from weighbridge_producer.gating.exit_status import Decision
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.input.lost_rows import lost_rows

if TYPE_CHECKING:
    from weighbridge.jobs.grader_spec import GraderSpec
    from weighbridge.store import Durability
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.client.client import Client


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(submit)


@takes_option_groups
def submit(
    cases: Annotated[list[str], typer.Argument(metavar="CASES", help=opt.CASES_HELP)],
    grader: opt.Graders = None,
    config: opt.Configs = None,
    graders: opt.GradersFile = None,
    reading: ReadingOptions = USUAL_READING,
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="BATCH", help="Continue a batch that was interrupted.", callback=opt.utf8
        ),
    ] = None,
    strict: opt.Strict = False,
    priority: Annotated[
        Priority, typer.Option(help="This batch's share of worker time when batches compete.")
    ] = "normal",
    project: opt.Project = None,
    url: opt.Url = None,
    as_json: opt.AsJson = False,
) -> None:
    """Submit CASES as one batch, and print its id.

    Exit status: 0 when the whole input was submitted. 1 when the input has no cases or could not be read to its end (the
    batch has the cases that were read), and after an error or an interruption. 2 for a usage error.
    """
    check_resumed(resume)
    specs, settings = opt.specs(grader, config, graders), read_settings()
    if resume:
        specs = _graders_of(resume, specs, url)
    given = source_of(cases, specs, settings, reading)
    # A resumed batch already has its graders.
    of_cases = () if resume else opt.check_graded(given, specs)
    with (
        opt.readable(given, specs, settings, strict=strict) as source,
        opt.client(url) as client,
    ):
        with opt.naming_the_line(graders):
            # Pass rates of one source are shown over time, and a sample is not comparable with the whole.
            name = printable(source.name) + (
                f" (sample {reading.sample.strip()})" if reading.sample else ""
            )
            batch = (
                client.batch(resume)
                if resume
                else client.open(name, specs, priority=priority, project=project)
            )
        if not resume:
            _print_what_delays(client, batch, of_cases)
        try:
            durability = batch.fill(source, resumed=bool(resume), on_wait=_Once())
        except (KeyboardInterrupt, ServerError) as error:
            if isinstance(error, WeighbridgeError):
                print_error(error, as_json=as_json)
            again = [*cases, *reading.as_arguments()]
            can_be_read_again = source is given and source.rereadable
            interrupted = isinstance(error, KeyboardInterrupt)
            _print_how_to_continue(
                batch, again if can_be_read_again else None, as_json=as_json and interrupted
            )
            raise typer.Exit(ERROR) from None
        if resume and not batch.status().status.final:  # not earlier: it may accept no more
            _print_what_delays(client, batch, of_cases)
        print_unused(given)
        print_empty_expected(given, specs)
        print_notes(given, specs)
        if batch.status().duplicates and (lost := lost_rows(given)).count:
            print_left_out(lost.count, lost, given, err)
        _end_with(batch, given.name, durability, as_json=as_json)


def _graders_of(
    resume: str, given: tuple[GraderSpec, ...], url: str | None
) -> tuple[GraderSpec, ...]:
    """Return the graders of a batch to resume; raises ConfigError if others are given."""
    from weighbridge_producer.client.batch import check_same_graders

    with opt.client(url) as client:
        batch = client.batch(resume)
        check_same_graders(batch, given)
        return batch.options().graders


def _end_with(batch: Batch, source: str, durability: Durability, *, as_json: bool) -> None:
    """Print what was submitted, and exit with the status for it."""
    unread = batch.unread
    state = batch.status()
    if as_json:
        more = {"durability": durability.as_dict(), "unread": unread and error_value(unread)}
        print_json(state.as_dict() | more)
    else:
        err.print(f"submitted: {durability}")
        out.print(shown(batch.id))
    if unread:
        print_fault(unread)
        reason = f"the input was not read to its end; batch {batch.id} has the cases that were read"
        exit_with(Decision(ERROR, reason))
    if not state.counts.total:
        reason = f"NO_CASES: {shown(source)} has no cases; batch {batch.id} is empty"
        exit_with(Decision(ERROR, reason))


def _print_what_delays(client: Client, batch: Batch, of_cases: tuple[GraderSpec, ...]) -> None:
    """Print a warning if the batch's queue is paused, no worker is running, or none has a grader of `of_cases`.

    The graders of the command are checked when the batch is opened.
    """
    print_paused_queues(client, batch)
    workers = client.workers()
    if not workers:
        err.print(f"no worker is running on {shown(masked(client.url))}; jobs wait for one")
        return
    known = {grader for worker in workers for grader in worker.graders}
    for name in sorted({spec.grader for spec in of_cases} - known):
        err.print(
            f"no running worker has the grader {shown(repr(name))}, which cases name: install its plug-in where the workers run,"
            " and restart them; `weighbridge retry` then grades what errored",
            soft_wrap=True,
        )


class _Once:
    """Prints why submission is waiting, each reason once."""

    def __init__(self) -> None:
        self._said = ""

    def __call__(self, why: str) -> None:
        if why != self._said:
            print_waiting(why)
            self._said = why


def _print_how_to_continue(batch: Batch, again: list[str] | None, *, as_json: bool) -> None:
    """Print what becomes of an interrupted submission, also as a JSON error if that is wanted."""
    message = f"interrupted; batch {batch.id} keeps what was submitted"
    hints = [f"cancel:   weighbridge cancel {batch.id}"]
    if again:
        command = shlex.join(["weighbridge", "submit", *again, "--resume", batch.id])
        hints.insert(0, f"continue: {command}")
    err.print(shown(message))
    for hint in hints:
        err.print(f"  {shown(hint)}", soft_wrap=True)
    if as_json:
        print_json({"error": error_value(InterruptionError(message, "\n".join(hints)).fault)})

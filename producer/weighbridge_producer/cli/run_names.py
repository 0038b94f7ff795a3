"""Runs by name on the command line: a results file, a batch, or a baseline."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from weighbridge.errors import BatchError, InputError, OutputError
from weighbridge.jobs.outcome import Outcome
from weighbridge.text import did_you_mean, pluralize
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, shown
from weighbridge_producer.comparison.baselines import baseline_like, has_baseline, run_of_baseline
from weighbridge_producer.comparison.runs import (
    Run,
    lines_of_batch,
    lines_of_file,
    run_of_batch,
    run_of_file,
)
from weighbridge_producer.input.chosen_ids import ChosenIds
from weighbridge_producer.input.files.input_paths import opened_input
from weighbridge_producer.reports.forms import output_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.jobs.batch_state import BatchStatus
    from weighbridge.settings import Settings
    from weighbridge_producer.client.batch import Batch
    from weighbridge_producer.input.source import Source

RUN_HELP = "a result file (.jsonl, plain, .gz or .zst), a batch id, or the name of a baseline"
_BATCH = "wb_"  #: prefix of batch ids


#: Of jobs that are done; all others are graded again.
_DONE = frozenset({Outcome.PASSED, Outcome.UNGRADABLE})


def failed_ids(name: str, settings: Settings, url: str | None) -> ChosenIds:
    """Return the ids of a run's cases, of which those with a failed, errored, cancelled or expired job are selected."""
    with ExitStack() as stack:
        run = open_run(name, settings, url, stack)
        return ChosenIds(
            (entry.custom_id, entry.outcome not in _DONE)
            for entry in run.entries()
            if entry.custom_id is not None
        )


def no_failed_case(source: Source, name: str) -> InputError:
    """Return the error for an input that has none of the cases that `failed_ids` selects."""
    failed = pluralize(len(source.only or ()), "case")
    if source.sample and source.only is not None and source.only.missing < len(source.only):
        return InputError(
            f"the sample of {source.sample} has none of the {failed} of {name!r} to grade again; nothing is written",
            "take a larger sample: --sample N takes N of these cases",
        )
    return InputError(
        f"{name!r} has {failed} to grade again, and {source.name!r} has none of them; nothing is written",
        "cases are found by custom_id: give the cases of that run, with the same ids, or leave out --only-failed",
    )


def no_case(source: Source) -> InputError:
    """Return the error for an input of which no row is a case."""
    notes = source.notes
    return InputError(
        f"no row of {source.name!r} is a case; nothing is written: {notes.leaves_out}",
        "give a log of an eval that matches answers with expected ones, or leave out --skip-without if that is the reason"
        if notes.other_rows
        else "correct the mapping: no member of the document has one of its inputs",
    )


def result_file(name: str) -> Path:
    """Return the path of a file of results; raises InputError for one of another form that `-o` writes."""
    path = Path(name)
    with opened_input(path) as file:
        begins_like_json = file.read(1) == b"{"
    try:
        form = output_of(name).form
    except OutputError:  # any other name
        return path
    if form.name == "jsonl" or begins_like_json:
        return path
    raise InputError(
        f"{name!r} is {form.what}, not a file of result lines",
        "give result lines: `run` and `results` write them with -o NAME.jsonl, beside other outputs",
    )


def open_run(
    name: str, settings: Settings, url: str | None, stack: ExitStack, *, whole: bool = False
) -> Run:
    """Return the run with a name; the stack closes its client, if it needs one.

    For a batch that has not ended, this prints a warning or, with `whole`, raises an error.
    """
    path, folder = Path(name), settings.baseline_folder
    if path.is_file():
        if has_baseline(folder, name):
            err.print(f"{shown(name)} names a file and a baseline; the file is read")
        return run_of_file(result_file(name), settings)
    if has_baseline(folder, name):
        return run_of_baseline(folder, name, settings)
    if not name.startswith(_BATCH):
        meant = did_you_mean(baseline_like(folder, name))
        raise InputError(
            f"{name!r} is neither a file of results nor a batch id nor a baseline in {str(folder)!r}{meant}",
            "give a .jsonl file that `run -o` wrote, an id that `weighbridge batches` lists, or a name that"
            " `weighbridge baseline list` lists",
        )
    return run_of_batch(*_batch(name, url, stack, whole=whole))


def open_lines(
    name: str, settings: Settings, url: str | None, stack: ExitStack
) -> Iterator[tuple[str, bytes]]:
    """Return the result lines of a file or batch; the stack closes the client, if one is needed."""
    if name.startswith(_BATCH) and not Path(name).is_file():
        return lines_of_batch(_batch(name, url, stack)[0])
    path = result_file(name) if Path(name).is_file() else Path(name)
    return lines_of_file(path, settings)


def _batch(
    name: str, url: str | None, stack: ExitStack, *, whole: bool = False
) -> tuple[Batch, BatchStatus]:
    batch = stack.enter_context(opt.client(url)).batch(name)
    state = batch.status()
    if not state.status.final:
        if whole:
            raise BatchError(
                f"batch {name} is {state.status}: its results are not complete",
                f"`weighbridge watch {name}` waits until it ends",
            )
        err.print(f"{shown(name)} is {state.status}: only the results that it has now are read")
    return batch, state.status

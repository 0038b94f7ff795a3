"""The grading of a `run`, with its progress, up to its report or its interruption."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from weighbridge.errors import InputError, InterruptionError, OutputError, WeighbridgeError
from weighbridge_producer.cli.interruption import ignore_interruption
from weighbridge_producer.cli.progress_bar import Bar
from weighbridge_producer.cli.show import (
    err,
    error_value,
    print_error,
    print_json,
    print_waiting,
    shown,
    silence_stdout,
    stdout_bytes,
)
from weighbridge_producer.gating.gates import ERROR
from weighbridge_producer.reports.forms import goes_to_stdout
from weighbridge_producer.run.key_differences import key_differences, share_a_file
from weighbridge_producer.run.run_folder import RunState, state_root

if TYPE_CHECKING:
    from weighbridge.settings import Settings
    from weighbridge_producer.run.local_run import LocalRun
    from weighbridge_producer.run.options import RunOptions
    from weighbridge_producer.run.run_report import Progress, RunReport

_INTERRUPTED = "interrupted"
_READER_LEFT = "the program that read the output has ended"


def run_to_end(
    options: RunOptions, settings: Settings, cases: list[str], *, quiet: bool
) -> RunReport:
    """Run with a progress bar and return the report; a run that is interrupted or fails ends the command.

    `cases` are those of the command line, for the command that discards what is kept.
    """
    from weighbridge_producer.run.local_run import LocalRun

    stdout = stdout_bytes() if any(map(goes_to_stdout, options.outputs)) else None
    with Bar(quiet=quiet) as bar:

        def show(progress: Progress) -> None:
            bar.update(progress.state, progress.note, progress.read_share)

        run = LocalRun(options, settings, show, stdout, print_waiting, _print_restart)
        _print_interrupted(run, cases, settings)
        is_refused = False
        try:
            return run.go()
        except KeyboardInterrupt:
            ignore_interruption()
            left = _INTERRUPTED
        except BrokenPipeError:
            silence_stdout()
            left = _READER_LEFT
        except WeighbridgeError as error:
            print_error(error, as_json=quiet)
            left = "stopped"
            is_refused = _is_refusal(error)
        except OSError as error:
            fault = OutputError(f"{error.strerror}: {error.filename or 'the results'}")
            print_error(fault, as_json=quiet)
            left = "stopped"
    as_json = quiet and left == _INTERRUPTED
    _print_how_to_continue(run, left, cases, as_json=as_json, is_refused=is_refused)
    if run.stuck:
        # A thread blocked on a pipe cannot be stopped, and would block the interpreter's exit.
        os._exit(ERROR)
    raise typer.Exit(ERROR)


def _is_refusal(error: WeighbridgeError) -> bool:
    """Return whether the unchanged input would be refused again, unlike a file that may be readable later."""
    of_form = (type(None), LookupError, TypeError, ValueError)
    return isinstance(error, InputError) and isinstance(error.__context__, of_form)


def _print_how_to_continue(
    run: LocalRun, left: str, cases: list[str], *, as_json: bool, is_refused: bool
) -> None:
    """Print why a run has ended, and what becomes of its work, also as a JSON error if that is wanted."""
    hint = why = ""
    if not run.state.resumable:
        why = ", because the input cannot be read a second time"
    elif is_refused:
        why = ", because the input would be refused again"
    elif left == _READER_LEFT and run.saved_nothing:
        why = ", because no result was saved yet"
    if run.state.batch and not why:
        message = f"{left}; the finished work is kept in {run.state.folder}"
        if run.finished_nothing:
            message = f"{left}; the run is kept in {run.state.folder}, without a result so far"
        discard = shlex.join(["weighbridge", "run", *cases, "--clean"])
        hint = f"to continue, run the same command again; to discard it, {discard}"
        run.state.release()
    else:
        message = f"{left}; the finished work is not kept{why}"
        if not why and not run.state.collected.rows:
            message = f"{left} before any work was finished"
        run.state.remove()
    err.print(shown(message))
    if hint:
        err.print(f"  {shown(hint)}", soft_wrap=True)
    if as_json:
        print_json({"error": error_value(InterruptionError(message, hint).fault)})


def _print_interrupted(run: LocalRun, cases: list[str], settings: Settings) -> None:
    """Print which interrupted run is continued, or why one of the same input is not, and that others are kept."""
    if run.state.batch:
        err.print(f"continuing the interrupted run in {shown(str(run.state.folder))}")
    kept = []
    with suppress(OSError):
        for state in RunState.interrupted(state_root(settings)):
            kept.append(state)
            state.release()
    if nearest := _nearest_of_same_input(kept, run):
        kept.remove(nearest)
        _print_why_not_continued(nearest, run, cases)
    if kept:
        others = (
            "another interrupted run is"
            if len(kept) == 1
            else f"{len(kept)} other interrupted runs are"
        )
        where = kept[0].folder if len(kept) == 1 else kept[0].folder.parent
        err.print(
            f"[dim]{others} kept in {shown(str(where))}; `weighbridge run --clean` removes {'it' if len(kept) == 1 else 'them'}[/]"
        )


def _nearest_of_same_input(kept: list[RunState], run: LocalRun) -> RunState | None:
    """Return the interrupted run that a run of the same input differs least from, the latest of several.

    It is None if the run continues one, or could not continue any.
    """
    if run.state.batch or not run.state.resumable:
        return None
    key = run.state.key
    return min(
        (state for state in reversed(kept) if state.key != key and share_a_file(state.key, key)),
        key=lambda state: len(key_differences(state.key, key)),
        default=None,
    )


def _print_why_not_continued(state: RunState, run: LocalRun, cases: list[str]) -> None:
    why = "; ".join(key_differences(state.key, run.state.key))
    discard = shlex.join(["weighbridge", "run", *cases, "--clean"])
    err.print(
        shown(
            f"starting at the first line; the interrupted run in {state.folder} is not continued: {why}"
        ),
        soft_wrap=True,
    )
    err.print(f"  {shown(f'to discard it, {discard}')}", soft_wrap=True)


def _print_restart(why: str) -> None:
    err.print(shown(f"starting at the first line: {why}"), soft_wrap=True)

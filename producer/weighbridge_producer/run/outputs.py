"""Output files, generated from the complete results."""

from __future__ import annotations

import errno
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from weighbridge.errors import OutputError
from weighbridge_producer.input.files.folder_files import OUR_RESULTS
from weighbridge_producer.reports.forms import STDOUT, Output, output_of
from weighbridge_producer.run.durable_files import replace, replacement, sync
from weighbridge_producer.run.terminal import safe_for_terminals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge_producer.input.source import Source
    from weighbridge_producer.reports.report import Report


def check_outputs(outputs: Iterable[str], source: Source) -> None:
    """Check that all outputs have a known form, can be written, and are not part of the input of this or the next run.

    Raises OutputError.
    """
    for target in check_targets(outputs):
        check_output(target, source)


def check_targets(outputs: Iterable[str]) -> list[str]:
    """Return the files of outputs; OutputError if one has an unknown form or cannot be written."""
    chosen = list(map(output_of, outputs))
    for output in chosen:
        output.form.check_can_be_written()
    targets = [output.target for output in chosen]
    if targets.count(STDOUT) > 1:
        raise OutputError("several outputs go to standard output", "name files for all but one")
    files = [target for target in targets if target != STDOUT]
    for file in files:
        check_folder(file)
    check_differ(chosen)
    return files


def check_differ(outputs: Iterable[Output]) -> None:
    """Raise OutputError if two outputs go to one file, also by another name of it."""
    outputs_of: dict[object, Output] = {}
    for output in dict.fromkeys(outputs):
        if (file := output.file) is None:
            continue
        known = (file.stat().st_dev, file.stat().st_ino) if file.exists() else file
        other = outputs_of.setdefault(known, output)
        if other is not output:
            names = (f"'{each.form.name}={each.target}'" for each in (other, output))
            raise OutputError(
                f"the outputs {' and '.join(names)} go to one file", "name another file for one"
            )


def check_source(source: str, targets: Iterable[str], what: str = "the input") -> None:
    """Raise OutputError if an output would overwrite a file that is read; `what` says which it is."""
    for target in targets:
        if Path(source).is_file() and Path(target).exists() and Path(target).samefile(source):
            raise OutputError(f"the output {target!r} is {what}", "name another file")


def check_output(output: str, source: Source) -> None:
    """Raise OutputError if a file cannot be written, or is part of the input of this or the next run."""
    if source.would_take(output):
        raise OutputError(
            f"the output {output!r} would be part of the input {source.name!r} of the next run",
            f"write it elsewhere, or let its name end in {OUR_RESULTS}, which is never read as input",
        )
    check_folder(output)
    joined = source.joins.files if source.joins else ()
    for files, what in ((source.files, "the input"), (joined, "joined with the input")):
        local = [file for file in files if isinstance(file, Path) and file.exists()]
        if Path(output).exists() and any(map(Path(output).samefile, local)):
            raise OutputError(f"the output {output!r} is {what}", "name another file")


def check_folder(output: str) -> None:
    """Raise OutputError if a file is not writable, or its folder, behind all links, does not exist or is not writable."""
    folder = Path(os.path.realpath(output)).parent
    if not folder.is_dir():
        raise OutputError(
            f"the folder of the output {output!r} does not exist", "create the folder first"
        )
    if Path(output).is_dir():
        raise OutputError(f"the output {output!r} is a folder", "name a file in it")
    is_device = Path(output).exists() and not Path(output).is_file()
    if not is_device and not os.access(folder, os.W_OK):
        raise OutputError(
            f"the folder of the output {output!r} cannot be written to", "name another"
        )
    if Path(output).is_file() and not os.access(output, os.W_OK):
        raise OutputError(f"the output {output!r} cannot be written to", "name another file")


def _keep_quiet(_: str) -> None:
    pass


def deliver(
    report: Report, outputs: Iterable[str], on_wait: Callable[[str], None] = _keep_quiet
) -> None:
    """Generate all outputs from the results file, and sync them to disk.

    The results file itself becomes the first plain JSON Lines output, once all others are complete. `on_wait` is called
    with the reason when this has to wait.
    """
    named = [output for output in map(output_of, sorted(set(outputs))) if output.target != STDOUT]
    moved = next((output for output in named if output.is_results_file), None)
    for output in named:
        if output != moved:
            write(report, output, on_wait)
    if moved and moved.file:
        replace(report.results, moved.file)
    else:
        report.results.unlink()


def write(report: Report, output: Output, on_wait: Callable[[str], None] = _keep_quiet) -> None:
    """Write one output to its file, and sync it to disk."""
    write_blocks(output.blocks(report), output, on_wait)


def write_blocks(
    blocks: Iterable[bytes], output: Output, on_wait: Callable[[str], None] = _keep_quiet
) -> None:
    """Write blocks of bytes to an output's file, which is replaced when all are written, and sync it to disk."""
    with opened_output(output, on_wait) as file:
        shown = safe_for_terminals(file)
        shown.writelines(blocks)
        shown.flush()


@contextmanager
def opened_output(
    output: Output, on_wait: Callable[[str], None] = _keep_quiet
) -> Iterator[BinaryIO]:
    """Open an output's file, which is replaced at the end of the block unless that raises.

    A pipe that no program reads is waited for, after `on_wait` was called with that reason.
    """
    # In GitHub Actions, the steps of a job all append to the same summary file.
    adds = output.target == os.environ.get("GITHUB_STEP_SUMMARY")
    if output.file and not adds:
        with replacement(output.file) as file:
            yield file
        return
    target = Path(output.target)
    with (
        _open_pipe(target, on_wait)
        if target.is_fifo()
        else target.open("ab" if adds else "wb") as file
    ):
        yield file
    if target.is_file():
        sync(target)
        sync(target.parent)


def _open_pipe(pipe: Path, on_wait: Callable[[str], None]) -> BinaryIO:
    try:
        opened = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno != errno.ENXIO:
            raise
        on_wait(f"no program reads the pipe {str(pipe)!r} yet")
        return pipe.open("wb")
    os.set_blocking(opened, True)
    return os.fdopen(opened, "wb")


def write_each(
    report: Report,
    outputs: Iterable[str],
    stdout: BinaryIO,
    on_wait: Callable[[str], None] = _keep_quiet,
) -> None:
    """Write each output to its file or to standard output."""
    for output in map(output_of, outputs):
        if output.target == STDOUT:
            stdout.writelines(output.blocks(report))
            stdout.flush()
        else:
            write(report, output, on_wait)

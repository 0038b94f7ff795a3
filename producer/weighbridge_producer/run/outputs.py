"""Where results go: the files that are made of the results once all are there."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from weighbridge.errors import OutputError
from weighbridge_producer.input.files import OUR_RESULTS
from weighbridge_producer.reports.forms import STDOUT, Output, output_of
from weighbridge_producer.run.durable_files import sync

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge_producer.input.source import Source
    from weighbridge_producer.reports.report import Report


def check_outputs(outputs: Iterable[str], source: Source) -> None:
    """Refuse an output of unknown form, that cannot be written, or that is input now or next time.

    Raises OutputError.
    """
    for target in check_targets(outputs):
        check_output(target, source)


def check_targets(outputs: Iterable[str]) -> list[str]:
    """Return the files of outputs; refuse one of unknown form, or that cannot be written: raises OutputError."""
    chosen = list(map(output_of, outputs))
    for output in chosen:
        output.form.check_can_be_written()
    targets = [output.target for output in chosen]
    if targets.count(STDOUT) > 1:
        raise OutputError("several outputs go to standard output", "name files for all but one")
    files = [target for target in targets if target != STDOUT]
    for file in files:
        check_folder(file)
    return files


def check_source(source: str, targets: Iterable[str]) -> None:
    """Refuse to write over the file that is read; raises OutputError."""
    for target in targets:
        if Path(source).is_file() and Path(target).exists() and Path(target).samefile(source):
            raise OutputError(f"the output {target!r} is the input", "name another file")


def check_output(output: str, source: Source) -> None:
    """Refuse a file that cannot be written, or that is input now or next time; raises OutputError."""
    if source.would_take(output):
        raise OutputError(
            f"the output {output!r} would be part of the input {source.name!r} of the next run",
            f"write it elsewhere, or let its name end in {OUR_RESULTS}, which is never read as input",
        )
    check_folder(output)
    local = [file for file in source.files if isinstance(file, Path) and file.exists()]
    if Path(output).exists() and any(map(Path(output).samefile, local)):
        raise OutputError(f"the output {output!r} is the input", "name another file")


def check_folder(output: str) -> None:
    """Refuse a file whose folder is not there or cannot be written to; raises OutputError."""
    folder = Path(output).absolute().parent
    if not folder.is_dir():
        raise OutputError(f"the folder of the output {output!r} does not exist", "make it first")
    if Path(output).is_dir():
        raise OutputError(f"the output {output!r} is a folder", "name a file in it")
    if not os.access(folder, os.W_OK):
        raise OutputError(
            f"the folder of the output {output!r} cannot be written to", "name another"
        )


def deliver(report: Report, outputs: Iterable[str]) -> None:
    """Make every output from a file of results, and put them on the disk.

    The file itself becomes the first plain JSON Lines one, after all others are complete.
    """
    named = [output for output in map(output_of, sorted(set(outputs))) if output.target != STDOUT]
    moved = next((output for output in named if output.is_plain), None)
    for output in named:
        if output != moved:
            write(report, output)
    if moved:
        target = Path(moved.target)
        report.results.replace(target)
        sync(target.parent)
    else:
        report.results.unlink()


def write(report: Report, output: Output) -> None:
    """Write one output into its file, and put it on the disk."""
    write_blocks(output.blocks(report), output)


def write_blocks(blocks: Iterable[bytes], output: Output) -> None:
    """Write what an output is made of into its file, and put it on the disk."""
    target = Path(output.target)
    # Steps of one job of GitHub Actions may each add to the same summary.
    adds = output.target == os.environ.get("GITHUB_STEP_SUMMARY")
    with target.open("ab" if adds else "wb") as file:
        file.writelines(blocks)
    if target.is_file():
        sync(target)
        sync(target.parent)


def write_each(report: Report, outputs: Iterable[str], stdout: BinaryIO) -> None:
    """Write every output, to its file or to standard output."""
    for output in map(output_of, outputs):
        if output.target == STDOUT:
            stdout.writelines(output.blocks(report))
            stdout.flush()
        else:
            write(report, output)

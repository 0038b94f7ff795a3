"""Where results go: what is made at the end of the JSON Lines file that grew as they came."""

from __future__ import annotations

import csv
import gzip
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import zstandard

from weighbridge.errors import OutputError
from weighbridge.jobs.result import ResultRow
from weighbridge_producer.input.files import OUR_RESULTS
from weighbridge_producer.run.syncing import sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from weighbridge_producer.input.source import Source

STDOUT = "-"
_COPY_BYTES = 1024 * 1024
_COLUMNS = (
    "custom_id",
    "line",
    "label",
    "grader",
    "grader_version",
    "status",
    "verdict",
    "score",
    "cause",
    "error_code",
    "error_message",
    "receipt",
)


# A spreadsheet runs a cell that begins so as a formula; where `;` parts cells, one may begin within ours.
_SIGNS = "=+@\uff1d\uff0b\uff0d\uff20-"
_FORMULA = re.compile(rf"\A(?=[\t\r\n{_SIGNS}])|(?<=[;\t\r\n])(?=[{_SIGNS}])")


def check_outputs(outputs: Iterable[str], source: Source) -> None:
    """Refuse an output of unknown form, that cannot be written, or that is input now or next time.

    Raises OutputError.
    """
    for output in outputs:
        if output == STDOUT:
            continue
        _writer(output)
        check_output(output, source)


def check_output(output: str, source: Source) -> None:
    """Refuse a file that cannot be written, or that is input now or next time; raises OutputError."""
    if source.would_take(output):
        raise OutputError(
            f"the output {output!r} would be part of the input {source.name!r} of the next run",
            f"write it elsewhere, or let its name end in {OUR_RESULTS}, which is never read as input",
        )
    check_folder(output)
    if Path(output).exists() and any(map(Path(output).samefile, filter(Path.exists, source.files))):
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


def deliver(results: Path, outputs: Iterable[str]) -> None:
    """Make every output from a file of results, and put them on the disk.

    The file itself becomes the first plain JSON Lines one, after all others are complete.
    """
    named = [Path(output) for output in sorted(set(outputs) - {STDOUT})]
    moved = next((output for output in named if output.name.endswith(".jsonl")), None)
    for output in named:
        if output != moved:
            _writer(str(output))(results, output)
            sync(output)
            sync(output.parent)
    if moved:
        results.replace(moved)
        sync(moved.parent)
    else:
        results.unlink()


def _writer(output: str) -> Callable[[Path, Path], None]:
    for suffix, writer in _WRITERS.items():
        if output.endswith(suffix):
            return writer
    raise OutputError(
        f"cannot tell what to write to {output!r}",
        f"known endings: {', '.join(_WRITERS)}, and - for standard output",
    )


def _write_plain(results: Path, output: Path) -> None:
    shutil.copyfile(results, output)


def _write_gzip(results: Path, output: Path) -> None:
    with (
        results.open("rb") as source,
        output.open("wb") as raw,
        gzip.GzipFile("", "wb", 6, raw, mtime=0) as packed,
    ):
        shutil.copyfileobj(source, packed, _COPY_BYTES)


def _write_zstd(results: Path, output: Path) -> None:
    with results.open("rb") as source, output.open("wb") as target:
        zstandard.ZstdCompressor().copy_stream(source, target)


def _write_csv(results: Path, output: Path) -> None:
    with output.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, quoting=csv.QUOTE_ALL)
        table.writerow(_COLUMNS)
        for row in _rows(results):
            table.writerow(map(_inert, _cells(row)))


def _cells(row: ResultRow) -> Iterator[Any]:
    """Yield what a table tells of a result, in the order of its columns."""
    yield from (row.custom_id, row.line, row.label, row.grader, row.grader_version, row.status)
    judged, error = row.result or {}, row.error
    yield from (judged.get("verdict"), judged.get("score"), row.reason())
    yield from (error.code, error.message) if error else (None, None)
    yield row.receipt


def _inert(value: Any) -> Any:
    return _FORMULA.sub("'", value) if isinstance(value, str) else value


def _write_junit(results: Path, output: Path) -> None:
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    counted_as = {"failure": "failures", "error": "errors", "skipped": "skipped"}
    for row in _rows(results):
        counts["tests"] += 1
        if kind := row.outcome.junit:
            counts[counted_as[kind]] += 1
    numbers = " ".join(f'{name}="{count}"' for name, count in counts.items())
    with output.open("w", encoding="utf-8") as file:
        file.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites {numbers}>\n')
        file.write(f'<testsuite name="weighbridge" {numbers}>\n')
        for row in _rows(results):
            file.write(_junit_case(row))
        file.write("</testsuite>\n</testsuites>\n")


def _junit_case(row: ResultRow) -> str:
    # Not above: it loads an HTTP client and TLS.
    from xml.sax.saxutils import escape, quoteattr

    name = quoteattr(_xml_text(row.custom_id or f"line {row.line}"))
    head = f"<testcase classname={quoteattr(_xml_text(row.label or 'weighbridge'))} name={name}"
    kind = row.outcome.junit
    if not kind:
        return head + "/>\n"
    why, all_reasons = _xml_text(row.reason()), _xml_text("\n".join(_reasons(row)))
    return f"{head}><{kind} message={quoteattr(why)}>{escape(all_reasons)}</{kind}></testcase>\n"


def _xml_text(text: str) -> str:
    return "".join(
        c if (c >= " " and c not in "\ufffe\uffff") or c in "\t\n" else "\ufffd" for c in text
    )


def _reasons(row: ResultRow) -> list[str]:
    """Return all that a job failed of, each with the steps that show it."""
    return [
        f"{check['check']}: {check['description']}"
        + (f" (steps: {', '.join(check['step_ids'])})" if check["step_ids"] else "")
        for check in row.failed_checks
    ] or [row.reason()]


def _rows(results: Path) -> Iterator[ResultRow]:
    with results.open("rb") as file:
        yield from map(ResultRow.from_bytes, file)


_WRITERS: dict[str, Callable[[Path, Path], None]] = {
    ".jsonl": _write_plain,
    ".jsonl.gz": _write_gzip,
    ".jsonl.zst": _write_zstd,
    ".csv": _write_csv,
    ".xml": _write_junit,
}

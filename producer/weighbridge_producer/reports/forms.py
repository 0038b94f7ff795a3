"""The output forms, with their file suffixes, names and functions."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.errors import OutputError
from weighbridge.text import closest, did_you_mean

if TYPE_CHECKING:
    from weighbridge_producer.reports.report import Report

STDOUT = "-"
#: Names of standard output in the file system; opened by name, it would have a position of its own in a file.
_NAMES_OF_STDOUT = frozenset({"/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"})
_OPEN_FILES = ("/dev/fd", "/proc")
_LINKS_LIMIT = 40  #: the most that Linux follows
_BLOCK_BYTES = 256 * 1024
_ROOM = "weighbridge_producer.reports"


class Form(NamedTuple):
    """An output form."""

    name: str
    endings: tuple[str, ...]
    media_type: str
    what: str  #: description for help texts
    made_by: str  #: `module:function` in this package; it yields blocks of bytes
    check: str = ""  #: `module:function` that raises OutputError if a requirement is missing
    has_case_rows: bool | None = None  #: of a table: whether it can have one row per case

    def blocks(self, report: Report) -> Iterator[bytes]:
        """Yield the output."""
        make: Callable[[Report], Iterator[bytes]] = _loaded(self.made_by)
        return make(report)

    def check_can_be_written(self) -> None:
        """Raise OutputError if a required package is not installed."""
        if self.check:
            _loaded(self.check)()


def _loaded(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f"{_ROOM}.{module}"), function)


#: In the order of the help text. A form's module is imported when it is used.
FORMS = {
    form.name: form
    for form in (
        Form("jsonl", (".jsonl", ".ndjson"), "application/x-ndjson", "JSON Lines", "lines:blocks"),
        Form(
            "csv",
            (".csv",),
            "text/csv",
            "a table",
            "csv_tables:csv_blocks",
            has_case_rows=True,
        ),
        Form(
            "tsv",
            (".tsv",),
            "text/tab-separated-values",
            "a table",
            "csv_tables:tsv_blocks",
            has_case_rows=True,
        ),
        Form(
            "parquet",
            (".parquet",),
            "application/vnd.apache.parquet",
            "a typed table",
            "parquet:blocks",
            "parquet:check",
            has_case_rows=False,
        ),
        Form("md", (".md",), "text/markdown", "a summary", "markdown:blocks"),
        Form("html", (".html",), "text/html", "a page in one file", "html:blocks"),
        Form("junit", (".xml",), "application/xml", "JUnit", "junit:blocks"),
        Form(
            "otel",
            (".otlp.jsonl",),
            "application/x-ndjson",
            "OpenTelemetry events",
            "otel:blocks",
        ),
    )
}
_PACKING_NAMES = {".gz": "gzip", ".zst": "zstd"}
_PACKINGS = tuple(_PACKING_NAMES)


class Output(NamedTuple):
    """A target and the form to write there."""

    target: str  #: a file name, or STDOUT
    form: Form
    packing: str = ""  #: a suffix in `_PACKINGS`

    @property
    def is_plain(self) -> bool:
        """True if the output is the unchanged result lines."""
        return self.form.name == "jsonl" and not self.packing

    @property
    def description(self) -> str:
        """The form in words, with its compression."""
        return (
            f"{self.form.what}, {_PACKING_NAMES[self.packing]}" if self.packing else self.form.what
        )

    @property
    def file(self) -> Path | None:
        """The file that a new one replaces, behind all links; None for standard output, devices, pipes and open files."""
        if self.target == STDOUT or _is_open_file(Path(self.target)):
            return None
        file = Path(os.path.realpath(self.target))
        return file if file.is_file() or not file.exists() else None

    @property
    def is_results_file(self) -> bool:
        """True if the file of result lines may become the output."""
        return self.is_plain and self.file is not None

    def blocks(self, report: Report) -> Iterator[bytes]:
        """Yield the content to write."""
        return self.packed(self.form.blocks(report))

    def packed(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield blocks, compressed if the suffix requires it."""
        return _PACKERS[self.packing](blocks) if self.packing else blocks


def output_of(text: str) -> Output:
    """Parse `FILE`, whose suffix determines the form, `FORM=FILE`, or `-` for JSON Lines; raises OutputError."""
    name, equals, target = text.partition("=")
    if equals and name in FORMS:
        if not target:
            raise OutputError(f"{text!r} names no file", f"write {name}=FILE, or {name}=-")
        if _names_stdout(target):
            return Output(STDOUT, FORMS[name])
        return Output(target, FORMS[name], _packing_of(target))
    if text == STDOUT or _names_stdout(text):
        return Output(STDOUT, FORMS["jsonl"])
    packing = _packing_of(text)
    plain = text.removesuffix(packing)
    # The longest suffix wins: `.otlp.jsonl` is not `.jsonl`.
    by_ending = {ending: form for form in FORMS.values() for ending in form.endings}
    for ending in sorted(by_ending, key=len, reverse=True):
        if plain.endswith(ending):
            return Output(text, by_ending[ending], packing)
    ending = plain[plain.rfind(".") :] if "." in plain.rpartition("/")[2] else ""
    guess = closest(ending, [each for form in FORMS.values() for each in form.endings])
    raise OutputError(
        f"unknown output form in {text!r}{did_you_mean(guess if ending else None)}",
        f"known endings: {known_endings()}; or write FORM=FILE with one of {', '.join(FORMS)}",
    )


def _names_stdout(target: str) -> bool:
    path = Path(target)
    return target in _NAMES_OF_STDOUT or (
        path.is_symlink() and str(path.readlink()) in _NAMES_OF_STDOUT
    )


def _is_open_file(path: Path) -> bool:
    """Return whether a path, or the one that it links to, names a file that a process has open."""
    for _ in range(_LINKS_LIMIT):
        if any(map(path.absolute().is_relative_to, _OPEN_FILES)):
            return True
        if not path.is_symlink():
            return False
        path = path.parent / path.readlink()
    return False


def absolute(text: str) -> str:
    """Return an output with the absolute path of its file; standard output as it is."""
    output = output_of(text)
    if output.target == STDOUT:
        return text
    path = str(Path(output.target).absolute())
    return path if text == output.target else f"{output.form.name}={path}"


def is_plain_stdout(text: str) -> bool:
    """Return whether an output is the unchanged result lines on standard output."""
    output = output_of(text)
    return output.is_plain and output.target == STDOUT


def goes_to_stdout(text: str) -> bool:
    """Return whether an output goes to standard output."""
    return output_of(text).target == STDOUT


def known_endings() -> str:
    """Return the file suffixes of all forms, for messages."""
    endings = ", ".join(ending for form in FORMS.values() for ending in form.endings)
    return f"{endings}, each also with {' or '.join(_PACKINGS)}"


def _packing_of(target: str) -> str:
    return next((packing for packing in _PACKINGS if target.endswith(packing)), "")


def _gzipped(blocks: Iterator[bytes]) -> Iterator[bytes]:
    buffer = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, buffer, mtime=0) as packer:
        for block in blocks:
            packer.write(block)
            if buffer.tell() >= _BLOCK_BYTES:
                yield buffer.getvalue()
                buffer.seek(0)
                buffer.truncate()
    yield buffer.getvalue()


def _zstandard(blocks: Iterator[bytes]) -> Iterator[bytes]:
    import zstandard  # only here, because the command line's help needs the table of forms

    packer = zstandard.ZstdCompressor().compressobj()
    for block in blocks:
        yield packer.compress(block)
    yield packer.flush()


_PACKERS: dict[str, Callable[[Iterator[bytes]], Iterator[bytes]]] = {
    ".gz": _gzipped,
    ".zst": _zstandard,
}

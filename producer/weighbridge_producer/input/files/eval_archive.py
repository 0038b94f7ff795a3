"""Inspect's `.eval` files: ZIP archives with one JSON file per sample, read as one line per sample."""

from __future__ import annotations

import io
import zipfile
import zlib
from typing import TYPE_CHECKING, BinaryIO

import zstandard

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.settings import MIB
from weighbridge.text import shorten
from weighbridge.traces.fields import json_in, object_of, word_of
from weighbridge.traces.formats.inspect_log import LOG_STATUS, UNFINISHED
from weighbridge_producer.input.files.decompress import check_expansion
from weighbridge_producer.input.source_lines import SourceLine
from weighbridge_producer.input.temporary import seekable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.settings import Settings

SIGNS = (b"PK\x03\x04", b"PK\x05\x06")  #: signatures of an archive with files, and of an empty one
OFFICE_PARTS = (b"[Content_Types].xml", b"xl/workbook.xml", b"mimetypeapplication/vnd.oasis")
_LOG_PARTS = (b"samples/", b"_journal/", b"header.json")  #: beginnings of names in a log
#: written when an evaluation ends, and begins
_HEADER, _START = (
    "header.json",
    "_journal/start.json",
)
_NAMES_SHOWN = 5
OFFICE = "an Excel workbook or another Office document"
SAVE_AS_CSV = (
    "save the sheet as CSV UTF-8, or with pandas and openpyxl: pandas.read_excel('FILE.xlsx', dtype=str,"
    " keep_default_na=False).to_csv('FILE.csv', index=False)"
)
_ZSTANDARD = 93  #: the compression method, supported since Python 3.14
_LOCAL_HEADER_BYTES = 30
_DAMAGE = (zipfile.BadZipFile, zlib.error, zstandard.ZstdError, EOFError, OSError, RuntimeError)


def sample_lines(stream: BinaryIO, settings: Settings) -> Iterator[SourceLine]:
    """Yield each sample of an archive as one line of JSON, or a fault if it cannot be read.

    Raises ExpansionError for a decompression bomb.
    """
    with seekable(stream) as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGE as error:
            yield SourceLine(b"\n", _damaged(str(error)))
            return
        samples = [info for info in archive.infolist() if _is_sample(info.filename)]
        if not samples:
            names = {info.filename.encode() for info in archive.infolist()}
            no_log = no_log_fault([info.filename for info in archive.infolist()])
            yield SourceLine(b"\n", no_log if names.isdisjoint(OFFICE_PARTS) else _WORKBOOK)
        added = _added(archive, file, settings.line_limit_bytes) if samples else b""
        plain = packed = 0
        for info in samples:
            packed += info.compress_size
            try:
                content = _content(archive, file, info, settings.line_limit_bytes)
            except (*_DAMAGE, NotImplementedError) as error:
                yield SourceLine(b"\n", _damaged(f"{info.filename}: {error}"), info.compress_size)
                continue
            plain += len(content)
            check_expansion(plain, packed, settings.expansion_limit)
            if len(content) > settings.line_limit_bytes:
                yield SourceLine(b"\n", _too_long(info, settings), info.compress_size)
            else:
                # JSON has no raw line breaks in strings, and outside of strings they can become spaces.
                line = content.replace(b"\n", b" ").replace(b"\r", b" ").rstrip()
                if added and line.endswith(b"}") and line[1:-1].strip():
                    line = line[:-1] + added
                line += b"\n"
                yield SourceLine(line, None, info.compress_size)


def _is_sample(name: str) -> bool:
    return name.startswith("samples/") and name.endswith(".json")


def _added(archive: zipfile.ZipFile, file: BinaryIO, limit: int) -> bytes:
    """Return the end of a sample with the status of its evaluation, if that did not end, or not well; empty otherwise."""
    try:
        status = _status(archive, file, limit)
    except (*_DAMAGE, NotImplementedError, ValueError):
        return b""
    return f',"{LOG_STATUS}":"{status}"}}'.encode() if status in UNFINISHED else b""


def _status(archive: zipfile.ZipFile, file: BinaryIO, limit: int) -> str:
    """Return the status of an evaluation, whose header is written when it ends."""
    names = archive.namelist()
    if _HEADER not in names:
        return "started" if _START in names else ""
    content = _content(archive, file, archive.getinfo(_HEADER), limit)
    return word_of(object_of(json_in(content)).get("status"))


def _content(archive: zipfile.ZipFile, file: BinaryIO, info: zipfile.ZipInfo, limit: int) -> bytes:
    """Return the content of a member, or its first `limit + 1` bytes if it is larger than the limit."""
    if info.compress_type != _ZSTANDARD:
        with archive.open(info) as member:
            return member.read(limit + 1)
    file.seek(info.header_offset)
    header = file.read(_LOCAL_HEADER_BYTES)
    file.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    packed = file.read(min(info.compress_size, limit))
    with zstandard.ZstdDecompressor(max_window_size=128 * MIB).stream_reader(packed) as member:
        return member.read(limit + 1)


def _damaged(what: str) -> Fault:
    return Fault(
        ErrorCode.INPUT_TRUNCATED,
        f"the archive is damaged: {what[:200]}",
        "if it is an Inspect log, write it again, or export it with `inspect log dump`",
    )


def _too_long(info: zipfile.ZipInfo, settings: Settings) -> Fault:
    return Fault(
        ErrorCode.LINE_TOO_LONG,
        f"{info.filename} has {info.file_size:,} bytes, at most {settings.line_limit_bytes:,} are allowed",
        "raise WEIGHBRIDGE_LINE_LIMIT_BYTES",
    )


_WORKBOOK = Fault(ErrorCode.INVALID_JSON, f"the file is {OFFICE}", SAVE_AS_CSV)


def no_log_fault(names: list[str]) -> Fault:
    """Return the fault for an archive that is not an Inspect log, with the names of files in it."""
    shown = ", ".join(shorten(name, 60) for name in names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN:,} more" if len(names) > _NAMES_SHOWN else ""
    return Fault(
        ErrorCode.INVALID_JSON,
        "the file is a ZIP archive, but not an Inspect log: there is no samples/*.json in it"
        + (f", but {shown}{more}" if shown else ""),
        "unpack it, and give the files in it or their folder",
    )


def may_be_log(head: bytes, name: str) -> bool:
    """Return whether an archive may be an Inspect log, by its name and first bytes."""
    return name.lower().endswith(".eval") or any(part in head for part in _LOG_PARTS)


def names_in(head: bytes) -> list[str]:
    """Return the names of the files in an archive; empty if it is not whole."""
    try:
        return zipfile.ZipFile(io.BytesIO(head)).namelist()
    except _DAMAGE:
        return []

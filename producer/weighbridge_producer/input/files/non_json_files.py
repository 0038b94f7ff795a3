"""Detection of files without JSON, which become a single error instead of one per line."""

from __future__ import annotations

import re
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from weighbridge.errors import Fault
from weighbridge.grading.hints import OWN_COLUMNS
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.jobs.line import JSON_SPACE
from weighbridge_producer.input.files.databases.sqlite_file import SIGN
from weighbridge_producer.input.files.eval_archive import OFFICE, SAVE_AS_CSV
from weighbridge_producer.input.files.log_prefixes import begins_with_tag
from weighbridge_producer.input.source_lines import SourceLine

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEAD_BYTES = 512  #: of a file's content, examined to detect binary files
_LINES = 20  #: the first lines; a file in which none starts like JSON has no JSON
HELD_LINES = 10_000  #: first lines, empty ones too, that are examined
_JSON_STARTS = (*(b"{", b"[", b'"'), b"\xef\xbb\xbf")
#: A line for shells of what is installed with this package.
YAML_TO_JSON = (
    """convert it: python -c "import json, ruamel.yaml; json.dump(ruamel.yaml.YAML(typ='safe').load(open('FILE.yaml')),"""
    """ open('FILE.json', 'w'), default=str)\""""
)
_UNPACK = "unpack it and give the files in it"
_CONVERT = "give a file of cases or traces in its place, such as JSON Lines or CSV"
_OF_DATABASE = (
    "known stores of agents are read without a mapping; of others, export the rows of a table as JSON Lines, such as with"
    " `sqlite3 -json`"
)
_OF_DUCKDB = (
    "export the rows of a table as JSON Lines: those of Mastra are read if you give what"
    """ `duckdb -readonly FILE -c "COPY span_events TO 'spans.jsonl' (FORMAT json)"` writes"""
)
_OF_PICKLE = (
    "a pickle may run code when it is opened, so none is read: export what is in it as JSON Lines; the threads of `langgraph dev`"
    " (`.langgraph_api/*.pckl`) are what its server returns for `GET /threads/THREAD_ID/history?limit=1000`"
)
_PARQUET = b"PAR1"
_BINARY: tuple[tuple[bytes, str, str], ...] = (
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (b"Rar!", "a RAR archive", _UNPACK),
    (b"\xfd7zXZ\x00", "compressed with xz", "decompress it, or compress it with gzip or zstd"),
    (b"BZh", "compressed with bzip2", "decompress it, or compress it with gzip or zstd"),
    (b"%PDF-", "a PDF document", _CONVERT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", OFFICE, SAVE_AS_CSV),
    (SIGN, "an SQLite database", _OF_DATABASE),
    (_PARQUET, "a Parquet table", "name it with the ending .parquet and map its columns with --map"),
    (b"\x89PNG", "a PNG image", _CONVERT),
    (b"\xff\xd8\xff", "a JPEG image", _CONVERT),
    (b"\x7fELF", "a program", _CONVERT),
    *((bytes((0x80, protocol)), "a Python pickle", _OF_PICKLE) for protocol in range(2, 6)),
)  # fmt: skip
_BINARY_FROM = 64  #: smallest head in which more than 5 % NUL bytes mean binary data
#: Marks that do not stand at the start of a file, each with its place.
_MARKS: tuple[tuple[int, bytes, str, str], ...] = (
    (257, b"ustar", "a tar archive", _UNPACK),
    (8, b"DUCK", "a DuckDB database", _OF_DUCKDB),
)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_YAML = "YAML"
_YAML_START = re.compile(
    rb"\A\s*(?:---\s*\n)?(?:- +[A-Za-z_][\w-]{0,60}:\s|[A-Za-z_][\w-]{0,60}:[^\n]{0,200}\n\s*(?:- |[A-Za-z_][\w-]{0,60}:))"
)
_XML = "an XML document"
_CREWAI = "what CrewAI prints"
#: The frame that opens a crew's run, or the tree of its tasks, below what the program itself has printed.
_CREWAI_START = re.compile(
    r"\A(?s:.{0,20000}?)^(?:[^\n]{0,40}╭[^\n]{1,4000} Crew Execution Started |🚀 Crew: )".encode(),
    re.MULTILINE,
)
#: An entry of `output_log_file` as text: of newer versions, and of those before, which give the time behind each field.
_CREWAI_LOG_START = re.compile(
    rb"\A\s*(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: task_name=\"|agent=[^\n]{1,300}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: task=)"
)
_SAVE_AS_UTF8 = "save the file as UTF-8, for example by `iconv -f utf-16 -t utf-8`; `>` of Windows PowerShell writes UTF-16"
_CREWAI_LOG = "a log of the tasks of a crew of CrewAI"
_TAGGED_LOG = "a log with a word in brackets before each line"
_TEXTS = (
    (_CREWAI_START, _CREWAI),
    (_CREWAI_LOG_START, _CREWAI_LOG),
    (re.compile(rb"\A\s*\[[A-Za-z][\w.:/-]{0,100}\][ \t]+\S"), _TAGGED_LOG),
    (re.compile(rb"\s*<(?:!doctype|html)\b", re.IGNORECASE), "an HTML page"),
    (re.compile(rb"\s*<\?xml\b|\A\s*<[A-Za-z_][\w:.-]{0,60}[\s/>]"), _XML),
    (_YAML_START, _YAML),
    (re.compile(rb"\s*(?:#{1,6} \S|```|[-*] \S|\|.+\||---\s*\n# )", re.MULTILINE), "Markdown"),
)


def known_binary(head: bytes) -> tuple[str, str] | None:
    """Return what kind of binary file has these first bytes, and what to do with it; None for text, tables and other files."""
    if all(0 < byte < 128 for byte in head[:_HEAD_BYTES]):
        return None  # text may begin with the letters of such a file
    kinds = (kind for kind in _BINARY if head.startswith(kind[0]) and kind[0] != _PARQUET)
    return next(((what, hint) for _, what, hint in kinds), None) or _marked(head)


def _marked(head: bytes) -> tuple[str, str] | None:
    """Return what kind of file has a mark in these first bytes, and what to do with it; text may have it too."""
    if b"\0" not in head:
        return None
    return next(
        ((what, hint) for at, mark, what, hint in _MARKS if head.startswith(mark, at)), None
    )


def binary_fault(head: bytes) -> Fault | None:
    """Return the fault for a binary file by its first bytes; None for text."""
    for start, what, hint in _BINARY:
        if head.startswith(start):
            return _fault(what, hint)
    if marked := _marked(head):
        return _fault(*marked)
    if _is_utf16(head):
        return _fault("text in UTF-16", _SAVE_AS_UTF8)
    if len(head) >= _BINARY_FROM and (head.count(b"\0") * 20 > len(head) or _is_noise(head)):
        return _fault("binary data", "give JSON Lines, plain or compressed with gzip or zstd")
    return None


def _is_utf16(head: bytes) -> bool:
    """Return whether these are the first bytes of text in UTF-16: with its mark, or with a NUL in most letters, and no NUL by itself."""
    if head.startswith(_UTF16):
        return b"\0\0" not in {head[at : at + 2] for at in range(0, len(head), 2)}
    nulls, letters = sorted((head[::2], head[1::2]), key=lambda half: -half.count(0))
    return (
        nulls.count(0) * 3 > len(nulls) * 2 and letters.count(0) == 0 and not _has_controls(letters)
    )


def _has_controls(head: bytes) -> bool:
    """Return whether more than 5 % of these bytes are control characters that JSON does not have between its values."""
    return sum(byte < ord(" ") and byte not in JSON_SPACE for byte in head) * 20 > len(head)


def _is_noise(head: bytes) -> bool:
    """Return whether a file's first bytes have many control characters, and are no UTF-8 text."""
    if not _has_controls(head):
        return False
    try:
        head[: len(head) - 3].decode()
    except UnicodeDecodeError as error:
        return error.end < len(head) - 3
    return False


def readable_lines(lines: Iterator[SourceLine]) -> Iterator[SourceLine]:
    """Return the lines of a file, or a single fault if the first lines show that it has no JSON.

    It is not a generator, because each one around all lines costs time per line.
    """
    read: list[SourceLine] = []
    filled = 0
    for line in lines:
        if not read and (fault := binary_fault(line.raw[:_HEAD_BYTES])):
            return iter((SourceLine(b"\n", fault, line.size),))
        read.append(line)
        content = line.raw.lstrip(JSON_SPACE)
        is_json = content.startswith(_JSON_STARTS) and not (
            begins_with_tag(content) or _is_text_in_yaml(line.raw, read)
        )
        if line.fault or is_json or len(read) == HELD_LINES:
            break
        filled += bool(content)
        if filled == _LINES:
            text = b"".join(each.raw for each in read)
            fault = binary_fault(text[:_HEAD_BYTES]) or _no_json(text)
            return iter((SourceLine(b"\n", fault, sum(each.size for each in read)),))
    else:
        text = b"".join(each.raw for each in read)
        looks = next((what for pattern, what in _TEXTS if pattern.match(text)), None)
        known = _fault(f"not JSON, it looks like {looks}", _hint(looks)) if looks else None
        if fault := binary_fault(text[:_HEAD_BYTES]) or known:
            return iter((SourceLine(b"\n", fault, len(text)),))
    return chain(read, lines)


def _is_text_in_yaml(raw: bytes, read: list[SourceLine]) -> bool:
    """Return whether a line that is indented, or begins with a quotation mark, goes on with a text of YAML."""
    return raw.startswith((b'"', b" ", b"\t")) and bool(
        _YAML_START.match(b"".join(each.raw for each in read[:_LINES]))
    )


def indented_objects(text: bytes) -> list[bytes]:
    """Return the JSON objects that follow each other, each over many lines; none for other text.

    A line that begins with a brace is never inside a string, because a string in JSON has no line breaks.
    """
    ends = [match.start() + 1 for match in _NEXT_OBJECT.finditer(text)]
    return [text[start:end] for start, end in pairwise([0, *ends, len(text)])] if ends else []


def several_values_fault(text: bytes) -> Fault | None:
    """Return the fault for JSON objects that each take many lines, one after the other; None for other text."""
    if not _NEXT_OBJECT.search(text):
        return None
    return Fault(
        ErrorCode.INVALID_JSON,
        "the file has several JSON values over many lines",
        "write each on one line, as jq -c does",
    )


def _no_json(text: bytes) -> Fault:
    found = [(match.start(), what) for pattern, what in _TEXTS if (match := pattern.search(text))]
    # The first one in the text counts, because Markdown may quote a page of HTML further down.
    looks = min(found, key=itemgetter(0))[1] if found else None
    what = "not JSON"
    if not any(row.lstrip(JSON_SPACE).startswith(_JSON_STARTS) for row in text.split(b"\n")):
        what += f": none of its first {_LINES} lines begins like JSON"
    return _fault(what + (f", it looks like {looks}" if looks else ""), _hint(looks))


def _hint(looks: str | None) -> str:
    if looks in {_CREWAI, _CREWAI_LOG}:
        return "give the crew's output as its model_dump_json() returns it, or the events of its bus as JSON Lines"
    if looks == _TAGGED_LOG:
        return "if it has JSON on some lines, give these alone, such as what `grep -o '{\".*' FILE` prints"
    return {_YAML: YAML_TO_JSON, _XML: "convert it to CSV or JSON Lines"}.get(looks or "", _WANTED)


_NEXT_OBJECT = re.compile(rb"^\}\s*\{", re.MULTILINE)  #: after one that is indented
_WANTED = f"give cases or traces as JSON Lines, or one JSON document; {OWN_COLUMNS}"


def _fault(what: str, hint: str) -> Fault:
    return Fault(ErrorCode.INVALID_JSON, f"the file is {what}", hint)

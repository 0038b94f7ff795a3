"""Each file without JSON is reported with one error that names its kind."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
import zipfile
from itertools import repeat

import pytest

from weighbridge.settings import Settings
from weighbridge_producer.input.files.non_json_files import readable_lines
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.source_lines import SourceLine


def archived(kind: str) -> bytes:
    """Return an archive with one text in it."""
    target = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(target, "w") as archive:
            archive.writestr("a.jsonl", "{}\n" * 50)
    else:
        with tarfile.open(fileobj=target, mode="w") as archive:
            info = tarfile.TarInfo("a.jsonl")
            info.size = 3
            archive.addfile(info, io.BytesIO(b"{}\n"))
    return target.getvalue()


MARKDOWN = "# Findings\n\n" + "- one\n- two\n" * 8_000
FRAME = f"╭{'─' * 40} Crew Execution Started {'─' * 40}╮\n"
FILES = {
    "a tar archive": archived("tar"),
    "compressed with xz": b"\xfd7zXZ\x00" + b"x\n" * 100,
    "a PDF document": b"%PDF-1.7\n" + b"x\n" * 100,
    "a Python pickle": b"\x80\x04\x95" + b"\n" * 100,
    "text in UTF-16": '{"custom_id": "a"}\n'.encode("utf-16") * 9,
    "a DuckDB database": b"\x9d\x11\x0a\x04" + b"\0" * 4 + b"DUCK" + b"\x40" + b"\0" * 4_000,
    "binary data": b"\x01\x00\x02\n\x00\x00" * 100,
    "it looks like Markdown": MARKDOWN.encode(),
    "it looks like YAML": b"steps:\n" + b"  - type: user\n    output: hi\n" * 20,
    "it looks like an HTML page": b"<!DOCTYPE html>\n" + b"<p>\n" * 100,
    "it looks like what CrewAI prints": f"Start.\n{FRAME}{'# x' * 9}\n".encode() * 20,
    "not JSON: none of its first 20 lines begins like JSON": b"name,answer\n" * 16_082,
}  # fmt: skip


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("what", FILES)
def test_a_file_without_json_is_one_error_that_says_what_it_is(what, packed):
    data = gzip.compress(FILES[what]) if packed else FILES[what]
    (line,) = Source(io.BytesIO(data), Settings())
    assert line.fault
    assert (line.fault.code, line.raw) == ("INVALID_JSON", b"\n")
    assert what in line.fault.message
    assert line.fault.hint


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"# Notes\n\n- one\n", "it looks like Markdown"),
        (f"Start.\n\033[36m{FRAME}".encode(), "it looks like what CrewAI prints"),
        ("🚀 Crew: crew\n└── 📋 Task: t\n".encode(), "it looks like what CrewAI prints"),
        (b'2026-03-01 10:00:00: task_name="None", task="Find x.\n- y", agent="a"\n', "tasks of a crew"),
        (b"agent=Finder2024-11-14 11:47:18: task=Find x.\n## x\n", "tasks of a crew"),
        (b"messages:\n  - role: user\n", "it looks like YAML"),
        (b"- id: q1\n  answer: x\n", "it looks like YAML"),
        (b"steps:\n- body: 'one\n\"two\" three'\n" + b"  status: 200\n" * 30, "it looks like YAML"),
        (b'calls:\n- request:\n    body: |-\n      {\n        "n": [\n' + b"        1,\n" * 30, "not JSON, it looks like YAML"),
        (b"<html><body>Not found</body></html>", "it looks like an HTML page"),
        (b"# A page\n\n```html\n<!DOCTYPE html>\n```\n", "it looks like Markdown"),
        (bytes(range(256)) * 4, "binary data"),
        (b"\x05" + b"\0" * 500, "binary data"),  # a header of NUL bytes is no UTF-16
        (b"\x01\0\x02\0" * 50, "binary data"),  # nor are small numbers
        (b"\xff\xfe" + b"\0" * 500, "binary data"),
        (pickle.dumps({"a": 1}, 2), "a Python pickle"),
        (pickle.dumps({"a": 1}), "a Python pickle"),
        ('{"a": 1}\n'.encode("utf-16-le") * 9, "text in UTF-16"),
        ('{"a": 1}\n'.encode("utf-16-be") * 9, "text in UTF-16"),
    ],
)  # fmt: skip
def test_a_short_file_of_another_kind_is_one_error_too(text, what):
    (line,) = Source(io.BytesIO(text), Settings())
    assert line.fault
    assert what in line.fault.message


def test_a_pickle_is_never_opened():
    (line,) = Source(io.BytesIO(pickle.dumps(_Opened(), 2)), Settings())
    assert line.fault
    assert "`langgraph dev`" in line.fault.hint
    assert "/threads/THREAD_ID/history" in line.fault.hint


class _Opened:
    def __reduce__(self):
        return pytest.fail, ("the pickle was opened",)


def test_an_archive_of_another_kind_than_inspects_is_one_error_too():
    (line,) = Source(io.BytesIO(archived("zip")), Settings())
    assert line.fault


@pytest.mark.parametrize(
    "text",
    [
        b"oops\n" * 19 + b'{"custom_id": "a", "inputs": {}}\n',
        b"oops\n" * 19,
        b'\n\n{"a": 1}\n' + b"oops\n" * 50,
        b"",
    ],
)
def test_a_file_with_some_json_or_few_lines_keeps_its_lines(text):
    lines = list(Source(io.BytesIO(text), Settings()))
    assert b"".join(line.raw for line in lines) == text


def test_empty_lines_are_not_held_however_many_there_are():
    empty = SourceLine(b"\n", None, 1)
    assert next(readable_lines(repeat(empty))) == empty


def test_lines_of_json_below_lines_of_a_log_are_read():
    """These begin like keys of YAML."""
    log = b"INFO: started\nINFO: ready\n"
    lines = list(Source(io.BytesIO(log + b'{"custom_id": "a", "inputs": {}}\n' * 30), Settings()))
    assert len(lines) == 32
    assert [line.fault for line in lines[2:]] == [None] * 30


@pytest.mark.parametrize(
    "raw", [b'{"id": "DUCK-1", "input": "a"}\n', b'{"id": "%s", "a": "ustar"}\n' % (b"x" * 240)]
)
def test_json_with_the_mark_of_a_binary_file_in_its_place_is_read(raw):
    assert [line.raw for line in Source(io.BytesIO(raw), Settings())] == [raw]

"""The beginning of a file that a draft is made from: compressed, damaged, or in another encoding."""

from __future__ import annotations

import gzip
import json

import pytest
import zstandard

from weighbridge.errors import InputError
from weighbridge_producer.input.trace_drafts import beginning as beginnings
from weighbridge_producer.input.trace_drafts.beginning import read_beginning

ROWS = [{"tool": "f", "args": {"n": n}} for n in range(3)]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)


def beginning_of(folder, content):
    """Return the beginning of a file with some bytes."""
    (folder / "runs.jsonl").write_bytes(content)
    return read_beginning(folder / "runs.jsonl")


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_a_compressed_file_is_read_whatever_its_name(tmp_path, pack):
    assert beginning_of(tmp_path, pack(LINES.encode())).values == ROWS
    with pytest.raises(InputError, match="the compressed input ends early"):
        beginning_of(tmp_path, pack(LINES.encode())[:-5])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (LINES + '{"tool": "f", "ar', "line 4 is not JSON: "),
        (LINES + '{"tool": "f", "score": NaN}\n', "line 4 is not JSON: it may have NaN"),
        ("The server starts.\n" + LINES, "line 1 is not JSON: "),
        ("x\ny\n" + LINES, ", and 1 further line"),
        (LINES.replace("\n", "\nran\n"), ", and 2 further lines"),
    ],
)
def test_lines_that_are_not_json_are_left_out_and_named(drafts, text, why):
    mapping = drafts.of(text)
    assert why in mapping
    assert "# Not read: line " in mapping
    assert "tool  # each step is taken for a tool call" in mapping


@pytest.mark.parametrize(
    ("content", "why", "hint"),
    [
        (
            LINES.encode("utf-16"),
            "the file is text in UTF-16",
            "save the file as UTF-8, for example by `iconv",
        ),
        ('{"a": "Kraków"}\n'.encode("cp1250"), "line 1: byte 12 is not UTF-8: 0xf3", "UTF-8"),
        (b"one\n" * 50 + LINES.encode(), "it is not JSON that can be read", "a mapping describes"),
        (b'{"tool": "f"}\na\nb\nc\n', "it is not JSON that can be read", "one JSON value per line"),
    ],
)
def test_what_is_no_json_is_refused_with_the_reason(tmp_path, content, why, hint):
    with pytest.raises(InputError, match=why) as caught:
        beginning_of(tmp_path, content)
    assert hint in caught.value.hint


def test_numbers_depths_and_escapes_that_others_cannot_write_are_kept_as_they_were_read(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(beginnings, "READ_BYTES", 2_000)
    for odd in (f"{2**70}", "[" * 300 + "]" * 300, '"\\ud800"'):
        text = f'{{"tool": "f", "odd": {odd}}}'
        read = beginning_of(tmp_path, f"{text}\n".encode() * 200)
        assert not read.is_whole
        assert read.text == b"\n".join([text.encode()] * len(read.values))
        listed = beginning_of(tmp_path, f"[{', '.join([text] * 200)}]".encode())
        assert listed.text == f"[{', '.join([text] * len(listed.values[0]))}]".encode()


def test_an_entry_that_is_no_json_is_named_unless_the_end_cuts_it_off(tmp_path, monkeypatch):
    monkeypatch.setattr(beginnings, "READ_BYTES", 1_000)
    entries = [*map(json.dumps, ROWS), '{"tool": oops}', *(["1"] * 2_000)]
    with pytest.raises(InputError, match="entry 4 of its list is not JSON"):
        beginning_of(tmp_path, f"[{','.join(entries)}]".encode())
    for text in ('"long text"', "true", "12.5", '"\\u00e9"'):
        listed = json.dumps([ROWS[0]])[:-1] + f", {text}" * 2_000 + "]"
        for cut in range(990, 1_000):
            monkeypatch.setattr(beginnings, "READ_BYTES", cut)
            assert len(beginning_of(tmp_path, listed.encode()).values[0]) > 50

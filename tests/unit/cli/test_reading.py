"""What the command line says about how it reads its input."""

from __future__ import annotations

import gzip
import os

import orjson
import pytest

from weighbridge_producer.cli.commands import run_app

CASE = b'{"custom_id": "1", "inputs": {"agent_response": "a", "expected_output": "a"}}\n'
ROWS = b'{"id": 1, "output": "a", "gold": "a"}\n{"id": 2, "output": "b", "gold": "a"}\n'
TRACE = orjson.dumps([{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}])


@pytest.fixture
def piped(monkeypatch, capfd):
    """Pipe bytes into a dry run; returns what it writes to standard error."""

    def run(data, *options):
        reading, writing = os.pipe()
        os.write(writing, data)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as stdin:
            monkeypatch.setattr("sys.stdin", stdin)
            with pytest.raises(SystemExit):
                run_app(["run", "-", "--dry-run", "-g", "string-match", *options])
        return capfd.readouterr().err

    return run


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (ROWS, "JSON Lines with the columns id, output, gold"),
        (ROWS + b'{"id": 3, "outp', "JSON Lines with the columns id, output, gold"),
        (gzip.compress(ROWS, mtime=0), "JSON Lines with the columns id, output, gold"),
        (b"id;output;gold\n1;\xe4;b\n", "semicolon-separated) with the columns id, output, gold"),
    ],
)
def test_a_pipe_of_rows_without_a_mapping_is_said_to_be_one(piped, data, what):
    said = piped(data)
    assert said.startswith("standard input: ")
    assert what in said.splitlines()[0]
    assert "read as cases or traces because there is no --map" in said
    assert "--map custom_id=id,agent_response=output,expected_output=gold" in said


def test_a_pipe_of_traces_is_said_to_be_one_if_a_grader_needs_other_inputs(piped):
    said = piped(TRACE + b"\n").splitlines()
    assert said[0] == "standard input: read as traces (OpenAI chat messages)"
    assert "needed by string-match: give their paths with --map" in said[1]


@pytest.mark.parametrize("data", [b"", CASE, CASE[:20], b"PK\x03\x04 xl/workbook.xml"])
def test_nothing_is_said_of_a_pipe_that_is_read_as_it_is(piped, data):
    assert "standard input" not in piped(data)


def test_a_folder_with_files_that_are_not_read_is_said_to_have_them(tmp_path, capfd):
    (tmp_path / "a.jsonl").write_bytes(CASE)
    (tmp_path / "b.txt").write_bytes(CASE)
    with pytest.raises(SystemExit):
        run_app(["run", str(tmp_path), "--dry-run", "-g", "string-match"])
    assert (
        f"{tmp_path}: 1 file skipped (b.txt): in a folder, only files are read that end in .jsonl, "
        in (capfd.readouterr().err)
    )

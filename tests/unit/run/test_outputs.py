"""Outputs of a run: tables without executable formulas, and the path of the growing results file."""

import csv
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.errors import InputError, OutputError
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.durable_files import replacement
from weighbridge_producer.run.outputs import check_targets, deliver, write_each
from weighbridge_producer.run.result_file import GrowingFile, SortedPart, sort_by_line

ROW = {
    "custom_id": "c",
    "line": 1,
    "label": "l",
    "grader": "g",
    "grader_version": 1,
    "config_digest": "0a",
    "status": "errored",
    "result": None,
    "error": {"code": "C", "message": "m", "hint": "h"},
    "metadata": None,
    "receipt": "00",
}


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "hostile", ["=1+1", "x;=1+1", 'x;=1+1;"', "x\t@A1", "x\n+1", "\t=1", ";-1", "a\r\n=1;=2"]
)
def test_no_cell_of_a_table_begins_as_a_formula_wherever_cells_are_parted(
    tmp_path, delimiter, hostile
):
    results = tmp_path / "results"
    results.write_bytes(orjson.dumps(ROW | {"custom_id": hostile}) + b"\n")
    deliver(Report(results, "cases"), [str(tmp_path / "table.csv")])
    with (tmp_path / "table.csv").open(newline="", encoding="utf-8") as file:
        cells = [cell for row in csv.reader(file, delimiter=delimiter) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t"))] == []


def test_every_cell_of_a_table_is_quoted(tmp_path):
    results = tmp_path / "results"
    results.write_bytes(orjson.dumps(ROW) + b"\n")
    deliver(Report(results, "cases"), [str(tmp_path / "table.csv")])
    _, row = (tmp_path / "table.csv").read_text().splitlines()
    assert row == '"c","1","l","g","1","errored","","","","","C: m","C","C","m","0a","00"'


def test_a_failed_test_tells_all_that_failed_and_at_which_steps(tmp_path):
    entries = [
        {"check": "tool_known", "description": "no <tool> 'x'", "passed": False, "step_ids": ["a", "b"]},
        {"check": "max_steps", "description": "fine", "passed": True, "step_ids": []},
        {"check": "arguments", "description": "no object", "passed": False, "step_ids": []},
    ]  # fmt: skip
    judged = {"verdict": "fail", "score": 0.0, "details": {}, "evidence": entries}
    results = tmp_path / "results"
    results.write_bytes(orjson.dumps(ROW | {"error": None, "result": judged}) + b"\n")
    deliver(Report(results, "cases"), [str(tmp_path / "out.xml")])
    failure = ET.parse(tmp_path / "out.xml").getroot().find(".//failure")
    assert failure is not None
    assert failure.get("message") == "no <tool> 'x', and 1 more failed check"
    assert failure.text == "tool_known: no <tool> 'x' (steps: a, b)\narguments: no object"


def judged(verdict: str) -> dict[str, object]:
    passed = verdict == "pass"
    check = {"check": "c", "description": f"it is {verdict}", "passed": passed, "step_ids": []}
    result = {"verdict": verdict, "score": 0.0, "details": {"reason": ""}, "evidence": [check]}
    return ROW | {"status": "graded", "error": None, "result": result}


def test_a_test_suite_tells_every_outcome_apart(tmp_path):
    rows = [judged(verdict) for verdict in ("pass", "fail", "ungradable")]
    rows += [ROW | {"status": status} for status in ("errored", "cancelled", "expired")]
    results = tmp_path / "results"
    results.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    deliver(Report(results, "cases"), [str(tmp_path / "out.xml")])
    suite = ET.parse(tmp_path / "out.xml").getroot().find("testsuite")
    assert suite is not None
    counts = {"tests": "6", "failures": "1", "errors": "1", "skipped": "3"}
    assert suite.attrib == {"name": "weighbridge", **counts}
    assert [[(kind.tag, kind.get("message")) for kind in case] for case in suite] == [
        [],
        [("failure", "it is fail")],
        [("skipped", "it is ungradable")],
        [("error", "C: m")],
        [("skipped", "C: m")],
        [("skipped", "C: m")],
    ]


def test_growing_results_are_cut_back_to_what_is_known_to_be_whole(tmp_path):
    path = tmp_path / "results"
    path.write_bytes(b"whole\nhal")
    file = GrowingFile(path, keep_bytes=6)
    assert file.append(b"next\n") == 11
    file.close()
    assert path.read_bytes() == b"whole\nnext\n"


@given(st.lists(st.integers(0, 5), max_size=20), st.integers(0, 6), st.integers(1, 2))
def test_results_are_sorted_by_line_however_the_parts_lie(part_of_line, kept, jobs):
    """Each part has its lines in order, and may have others between them; the first parts are those of before."""
    parts = [
        b"".join(
            b'{"line":%d,"job":%d}\n' % (line, job)
            for line, own in enumerate(part_of_line, 1)
            for job in range(jobs)
            if own == part
        )
        for part in range(6)
    ]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "results"
        path.write_bytes(b"".join(parts[:kept]))
        file = GrowingFile(path, keep_bytes=path.stat().st_size)
        known = []
        for part, lines in enumerate(parts[kept:], kept):
            own = [line for line, of in enumerate(part_of_line, 1) if of == part]
            end = file.append(lines)
            if own:
                known.append(SortedPart(own[0], own[-1], end - len(lines), len(lines)))
        file.close()
        sort_by_line(path, known)
        lines = range(1, len(part_of_line) + 1)
        expected = [b'{"line":%d,"job":%d}' % (line, job) for line in lines for job in range(jobs)]
        assert path.read_bytes().splitlines() == expected


def test_results_do_not_grow_through_a_link(tmp_path):
    (tmp_path / "precious").write_text("kept")
    (tmp_path / "results").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"):
        GrowingFile(tmp_path / "results")
    assert (tmp_path / "precious").read_text() == "kept"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x.csv", "md=x.csv"),
        ("x.csv", "tsv=./x.csv"),
        ("x.jsonl", "csv=x.jsonl"),
        ("x.csv", "folder/../x.csv"),
        ("old.csv", "md=link.csv"),
        ("new.csv", "md=link to new.csv"),
        ("old.csv", "md=second name.csv"),
    ],
)
def test_two_outputs_to_one_file_are_refused(tmp_path, monkeypatch, first, second):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "old.csv").touch()
    (tmp_path / "link.csv").symlink_to("old.csv")
    (tmp_path / "link to new.csv").symlink_to("new.csv")
    (tmp_path / "second name.csv").hardlink_to("old.csv")
    with pytest.raises(OutputError, match="go to one file"):
        check_targets([first, second])
    assert check_targets([first, first]) == [first, first]


def test_a_device_takes_several_outputs():
    assert check_targets(["csv=/dev/null", "md=/dev/null"]) == ["/dev/null", "/dev/null"]


@pytest.mark.parametrize("form", ["csv", "tsv", "parquet", "md", "html", "junit", "otel"])
def test_an_output_that_cannot_be_finished_leaves_the_earlier_one(tmp_path, form):
    results, output = tmp_path / "results", tmp_path / "report"
    results.write_bytes(orjson.dumps(ROW) * 2 + b"\n")
    output.write_text("complete")
    with pytest.raises(InputError):
        write_each(Report(results, "cases"), [f"{form}={output}"], sys.stdout.buffer)
    assert output.read_text() == "complete"
    assert sorted(tmp_path.iterdir()) == [output, results]


def test_a_full_disk_leaves_the_earlier_output(tmp_path):
    results, output = tmp_path / "results", tmp_path / "report.csv"
    results.write_bytes((orjson.dumps(ROW) + b"\n") * 5_000)
    output.write_text("complete")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_each(Report(results, "cases"), [str(output)], sys.stdout.buffer)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert output.read_text() == "complete"
    assert sorted(tmp_path.iterdir()) == [output, results]


def test_of_two_processes_that_write_one_output_the_earlier_one_fails(tmp_path):
    output = tmp_path / "r.csv"
    first, second = replacement(output), replacement(output)
    first.__enter__().write(b"first")
    with second as file:
        file.write(b"second")
    with pytest.raises(OutputError, match="another process writes"):
        first.__exit__(None, None, None)
    assert output.read_text() == "second"
    assert [*tmp_path.iterdir()] == [output]


@pytest.mark.parametrize("name", ["r.jsonl", "r.csv"])
@pytest.mark.parametrize("exists", [True, False])
def test_an_output_is_written_where_its_link_leads(tmp_path, name, exists):
    link, target, results = tmp_path / name, tmp_path / "folder" / name, tmp_path / "results"
    target.parent.mkdir()
    if exists:
        target.write_text("of before")
        target.chmod(0o640)
    link.symlink_to(target)
    results.write_bytes(orjson.dumps(ROW) + b"\n")
    deliver(Report(results, "cases"), [str(link)])
    assert link.readlink() == target
    assert "errored" in target.read_text()
    assert not exists or target.stat().st_mode & 0o777 == 0o640
    assert [*target.parent.iterdir()] == [target]


@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("through_link", [True, False])
def test_a_file_that_is_open_is_written_in_place(tmp_path, form, through_link):
    results, link = tmp_path / "results", tmp_path / "link"
    results.write_bytes(orjson.dumps(ROW) + b"\n")
    with (tmp_path / "open").open("wb") as file:
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        named = link if through_link else f"/dev/fd/{file.fileno()}"
        deliver(Report(results, "cases"), [f"{form}={named}"])
        assert os.fstat(file.fileno()).st_size > 100
    assert link.is_symlink()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to every file")
def test_a_read_only_output_is_refused(tmp_path):
    output = tmp_path / "r.csv"
    output.touch(0o444)
    with pytest.raises(OutputError, match="cannot be written to"):
        check_targets([str(output)])


def test_a_file_that_is_mounted_is_written_in_place(tmp_path):
    mounted, below, new = tmp_path / "mounted", tmp_path / "below", tmp_path / "new"
    mounted.touch()
    below.write_text("old")
    new.write_text("new")
    shell = [*("unshare", "--user", "--map-root-user", "--mount", "sh", "-euc")]
    if subprocess.run([*shell, f"mount --bind {below} {mounted}"], check=False).returncode:
        pytest.skip("no file can be mounted here")
    code = "import sys, pathlib, weighbridge_producer.run.durable_files as files; files.replace(*map(pathlib.Path, sys.argv[1:]))"
    subprocess.run(
        [*shell, f'mount --bind {below} {mounted}; "$@"', "sh", sys.executable, "-c", code, new, mounted],
        check=True,
    )  # fmt: skip
    assert below.read_text() == "new"
    assert not new.exists()

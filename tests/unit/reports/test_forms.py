"""The forms of output: chosen by ending or name, refused with a hint, packed on the way."""

import gzip

import pytest
import zstandard
from pydantic import ValidationError

from weighbridge.errors import OutputError
from weighbridge_producer.cli.options import OUTPUT_HELP
from weighbridge_producer.reports.forms import absolute, known_endings, output_of
from weighbridge_producer.reports.report import Report
from weighbridge_producer.run.outputs import write_each
from weighbridge_producer.service.api.results import ResultQuery


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("-", ("-", "jsonl", "")),
        ("r.jsonl", ("r.jsonl", "jsonl", "")),
        ("r.jsonl.gz", ("r.jsonl.gz", "jsonl", ".gz")),
        ("a.b/r.csv.zst", ("a.b/r.csv.zst", "csv", ".zst")),
        ("junit=report", ("report", "junit", "")),
        ("md=/tmp/step=1", ("/tmp/step=1", "md", "")),
        ("csv=-", ("-", "csv", "")),
        ("csv=/dev/stdout", ("-", "csv", "")),
        ("/dev/fd/1", ("-", "jsonl", "")),
        ("jsonl=/proc/self/fd/1", ("-", "jsonl", "")),
        ("x=y.csv", ("x=y.csv", "csv", "")),
    ],
)
def test_an_ending_or_a_name_chooses_the_form(text, chosen):
    output = output_of(text)
    assert (output.target, output.form.name, output.packing) == chosen


def test_an_absolute_output_keeps_its_form_and_standard_output(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [*map(absolute, ["-", "csv=-", "r.jsonl", "md=sum/mary", "csv=/tmp/x"])] == [
        *("-", "csv=-", f"{tmp_path}/r.jsonl", f"md={tmp_path}/sum/mary", "csv=/tmp/x"),
    ]


def test_only_regular_files_are_replaced(tmp_path):
    link = tmp_path / "out.jsonl"
    link.symlink_to("/dev/stdout")
    assert output_of(str(link)).target == "-"
    assert not output_of("jsonl=/dev/null").is_results_file
    assert not output_of("jsonl=/dev/fd/5").is_results_file
    assert output_of("/dev/shm/r.jsonl").is_results_file
    assert output_of(str(tmp_path / "new.jsonl")).is_results_file


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("r.cvs", "did you mean '.csv'?"),
        ("results", "unknown output form in 'results'"),
        ("a.csv/r", "unknown output form"),
        ("md=", "names no file"),
        ("", "unknown output form"),
    ],
)
def test_anything_else_is_refused_with_the_forms_that_are_known(text, says):
    with pytest.raises(OutputError) as refusal:
        output_of(text)
    assert says in refusal.value.message
    assert refusal.value.hint


def test_help_names_the_forms():
    assert ".parquet (a typed table)" in OUTPUT_HELP
    assert "with one of jsonl, csv, tsv, parquet, md, html, junit, otel." in OUTPUT_HELP
    assert ".ndjson, .csv" in known_endings()


def test_http_accepts_every_form_and_names_them_where_it_refuses_another():
    names = ["json", "ndjson", "jsonl", "csv", "tsv", "parquet", "md", "html", "junit", "otel"]
    assert [ResultQuery(format=name).format for name in names] == names
    with pytest.raises(ValidationError, match=f"expected one of {', '.join(names)}"):
        ResultQuery(format="xls")
    documented = ResultQuery.model_json_schema()["properties"]["format"]["anyOf"][0]["enum"]
    assert documented == names


def test_a_packed_output_has_the_same_text(tmp_path):
    results = tmp_path / "results"
    results.write_bytes(b'{"not": "read"}\n' * 100_000)
    report = Report(results, "cases")
    write_each(report, [str(tmp_path / f"r.jsonl{end}") for end in ("", ".gz", ".zst")], None)
    plain = (tmp_path / "r.jsonl").read_bytes()
    assert plain == results.read_bytes()
    assert gzip.decompress((tmp_path / "r.jsonl.gz").read_bytes()) == plain
    with (tmp_path / "r.jsonl.zst").open("rb") as file:
        assert zstandard.ZstdDecompressor().stream_reader(file).read() == plain


def test_a_summary_is_added_to_that_of_github(tmp_path, monkeypatch):
    summary = tmp_path / "step"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    (tmp_path / "results").write_bytes(b"")
    write_each(Report(tmp_path / "results", "cases"), [f"md={summary}"], None)
    assert summary.read_text().startswith("before\n## Weighbridge: `cases`")

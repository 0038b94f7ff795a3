"""`weighbridge compare` on files and on batches: output and exit status."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import orjson
import pytest

from support.markdown import unpadded
from support.result_lines import case, graded
from weighbridge.jobs.grader_spec import GraderSpec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def runs(tmp_path: Path) -> tuple[str, str]:
    """Two files of results of twenty cases; in the second, ten regressed and one line was unreadable."""
    before = [case(f"q{n}", metadata={"topic": f"t{n % 2}"}) for n in range(20)]
    after = [case(f"q{n}", "Lisbon!" if n < 10 else "Lisbon") for n in range(20)]
    for name, rows in (("a.jsonl", before), ("b.jsonl", [*after, b"nonsense"])):
        (tmp_path / name).write_bytes(b"".join(graded(rows)))
    return "a.jsonl", "b.jsonl"


def test_two_files_are_compared(cli, runs) -> None:
    ended = cli("compare", *runs, "--by", "metadata.topic")
    assert (ended.status, ended.err) == (0, "")
    words = " ".join(ended.out.split())
    assert "a.jsonl -> b.jsonl: 20 results in both" in words
    assert "string-match 100.0% [83.9, 100.0] 50.0% [29.9, 70.1] -50.0 [-70.1, -2" in words
    assert "topic: t0" in words
    assert "10 unchanged, 10 regressed, 0 repaired" in words
    assert "b.jsonl: 1 result without a custom_id, not compared" in words
    assert ended.out.count("before  passed") == 3
    assert "... and 7 more" in ended.out


def test_what_goes_to_a_file_or_program_is_not_cut(cli, tmp_path: Path) -> None:
    custom_id, label, topic = "i" * 200, "l" * 100, "t" * 60
    for name, answer in (("before", "Lisbon"), ("after", "Lisbon!")):
        (tmp_path / "cases.jsonl").write_bytes(case(custom_id, answer, metadata={"topic": topic}))
        options = ("-g", f"{label}=string-match", "--by", "metadata.topic", "-o", f"{name}.jsonl")
        run = cli("run", "cases.jsonl", *options)
        assert (f"\n{label} (string-match)  " in run.out, f"\n{topic}  " in run.out) == (True, True)
    compared = cli("compare", "before.jsonl", "after.jsonl", "--by", "metadata.topic")
    assert f"  {custom_id}  {label}" in compared.out.splitlines()
    assert f"topic: {topic}" in compared.out
    assert "…" not in compared.out


def test_gates_decide_the_exit_status_and_say_what_they_saw(cli, runs) -> None:
    ended = cli("compare", *runs, "--max-regressions", "10", "--fail-on-regression")
    assert ended.status == 100
    met, lower = ended.err.splitlines()
    assert met.startswith("gate --max-regressions 10 met:")
    assert lower.startswith("gate --fail-on-regression not met:")
    assert cli("compare", *runs, "--max-regressions", "50%").status == 0
    assert cli("compare", *reversed(runs), "--max-regressions", "0").status == 0


def test_json_has_the_figures_the_examples_and_the_gates(cli, runs) -> None:
    ended = cli("compare", *runs, "--json", "--max-regressions", "0")
    [comparison] = ended.json["comparisons"]
    assert ended.status == 100
    assert comparison["groups"]["regressed"] == 10
    assert comparison["labels"][0]["rates"]["difference"] == -0.5
    assert len(comparison["examples"]["regressed"]) == 10
    assert [gate["met"] for gate in comparison["gates"]] == [False]


def test_every_result_that_changed_is_written(cli, runs, tmp_path: Path) -> None:
    cli("compare", *runs, "-o", "changed.jsonl")
    rows = [orjson.loads(row) for row in (tmp_path / "changed.jsonl").read_bytes().splitlines()]
    assert {row["custom_id"] for row in rows} == {f"q{n}" for n in range(10)}
    assert {row["change"] for row in rows} == {"regressed"}


def test_a_summary_for_a_pull_request_has_rates_gates_and_what_regressed(
    cli, runs, tmp_path: Path
) -> None:
    ended = cli(
        "compare", *runs, "-o", "summary.md", "--max-regressions", "0", "--by", "metadata.topic"
    )
    assert ended.status == 100
    text = unpadded((tmp_path / "summary.md").read_text())
    assert text.startswith(
        "## Weighbridge: `a.jsonl` → `b.jsonl`\n\n20 results in both, 10 unchanged,"
    )
    assert "1 gate not met" in text
    assert "| `string-match` | 100.0% [83.9, 100.0] | 50.0% [29.9, 70.1] | **-50.0" in text
    assert "| · `t0` |" in text
    assert "| ❌ not met | `--max-regressions 0` |" in text
    assert "### Regressed: 10" in text
    assert "### Repaired" not in text


def test_a_summary_is_added_to_that_of_other_steps(cli, runs, tmp_path: Path) -> None:
    summary = tmp_path / "step.md"
    summary.write_text("before\n")
    cli.environment["GITHUB_STEP_SUMMARY"] = str(summary)
    cli("compare", *runs, "-o", f"md={summary}")
    assert summary.read_text().startswith("before\n## Weighbridge")


def test_junit_has_a_failure_for_each_regression_and_each_gate(cli, runs, tmp_path: Path) -> None:
    cli("compare", *runs, "-o", "junit.xml", "--max-regressions", "0")
    suites = ET.parse(tmp_path / "junit.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("11", "11")
    comparison, gates = suites
    assert len(comparison.findall("testcase/failure")) == 10
    assert gates.find("testcase").get("name") == "--max-regressions 0"


@pytest.mark.parametrize("output", ["x.txt", "x.pdf", "-", "none/x.md"])
def test_an_output_that_cannot_be_is_refused_before_anything_is_read(
    cli, runs, output: str, tmp_path: Path
) -> None:
    ended = cli("compare", *runs, "-o", output)
    assert ended.status == 1
    assert ended.err.startswith("OUTPUT_UNWRITABLE")
    assert ended.out == ""


@pytest.mark.parametrize("options", [(), ("--repeats-by", "metadata.case")])
@pytest.mark.parametrize("run", [0, 1])
def test_an_output_that_is_one_of_the_runs_is_refused(
    cli, runs, tmp_path: Path, run: int, options: tuple[str, ...]
) -> None:
    kept = (tmp_path / runs[run]).read_bytes()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / runs[run])
    for output in (runs[run], f"./{runs[run]}", "link.jsonl", f"md={tmp_path / runs[run]}"):
        ended = cli("compare", *runs, *options, "-o", output)
        assert ended.status == 1
        assert "OUTPUT_UNWRITABLE" in ended.err
        assert "is the input" in ended.err
        assert (tmp_path / runs[run]).read_bytes() == kept


@pytest.mark.parametrize("options", [(), ("--repeats-by", "metadata.case")])
def test_two_outputs_to_one_file_are_refused(
    cli, runs, tmp_path: Path, options: tuple[str, ...]
) -> None:
    ended = cli("compare", *runs, *options, "-o", "c.csv", "-o", "md=./c.csv")
    assert (ended.status, ended.out) == (1, "")
    assert "the outputs 'csv=c.csv' and 'md=./c.csv' go to one file" in ended.err
    assert not (tmp_path / "c.csv").exists()


def test_the_first_of_several_runs_is_the_reference(cli, runs) -> None:
    before, after = runs
    ended = cli("compare", before, after, before, "--max-regressions", "0")
    assert ended.status == 100
    assert "b.jsonl: gate --max-regressions 0 not met" in ended.err
    assert "a.jsonl: gate --max-regressions 0 met" in ended.err


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "JSON"])
def test_runs_without_a_result_in_common_are_an_error_that_names_the_first_of_each(
    cli, runs, tmp_path: Path, options: tuple[str, ...]
) -> None:
    (tmp_path / "c.jsonl").write_bytes(b"".join(graded([case("another")])))
    ended = cli("compare", runs[0], "c.jsonl", *options)
    assert ended.status == 1
    assert ended.err.splitlines() == [
        "exit status 1: nothing was compared: no result of c.jsonl has the custom_id and label of one of a.jsonl",
        "  a.jsonl has q0 (string-match), q1 (string-match), q2 (string-match), 17 more",
        "  c.jsonl has another (string-match)",
        "  name runs of the same cases, graded under the same labels; --pair-by metadata.file pairs traces with ids of their own by file",
    ]
    if options:
        assert ended.json["comparisons"][0]["groups"]["gone"] == 20
    (tmp_path / "lines.jsonl").write_bytes(b"".join(graded([case("mon.jsonl:1")])))
    (tmp_path / "others.jsonl").write_bytes(b"".join(graded([case("tue.jsonl:1")])))
    ended = cli("compare", "lines.jsonl", "others.jsonl", *options)
    assert ended.err.splitlines()[-1].startswith("  ids such as FILE:1 stand for lines without")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    ended = cli("compare", "empty.jsonl", runs[0], "--examples", 0)
    assert ended.status == 1
    assert ended.err.splitlines()[1:3] == [
        "  empty.jsonl has no result with a custom_id",
        "  a.jsonl has 20 results",
    ]


def test_what_is_neither_file_nor_batch_is_refused(cli, runs) -> None:
    ended = cli("compare", runs[0], "none.jsonl")
    assert ended.status == 1
    assert "'none.jsonl' is neither a file of results nor a batch id" in ended.err
    assert cli("compare", runs[0]).status == 2


def test_a_misspelt_baseline_is_refused_with_the_nearest_one(cli, runs) -> None:
    assert cli("baseline", "set", "main", runs[0]).status == 0
    refusals = (cli("compare", "maim", runs[1]), cli("baseline", "delete", "Mains"))
    for refused in refusals:
        assert refused.status == 1
        assert "; did you mean 'main'?" in refused.err


def test_a_batch_is_compared_with_a_file(cli, server, worker, tmp_path: Path) -> None:
    cases = [case(f"q{n}", "Lisbon" if n else "Porto") for n in range(5)]
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join(cases))
    (tmp_path / "a.jsonl").write_bytes(b"".join(graded(case(f"q{n}") for n in range(5))))
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = server.url
    batch = cli("submit", "cases.jsonl", "--grader", "string-match").out.strip()
    cli("watch", batch)
    ended = cli("compare", "a.jsonl", batch)
    assert "4 unchanged, 1 regressed" in ended.out


def test_a_baseline_outlives_the_file_that_it_was_made_of(cli, runs, tmp_path: Path) -> None:
    before, after = runs
    assert cli("baseline", "set", "main", before).out == "main: 20 results of a.jsonl\n"
    (tmp_path / before).unlink()
    assert "10 unchanged, 10 regressed" in cli("compare", "main", after).out
    assert [kept["name"] for kept in cli("baseline", "list", "--json").json] == ["main"]
    assert cli("baseline", "delete", "main").out == "main is deleted\n"
    assert cli("compare", "main", after).status == 1


def test_gates_and_slices_are_the_same_for_run_watch_and_compare(
    cli, server, worker, tmp_path: Path
) -> None:
    cases = [
        case(f"q{n}", "Porto" if n == 0 else "Lisbon", metadata={"topic": f"t{n % 2}"})
        for n in range(10)
    ]
    (tmp_path / "cases.jsonl").write_bytes(b"\n".join(cases))
    asked = ["--by", "metadata.topic", "--min-pass-rate", "0.9"]
    asked += ["--min-pass-rate", "metadata.topic:t0=0.9", "--max-vacuous", "0"]
    ran = cli("run", "cases.jsonl", "--grader", "string-match", "-o", "a.jsonl", *asked)
    assert ran.status == 100
    told = ran.err.splitlines()
    assert [line.partition(":")[0] for line in told[:1]] == ["gate --min-pass-rate 0.9 met"]
    assert "metadata.topic:t0=0.9 not met" in told[1]
    assert "t0 4/5 80.0%" in " ".join(ran.out.split())
    cli.environment["WEIGHBRIDGE_REDIS_URL"] = server.url
    batch = cli("submit", "cases.jsonl", "--grader", "string-match").out.strip()
    watched = cli("watch", batch, *asked, "--json")
    assert (watched.status, watched.err.splitlines()) == (100, told)
    assert [gate["met"] for gate in watched.json["gates"]] == [True, False, True]
    assert {row["value"] for row in watched.json["slices"]} == {"t0", "t1"}
    shown = cli("status", batch, "--by", "metadata.topic")
    assert "t0 4/5 80.0%" in " ".join(shown.out.split())
    compared = cli("compare", "a.jsonl", batch, *asked)
    assert (compared.status, compared.err.splitlines()) == (100, told)


def test_a_gate_that_cannot_be_is_refused_before_anything_is_run(cli, tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_bytes(case("q"))
    ended = cli("run", "cases.jsonl", "--grader", "string-match", "--min-pass-rate", "1.5")
    assert ended.status == 2
    assert "--min-pass-rate '1.5' has no share from 0 to 1" in " ".join(ended.err.split())
    assert not (tmp_path / "cases.results.jsonl").exists()


def test_repeats_of_one_run_are_shown_with_their_reliability(cli, tmp_path: Path) -> None:
    rows = graded(case(f"q{n // 4}#{n % 4}", "Lisbon" if n % 3 else "Porto") for n in range(20))
    (tmp_path / "a.jsonl").write_bytes(b"".join(rows))
    ended = cli("compare", "a.jsonl", "--repeats-by", "custom_id:#")
    assert (ended.status, ended.err) == (0, "")
    assert "pass^k" in ended.out
    assert "flaky in a.jsonl: q0 (2 of 4), q3 (2 of 4)" in ended.out
    told = cli("compare", "a.jsonl", "a.jsonl", "--repeats-by", "custom_id:#", "--json").json
    assert told["labels"][0]["differences"][0]["difference"] == 0
    assert cli("compare", "a.jsonl", "--repeats-by", "custom_id:#", "-o", "x").status == 1
    refused = cli("compare", "a.jsonl", "--repeats-by", "custom_id:#", "--max-regressions", "1")
    assert refused.status == 2
    one = cli("compare", "a.jsonl", "--repeats-by", "custom_id:#", "--fail-on-regression")
    assert (one.status, "compares two runs or more" in " ".join(one.err.split())) == (2, True)
    unknown = cli("compare", "a.jsonl", "--repeats-by", "metadata.nosuch")
    assert unknown.status == 1
    assert "no result of a.jsonl has metadata.nosuch" in unknown.err
    assert "it has no metadata" in " ".join(unknown.err.split())


def test_gates_for_repeats_decide_the_exit_status_and_are_in_every_output(
    cli, tmp_path: Path
) -> None:
    rows = graded(case(f"q{n // 4}#{n % 4}", "Lisbon" if n % 3 else "Porto") for n in range(20))
    (tmp_path / "a.jsonl").write_bytes(b"".join(rows))
    repeats = ("compare", "a.jsonl", "--repeats-by", "custom_id:#")
    flaky = cli(*repeats, "--max-flaky", "4", "-o", "r.xml", "-o", "r.md", "-o", "r.html", "--json")
    assert flaky.status == 100
    assert flaky.err.startswith(
        "gate --max-flaky 4 not met: required at most 4 cases flaky; seen 5 of 5 cases judged more than once\n"
    )
    [[gate]] = flaky.json["gates"]
    assert gate == {
        "gate": "--max-flaky 4",
        "scope": "",
        "met": False,
        "required": "at most 4 cases flaky",
        "seen": "5 of 5 cases judged more than once",
    }
    gates = ET.parse(tmp_path / "r.xml").getroot().find("testsuite[@name='gates']")
    assert gates is not None
    assert gates.attrib["failures"] == "1"
    for name in ("r.md", "r.html"):
        assert "--max-flaky 4" in (tmp_path / name).read_text()
    assert cli(*repeats, "--max-flaky", "100%", "--min-pass-hat-k", "2=0.1").status == 0
    assert cli(*repeats, "--min-pass-hat-k", "2=0.9").status == 100
    assert cli(*repeats, "--min-pass-hat-k", "5=0").status == 1
    two = cli("compare", "a.jsonl", *repeats[1:], "--max-flaky", "5", "--fail-on-regression")
    assert (two.status, two.err.count(" met: ")) == (0, 2)
    for wrong in (("--max-flaky", "few"), ("--min-pass-hat-k", "0.9")):
        assert cli(*repeats, *wrong).status == 2
    without = cli("compare", "a.jsonl", "a.jsonl", "--max-flaky", "0")
    assert without.status == 2
    assert "--repeats-by" in without.err


def test_repeats_that_are_no_longer_judged_and_other_conditions_are_told(
    cli, tmp_path: Path
) -> None:
    def answers(failing: str | None) -> list[bytes]:
        expected = ["Lisbon", failing]
        return [case(f"q{n // 2}#{n % 2}", expected=expected[n % 2]) for n in range(20)]

    ignoring_case = [GraderSpec("string-match", {"case_sensitive": False})]
    (tmp_path / "a.jsonl").write_bytes(b"".join(graded(answers("Porto"))))
    (tmp_path / "b.jsonl").write_bytes(b"".join(graded(answers(None), ignoring_case)))
    asked = ("compare", "a.jsonl", "b.jsonl", "--repeats-by", "custom_id:#", "--fail-on-regression")
    ended = cli(*asked)
    assert ended.status == 1
    assert "gate no lost results not met" in ended.err
    assert "; lost repeats: 10 in 10 cases" in ended.out
    assert "graded by configuration" in ended.out
    told = cli(*asked, "--allow-lost", "--min-effect", "2%", "--json")
    assert told.status == 0
    assert "--min-effect 2% met" in told.err
    assert "graded by configuration" in told.json["notes"][0]


def test_a_misspelt_field_of_repeats_is_refused_with_the_nearest_one(cli, tmp_path: Path) -> None:
    rows = graded(case(f"q{n}", "Lisbon", metadata={"question": "q"}) for n in range(2))
    (tmp_path / "a.jsonl").write_bytes(b"".join(rows))
    ended = cli("compare", "a.jsonl", "--repeats-by", "metadata.qestion")
    assert ended.status == 1
    told = " ".join(ended.err.split())
    assert "did you mean 'metadata.question'?" in told
    assert "the fields of its metadata: metadata.question" in told


def test_a_separator_that_no_custom_id_has_is_refused_with_an_id(cli, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"".join(graded(case(f"q{n}#1") for n in range(2))))
    ended = cli("compare", "a.jsonl", "--repeats-by", "custom_id:/")
    assert ended.status == 1
    told = " ".join(ended.err.split())
    assert "no custom_id of a.jsonl has '/'" in told
    assert "ids such as 'q0#1'" in told


def test_one_label_can_be_compared(cli, tmp_path: Path) -> None:
    graders = (GraderSpec("string-match", None, "one"), GraderSpec("string-match", None, "two"))
    for name, answer in (("a", "Lisbon"), ("b", "Porto")):
        rows = graded((case(f"q{n}#{n}", answer) for n in range(4)), graders)
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(rows))
    runs = ("compare", "a.jsonl", "b.jsonl", "--json")
    assert [each["label"] for each in cli(*runs).json["comparisons"][0]["labels"]] == ["one", "two"]
    [comparison] = cli(*runs, "--label", "two").json["comparisons"]
    [compared] = comparison["labels"]
    assert (compared["label"], compared["groups"]["regressed"]) == ("two", 4)
    assert comparison["before"]["results"] == 4
    repeats = cli(*runs, "--label", "two", "--repeats-by", "custom_id").json["labels"]
    assert [each["label"] for each in repeats] == ["two"]
    refused = cli(*runs, "--label", "twi")
    assert refused.status == 1
    assert "no result of a.jsonl has the label 'twi'; did you mean 'two'?" in refused.err


def test_a_field_that_no_result_has_is_told_by_each_command(cli, tmp_path: Path) -> None:
    metadata = {"topic": "t", "lang": {"code": "pt"}}
    (tmp_path / "cases.jsonl").write_bytes(case("q", "Lisbon", metadata=metadata))
    by = ("--by", "metadata.topik", "--by", "metadata.lang")
    told = [
        "no result has metadata.topik; did you mean 'metadata.topic'?",
        "metadata.lang is an object; name a field in it: metadata.lang.code",
    ]
    ran = cli("run", "cases.jsonl", "--grader", "string-match", "-o", "a.jsonl", *by)
    assert (ran.status, ran.err.splitlines()) == (0, told)
    listed = cli("results", "a.jsonl", *by, "--json")
    assert (listed.status, listed.err.splitlines()) == (0, told)
    compared = cli("compare", "a.jsonl", "a.jsonl", *by)
    assert (compared.status, compared.err.splitlines()) == (0, told)
    fields = ("--by", "metadata.topic", "--by", "metadata.lang.code")
    cli("compare", "a.jsonl", "a.jsonl", *fields, "-o", "a.md")
    assert "| · `metadata.topic t` |" in unpadded((tmp_path / "a.md").read_text())
    gated = cli("results", "a.jsonl", "--min-pass-rate", "metadata.topik:t=0.5")
    assert gated.status == 1
    assert (
        "seen no job with that value: no result has metadata.topik; did you mean 'metadata.topic'?"
        in gated.err
    )


def test_a_comparison_and_repeats_are_written_in_each_form(cli, tmp_path: Path) -> None:
    for name, answers in (("a", 3), ("b", 4)):
        rows = graded(
            case(f"q{n // 4}#{n % 4}", "Lisbon" if n % answers else "Porto") for n in range(20)
        )
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(rows))
    endings = ("jsonl", "csv", "tsv", "parquet", "md", "html", "xml", "otlp.jsonl", "csv.gz")
    for kind, options in (("c", ()), ("r", ("--repeats-by", "custom_id:#"))):
        outputs = [f"-o{kind}.{ending}" for ending in endings]
        ended = cli("compare", "a.jsonl", "b.jsonl", *options, *outputs)
        assert (ended.status, ended.err) == (0, "")
        assert f"written: {kind}.jsonl" in ended.out
        assert all((tmp_path / f"{kind}.{ending}").stat().st_size > 40 for ending in endings)
    cases = [orjson.loads(line) for line in (tmp_path / "r.jsonl").read_bytes().splitlines()]
    assert len(cases) == 10
    assert {"run", "label", "case", "outcome", "judged", "passed", "unjudged"} == cases[0].keys()
    assert "pass^k" in (tmp_path / "r.md").read_text()

"""Comparison of runs: how each kind of change is counted and described."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import zstandard

from support.result_lines import case, graded
from weighbridge.errors import InputError, InvalidFilterError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer import compare
from weighbridge_producer.comparison import tallies
from weighbridge_producer.comparison.compare import compare_runs
from weighbridge_producer.comparison.compared_results import read_entry
from weighbridge_producer.comparison.pairs import Condition, Group, Pair
from weighbridge_producer.comparison.regression_gates import RegressionGates
from weighbridge_producer.comparison.runs import run_of_lines
from weighbridge_producer.statistics import PairedCounts

if TYPE_CHECKING:
    from pathlib import Path

UNGRADABLE = case("q", expected=None)
TRUE_FALSE = (GraderSpec("true-false"),)


def groups(comparison) -> dict[str, int]:
    return {str(group): count for group, count in comparison.groups.items() if count}


@pytest.mark.parametrize(
    ("before", "after", "group"),
    [
        (case("q"), case("q"), "unchanged"),
        (case("q", "Porto"), case("q", "Porto"), "unchanged"),
        (case("q"), case("q", "Porto"), "regressed"),
        (case("q", "Porto"), case("q"), "repaired"),
        (case("q", "Porto"), case("q", "Faro"), "changed evidence"),
        (case("q"), b'{"custom_id": "q"}', "lost"),
        (case("q"), UNGRADABLE, "lost"),
        (case("q", "Porto"), UNGRADABLE, "lost"),
        (b'{"custom_id": "q"}', case("q"), "gained"),
        (UNGRADABLE, case("q", "Porto"), "gained"),
        (UNGRADABLE, UNGRADABLE, "unchanged"),
        (UNGRADABLE, case("q", expected=["Lisbon"]), "changed evidence"),
        (UNGRADABLE, b'{"custom_id": "q"}', "errored"),
        (b'{"custom_id": "q"}', b'{"custom_id": "q"}', "errored"),
    ],
)
def test_a_pair_belongs_to_one_group(before: bytes, after: bytes, group: str) -> None:
    assert groups(compare(graded([before]), graded([after]))) == {group: 1}


def test_what_only_one_run_has_is_new_or_gone() -> None:
    comparison = compare(graded([case("old"), case("kept")]), graded([case("kept"), case("fresh")]))
    assert groups(comparison) == {"unchanged": 1, "new": 1, "gone": 1}
    assert comparison.pairs == 1
    assert [pair.custom_id for pair in comparison.examples(Group.GONE)] == ["old"]
    assert comparison.lost_verdicts == 1


def test_results_that_were_ungradable_before_are_told_apart_from_those_that_lost_their_verdict() -> (
    None
):
    before = graded([case("old", expected=None), case("kept"), case("now")])
    after = graded([case("old", expected=None), case("kept"), case("now", expected=None)])
    comparison = compare(before, after)
    assert groups(comparison) == {"unchanged": 2, "lost": 1}
    assert [pair.custom_id for pair in comparison.examples(Group.LOST)] == ["now"]
    [_, gate] = RegressionGates(max_regressions="0").check(comparison)
    assert "1 that the first run judged and the second did not (1 lost, 0 gone)" in gate.seen
    assert comparison.notes == ["1 unchanged result is ungradable in both runs, and in no rate"]


def of_file(custom_id: str, file: str, answer: str = "Lisbon") -> bytes:
    return orjson.dumps(orjson.loads(case(custom_id, answer)) | {"metadata": {"file": file}})


def test_results_are_paired_by_a_field_and_those_of_one_value_in_the_order_of_the_input() -> None:
    before = graded(
        [of_file("1", "a.json"), of_file("2", "b.json"), of_file("3", "b.json"), case("k")]
    )
    files = ["b.json", "b.json", "a.json", "b.json"]
    after = graded([of_file(str(n), file) for n, file in enumerate(files, start=11)] + [case("k")])
    comparison = compare(before, reversed(list(after)), pair_by="metadata.file")
    assert groups(comparison) == {"unchanged": 4, "new": 1}
    assert [pair.custom_id for pair in comparison.examples(Group.NEW)] == ["b.json (3)"]
    assert groups(compare(before, after)) == {"unchanged": 1, "gone": 3, "new": 4}


def test_a_note_tells_how_to_pair_new_and_gone_results_of_the_same_files() -> None:
    before = graded([of_file("1", "a.json"), of_file("2", "b.json"), of_file("3", "c.json")])
    after = graded([of_file("1", "a.json"), of_file("8", "b.json"), of_file("9", "d.json")])
    comparison = compare(before, after, by=["metadata.file"])
    assert comparison.notes == [
        (
            "1 file has both new and gone results (b.json): if their traces have new ids in each run,"
            " --pair-by metadata.file pairs them by file"
        )
    ]
    assert compare(before, after, pair_by="metadata.file").notes == []
    only_new = graded([of_file("1", "a.json"), of_file("8", "a.json")])
    assert compare(graded([of_file("1", "a.json")]), only_new).notes == []


@pytest.mark.parametrize("kept", [1, 20], ids=["no id", "id"])
@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_line_that_could_not_be_read_keeps_its_place_among_the_pairs_of_its_file(
    lost: int, kept: int
) -> None:
    answers = {1: "Lisbon", 2: "Porto", 3: "Lisbon"}
    before = [of_file(str(n), "b.json", answer) for n, answer in answers.items()]
    after = [of_file(f"{n}b", "b.json", answer) for n, answer in answers.items()]
    after[lost - 1] = after[lost - 1][:kept]
    origins = [(0, "a.json, line", 1), (1, "b.json, line", 1)]
    lines = graded([of_file("0", "a.json"), *after], origins=origins)
    comparison = compare(graded([of_file("9", "a.json"), *before]), lines, pair_by="metadata.file")
    assert comparison.judged_pairs == groups(comparison)["unchanged"] == 3
    [gone] = comparison.examples(Group.GONE)
    assert gone.custom_id == ("b.json" if lost == 1 else f"b.json ({lost})")


def test_a_run_of_which_no_line_could_be_read_has_no_pairs() -> None:
    lines = graded([b"{"], origins=[(0, "b.json, line", 1)])
    comparison = compare(graded([of_file("1", "b.json")]), lines, pair_by="metadata.file")
    assert groups(comparison) == {"gone": 1}


def test_pairs_by_a_field_tell_which_case_changed() -> None:
    before = graded([of_file("1", "a"), of_file("2", "a")])
    after = graded([of_file("8", "a"), of_file("9", "a", "Porto")])
    comparison = compare(before, after, pair_by="metadata.file", by=["metadata.file"])
    assert [pair.custom_id for pair in comparison.examples(Group.REGRESSED)] == ["a (2)"]
    assert [each.value for each in comparison.labels[0].slices] == ["a"]


def test_a_field_to_pair_by_that_no_result_has_is_an_error() -> None:
    runs = graded([of_file("1", "a")]), graded([of_file("2", "a")])
    with pytest.raises(InvalidFilterError, match=r"metadata\.fil; did you mean 'metadata\.file'\?"):
        compare(*runs, pair_by="metadata.fil")
    assert compare([], [], pair_by="metadata.file").pairs == 0


def test_an_ungradable_side_keeps_a_pair_out_of_the_rates() -> None:
    before = graded([case("q", "yes", "true"), case("r", "yes", "true")], TRUE_FALSE)
    after = graded([case("q", "yes", "depends"), case("r", "yes", "true")], TRUE_FALSE)
    comparison = compare(before, after)
    assert groups(comparison) == {"lost": 1, "unchanged": 1}
    assert comparison.labels[0].rates.counts == PairedCounts(both=1)
    assert comparison.lost_verdicts == 1


def test_totals_that_are_alike_do_not_hide_changes() -> None:
    answers = ["Lisbon"] * 50 + ["Porto"] * 50
    before = graded(case(f"q{n}", answer) for n, answer in enumerate(answers))
    after = graded(case(f"q{n}", answer) for n, answer in enumerate(reversed(answers)))
    comparison = compare(before, after)
    assert groups(comparison) == {"regressed": 50, "repaired": 50}
    rates = comparison.labels[0].rates
    assert rates.before == rates.after == 0.5
    assert rates.p == 1.0


def test_the_order_of_the_results_does_not_matter() -> None:
    chance = random.Random(3)
    before = graded(case(f"q{n}", chance.choice(["Lisbon", "Porto"])) for n in range(400))
    after = graded(case(f"q{n}", chance.choice(["Lisbon", "Porto"])) for n in range(400))
    told = compare(before, after).as_dict()
    chance.shuffle(before)
    chance.shuffle(after)
    assert compare(before, after).as_dict() == told


def test_labels_are_compared_apart_and_their_p_values_adjusted_together() -> None:
    graders = (GraderSpec("string-match", None, "strict"), GraderSpec("string-match", None, "same"))
    before = graded((case(f"q{n}") for n in range(10)), graders)
    after = graded((case(f"q{n}", "Porto") for n in range(10)), graders)
    strict, same = compare(before, after).labels[::-1]
    assert (strict.label, same.label) == ("strict", "same")
    assert strict.rates.p == pytest.approx(2 / 2**10)
    assert strict.rates.adjusted_p == pytest.approx(2 / 2**10)


def test_a_line_that_cannot_be_read_stands_for_each_label_of_its_case() -> None:
    graders = (GraderSpec("string-match", None, "one"), GraderSpec("string-match", None, "two"))
    before = graded([case("q")], graders)
    after = graded([b'{"custom_id": "q", "inputs": 3}'], graders)
    assert groups(compare(before, after)) == {"lost": 2}
    assert groups(compare(after, before)) == {"gained": 2}


def test_results_without_an_id_and_repeated_ones_are_counted_and_not_compared() -> None:
    before = graded([case("q"), b"nonsense", case("q", "Porto")])
    comparison = compare(before, graded([case("q")]))
    assert groups(comparison) == {"unchanged": 1}
    assert (comparison.before.results, comparison.before.unnamed) == (3, 1)
    assert comparison.before.repeated == 1


def test_slices_tell_the_rates_of_each_value_and_the_rest_as_one() -> None:
    def rows(answer: str) -> list[bytes]:
        return graded(
            case(f"q{n}", answer, metadata={"topic": f"t{n % 30}", "deep": {"x": n % 2}})
            for n in range(90)
        )

    comparison = compare(rows("Lisbon"), rows("Porto"), by=["metadata.topic", "metadata.deep.x"])
    slices = comparison.labels[0].slices
    topics = [each for each in slices if each.field == "metadata.topic"]
    assert len(topics) == 21
    assert topics[-1].value == "(other)"
    assert topics[-1].rates.counts == PairedCounts(only_first=30)
    assert {each.value for each in slices if each.field == "metadata.deep.x"} == {"0", "1"}


def test_cases_without_the_field_are_a_slice_of_their_own() -> None:
    rows = graded([case("a", metadata={"topic": {"x": 1}}), case("b"), case("c", metadata={})])
    [slice_] = compare(rows, rows, by=["metadata.topic"]).labels[0].slices
    assert (slice_.value, slice_.rates.counts.both) == ("(none)", 3)


def test_a_field_outside_the_metadata_is_refused_with_what_would_work() -> None:
    with pytest.raises(InvalidFilterError, match=r"write metadata\.FIELD"):
        compare([], [], by=["topic"])


def test_another_version_of_the_grader_is_said() -> None:
    before = graded([case("q")])
    row = orjson.loads(before[0])
    after = [orjson.dumps(row | {"grader_version": 99, "receipt": "0" * 64})]
    conditions = compare(before, after).labels[0].tally.conditions
    version = row["grader_version"]
    assert conditions.jobs == {Condition.VERSION: 1}
    assert compare(before, after).notes == [
        f"string-match: 1 pair graded by string-match {version} before, and by string-match 99 after (q)"
    ]


def test_another_configuration_is_said_with_the_cases_also_where_the_result_is_another() -> None:
    names = [f"q{number}" for number in range(5)]
    folding = [GraderSpec("string-match", {"case_sensitive": False})]
    before = graded([case(name, "Lisbon", "lisbon") for name in names])
    after = graded([case(name, "Lisbon", "lisbon") for name in reversed(names)], folding)
    comparison = compare(before, after)
    [note] = comparison.notes
    digests = [orjson.loads(rows[0])["config_digest"] for rows in (before, after)]
    assert note == (
        f"string-match: 5 pairs graded by configuration {digests[0]} before,"
        f" and by configuration {digests[1]} after (q0, q1, q2, ...)"
    )
    told = comparison.labels[0].as_dict()["conditions"]
    assert told["different"] == [
        {"condition": "configuration", "jobs": 5, "first": ["q0", "q1", "q2"]}
    ]


def test_a_configuration_that_says_the_defaults_is_not_another() -> None:
    spelled_out = [GraderSpec("string-match", {"case_sensitive": True})]
    comparison = compare(graded([case("q")]), graded([case("q")], spelled_out))
    assert comparison.notes == []
    assert comparison.labels[0].tally.conditions.identical == 1


def test_another_expected_value_is_said() -> None:
    comparison = compare(graded([case("q")]), graded([case("q", "Lisbon", "Porto")]))
    assert comparison.labels[0].tally.conditions.jobs == {Condition.EXPECTED: 1}
    assert comparison.notes == [
        "string-match: 1 pair with other expected values: the cases changed (q)"
    ]


@pytest.mark.parametrize("answers", [("A", "B"), ("B", "C"), ("A", "b"), ("B", "c"), ("x", "C")])
def test_another_one_of_the_accepted_answers_is_no_other_expected_value(
    answers: tuple[str, str],
) -> None:
    accepting = [GraderSpec("string-match", {"expected_any": ["B", "C"]})]
    before, after = (graded([case("q", answer, "A")], accepting) for answer in answers)
    assert compare(before, after).notes == []
    others = graded([case("q", "D", "D")], accepting)
    said = compare(graded([case("q", "A", "A")], accepting), others).notes
    assert said == ["string-match: 1 pair with other expected values: the cases changed (q)"]


def test_long_expected_texts_are_compared_whole_wherever_the_answers_differ() -> None:
    text = "word " * 200
    before, after = graded([case("q", text, text)]), graded([case("q", text + "!", text)])
    early = graded([case("q", "!" + text, text)])
    assert compare(before, after).notes == compare(after, early).notes == []
    other = graded([case("q", text, text + "more")])
    assert compare(before, other).notes == [
        "string-match: 1 pair with other expected values: the cases changed (q)"
    ]


@pytest.mark.parametrize("own", [{"expected_index": "1"}, {"expected_index": 1}])
def test_the_limit_counts_where_details_do_not_say_which_answer_was_expected(own: Any) -> None:
    def with_details(line: bytes) -> bytes:
        row = orjson.loads(line)
        row["result"]["details"] = own
        return orjson.dumps(row)

    before, after = (graded([case("q", "x", text)]) for text in ("A", "B"))
    assert compare(map(with_details, before), map(with_details, after)).notes == [
        "string-match: 1 pair with other expected values: the cases changed (q)"
    ]


def test_other_calls_of_the_agent_are_no_other_expected_values() -> None:
    def run(*tools: str) -> bytes:
        declared = [
            {"name": name, "parameters": {"type": "object", "required": ["id"]}} for name in "abc"
        ]
        steps = [
            {"id": f"s{n}", "type": "tool", "name": tool, "arguments": {}}
            for n, tool in enumerate(tools)
        ]
        trace = {"format": "weighbridge", "steps": steps, "tools": declared}
        return orjson.dumps({"custom_id": "q", "inputs": {"trace": trace}})

    graders = [GraderSpec("tool-schema")]
    comparison = compare(graded([run("a", "b")], graders), graded([run("b", "c", "c")], graders))
    assert comparison.groups[Group.CHANGED_EVIDENCE] == 1
    assert comparison.notes == []


def test_equal_results_of_other_inputs_are_said() -> None:
    traces = [{"messages": [{"role": "user", "content": text}]} for text in ("hello", "goodbye")]
    before, after = (
        graded([orjson.dumps({"custom_id": "q", "inputs": {"trace": trace}})], [GraderSpec("loop")])
        for trace in traces
    )
    conditions = compare(before, after).labels[0].tally.conditions
    assert (conditions.jobs, conditions.identical) == ({Condition.INPUTS: 1}, 0)
    assert compare(before, before).labels[0].tally.conditions.identical == 1


def test_another_answer_with_another_result_is_what_is_compared_and_not_said() -> None:
    assert compare(graded([case("q")]), graded([case("q", "Porto")])).notes == []


def test_each_change_says_under_what_other_condition_it_was_graded() -> None:
    folding = [GraderSpec("string-match", {"case_sensitive": False})]
    before = graded([case("q", "Lisbon", "lisbon")])
    after = graded([case("q", "Lisbon", "lisbon")], folding)
    [(first, second)] = zip(map(read_entry, before), map(read_entry, after), strict=True)
    assert Pair("q", "string-match", first, second).as_dict()["condition"] == "configuration"


def test_a_pass_that_checks_nothing_any_more_is_changed_evidence() -> None:
    trace = {"messages": [{"role": "user", "content": "hello"}]}
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "search", "arguments": "{}"},
    }
    calling = {
        "messages": [
            *trace["messages"],
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "none"},
        ]
    }
    graders = [GraderSpec("tool-schema", {"allowlist": ["search"]})]
    with_calls, without = (
        graded([orjson.dumps({"custom_id": "q", "inputs": {"trace": each}})], graders)
        for each in (calling, trace)
    )
    assert groups(compare(with_calls, without)) == {"changed evidence": 1}


FOLDING = (GraderSpec("string-match", {"case_sensitive": False, "ignore_punctuation": True}),)


def test_one_failure_is_unchanged_however_its_texts_were_normalised() -> None:
    cases = [case("q", "Tehran.", "Cairo")]
    comparison = compare(graded(cases), graded(cases, FOLDING))
    assert groups(comparison) == {"unchanged": 1}
    [(first, second)] = zip(
        map(read_entry, graded(cases)), map(read_entry, graded(cases, FOLDING)), strict=True
    )
    assert Pair("q", "string-match", first, second).check_changes() == []


@pytest.mark.parametrize(("answer", "expected"), [("Teheran.", "Cairo"), ("Tehran.", "Kairo")])
def test_another_text_is_changed_evidence_also_if_it_was_normalised_otherwise(
    answer: str, expected: str
) -> None:
    before = graded([case("q", "Tehran.", "Cairo")])
    after = graded([case("q", answer, expected)], FOLDING)
    assert groups(compare(before, after)) == {"changed evidence": 1}


def test_a_failure_of_another_kind_is_changed_evidence() -> None:
    cases = [case("q", "CAIRO!", "Cairo")]
    folding = (GraderSpec("string-match", {"case_sensitive": False}),)
    assert groups(compare(graded(cases), graded(cases, folding))) == {"changed evidence": 1}


def test_the_steps_that_show_a_failure_are_told_for_both_runs() -> None:
    def looping(first: int) -> bytes:
        calls = [
            message
            for n in range(8)
            for message in (
                {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": f"c{n}",
                            "type": "function",
                            "function": {
                                "name": "search",
                                "arguments": '{"q": "%s"}' % ("x" if n >= first else n),
                            },
                        }
                    ],
                },
                {
                    "role": "tool",
                    "tool_call_id": f"c{n}",
                    "content": "none" if n >= first else f"{n}",
                },
            )
        ]
        trace = {"messages": [{"role": "user", "content": "hello"}, *calls]}
        return orjson.dumps({"custom_id": "q", "inputs": {"trace": trace}})

    graders = [GraderSpec("loop")]
    comparison = compare(graded([looping(0)], graders), graded([looping(2)], graders))
    [pair] = comparison.examples(Group.CHANGED_EVIDENCE)
    [change] = pair.check_changes()
    assert change["fails"] == "in both"
    assert set(change["steps_after"]) < set(change["steps_before"])


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_files_are_read_plain_and_compressed(pack, tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_bytes(pack(b"".join(graded([case("q")]))))
    assert groups(compare(file, str(file))) == {"unchanged": 1}


@pytest.mark.parametrize(
    "line",
    [b"{}", b"[]", b"null", b'{"custom_id": 1}', b"\xff", b"[" * 5000, case("q"), b"{" * 100_000],
)
def test_a_line_that_is_no_result_is_named(line: bytes) -> None:
    with pytest.raises(InputError, match="line 2 of after: this is not a result line"):
        compare(graded([case("q")]), [*graded([case("q")]), line])


@pytest.mark.parametrize(
    "change",
    [
        {"status": "unknown", "result": None, "receipt": None},
        {"result": {"verdict": "fail", "score": 0.0, "details": {}, "evidence": [{"check": "c"}]}},
    ],
)
def test_a_forged_result_is_named(change: dict[str, Any]) -> None:
    line = orjson.dumps(orjson.loads(graded([case("q")])[0]) | change)
    with pytest.raises(InputError, match="line 1 of after: this is not a result line"):
        compare(graded([case("q")]), [line])


def test_a_truncated_archive_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl.gz"
    file.write_bytes(gzip.compress(b"".join(graded(case(f"q{n}") for n in range(50))))[:-20])
    with pytest.raises(InputError, match="ends early or is damaged"):
        compare(file, file)


def test_a_verdict_that_does_not_exist_is_refused() -> None:
    row = orjson.loads(graded([case("q")])[0])
    row["result"]["verdict"] = "perhaps"
    with pytest.raises(InputError, match="no result has the verdict 'perhaps'"):
        compare([orjson.dumps(row)], [])


def test_names_that_no_run_writes_are_refused() -> None:
    row = orjson.loads(graded([case("q")])[0])
    with pytest.raises(InputError, match="more than 256 characters"):
        compare([orjson.dumps(row | {"custom_id": "x" * 257})], [])


def test_labels_and_values_without_end_take_no_memory_without_end(monkeypatch) -> None:
    monkeypatch.setattr(tallies, "_LABELS_LIMIT", 20)
    monkeypatch.setattr(tallies.SliceAllowance, "__init__", lambda self: setattr(self, "left", 15))
    rows = [
        row
        for n in range(50)
        for row in graded(
            [case(f"q{n}", metadata={"topic": f"t{n}"})],
            [GraderSpec("string-match", None, f"label {n}")],
        )
    ]
    comparison = compare(rows, rows, by=["metadata.topic"])
    assert len(comparison.labels) == 21
    assert comparison.groups == {Group.UNCHANGED: 50}
    assert sum(each.rates.counts.both for label in comparison.labels for each in label.slices) == 50


def test_changes_come_in_the_order_of_the_first_input_and_then_of_the_others() -> None:
    names = [f"q{n}" for n in range(40)]
    first = graded(map(case, names[:30]))
    second = graded([case(name, "Porto") for name in reversed(names[10:35])])
    third = graded([case(name, "Porto") for name in reversed(names[25:])])
    random.Random(5).shuffle(first)  # results are written as they arrive
    runs = [
        run_of_lines(name, rows) for name, rows in zip("abc", (first, second, third), strict=True)
    ]
    seen = []
    compare_runs(runs, on_change=lambda run, pair: seen.append((pair.custom_id, run.name)))
    both = [(name, run) for name in names[:30] for run in "bc"]
    assert seen == [
        *both,
        *((name, "b") for name in names[34:29:-1]),
        *((name, "c") for name in names[39:29:-1]),
    ]


def test_what_is_counted_equally_often_is_listed_by_name() -> None:
    kinds = {"porto": "Porto", "case": "LISBON", "space": " Lisbon", "dot": "Lisbon."}
    for names in (list(kinds), list(reversed(kinds))):
        before, after = graded(map(case, names)), graded(case(name, kinds[name]) for name in names)
        causes = compare(before, after).labels[0].as_dict()["causes"]
        told = [cause["after"].removeprefix("failed: string_match: ") for cause in causes]
        assert told == ["case", "other", "punctuation", "whitespace"]


def test_examples_are_the_first_of_the_input_and_bounded() -> None:
    before = graded(case(f"q{n}") for n in range(100))
    after = graded(case(f"q{n}", "Porto") for n in range(100))
    comparison = compare(before, after, examples=3)
    assert [pair.custom_id for pair in comparison.examples(Group.REGRESSED)] == ["q0", "q1", "q2"]
    assert comparison.groups[Group.REGRESSED] == 100

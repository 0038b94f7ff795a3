"""The preview of an input before it is submitted."""

import gzip
import io
import random
import sqlite3
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
import zstandard
from pyarrow import parquet

from support.tool_results import LONG
from weighbridge.errors import MappingNeededError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.jobs.result_line import ResultRow
from weighbridge.settings import Settings
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.traces.input_kinds import InputKind
from weighbridge_producer.pages.input_head import HEAD_BYTES, Head
from weighbridge_producer.pages.parquet_parts import END_BYTES, ParquetParts
from weighbridge_producer.pages.parquet_parts import HEAD_BYTES as PARQUET_HEAD_BYTES
from weighbridge_producer.pages.preview import preview_of
from weighbridge_producer.pages.preview_builder import Preview
from weighbridge_producer.templating import environment

EXAMPLES = Path(__file__).parents[3] / "examples"
BUDGET = (GraderSpec("budget", {"max_tokens": 5000}),)


def look(content: bytes, *specs: GraderSpec, is_whole: bool = True) -> Preview:
    return preview_of(Head("cases.jsonl", content, is_whole), specs, Settings())


def test_the_first_cases_are_told_with_their_sizes_and_graders() -> None:
    content = (EXAMPLES / "mixed.jsonl").read_bytes()
    preview = look(content)
    assert preview.kind == "cases"
    assert len(preview.cases) == 5
    first = preview.cases[0]
    assert (first.line, first.custom_id) == (1, "triage-001")
    assert first.size == len(content.split(b"\n")[0]) + 1
    assert first.graders == ("true-false", "exact")
    assert preview.lines == len(content.strip().split(b"\n"))


def test_traces_are_told_with_their_format_and_steps() -> None:
    preview = look((EXAMPLES / "traces" / "shop_agent.jsonl").read_bytes(), *BUDGET)
    assert (preview.kind, preview.formats) == ("traces", ["OpenAI chat messages"])
    assert preview.cases[0].custom_id == "shop-refund-1"
    assert preview.cases[0].steps == 7
    assert preview.faulty == 0


def test_every_example_of_traces_has_a_preview_without_faults() -> None:
    files = sorted((EXAMPLES / "traces").iterdir())
    for file in files:
        preview = look(file.read_bytes(), GraderSpec("loop"))
        assert preview.cases, file
        assert preview.faulty == 0, file
    assert len(files) >= 3


def test_a_log_is_previewed_with_the_mapping_without_which_it_is_refused() -> None:
    data = {"picked": "Rome", "expected": "Rome"}
    match = {"event_id": 1, "sample_id": "c.0", "type": "match", "data": data}
    head, specs = Head("a.jsonl", orjson.dumps(match) + b"\n", True), [GraderSpec("string-match")]
    with pytest.raises(MappingNeededError):
        preview_of(head, specs, Settings())
    text = "custom_id=sample_id,agent_response=data.picked,expected_output=data.expected"
    preview = preview_of(head, specs, Settings(), mapping=parse_mapping([text]))
    assert [case.custom_id for case in preview.cases] == ["c.0"]


def test_what_a_grader_would_miss_in_a_trace_is_told_before_it_is_graded() -> None:
    trace = {
        "messages": [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    }
    preview = look(orjson.dumps(trace) + b"\n", *BUDGET, GraderSpec("loop"))
    (lack,) = preview.cases[0].lacks
    assert lack.startswith("budget: no token usage: ")
    missing = {"tool_calls": "line 7 is damaged"}
    known = {"format": "weighbridge", "steps": [{"type": "llm"}], "missing": missing}
    preview = look(orjson.dumps(known) + b"\n", GraderSpec("loop"))
    assert preview.cases[0].lacks == ("loop: tool calls not known: line 7 is damaged",)


def test_lines_that_cannot_be_graded_are_told_with_their_number_and_what_would_work() -> None:
    good = b'{"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "x"}}\n'
    preview = look(
        b"\n" + good + b'\nnot json\n{"custom_id": 5, "inputs": {}}\n', GraderSpec("string-match")
    )
    told = [(line.number, line.fault.code) for line in preview.bad_lines]
    assert told == [(4, "INVALID_JSON"), (5, "INVALID_CUSTOM_ID")]
    assert all(line.fault.hint for line in preview.bad_lines)
    assert preview.faulty == 2


def test_a_case_without_a_grader_is_told_where_to_choose_one() -> None:
    preview = look(
        b'{"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "x"}}\n'
    )
    (line,) = preview.bad_lines
    assert line.fault.code == "NO_GRADER"
    assert "choose a grader above" in line.fault.hint
    assert preview.cases[0].graders == ()


def test_a_wrong_grader_for_the_inputs_is_reported() -> None:
    preview = look(
        (EXAMPLES / "traces" / "shop_agent.jsonl").read_bytes(), GraderSpec("string-match")
    )
    assert preview.faulty == preview.lines
    assert "lack 'agent_response'" in preview.bad_lines[0].fault.message


def test_a_beginning_that_is_cut_off_is_judged_by_its_whole_lines() -> None:
    line = b'{"custom_id": "a%d", "inputs": {"agent_response": "x", "expected_output": "x"}}\n'
    content = b"".join(line % number for number in range(10_000))[:HEAD_BYTES]
    for packed in (content, gzip.compress(content)[:-40], zstandard.compress(content)[:-40]):
        preview = look(packed, GraderSpec("string-match"), is_whole=False)
        assert preview.faulty == 0
        assert preview.lines == 200
        assert preview.packing in {"", "gzip", "zstd"}


def test_a_document_longer_than_what_is_looked_at_is_told_as_one() -> None:
    document = b'[\n{"messages": [\n' + b'{"role": "user", "content": "x"},\n' * 9_000
    preview = look(document[:HEAD_BYTES], is_whole=False)
    assert preview.kind == "document"
    assert "too long to preview" in preview.note
    assert preview.is_unseen
    assert preview.bad_lines == []


def test_a_first_line_longer_than_what_is_looked_at_is_reported() -> None:
    content = b'{"custom_id": "' + b"x" * HEAD_BYTES
    preview = look(content, is_whole=False)
    assert (preview.kind, preview.is_unseen) == ("lines", True)
    assert "longer than 256 KiB" in preview.note
    assert "It can be submitted as it is" in preview.note
    mapping = parse_mapping(["custom_id=id,agent_response=a,expected_output=b"])
    given = preview_of(Head("a.jsonl", content, is_whole=False), (), Settings(), mapping=mapping)
    assert given.columns_key == preview.columns_key  # the page keeps the field that was filled in
    assert given.note.endswith("so it cannot be previewed")


def test_an_empty_input_has_nothing_to_show() -> None:
    for content in (b"", b"\n\n  \n"):
        preview = look(content)
        assert (preview.kind, preview.cases, preview.bad_lines) == ("nothing", [], [])


@pytest.mark.slow
def test_a_bomb_is_not_expanded() -> None:
    bomb = gzip.compress(b" " * 60_000_000)[:HEAD_BYTES]
    preview = look(bomb, *BUDGET)
    assert preview.kind in {"lines", "cases"}
    assert len(preview.cases) == 0


def test_a_large_expansion_is_looked_at_as_far_as_four_megabytes() -> None:
    line = orjson.dumps(
        {"custom_id": "a", "inputs": {"agent_response": "x" * 900_000, "expected_output": "x"}}
    )
    preview = look(gzip.compress((line + b"\n") * 50), GraderSpec("string-match"))
    assert preview.lines <= 6
    assert not preview.is_all


def test_a_grader_that_only_workers_have_is_no_fault() -> None:
    case = b'{"custom_id": "a", "inputs": {"answer": "x"}, "grader": "theirs"}\n'
    head = Head("cases.jsonl", case, is_whole=True)
    (line,) = preview_of(head, (), Settings()).bad_lines
    assert line.fault.code == "UNKNOWN_GRADER"
    preview = preview_of(head, (), Settings(), elsewhere={"theirs"})
    assert preview.bad_lines == []
    assert preview.is_all


def parquet_of(rows: int, row_group_size: int) -> bytes:
    """Return an uncompressed Parquet file with 1 KiB of text in its first and in its last column of each row."""
    noise = random.Random(1)
    table = pa.Table.from_pylist(
        [
            {
                "noise": noise.randbytes(512).hex(),
                "row": {"uid": f"r{number}", "refs": [{"text": "Graz"}]},
                "completion": "Graz",
                "more_noise": noise.randbytes(512).hex(),
            }
            for number in range(rows)
        ]
    )
    file = io.BytesIO()
    parquet.write_table(
        table, file, row_group_size=row_group_size, compression="none", use_dictionary=False
    )
    return file.getvalue()


def look_at_parts(content: bytes) -> Preview:
    """Return the preview of the parts of a Parquet file that the page sends."""
    parts = content[:PARQUET_HEAD_BYTES] + content[-END_BYTES:]
    head = Head("rows.parquet", parts, is_whole=False, size=len(content))
    return preview_of(head, (GraderSpec("string-match"),), Settings())


def test_a_large_parquet_file_is_previewed_from_its_beginning_and_its_footer() -> None:
    preview = look_at_parts(parquet_of(6_000, row_group_size=1_000))
    assert preview.columns
    assert [case.custom_id for case in preview.cases] == ["r0", "r1", "r2", "r3", "r4"]
    assert (preview.lines, preview.faulty, preview.is_all) == (200, 0, False)


def test_a_parquet_file_whose_first_rows_are_too_large_is_previewed_by_its_columns() -> None:
    preview = look_at_parts(parquet_of(6_000, row_group_size=6_000))
    assert preview.cases == []
    assert "choose the columns" in preview.note
    assert preview.columns
    chosen = {picker.field: picker.chosen for picker in preview.columns.pickers}
    assert chosen["agent_response"] == ("completion",)
    assert chosen["expected_output"] == ("row.refs.0.text",)


def test_parts_of_a_file_read_like_the_whole_file_except_between_them() -> None:
    whole = random.Random(2).randbytes(PARQUET_HEAD_BYTES + 5_000)
    parts = ParquetParts(whole[:PARQUET_HEAD_BYTES] + whole[-1_000:], len(whole), "a.parquet")
    assert parts.read(100) == whole[:100]
    assert parts.tell() == 100
    assert parts.seek(-1_000, io.SEEK_END) == len(whole) - 1_000
    assert parts.read() == whole[-1_000:]
    assert parts.read() == b""
    for start in (PARQUET_HEAD_BYTES - 1, PARQUET_HEAD_BYTES, len(whole) - 1_001):
        parts.seek(start)
        with pytest.raises(OSError, match="not arrived"):
            parts.read(2)


def test_a_list_before_the_rows_is_not_previewed_as_the_rows() -> None:
    data = orjson.dumps(LONG["/results/results", "much"], option=orjson.OPT_INDENT_2)
    head = Head("a.json", data[:HEAD_BYTES], is_whole=False)
    preview = preview_of(head, [GraderSpec("string-match")], Settings(_env_file=None))
    assert preview.columns is None
    assert preview.kind == "rows"
    assert preview.is_unseen
    assert preview.note.startswith(
        "its rows cannot be previewed from its beginning; they are read after the upload. "
    )


def test_rows_of_an_evals_log_that_are_no_cases_are_named() -> None:
    event = {"event_id": 1, "sample_id": "s.0", "data": {"expected": "4", "sampled": "4"}}
    rows = [{"spec": {}}, event | {"type": "sampling"}, event | {"type": "match"}]
    content = b"".join(orjson.dumps(row) + b"\n" for row in rows)
    preview = look(content, GraderSpec("string-match"))
    assert [case.custom_id for case in preview.cases] == ["s.0"]
    assert preview.note == "2 rows of other kinds are not graded: 1 spec, 1 sampling"


def test_a_proposed_index_into_choices_is_named_with_the_form_that_looks_it_up() -> None:
    content = b'{"id": "q", "choices": ["Rome", "Paris"], "answer": 1, "response": "B"}\n'
    preview = look(content, GraderSpec("string-match"))
    assert preview.columns
    assert "expected_output=letter(choices[answer])" in preview.columns.caution
    mapping = parse_mapping(
        ["custom_id=id,agent_response=response,expected_output=letter(choices[answer])"]
    )
    head = Head("cases.jsonl", content, is_whole=True)
    chosen = preview_of(head, [GraderSpec("string-match")], Settings(), mapping=mapping)
    assert chosen.columns
    assert not chosen.columns.caution
    assert '"expected_output":"B"' in chosen.cases[0].excerpt


def test_the_agents_last_message_is_picked_if_the_user_has_the_last_word() -> None:
    messages = [{"role": "assistant", "content": "4"}, {"role": "user", "content": "Thanks."}]
    content = orjson.dumps({"id": "q", "messages": messages, "gold": "4"}) + b"\n"
    preview = look(content, GraderSpec("string-match"))
    assert preview.columns
    chosen = {picker.field: picker.chosen for picker in preview.columns.pickers}
    assert chosen["agent_response"] == ("last_answer(messages)",)
    assert all(
        "last_answer(messages)" in picker.columns
        for picker in preview.columns.pickers
        if picker.field == "agent_response"
    )
    assert "the agent's last message in it is used" in preview.columns.caution
    assert '"agent_response":"4"' in preview.cases[0].excerpt


def test_texts_in_json_are_picked_as_what_they_hold_and_noted_if_another_mapping_is_given() -> None:
    content = b'{"id": "q", "output": "Paris", "gold": "\\"Paris\\""}\n'
    preview = look(content, GraderSpec("string-match"))
    assert preview.columns
    chosen = {picker.field: picker.chosen for picker in preview.columns.pickers}
    assert chosen["expected_output"] == ("json(gold)",)
    assert '"expected_output":"Paris"' in preview.cases[0].excerpt
    mapping = parse_mapping(["custom_id=id,agent_response=output,expected_output=gold"])
    head = Head("cases.jsonl", content, is_whole=True)
    as_it_is = preview_of(head, [GraderSpec("string-match")], Settings(), mapping=mapping)
    assert as_it_is.note.endswith("write expected_output=json(gold)")


def test_a_preview_names_lists_that_are_not_read_and_members_that_are_no_rows() -> None:
    specs = [GraderSpec("string-match")]
    rows = [{"id": str(n), "output": "a", "gold": "a"} for n in range(4)]
    head = Head("a.json", orjson.dumps({"train": rows, "test": rows[:2]}), is_whole=True)
    note = "other lists with rows were not read: /test (write `rows: /test` in a mapping file)"
    proposed = preview_of(head, specs, Settings())
    assert proposed.columns
    assert note in proposed.columns.caution
    text = "custom_id=id,agent_response=output,expected_output=gold"
    assert note in preview_of(head, specs, Settings(), mapping=parse_mapping([text])).note
    cases = [{"custom_id": "1", "agent_response": "a", "expected_output": "a"}]
    known = Head("a.json", orjson.dumps({"train": cases, "test": cases}), is_whole=True)
    assert note in preview_of(known, specs, Settings()).note
    keyed = {"q1": {"pred": "a", "gold": "a"}, "q2": {"pred": "b", "gold": "c"}, "accuracy": 0.5}
    preview = preview_of(Head("b.json", orjson.dumps(keyed), is_whole=True), specs, Settings())
    assert preview.columns
    assert (
        "1 member of the document is not a row and is left out: 'accuracy'"
        in preview.columns.caution
    )
    assert (preview.lines, preview.faulty) == (2, 0)


def test_a_database_is_previewed_only_if_it_is_whole() -> None:
    base = sqlite3.connect(":memory:", isolation_level=None)
    base.execute("CREATE TABLE agent_messages (session_id, message_data)")
    item = orjson.dumps({"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"})
    base.execute("INSERT INTO agent_messages VALUES ('s', ?)", (item.decode(),))
    content = base.serialize()
    whole = preview_of(Head("a.db", content, is_whole=True), [GraderSpec("loop")], Settings())
    assert (whole.formats, whole.is_all) == (["OpenAI Responses items"], True)
    cut = preview_of(Head("a.db", content[:4096], is_whole=False), [GraderSpec("loop")], Settings())
    assert (cut.is_unseen, cut.note[:18]) == (True, "an SQLite database")
    assert cut.contents == "an SQLite database, not previewed"


def test_results_with_their_cases_are_told_as_such() -> None:
    case = {"custom_id": "a", "inputs": {"agent_response": "x", "expected_output": "x"}}
    result = dict.fromkeys(ResultRow.__struct_fields__) | {"custom_id": "a", "case": case}
    preview = look(orjson.dumps(result), GraderSpec("string-match"))
    assert [each.custom_id for each in preview.cases] == ["a"]
    assert preview.contents == "results with their cases, one per line"


@pytest.mark.parametrize("kind", InputKind)
@pytest.mark.parametrize("is_unseen", [True, False])
def test_an_input_of_every_kind_is_told_on_the_page(kind: InputKind, is_unseen: bool) -> None:
    template = environment().get_template("parts/preview.html")
    preview = Preview(kind, "gzip", is_unseen=is_unseen)
    assert f"<dd>{preview.contents}, gzip</dd>" in template.render(preview=preview)


def test_a_long_packed_table_is_called_packed_although_its_beginning_is_unpacked() -> None:
    rows = b"".join(b"%d,Lisbon %d,Lisbon\n" % (number, number) for number in range(400_000))
    packed = gzip.compress(b"id,answer,expected\n" + rows)
    head = Head("answers.csv.gz", packed, is_whole=True)
    assert head.bounded().packing == ""
    preview = preview_of(head, (GraderSpec("string-match"),), Settings())
    assert (preview.kind, preview.packing) == (InputKind.ROWS, "gzip")

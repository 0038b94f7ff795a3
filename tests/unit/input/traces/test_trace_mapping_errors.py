"""What is said of a mapping file and of traces that do not fit it: which line, run, pointer and value, and what would work."""

from __future__ import annotations

import json

import pytest

from weighbridge.errors import MappingError, MappingNeededError
from weighbridge.settings import Settings
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping

MAPPING = """
id: /run
steps: /events
step: {type: /kind, types: {model: llm, tool: tool}, output: /text, name: /tool}
"""
EVENTS = [{"kind": "model", "text": "I look."}, {"kind": "tool", "tool": "f", "text": "1"}]
ROWS = 'lines: /of\nsteps: ""\nstep: {type: /kind, types: {model: llm, tool: tool}}'


def lines_of(tmp_path, text, mapping=MAPPING, name="runs.jsonl", encoding="utf-8"):
    (tmp_path / "map.yaml").write_text(mapping)
    (tmp_path / name).write_text(text, encoding=encoding)
    form = read_trace_mapping(tmp_path / "map.yaml")
    return list(Source(tmp_path / name, Settings(), trace_mapping=form))


@pytest.mark.parametrize(
    ("text", "hint"),
    [("steps: events", "as in /events"), ("steps: ''\nlines: run_id", "write lines: /run_id for")],
)
def test_a_pointer_without_its_slash_is_shown_with_it(tmp_path, text, hint):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(MappingError) as caught:
        read_trace_mapping(tmp_path / "map.yaml")
    assert hint in caught.value.hint


def test_a_mapping_without_an_end_is_refused_by_its_size():
    with pytest.raises(MappingError, match=r"'/dev/zero' has more than 1,048,576 bytes"):
        read_trace_mapping("/dev/zero")


def test_types_failures_and_arguments_may_have_other_names_than_texts(tmp_path):
    mapping = """
steps: ""
lines: together
step: {type: /k, types: {2: tool, true: llm, ~: skip}, arguments: {5: /a}, failed_when: {/ok: &no false}}
"""
    lines = [{"k": 2, "a": "x", "ok": 0}, {"k": True, "ok": False}, {"z": 1}]
    (line,) = lines_of(tmp_path, "\n".join(map(json.dumps, lines)), mapping)
    tool, llm = json.loads(line.raw)["inputs"]["trace"]["steps"]
    assert tool == {"type": "tool", "arguments": {"5": "x"}}
    assert llm == {"type": "llm", "error": "ok: false"}


def test_an_error_in_a_run_of_lines_names_the_line_of_the_file_and_the_run(tmp_path):
    kinds = ["model", "model", "model", "model", "odd"]
    rows = [{"kind": kind, "of": "ab"[place // 2 % 2]} for place, kind in enumerate(kinds)]
    text = "\n" + "\n\n".join(map(json.dumps, rows))
    *_, blank, first, second = lines_of(tmp_path, text, ROWS)
    assert (blank.fault, second.fault) == (None, None)
    told = "line 10: the trace mapping does not fit run 'a': step 3 has the type 'odd' at '/kind'"
    assert first.fault.message.startswith(told)
    for indent in (None, 1):
        first, _ = lines_of(tmp_path, json.dumps(rows, indent=indent), ROWS, name="all.json")
        assert first.fault.message.startswith(told.replace("line 10", "item 5"))


@pytest.mark.parametrize("case", [{}, {"custom_id": "c", "inputs": {}, "more": 2**70}])
def test_a_number_that_no_line_can_have_is_an_error_of_its_trace(tmp_path, case):
    trace = {"events": [EVENTS[0] | ({} if case else {"text": 2**70})]}
    value = {**case, "inputs": {"trace": trace}} if case else trace
    (line,) = lines_of(tmp_path, json.dumps(value))
    assert line.fault.code == "NUMBER_OUT_OF_RANGE"
    assert line.fault.hint == "write very large numbers as strings"


def test_an_error_in_one_of_several_traces_names_it(tmp_path):
    runs = {"k1": {"events": EVENTS}, "k2": 5}
    mapping = MAPPING + "traces: /of/*"
    lines = [json.dumps({"of": runs}), json.dumps({"of": {"z": 7}})]
    _, second, third = lines_of(tmp_path, "\n".join(lines), mapping)
    told = "the trace mapping does not fit run 'k2': there is no array of steps at '/events'"
    assert second.fault.message == f"line 1: {told}"
    assert third.fault.message == f"line 2: {told.replace('k2', 'z')}"
    _, second = lines_of(tmp_path, json.dumps({"of": runs}, indent=1), mapping, name="all.json")
    assert second.fault.message == f"item 2: {told}"


def faults_in_latin_2(tmp_path, text, mapping=MAPPING, name="runs.jsonl"):
    lines = lines_of(tmp_path, text, mapping, name, encoding="cp1250")
    return [line.fault for line in lines if line.fault]


def test_text_that_is_not_utf_8_is_told_as_such_with_its_lines(tmp_path):
    rows = [json.dumps({"kind": "tool", "x": x, "of": "a"}, ensure_ascii=False) for x in "żłx"]
    (fault,) = faults_in_latin_2(tmp_path, "\n".join(rows), ROWS)
    assert (fault.code, fault.message) == ("INVALID_UTF8", "lines 1 and 2 are not UTF-8")
    assert fault.hint.startswith("save the file as UTF-8; the other lines were read")
    run = {"run": "ż", "events": EVENTS}
    text = json.dumps(run, ensure_ascii=False)
    (fault,) = faults_in_latin_2(tmp_path, text)
    assert (fault.code, fault.message) == ("INVALID_UTF8", "byte 10 is not UTF-8: 0xbf")
    text = "\n" + json.dumps(run, ensure_ascii=False, indent=1)
    (fault,) = faults_in_latin_2(tmp_path, text, name="run.json")
    assert fault.message == "line 3: byte 10 is not UTF-8: 0xbf"


def test_a_table_is_refused_as_no_json_for_a_trace_mapping(tmp_path):
    with pytest.raises(MappingNeededError) as caught:
        lines_of(tmp_path, "id,answer\n1,a\n", name="rows.csv")
    assert caught.value.hint.startswith("a trace mapping is for traces in JSON; if a column")

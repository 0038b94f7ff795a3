"""Logs with something before the JSON of each line: it is left out, and a note says what."""

from __future__ import annotations

import io
import json
import re
import textwrap
from time import process_time

import pytest

from weighbridge.jobs.grader_spec import parse_specs
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.files.log_lines import LogLines
from weighbridge_producer.input.files.log_prefixes import log_line
from weighbridge_producer.input.first_rows import Opened
from weighbridge_producer.input.recognition import recognise
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.source_lines import LineBlock, SourceLine

ROWS = [b'{"a": 1}\n', b'{"a": [2]}\n', b"\n"]


LIMIT = 10_000


def read(rows, limit=LIMIT):
    log = LogLines(limit)
    lines = list(log.of(iter([SourceLine(row, None, len(row)) for row in rows])))
    assert len(lines) == len(rows)
    return [line.raw for line in lines], log.prefix


@pytest.mark.parametrize(
    ("prefixes", "told"),
    [
        ((b"[stdout] ",) * 3, "[stdout]"),
        ((b"agent-1  | ",) * 3, "agent-1  |"),
        ((b"[pod/agent-7d/main] ",) * 3, "[pod/agent-7d/main]"),
        (
            (b"2026-03-04T10:00:00Z ", b"2026-03-04T10:00:00.123456789Z ", b"2026-03-04 10:00:01 "),
            "2026-03-04T10:00:00Z",
        ),
        (
            (b"2026-03-04T10:00:00.1Z stdout F ", b"2026-03-05T10:00:00.2Z stderr F ") * 2,
            "2026-03-04T10:00:00.1Z stdout F",
        ),
        ((b"[2026-03-04 10:00:00,123] [agent] ",) * 3, "[2026-03-04 10:00:00,123] [agent]"),
        ((b"agent-1  | ", b"planner-12  | ", b"agent-2 | "), "agent-1  |"),
        ((b"[pod/a-7d9/main] ", b"[pod/a-8aa/main] ", b"[pod/b/side] "), "[pod/a-7d9/main]"),
        ((b"agent-1  | 2026-03-04T10:00:00Z ",) * 3, "agent-1  | 2026-03-04T10:00:00Z"),
        ((b"2026-03-02 10:00:00,123 INFO agent: ",) * 3, "2026-03-02 10:00:00,123 INFO agent:"),
        (
            (b"2026-03-02 10:00:00,123 - agent.core - INFO - ",) * 3,
            "2026-03-02 10:00:00,123 - agent.core - INFO -",
        ),
        (
            (b"INFO:agent.core:", b"WARNING:root:", b"DEBUG:agent.core:"),
            "INFO:agent.core:",
        ),
        (
            (b"2026-03-02 10:00:00.123 | INFO     | agent.main:run:12 - ",) * 3,
            "2026-03-02 10:00:00.123 | INFO     | agent.main:run:12 -",
        ),
        ((b"Mar 02 10:00:00 host agent[123]: ",) * 3, "Mar 02 10:00:00 host agent[123]:"),
        (
            (b"2026-03-02T10:00:00+0000 host agent[1]: ",) * 3,
            "2026-03-02T10:00:00+0000 host agent[1]:",
        ),
        (
            (b"2026-03-02T10:00:00.0+00:00 agent/main/0abc ",) * 3,
            "2026-03-02T10:00:00.0+00:00 agent/main/0abc",
        ),
        (
            (b"10:00:00 web.1  | ", b"10:00:01 web.2  | ", b"10:00:02 web.1  | "),
            "10:00:00 web.1  |",
        ),
        (
            (b"[INFO]\t2026-03-02T10:00:00.1Z\t" + b"0b5c8a10-1111-2222-3333-444455556666\t",) * 3,
            None,
        ),
        ((b"info: ", b"ERROR: ", b"warn: "), "info:"),
        ((b"2026/03/02 10:00:00 ",) * 3, "2026/03/02 10:00:00"),
    ],
)
def test_what_stands_before_each_line_is_left_out(prefixes, told):
    rows = [prefix + row for prefix, row in zip(prefixes, ROWS, strict=False)]
    assert read([b"\n", *rows]) == (
        [b"\n", *ROWS],
        prefixes[0].decode().strip() if told is None else told,
    )


def test_lines_without_json_become_blank_and_are_counted():
    rows = [b"Attaching to agent-1\n", b"agent-1  | Starting\n", b"agent-1  | " + ROWS[0]]
    rows += [b"agent-1  |\n", b"agent-2  | oops\n", b"  File x.py\n", b'{"b": 1}\n']
    log = LogLines(LIMIT)
    lines = [line.raw for line in log.of(iter([SourceLine(row) for row in rows]))]
    assert lines == [b"\n", b"\n", ROWS[0], b"\n", b"\n", b"\n", b'{"b": 1}\n']
    assert (log.prefix, log.texts) == ("agent-1  |", 4)
    assert log.first_text == "Attaching to agent-1"


def test_json_that_is_damaged_stays_an_error():
    rows = [b"agent-1  | " + ROWS[0], b'agent-1  | {"a": \n', b'{"a": \n', b"[1, \n"]
    assert read(rows)[0] == [ROWS[0], b'{"a": \n', b'{"a": \n', b"[1, \n"]


@pytest.mark.parametrize(
    "first",
    [
        *(b'{"a": 1}\n', b"[1, 2]\n", b"[true]\n", b"[12]\n", b'"a"\n', b"a | b\n", b"\n"),
        *(b"a\tb\n", b"# aider chat started at 2026-03-02 10:00:00\n", b"name | text\n"),
    ],
)
@pytest.mark.parametrize("second", [b'name-1  | {"a": 1}\n', b'agent | {"a": 1}\n'])
def test_other_files_are_left_as_they_are(first, second):
    rows = [first, second]
    assert read(rows)[0][0] == first
    if first.strip():
        assert read(rows) == (rows, "")


def test_a_file_without_json_after_a_prefix_is_left_as_it_is():
    rows = [b"2026-03-02 10:00:00 INFO begins %d\n" % number for number in range(300)]
    assert read(rows) == (rows, "")
    assert read([*rows, b'2026-03-02 10:00:00 INFO {"a": 1}\n'])[1] == ""


def test_lines_that_are_read_in_blocks_are_too():
    rows = [b"[stdout] begins\n", *(b"[stdout] " + row for row in ROWS)]
    lines = LogLines(LIMIT).of(iter([LineBlock.of(b"".join(rows))]))
    assert [line.raw for line in lines] == [b"\n", *ROWS]
    block = LineBlock.of(b"".join(ROWS))
    assert list(LogLines(LIMIT).of(iter([block]))) == [block]


def docker(text, stream="stdout", **fields):
    entry = {"log": text, "stream": stream, "time": "2026-03-02T10:00:00.1Z", **fields}
    return json.dumps(entry).encode() + b"\n"


def test_lines_in_the_objects_of_dockers_driver_are_read():
    rows = [docker("Starting\n"), docker('{"a": 1}\n'), docker('{"a":')]
    rows += [docker("warned\n", "stderr"), docker(" [2]"), docker("}\n"), docker("\n")]
    lines, prefix = read(rows)
    assert lines == [b"\n", *ROWS[:1], b"\n", b"\n", b"\n", ROWS[1], b"\n"]
    assert prefix == '{"log":'


def test_lines_in_parts_of_containers_are_put_together():
    time = b"2026-03-04T10:00:00.1Z "
    rows = [time + b'stdout P {"a":\n', time + b"stderr F warned\n", time + b"stdout F  1}\n"]
    assert read(rows)[0] == [b"\n", b"\n", b'{"a": 1}\n']
    rows = [time + b"stdout P INFO:agent:{\n", time + b'stdout F "a": 1}\n', rows[0]]
    log = LogLines(LIMIT)
    lines = [
        line.raw
        for line in log.of(iter([SourceLine(b'INFO:x:{"b": 1}\n'), *map(SourceLine, rows)]))
    ]
    assert lines == [b'{"b": 1}\n', b"\n", b'{"a": 1}\n', b"\n", b'{"a":\n']


def test_a_line_in_parts_that_is_too_long_is_one_fault():
    rows = [
        docker('{"a": 1}\n'),
        *[docker('{"b": "' + "x" * 90)] * 3,
        docker('"}\n'),
        docker("{}\n"),
    ]
    lines = list(LogLines(200).of(iter(map(SourceLine, rows))))
    assert [line.fault is not None for line in lines] == [False] * 4 + [True, False]


@pytest.mark.parametrize(
    "row",
    [
        *({"log": 1, "stream": "stdout", "time": ""}, {"log": "{}", "stream": "x", "time": ""}),
        *({"log": "{}\n", "stream": "stdout"}, {"log": "{}\n", "stream": [], "time": ""}),
        {"log": "text\n", "stream": "stdout", "time": ""},
    ],
)
def test_other_objects_with_such_fields_are_left_as_they_are(row):
    rows = [json.dumps(row).encode() + b"\n"] * 2
    assert read(rows) == (rows, "")


SAID = [{"role": "user", "content": "x?"}, {"role": "assistant", "content": "x"}]


def told(name):
    return [json.dumps({**each, "content": f"{name} {each['content']}"}) for each in SAID]


def answers(path):
    """Return the last answer of each trace in a file, by its id."""
    found = {}
    for line in Source(str(path), Settings()):
        if line.raw.strip() or line.fault:
            assert line.fault is None
            case = json.loads(line.raw)
            found[case["custom_id"]] = read_trace(case["inputs"]["trace"]).steps[-1].output
    return found


@pytest.mark.parametrize("name", ["agent.log", "agent.jsonl", "agent.txt", "agent"])
@pytest.mark.parametrize(
    ("form", "first", "second"),
    [
        ("{}  | ", "agent-1", "agent-2"),
        ("[{}] ", "pod/a/main", "pod/b/main"),
        ("Mar 02 10:00:00 host {}: ", "agent[1]", "agent[2]"),
    ],
)
def test_the_lines_of_each_container_are_a_log_of_their_own(tmp_path, name, form, first, second):
    rows = [
        form.format(process) + row
        for rows in zip(told("one"), told("two"), strict=True)
        for process, row in zip((first, second), rows, strict=True)
    ]
    file = tmp_path / name
    file.write_text("\n".join([form.format(first) + "Starting", *rows]) + "\n")
    assert answers(file) == {f"{name}:{first}": "one x", f"{name}:{second}": "two x"}


@pytest.mark.parametrize(
    "begins",
    [
        *(["Starting agent server"], ["2026-03-02 10:00:00 INFO agent: starts", "", "[stdout] x"]),
        ["npm start"] * 150,
    ],
)
def test_other_lines_before_a_session_do_not_cost_it(tmp_path, begins):
    file = tmp_path / "agent.log"
    one, two = told("one")
    file.write_text("\n".join([*begins, one, "warning: slow", two]))
    source = Source(str(file), Settings())
    assert answers(file) == {"agent.log": "one x"}
    assert [line.fault for line in source if line.fault] == []
    count = sum(map(bool, begins)) + 1
    assert source.notes.prefix_note() == (
        f"{count} lines of a log without JSON, such as {begins[0]!r}, were left out"
    )


def export(begins, ends=""):
    """Return a document on many lines behind other text."""
    said = {"messages": [*SAID * 5, {"role": "assistant", "content": "x"}]}
    return begins + json.dumps(said, indent=2) + ends


@pytest.mark.parametrize(
    ("begins", "note"),
    [
        ("Exporting session: ses_1\n", "Exporting session: ses_1"),
        ("Exporting session: ses_1", "Exporting session: ses_1"),
        ("\nwarning: slow\n\nExporting {\nses_1\r\n", "warning: slow"),
        ("Exporting: 100%|####| 1/1\nexport\tends\n", "Exporting: 100%|####| 1/1"),
        ("> npm start\n[INFO] begins\n2026-03-02 10:00:00 INFO begins\n", "> npm start"),
    ],
)
def test_text_before_a_document_on_many_lines_does_not_cost_it(tmp_path, begins, note):
    file = tmp_path / "session.json"
    file.write_text(export(begins))
    source = Source(str(file), Settings())
    [line] = [each for each in source if each.raw.strip() or each.fault]
    assert line.fault is None
    assert json.loads(line.raw)["inputs"]["trace"]["messages"][-1]["content"] == "x"
    assert repr(note) in source.notes.prefix_note()


@pytest.mark.parametrize(
    "text",
    [
        export('"a": {"b": 1}\n'),
        export("module.exports = "),
        export("begins\n" * 21),
        export("begins\n").replace('"messages"', "messages"),
        "begins\n{\n",
        "begins\n" + textwrap.indent(export(""), " "),
        "begins\n{\n\n1,\n",
    ],
)
def test_text_before_something_else_stays_an_error(tmp_path, text):
    file = tmp_path / "session.json"
    file.write_text(text)
    source = Source(str(file), Settings())
    lines = list(source)
    assert lines[0].fault or lines[0].raw == text.encode().splitlines(keepends=True)[0]
    assert not source.notes.prefix_note()


def test_a_document_behind_text_may_be_read_in_blocks():
    block = LineBlock.of(b'warning\n\nbegins{\n"a": 1\n}\n')
    read = LogLines(LIMIT)
    assert b"".join(line.raw for line in read.of(iter([block]))) == b'\n\n{\n"a": 1\n}\n'
    assert (read.texts, read.first_text, read.prefix) == (2, "warning", "")


@pytest.mark.parametrize(
    "ends", ["\nends\n", "\n\n[INFO] 3 of 3\r\nends: a\tb", "\nends\n\nends\n"]
)
@pytest.mark.parametrize("indent", [2, 0])
def test_text_behind_a_document_that_text_precedes_is_left_out_too(tmp_path, ends, indent):
    said = {"messages": SAID * 5, "meta": [[{"a": 1}], 5, {"b": [[]]}]}
    file = tmp_path / "session.json"
    file.write_text("begins\n" + json.dumps(said, indent=indent) + ends)
    source = Source(str(file), Settings())
    [line] = [each for each in source if each.raw.strip() or each.fault]
    assert line.fault is None
    assert json.loads(line.raw)["inputs"]["trace"] == said
    count = 1 + len(list(filter(str.strip, ends.splitlines())))
    begins = f"{count} lines of a log without JSON, such as 'begins'"
    assert source.notes.prefix_note() == f"{begins}, were left out"


@pytest.mark.parametrize("ends", ['\nends {"messages": []}\n', '\nnt": "x"}\n'])
def test_what_may_be_of_a_run_behind_a_document_stays_an_error(tmp_path, ends):
    file = tmp_path / "session.json"
    file.write_text(export("begins\n", ends))
    assert [line.fault for line in Source(str(file), Settings()) if line.fault]


@pytest.mark.parametrize("between", ["", "\nready\n[INFO] begins\n"])
@pytest.mark.parametrize("indent", [2, 0])
def test_a_document_among_the_lines_before_traces_does_not_cost_them(tmp_path, between, indent):
    settings = {"port": 8080, "names": ["a"], "more": {"b": {"c": [{}]}}}
    begins = "config:\n" + json.dumps(settings, indent=indent) + "\n" + between
    traces = [
        json.dumps({"messages": [*SAID, {"role": "assistant", "content": text}]}) for text in "ab"
    ]
    file = tmp_path / "agent.jsonl"
    file.write_text(begins + "\n".join(traces))
    *_, first, second = Source(str(file), Settings())
    assert [first.raw.decode().strip(), second.raw.decode()] == traces
    assert first.fault is second.fault is None


@pytest.mark.parametrize(
    "begins", ['nt": "x"}', 'said": "x", ', "a\tb", "a | b", '{"role": "user"', '"x"', "[1"]
)
def test_a_line_that_may_be_cut_off_or_of_a_table_stays_an_error(tmp_path, begins):
    file = tmp_path / "agent.jsonl"
    file.write_text("\n".join([begins, *told("one")]))
    assert any(line.fault or begins.encode() in line.raw for line in Source(str(file), Settings()))


def test_a_line_before_cases_stays_an_error():
    rows = [b"text\n", b'{"custom_id": "1", "inputs": {}}\n', b"text\n"]
    assert read(rows) == (rows, "")


def test_a_line_of_a_log_without_prefixes_that_may_be_cut_off_stays_an_error():
    said = json.dumps(SAID[0]).encode()
    rows = [b"Starting\n", said, b'nt": "x"}\n', b"more\n"]
    assert read(rows) == ([b"\n", said, b'nt": "x"}\n', b"\n"], "")


@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("[stdout] ", "[stderr] "), ("[INFO] ", "[DEBUG] "), ("INFO:a:", "INFO:b:")),
        ("2026-03-02 10:00:00 | INFO | a - ", "2026-03-02 10:00:00 | DEBUG | b - "),
        ("2026-03-02T10:00:00Z stdout F ", "2026-03-02T10:00:00Z stderr F "),
        ("2026-03-02T10:00:00Z [main] ", "2026-03-02T10:00:00Z [thread-1] "),
    ],
)
def test_levels_streams_and_loggers_are_of_one_process(tmp_path, first, second):
    file = tmp_path / "agent.log"
    one, two = told("one")
    file.write_text(f"{first}{one}\n{second}{two}\n")
    assert answers(file) == {"agent.log": "one x"}


CALL = {"id": "item_0", "type": "command_execution", "command": "ls", "exit_code": 0}
USED = {"input_tokens": 10, "cached_input_tokens": 0, "output_tokens": 5}


def codex_run(name):
    return [
        json.dumps(event)
        for event in (
            {"type": "thread.started", "thread_id": name},
            {"type": "turn.started"},
            {"type": "item.completed", "item": CALL},
            {"type": "turn.completed", "usage": USED},
        )
    ]


def wrapped(text, **fields):
    return json.dumps({"log": text + "\n", "stream": "stdout", "time": "2026", **fields})


def of_pod(text, namespace):
    place = {"pod_name": "a", "container_name": "c", "namespace_name": namespace}
    return wrapped(text, kubernetes=place)


def graded(file):
    """Return the traces in a file by id, and the faults of its lines."""
    lines = list(Source(str(file), Settings()))
    cases = [json.loads(line.raw) for line in lines if line.raw.strip() and not line.fault]
    traces = {case["custom_id"]: read_trace(case["inputs"]["trace"]) for case in cases}
    return traces, [line.fault for line in lines if line.fault]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("[2026-03-02 10:00:00 +0000] [7] [INFO] ", "[2026-03-02 10:00:00 +0000] [8] [INFO] "),
        ("2026-03-02 10:00:00,123 [worker-1] INFO ", "2026-03-02 10:00:00,123 [worker-2] INFO "),
        ("2026-03-02T10:00:00+00:00 agent/main/aa ", "2026-03-02T10:00:00+00:00 agent/main/bb "),
        (
            "2026-03-02T10:00:00.123Z 0a1b2c3d-1111-2222-3333-444455556666 INFO ",
            "2026-03-02T10:00:00.123Z 0a1b2c3d-1111-2222-3333-444455557777 INFO ",
        ),
        ("Mar 02 10:00:00 hosta agent[12]: ", "Mar 02 10:00:00 hostb agent[12]: "),
        ("Mar 02 10:00:00 hosta agent: ", "Mar 02 10:00:00 hostb agent: "),
        ("INFO worker-1: ", "INFO worker-2: "),
        ("INFO:worker.1:", "INFO:worker.2:"),
        ("2026-03-02 10:00:00 - worker-1 - INFO - ", "2026-03-02 10:00:00 - worker-2 - INFO - "),
        (lambda text: wrapped(text, container_id="x1"), lambda text: wrapped(text, container_id="x2")),
        (lambda text: wrapped(text, attrs={"tag": "a"}), lambda text: wrapped(text, attrs={"tag": "b"})),
        (lambda text: of_pod(text, "n1"), lambda text: of_pod(text, "n2")),
    ],
)  # fmt: skip
def test_all_that_a_prefix_names_but_times_and_levels_tells_processes_apart(tmp_path, one, two):
    file = tmp_path / "agent.log"
    forms = [form if callable(form) else form.__add__ for form in (one, two)]
    rows = [
        form(row)
        for rows in zip(codex_run("one"), codex_run("two"), strict=True)
        for form, row in zip(forms, rows, strict=True)
    ]
    file.write_text("\n".join(rows))
    traces, faults = graded(file)
    assert faults == []
    assert {name: trace.usage.total for name, trace in traces.items()} == {"one": 15, "two": 15}
    assert [len(trace.steps_of("tool")) for trace in traces.values()] == [1, 1]


@pytest.mark.parametrize(
    "places",
    [
        *(["INFO:agent.core: "[:-1], "INFO:agent.usage2:"], ["10:00:00 [main] ", "10:00:00 [7] "]),
        ["2026-03-02 10:00:00 | INFO | agent.main:run:12 - ", "2026-03-02 10:00:00 | INFO | agent.main:run:4 - "],
        [f"10:00:00 [{number}] " for number in range(4)],
    ],
)  # fmt: skip
def test_names_of_lines_in_the_middle_of_a_session_do_not_divide_it(tmp_path, places):
    file = tmp_path / "agent.log"
    rows = codex_run("one")
    file.write_text("".join(f"{places[at % len(places)]}{row}\n" for at, row in enumerate(rows)))
    traces, faults = graded(file)
    assert (len(traces), faults) == (1, [])
    assert traces["one"].usage.total == 15


def test_a_line_of_a_session_whose_worker_is_not_known_makes_counts_lower_bounds(tmp_path):
    file = tmp_path / "agent.log"
    rows = [f"10:00:00 [{name}] {row}" for name in "ab" for row in codex_run(name)]
    lost = codex_run("c")[2]
    file.write_text("\n".join([*rows, f"10:00:00 {lost}", '10:00:00 {"status": 200}']))
    traces, faults = graded(file)
    assert traces.keys() == {"a", "b"}
    assert all("tool_calls" in trace.missing for trace in traces.values())
    assert len(faults) == 2


@pytest.mark.parametrize("place", [1, 2, 3])
@pytest.mark.parametrize(
    ("form", "behind"),
    [
        ("2026-03-02 10:00:00 INFO {}", "2026-03-02 10:00:00 INFO agent got event: {}"),
        ("[stdout] {}", "[stdout] got {{x}} {}"),
        ("[stdout] {}", "got: {} after 3 ms"),
        ("agent-1  | {}", "agent-1  | got [{}]"),
    ],
)
def test_a_line_of_a_session_behind_other_text_makes_counts_lower_bounds(
    tmp_path, form, behind, place
):
    file = tmp_path / "agent.log"
    rows = [
        (behind if at == place else form).format(row) for at, row in enumerate(codex_run("one"))
    ]
    file.write_text("\n".join([*rows, form.format("").strip() + " ends"]))
    traces, [fault] = graded(file)
    assert "tool_calls" in traces["one"].missing
    assert fault.message == f"line {place + 1} of the session is not JSON"


@pytest.mark.parametrize("form", ["agent-{}  | {}", "10:00:00 [{}] {}"])
def test_many_lines_of_unknown_origin_among_many_sessions_take_linear_time(tmp_path, form):
    file = tmp_path / "agent.log"
    rows = [form.format(name, row) for name in range(500) for row in codex_run(str(name))]
    lost = codex_run("c")[2]
    file.write_text("\n".join([*rows, *[f"see {lost}"] * 2_000]))
    started = process_time()
    traces, faults = graded(file)
    assert (len(traces), len(faults)) == (500, 500)
    assert process_time() - started < 5


def test_traces_behind_other_text_are_errors_of_their_own(tmp_path):
    file = tmp_path / "agent.log"
    trace = json.dumps({"messages": SAID})
    rows = [f"INFO run finished {trace}", "", f"INFO {trace}", f"xx{trace}", "INFO starts", f"INFO again {trace} "]  # fmt: skip
    file.write_text("\n".join(rows))
    traces, faults = graded(file)
    assert list(traces) == ["agent.log:3"]
    assert [fault.message for fault in faults] == [
        "the line has other text before its JSON: 'INFO run finished'",
        "the line has other text before its JSON: 'xx'",
        "the line has other text before its JSON: 'INFO again'",
    ]


def test_a_line_behind_other_text_is_unread_in_the_session_of_each_process_that_may_have_it(
    tmp_path,
):
    file = tmp_path / "agent.log"
    rows = [f"agent-{name}  | {row}" for name in "ab" for row in codex_run(name)]
    file.write_text("\n".join([*rows, f"see {codex_run('c')[2]}"]))
    traces, faults = graded(file)
    assert all("tool_calls" in trace.missing for trace in traces.values())
    assert (len(traces), len(faults)) == (2, 2)


@pytest.mark.parametrize(
    "text",
    ['loaded {"model": "m", "n": 1}', "loaded {}", "loaded {x", 'loaded {"model": {"n": 1}', "{'a': {}}"],
)  # fmt: skip
def test_other_text_with_braces_is_left_out(tmp_path, text):
    file = tmp_path / "agent.log"
    rows = [f"[stdout] {row}" for row in codex_run("one")]
    file.write_text("\n".join([rows[0], f"[stdout] {text}", *rows[1:]]))
    if text.startswith("{"):
        file.write_text(file.read_text().replace(text, "got " + text))
    traces, faults = graded(file)
    assert ("tool_calls" in traces["one"].missing, faults) == (False, [])


def test_a_line_that_a_container_did_not_end_is_one_of_its_own_if_it_is_whole(tmp_path):
    trace = json.dumps({"messages": SAID})
    long = json.dumps({"messages": SAID, "note": "x" * 20_000})
    texts = [trace, trace + "\n", long[:16_384], long[16_384:], trace + "\n", '{"a":', " 1", "}\n"]
    assert read([docker(text) for text in texts], 100_000)[0] == [
        *((trace + "\n").encode() for _ in range(2)),
        *(b"\n", (long + "\n").encode(), (trace + "\n").encode()),
        *(b"\n", b"\n", b'{"a": 1}\n'),
    ]


def test_the_last_part_of_a_line_may_look_like_a_prefix():
    rows = [docker('{"a": "'), docker('INFO: x"}\n')]
    assert read([docker("{}\n"), *rows])[0] == [b"{}\n", b"\n", b'{"a": "INFO: x"}\n']


def test_traces_of_several_containers_keep_the_numbers_of_their_lines(tmp_path):
    file = tmp_path / "agent.log"
    rows = [f"agent-{k}  | {json.dumps({'messages': SAID, 'n': k})}\n" for k in (1, 2, 1)]
    file.write_text("agent-1  | Starting\n" + "".join(rows))
    ids = [line.custom_id for line in Source(str(file), Settings())]
    assert ids == [None, "agent.log:2", "agent.log:3", "agent.log:4"]


def test_a_log_is_taken_for_no_table():
    rows = [f"agent-1  | 2026-03-02T10:00:00Z {row}" for row in told("one")]
    for name in ("c.txt", "c", "c.log"):
        content = "\n".join(rows).encode()
        opened = Opened(name, name, lambda content=content: io.BytesIO(content))
        for graders in (["loop"], ["string-match"]):
            assert recognise(opened, parse_specs(graders), Settings()) is None


def test_a_note_says_what_was_left_out(tmp_path):
    file = tmp_path / "agent.log"
    file.write_text("[stdout] begins\n" + "".join(f"[stdout] {row}\n" for row in told("a")))
    source = Source(str(file), Settings())
    [line] = [each for each in source if each.raw.strip()]
    assert line.fault is None
    assert json.loads(line.raw)["inputs"]["trace"]
    assert source.notes.prefix_note() == (
        "what a log has before the JSON of each line was left out, such as '[stdout]',"
        " and 1 line without JSON, such as '[stdout] begins'"
    )


def test_a_log_without_json_in_its_first_line_is_one_error(tmp_path):
    file = tmp_path / "agent.log"
    file.write_text("".join(f"[log] begins {number}\n" for number in range(30)))
    [line] = [each for each in Source(str(file), Settings()) if each.raw.strip() or each.fault]
    assert re.search(r"word in brackets.*", line.fault.message)
    assert "grep -o" in line.fault.hint


@pytest.mark.parametrize(
    "row",
    [
        b"- " * 20_000,
        b"a: " * 20_000,
        b"2026-03-02 10:00:00 " * 5_000,
        b"2026-03-02 10:00:00 " + b"a" * 200_000,
        b"[" + b"a" * 200_000,
        b"INFO " * 30_000 + b"{",
        b"a/" * 100_000,
        b"INFO a" + b" \t" * 100_000,
        b'{"log":"stream"' * 10_000,
        b"INFO x " + b'{"a":' * 40_000,
        b'INFO x {"a": 1} ' * 20_000,
    ],
)
def test_long_lines_of_prefixes_take_no_longer_than_others(row):
    started = process_time()
    log_line(row)
    read([row] * 3)
    assert process_time() - started < 0.5


def test_blank_lines_before_the_first_text_are_not_all_kept() -> None:
    blank = iter([SourceLine(b"\n")] * 50_000)
    lines = LogLines(1_000).of(blank)
    next(lines)
    left = sum(1 for _ in blank)
    assert left > 30_000

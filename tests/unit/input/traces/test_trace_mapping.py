"""Trace mappings: the file, and the cases that it gives."""

from __future__ import annotations

import json

import pytest

from weighbridge.errors import MappingError
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.source import Source
from weighbridge_producer.input.traces.trace_mapping_file import read_trace_mapping

MAPPING = """
id: /run
steps: /events
step: {type: /kind, types: {model: llm, tool: tool}, output: /text, name: /tool}
"""
EVENTS = [{"kind": "model", "text": "I look."}, {"kind": "tool", "tool": "f", "text": "1"}]


def lines_of(tmp_path, text, mapping=MAPPING, name="runs.jsonl"):
    (tmp_path / "map.yaml").write_text(mapping)
    (tmp_path / name).write_text(text)
    form = read_trace_mapping(tmp_path / "map.yaml")
    return list(Source(tmp_path / name, Settings(), trace_mapping=form))


def cases_of(tmp_path, text, mapping=MAPPING, name="runs.jsonl"):
    found = [json.loads(line.raw) for line in lines_of(tmp_path, text, mapping, name)]
    return [(case["custom_id"], [step["type"] for step in case["inputs"]["trace"]["steps"]]) for case in found]  # fmt: skip


def test_each_line_is_a_trace_or_a_case_with_one(tmp_path):
    bare = json.dumps({"run": "a", "events": EVENTS})
    nameless = json.dumps({"events": EVENTS})
    case = json.dumps({"custom_id": "b", "inputs": {"trace": {"events": EVENTS[:1]}}})
    found = cases_of(tmp_path, f"{bare}\n{nameless}\n{case}")
    both = ["llm", "tool"]
    assert found == [("a", both), ("runs.jsonl:2", both), ("b", ["llm"])]


CHAT = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (json.dumps({"messages": CHAT}) + "\n" + json.dumps({"messages": CHAT[:1]}), 2),
        ("\n" + json.dumps({"id": "x", "messages": CHAT}, indent=1), 1),
        (json.dumps(CHAT), 1),
    ],
)
def test_of_several_files_one_in_a_known_format_is_read_as_that(tmp_path, text, ids):
    (tmp_path / "map.yaml").write_text(MAPPING)
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / "a.jsonl").write_text(json.dumps({"run": "a", "events": EVENTS}))
    (runs / "b.json").write_text(text)
    form = read_trace_mapping(tmp_path / "map.yaml")
    source = Source(runs, Settings(), trace_mapping=form)
    lines = [line for line in source if line.raw.strip() or line.fault]
    assert [line.fault for line in lines] == [None] * (1 + ids)
    assert json.loads(lines[0].raw)["inputs"]["trace"]["steps"][0]["type"] == "llm"
    note = "1 file is in a known format, and read as that, because the trace mapping does not fit: b.json"
    assert source.notes.counts() == [note]
    # A file alone is read by the mapping that was given for it.
    alone = [line for line in Source(runs / "b.json", Settings(), trace_mapping=form) if line.fault]
    assert alone[0].fault.message.startswith("the trace mapping does not fit")


def test_of_several_files_one_that_neither_fits_nor_is_known_has_its_faults(tmp_path):
    (tmp_path / "map.yaml").write_text(MAPPING)
    runs = tmp_path / "runs"
    runs.mkdir()
    fitting = json.dumps({"run": "a", "events": EVENTS, "messages": CHAT})
    (runs / "a.jsonl").write_text(fitting + "\n" + json.dumps({"messages": CHAT}))
    (runs / "b.jsonl").write_text('{"x": 1}\n')
    source = Source(runs, Settings(), trace_mapping=read_trace_mapping(tmp_path / "map.yaml"))
    assert [bool(line.fault) for line in source] == [False, True, True]
    assert source.notes.counts() == []


def test_a_document_is_one_trace_or_holds_several(tmp_path):
    run = {"run": "a", "events": EVENTS}
    assert cases_of(tmp_path, json.dumps(run, indent=1)) == [("a", ["llm", "tool"])]
    several = json.dumps({"runs": [run, {"events": EVENTS[:1]}]}, indent=1)
    found = cases_of(tmp_path, several, f"{MAPPING}traces: /runs", "all.json")
    assert found == [("a", ["llm", "tool"]), ("all.json:2", ["llm"])]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_list_whose_items_have_steps_holds_several_traces(tmp_path, indent):
    runs = [{"run": 7, "events": EVENTS}, {"events": EVENTS[:1]}]
    found = cases_of(tmp_path, json.dumps(runs, indent=indent), name="all.json")
    second = "all.json:2" if indent else "all.json:1:2"
    assert found == [("7", ["llm", "tool"]), (second, ["llm"])]
    for listed in ([], [*runs, {"events": 1}], [EVENTS], 5):
        (line,) = lines_of(tmp_path, json.dumps(listed))
        assert "there is no array of steps at '/events'" in line.fault.message


def test_all_lines_of_a_file_are_one_trace_where_the_mapping_says_so(tmp_path):
    text = "\n".join(map(json.dumps, EVENTS))
    mapping = MAPPING.replace("steps: /events", 'steps: ""\nlines: together')
    assert cases_of(tmp_path, text, mapping) == [("runs.jsonl", ["llm", "tool"])]


def test_the_lines_of_each_run_are_a_trace_where_the_mapping_names_their_id(tmp_path):
    first, second = EVENTS[:2]
    lines = [
        {"kind": "model"},
        first | {"of": "a"},
        first | {"of": 7},
        second | {"of": "a"},
        second,
    ]
    mapping = MAPPING.replace("steps: /events", 'steps: ""\nlines: /of')
    found = cases_of(tmp_path, "\n".join(map(json.dumps, lines)), mapping)
    assert found == [("a", ["llm", "llm", "tool", "tool"]), ("7", ["llm"])]
    (line,) = lines_of(tmp_path, json.dumps(first), mapping)
    assert "no line has the id of its run at '/of'" in line.fault.message


@pytest.mark.parametrize("indent", [None, 1])
def test_the_items_of_a_list_are_lines_too(tmp_path, indent):
    items = [{**event, "of": run} for event, run in zip(EVENTS, "ab", strict=True)]
    mapping = MAPPING.replace("steps: /events", 'steps: ""\nlines: /of')
    found = cases_of(tmp_path, json.dumps(items, indent=indent), mapping, name="all.json")
    assert found == [("a", ["llm"]), ("b", ["tool"])]
    mapping = mapping.replace("lines: /of", "lines: together")
    found = cases_of(tmp_path, json.dumps(items, indent=indent), mapping, name="all.json")
    assert found == [("all.json", ["llm", "tool"])]


@pytest.mark.parametrize("indent", [None, 1])
def test_each_item_of_a_list_may_be_a_trace_of_one_step(tmp_path, indent):
    mapping = MAPPING.replace("steps: /events", 'traces: ""\nsteps: ""')
    found = cases_of(tmp_path, json.dumps(EVENTS, indent=indent), mapping, name="all.json")
    assert [types for _, types in found] == [["llm"], ["tool"]]


def test_traces_may_be_the_values_of_an_object_whose_keys_are_their_ids(tmp_path):
    runs = {"u1": {"events": EVENTS}, "u2": {"run": "own", "events": EVENTS[:1]}}
    mapping = MAPPING + "traces: /of/*"
    found = cases_of(tmp_path, json.dumps({"of": runs}), mapping)
    assert found == [("u1", ["llm", "tool"]), ("own", ["llm"])]
    (line,) = lines_of(tmp_path, json.dumps({"of": 5}), mapping)
    assert "there is no array of traces at '/of/*'" in line.fault.message


@pytest.mark.parametrize("runs", [1, 2])
def test_a_damaged_line_is_an_error_of_its_own_and_leaves_the_counts_at_least(tmp_path, runs):
    whole = [json.dumps({**event, "of": number % runs}) for number, event in enumerate(EVENTS)]
    lines = ["", whole[0], "starting up", '{"kind": "model", "loss": NaN}', whole[1], '{"cut": "of']
    mapping = MAPPING.replace("steps: /events", 'steps: ""\nlines: /of')
    *cases, not_json, with_nan = lines_of(tmp_path, "\n".join(lines), mapping)[1:]
    for case in cases:
        trace = read_trace(json.loads(case.raw)["inputs"]["trace"])
        assert (
            trace.missing["tool_calls"]
            == "what 3 damaged lines of the session recorded is not known"
        )
    assert len(cases) == runs
    assert not_json.fault.message == "lines 3 and 6 are not JSON"
    assert "the other lines were read, so that counts are lower bounds" in not_json.fault.hint
    assert with_nan.fault.message == "line 4 has NaN or Infinity, which are not JSON"
    assert with_nan.fault.code == "NUMBER_OUT_OF_RANGE"


def test_a_line_with_nan_leaves_only_the_counts_of_its_own_run_at_least(tmp_path):
    lines = [json.dumps({**event, "of": run}) for event, run in zip(EVENTS, "ab", strict=True)]
    lines += ['{"kind": "model", "of": "a", "loss": NaN}', '{"of": "c", "loss": -Infinity}']
    mapping = MAPPING.replace("steps: /events", 'steps: ""\nlines: /of')
    first, second, fault = lines_of(tmp_path, "\n".join(lines), mapping)
    traces = [read_trace(json.loads(case.raw)["inputs"]["trace"]) for case in (first, second)]
    assert [trace.id for trace in traces] == ["a", "b"]
    lacking = [trace.missing.get("tool_calls") for trace in traces]
    assert lacking == ["what a damaged line of the session recorded is not known", None]
    assert fault.fault.message == "lines 3 and 4 have NaN or Infinity, which are not JSON"


def test_a_file_of_which_no_line_is_json_has_only_its_fault(tmp_path):
    mapping = MAPPING.replace("steps: /events", 'steps: ""\nlines: together')
    (line,) = lines_of(tmp_path, "starting up\ndone\n", mapping)
    assert line.fault.message == "lines 1 and 2 are not JSON"
    assert "other lines" not in line.fault.hint
    assert line.size == len("starting up\ndone\n")


def test_the_file_of_a_mapping_says_what_has_failed_and_what_is_left_out(tmp_path):
    mapping = """
steps: /events
step: {type: /kind, types: {"f*": tool, "": skip}, name: /kind, failed_when: {/ok: false, /state: [error, 7]}}
"""
    events = [{"kind": "f1", "ok": False}, {"kind": "f2", "state": 7}, {"kind": "f3"}, {"pid": 3}]
    (line,) = lines_of(tmp_path, json.dumps({"events": events}), mapping)
    steps = json.loads(line.raw)["inputs"]["trace"]["steps"]
    found = [(step["name"], step.get("error")) for step in steps]
    assert found == [("f1", "ok: false"), ("f2", "state: 7"), ("f3", None)]


def test_what_does_not_fit_is_a_fault_in_its_place(tmp_path):
    whole = json.dumps({"run": "a", "events": EVENTS})
    other = json.dumps({"events": [{"kind": "tick"}]})
    first, second, third, fourth = lines_of(tmp_path, f"{other}\n{whole}\nnot json\n[]\n")
    assert "step 1 has the type 'tick'" in first.fault.message
    assert second.fault is None
    assert third.fault.code == "INVALID_JSON"
    assert "no array of steps at '/events'" in fourth.fault.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id: /run", "'steps' is missing"),
        ("steps: events", "line 1: 'steps' is not a JSON Pointer"),
        ("steps: [/a, /b]", "line 1: 'steps' is one JSON Pointer, not an array of them"),
        ("steps: /e\ncalls: {at: [/a]}", "line 2: 'at' is one JSON Pointer, not an array of them"),
        ("steps: /e\nstep: {output: []}", "line 2: 'output' has no JSON Pointer"),
        ("steps: /e\nstep:\n  output: [/a, b]", "line 3: 1 is not a JSON Pointer: 'b'"),
        ("steps: /e\nstep: {output: 5}", "'output' is not a JSON Pointer: '5'"),
        ("steps: /e\nstpe: {}", "line 2: unknown key 'stpe'; did you mean 'step'"),
        ("steps: /e\nstep: {type: /k, types: {a: llmm}}", "'llmm' is not a type of step"),
        ("steps: /e\nusage: {in: /x}", "unknown key 'in'"),
        ("steps: /e\ncalls: /c", "calls is not an object"),
        ("steps: /e\nlines: each", "line 2: 'lines' is 'each', neither 'together' nor"),
        ("steps: /e\nstep: {failed_when: false}", "line 2: failed_when is not an object"),
        (
            "steps: /e\nstep: {failed_when: {ok: false}}",
            "'ok' in failed_when is not a JSON Pointer",
        ),
        ("steps: /e\nstep: {failed_when: {/ok: null}}", "'/ok' in failed_when has no texts"),
        ("steps: /e\nstep: {failed_when: {/ok: []}}", "'/ok' in failed_when has no texts"),
        ("steps: /e\nstep: {failed_when: {/ok: .nan}}", "'/ok' in failed_when has no texts"),
        ("steps: /e\nstep: {failed_when: {/ok: 2026-01-01}}", "booleans: '2026-01-01'"),
        ("steps: /e\nstep: []", "line 2: step is not an object"),
        ("steps: /e\ncalls: 5", "line 2: calls is not an object"),
        ("steps: /e\ncalls: {name: /n}", "line 2: calls has no 'at'"),
        ("steps: /e\ncalls: {at: /c/*}", "calls.at is '/c/*', but /* stands for all values only"),
        *[
            (f"steps: /e\nstep: {{types: {types}}}", "line 2: 'types' is not an object")
            for types in ("llm", "[llm]", "5", "[]", "false")
        ],
        ("steps: /e\nstep: {types: {1: llm, '1': tool}}", "'1' is in types twice"),
        ("steps: /e\nstep: {types: {2026-01-01: llm}}", "'2026-01-01' in types is no text"),
        (
            "steps: ''\nlines: /run\ntraces: /x",
            "line 2: 'lines' and 'traces' contradict each other",
        ),
        ("[1]", "the mapping is not an object"),
        ("steps: /e\nstep: !!python/name:os.system {}", "tag"),
    ],
)
def test_a_wrong_mapping_is_refused_with_its_line(tmp_path, text, told):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(MappingError) as caught:
        read_trace_mapping(tmp_path / "map.yaml")
    assert told in caught.value.message


def test_an_array_of_pointers_is_refused_with_the_fields_that_may_have_one(tmp_path):
    (tmp_path / "map.yaml").write_text("steps: [/a, /b]")
    with pytest.raises(MappingError) as caught:
        read_trace_mapping(tmp_path / "map.yaml")
    told = "only the fields of a run and those of step, calls and results may have several"
    assert caught.value.hint == told


def test_the_first_pointer_with_a_value_counts_for_any_field_of_a_run_its_steps_calls_and_results(
    tmp_path,
):
    mapping = """
id: [/no, /run]
metadata: {team: [/team, /group]}
usage: {input_tokens: [/in, /tokens/in]}
steps: /events
step: {type: [/kind], types: {m: llm, r: result}, output: [/said, /ret]}
calls: {at: /asks, name: [/tool, /fn], arguments: [/kw, /args]}
results: {output: [/ret, /said], error: [/exc]}
"""
    call = {"fn": "f", "args": {"a": 1}}
    events = [
        {"kind": "m", "said": "I look.", "ret": "not this"},
        {"kind": "m", "said": None, "ret": "x", "asks": [call]},
        {"kind": "r", "ret": "found"},
        {"kind": "tool"},
    ]
    run = {"run": "a", "group": "g", "tokens": {"in": 5}, "events": events}
    (line,) = lines_of(tmp_path, json.dumps(run), mapping)
    found = json.loads(line.raw)
    assert found["metadata"] == {"team": "g"}
    trace = found["inputs"]["trace"]
    assert (trace["id"], trace["usage"]) == ("a", {"input_tokens": 5})
    first, second, made, last = trace["steps"]
    assert (first["output"], second["output"]) == ("I look.", "x")
    assert (made["name"], made["arguments"], made["output"]) == ("f", {"a": 1}, "found")
    assert "output" not in last


def test_of_several_pointers_those_at_which_no_trace_has_anything_are_known_by_their_place(
    tmp_path,
):
    (tmp_path / "map.yaml").write_text(MAPPING.replace("/text", "[/txt, /text, /unasked]"))
    (tmp_path / "runs.jsonl").write_text(json.dumps({"run": "a", "events": EVENTS}))
    form = read_trace_mapping(tmp_path / "map.yaml")
    source = Source(tmp_path / "runs.jsonl", Settings(), trace_mapping=form)
    assert len(list(source)) == 1
    assert source.pointers_without_value() == {"step.output.0": "/txt"}


def test_pointers_at_which_no_trace_has_anything_are_known_once_all_are_read(tmp_path):
    mapping = f"""{MAPPING}usage: {{input_tokens: /in, output_tokens: /gone/out}}
calls: {{at: /asks, id: /ref, arguments: /arg}}
results: {{output: /text}}
""".replace("name: /tool", "name: /tool, error: /err, ended_at: /end")
    (tmp_path / "map.yaml").write_text(mapping)
    call = {"kind": "model", "err": None, "asks": [{"ref": "c", "args": {}}]}
    runs = [{"run": "a", "events": EVENTS, "in": 5}, {"run": "b", "events": [call]}]
    (tmp_path / "runs.jsonl").write_text("\n".join(map(json.dumps, runs)))
    source = Source(
        tmp_path / "runs.jsonl", Settings(), trace_mapping=read_trace_mapping(tmp_path / "map.yaml")
    )
    assert len(list(source)) == 2
    # Nothing is said of `results`, because there are none; an error that is null is recorded.
    assert source.pointers_without_value() == {
        "usage.output_tokens": "/gone/out",
        "step.ended_at": "/end",
        "calls.arguments": "/arg",
    }


def test_a_step_without_anything_at_the_pointer_of_its_type_is_a_fault_that_names_the_pointer(
    tmp_path,
):
    [line] = lines_of(tmp_path, json.dumps({"events": EVENTS}), MAPPING.replace("/kind", "/kin"))
    assert "step 1 has nothing at '/kin', the pointer of step.type" in line.fault.message

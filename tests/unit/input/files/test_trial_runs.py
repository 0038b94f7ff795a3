"""Runs of Harbor's trials: their ids, their metadata, and their files as one trace."""

from __future__ import annotations

import copy
import json

import pytest

from support.trace_examples.evaluation_tools import HARBOR
from weighbridge.errors import InputError, LineError, TraceError
from weighbridge.grading.case import parse_case
from weighbridge.settings import Settings
from weighbridge.traces import read_trace
from weighbridge_producer.input.files import trial_runs
from weighbridge_producer.input.files.input_files import InputFiles
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.files.read_as import ReadAs
from weighbridge_producer.input.source import Source


def trajectory(session, calls=1, **fields):
    steps = [
        {
            "step_id": number,
            "source": "agent",
            "message": "",
            "tool_calls": [
                {"tool_call_id": f"{session}-{number}", "function_name": "ls", "arguments": {}}
            ],
        }
        for number in range(1, calls + 1)
    ]
    agent = {"name": "terminus-2", "version": "2"}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": session,
        "agent": agent,
        "steps": steps,
        **fields,
    }


def write(file, value):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))


def trial(job, task, suffix="a", *, agent="terminus-2", model="gpt-5", minute=0, files=None):
    """Write a trial with its result, and the files of its agent."""
    folder = job / f"{task}__{suffix}"
    result = copy.deepcopy(HARBOR)
    result.update(task_name=task, trial_name=folder.name)
    result.update(started_at=f"2026-03-04T10:{minute:02}:00Z")
    result["agent_info"] = {"name": agent, "version": "2", "model_info": {"name": model}}
    write(folder / "result.json", result)
    for name, value in (files or {"trajectory.json": trajectory(f"{task}{suffix}")}).items():
        write(folder / "agent" / name, value)
    return folder


def cases(path):
    found = {}
    for line in Source(path, Settings()):
        assert line.fault is None
        case = parse_case(line.raw, (), needs_grader=False)
        found[case.custom_id] = (case, read_trace(case.inputs["trace"]))
    return found


def calls(path):
    return {name: len(trace.steps_of("tool")) for name, (_, trace) in cases(path).items()}


def test_a_run_has_the_id_of_its_task_and_the_metadata_of_its_trial(tmp_path):
    trial(tmp_path, "count-lines")
    ((name, (case, trace)),) = cases(tmp_path).items()
    assert name == "count-lines"
    assert case.metadata == {
        "file": "count-lines__a/agent/trajectory.json",
        "task_name": "count-lines",
        "trial_name": "count-lines__a",
        "source": "small-bench",
        "agent": "terminus-2",
        "agent_version": "2",
        "model": "gpt-5",
        "rewards": {"reward": 0.0},
    }
    assert (trace.format, trace.metadata["task_name"]) == ("atif", "count-lines")


def test_a_trial_without_a_trajectory_has_the_id_of_its_task_too(tmp_path):
    write(tmp_path / "one/result.json", HARBOR)
    ((name, (case, trace)),) = cases(tmp_path).items()
    assert (name, trace.format) == ("count-lines", "harbor")
    assert case.metadata == {"file": "one/result.json", **trace.metadata}


@pytest.mark.parametrize("path", ["", "*/agent/trajectory.json", "**/*.json"])
def test_ids_are_those_of_the_same_task_and_attempt_in_another_job(tmp_path, path):
    for job, suffixes in (("monday", "xya"), ("tuesday", "bcd")):
        for minute, suffix in enumerate(suffixes):
            trial(tmp_path / job, "sum", suffix, minute=minute)
        trial(tmp_path / job, "sort", suffixes[0])
    names = ["sort", "sum", "sum#2", "sum#3"]
    for job, first in (("monday", "x"), ("tuesday", "b")):
        found = cases(str(tmp_path / job / path))
        assert sorted(found) == names
        assert found["sum"][0].metadata["trial_name"] == f"sum__{first}"


def test_several_agents_models_and_jobs_are_told_apart_by_their_names(tmp_path):
    trial(tmp_path / "one", "sum", "a", agent="codex")
    trial(tmp_path / "one", "sum", "b")
    trial(tmp_path / "two", "sum", "c", model="gpt-5-mini")
    trial(tmp_path / "two", "sum", "d")
    assert sorted(cases(tmp_path / "one")) == ["sum (codex)", "sum (terminus-2)"]
    assert sorted(cases(tmp_path / "two")) == ["sum (gpt-5)", "sum (gpt-5-mini)"]
    assert sorted(cases(tmp_path)) == [
        *("one/sum (codex)", "one/sum (terminus-2)"),
        *("two/sum (gpt-5)", "two/sum (gpt-5-mini)"),
    ]


def test_the_steps_of_a_task_are_in_the_ids_of_their_runs(tmp_path):
    folder = trial(tmp_path, "sum", files={"log.txt": "x"})
    result = json.loads((folder / "result.json").read_text())
    result["step_results"] = [{"step_name": "a", "verifier_result": {"rewards": {"reward": 1}}}]
    write(folder / "result.json", result)
    for step in ("a", "b"):
        write(folder / f"steps/{step}/agent/trajectory.json", trajectory(step))
    found = cases(tmp_path)
    assert sorted(found) == ["sum/a", "sum/b"]
    assert found["sum/a"][0].metadata["step_rewards"] == {"reward": 1}
    assert found["sum/b"][0].metadata["step"] == "b"
    assert "step_rewards" not in found["sum/b"][0].metadata


def test_a_trajectory_and_those_it_goes_on_in_are_one_trace(tmp_path):
    files = {
        "trajectory.json": trajectory("s", 3, continued_trajectory_ref="trajectory.cont-1.json"),
        "trajectory.cont-1.json": trajectory("s1", 2, continued_trajectory_ref="more.json"),
        "more.json": trajectory("s2", 1),
    }
    folder = trial(tmp_path, "sum", files=files)
    assert calls(tmp_path) == {"sum": 6}
    assert calls(folder / "agent/trajectory.json") == {"sum": 6}
    pattern = str(tmp_path / "*/agent/trajectory*.json")
    assert calls(pattern) == {"sum": 6}
    found = InputFiles(Paths([tmp_path])).files[0]
    assert found.size() == len(found.open().read())


def test_sub_agents_in_files_of_their_own_are_part_of_the_trace(tmp_path):
    named = {"session_id": "s-1", "trajectory_path": "trajectory.summarization-1-summary.json"}
    main = trajectory("s", 1)
    main["steps"][0]["observation"] = {"results": [{"subagent_trajectory_ref": [named]}]}
    files = {
        "trajectory.json": main,
        "trajectory.summarization-1-summary.json": trajectory("s-1", 2),
        "trajectory.other.json": trajectory("o", 4),
    }
    trial(tmp_path, "sum", files=files)
    assert calls(tmp_path) == {"sum": 3, "sum/other": 4}


@pytest.mark.parametrize(
    "reference",
    [
        *(
            "/etc/hostname.json",
            "../result.json",
            "trajectory.json",
            "nothing.json",
            ".hidden.json",
        ),
        *("a/b.json", "x\x00.json", "no.json", "list.json"),
    ],
)
def test_a_trajectory_goes_on_in_no_other_folder_no_circle_and_no_other_file(tmp_path, reference):
    files = {
        "trajectory.json": trajectory("s", 3, continued_trajectory_ref=reference),
        ".hidden.json": trajectory("h", 1),
        "a/b.json": trajectory("b", 1),
        "no.json": "{",
        "list.json": "[1]",
    }
    trial(tmp_path, "sum", files=files)
    ((_, trace),) = cases(tmp_path).values()
    assert len(trace.steps_of("tool")) == 3
    assert "which was not read" in trace.missing["tool_calls"]


def test_trajectories_that_go_on_in_each_other_are_read_once(tmp_path):
    files = {
        f"trajectory{name}.json": trajectory(name or "s", 1, continued_trajectory_ref=goes_on)
        for name, goes_on in {
            "": "trajectory.a.json",
            ".a": "trajectory.b.json",
            ".b": "trajectory.a.json",
        }.items()
    }
    trial(tmp_path, "sum", files=files)
    assert calls(tmp_path) == {"sum": 3}


CONFIG = {"task": {"path": "tasks/sum"}, "trial_name": "sum__r", "trials_dir": "jobs/one"}


def test_a_trial_that_runs_or_was_killed_is_read_from_what_it_has_and_no_error(tmp_path):
    trial(tmp_path, "sort")
    for name in ("sum__r", "sum__s"):
        write(tmp_path / name / "config.json", {**CONFIG, "trial_name": name})
        write(tmp_path / name / "verifier/ctrf.json", {"results": {"tests": []}})
    write(tmp_path / "sum__r/agent/trajectory.json", trajectory("r"))
    found = cases(tmp_path)
    assert sorted(found) == ["sort", "sum"]
    metadata = found["sum"][0].metadata
    assert (metadata["task_name"], metadata["trial_name"]) == ("sum", "sum__r")


@pytest.mark.parametrize("pattern", ["", "**/*.json", "*/verifier/*.json", "*/config.json"])
def test_files_of_trials_and_jobs_without_a_run_are_refused_together(tmp_path, pattern):
    write(tmp_path / "config.json", {"job_name": "one", "jobs_dir": "jobs"})
    write(tmp_path / "sum__r/config.json", CONFIG)
    write(tmp_path / "sum__r/verifier/ctrf.json", {"results": {"tests": []}})
    with pytest.raises(InputError, match=r"has no run to read, only files .* beside runs"):
        InputFiles(Paths.of([str(tmp_path / pattern)]))


@pytest.mark.parametrize("content", ["", "{", '{"schema_version": "ATIF-v1.7", "steps": [', "[]"])
def test_a_trajectory_that_is_no_whole_object_is_an_error_of_its_own(tmp_path, content):
    folder = trial(tmp_path, "sum")
    trial(tmp_path, "sort")
    write(folder / "agent/trajectory.json", content)
    ids = [line.custom_id for line in Source(tmp_path / "sort__a", Settings())]
    assert ids == ["sort"]
    assert "sort" in [line.custom_id for line in Source(tmp_path, Settings())]


@pytest.mark.parametrize(
    "changed",
    [
        {"task_name": 7, "config": []},
        {"trial_name": None, "config": {"trial_name": []}},
        {"agent_info": 1, "verifier_result": 1, "started_at": 1, "step_results": 1, "source": {}},
        {"verifier_result": {"rewards": {"a": {}, "b": 1}}, "step_results": [1, {"step_name": []}]},
        {"task_name": "x" * 5000},
        {"task_name": "a\nb"},
    ],
)
def test_results_with_other_values_than_harbor_writes_raise_nothing(tmp_path, changed):
    folder = trial(tmp_path, "sum")
    result = json.loads((folder / "result.json").read_text())
    write(folder / "result.json", {**result, **changed})
    assert len(cases(tmp_path)) == 1


def test_files_that_are_mapped_are_read_as_they_are(tmp_path):
    file = trial(tmp_path, "sum") / "agent/trajectory.json"
    assert InputFiles(Paths([file]), ReadAs.MAPPED_RUNS).files == (file,)
    assert InputFiles(Paths([file]), ReadAs.ROWS).files == (file,)


def referring(session, *names):
    """Return a trajectory that names files of sub-agents."""
    results = [{"subagent_trajectory_ref": [{"trajectory_path": name}]} for name in names]
    value = trajectory(session)
    value["steps"][0]["observation"] = {"results": results}
    return value


def times_read(monkeypatch):
    """Return how often each file is read whole, by its name, from now on."""
    counts = {}
    parse = trial_runs._content_of

    def counting(file, limit_bytes):
        counts[file.name] = counts.get(file.name, 0) + 1
        return parse(file, limit_bytes)

    monkeypatch.setattr(trial_runs, "_content_of", counting)
    return counts


def test_a_file_that_is_referred_to_is_read_once_whatever_it_is(tmp_path, monkeypatch):
    names = ["other.json", "gone.json", "trajectory.sub.json"] * 50
    files = {
        "trajectory.json": referring("s", *names),
        "trajectory.more.json": referring("m", *names),
        "trajectory.sub.json": trajectory("sub", 2),
        "other.json": {"steps": {}},
    }
    trial(tmp_path, "t", files=files)
    counts = times_read(monkeypatch)
    assert calls(tmp_path) == {"t": 3, "t/more": 1}
    assert {name: counts[name] for name in [*files, "gone.json"]} == dict.fromkeys(counts.keys() & {*files, "gone.json"}, 1)  # fmt: skip


def test_files_that_are_referred_to_are_read_up_to_a_limit_in_all(tmp_path, monkeypatch):
    names = [f"other{number}.json" for number in range(10)]
    others = {name: {"text": "x" * 10_000} for name in names}
    trial(tmp_path, "t", files={"trajectory.json": referring("s", *names), **others})
    monkeypatch.setattr(trial_runs, "GROUP_LIMIT_BYTES", 35_000)
    counts = times_read(monkeypatch)
    assert calls(tmp_path) == {"t": 1}
    assert len(counts.keys() & set(names)) == 3


CASE = '{"custom_id": "victim", "inputs": {"agent_response": "x"}, "graders": ["true-false"]}'


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(trajectory("s"))[:-1] + '},"custom_id":"victim","x":{"y":1}',
        json.dumps(trajectory("s"))[:-1] + '},"inputs":{},"graders":[]}',
        *(f"{CASE}\n{CASE}\n", f"{CASE}\n{CASE}\nx", f"[{CASE}]", json.dumps(trajectory("s")) + " {}"),
        *("[1]", "null", "x", f"[INFO] {CASE}", f" {CASE}{CASE}", CASE[1:], f"data: {CASE}\n\n"),
    ],
)  # fmt: skip
def test_a_file_in_place_of_a_trajectory_is_one_error_of_no_other_name(tmp_path, text):
    trial(tmp_path, "f", files={"trajectory.json": text})
    [line] = [line for line in Source(tmp_path, Settings()) if line.fault or line.raw.strip()]
    if line.fault is None:
        with pytest.raises((LineError, TraceError)):
            read_trace(parse_case(line.raw, (), needs_grader=False).inputs["trace"])
    assert line.custom_id in {None, "f"}

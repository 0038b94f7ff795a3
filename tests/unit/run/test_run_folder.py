"""The folder of a run: other folders next to it, including forged ones, are not touched."""

import json
import os
from pathlib import Path

import pytest

from weighbridge.settings import Settings
from weighbridge_producer.run.local_service import default_folder
from weighbridge_producer.run.run_folder import RunState, state_root

NAME = "20260102-030405-abcdef"
SAVED = {
    "key": {},
    "batch": "wb_6b000000_1_00000000000000000000",
    "results": "",
    "resumable": True,
    "collected": {"cursor": "", "written_bytes": 0, "rows": 0, "delivered": []},
}


@pytest.fixture
def root(tmp_path):
    """Where runs keep their state."""
    root = tmp_path / "state"
    root.mkdir()
    return root


def kept(root, name=NAME, **saved):
    """Create the folder of an interrupted run."""
    folder = root / name
    folder.mkdir()
    (folder / "run.json").write_text(json.dumps(SAVED | saved))
    return folder


def swept(root):
    """Return the folders of interrupted runs after the clean-up of the others."""
    found = []
    for state in RunState.interrupted(root):
        found.append(state)
        state.release()
    return found


@pytest.mark.parametrize("name", ["photos", "20260102-030405", f"{NAME}0", f"old-{NAME}"])
def test_a_folder_of_another_name_is_left_alone(root, name):
    folder = kept(root, name)
    (root / "file").touch()
    assert swept(root) == []
    assert [path.name for path in folder.iterdir()] == ["run.json"]
    assert (root / "file").exists()


def test_a_folder_with_nothing_of_a_run_in_it_is_left_alone(root):
    (root / NAME).mkdir()
    (root / NAME / "thesis.txt").touch()
    assert swept(root) == []
    assert [path.name for path in (root / NAME).iterdir()] == ["thesis.txt"]


def test_a_link_to_a_folder_is_not_followed(root, tmp_path):
    target = kept(tmp_path, "target")
    (root / NAME).symlink_to(target)
    assert swept(root) == []
    assert [path.name for path in target.iterdir()] == ["run.json"]


def test_a_lock_that_is_a_link_is_not_followed(root, tmp_path):
    folder = kept(root)
    (folder / "lock").symlink_to(tmp_path / "made")
    assert swept(root) == []
    assert folder.exists()
    assert not (tmp_path / "made").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_somebody_else_is_left_alone(root):
    folder = kept(root)
    os.chown(folder, 65534, 65534)
    assert swept(root) == []
    assert [path.name for path in folder.iterdir()] == ["run.json"]


@pytest.mark.parametrize(
    "results",
    [
        "{tmp}/precious",
        "{tmp}/.weighbridge-20260102-030405-000000.partial",
        "{state}/" + NAME + "/../../precious",
    ],
)
def test_results_that_are_not_the_runs_own_are_not_touched(root, tmp_path, results):
    precious = results.format(tmp=tmp_path, state=root)
    for path in (tmp_path / "precious", tmp_path / ".weighbridge-20260102-030405-000000.partial"):
        path.write_text("kept")
    folder = kept(root, results=precious)
    assert swept(root) == []
    assert not folder.exists()
    assert (tmp_path / "precious").read_text() == "kept"
    assert (tmp_path / ".weighbridge-20260102-030405-000000.partial").read_text() == "kept"


@pytest.mark.parametrize(
    "results", ["{tmp}/.weighbridge-" + NAME + ".partial", "{state}/" + NAME + "/results.jsonl"]
)
def test_an_interrupted_run_is_found_and_removed_with_its_own_results(root, tmp_path, results):
    path = Path(results.format(tmp=tmp_path, state=root))
    folder = kept(root, results=str(path))
    path.write_text("partial")
    (state,) = RunState.interrupted(root)
    assert state.results == str(path)
    state.remove()
    assert not folder.exists()
    assert not path.exists()


def test_a_key_that_is_no_object_is_damage(root):
    folder = kept(root, key=["/data/a.jsonl"])
    assert swept(root) == []
    assert not folder.exists()


def test_a_folder_of_a_run_that_had_not_begun_is_cleaned_away(root):
    (root / NAME).mkdir()
    (root / NAME / "lock").touch()
    assert swept(root) == []
    assert not (root / NAME).exists()


def test_state_is_kept_in_the_folder_of_the_settings(tmp_path):
    settings = Settings(state_dir=tmp_path)
    assert state_root(settings) == tmp_path
    assert default_folder(settings) == tmp_path / "serve"


def test_every_run_that_has_ended_is_left_over_whatever_can_be_done_with_it(root):
    kept(root, key={"input": [["/data/a.jsonl", 1, 2]], "outputs": ["/data/out.jsonl"]})
    (root / "20260102-030405-000000").mkdir()
    (root / "20260102-030405-000000" / "lock").touch()
    broken, interrupted = RunState.left_over(root)
    assert (broken.inputs, broken.outputs) == ([], [])
    assert (interrupted.inputs, interrupted.outputs) == (["/data/a.jsonl"], ["/data/out.jsonl"])


@pytest.mark.parametrize("variable", ["XDG_STATE_HOME", "HOME"])
def test_without_a_setting_state_is_kept_in_the_users_state_folder(tmp_path, monkeypatch, variable):
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    state_home = tmp_path if variable == "XDG_STATE_HOME" else tmp_path / ".local" / "state"
    assert state_root(Settings()) == state_home / "weighbridge" / "runs"
    assert default_folder(Settings()) == state_home / "weighbridge" / "serve"

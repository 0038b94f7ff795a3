"""The words that `weighbridge` offers to a shell, for the words that the shell hands over."""

from __future__ import annotations

import orjson
import pytest

from weighbridge.grading.line_grader import grade_lines
from weighbridge_producer.cli.commands import run_app


@pytest.fixture
def offered(monkeypatch, capsys):
    """Return a function from a shell and a line to the lines that the shell gets."""

    def complete(shell, line, *, whole_lines=False):
        words = line.split()
        monkeypatch.setattr("sys.argv", ["weighbridge"])
        monkeypatch.setenv("_WEIGHBRIDGE_COMPLETE", f"complete_{shell}")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - (not line.endswith(" "))))
        monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
        monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
        with pytest.raises(SystemExit):
            run_app([])
        printed = capsys.readouterr().out
        return printed.splitlines() if whole_lines else printed.split()

    return complete


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("submit x --priority ", ["low", "normal", "high"]),
        ("submit x --priority l", ["low"]),
        # bash splits words at `=`, and replaces what is after it.
        ("submit x --priority =", ["low", "normal", "high"]),
        ("submit x --priority = l", ["low"]),
        ("submit x --priority = low -g lo", ["loop"]),
        ("run x -g a = st", ["string-match"]),
        ("run x --grader = a = st", ["string-match"]),
        ("run x -o csv = - -g lo", ["loop"]),
        # With `=` taken out of COMP_WORDBREAKS it does not.
        ("submit x --priority=l", ["--priority=low"]),
        ("run x -g a=st", ["a=string-match"]),
    ],
)
def test_bash_gets_what_replaces_the_last_part_of_a_word(offered, line, words):
    assert offered("bash", f"weighbridge {line}") == words


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("submit x --priority l", "low"),
        ("submit x --priority=l", "--priority=low"),
        ("run x --grader=a=st", "--grader=a=string-match"),
    ],
)
def test_zsh_and_fish_get_the_whole_word(offered, line, word):
    assert f'"{word}"' in " ".join(offered("zsh", f"weighbridge {line}"))
    assert offered("fish", f"weighbridge {line}")[0] == word


def test_baselines_are_completed(offered, monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("WEIGHBRIDGE_BASELINE_FOLDER", str(tmp_path / "b"))
    result = tmp_path / "r.jsonl"
    case = {"custom_id": "q", "inputs": {"agent_response": "a", "expected_output": "a"}}
    result.write_bytes(b"".join(grade_lines([orjson.dumps(case)], ["string-match"])))
    for name in ("main", "monday"):
        with pytest.raises(SystemExit):
            run_app(["baseline", "set", name, str(result)])
    capsys.readouterr()
    monkeypatch.setenv("WEIGHBRIDGE_URL", "redis://127.0.0.1:9")
    assert set(offered("bash", "weighbridge baseline delete m")) == {"main", "monday"}
    assert offered("bash", "weighbridge baseline set x mo") == ["monday"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "monday.jsonl").touch()
    (tmp_path / "month").mkdir()
    # Without the baseline the shell would complete the files itself.
    assert offered("bash", "weighbridge compare mo") == ["monday", "monday.jsonl", "month/"]
    assert offered("bash", "weighbridge compare mont") == []


def test_the_limits_of_a_sweep_are_completed(offered):
    found = offered("bash", "weighbridge sweep x --param max_to")
    assert found == ["max_tokens", "max_tool_calls", "max_tool_calls_per_tool."]
    assert offered("bash", "weighbridge sweep x --param s") == ["score"]


@pytest.mark.parametrize("line", ["", "graders ", "trace ", "keys ", "baseline ", "run --"])
def test_fish_describes_each_word_in_a_whole_sentence_on_its_line(offered, line):
    told = offered("fish", f"weighbridge {line}", whole_lines=True)
    assert len(told) > 1
    for each in told:
        word, _, description = each.partition("\t")
        assert word
        assert description.endswith(".")
        assert not description.endswith("..")

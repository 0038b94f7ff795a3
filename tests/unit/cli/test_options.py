import re

import pytest
from typer.testing import CliRunner

from weighbridge.errors import ConfigError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.cli.commands import app
from weighbridge_producer.cli.options import specs


@pytest.mark.parametrize(
    ("graders", "configs", "expected"),
    [
        (["true-false"], [], [GraderSpec("true-false")]),
        (["tf=true-false"], [], [GraderSpec("true-false", None, "tf")]),
        (["a=b=true-false"], [], [GraderSpec("true-false", None, "a=b")]),
        (["g"], ["k=true"], [GraderSpec("g", {"k": True})]),
        (["g"], ["k=yes"], [GraderSpec("g", {"k": "yes"})]),
        (["g"], ["k=a=b"], [GraderSpec("g", {"k": "a=b"})]),
        (["g"], ['{"k": 1, "l": [2]}'], [GraderSpec("g", {"k": 1, "l": [2]})]),
        (["g"], ['g={"k": 1}'], [GraderSpec("g", {"k": 1})]),
        (["g"], ["k=1", "k=2", "l=3"], [GraderSpec("g", {"k": 2, "l": 3})]),
        (["a=g", "b=g"], ["b.k=1"], [GraderSpec("g", None, "a"), GraderSpec("g", {"k": 1}, "b")]),
        ([], [], []),
    ],
)
def test_graders_and_their_settings_are_named_together(graders, configs, expected):
    assert list(specs(graders, configs)) == expected


@pytest.mark.parametrize(
    ("graders", "config", "complaint"),
    [
        (["g"], "k", "has no value"),
        (["g"], "{", "not JSON"),
        (["g"], "g=[1]", "not a JSON object"),
        (["a=g", "b=g"], "k=1", "names no grader of this command (a, b)"),
        ([], "k=1", "names no grader of this command (none)"),
    ],
)
def test_a_setting_that_cannot_be_placed_is_refused(graders, config, complaint):
    with pytest.raises(ConfigError) as refusal:
        specs(graders, [config])
    assert complaint in refusal.value.message


def test_a_setting_that_is_a_list_or_an_object_may_be_in_a_file(tmp_path, monkeypatch):
    (tmp_path / "t.json").write_text('[{"name": "a"}]')
    monkeypatch.chdir(tmp_path)
    for config in ("tools=@t.json", '{"tools": "@t.json"}', "tool-schema.tools=@t.json"):
        [spec] = specs(["tool-schema"], [config])
        assert spec.config == {"tools": [{"name": "a"}]}
    with pytest.raises(
        ConfigError, match=r"tools: the file 'u\.json' cannot be read: No such file"
    ):
        specs(["tool-schema"], ["tools=@u.json"])


def test_one_label_for_two_graders_is_refused():
    with pytest.raises(ConfigError, match="two graders are labelled 'x'"):
        specs(["x=true-false", "x=string-match"], [])


@pytest.mark.parametrize("command", [["run"], ["submit"], ["trace", "show"], ["trace", "convert"]])
def test_help_names_what_an_option_takes_and_no_type_of_python(command):
    told = CliRunner().invoke(app, [*command, "--help"])
    assert told.exit_code == 0
    assert "list[" not in told.output
    assert not re.search(r"--(id|output|redis-url) <", told.output)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["init", "--ci", "x"], "'--ci': 'x' is not one of 'github', 'gitlab', 'none'."),
        (["completion", "tcsh"], "'SHELL': 'tcsh' is not one of 'bash', 'zsh', 'fish'."),
        (
            ["keys", "make", "n", "--role", "boss"],
            "'--role': 'boss' is not one of 'read', 'submit'",
        ),
    ],
)
def test_a_word_that_is_no_choice_is_refused_with_the_choices(words, told):
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert f"Error: Invalid value for {told}" in refused.output

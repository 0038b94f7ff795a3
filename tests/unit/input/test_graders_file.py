"""A file of graders: its specs are used, and errors name the line."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest

from weighbridge.errors import ConfigError
from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge_producer.input import yaml_file
from weighbridge_producer.input.graders_file import line_naming, read_graders

if TYPE_CHECKING:
    from pathlib import Path

GOOD = """\
# what every run must hold
graders:
  - true-false
  - grader: string-match
    label: loosely
    config:
      case_sensitive: false
      expected_any: [one, "2"]
"""
SPECS = (
    GraderSpec("true-false"),
    GraderSpec("string-match", {"case_sensitive": False, "expected_any": ["one", "2"]}, "loosely"),
)


def read(tmp_path: Path, text: str | bytes) -> tuple[GraderSpec, ...]:
    path = tmp_path / "graders.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_graders(path)


def test_a_file_names_graders_with_configs_and_labels(tmp_path: Path) -> None:
    assert read(tmp_path, GOOD) == SPECS
    assert read(tmp_path, GOOD.partition("graders:\n")[2]) == SPECS
    as_json = {"graders": [spec.as_dict() for spec in SPECS]}
    assert read(tmp_path, json.dumps(as_json)) == SPECS
    assert read(tmp_path, b"\xef\xbb\xbf" + GOOD.encode()) == SPECS


def test_a_grader_that_is_not_installed_here_is_left_to_the_workers(tmp_path: Path) -> None:
    assert read(tmp_path, "graders: [theirs]") == (GraderSpec("theirs"),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("graders:\n  - true-false\n  - {grader: [}\n", 3, "not YAML"),
        ("graders: []\n", 1, "no list of graders"),
        ("", 1, "no list of graders"),
        ("a: 1\ngraders: [true-false]\n", 1, "unknown key 'a'"),
        ("graders:\n  - 5\n", 2, "a grader is an id, or {"),
        ("graders:\n  - grader: true-false\n    lable: a\n", 3, "unknown field 'lable'"),
        ("graders:\n  - label: a\n", 2, "'grader' is missing"),
        ("graders:\n  - grader: true-false\n    config: 5\n", 3, "'config' must be an object"),
        ("graders:\n  - true-false\n  - true-false\n", 3, "two graders are labelled 'true-false'"),
        (GOOD.replace("case_sensitive: false", "case_sensitiv: no"), 7, "did you mean 'case_sensitive'"),
        (GOOD.replace("case_sensitive: false", "case_sensitive: 5"), 7, "must be true or false"),
        (GOOD.replace('[one, "2"]', "[one, 2]"), 8, "expected_any[1] must be a string"),
        ("graders:\n  - grader: true-false\n    config:\n      aliases:\n        true: []\n        false: [n]\n", 5, "aliases"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(
    text: str, line: int, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert f"graders.yaml, line {line}: " in caught.value.message
    assert message in caught.value.message


def test_the_line_that_names_a_grader_is_found(tmp_path: Path) -> None:
    read(tmp_path, GOOD)
    path = tmp_path / "graders.yaml"
    assert [line_naming(path, name) for name in ("true-false", "string-match")] == [3, 4]
    assert line_naming(path, "loosely") is None


QUOTE = "quote what begins with *"
SHAPE = "write a list of grader ids"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("graders: []\n", SHAPE),
        ("grader: [true-false]\n", SHAPE),
        ("graders:\n  - 5\n", SHAPE),
        ("graders: loop\n", "write graders: [loop]"),
        ("loop\n", "write [loop]"),
        ("graders:\n  - grader: tool-schema\n    config: {blocklist: [*_delete]}\n", QUOTE),
        ("graders:\n  - grader: tool-schema\n    config:\n      blocklist: *_delete\n", QUOTE),
        ("graders:\n  - grader: tool-schema\n    config: {blocklist: [a, [}\n", QUOTE),
        (GOOD.replace("case_sensitive: false", "case_sensitiv: no"), ""),
        ("graders:\n  - true-false\n  - true-false\n", "give one of them another label"),
        ("graders:\n  - grader: true-false\n    lable: a\n", "did you mean 'label'?"),
    ],
)
def test_a_hint_is_given_where_it_fits(text: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert caught.value.hint.startswith(hint)
    assert bool(caught.value.hint) == bool(hint)


def test_what_would_fill_the_memory_or_run_code_is_refused(tmp_path: Path) -> None:
    bomb = "graders:\n  - grader: true-false\n    config:\n      a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for last, name in zip("abcdefgh", "bcdefghi", strict=True):
        bomb += f"      {name}: &{name} [{', '.join([f'*{last}'] * 10)}]\n"
    with pytest.raises(ConfigError, match="expands to too much"):
        read(tmp_path, bomb)
    with pytest.raises(ConfigError, match=r"refers to itself|unknown key"):
        read(tmp_path, "graders:\n  - grader: true-false\n    config: &x {a: [*x]}\n")
    with pytest.raises(ConfigError, match="is not allowed"):
        read(tmp_path, "graders:\n  - !!python/object/apply:os.system [echo]\n")
    with pytest.raises(ConfigError, match="more than"):
        read(tmp_path, "#" * 2_000_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text", ["[" * 20_000, "[\n" * 20_000, "- " * 20_000, '{"a":' * 201 + "1" + "}" * 201]
)
def test_deep_nesting_is_refused_before_it_takes_time(text: str, tmp_path: Path) -> None:
    start = time.process_time()
    with pytest.raises(ConfigError, match=r"line \d+: nested deeper than 200 levels"):
        read(tmp_path, text)
    assert time.process_time() - start < 10
    with pytest.raises(ConfigError, match="line 1: a grader is an id"):
        read(tmp_path, "[" * 200 + "]" * 200)


def test_too_many_nodes_are_refused_before_the_rest_is_parsed(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(yaml_file, "_NODES_LIMIT", 500)
    with pytest.raises(ConfigError, match="the graders file is too large"):
        read(tmp_path, f"[{'a, ' * 1_001}")
    with pytest.raises(ConfigError, match="not YAML"):
        read(tmp_path, f"[{'a, ' * 900}")


@pytest.mark.parametrize(
    ("text", "line", "tag"),
    [
        ("graders: !mine [budget]", 1, "!mine"),
        ("graders:\n- !mine budget", 2, "!mine"),
        ("graders:\n- grader: budget\n  config: !mine {max_steps: 1}", 3, "!mine"),
        ("graders: !!python/object:os.system [ls]", 1, "python/object:os.system"),
        ("graders: !!set {a, b}", 1, "2002:set"),
    ],
)
def test_a_tag_is_refused_with_its_line(text: str, line: int, tag: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=rf"line {line}: the tag .*{tag}' is not allowed") as told:
        read(tmp_path, text)
    assert "remove the tag" in told.value.hint


def test_the_tag_of_a_plain_value_is_taken(tmp_path: Path) -> None:
    text = "graders:\n- grader: budget\n  config: {max_steps: !!int '5'}"
    assert read(tmp_path, text) == (GraderSpec("budget", {"max_steps": 5}, "budget"),)


@pytest.mark.parametrize("text", ["- !!bool maybe", "- !!int abc", "- 0x_", "- &a {<<: *a}"])
def test_a_value_that_contradicts_its_form_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not YAML"):
        read(tmp_path, f"graders:\n{text}")


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        read_graders(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="not YAML"):
        read(tmp_path, b"\xff\xfe")


WITH_FILE = """\
- grader: tool-schema
  config:
    require_schema: true
    tools: "@lists/tools.json"
"""


def test_a_list_or_an_object_may_be_in_a_file_named_relative_to_the_graders_file(
    tmp_path: Path,
) -> None:
    tools = {"result": {"tools": [{"name": "search", "inputSchema": {"type": "object"}}]}}
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "tools.json").write_text(json.dumps(tools))
    [spec] = read(tmp_path, WITH_FILE)
    assert spec.config == {"require_schema": True, "tools": tools}


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "cannot be read: No such file or directory"),
        ('{"tools":', "is not JSON: "),
        (" " * (2 << 20), "has more than 1,048,576 bytes"),
        ('"@tools.json"', "tools: it must be a list of tools"),
    ],
)
def test_a_file_of_a_setting_that_cannot_be_used_is_told_with_its_name_and_line(
    content: str | None, told: str, tmp_path: Path
) -> None:
    (tmp_path / "lists").mkdir()
    if content is not None:
        (tmp_path / "lists" / "tools.json").write_text(content)
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, WITH_FILE)
    message = caught.value.message
    assert message.startswith(f"{tmp_path}/graders.yaml, line 4: grader 'tool-schema': tools")
    assert told in message
    assert (content == '"@tools.json"') == (f"'{tmp_path}/lists/tools.json'" not in message)


def test_a_text_that_begins_with_an_at_sign_is_no_file_where_a_text_may_be(tmp_path: Path) -> None:
    text = (
        "[{grader: tool-schema, config: {tools_prefix: '@a'}}, {grader: theirs, config: {x: '@y'}}]"
    )
    assert [spec.config for spec in read(tmp_path, text)] == [{"tools_prefix": "@a"}, {"x": "@y"}]

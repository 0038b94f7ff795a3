"""The command line of a call is found in whatever form it is given."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.graders.loop.history.commands import command_of


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("make test", "make test"),
        ({"cmd": "make test", "timeout": 7}, "make test"),
        ({"input": "make test"}, "make test"),
        ({"command": ["bash", "-lc", "make test | tail"]}, "make test | tail"),
        ({"command": ["/bin/sh", "-c", "make test"], "workdir": "/srv"}, "make test"),
        ({"command": ["grep", "-n", "a b", "x.py"]}, "grep -n 'a b' x.py"),
        ({"command": ["bash", "run.sh", "-c"]}, "bash run.sh -c"),
    ],
)
def test_a_command_is_a_line_or_a_list_of_its_words(arguments: Any, line: str) -> None:
    assert command_of("shell", arguments) == line
    is_known_program = line.startswith(("grep ", "bash "))
    assert command_of("look_up", arguments) == (line if is_known_program else None)


@pytest.mark.parametrize(
    "arguments",
    ["", {}, {"command": []}, {"command": ["make", 7]}, {"command": {"line": "make"}}, {"input": "select a"}],
)  # fmt: skip
def test_other_arguments_are_no_command(arguments: Any) -> None:
    assert command_of("shell", arguments) is None


def test_code_of_a_shell_is_a_command_by_its_language_or_its_tool() -> None:
    assert command_of("execute_code", {"code": "ls -l", "language": "sh"}) == "ls -l"
    assert command_of("Bash", {"code": "ls -l"}) == "ls -l"
    for language in ("python", "", None, 7):
        assert command_of("execute_code", {"code": "ls -l", "language": language}) is None
    assert command_of("execute_code", {"code": "ls -l"}) is None
    assert command_of("bash", {"code": ["ls"], "language": "sh"}) is None

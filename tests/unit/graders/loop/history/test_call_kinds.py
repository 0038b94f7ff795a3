"""What a call does is told from its tool and its arguments."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.history.arguments import Arguments
from weighbridge.graders.loop.history.call_kinds import is_read_only, prints
from weighbridge.graders.loop.history.results import CallResult


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("python3 src.py", True),
        ("npx tsc src.ts --noEmit", False),
        ("ruff check -q src", False),
        ("@'\nexport default 7\n'@ | Set-Content src\\app.ts", False),
        ("New-Item -ItemType Directory app | Out-Null", False),
        ("Remove-Item -Recurse old", False),
    ],
)
def test_checks_that_find_nothing_and_writes_of_powershell_print_nothing(command, expected):
    call = Call(None, "terminal", Arguments({"command": command}), CallResult(""), None)
    assert prints(call) is expected


@pytest.mark.parametrize(
    ("command", "reads"),
    [
        ("find . -name '*.py' -exec grep -l total {} \\;", True),
        ("find . -print0 | xargs -0 wc -l", True),
        ("find . -name '*.pyc' -exec rm {} +", False),
        ("ls | xargs -n 1 rm -f", False),
        ("find . -delete", False),
    ],
)
def test_what_a_command_runs_for_each_name_decides_whether_it_only_reads(command, reads):
    call = Call(None, "bash", Arguments({"command": command}), CallResult(""), None)
    assert is_read_only(call) is reads


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("select a from b where c", True),
        ("SHOW TABLES", True),
        ("describe pots;", True),
        ("select the best one and tell me", False),
        ("show me the way, and delete the rest", False),
        ("delete from b", False),
    ],
)
def test_a_query_is_one_whatever_its_argument_is_called(text, reads):
    call = Call(None, "db", Arguments({"statement": text}), CallResult(""), None)
    assert is_read_only(call) is reads

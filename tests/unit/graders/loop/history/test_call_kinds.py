"""What a call does is told from its tool and its arguments."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.history.arguments import Arguments
from weighbridge.graders.loop.history.call_kinds import prints
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

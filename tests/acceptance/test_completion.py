"""Completion in real shells: what Tab offers."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.cases import true_false_cases
from support.preloaded import program_folder
from weighbridge_producer.client.redis_client import RedisClient

if TYPE_CHECKING:
    from weighbridge.embedded.server import EmbeddedServer

INSTALLED = Path(sys.executable).parent  #: where the program itself is
BASH = """
eval "$(weighbridge completion bash)"
complete -p weighbridge
COMP_WORDS=({line}) COMP_CWORD={last}
_weighbridge_completion weighbridge
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
#: Not how a person would see it: zsh has no way to ask its completion from a script.
ZSH = """
autoload -Uz compinit && compinit -u
eval "$(weighbridge completion zsh)"
whence -w _weighbridge_completion
echo $_comps[weighbridge]
_TYPER_COMPLETE_ARGS={line} _WEIGHBRIDGE_COMPLETE=complete_zsh weighbridge
"""
FISH = """
weighbridge completion fish | source
complete -C {line}
"""


def in_shell(
    shell: str, script: str, tmp_path: Path, program: Path = INSTALLED, **settings: str
) -> list[str]:
    """Return the lines that a script prints in a shell that no user's file configures."""
    if not shutil.which(shell):
        pytest.skip(f"there is no {shell}")
    options = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    kept = {name: value for name, value in os.environ.items() if "WEIGHBRIDGE_" not in name}
    kept |= {"PATH": f"{program}:{kept['PATH']}", "HOME": str(tmp_path)}
    ended = subprocess.run(
        [shell, *options, "-c", script],
        cwd=tmp_path,
        env=kept | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert ended.stderr == ""
    return ended.stdout.splitlines()


def bash(line: str, tmp_path: Path, **settings: str) -> list[str]:
    """Return the completions that bash offers at the end of a line."""
    words = [*map(shlex.quote, line.split())] + (["''"] if line.endswith(" ") else [])
    script = BASH.format(line=" ".join(words), last=len(words) - 1)
    registered, *offered = in_shell("bash", script, tmp_path, program_folder(), **settings)
    assert registered == "complete -o default -F _weighbridge_completion weighbridge"
    return [each for each in offered if each]


@pytest.mark.slow
def test_bash_completes_commands_options_values_and_graders(tmp_path: Path) -> None:
    offered = {
        line: bash(f"weighbridge {line}", tmp_path)
        for line in (
            *(
                "wor",
                "keys ",
                "watch --min-p",
                "submit x --priority ",
                "run x -g l",
                "run x -g a = st",
                "submit x --priority = l",
            ),
            *("run ", "status "),
        )
    }
    assert offered == {
        "wor": ["worker", "workers"],
        "keys ": ["make", "list", "revoke"],
        "watch --min-p": ["--min-pass-rate"],
        "submit x --priority ": ["low", "normal", "high"],
        "run x -g l": ["loop"],
        # As bash splits them; it replaces what is after the `=`.
        "run x -g a = st": ["string-match"],
        "submit x --priority = l": ["low"],
        # No completions, so that bash completes file names.
        "run ": [],
        "status ": [],
    }


@pytest.mark.slow
def test_bash_completes_the_ids_of_batches_that_a_server_has(
    tmp_path: Path, own_server: EmbeddedServer
) -> None:
    with RedisClient(own_server.url) as client:
        made = {client.submit(true_false_cases(1)).id for _ in range(2)}
    offered = bash("weighbridge status wb_", tmp_path, WEIGHBRIDGE_REDIS_URL=own_server.url)
    assert set(offered) == made
    by_option = bash(f"weighbridge results --url {own_server.url} ", tmp_path)
    assert set(by_option) == made


def test_zsh_completes_commands(tmp_path: Path) -> None:
    function, registered, *offered = in_shell("zsh", ZSH.format(line="'weighbridge wor'"), tmp_path)
    assert function == "_weighbridge_completion: function"
    assert registered == "_weighbridge_completion"
    assert '"worker"' in "".join(offered)
    assert '"workers"' in "".join(offered)


def test_fish_completes_commands(tmp_path: Path) -> None:
    offered = in_shell("fish", FISH.format(line="'weighbridge wor'"), tmp_path, program_folder())
    assert [line.split("\t")[0] for line in offered] == ["worker", "workers"]

"""The contract's tests, run on the graders of the guide as the guide says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs/how-to/write-a-grader.md").read_text(encoding="utf-8")
GRADERS = {
    "acme-length": "LengthGrader",
    "acme-final-answer": "FinalAnswerGrader",
    "acme-first-tool": "FirstToolGrader",
    "acme-brevity": "BrevityGrader",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A folder with the guide's graders, as an installed package."""
    facts = tmp_path / "acme_graders-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-graders\nVersion: 1.0\n")
    points = [f"{grader} = acme_graders:{name}" for grader, name in GRADERS.items()]
    (facts / "entry_points.txt").write_text("\n".join(["[weighbridge.graders]", *points, ""]))
    program = "\n".join(re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL))
    (tmp_path / "acme_graders.py").write_text(program, encoding="utf-8")
    return tmp_path


def test_the_graders_of_the_guide_keep_the_contract(package: Path) -> None:
    [command] = re.findall(r"^PYTHONPATH=(\S+) python (-m pytest .*)$", GUIDE, re.MULTILINE)
    path, arguments = (part.replace("../weighbridge", str(ROOT)) for part in command)
    ended = subprocess.run(
        [sys.executable, *arguments.split(), "-q", "-rA", "-p", "no:cacheprovider"],
        check=False,
        cwd=package,
        env={**os.environ, "PYTHONPATH": f"{path}{os.pathsep}{package}"},
        capture_output=True,
        text=True,
        timeout=110,
    )
    assert ended.returncode == 0, ended.stdout
    for grader in GRADERS:
        assert f"test_one_instance_serves_many_threads[{grader}]" in ended.stdout

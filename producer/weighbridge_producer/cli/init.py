"""`weighbridge init`: starter files, to be adapted."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from weighbridge.errors import OutputError
from weighbridge_producer.cli import options as opt
from weighbridge_producer.cli.show import err, out, print_json, shown

_STARTER = Path(__file__).with_name("starter")
_EVALS = ("answers.csv", "mapping.yaml", "graders.yaml")
_FIRST_RUN = (
    "weighbridge run evals/answers.csv --mapping evals/mapping.yaml --graders evals/graders.yaml"
)


class _Ci(StrEnum):
    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


_WORKFLOWS = {
    _Ci.GITHUB: ".github/workflows/weighbridge.yml",
    _Ci.GITLAB: "weighbridge.gitlab-ci.yml",
}


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command()(init)


def init(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="The folder to write them to; created if missing."),
    ] = Path(),
    ci: Annotated[_Ci, typer.Option(help="The CI service to write a workflow for.")] = _Ci.GITHUB,
    as_json: opt.AsJson = False,
) -> None:
    """Write starter files: ten answers, a mapping, a graders file and a CI workflow; no file is overwritten."""
    wanted = {f"evals/{name}": name for name in _EVALS}
    if ci in _WORKFLOWS:
        wanted[_WORKFLOWS[ci]] = f"{ci}.yml"
    written = [path for path, name in wanted.items() if _write(folder / path, _STARTER / name)]
    kept = [path for path in wanted if path not in written]
    if as_json:
        print_json({"folder": str(folder), "written": written, "kept": kept, "next": _FIRST_RUN})
        return
    for path in written:
        out.print(f"written: {shown(str(folder / path))}")
    for path in kept:
        err.print(f"left as it is, because it exists: {shown(str(folder / path))}")
    _print_next_steps(folder, _WORKFLOWS.get(ci))


def _write(path: Path, starter: Path) -> bool:
    """Write a file unless the path exists; return whether it was written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Exclusive mode overwrites neither a file created meanwhile nor the target of a link.
        with path.open("xb") as file:
            file.write(starter.read_bytes())
    except FileExistsError:
        if not path.parent.is_dir():
            raise OutputError(f"{str(path.parent)!r} is not a folder") from None
        return False
    except OSError as error:
        raise OutputError(f"{str(path)!r} cannot be written: {error.strerror}") from None
    return True


def _print_next_steps(folder: Path, workflow: str | None) -> None:
    here = "" if folder == Path() else f" (in {shown(str(folder))})"
    out.print(f"\nGrade the ten answers{here}:\n  {_FIRST_RUN}")
    out.print(
        "Then replace evals/answers.csv with your own answers, and adapt the column names in evals/mapping.yaml."
    )
    if workflow:
        out.print(
            f"In CI, {workflow} installs Weighbridge from the wheel whose path or URL is in the variable WEIGHBRIDGE_PACKAGE."
        )

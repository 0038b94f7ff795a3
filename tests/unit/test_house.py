"""The repository itself: the contents of a clone, a build and an installation."""

import ast
import importlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from re import _parser

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.wheels import wheel
from weighbridge.graders import default_registry

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PACKAGE_ROOTS = ("core", "worker", "producer")
REPEATS = {_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT}
PIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[0-9][A-Za-z0-9.+!-]*")

MACHINE_TRACES = {
    "a root user's folder": r"/root/\.?\w",
    "a person's folder": r"/(?:home|Users)/(?!weighbridge\b)[a-z]\w*/",
    "a workplace's folder": r"/[w]ork/\w|\.[l]ibrary\b",
    "a package registry": r"""(?:index-url|find-links)[ =]+["']?(?:\w+:|/)|pythonhosted\.org|pypi\.org/simple""",
    "an issue's number": r"\bissue #?\d",
}


@cache
def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@cache
def pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    return {
        canonicalize_name(name): version for name, version in (line.split("==") for line in lines)
    }


def tracked_files() -> list[Path]:
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout, so nothing says which files belong to the repository")
    # git refuses a repository of another user unless it is declared safe.
    command = ["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z"]
    listed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


@cache
def tracked_lines() -> dict[Path, list[str]]:
    return {path: path.read_text(errors="replace").splitlines() for path in tracked_files()}


@pytest.mark.parametrize("trace", MACHINE_TRACES)
def test_no_tracked_file_names_a_machine_or_a_registry(trace: str) -> None:
    pattern = re.compile(MACHINE_TRACES[trace])
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path, lines in tracked_lines().items()
        if path != Path(__file__).resolve() and pattern.search("\n".join(lines))
        for number, line in enumerate(lines, 1)
        if pattern.search(line)
    ]
    assert found == []


def test_constraints_are_pins_and_nothing_else() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert [line for line in lines if not PIN.fullmatch(line)] == []
    names = [canonicalize_name(line.split("==")[0]) for line in lines]
    assert sorted(names) == sorted(set(names))


def test_constraints_pin_every_requirement_within_its_range() -> None:
    project = pyproject()["project"]
    requirements = [
        Requirement(line)
        for lines in (project["dependencies"], *project["optional-dependencies"].values())
        for line in lines
    ]
    wrong = [
        f"{requirement} against {pins().get(canonicalize_name(requirement.name))}"
        for requirement in requirements
        if pins().get(canonicalize_name(requirement.name), "") not in requirement.specifier
    ]
    assert wrong == []


def modules_of(distribution: str) -> set[str]:
    """Return the names of the modules and packages that an installed distribution has, or else its own name."""
    try:
        record = metadata.distribution(distribution).read_text("RECORD") or ""
    except metadata.PackageNotFoundError:
        return {distribution}
    found = re.findall(r"^([^./,]+)[^,]*\.(?:py|so),", record, re.MULTILINE)
    return set(found)


def test_every_imported_distribution_is_a_declared_dependency() -> None:
    project = pyproject()["project"]
    for_users = {
        name: lines
        for name, lines in project["optional-dependencies"].items()
        if name not in {"dev", "docs"}
    }
    declared = {
        canonicalize_name(Requirement(line).name)
        for lines in (project["dependencies"], *for_users.values())
        for line in lines
    }
    importable = set().union(*map(modules_of, declared))
    undeclared = {
        f"{path.relative_to(ROOT)} imports {module}"
        for root in PACKAGE_ROOTS
        for path in (ROOT / root).rglob("*.py")
        for module in imported_modules(path)
        if not module.startswith("weighbridge")
        and module not in sys.stdlib_module_names
        and module not in importable
    }
    assert undeclared == set()


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in statements(ast.parse(path.read_text()).body):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names}


def statements(block: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks in it."""
    for statement in block:
        yield statement
        for inner in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(statement, inner, []))


def test_no_possessive_repeat_has_a_repeat_of_groups_in_it() -> None:
    """Python before 3.11.5 matches such patterns wrongly: https://github.com/python/cpython/issues/106052."""
    assert has_repeat_in_possessive(re.compile(r"(?:a|(?:bc)*d)*+"))
    assert not has_repeat_in_possessive(re.compile(r"(?:(?:a++|b[cd]*)*+e)*"))
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts[1:])
        for root in PACKAGE_ROOTS
        for path in (ROOT / root).rglob("*.py")
        if re.search(r"\)(?:[*+?]|\{[\d,]+\})\+", path.read_text())
    ]
    assert "weighbridge_producer.input.rows.json_scanner" in modules
    wrong = [
        f"{module}.{name}"
        for module in modules
        for name, value in vars(importlib.import_module(module)).items()
        if isinstance(value, re.Pattern) and has_repeat_in_possessive(value)
    ]
    assert wrong == []


def has_repeat_in_possessive(pattern: re.Pattern) -> bool:
    parsed = _parser.parse(pattern.pattern, pattern.flags & re.VERBOSE)
    return any(
        operator is _parser.POSSESSIVE_REPEAT and not all(map(is_one_character, repeats(body)))
        for operator, body in repeats(parsed)
    )


def repeats(parsed: _parser.SubPattern) -> Iterator[tuple[object, _parser.SubPattern]]:
    """Yield the operator and the body of each repeat at any depth of a pattern."""
    for operator, argument in parsed:
        for body in parts(argument):
            if operator in REPEATS:
                yield operator, body
            yield from repeats(body)


def parts(argument: object) -> Iterator[_parser.SubPattern]:
    if isinstance(argument, _parser.SubPattern):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for one in argument:
            yield from parts(one)


def is_one_character(repeat: tuple[object, _parser.SubPattern]) -> bool:
    _, body = repeat
    return len(body) == 1 and not any(parts(body[0][1]))


def test_the_changelog_has_a_place_for_what_comes_next() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings
    assert headings[0] == "[Unreleased]"


def test_make_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    shown = subprocess.run(
        ["make", "help"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    described = dict(
        line.split(maxsplit=2)[1:] for line in shown.splitlines() if line.startswith("  make ")
    )
    assert targets >= {
        "demo",
        "test",
        "check",
        "venv",
        "bench",
        "docs",
        "docs-serve",
        "reference",
        "clean",
        "help",
    }
    assert set(described) == targets
    assert all(described.values())


def test_make_says_so_when_there_is_no_python_to_use(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    too_old = tmp_path / "python3"
    too_old.write_text("#!/bin/sh\nexit 1\n")
    too_old.chmod(0o755)
    ended = subprocess.run(
        ["make", "venv", f"PYTHON={too_old}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert "needs Python 3.11 or newer" in ended.stderr
    assert not (tmp_path / ".venv").exists()


def test_make_says_so_when_python_cannot_make_environments(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    without_venv = tmp_path / "python3"
    without_venv.write_text('#!/bin/sh\ncase "$2" in *ensurepip*) exit 1;; esac\n')
    without_venv.chmod(0o755)
    ended = subprocess.run(
        ["make", "venv", f"PYTHON={without_venv}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert "its venv module is missing" in ended.stderr


def test_the_wheel_holds_the_three_packages_and_what_they_need_at_run_time() -> None:
    expected = {
        path.relative_to(ROOT / root).as_posix()
        for root in PACKAGE_ROOTS
        for suffix in ("*.py", "*.lua", "py.typed", "static/*", "templates/**/*.html", "starter/*")
        for path in (ROOT / root).rglob(suffix)
    }
    with zipfile.ZipFile(wheel()) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        scripts = next(
            archive.read(name) for name in archive.namelist() if name.endswith("entry_points.txt")
        )
        licences = [name for name in archive.namelist() if name.endswith("/licenses/LICENSE")]
    assert held == expected
    assert {name.partition("/")[0] for name in held} == {
        "weighbridge",
        "weighbridge_worker",
        "weighbridge_producer",
    }
    assert {
        f"{package}/py.typed"
        for package in ("weighbridge", "weighbridge_worker", "weighbridge_producer")
    } <= held
    assert any(re.fullmatch(r"weighbridge/store/scripts/\w+\.lua", name) for name in held)
    assert b"weighbridge = weighbridge_producer.cli:main" in scripts
    assert licences


@pytest.mark.parametrize("name", ["support_answers.jsonl", "geography_answers.jsonl"])
def test_the_examples_do_what_their_readme_says(name: str) -> None:
    registry = default_registry()
    verdicts = Counter(
        registry.create(case["grader"], case.get("config")).grade(**case["inputs"])["verdict"]
        for case in map(json.loads, (ROOT / "examples" / name).read_text().splitlines())
    )
    [row] = [
        line
        for line in (ROOT / "examples" / "README.md").read_text().splitlines()
        if f"| `{name}`" in line
    ]
    assert f"| {verdicts.total()} |" in row
    for verdict, told in {
        "pass": "pass",
        "fail": "fail",
        "ungradable": "(?:is|are) ungradable",
    }.items():
        assert re.search(rf"\b{verdicts[verdict]} {told}", row), (verdict, verdicts)

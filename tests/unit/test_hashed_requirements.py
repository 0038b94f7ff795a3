"""The pinned requirements: for any supported Python, and for the images every runtime dependency in the tested version, with the hashes of its files."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
IMAGE = {"python_version": "3.13", "python_full_version": "3.13.14", "sys_platform": "linux"}
PLATFORMS = ("x86_64", "aarch64")


def hashed(platform: str = PLATFORMS[0]) -> dict[str, tuple[str, list[str]]]:
    """Return version and hashes of each requirement that an image has."""
    text = (ROOT / "requirements-hashed.txt").read_text().replace("\\\n", " ")
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = {}
    for row in rows:
        line, *hashes = row.split(" --hash=")
        requirement = Requirement(line)
        if requirement.marker and not requirement.marker.evaluate(image(platform)):
            continue
        version = str(requirement.specifier).removeprefix("==")
        found[canonicalize_name(requirement.name)] = (version, [it.strip() for it in hashes])
    return found


def image(platform: str) -> dict[str, str]:
    """Return what markers see on an image."""
    here = {name: str(value) for name, value in default_environment().items()}
    return {**here, **IMAGE, "platform_machine": platform}


def wanted(platform: str) -> set[str]:
    """Return the names of the packages that the project and its build need in an image, if installed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    lines = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    environment = image(platform)
    found: set[tuple[str, str]] = set()
    asked = [(Requirement(line), "") for line in lines]
    while asked:
        requirement, extra = asked.pop()
        if requirement.marker and not requirement.marker.evaluate({**environment, "extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for asked_extra in {"", *requirement.extras}:
            if (name, asked_extra) not in found:
                found.add((name, asked_extra))
                asked += [(inner, asked_extra) for inner in needs_of(name)]
    return {name for name, _ in found}


def needs_of(name: str) -> Iterator[Requirement]:
    try:
        requires = distribution(name).requires or []
    except PackageNotFoundError:  # of another platform, or only needed to build
        return
    yield from map(Requirement, requires)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_all_that_an_image_needs_is_there_with_hashes(platform: str) -> None:
    there = hashed(platform)
    assert sorted(wanted(platform) - there.keys()) == []
    hash_of_a_file = re.compile(r"sha256:[0-9a-f]{64}")
    assert all(
        hashes and all(map(hash_of_a_file.fullmatch, hashes)) for _, hashes in there.values()
    )


def test_every_version_is_the_one_that_was_tested() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = {canonicalize_name(name): version for name, version in (it.split("==") for it in lines)}
    assert {
        name: version for name, (version, _) in hashed().items() if pins.get(name) != version
    } == {}


def test_compiled_packages_have_hashes_for_several_platforms() -> None:
    there = hashed()
    compiled = ("orjson", "pydantic-core", "google-re2", "jsonschema-rs", "zstandard", "uvloop")
    assert [name for name in compiled if len(there[name][1]) < 10] == []


def test_every_installed_requirement_supports_the_oldest_python() -> None:
    """A pin that needs a later 3.11 leaves those with an earlier one without an installation."""
    needed = {
        each.metadata["Name"]: each.metadata.get("Requires-Python") for each in distributions()
    }
    assert len(needed) > 50
    assert not {
        name: requires
        for name, requires in needed.items()
        if requires and not SpecifierSet(requires).contains("3.11.0")
    }

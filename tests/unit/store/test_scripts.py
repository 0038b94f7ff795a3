"""The sources of the Lua scripts."""

from __future__ import annotations

import re
from collections import Counter
from importlib.resources import files

from weighbridge.store.base import source_of
from weighbridge.store.key_names import LANE_SECONDS

SCRIPTS = {
    path.name.removesuffix(".lua"): path.read_text()
    for path in (files("weighbridge.store") / "scripts").iterdir()
    if path.name.endswith(".lua")
}


def test_only_the_prelude_knows_how_keys_are_named() -> None:
    parts = ("wb:{", "'lane:'", "'ready:'", "'/'")
    scripts = [name for name, text in SCRIPTS.items() if any(part in text for part in parts)]
    assert scripts == ["prelude"]


def test_the_scripts_have_the_constants_of_the_python_code() -> None:
    assert f"\nlocal LANE_SECONDS = {LANE_SECONDS}\n" in source_of("set_aside")
    assert "LANE_SECONDS)" in SCRIPTS["set_aside"]


def test_each_argument_of_a_script_is_named_where_the_script_begins() -> None:
    uses = {
        name: Counter(re.findall(r"\bARGV\[\d+\]", re.sub("--.*", "", text)))
        for name, text in SCRIPTS.items()
    }
    assert {name: found for name, found in uses.items() if found and max(found.values()) > 1} == {}

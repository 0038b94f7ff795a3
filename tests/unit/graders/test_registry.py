"""The registry: the graders, their order, and plug-ins that fail to load."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from importlib.metadata import EntryPoint

import pytest

from weighbridge.errors import ConfigError, UnknownGraderError
from weighbridge.graders import (
    GraderConfig,
    OutputGrader,
    Registry,
    TrueFalseGrader,
    Verdict,
    default_registry,
    graded,
)
from weighbridge.graders.registry import BUILT_IN, ENTRY_POINT_GROUP


class LengthGrader(OutputGrader):
    """Passes when the answer is as long as the expected one."""

    id = "length"
    name = "Length"
    description = "Compares lengths"
    version = 1

    class Config(GraderConfig):
        """How far apart the lengths may be."""

        tolerance: int = 0

    settings: Config

    @classmethod
    def example(cls):
        return {"config": {}, "inputs": {"agent_response": "abc", "expected_output": "xyz"}}

    def grade(self, agent_response, expected_output):
        gap = abs(len(str(agent_response)) - len(str(expected_output)))
        verdict = Verdict.PASS if gap <= self.settings.tolerance else Verdict.FAIL
        return graded(verdict, {"gap": gap}, [])


class Unfinished(OutputGrader):
    """Has facts but does not grade."""

    id, name, description, version = "unfinished", "Unfinished", "Cannot grade", 1


class Factless(LengthGrader):
    """Has lost its facts."""

    id, version, name = "two words", True, ""


class Impostor(LengthGrader):
    """Claims a built-in's id."""

    id = "true-false"


class Unschematic(LengthGrader):
    """Cannot describe itself."""

    id = "unschematic"

    @classmethod
    def config_schema(cls):
        raise NotImplementedError("no schema yet")


class Asker(LengthGrader):
    """Takes another input than it says."""

    id = "asker"

    def grade(self, agent_response, question):
        return super().grade(agent_response, question)


class Unbuildable(LengthGrader):
    """Fails to prepare."""

    id = "unbuildable"

    def prepare(self):
        re.compile("(x")


not_a_class = LengthGrader()


def stops_the_process():
    raise SystemExit(3)


def __getattr__(name):
    if name == "exits_on_load":
        stops_the_process()
    raise AttributeError(name)


def plug_in(name, attribute, module=__name__):
    return EntryPoint(name, f"{module}:{attribute}", ENTRY_POINT_GROUP)


GOOD = plug_in("length", "LengthGrader")


def test_the_catalogue_begins_with_the_contracts_entries_in_their_order():
    catalogue = Registry().catalogue()
    assert [{key: entry[key] for key in ("id", "name", "description")} for entry in catalogue][
        :2
    ] == [
        {
            "id": "string-match",
            "name": "String Match",
            "description": "Exact string matching with optional normalization",
        },
        {
            "id": "true-false",
            "name": "True/False",
            "description": "Boolean value matching with support for multiple formats",
        },
    ]


def test_the_catalogue_is_json_and_makes_no_instance():
    class Uncreatable(LengthGrader):
        def __init__(self, *_, **__):
            raise AssertionError("made an instance")

    catalogue = Registry(graders=[Uncreatable]).catalogue()
    assert json.loads(json.dumps(catalogue)) == catalogue
    assert catalogue[-1]["config_schema"]["properties"]["tolerance"]["type"] == "integer"
    assert catalogue[-1]["version"] == 1


@pytest.mark.parametrize("grader_id", BUILT_IN)
def test_each_built_in_grader_has_the_id_by_which_it_is_found(grader_id):
    assert Registry().get(grader_id).id == grader_id


def test_a_changed_catalogue_changes_no_other():
    registry = Registry([GOOD])
    registry.catalogue()[0].clear()
    assert registry.catalogue()[0]["id"] == "string-match"


def test_an_unknown_id_is_refused_with_the_nearest_and_the_known():
    with pytest.raises(
        UnknownGraderError, match="no grader 'true-flase'; did you mean 'true-false'"
    ) as refusal:
        Registry().get("true-flase")
    assert "string-match, true-false" in str(refusal.value)


def test_create_makes_a_configured_grader():
    grader = Registry().create("true-false", {"case_sensitive": True})
    assert isinstance(grader, TrueFalseGrader)
    assert grader.case_sensitive is True
    with pytest.raises(ConfigError):
        Registry().create("true-false", {"case": True})


def test_whatever_a_plug_in_raises_while_it_is_built_is_an_error_in_its_configuration():
    registry = Registry([plug_in("unbuildable", "Unbuildable")])
    with pytest.raises(ConfigError, match=r"grader 'unbuildable' cannot be built: error: missing"):
        registry.create("unbuildable", {})


def test_plug_ins_come_after_the_built_in_graders_by_name():
    class Other(LengthGrader):
        id = "other"

    globals()["Other"] = Other
    registry = Registry([plug_in("z-first-by-id", "Other"), plug_in("b-length", "LengthGrader")])
    assert registry.ids() == [*Registry().ids(), "length", "other"]
    assert registry.failures == {}
    assert registry.create("length", {"tolerance": 2}).grade("a", "abc")["passed"]


@pytest.mark.parametrize(
    ("attribute", "module", "reason"),
    [
        ("X", "no_such_module_anywhere", "ModuleNotFoundError: No module named"),
        ("no_such_attribute", __name__, "AttributeError"),
        ("exits_on_load", __name__, "SystemExit: 3"),
        ("not_a_class", __name__, "not a subclass of weighbridge.graders.Grader"),
        ("plug_in", __name__, "not a subclass"),
        ("Unfinished", __name__, "lacks the methods example, grade"),
        ("Factless", __name__, "lacks valid class attributes: id, name, version"),
        ("Impostor", __name__, "the id 'true-false' is taken"),
        ("Unschematic", __name__, "NotImplementedError: no schema yet"),
        (
            *("Asker", __name__),
            "grade takes agent_response, question, but inputs_schema has agent_response, expected_output: override",
        ),
    ],
)
def test_a_plug_in_that_fails_is_reported_by_name_and_stops_nothing_else(
    attribute, module, reason, caplog
):
    with caplog.at_level(logging.WARNING, logger="weighbridge.graders"):
        registry = Registry([plug_in("broken", attribute, module), GOOD])
    assert registry.ids() == [*Registry().ids(), "length"]
    assert registry.get("true-false") is TrueFalseGrader
    assert list(registry.failures) == ["broken"]
    assert reason in registry.failures["broken"]
    (record,) = caplog.records
    assert "broken" in record.getMessage()
    assert reason in record.getMessage()


def test_of_two_plug_ins_with_one_id_the_first_by_name_stands():
    registry = Registry([plug_in("second", "LengthGrader"), plug_in("first", "LengthGrader")])
    assert registry.failures == {"second": "the id 'length' is taken"}


def test_the_default_registry_is_made_once_and_holds_the_built_in_graders():
    assert default_registry() is default_registry()
    assert default_registry().ids()[:2] == ["string-match", "true-false"]


def printed_by(script: str) -> str:
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_nothing_is_imported_for_grading_after_preload():
    script = """
import sys
from weighbridge.graders import default_registry
from weighbridge.grading.line_grader import grade_lines
import json
registry = default_registry()
registry.preload()
before = set(sys.modules)
for grader in registry.catalogue():
    grader_id, example = grader["id"], grader["example"]
    case = {"custom_id": "c", "inputs": example["inputs"]}
    spec = {"grader": grader_id, "config": example["config"]}
    (result,) = grade_lines([json.dumps(case).encode()], [spec])
    assert b'"verdict":' in result, result
print(sorted(name for name in set(sys.modules) - before if name.startswith("weighbridge.graders")))
"""
    assert printed_by(script) == "[]\n"


@pytest.mark.slow
def test_graders_are_described_without_what_only_grading_needs():
    script = """
import sys
from weighbridge.graders import default_registry
default_registry().create("loop", {"max_repeats": 4})
default_registry().catalogue()
print("weighbridge.graders.loop.judgement" in sys.modules)
"""
    assert printed_by(script) == "False\n"

"""The promises that every registered grader keeps; a new grader is covered by being registered."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError
from typing import NamedTuple

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.generated import examples
from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders import GraderInterface, GraderRequirements, Verdict, default_registry
from weighbridge.grading.receipt import canonical_json

EVERY_GRADER = [default_registry().get(grader_id) for grader_id in default_registry().ids()]
every_grader = pytest.mark.parametrize(
    "grader_class", EVERY_GRADER, ids=lambda grader_class: grader_class.id
)


class Hostile:
    """An object whose every hook raises, even the one that says what class it is."""

    def _refuse(self, *_):
        raise RuntimeError("hostile")

    __repr__ = __str__ = __bool__ = __len__ = __iter__ = __eq__ = __hash__ = __index__ = __int__ = (
        _refuse
    )
    __getattr__ = __format__ = __contains__ = __getitem__ = __float__ = __bytes__ = (
        __reduce_ex__
    ) = _refuse
    __class__ = property(_refuse)


class HostileText(str):
    """A string that lies about itself."""

    __slots__ = ()

    def _refuse(self, *_):
        raise RuntimeError("hostile")

    __str__ = __repr__ = __eq__ = __hash__ = __len__ = __iter__ = __getitem__ = __format__ = _refuse
    strip = casefold = isascii = encode = isspace = translate = split = _refuse


class HostileNumber(int):
    """An integer that cannot be written."""

    def _refuse(self, *_):
        raise RuntimeError("hostile")

    __str__ = __repr__ = __index__ = __int__ = __add__ = __eq__ = __hash__ = __format__ = (
        bit_length
    ) = _refuse


class HostileMeta(type):
    """A class of classes that will not say their names."""

    @property
    def __name__(cls):
        raise RuntimeError("hostile")


class Nameless(metaclass=HostileMeta):
    """A class without a readable name."""


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def self_containing():
    value = {}
    value["self"] = [value, value]
    return value


WEIRD = {
    "none": None,
    "true": True,
    "integer over the str limit": 10**5_000,
    "integer too long to read": 1 << 200_000,
    "nan": float("nan"),
    "infinity": float("-inf"),
    "bytes": b"true",
    "set": {"a", "b"},
    "tuple": (1, (2,)),
    "complex": 1j,
    "class": int,
    "lone surrogate": "\ud800true\udfff",
    "null character": "\x00",
    "nested list": nested(10_000),
    "nested objects": {"a": {"b": nested(300)}},
    "self-containing": self_containing(),
    "key that is not text": {1: 2, None: 3, ("a",): 4},
    "key of a list that is not text": {0: [None], "a": {1: [None]}},
    "key with lone surrogate": {"\ud800": 1},
    "hostile object": Hostile(),
    "list of hostile objects": [Hostile(), {"a": Hostile()}],
    "hostile text": HostileText("true"),
    "hostile number": HostileNumber(1),
    "object of a nameless class": Nameless(),
    "long text": "a the " * 50_000,
}


class Weird(NamedTuple):
    """Stands for a weird value in a drawn plan."""

    name: str


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
any_plans = st.recursive(
    json_values
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
    | st.builds(Weird, st.sampled_from(list(WEIRD))),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def realise(plan):
    """Put the weird values into a drawn plan, which hypothesis itself must be able to print."""
    if type(plan) is Weird:
        return WEIRD[plan.name]
    if type(plan) is list:
        return [realise(item) for item in plan]
    if type(plan) is dict:
        return {key: realise(item) for key, item in plan.items()}
    return plan


def example_of(grader_class):
    example = grader_class.example()
    return grader_class(config=example["config"]), example["inputs"]


def config_of(grader_class):
    """Return the example's configuration; None stands for an empty one."""
    return grader_class.example()["config"] or {}


def assert_is_result(result):
    assert set(result) == {"passed", "score", "verdict", "details", "evidence"}
    assert result["verdict"] in list(Verdict)
    assert type(result["verdict"]) is str
    assert result["passed"] is (result["verdict"] == "pass")
    assert type(result["score"]) is float
    assert 0.0 <= result["score"] <= 1.0
    assert result["verdict"] != "ungradable" or result["score"] == 0.0
    assert 1 <= len(result["evidence"]) <= 50
    for entry in result["evidence"]:
        assert {"check", "description", "passed", "step_ids"} <= set(entry)
        assert set(entry) <= {
            "check",
            "description",
            "passed",
            "cause",
            "limit",
            "observed",
            "step_ids",
            "excerpt",
            "difference",
        }
        assert entry["check"]
        assert entry["description"]
        assert type(entry["passed"]) is bool
        assert not entry["passed"] or "cause" not in entry
        assert entry.get("cause", "x").isprintable()
        assert set(entry.get("difference", ())) <= {
            "index",
            "before",
            "expected",
            "observed",
            "after",
        }
        assert len(entry["step_ids"]) <= 50
        assert 0 < len(entry.get("excerpt", "x")) <= 200
    assert orjson.loads(orjson.dumps(result)) == json.loads(json.dumps(result)) == result


def assert_is_plain_if_so_declared(grader_class, result):
    if grader_class.has_plain_results:
        whole = {**result, "score": int(result["score"])}
        assert result["score"] in {0.0, 1.0}
        assert orjson.dumps(whole, option=orjson.OPT_SORT_KEYS) == canonical_json(whole)


def grade_weird(grader_class, value, place):
    grader, inputs = example_of(grader_class)
    return grader.grade(**{**inputs, place: value})


@pytest.mark.parametrize("name", WEIRD)
def test_a_grader_gives_a_whole_result_whatever_stands_in_any_input(name):
    for grader_class, place in [
        (each, place) for each in EVERY_GRADER for place in each.inputs_schema()["properties"]
    ]:
        result = grade_weird(grader_class, WEIRD[name], place)
        assert_is_result(result)
        assert_is_plain_if_so_declared(grader_class, result)


INPUTS = sorted({name for grader in EVERY_GRADER for name in grader.example()["inputs"]})


@given(plans=st.fixed_dictionaries(dict.fromkeys(INPUTS, any_plans)))
@settings(max_examples=examples(150), deadline=None)
def test_a_grader_always_gives_a_whole_result_of_the_same_bytes_from_any_instance(plans):
    for grader_class in EVERY_GRADER:
        grader, inputs = example_of(grader_class)
        other, _ = example_of(grader_class)
        weird = {name: realise(plans[name]) for name in inputs}
        result = grader.grade(**weird)
        assert_is_result(result)
        assert_is_plain_if_so_declared(grader_class, result)
        first = orjson.dumps(result)
        assert orjson.dumps(grader.grade(**weird)) == first
        assert orjson.dumps(other.grade(**weird)) == first


DIGEST_OF_EVERY_RESULT = """
import hashlib, orjson
from weighbridge.graders import default_registry
values = [None, True, 3, 10**5000, 2.5, {"b": [1, {"x", "y", "z"}], "a": "\\ud800"}, "yes", "no", b"x", [[]]]
digest = hashlib.sha256()
registry = default_registry()
for grader_id in registry.ids():
    grader_class = registry.get(grader_id)
    example = grader_class.example()
    grader = grader_class(config=example["config"])
    digest.update(orjson.dumps(grader.grade(**example["inputs"])))
    digest.update(orjson.dumps(grader.effective_config()))
    for place in example["inputs"]:
        for value in values:
            digest.update(orjson.dumps(grader.grade(**{**example["inputs"], place: value})))
print(digest.hexdigest())
"""


@pytest.mark.slow
def test_results_are_the_same_bytes_in_every_process_hash_seed_and_environment():
    environments = [
        {"PYTHONHASHSEED": "0", "PYTHONINTMAXSTRDIGITS": "640"},
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONINTMAXSTRDIGITS": "0"},
        {"PYTHONHASHSEED": "random", "TZ": "Asia/Tokyo"},
    ]
    digests = {run_python(DIGEST_OF_EVERY_RESULT, environment) for environment in environments}
    assert len(digests) == 1
    assert len(digests.pop()) == hashlib.sha256().digest_size * 2


def run_python(program, environment=None):
    path = os.pathsep.join(entry for entry in sys.path if entry)
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path, **(environment or {})},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return done.stdout.strip()


@every_grader
def test_one_instance_serves_many_threads(grader_class):
    grader, inputs = example_of(grader_class)
    expected = orjson.dumps(grader.grade(**inputs))
    with ThreadPoolExecutor(8) as threads:
        results = threads.map(lambda _: orjson.dumps(grader.grade(**inputs)), range(400))
    assert set(results) == {expected}


@every_grader
def test_a_result_is_the_callers_own_to_change(grader_class):
    grader, inputs = example_of(grader_class)
    before = orjson.dumps(grader.grade(**inputs))
    result = grader.grade(**inputs)
    result["details"].clear()
    result["evidence"][0].clear()
    assert orjson.dumps(grader.grade(**inputs)) == before


@every_grader
def test_an_instance_cannot_be_changed(grader_class):
    grader, _ = example_of(grader_class)
    for name in ("grader_id", "config", "settings", "id", "something_new"):
        with pytest.raises(AttributeError):
            setattr(grader, name, "other")
    with pytest.raises(AttributeError):
        del grader.grader_id
    with pytest.raises(ValueError, match="frozen"):
        setattr(grader.settings, next(iter(type(grader.settings).model_fields), "new"), None)


@every_grader
def test_a_changed_config_dict_does_not_reach_the_grader(grader_class):
    given_config = config_of(grader_class)
    grader = grader_class(config=given_config)
    before = grader.config
    given_config.clear()
    grader.config.clear()
    assert grader.config == before == config_of(grader_class)


@every_grader
def test_a_grader_has_all_its_class_facts(grader_class):
    assert issubclass(grader_class, GraderInterface)
    assert all(
        isinstance(fact, str) and fact
        for fact in (grader_class.id, grader_class.name, grader_class.description)
    )
    assert type(grader_class.version) is int
    assert grader_class.version >= 1
    assert isinstance(
        grader_class.requirements(grader_class.example()["config"]), GraderRequirements
    )
    for schema in (grader_class.config_schema(), grader_class.inputs_schema()):
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        json.dumps(schema)


@every_grader
def test_the_example_passes_and_is_what_the_inputs_schema_asks_for(grader_class):
    grader, inputs = example_of(grader_class)
    assert grader.grade(**inputs)["verdict"] == "pass"
    schema = grader_class.inputs_schema()
    assert set(schema.get("required", ())) <= set(inputs) <= set(schema["properties"])


@every_grader
def test_the_effective_config_is_json_with_every_parameter_and_means_the_same(grader_class):
    grader, inputs = example_of(grader_class)
    effective = grader.effective_config()
    assert set(effective) == set(grader_class.Config.model_fields)
    assert json.loads(json.dumps(effective)) == effective
    again = grader_class(config=effective)
    assert again.effective_config() == effective
    assert again.grade(**inputs) == grader.grade(**inputs)


@every_grader
def test_a_grader_knows_its_id_and_can_be_given_another(grader_class):
    config = grader_class.example()["config"]
    assert grader_class(config=config).grader_id == grader_class.id
    assert grader_class("mine", config).grader_id == "mine"


@every_grader
@pytest.mark.parametrize(
    ("grader_id", "error"), [(5, TypeError), (b"x", TypeError), ("", ValueError), (" ", ValueError)]
)
def test_a_grader_id_is_a_string_that_says_something(grader_class, grader_id, error):
    with pytest.raises(error, match="grader_id"):
        grader_class(grader_id, grader_class.example()["config"])


@every_grader
@pytest.mark.parametrize("config", ["{}", [], 5, True, Hostile], ids=repr)
def test_a_config_is_a_dict_or_none(grader_class, config):
    with pytest.raises(ConfigTypeError, match="config must be an object or null"):
        grader_class(config=config)
    assert grader_class.validate_config(config) is False


@every_grader
def test_an_unknown_key_is_refused_with_the_known_keys_and_the_nearest(grader_class):
    known = list(grader_class.Config.model_fields)
    misspelt = known[0][:-1] if known else "no such key"
    with pytest.raises(ConfigError) as refusal:
        grader_class(config={**config_of(grader_class), misspelt: 1})
    message = str(refusal.value)
    meant = f"; did you mean '{known[0]}'?" if known else ""
    assert f"unknown key '{misspelt}'{meant}" in message
    assert ", ".join(known) in message
    assert grader_class.id in message


@every_grader
def test_validate_config_judges_on_the_class_and_on_an_instance(grader_class):
    grader, _ = example_of(grader_class)
    assert grader.validate_config() is True
    assert grader.validate_config(None) is True
    for validate in (grader.validate_config, grader_class.validate_config):
        assert validate(grader_class.example()["config"]) is True
        assert validate({"no such key": 1}) is False


@every_grader
def test_validate_config_logs_one_warning_that_says_what_is_wrong(grader_class, caplog):
    with caplog.at_level(logging.DEBUG, logger="weighbridge.graders"):
        grader_class.validate_config({"no such key": 1})
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "no such key" in record.getMessage()
    assert grader_class.id in record.getMessage()


@every_grader
def test_grade_logs_nothing(grader_class, caplog):
    with caplog.at_level(logging.DEBUG):
        for place in grader_class.inputs_schema()["properties"]:
            grade_weird(grader_class, None, place)
    assert not caplog.records


@given(
    plan=any_plans
    | st.dictionaries(st.sampled_from(["aliases", "case_sensitive", "x"]) | st.text(), any_plans)
)
@settings(max_examples=examples(150), deadline=None)
def test_validate_config_never_raises_and_agrees_with_construction(plan):
    for grader_class in EVERY_GRADER:
        config = realise(plan)
        is_valid = grader_class.validate_config(config)
        try:
            grader_class(config=config)
        except Exception:  # noqa: BLE001 - hostile values raise what they like at construction
            assert is_valid is False, grader_class
        else:
            assert is_valid is True, grader_class


def test_requirements_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        GraderRequirements().step_types = ("llm",)


@pytest.mark.slow
def test_a_grader_imports_without_the_queue():
    program = (
        "import sys; from weighbridge.graders import TrueFalseGrader; TrueFalseGrader().grade('yes', 'true');"
        "print(sorted({'redis', 'celery', 'kombu'} & set(sys.modules)))"
    )
    assert run_python(program) == "[]"

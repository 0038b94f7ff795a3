"""JSON Schemas that come from strangers: judged rightly, at once, and without harm; or refused with the reason."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry

from support.deep_values import judge_deep_values
from support.generated import examples
from support.preloaded import forked_call
from weighbridge.graders.tool_schema import ToolSchemaGrader
from weighbridge.graders.tool_schema.json_data import json_data
from weighbridge.graders.tool_schema.patterns import compiled_states_of
from weighbridge.graders.tool_schema.problems import pointer
from weighbridge.graders.tool_schema.schema import Undecided, UnusableSchema, compile_schema
from weighbridge.graders.tool_schema.validation_cost import Allowance

DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT6 = "http://json-schema.org/draft-06/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"
DRAFT2019 = "https://json-schema.org/draft/2019-09/schema"
DRAFT2020 = "https://json-schema.org/draft/2020-12/schema"
SECONDS = 5  # for what takes milliseconds, on a machine that is busy


def judge(schema, value):
    compiled = compile_schema(schema)
    assert not isinstance(compiled, UnusableSchema), compiled.problem
    return compiled.judge(json_data(value), Allowance(1))


def refusal(schema):
    compiled = compile_schema(schema)
    assert isinstance(compiled, UnusableSchema)
    return compiled.problem


def places(schema, value):
    compiled = compile_schema(schema)
    found = compiled.problems(json_data(value), Allowance(1))
    return [(problem.path, problem.keyword) for problem in found.first]


def nested(depth, leaf=1, key="a"):
    for _ in range(depth):
        leaf = {key: leaf}
    return leaf


# Semantics of schemas


@pytest.mark.parametrize(
    ("schema", "value", "is_valid"),
    [
        (True, {}, True),
        (False, {}, False),
        ({}, {"a": 1}, True),
        ({"properties": {"a": False}}, {"a": 1}, False),
        ({"type": "integer"}, 5.0, True),
        ({"type": "integer"}, 5.5, False),
        ({"type": "integer"}, 2**70, True),
        ({"maximum": 10**30}, 10**31, False),
        ({"type": "number"}, float("nan"), False),
        ({"type": "string"}, "\ud800", True),
        ({"const": 1}, True, False),
        ({"enum": [0]}, False, False),
        ({"multipleOf": 0.01}, 0.07, True),
        ({"pattern": "^\\d+$"}, "٣", False),
        ({"pattern": "^a$"}, "a\n", False),
        ({"pattern": "\\p{L}"}, "é", True),
        ({"format": "email"}, "no email", True),
        ({"$schema": DRAFT7, "format": "date-time"}, "yesterday", True),
        ({"$schema": DRAFT7, "contentEncoding": "base64"}, "{", True),
        ({"$schema": DRAFT6, "contentMediaType": "application/json"}, "{", True),
        ({"$schema": DRAFT4, "minimum": 1, "exclusiveMinimum": True}, 1, False),
        ({"$schema": DRAFT7, "items": [{"type": "string"}]}, [1], False),
        ({"$schema": DRAFT2019, "items": [{"type": "string"}]}, [1], False),
        ({"prefixItems": [{"type": "string"}]}, [1], False),
        ({"$id": "http://x/y", "$ref": "z", "$defs": {"z": {"$id": "z", "type": "null"}}}, 1, False),
        ({"$ref": "#/$defs/a%25b~1c", "$defs": {"a%b/c": {"type": "null"}}}, 1, False),
        ({"unknown": {"type": 5}}, 1, True),
    ],
)  # fmt: skip
def test_a_schema_means_what_its_draft_says(schema, value, is_valid):
    assert judge(schema, value) is is_valid


@pytest.mark.parametrize(
    "uri",
    [
        *(DRAFT7, DRAFT7.removesuffix("#"), DRAFT7.replace("http:", "https:")),
        *(DRAFT2020, f"{DRAFT2020}#", "http://json-schema.org/schema#"),
    ],
)
def test_a_dialect_is_known_by_either_scheme_and_with_or_without_its_fragment(uri):
    assert judge({"$schema": uri, "type": "string"}, 1) is False


@pytest.mark.parametrize(
    ("pattern", "text", "is_valid"),
    [
        ("^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$", "a.b@c.de", True),
        ("^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$", "a..b@c.de", False),
        ("^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$", "12.5", True),
        ("^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$", "-.", False),
        ("^(.)\\1$", "aa", True),
        ("(?<=a)b", "cb", False),
    ],
)  # fmt: skip
def test_look_around_and_back_references_are_matched(pattern, text, is_valid):
    assert judge({"pattern": pattern}, text) is is_valid


def test_a_long_text_beside_one_with_look_around_is_no_matter():
    pattern = "^(?=.*[A-Z]).{8,}$"
    schema = {"properties": {"password": {"type": "string", "pattern": pattern}}}
    assert judge(schema, {"password": "Long enough", "body": "x" * 5_000_000}) is True


# Against another validator

json_schemas = st.deferred(
    lambda: (
        st.booleans()
        | st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(
                    ["string", "integer", "number", "object", "array", "boolean", "null"]
                ),
                "enum": st.lists(small_values, min_size=1, max_size=3),
                "const": small_values,
                "minimum": st.integers(-3, 3),
                "exclusiveMaximum": st.integers(-3, 3),
                "multipleOf": st.integers(1, 3),
                "minLength": st.integers(0, 2),
                "maxItems": st.integers(0, 2),
                "uniqueItems": st.booleans(),
                "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
                "properties": st.dictionaries(st.sampled_from("abc"), json_schemas, max_size=2),
                "additionalProperties": json_schemas,
                "propertyNames": json_schemas,
                "prefixItems": st.lists(json_schemas, min_size=1, max_size=2),
                "items": json_schemas,
                "contains": json_schemas,
                "anyOf": st.lists(json_schemas, min_size=1, max_size=2),
                "oneOf": st.lists(json_schemas, min_size=1, max_size=2),
                "allOf": st.lists(json_schemas, min_size=1, max_size=2),
                "not": json_schemas,
                "if": json_schemas,
                "then": json_schemas,
                "else": json_schemas,
                "dependentRequired": st.just({"a": ["b"]}),
                "unevaluatedProperties": json_schemas,
            },
        )
    )
)
small_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-4, 4)
    | st.sampled_from([0.5, 1.0, -2.5])
    | st.sampled_from(["", "a", "bc"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(schema=json_schemas, value=small_values)
@settings(max_examples=examples(100), deadline=None)
def test_validity_and_places_are_those_that_jsonschema_finds(schema, value):
    errors = list(Draft202012Validator(schema, registry=Registry()).iter_errors(value))
    assert judge(schema, value) is (not errors)
    if errors:
        assert all_places(schema, value) <= {
            pointer(list(error.absolute_path)) for error in with_causes(errors)
        }


def all_places(schema, value):
    errors = compile_schema(schema).validator.iter_errors(value)
    return {
        pointer(error.instance_path)
        for error in errors
        if error.kind.name != "falseSchema"  # jsonschema gives it no place
    }


def with_causes(errors):
    for error in errors:
        yield error
        yield from with_causes(error.context)


# Schemas that are refused, and the reasons


@pytest.mark.parametrize(
    ("schema", "path", "told"),
    [
        ({"type": "strin"}, "/type", '"strin" is not one of'),
        ({"type": "OBJECT"}, "/type", '"OBJECT" is not one of'),
        ({"properties": {"a": {"required": True}}}, "/properties/a/required", "not of type"),
        ({"properties": []}, "/properties", "not of type"),
        ({"pattern": "("}, "/pattern", 'not a "regex"'),
        ({"pattern": "((a{1000}){1000}){1000}"}, "", "too large"),
        ({"pattern": "(a{1000}){500}"}, "", "too large"),
        ({"pattern": "(\\w{1000}){300}"}, "/pattern", 'not a "regex"'),
        ({"multipleOf": 0}, "/multipleOf", "0"),
        ({"$ref": 5}, "/$ref", "not of type"),
        ({"$ref": "#/$defs/nowhere"}, "", "does not exist in the schema"),
        ({"$ref": "http://127.0.0.1:1/x"}, "", "nothing outside of it is read"),
        ({"$ref": "file:///etc/passwd"}, "", "nothing outside of it is read"),
        ({"$ref": "http://json-schema.org/draft-07/schema#"}, "", "nothing outside of it is read"),
        ({"$dynamicRef": "#nowhere"}, "", "does not exist"),
        ({"$schema": "http://127.0.0.1:1/meta"}, "/$schema", "known: http"),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "/$schema", "known: http"),
        ({"$schema": ""}, "/$schema", "known: http"),
        ({"$schema": 5}, "/$schema", "5 is not known"),
        ({"$schema": None}, "/$schema", "null is not known"),
        ({"$id": 5}, "/$id", "not of type"),
        ("{}", "", "a schema is an object or a boolean"),
        (5, "", "a schema is an object or a boolean"),
        ([], "", "a schema is an object or a boolean"),
        (None, "", "a schema is an object or a boolean"),
        ({"enum": [{1}]}, "", "not JSON"),
        ({1: 2}, "", "a key that is not text"),
        ({"maximum": 10**400}, "", "too large for a float"),
        (nested(300, {}, "not"), "", "nested deeper than 254 levels"),
        ({"description": "x" * 2_000_000}, "", "longer than 1,048,576 bytes"),
        ({"$ref": "#/examples/0", "examples": [{"properties": 5}]}, "", "cannot be read"),
    ],
)  # fmt: skip
def test_a_schema_that_cannot_be_used_tells_where_and_why(schema, path, told):
    problem = refusal(schema)
    assert (problem.path, told in problem.message) == (path, True), problem


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"type": "object", "$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"anyOf": [{"type": "string"}, {"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"if": {"$ref": "#"}, "then": False},
        {"$dynamicAnchor": "x", "$dynamicRef": "#x"},
        {"$schema": DRAFT2019, "$recursiveAnchor": True, "allOf": [{"$recursiveRef": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"$id": "http://x/y", "properties": {"a": {"$id": "z", "$ref": "z"}}},
    ],
    ids=str,
)
def test_a_schema_that_applies_itself_without_end_is_refused(schema):
    assert refusal(schema).message == "the schema refers to itself without end"


# Schemas that could take unlimited time

TREE = {
    "$ref": "#/$defs/n",
    "$defs": {
        "n": {
            "anyOf": [
                {"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["x"]},
                {"properties": {"a": {"$ref": "#/$defs/n"}}, "required": ["y"]},
            ]
        }
    },
}


def doubling(levels, keyword):
    defs = {
        f"d{level}": {keyword: [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(levels)
    }
    return {"$ref": "#/$defs/d0", "$defs": {**defs, f"d{levels}": {"type": "object"}}}


def unevaluated(levels):
    schema = {"properties": {"a": {}}}
    for _ in range(levels):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


def chain(length):
    links = {str(link): {"$ref": f"#/$defs/{link + 1}"} for link in range(length)}
    return {"$ref": "#/$defs/0", "$defs": {**links, str(length): {"type": "object"}}}


ENDLESS = {
    "doubling allOf": lambda: (doubling(60, "allOf"), {}),
    "doubling oneOf": lambda: (doubling(60, "oneOf"), {}),
    "doubling anyOf": lambda: (doubling(60, "anyOf"), 5),
    "a tree of alternatives": lambda: (TREE, nested(200)),
    "nested unevaluatedProperties": lambda: (unevaluated(60), {"a": 1}),
    "a long chain": lambda: (chain(10_000), {}),
    "deep data times a chain": lambda: (
        {**chain(100), "properties": {"a": {"$ref": "#"}}},
        nested(200),
    ),
    "a counted automaton": lambda: ({"pattern": "^[01]*1[01]{5000}2$"}, "01" * 500_000),
    "another": lambda: ({"pattern": "(0|1|01|10){5000}2"}, "01" * 50_000),
    "a nested count": lambda: ({"pattern": "((a{100}){100}b*)*c"}, "a" * 50_000),
    "stepping back": lambda: ({"pattern": "^(?:a|a(?=a|b))+c$"}, "a" * 40 + "b"),
    "stepping back often": lambda: (
        {"items": {"pattern": "^(?:a|a(?=a|b))+c$"}},
        ["a" * 40 + "b"] * 50_000,
    ),
    "looking ahead from everywhere": lambda: ({"pattern": "(?=.*x)y"}, "a" * 200_000),
    "numbers against a long enum": lambda: (
        {"items": {"enum": list(range(10_000))}},
        [0.5] * 10_000,
    ),
    "objects against a long enum": lambda: (
        {"items": {"enum": [{"a": ["x"] * 100, "b": n} for n in range(1_000)]}},
        [{"a": ["x"] * 100, "b": -1}] * 10_000,
    ),
    "branches against a long array": lambda: (
        {"items": {"anyOf": [{"const": number} for number in range(5_000)]}},
        [-1] * 50_000,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_what_could_take_for_ever_is_not_decided_and_that_at_once(name):
    schema, value = ENDLESS[name]()
    begun = process_time()
    assert isinstance(judge(schema, value), Undecided)
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize("wrap", [lambda bad: {"not": bad}, lambda bad: {"anyOf": [bad, {"type": "null"}]},
                                  lambda bad: {"oneOf": [bad, True]}, lambda bad: {"if": bad, "then": False}])  # fmt: skip
def test_a_pattern_that_is_given_up_decides_nothing_wherever_it_stands(wrap):
    outcome = judge(wrap({"pattern": "^(?:a|a(?=a|b))+c$"}), "a" * 40 + "b")
    assert outcome == Undecided("a pattern takes too many steps to match the arguments")


BIG = {
    "catastrophic": lambda: ({"pattern": "(a+)+$"}, "a" * 1_000_000 + "b", False),
    "another": lambda: ({"pattern": "(x+x+)+y"}, "x" * 100_000, False),
    "10,000 properties": lambda: (
        {
            "properties": {f"p{n}": {"type": "integer"} for n in range(10_000)},
            "required": [f"p{n}" for n in range(10_000)],
            "additionalProperties": False,
        },
        {f"p{n}": n for n in range(10_000)},
        True,
    ),
    "100,000 options": lambda: ({"enum": list(range(100_000))}, 99_999, True),
    "100,000 options, and a fraction": lambda: ({"enum": list(range(100_000))}, 0.5, False),
    "about 1 MB": lambda: ({"properties": {f"p{n:05}": {"description": "x" * 70} for n in range(9_000)}}, {}, True),
    "100,000 items": lambda: ({"items": {"type": "integer"}}, [1] * 100_000, True),
    "20,000 unique integers over 64 bits": lambda: (
        {"uniqueItems": True},
        [2**64 + (n << 16) for n in range(20_000)],
        True,
    ),
    "10 MB of text": lambda: ({"properties": {"path": {"pattern": "^/[a-z/]+$"}}}, {"path": "/a", "text": "x" * 10_000_000}, True),
    "a deep tree": lambda: ({"properties": {"a": {"$ref": "#"}}}, nested(250), True),
    "deep, through an array": lambda: ({"properties": {"a": {"items": {"$ref": "#"}}}}, {"a": [nested(200)]}, True),
    "deep schema": lambda: (nested(200, {}, "not"), {}, True),
    "2,000 addresses": lambda: (
        {"items": {"pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"}},
        ["some.one@example.com"] * 2_000,
        True,
    ),
    "a recursive filter": lambda: (
        {
            "$ref": "#/$defs/f",
            "$defs": {
                "f": {
                    "anyOf": [
                        *(
                            {"properties": {key: {"items": {"$ref": "#/$defs/f"}}}, "required": [key]}
                            for key in ("and", "or")
                        ),
                        {"properties": {"not": {"$ref": "#/$defs/f"}}, "required": ["not"]},
                        {"properties": {"field": {"type": "string"}}, "required": ["field"]},
                    ]
                }
            },
        },
        {"and": [{"or": [{"field": "a"}, {"not": {"field": "b"}}]}, {"field": "c"}] * 20},
        True,
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", BIG)
def test_what_is_merely_big_is_judged_at_once(name):
    schema, value, is_valid = BIG[name]()
    begun = process_time()
    assert judge(schema, value) is is_valid
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize(
    ("schema", "value", "place"),
    [
        ({"items": {"type": "integer"}}, [1] * 49_999 + ["x"], ("/49999", "type")),
        ({"enum": list(range(100_000))}, 0.5, ("", "enum")),
        ({"required": [f"p{n:05}" for n in range(10_000)]}, {}, ("", "required")),
    ],
)
def test_a_problem_in_something_big_is_found_at_once(schema, value, place):
    begun = process_time()
    assert places(schema, value)[0] == place
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize(
    ("pattern", "least", "most"),
    [
        ("abc", 3, 3),
        ("^[a-z]{2,5}$", 5, 8),
        ("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$", 24, 30),
        ("(ab){100}", 200, 210),
        ("((a{10}){10}){10}", 1_000, 1_100),
        ("(0|1|01|10){5000}", 30_000, 60_000),
        ("\\p{L}{50}", 10_000, 20_000),
        ("[\\p{L}x]{50}", 10_000, 20_000),
        ("\\(a{3}\\)", 5, 6),
        ("a.[^b]é[é]", 32, 32),
        ("a" + "{999999999}" * 50_000, 10**9, 10**9),
        ("(" * 50_000, 0, 0),
        (")" * 50_000, 0, 0),
    ],
)
def test_the_states_of_a_pattern_are_about_its_parts_times_their_counts(pattern, least, most):
    assert least <= compiled_states_of(pattern) <= most


@pytest.mark.slow
def test_many_keys_that_lead_to_one_pattern_take_no_time():
    links = [{"$ref": f"#/$defs/d{n + 1}"} for n in range(150)]
    schema = {
        "properties": {f"p{n}": {"$ref": "#/$defs/d0"} for n in range(5_000)},
        "$defs": {**{f"d{n}": link for n, link in enumerate(links)}, "d150": {"pattern": "(?=a)"}},
    }
    begun = process_time()
    assert judge(schema, {"p1": "a", "p2": "ab"}) is True
    assert process_time() - begun < SECONDS


@pytest.mark.parametrize("wrapped", [lambda value: [value], lambda value: {"a": value}])
def test_a_schema_with_a_value_as_deep_as_can_be_is_taken(wrapped):
    def judged(levels):
        value = [2**70]  # orjson cannot read it
        for _ in range(levels - 1):
            value = wrapped(value)
        schemas = {"t": {"default": value}}
        step = {"type": "tool", "name": "t", "arguments": {}}
        return ToolSchemaGrader(config={"schemas": schemas}).grade({"steps": [step]})["verdict"]

    assert judged(252) == "pass"
    with pytest.raises(ValueError, match="nested deeper"):
        judged(260)


def test_a_config_with_a_schema_as_deep_as_can_be_is_taken():
    grader = ToolSchemaGrader(config={"schemas": {"t": nested(253, {}, "not")}})
    assert (
        grader.grade({"steps": [{"type": "tool", "name": "t", "arguments": {}}]})["verdict"]
        == "fail"
    )
    with pytest.raises(ValueError, match="nested deeper"):
        ToolSchemaGrader(config={"schemas": {"t": nested(5_000, {}, "not")}})


def test_errors_that_would_fill_the_memory_are_not_described():
    schema = compile_schema({"items": {"type": "integer"}})
    assert schema.problems(json_data(["x"] * 1_000_000), Allowance(1)) is None
    result = ToolSchemaGrader(config={"schemas": {"t": {"properties": {"a": {"items": {"type": "null"}}}}}}).grade(
        {"steps": [{"type": "tool", "name": "t", "arguments": {"a": [0] * 1_000_000}}]}
    )  # fmt: skip
    assert result["verdict"] == "fail"
    assert "too large to tell where" in result["evidence"][0]["description"]


def test_the_allowance_is_one_for_the_whole_trace():
    schema = {"items": {"anyOf": [{"const": number} for number in range(500)]}}
    steps = [{"type": "tool", "name": "t", "arguments": {"a": [-1] * 500}}] * 200
    begun = process_time()
    result = ToolSchemaGrader(config={"schemas": {"t": {"properties": {"a": schema}}}}).grade({"steps": steps})  # fmt: skip
    assert process_time() - begun < SECONDS
    assert result["verdict"] == "fail"
    assert result["details"]["ungradable_calls"] > 0


@pytest.mark.slow
def test_schemas_of_one_trace_that_take_long_to_compile_together_are_given_up():
    tools = [
        {"name": f"t{n}", "parameters": {"properties": {f"p{m}": {"pattern": f"{n}\\p{{L}}{{1,90}}{m}"} for m in range(12)}}}
        for n in range(50)
    ]  # fmt: skip
    steps = [{"type": "tool", "name": tool["name"], "arguments": {}} for tool in tools]
    begun = process_time()
    result = ToolSchemaGrader().grade({"steps": steps, "tools": tools})
    assert process_time() - begun < 4 * SECONDS
    assert result["verdict"] == "ungradable"
    assert "too large, taken together" in str(result["evidence"])


# What could kill the process


@pytest.mark.slow
def test_nothing_overflows_the_stack_of_the_main_thread_or_of_another():
    with forked_call(judge_deep_values) as (receiver, process):
        judged = [receiver.recv() for _ in range(2)]
        process.join()
    assert (judged, process.exitcode) == ([330, 330], 0)


def test_arguments_too_deep_for_any_judgement_are_ungradable():
    step = {"type": "tool", "name": "t", "arguments": nested(5_000)}
    result = ToolSchemaGrader(config={"schemas": {"t": {}}}).grade({"steps": [step]})
    assert result["verdict"] == "ungradable"
    assert "nested deeper than 254 levels" in result["evidence"][0]["description"]

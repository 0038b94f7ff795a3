"""Hostile lines of a given approximate size that try to use much time or memory, one for each known method."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE: dict[str, Callable[[int], bytes]] = {}
_CONFIG_BYTES = 200_000  #: a little less than the limit of a configuration


def hostile(make: Callable[[int], bytes]) -> Callable[[int], bytes]:
    """Register a function that makes a line."""
    HOSTILE[make.__name__] = make
    return make


def case(grader: str, inputs: Any, config: Any = None) -> bytes:
    """Return a line for one grader."""
    return orjson.dumps({"custom_id": "c", "grader": grader, "config": config, "inputs": inputs})


def trace(schema: Any, arguments: list[Any]) -> dict[str, Any]:
    """Return a trace with a call for each of the arguments, to a tool with a schema."""
    steps = [
        {"id": f"s{place}", "type": "tool", "name": "t", "arguments": given, "output": "ok"}
        for place, given in enumerate(arguments)
    ]
    return {
        "format": "weighbridge",
        "id": "x",
        "tools": [{"name": "t", "parameters": schema}],
        "steps": steps,
    }


def ts(schema: Any, arguments: list[Any]) -> bytes:
    """Return a line for `tool-schema` with the schema in the trace."""
    return case("tool-schema", {"trace": trace(schema, arguments)})


def key(number: int) -> str:
    return f"k{number:05}"


@hostile
def many_ordinary_calls(s):
    schema = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
    return ts(schema, [{"path": f"/src/{n}.py"} for n in range(s // 100)])


# ---- schema
@hostile
def propnames_long(s):
    n = max(1, s // 260)
    return ts({"propertyNames": {"pattern": "^z"}}, [{key(i) + "x" * 240: 1 for i in range(n)}])


@hostile
def propnames_short(s):
    return ts({"propertyNames": {"pattern": "^z"}}, [{key(i): 1 for i in range(s // 12)}])


@hostile
def propnames_maxlen(s):
    return ts({"propertyNames": {"maxLength": 2}}, [{key(i): 1 for i in range(s // 12)}])


@hostile
def patternprops_many(s):
    return ts(
        {"patternProperties": {f"^k{i}.*x": {"type": "string"} for i in range(s // 60)}},
        [{key(i) + "x": 1 for i in range(s // 30)}],
    )


@hostile
def patternprops_ok(s):
    return ts(
        {"patternProperties": {f"^k{i}.*x": {} for i in range(s // 60)}},
        [{key(i) + "x": 1 for i in range(s // 30)}],
    )


@hostile
def uneval_false(s):
    n = s // 90
    return ts(
        {
            "allOf": [{"properties": {f"a{i}": {}}} for i in range(n)],
            "unevaluatedProperties": False,
        },
        [{f"b{i}" + "x" * 30: 1 for i in range(n)}],
    )


@hostile
def uneval_pass(s):
    n = s // 60
    return ts(
        {
            "allOf": [{"properties": {f"a{i}": {}}} for i in range(n)],
            "unevaluatedProperties": False,
        },
        [{f"a{i}": 1 for i in range(n)}],
    )


@hostile
def uneval_each(s):
    n = s // 110
    return ts(
        {"allOf": [{"unevaluatedProperties": False}] * n},
        [{f"b{i}" + "x" * 60: 1 for i in range(n)}],
    )


@hostile
def uneval_each_int(s):
    n = s // 120
    return ts(
        {"allOf": [{"unevaluatedProperties": {"type": "integer"}}] * n},
        [{f"b{i}" + "x" * 60: 1 for i in range(n)}],
    )


@hostile
def uneval_encoded(s):
    n = s // 120
    return ts(
        {"contentEncoding": "x", "allOf": [{"unevaluatedProperties": {"type": "integer"}}] * n},
        [{f"b{i}" + "x" * 60: 1 for i in range(n)}],
    )


@hostile
def uneval_items(s):
    n = s // 40
    return ts(
        {
            "properties": {
                "a": {"allOf": [{"prefixItems": [True] * 3}] * n, "unevaluatedItems": False}
            }
        },
        [{"a": ["xxx"] * n}],
    )


@hostile
def uneval_few_many_keys(s):
    return ts(
        {
            "allOf": [{"properties": {f"a{i}": {}}} for i in range(10)],
            "unevaluatedProperties": {"type": "integer"},
        },
        [{f"b{i}": 1 for i in range(s // 12)}],
    )


@hostile
def uneval_anyof(s):
    n = s // 90
    return ts(
        {
            "anyOf": [{"properties": {f"a{i}": {}}} for i in range(n)],
            "unevaluatedProperties": False,
        },
        [{f"a{i}": 1 for i in range(n)}],
    )


@hostile
def uneval_contains(s):
    n = s // 40
    return ts(
        {
            "properties": {
                "a": {"allOf": [{"contains": {"const": "xx"}}] * n, "unevaluatedItems": False}
            }
        },
        [{"a": ["xxx"] * n}],
    )


@hostile
def uneval_nested_deep(s):
    sch = {}
    for _i in range(50):
        sch = {
            "properties": {"a": sch},
            "unevaluatedProperties": False,
            "allOf": [{"properties": {"a": {}}}],
        }
    v = {"z": 1}
    for _i in range(60):
        v = {"a": v}
    return ts(sch, [v] * (s // 450))


@hostile
def multipleof_tiny(s):
    return ts({"properties": {"a": {"items": {"multipleOf": 1e-300}}}}, [{"a": [1e300] * (s // 6)}])


@hostile
def multipleof_cents(s):
    return ts({"properties": {"a": {"items": {"multipleOf": 0.01}}}}, [{"a": [1e300] * (s // 6)}])


@hostile
def multipleof_cents2(s):
    return ts({"properties": {"a": {"items": {"multipleOf": 0.01}}}}, [{"a": [1.25] * (s // 6)}])


@hostile
def multipleof_huge(s):
    return ts({"properties": {"a": {"items": {"multipleOf": 1e300}}}}, [{"a": [1e-300] * (s // 7)}])


@hostile
def multipleof_int(s):
    return ts({"properties": {"a": {"items": {"multipleOf": 7}}}}, [{"a": [1e300] * (s // 7)}])


@hostile
def multipleof_many(s):
    return ts(
        {
            "properties": {
                "a": {
                    "items": {
                        "allOf": [{"multipleOf": 1e-300 + i * 1e-302} for i in range(s // 60)]
                    }
                }
            }
        },
        [{"a": [1e300] * (s // 14)}],
    )


@hostile
def minimum_many(s):
    return ts(
        {
            "properties": {
                "a": {"items": {"allOf": [{"minimum": -1e300 - i} for i in range(s // 60)]}}
            }
        },
        [{"a": [1e300] * (s // 14)}],
    )


@hostile
def required_many(s):
    return ts({"required": [f"r{i}" for i in range(s // 20)]}, [{"a": "x" * (s // 2)}])


@hostile
def allof_type(s):
    return ts(
        {"properties": {"a": {"allOf": [{"type": "integer"}] * (s // 45)}}}, [{"a": "x" * (s // 2)}]
    )


@hostile
def allof_false(s):
    return ts({"properties": {"a": {"allOf": [False] * (s // 12)}}}, [{"a": "x" * (s // 2)}])


@hostile
def dependent_required(s):
    return ts(
        {"dependentRequired": {"k": [f"z{i}" for i in range(s // 20)]}}, [{"k": "x" * (s // 2)}]
    )


@hostile
def dependent_schemas(s):
    n = s // 60
    return ts(
        {"dependentSchemas": {key(i): {"required": [key(i) + "x"]} for i in range(n)}},
        [{key(i): 1 for i in range(s // 24)}],
    )


@hostile
def anyof_required(s):
    return ts({"anyOf": [{"required": [f"z{i}"]} for i in range(s // 50)]}, [{"k": "x" * (s // 2)}])


@hostile
def oneof_many(s):
    return ts(
        {"properties": {"a": {"items": {"oneOf": [{"const": i} for i in range(s // 40)]}}}},
        [{"a": [1] * (s // 4)}],
    )


@hostile
def anyof_nest(s):
    sch = {"type": "string"}
    for _i in range(40):
        sch = {"anyOf": [{"type": "null"}, sch]}
    return ts({"properties": {"a": {"items": sch}}}, [{"a": [1] * (s // 2)}])


@hostile
def ref_fanout(s):
    n = s // 110
    d = {
        f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]}
        for i in range(min(n, 60))
    }
    d[f"d{min(n, 60)}"] = {"type": "string"}
    return ts(
        {"$defs": d, "properties": {"a": {"items": {"$ref": "#/$defs/d0"}}}},
        [{"a": [1] * (s // 3)}],
    )


@hostile
def refs_many(s):
    n = s // 60
    return ts(
        {
            "$defs": {"x": {"type": "integer"}},
            "properties": {key(i): {"$ref": "#/$defs/x"} for i in range(n)},
        },
        [{key(i): "a" for i in range(s // 30)}],
    )


@hostile
def refs_deep_pointer(s):
    p = "/properties/a" * 60
    sch = {"type": "integer"}
    for _i in range(60):
        sch = {"properties": {"a": sch}}
    sch["$defs"] = {key(i): {"$ref": "#" + p} for i in range(s // 850)}
    sch["allOf"] = [{"$ref": "#/$defs/" + q} for q in sch["$defs"]]
    return ts(sch, [{"a": 1}])


@hostile
def refs_chain(s):
    n = s // 50
    return ts(
        {
            "$defs": {**{f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(n)}, f"d{n}": {}},
            "$ref": "#/$defs/d0",
        },
        [{"a": 1}],
    )


@hostile
def ids_many(s):
    n = s // 70
    return ts(
        {
            "$defs": {key(i): {"$id": "http://e/" + key(i), "type": "integer"} for i in range(n)},
            "$ref": "http://e/" + key(n - 1),
        },
        [{"a": 1}],
    )


@hostile
def ids_nested(s):
    sch = {"type": "integer"}
    for i in range(100):
        sch = {
            "$id": "http://e/" + key(i),
            "properties": {"a": sch, "b": {"$ref": "http://e/" + key(99)}},
        }
    return ts(sch, [{"a": 1}] * (s // 100))


@hostile
def dynref(s):
    n = s // 110
    return ts(
        {
            "$dynamicAnchor": "n",
            "$defs": {
                key(i): {
                    "$id": "http://e/" + key(i),
                    "$dynamicAnchor": "n",
                    "properties": {"a": {"$dynamicRef": "#n"}},
                }
                for i in range(n)
            },
            "properties": {"a": {"$dynamicRef": "#n"}},
        },
        [{"a": {"a": {"a": 1}}}],
    )


@hostile
def unique_objs(s):
    return ts(
        {"properties": {"a": {"uniqueItems": True}}},
        [{"a": [{"a": {"b": [i]}} for i in range(s // 20)]}],
    )


@hostile
def unique_ints(s):
    return ts({"properties": {"a": {"uniqueItems": True}}}, [{"a": list(range(s // 7))}])


@hostile
def unique_floats(s):
    return ts(
        {"properties": {"a": {"uniqueItems": True}}}, [{"a": [float(i) for i in range(s // 8)]}]
    )


@hostile
def unique_floats_colliding(s):
    return ts(
        {"properties": {"a": {"uniqueItems": True}}}, [{"a": [i * 2.0**60 for i in range(s // 22)]}]
    )


@hostile
def unique_mixed(s):
    return ts(
        {"properties": {"a": {"uniqueItems": True}}},
        [{"a": [x for i in range(s // 24) for x in (i, str(i), [i], i + 0.5)]}],
    )


@hostile
def unique_nested_arrays(s):
    return ts(
        {"properties": {"a": {"items": {"uniqueItems": True}}}},
        [{"a": [list(range(15)) for i in range(s // 40)]}],
    )


@hostile
def unique_big_similar(s):
    n = int((s / 2) ** 0.5)
    return ts(
        {"properties": {"a": {"uniqueItems": True}}}, [{"a": [[1] * n + [i] for i in range(n)]}]
    )


@hostile
def unique_same_len_objs(s):
    return ts(
        {"properties": {"a": {"uniqueItems": True}}},
        [{"a": [{"x": 1, "y": i} for i in range(s // 20)]}],
    )


@hostile
def enum_big(s):
    return ts(
        {"properties": {"a": {"items": {"enum": [f"z{i}" for i in range(s // 20)]}}}},
        [{"a": ["x"] * (s // 10)}],
    )


@hostile
def enum_objs(s):
    return ts(
        {"properties": {"a": {"items": {"enum": [{"z": i, "b": [1, 2]} for i in range(s // 40)]}}}},
        [{"a": [{"z": -1, "b": [1, 2]}] * (s // 50)}],
    )


@hostile
def const_big(s):
    return ts(
        {"properties": {"a": {"items": {"const": [1] * (s // 4)}}}},
        [{"a": [[1] * 20] * (s // 100)}],
    )


@hostile
def contains(s):
    return ts(
        {
            "properties": {
                "a": {
                    "allOf": [{"contains": {"const": i}, "minContains": 2} for i in range(s // 100)]
                }
            }
        },
        [{"a": [5] * (s // 4)}],
    )


@hostile
def pattern_counted(s):
    return ts({"properties": {"a": {"pattern": "(0|1|01){900}x"}}}, [{"a": "01" * (s // 2)}])


@hostile
def pattern_counted_unicode(s):
    return ts({"properties": {"a": {"pattern": r"(\p{L}{50}){20}x"}}}, [{"a": "é" * (s // 2)}])


@hostile
def pattern_dotstar(s):
    return ts(
        {"properties": {"a": {"pattern": ".*a.*b.*c.*d.*e.*f.*g"}}}, [{"a": "abcdef" * (s // 6)}]
    )


@hostile
def pattern_many(s):
    return ts(
        {
            "properties": {
                "a": {"items": {"allOf": [{"pattern": f"a{i}x*b"} for i in range(s // 60)]}}
            }
        },
        [{"a": ["a1xxxx"] * (s // 24)}],
    )


@hostile
def pattern_compile(s):
    return ts(
        {"properties": {key(i): {"pattern": f"[a-z]{{100}}{i}"} for i in range(s // 50)}},
        [{"a": 1}],
    )


@hostile
def pattern_compile_unicode(s):
    return ts(
        {"properties": {key(i): {"pattern": rf"\p{{L}}\w\d{i}"} for i in range(s // 50)}},
        [{"a": 1}],
    )


@hostile
def pattern_compile_ci(s):
    return ts(
        {"properties": {key(i): {"pattern": rf"(?i)[\w-]{{3}}\W{i}"} for i in range(s // 60)}},
        [{"a": 1}],
    )


@hostile
def pattern_w(s):
    return ts(
        {"properties": {key(i): {"pattern": rf"^\w{{200}}{i}"} for i in range(s // 60)}}, [{"a": 1}]
    )


@hostile
def pattern_lookahead(s):
    return ts(
        {"properties": {"a": {"items": {"pattern": "^(?=(a+)+$)b"}}}},
        [{"a": ["a" * 300] * (s // 300)}],
    )


@hostile
def pattern_lookahead_long(s):
    return ts({"properties": {"a": {"pattern": "(?=.*b)(?=.*c)x"}}}, [{"a": "a" * s}])


@hostile
def pattern_backref(s):
    return ts({"properties": {"a": {"pattern": r"(a*)*\1b"}}}, [{"a": "a" * s}])


@hostile
def pattern_lookbehind(s):
    return ts({"properties": {"a": {"pattern": r"(?<!b)a(?<=a)c"}}}, [{"a": "a" * s}])


@hostile
def pattern_lookahead_many(s):
    return ts(
        {"properties": {key(i): {"pattern": rf"(?=a){i}"} for i in range(s // 50)}}, [{"a": "a"}]
    )


@hostile
def format_long(s):
    return ts(
        {
            "properties": {
                "a": {"format": "email"},
                "b": {"format": "regex"},
                "c": {"format": "uri"},
            }
        },
        [{"a": "a@" * (s // 6), "b": "(" * (s // 3), "c": "http://" + "a" * (s // 3)}],
    )


@hostile
def maxlength(s):
    return ts(
        {"properties": {"a": {"allOf": [{"maxLength": 1000000 + i} for i in range(s // 50)]}}},
        [{"a": "é" * (s // 4)}],
    )


@hostile
def minlength_many_strs(s):
    return ts(
        {"properties": {"a": {"items": {"allOf": [{"minLength": 1 + i} for i in range(s // 60)]}}}},
        [{"a": ["é" * 30] * (s // 130)}],
    )


@hostile
def min_properties(s):
    return ts({"minProperties": 10}, [{key(i): 1} for i in range(s // 60)])


@hostile
def deep_schema(s):
    sch = {}
    for _i in range(95):
        sch = {"items": sch}
    return ts({"properties": {"a": sch, **{key(i): sch for i in range(s // 1000)}}}, [{"a": [[]]}])


@hostile
def deep_args(s):
    v = []
    for _i in range(90):
        v = [v]
    return ts(
        {
            "$defs": {"x": {"items": {"$ref": "#/$defs/x"}}},
            "properties": {"a": {"$ref": "#/$defs/x"}},
        },
        [{"a": v}] * (s // 270),
    )


@hostile
def not_nest(s):
    sch = {"type": "integer"}
    for _i in range(40):
        sch = {"not": {"not": sch}}
    return ts({"properties": {"a": {"items": sch}}}, [{"a": ["x"] * (s // 4)}])


@hostile
def ifthen(s):
    return ts(
        {
            "properties": {
                "a": {
                    "items": {
                        "allOf": [{"if": {"const": i}, "then": False} for i in range(s // 60)]
                    }
                }
            }
        },
        [{"a": [-1] * (s // 6)}],
    )


@hostile
def additional_many(s):
    return ts({"additionalProperties": {"type": "string"}}, [{key(i): 1 for i in range(s // 12)}])


@hostile
def additional_pp(s):
    return ts(
        {
            "patternProperties": {f"^z{i}": {} for i in range(s // 50)},
            "additionalProperties": False,
        },
        [{key(i): 1 for i in range(s // 24)}],
    )


@hostile
def props_many(s):
    return ts(
        {"properties": {key(i): {"type": "string"} for i in range(s // 44)}},
        [{key(i): 1 for i in range(s // 24)}],
    )


@hostile
def many_tools(s):
    n = s // 130
    return case(
        "tool-schema",
        {
            "trace": {
                "format": "weighbridge",
                "id": "x",
                "tools": [
                    {"name": key(i), "parameters": {"properties": {"a": {"type": "integer"}}}}
                    for i in range(n)
                ],
                "steps": [
                    {"id": f"s{i}", "type": "tool", "name": key(i), "arguments": {"a": "x"}}
                    for i in range(n)
                ],
            }
        },
    )


@hostile
def many_tools_unknown(s):
    n = s // 120
    return case(
        "tool-schema",
        {
            "trace": {
                "format": "weighbridge",
                "id": "x",
                "tools": [{"name": "tool_" + key(i)} for i in range(n)],
                "steps": [
                    {
                        "id": f"s{i}",
                        "type": "tool",
                        "name": "took_" + key(i) + "y",
                        "arguments": {"a": "x"},
                    }
                    for i in range(n)
                ],
            }
        },
    )


@hostile
def long_names_unknown(s):
    n = 50
    return case(
        "tool-schema",
        {
            "trace": {
                "format": "weighbridge",
                "id": "x",
                "tools": [{"name": "a" * (s // 2 // n) + key(i)} for i in range(n)],
                "steps": [
                    {
                        "id": f"s{i}",
                        "type": "tool",
                        "name": "a" * (s // 2 // n) + key(i) + "y",
                        "arguments": {"a": "x"},
                    }
                    for i in range(n)
                ],
            }
        },
    )


@hostile
def many_tools_patterns(s):
    n = s // 150
    return case(
        "tool-schema",
        {
            "trace": {
                "format": "weighbridge",
                "id": "x",
                "tools": [
                    {
                        "name": key(i),
                        "parameters": {"properties": {"a": {"pattern": f"[a-z]{{500}}{i}"}}},
                    }
                    for i in range(n)
                ],
                "steps": [
                    {"id": f"s{i}", "type": "tool", "name": key(i), "arguments": {"a": "x"}}
                    for i in range(n)
                ],
            }
        },
    )


@hostile
def config_schema_bytes(s):
    return case(
        "tool-schema",
        {"trace": trace(None, [{"a": 1}])},
        {
            "schemas": {
                "t": {
                    "properties": {key(i): {"pattern": f"[a-z]{{100}}{i}"} for i in range(s // 50)}
                }
            }
        },
    )


@hostile
def config_schemas_many(s):
    return case(
        "tool-schema",
        {"trace": trace(None, [{"a": 1}])},
        {
            "schemas": {
                f"t{j}": {
                    "properties": {key(i): {"pattern": f"[a-z]{{900}}{i}"} for i in range(50)}
                }
                for j in range(s // 2800)
            }
        },
    )


@hostile
def arg_text_invalid(s):
    return ts({"type": "object"}, ['{"a":"' + "x" * 1000] * (s // 1100))


@hostile
def arg_text_deep(s):
    return ts({"type": "object"}, ["[" * (s // 1)])


@hostile
def arg_text_numbers(s):
    return ts({"type": "object"}, ['{"a":' + "9" * 4000 + "}"] * (s // 4100))


@hostile
def big_ints_args(s):
    return ts(
        {"properties": {"a": {"items": {"minimum": 5}}}},
        ['{"a":[' + ",".join(["9" * 300] * (s // 300)) + "]}"],
    )


# ---- globs
def names_trace(names):
    return {
        "format": "weighbridge",
        "id": "x",
        "steps": [
            {"id": f"s{i}", "type": "tool", "name": n, "arguments": {}} for i, n in enumerate(names)
        ],
    }


@hostile
def globs_many(s):
    return case(
        "tool-schema",
        {"trace": names_trace(["a" * 60 + str(i) for i in range(s // 2 // 120)])},
        {"allowlist": ["*a" * 20 + f"b{i}" for i in range(min(s, 400000) // 2 // 50)]},
    )


@hostile
def glob_long(s):
    return case(
        "tool-schema",
        {"trace": names_trace(["a" * 60 + str(i) for i in range(s // 2 // 120)])},
        {"allowlist": ["*a" * (min(s, 400000) // 4) + "b"]},
    )


@hostile
def glob_long_name(s):
    return case(
        "tool-schema",
        {"trace": names_trace(["a" * (s // 2)])},
        {
            "allowlist": ["*aaaaaaaaaab*"] * (min(s, 400000) // 60),
            "blocklist": ["*" + "a" * (min(s, 400000) // 4) + "b*"],
        },
    )


@hostile
def glob_classes(s):
    return case(
        "tool-schema",
        {"trace": names_trace(["a" * 60 + str(i) for i in range(s // 2 // 120)])},
        {"blocklist": ["*[a-z]" * 20 + f"[!b]{i}" for i in range(min(s, 400000) // 2 // 150)]},
    )


@hostile
def glob_questions(s):
    return case(
        "tool-schema",
        {"trace": names_trace(["a" * (s // 2)])},
        {"blocklist": ["*" + "?" * (s // 4) + "b*"]},
    )


# ---- string-match
def sm(a, e, **c):
    return case("string-match", {"agent_response": a, "expected_output": e}, c)


@hostile
def sm_nfc(s):
    return sm("a" + "\u0300\u0316" * (s // 4), "x", unicode_form="NFC")


@hostile
def sm_nfd_both(s):
    return sm("a" + "\u0300\u0316" * (s // 8), "a" + "\u0316\u0300" * (s // 8), unicode_form="NFD")


@hostile
def sm_nfkc(s):
    return sm("a" + "\u0345\u0300\u0316" * (s // 6), "x", unicode_form="NFKC")


@hostile
def sm_nfkd_expand(s):
    return sm("\ufdfa" * (s // 3), "x", unicode_form="NFKD")


@hostile
def sm_nfc_0344(s):
    return sm("a" + "\u0344\u0316\u0f73" * (s // 7), "x", unicode_form="NFC")


@hostile
def sm_hangul(s):
    return sm("\u1100\u1161\u11a8" * (s // 9), "x", unicode_form="NFC")


@hostile
def sm_any_many(s):
    return sm(
        "a" * (s // 2),
        "x",
        case_sensitive=False,
        ignore_articles=True,
        ignore_punctuation=True,
        collapse_whitespace=True,
        expected_any=[f"a{i}" for i in range(min(s, 400000) // 20)],
    )


@hostile
def sm_any_articles(s):
    return sm(
        "a the " * (s // 24),
        "x",
        ignore_articles=True,
        expected_any=[f"the a {i}" for i in range(min(s, 400000) // 30)],
    )


@hostile
def sm_any_nfc(s):
    return sm(
        "b" + "\u0300\u0316" * (s // 16),
        "x",
        unicode_form="NFC",
        expected_any=["a" + "\u0300\u0316" * 20 + str(i) for i in range(min(s, 400000) // 300)],
    )


@hostile
def sm_articles(s):
    return sm("a the " * (s // 6), "x", ignore_articles=True)


@hostile
def sm_articles_space(s):
    return sm("a" + " " * s + "b", "x", ignore_articles=True, collapse_whitespace=True)


@hostile
def sm_punct(s):
    return sm(".,!" * (s // 3), "x", ignore_punctuation=True, ignore_articles=True)


@hostile
def tf_long(s):
    return case("true-false", {"agent_response": "y" * s, "expected_output": "yes"})


@hostile
def tf_aliases(s):
    return case(
        "true-false",
        {"agent_response": "y", "expected_output": "yes"},
        {
            "aliases": {
                "true": [f"t{i}" for i in range(s // 16)],
                "false": [f"f{i}" for i in range(s // 16)],
            }
        },
    )


@hostile
def tf_json(s):
    return case("true-false", {"agent_response": [[1.5]] * (s // 8), "expected_output": "yes"})


# ---- other graders and importers


def chat(messages: list[Any], grader: str = "loop") -> bytes:
    return case(grader, {"trace": {"messages": messages}})


def answers(texts: list[str], grader: str = "loop") -> bytes:
    return chat(
        [{"role": "user", "content": "go"}, *({"role": "assistant", "content": t} for t in texts)],
        grader,
    )


_OPENINGS = (
    "<tool_call>",
    "<function=a>",
    "<invoke name=",
    "```",
    "```bash\n",
    "```json\n{",
    "{",
    "[",
    "<",
    "Action: a\n",
    "Thought: x\nAction: a\nAction Input: ",
    '{"name": "a", "arguments": ',
    "[TOOL_CALLS]",
    "<|python_tag|>",
    " ",
    "\n",
    "2024-01-01T00:00:00",
    "0x1f",
    "a1b2c3d4-",
    "1 s ",
    "\u0300\u0316",
    "'",
    '\\"',
    "(",
    "%",
    "\x1b[0m",
    "<parameter=x>",
    "🔧",
)
#: Functions of a size in bytes; each returns texts of one of the openings after the other.
OPENINGS: dict[str, Callable[[int], list[bytes]]] = {
    "one text": lambda s: [
        answers([opening * (s // len(orjson.dumps(opening)))]) for opening in _OPENINGS
    ],
    "many texts": lambda s: [
        answers([opening * 40 + str(n) for n in range(s // (40 * len(orjson.dumps(opening)) + 60))])
        for opening in _OPENINGS
    ],
}


@hostile
def spans_chain(s):
    spans = [
        {
            "traceId": "t",
            "spanId": key(n),
            "parentSpanId": key(n - 1) if n else "",
            "name": "execute_tool a",
            "attributes": [{"key": "gen_ai.tool.name", "value": {"stringValue": "a"}}],
        }
        for n in range(s // 170)
    ]
    return case("loop", {"trace": {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}})


@hostile
def steps_chain(s):
    steps = [
        {"id": key(n), "parent_id": key(n - 1), "type": "tool", "name": "a", "arguments": {"n": n}}
        for n in range(s // 80)
    ]
    return case(
        "budget",
        {"trace": {"format": "weighbridge", "id": "x", "steps": steps}},
        {"max_tool_calls": 5},
    )


@hostile
def budget_limits(s):
    steps = [{"id": key(n), "type": "tool", "name": key(n)} for n in range(s // 100)]
    config = {"max_tool_calls_per_tool": {key(n): 1 for n in range(_CONFIG_BYTES // 12)}}
    return case("budget", {"trace": {"format": "weighbridge", "id": "x", "steps": steps}}, config)


@hostile
def loop_similar_texts(s):
    return answers(["word " * 300 + key(n) for n in range(s // 1_560)])


@hostile
def loop_similar_calls(s):
    steps = [
        {
            "id": key(n),
            "type": "tool",
            "name": "a",
            "arguments": {"q": "x" * 200 + key(n)},
            "output": "Error: no " + key(n),
        }
        for n in range(s // 310)
    ]
    return case("loop", {"trace": {"format": "weighbridge", "id": "x", "steps": steps}})


@hostile
def loop_long_cycles(s):
    steps = [
        {"id": key(n), "type": "tool", "name": "a", "arguments": {"q": n % 10}, "output": "o"}
        for n in range(s // 80)
    ]
    return case(
        "loop", {"trace": {"format": "weighbridge", "id": "x", "steps": steps}}, {"max_period": 50}
    )


@hostile
def chat_calls(s):
    calls = [
        {"id": key(n), "type": "function", "function": {"name": "a", "arguments": "{}"}}
        for n in range(s // 160)
    ]
    answers_ = [{"role": "tool", "tool_call_id": key(n), "content": "o"} for n in range(s // 160)]
    return chat([{"role": "assistant", "content": None, "tool_calls": calls}, *answers_])


@hostile
def chat_calls_of_one_id(s):
    calls = [
        {"id": "c", "type": "function", "function": {"name": "a", "arguments": "{}"}}
        for n in range(s // 160)
    ]
    answers_ = [{"role": "tool", "tool_call_id": "c", "content": "o"} for n in range(s // 160)]
    return chat([{"role": "assistant", "content": None, "tool_calls": calls}, *answers_])


@hostile
def chat_arguments_deep(s):
    call = {
        "id": "c",
        "type": "function",
        "function": {"name": "a", "arguments": '{"a":' * (s // 8)},
    }
    return chat([{"role": "assistant", "content": None, "tool_calls": [call]}])


@hostile
def unknown_keys(s):
    return orjson.dumps({"custom_id": "x"} | {f"input{n}": 1 for n in range(s // 13)})

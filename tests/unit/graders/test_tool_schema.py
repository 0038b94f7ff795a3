"""The tool-schema grader: the calls that it refuses, by which source, and the evidence."""

from __future__ import annotations

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.generated import examples
from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders.tool_schema import ToolSchemaGrader
from weighbridge.traces import Step, ToolDefinition, Trace

SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "minimum": 1},
        "filter": {"type": "object", "properties": {"a/b~c": {"enum": ["x", "y"]}}},
    },
    "required": ["query"],
    "additionalProperties": False,
}
OPENAI = [{"type": "function", "function": {"name": "search", "parameters": SEARCH}}]
FLAT = [{"type": "function", "name": "search", "parameters": SEARCH}]
ANTHROPIC = [{"name": "search", "input_schema": SEARCH}]
MCP = [{"name": "search", "inputSchema": SEARCH}]
MCP_ANSWER = {"jsonrpc": "2.0", "id": 1, "result": {"tools": MCP}}


def call(name="search", arguments=None, **more):
    return {"type": "tool", "name": name, "arguments": arguments, **more}


def trace(*calls, tools=None, **more):
    steps = [{"id": f"c{number}", **each} for number, each in enumerate(calls, 1)]
    return {
        "format": "weighbridge",
        "steps": steps,
        **({"tools": tools} if tools else {}),
        **more,
    }


def grade(*calls, tools=None, missing=None, **config):
    given = trace(*calls, tools=tools, **({"missing": missing} if missing else {}))
    return ToolSchemaGrader(config=config or None).grade(given)


def entry(result, check):
    (found,) = (each for each in result["evidence"] if each["check"] == check)
    return found


def failures(result):
    return [each for each in result["evidence"] if not each["passed"]]


def problems(result, check="arguments_match_schema"):
    (found,) = (each for each in failures(result) if each["check"] == check)
    return [(problem["path"], problem["keyword"]) for problem in found["observed"]["problems"]]


# Lists of names


def test_tools_outside_the_allowlist_are_reported_each_with_its_steps():
    result = grade(
        call("search"), call("shell"), call("db_query"), call("shell"), call("mail"),
        allowlist=["search", "db_query"],
    )  # fmt: skip
    assert (result["verdict"], result["score"]) == ("fail", 0.4)
    refused = failures(result)
    assert [(each["check"], each["observed"]["tool"], each["step_ids"]) for each in refused] == [
        ("tool_allowed", "shell", ["c2", "c4"]),
        ("tool_allowed", "mail", ["c5"]),
    ]
    assert refused[0]["limit"] == ["search", "db_query"]
    assert result["details"]["violations"]["tool_allowed"] == 3


def test_when_all_tools_are_valid_each_is_told_as_checked():
    result = grade(call("search", {"query": "a"}), call("db_query"), call("search", {"query": "b"}),
                   allowlist=["search", "db_*"], schemas={"search": SEARCH})  # fmt: skip
    assert (result["verdict"], result["score"]) == ("pass", 1.0)
    search, query = result["evidence"]
    assert (search["check"], search["step_ids"]) == ("arguments_match_schema", ["c1", "c3"])
    assert search["limit"] == [
        "in the allowlist",
        "the schema in the configured schemas",
    ]
    assert search["observed"] == {"tool": "search", "calls": 2}
    assert (query["check"], query["step_ids"]) == ("tool_allowed", ["c2"])
    assert query["description"] == "'db_query', 1 call: in the allowlist by 'db_*'"


def test_a_blocked_tool_loses_even_when_it_is_allowed():
    result = grade(call("rm"), allowlist=["rm"], blocklist=["r?"])
    assert result["verdict"] == "fail"
    refused = entry(result, "tool_not_blocked")
    assert refused["limit"] == ["r?"]
    assert refused["description"] == "'rm', 1 call: in the blocklist by 'r?'"


def test_a_blocklist_alone_lets_all_others_pass():
    result = grade(call("ls"), blocklist=["rm"])
    assert result["verdict"] == "pass"
    assert entry(result, "tool_not_blocked")["limit"] == ["not in the blocklist"]


def test_an_empty_allowlist_allows_nothing():
    assert grade(call("ls"), allowlist=[])["verdict"] == "fail"


@pytest.mark.parametrize(
    ("glob", "name", "matches"),
    [
        ("db_*", "db_query", True),
        ("db_*", "DB_query", False),
        ("*", "anything at all\nand more", True),
        ("a?c", "abc", True),
        ("a?c", "ac", False),
        ("[ab]*", "bx", True),
        ("[!ab]*", "bx", False),
        ("mcp__*__read", "mcp__files__read", True),
        ("[", "[", True),
        ("[", "a", False),
        ("a[", "a[", True),
        ("[]", "[]", True),
        ("[!]", "[!]", True),
        ("[z-a]", "z", False),
        ("[a]", "[a]", True),
        ("a.c", "abc", False),
        ("(x+)+*", "(x+)+y", True),
        ("\\*", "\\x", True),
    ],
)
def test_names_and_globs_match_the_whole_name_and_its_case(glob, name, matches):
    assert (grade(call(name), allowlist=[glob])["verdict"] == "pass") is matches


def test_a_glob_of_many_stars_takes_no_time():
    result = grade(call("a" * 50_000), allowlist=["*a" * 40 + "*b"])
    assert result["verdict"] == "fail"


def test_a_name_off_by_a_typo_is_asked_about():
    result = grade(call("serch"), allowlist=["search", "mail"])
    assert "did you mean 'search'?" in entry(result, "tool_allowed")["description"]
    result = grade(call("Search"), tools=MCP)
    assert "did you mean 'search'?" in entry(result, "tool_known")["description"]


# Which tools there are


@pytest.mark.parametrize("tools", [OPENAI, FLAT, ANTHROPIC, MCP], ids=["openai", "flat", "a", "m"])
def test_a_tool_that_the_trace_does_not_define_is_unknown(tools):
    result = grade(call("search", {"query": "x"}), call("find", {}), tools=tools)
    assert (result["verdict"], result["score"]) == ("fail", 0.5)
    unknown = entry(result, "tool_known")
    assert (unknown["step_ids"], unknown["limit"]) == (["c2"], ["search"])
    assert "no such tool is in the trace's tools" in unknown["description"]


@pytest.mark.parametrize("tools", [OPENAI, FLAT, ANTHROPIC, MCP, MCP_ANSWER, {"tools": MCP}])
def test_configured_tools_say_which_tools_there_are_and_judge_their_arguments(tools):
    good, bad, unknown = (
        call("search", {"query": "x"}),
        call("search", {"query": 1}),
        call("find"),
    )
    assert grade(good, bad, unknown)["passed"]
    result = ToolSchemaGrader(config={"tools": tools}).grade(trace(good, bad, unknown))
    assert result["score"] == pytest.approx(1 / 3)
    assert problems(result) == [("/query", "type")]
    assert "the configured tools" in entry(result, "tool_known")["description"]


def test_an_empty_list_of_configured_tools_knows_no_tool():
    result = ToolSchemaGrader(config={"tools": []}).grade(trace(call("ls")))
    assert entry(result, "tool_known")["limit"] == []


def test_schemas_alone_make_no_other_tool_unknown():
    result = grade(call("search", {"query": "x"}), call("other"), schemas={"search": SEARCH})
    assert result["verdict"] == "pass"


def test_a_tool_with_a_configured_schema_is_known_though_no_list_has_it():
    result = grade(call("extra", {}), tools=MCP, schemas={"extra": True})
    assert result["verdict"] == "pass"


def test_the_traces_tools_can_be_left_aside():
    calls = call("find"), call("search", {"query": 1})
    assert grade(*calls, tools=MCP)["verdict"] == "fail"
    assert grade(*calls, tools=MCP, use_trace_tools=False)["verdict"] == "pass"


def test_an_allowed_name_is_still_unknown_where_the_tools_are_listed():
    result = grade(call("find"), tools=MCP, allowlist=["find"])
    assert entry(result, "tool_known")["passed"] is False


def test_configured_schemas_come_before_configured_tools_and_these_before_the_traces():
    wants = {
        kind: {"properties": {"a": {"type": kind}}, "required": ["a"]}
        for kind in ("string", "integer", "boolean")
    }
    in_trace = [{"name": "t", "parameters": wants["boolean"]}]
    in_config = {"tools": [{"name": "t", "parameters": wants["integer"]}]}
    given = [trace(call("t", {"a": value}), tools=in_trace) for value in ("x", 1, True)]

    def passing(config):
        grader = ToolSchemaGrader(config=config)
        return [grader.grade(each)["passed"] for each in given]

    assert passing({"schemas": {"t": wants["string"]}, **in_config}) == [True, False, False]
    assert passing(in_config) == [False, True, False]
    assert passing({}) == [False, False, True]


def test_a_definition_without_a_schema_gives_way_to_one_that_has_it():
    config = {"tools": [{"name": "search"}]}
    result = ToolSchemaGrader(config=config).grade(trace(call(arguments={"query": 1}), tools=MCP))
    assert problems(result) == [("/query", "type")]


def test_a_tool_without_a_schema_passes_unless_one_is_required():
    listed = [{"name": "ls"}]
    passing = grade(call("ls", {"any": 1}), tools=listed)
    assert entry(passing, "tool_known")["description"].endswith(
        "in the trace's tools, which give no schema"
    )
    refused = grade(call("ls", {"any": 1}), tools=listed, require_schema=True)
    assert refused["verdict"] == "fail"
    assert "a schema is required" in entry(refused, "tool_has_schema")["description"]


def test_calls_that_nothing_says_anything_of_pass_as_vacuous():
    result = grade(call("ls"), call("rm", {"path": "/"}))
    assert (result["verdict"], result["score"]) == ("pass", 1.0)
    assert result["evidence"][0]["check"] == "vacuous"
    assert [each["observed"]["tool"] for each in result["evidence"][1:]] == ["ls", "rm"]


def test_a_schema_that_is_required_and_that_the_source_cannot_give_makes_it_ungradable():
    missing = {"tool_definitions": "the log leaves them out"}
    result = grade(call("ls"), missing=missing, require_schema=True)
    assert (result["verdict"], result["score"]) == ("ungradable", 0.0)
    assert "the log leaves them out" in entry(result, "has_tool_definitions")["description"]
    assert result["details"]["ungradable_calls"] == 1
    refused = grade(call("ls"), missing=missing, require_schema=True, blocklist=["ls"])
    assert refused["verdict"] == "fail"
    configured = grade(call("ls", {}), missing=missing, require_schema=True, schemas={"ls": {}})
    assert configured["verdict"] == "pass"
    partly = grade(call("rm"), missing=missing, require_schema=True, schemas={"ls": {}})
    assert partly["verdict"] == "fail"


# Arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"query": 1}, [("/query", "type")]),
        ({}, [("", "required")]),
        ({"query": "x", "limit": 0}, [("/limit", "minimum")]),
        ({"query": "x", "limit": 1.5}, [("/limit", "type")]),
        ({"query": "x", "more": 1}, [("", "additionalProperties")]),
        ({"query": "x", "filter": {"a/b~c": "z"}}, [("/filter/a~1b~0c", "enum")]),
        (
            {"query": None, "limit": "1", "x": 0},
            [("", "additionalProperties"), ("/limit", "type"), ("/query", "type")],
        ),
    ],
)
def test_a_violation_tells_the_place_the_keyword_and_why(arguments, expected):
    result = grade(call(arguments=arguments), tools=MCP)
    assert (result["verdict"], result["score"]) == ("fail", 0.0)
    assert problems(result) == expected
    told = entry(result, "arguments_match_schema")
    assert told["step_ids"] == ["c1"]
    assert told["limit"] == ["the schema in the trace's tools"]
    assert told["excerpt"].startswith("{")
    assert all(problem["message"] for problem in told["observed"]["problems"])


@pytest.mark.parametrize(
    "arguments", [{"query": "x"}, {"query": "x", "limit": 5.0}, {"query": "", "limit": 2**62}]
)
def test_valid_arguments_pass(arguments):
    assert grade(call(arguments=arguments), tools=MCP)["passed"]


@pytest.mark.parametrize("given", ["`a.py`", '{"query": "x"}', {"query": "x"}, {"command": "ls"}])
def test_a_call_whose_arguments_are_only_shown_is_judged_by_the_lists_alone(given):
    shown = call(arguments=given, arguments_as_shown=True)
    result = grade(shown, tools=MCP)
    assert result["verdict"] == "ungradable"
    assert "only shows" in entry(result, "arguments_are_judged")["description"]
    assert grade(shown, allowlist=["search"])["passed"]
    assert grade(shown, allowlist=["other"])["verdict"] == "fail"
    assert entry(grade(shown), "vacuous")


def test_arguments_that_are_json_text_of_an_object_are_that_object():
    assert grade(call(arguments='{"query": "x"}'), tools=MCP)["passed"]
    whole = Trace(id=None, format="x", steps=(Step(id="a", type="tool", arguments='{"a": 1}'),))
    assert ToolSchemaGrader(config={"schemas": {"": {"required": ["a"]}}}).grade(whole)["passed"]


def test_a_call_whose_arguments_the_trace_does_not_tell_is_judged_by_the_lists_alone():
    result = grade(call(), tools=MCP)
    assert result["verdict"] == "ungradable"
    assert "does not record the arguments" in entry(result, "arguments_are_judged")["description"]
    assert grade(call(), allowlist=["search"])["passed"]
    assert grade(call(), tools=MCP, blocklist=["search"])["verdict"] == "fail"
    chat = [{"role": "assistant", "tool_calls": [{"function": {"name": "search"}}]}]
    in_chat = ToolSchemaGrader(config={"tools": MCP}).grade(chat)
    assert problems(in_chat) == [("", "required")]


@pytest.mark.parametrize(
    ("arguments", "keyword", "told"),
    [
        ('{"query": "x",}', "json", "line 1 column 14 (character 13)"),
        ('{"query": "x"', "json", "line 1 column 14 (character 13)"),
        ('{\n"query": x}', "json", "line 2 column 10"),
        ("find me something", "json", "line 1 column"),
        ("{'query': 'x'}", "json", "line 1 column 2"),
        ("", "json", "an empty text"),
        ("  \n", "json", "an empty text"),
        ("[1, 2]", "type", "an array"),
        ('"text"', "type", "a text"),
        ("12", "type", "a number"),
        ("null", "type", "null"),
        ("true", "type", "a boolean"),
        ([1, 2], "type", "an array"),
        (12, "type", "a number"),
        (False, "type", "a boolean"),
    ],
)
@pytest.mark.parametrize("tools", [None, MCP], ids=["no schema", "schema"])
def test_arguments_that_are_no_json_object_are_a_violation_with_the_place(
    arguments, keyword, told, tools
):
    result = grade(call(arguments=arguments), tools=tools)
    assert (result["verdict"], result["score"]) == ("fail", 0.0)
    assert problems(result, "arguments_are_object") == [("", keyword)]
    assert told in entry(result, "arguments_are_object")["description"]
    assert result["details"]["violations"]["arguments_are_object"] == 1


def test_the_first_problems_are_shown_and_all_are_counted():
    schema = {"items": {"type": "string"}}
    result = grade(call("t", {"a": [1] * 30}), schemas={"t": {"properties": {"a": schema}}})
    assert problems(result) == [(f"/a/{place}", "type") for place in range(5)]
    assert "and 25 more" in entry(result, "arguments_match_schema")["description"]


def test_places_in_arrays_are_in_the_order_of_their_numbers():
    values = ["x"] * 12
    values[2] = values[10] = 0
    result = grade(call("t", {"a": values}), schemas={"t": {"properties": {"a": {"items": {"type": "string"}}}}})  # fmt: skip
    assert problems(result) == [("/a/2", "type"), ("/a/10", "type")]


def test_an_alternative_that_none_matches_says_what_each_wanted():
    schema = {"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}
    result = grade(call("t", {"a": 5}), schemas={"t": schema})
    message = entry(result, "arguments_match_schema")["observed"]["problems"][0]["message"]
    assert '5 is not of type "string"; or 5 is not of type "null"' in message


def test_of_each_alternative_the_first_problem_is_told():
    wanted = {"type": "object", "required": ["x", "y"]}
    schema = {"properties": {"a": {"anyOf": [wanted, {"type": "null"}]}}}
    result = grade(call("t", {"a": {}}), schemas={"t": schema})
    message = entry(result, "arguments_match_schema")["observed"]["problems"][0]["message"]
    assert '"x" is a required property; or {} is not of type "null"' in message


def test_nested_calls_are_judged_like_any_other():
    result = grade(
        {"type": "agent", "name": "helper"},
        call("search", {"query": "x"}, parent_id="c1"),
        call("search", {"query": 1}, parent_id="c2"),
        tools=MCP,
    )
    assert (result["details"]["calls"], result["score"]) == (2, 0.5)
    assert [each["step_ids"] for each in failures(result)] == [["c3"]]


# Schemas that cannot be used


def test_an_invalid_schema_in_a_trace_is_told_once_and_makes_its_calls_ungradable():
    tools = [{"name": "t", "parameters": {"properties": {"a": {"type": "strin"}}}}, *MCP]
    result = grade(call("t", {"a": 1}), call("t", {}), call(arguments={"query": "x"}), tools=tools)
    assert (result["verdict"], result["score"]) == ("ungradable", 0.0)
    told = entry(result, "schema_is_valid")
    assert told["step_ids"] == ["c1", "c2"]
    assert told["observed"]["problems"][0]["path"] == "/properties/a/type"
    details = result["details"]
    assert (details["valid_calls"], details["ungradable_calls"]) == (1, 2)


def test_a_violation_beats_an_invalid_schema():
    tools = [{"name": "t", "parameters": {"type": "strin"}}, *MCP]
    result = grade(call("t", {}), call(arguments={"query": "x"}), call(arguments={}), tools=tools)
    assert result["verdict"] == "fail"
    assert result["score"] == pytest.approx(1 / 3)
    assert [each["check"] for each in result["evidence"]] == [
        "arguments_match_schema",
        "schema_is_valid",
        "arguments_match_schema",
    ]


def test_an_invalid_schema_of_a_tool_that_is_never_called_is_no_matter():
    tools = [{"name": "t", "parameters": {"type": "strin"}}, *MCP]
    assert grade(call(arguments={"query": "x"}), tools=tools)["passed"]


@pytest.mark.parametrize(
    ("config", "error", "told"),
    [
        ({"schemas": {"t": {"properties": {"a": {"type": "strin"}}}}}, ConfigError, "/properties/a/type"),
        ({"schemas": {"t": {"pattern": "("}}}, ConfigError, "/pattern"),
        ({"schemas": {"t": {"$ref": "http://127.0.0.1:1/x"}}}, ConfigError, "nothing outside of it is read"),
        ({"schemas": {"t": {"$schema": "urn:x"}}}, ConfigError, "is not known"),
        ({"schemas": {"t": 5}}, ConfigTypeError, "schemas.t"),
        ({"schemas": {"t": None}}, ConfigTypeError, "schemas.t"),
        ({"schemas": []}, ConfigTypeError, "schemas must be an object"),
        ({"schemas": {"t": {"enum": [{1, 2}]}}}, ConfigError, "not JSON"),
        ({"tools": "search"}, ConfigTypeError, "tools"),
        ({"tools": {"functions": []}}, ConfigError, "no list `tools`"),
        ({"tools": [{"name": "a"}, {"description": "x"}]}, ConfigError, "entry 1 names no tool"),
        ({"tools": [5]}, ConfigError, "entry 0 names no tool"),
        ({"tools": [{"name": "t", "parameters": {"type": 5}}]}, ConfigError, "'t'"),
        ({"tools": [{"name": "t", "parameters": "x"}]}, ConfigError, "'t'"),
        ({"allowlist": "search"}, ConfigTypeError, "allowlist must be a list"),
        ({"blocklist": [5]}, ConfigTypeError, "blocklist[0] must be a string"),
        ({"blocklist": None}, ConfigTypeError, "blocklist must be a list"),
        ({"require_schema": 1}, ConfigTypeError, "require_schema must be true or false"),
        ({"alowlist": []}, ConfigError, "did you mean 'allowlist'?"),
    ],
)  # fmt: skip
def test_a_bad_config_is_refused_with_what_is_wrong_and_where(config, error, told):
    with pytest.raises(error) as refusal:
        ToolSchemaGrader(config=config)
    assert told in str(refusal.value)
    assert ToolSchemaGrader.validate_config(config) is False


def test_a_config_is_the_graders_own():
    schema = {"required": ["a"]}
    grader = ToolSchemaGrader(config={"schemas": {"t": schema}})
    schema["required"].append("b")
    assert grader.effective_config()["schemas"] == {"t": {"required": ["a"]}}
    assert grader.grade(trace(call("t", {"a": 1})))["passed"]


# No calls, no facts


def test_a_trace_without_calls_passes_as_vacuous():
    result = grade({"type": "llm", "output": "hello"}, allowlist=["search"])
    assert (result["verdict"], result["score"]) == ("pass", 1.0)
    assert [(each["check"], each["passed"]) for each in result["evidence"]] == [("vacuous", True)]


def test_calls_can_be_required():
    result = grade({"type": "llm", "output": "hello"}, require_tool_calls=True)
    assert (result["verdict"], result["score"]) == ("fail", 0.0)
    made = entry(result, "tool_calls_made")
    assert (made["limit"], made["passed"]) == (1, False)
    assert grade(call("ls"), require_tool_calls=True)["passed"]


def test_a_source_that_carries_no_tool_calls_is_ungradable():
    result = grade({"type": "llm"}, missing={"tool_calls": "only the answers were kept"})
    assert result["verdict"] == "ungradable"
    lack = entry(result, "has_tool_calls")
    assert "only the answers were kept" in lack["description"]
    assert lack["cause"] == "not recorded"


def test_a_trace_that_has_some_calls_lacks_only_some():
    result = grade(call(arguments={"query": "x"}), tools=OPENAI, missing={"tool_calls": "a cut"})
    lack = entry(result, "has_tool_calls")
    assert (lack["description"], lack["cause"]) == (
        "the trace lacks some tool calls: a cut",
        "known in part",
    )


def test_tools_are_known_with_the_prefix_and_without_it():
    calls = [call(name, {"query": 5}) for name in ("mcp__a__search", "search")]
    result = grade(*calls, tools=None, tools_prefix="mcp__a__")
    assert result["verdict"] == "pass"  # the prefix is of `tools` alone, and there are none
    result = ToolSchemaGrader(config={"tools": MCP, "tools_prefix": "mcp__a__"}).grade(
        trace(*calls)
    )
    assert [each["check"] for each in failures(result)] == ["arguments_match_schema"] * 2
    assert result["details"]["tools_prefix"] == "mcp__a__"


@pytest.mark.parametrize("name", ["mcp__b__search", "mcp__a__x__search", "mcp__a__mcp__a__search"])
def test_tools_of_another_server_stay_unknown(name):
    config = {"tools": MCP, "tools_prefix": "mcp__a__"}
    result = ToolSchemaGrader(config=config).grade(trace(call(name, {"query": "x"})))
    [refused] = failures(result)
    prefix = name.removesuffix("search")
    assert (refused["check"], refused["cause"]) == ("tool_known", name)
    assert refused["description"].endswith(
        f"in the configured tools; if it is 'search', set tools_prefix: {prefix}"
    )


@pytest.mark.parametrize("name", ["research", "mcp__a__research", "search__", "x" * 300 + "__search"])  # fmt: skip
def test_no_prefix_is_proposed_for_other_names(name):
    result = ToolSchemaGrader(config={"tools": MCP}).grade(trace(call(name)))
    assert "tools_prefix" not in failures(result)[0]["description"]


@pytest.mark.parametrize("config", [{"allowlist": ["search"]}, {"blocklist": ["mcp__a__search"]}])
def test_lists_have_whole_names_whatever_the_prefix(config):
    config = {"tools": MCP, "tools_prefix": "mcp__a__", **config}
    result = ToolSchemaGrader(config=config).grade(trace(call("mcp__a__search", {"query": "x"})))
    assert result["verdict"] == "fail"


def test_an_agents_own_tool_is_known_by_a_schema_that_accepts_everything():
    config = {"tools": MCP, "schemas": {"Task": True}}
    result = ToolSchemaGrader(config=config).grade(trace(call("Task", {"a": 1})))
    assert result["verdict"] == "pass"


def test_a_trace_that_cannot_be_read_is_ungradable_with_all_details():
    result = ToolSchemaGrader(config={"blocklist": ["rm"]}).grade({"nothing": "known"})
    assert result["verdict"] == "ungradable"
    assert result["details"]["blocklist"] == ["rm"]
    assert result["details"]["definitions"] == {"schemas": 0, "tools": 0, "trace_tools": 0}
    assert set(result["details"]) == set(grade(call())["details"])


def test_requirements_ask_for_definitions_only_where_nothing_else_can_give_them():
    def capabilities(config=None):
        return ToolSchemaGrader.requirements(config).capabilities

    assert ToolSchemaGrader.requirements().step_types == ("tool",)
    assert capabilities() == ("tool_calls",)
    assert capabilities({"require_schema": True}) == ("tool_calls", "tool_definitions")
    assert capabilities({"require_schema": True, "schemas": {"t": {}}}) == ("tool_calls",)
    assert capabilities({"require_schema": True, "tools": []}) == ("tool_calls",)
    assert capabilities({"require_schema": True, "use_trace_tools": False}) == ("tool_calls",)


# Evidence stays small, and every call is in the counts


def test_every_call_is_counted_and_the_evidence_is_bounded():
    good = [call(arguments={"query": "x"}) for _ in range(300)]
    bad = [call(arguments={"query": 1}) for _ in range(200)]
    blocked = [call(f"rm{number}") for number in range(100)]
    result = grade(*good, *bad, *blocked, tools=MCP, blocklist=["rm*"])
    details = result["details"]
    assert (details["calls"], details["valid_calls"], details["invalid_calls"]) == (600, 300, 300)
    assert details["violations"]["arguments_match_schema"] == 200
    assert details["violations"]["tool_not_blocked"] == 100
    assert (details["distinct_tools"], len(details["tools_used"])) == (101, 50)
    assert result["score"] == 0.5
    assert len(result["evidence"]) == 50
    assert result["evidence"][-1]["check"] == "more"
    assert "301 checks in all, 300 of them failed" in result["evidence"][-1]["description"]


def test_long_texts_from_a_trace_are_cut():
    tools = [{"name": "t", "parameters": {"properties": {"k" * 5_000: {"type": "integer"}}}}]
    result = grade(
        call("t", {"k" * 5_000: "v" * 100_000}), call("n" * 100_000), call("t", "x" * 100_000),
        tools=tools,
    )  # fmt: skip
    assert len(str(result)) < 5_000


def test_lone_surrogates_from_a_trace_are_shown_as_replaced():
    surrogate = "\ud800"
    result = grade(
        call(surrogate, {surrogate: surrogate}, id=f"a{surrogate}"),
        call("t", surrogate),
        schemas={surrogate: {"additionalProperties": False}},
    )
    assert result["verdict"] == "fail"
    str(result).encode()


# Whatever comes

any_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
keywords = st.sampled_from(
    [
        *("$ref", "$id", "$schema", "$defs", "type", "properties", "items", "pattern", "anyOf"),
        *("enum", "required", "not", "dependencies", "$dynamicRef", "$anchor", "patternProperties"),
    ]
)
odd_schemas = st.recursive(
    any_json | st.sampled_from(["#", "#/$defs/a", "a", "string", "object", "(", "http://a/b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(keywords, inner, max_size=4)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(schema=odd_schemas, arguments=any_json, text=st.text(max_size=20))
@settings(max_examples=examples(300), deadline=None)
def test_whatever_schema_and_arguments_come_every_call_is_counted_once(schema, arguments, text):
    whole = Trace(
        id=None,
        format="x",
        steps=tuple(
            Step(id=f"c{place}", type="tool", name="t", arguments=each)
            for place, each in enumerate([arguments, text, {"a": arguments}, None])
        ),
        tools=(ToolDefinition("t", schema),),
    )
    result = ToolSchemaGrader().grade(whole)
    details = result["details"]
    kinds = ("valid_calls", "invalid_calls", "ungradable_calls")
    assert details["calls"] == 4 == sum(details[kind] for kind in kinds)
    assert details["invalid_calls"] == sum(details["violations"].values())
    told = [step for each in result["evidence"] for step in each["step_ids"]]
    assert sorted(told) == ["c0", "c1", "c2", "c3"]
    assert orjson.loads(orjson.dumps(result)) == result
    config = {"schemas": {"t": schema}}
    if ToolSchemaGrader.validate_config(config):
        ToolSchemaGrader(config=config).grade(whole)


class Hostile:
    """An object whose every hook raises."""

    def _refuse(self, *_):
        raise RuntimeError("hostile")

    __repr__ = __str__ = __bool__ = __len__ = __iter__ = __eq__ = __hash__ = __index__ = _refuse
    __getattr__ = __float__ = __int__ = _refuse
    __class__ = property(_refuse)


class Text(str):
    """A text that is not quite one."""

    __slots__ = ()


ODD = {
    "object": Hostile(),
    "text": Text("x"),
    "set": {1, 2},
    "bytes": b"x",
    "complex": 1j,
    "tuple": (1, {2}),
    "long integer": 10**5_000,
    "nan": float("nan"),
    "key": {1: 2},
    "odd key": {Text("a"): 1},
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("schema", [True, {"additionalProperties": {"type": "integer"}}])
def test_what_is_not_json_is_never_judged_as_if_it_were(name, schema):
    value = ODD[name]
    for arguments in (value, {"a": value}, {"a": [value]}):
        step = Step(id="a", type="tool", name="t", arguments=arguments)
        whole = Trace(id=None, format="x", steps=(step,), tools=(ToolDefinition("t", schema),))
        result = ToolSchemaGrader().grade(whole)
        assert result["verdict"] in {"pass", "fail", "ungradable"}
        orjson.dumps(result)
    named = Step(id="a", type="tool", name=value, arguments={})
    assert ToolSchemaGrader().grade(Trace(id=None, format="x", steps=(named,)))["passed"]


@pytest.mark.parametrize("name", ["", " ", "\u00a0\n"])
def test_a_cause_says_that_a_tool_has_no_name_also_if_it_is_of_blanks(name):
    for config in ({"allowlist": ["search"]}, {"tools": OPENAI}):
        assert failures(grade(call(name, {}), **config))[0]["cause"] == "(no name)"
    odd = [{"name": name or "search", "input_schema": SEARCH}]
    cause = failures(grade(call(name or "search", {}), tools=odd))[0]["cause"]
    assert cause == f"{'(no name)' if name else 'search'}, required"


def test_a_call_that_names_no_tool_passes_no_list():
    nameless = {"type": "tool", "nmae": "rm", "arguments": {}}
    for config in ({"blocklist": ["rm"]}, {"allowlist": ["*"]}):
        result = grade(nameless, **config)
        assert result["verdict"] == "fail"
        assert "names no tool" in failures(result)[0]["description"]
        assert failures(result)[0]["cause"] == "(no name)"


def test_calls_that_a_schema_judged_are_counted():
    steps = [
        call("search", {"query": "x"}),
        call("search", {"query": "y"}),
        call("search", {}),
        call("search", "no JSON"),
        call("search", None),
        call("other", {}),
    ]
    schemas = {"search": {"required": ["query"]}}
    judged = grade(*steps, schemas=schemas)["details"]
    assert (judged["calls"], judged["schema_judged_calls"]) == (6, 3)
    blocked = grade(*steps, schemas=schemas, blocklist=["search"])["details"]
    assert blocked["schema_judged_calls"] == 0
    assert grade(*steps[:3], blocklist=["rm"])["details"]["schema_judged_calls"] == 0


def test_the_limit_of_arguments_that_are_no_object_is_an_object():
    for config in ({"blocklist": ["rm"]}, {"schemas": {"search": {}}}):
        refused = entry(grade(call("search", "x"), **config), "arguments_are_object")
        assert refused["limit"] == ["a JSON object"]


def test_a_violation_is_grouped_by_tool_and_keyword():
    tools = [{"name": "search", "inputSchema": {"required": ["q"]}}]
    [refused] = failures(grade(call("rm"), blocklist=["rm"]))
    assert (refused["check"], refused["cause"]) == ("tool_not_blocked", "rm")
    [invalid] = failures(grade(call("search", {}), tools=tools))
    assert (invalid["check"], invalid["cause"]) == ("arguments_match_schema", "search, required")

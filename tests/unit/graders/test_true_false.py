"""The true-false grader: the texts that are booleans, and the evidence for those that are not."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.graders import TrueFalseGrader

YEP = {"aliases": {"true": ["yep"], "false": ["nope"]}}
DETAILS = [
    "expected_bool",
    "actual_bool",
    "match_status",
    "reason",
    "expected_original",
    "actual_original",
    "normalized_expected",
    "normalized_actual",
]


def grade(response, expected, **config):
    return TrueFalseGrader(config=config or None).grade(response, expected)


def status(response, expected, **config):
    return grade(response, expected, **config)["details"]["match_status"]


CONTRACT_EXAMPLES = {
    "booleans match": (
        "yes",
        "true",
        {},
        "pass",
        ("true", "true", "match", "Expected and actual values match"),
    ),
    "booleans differ": (
        "false",
        "true",
        {},
        "fail",
        ("true", "false", "mismatch", "Expected true but got false"),
    ),
    "booleans differ the other way": (
        *("true", "false", {}, "fail"),
        ("false", "true", "mismatch", "Expected false but got true"),
    ),
    "invalid response": (
        *("maybe", "true", {}, "fail"),
        ("true", None, "invalid_response", "Response 'maybe' does not represent a boolean value"),
    ),
    "empty response": (
        "",
        "true",
        {},
        "fail",
        ("true", None, "invalid_response", "Empty or null response"),
    ),
    "whitespace": (
        "  Yes  ",
        " true ",
        {},
        "pass",
        ("true", "true", "match", "Expected and actual values match"),
    ),
    "custom aliases": (
        "yep",
        "true",
        YEP,
        "pass",
        ("true", "true", "match", "Expected and actual values match"),
    ),
    "invalid expected": (
        *("true", "x", {}, "ungradable"),
        (None, "true", "invalid_expected", "Expected value 'x' is not a valid boolean"),
    ),
}


@pytest.mark.parametrize("name", CONTRACT_EXAMPLES)
def test_the_contracts_examples_come_out_field_by_field(name):
    response, expected, config, verdict, fields = CONTRACT_EXAMPLES[name]
    result = grade(response, expected, **config)
    details = result["details"]
    assert (result["passed"], result["score"]) == (
        (True, 1.0) if verdict == "pass" else (False, 0.0)
    )
    assert result["verdict"] == verdict
    assert tuple(details[field] for field in DETAILS[:4]) == fields
    assert (details["expected_original"], details["actual_original"]) == (expected, response)
    assert list(details) == DETAILS


TRUE = [
    "true",
    "True",
    "TRUE",
    "yes",
    "Yes",
    "YES",
    "1",
    "tRuE",
    "yEs",
    " yes\n",
    "\u2003true\u00a0",
]
FALSE = ["false", "False", "FALSE", "no", "No", "NO", "0", "fAlSe", "nO", "\tno "]


@pytest.mark.parametrize("ways", [TRUE, FALSE], ids=["true", "false"])
def test_every_way_to_say_one_thing_equals_every_other(ways):
    for response, expected in product(ways, ways):
        assert grade(response, expected)["passed"], (response, expected)


@pytest.mark.parametrize(
    ("response", "expected"), [("1", "false"), ("no", "true"), ("false", "yes"), ("TRUE", "0")]
)
def test_opposite_booleans_are_a_mismatch(response, expected):
    assert status(response, expected) == "mismatch"


@pytest.mark.parametrize(
    "response",
    [
        "maybe",
        "unknown",
        "42",
        "on",
        "off",
        "true.",
        "Yes.",
        "true false",
        "t",
        "y",
        "\uff11",
        "n\u043e",
        "\U0001d42d\U0001d42b\U0001d42e\U0001d41e",
        "01",
        "tr ue",
    ],
)
def test_only_a_whole_alias_is_a_boolean(response):
    result = grade(response, "true")
    assert result["details"]["match_status"] == "invalid_response"
    assert result["details"]["actual_bool"] is None
    assert (
        result["details"]["reason"] == f"Response '{response}' does not represent a boolean value"
    )


@pytest.mark.parametrize("response", [None, "", " ", "\t\n\u2003\u00a0"])
def test_an_empty_response_is_said_to_be_empty(response):
    details = grade(response, "true")["details"]
    assert details["match_status"] == "invalid_response"
    assert details["reason"] == "Empty or null response"
    assert details["actual_original"] == (response or "")
    assert details["normalized_actual"] == ""


@pytest.mark.parametrize(
    ("expected", "reason"),
    [
        (None, "Expected value is null"),
        ("", "Expected value is empty"),
        ("  ", "Expected value is empty"),
        ("maybe", "Expected value 'maybe' is not a valid boolean"),
        (2.0, "Expected value '2.0' is not a valid boolean"),
        ([], "Expected value '[]' is not a valid boolean"),
    ],
)
@pytest.mark.parametrize("response", ["true", "maybe", None, ""])
def test_an_invalid_expected_value_wins_and_is_ungradable(response, expected, reason):
    result = grade(response, expected)
    assert (result["verdict"], result["passed"], result["score"]) == ("ungradable", False, 0.0)
    assert result["details"]["match_status"] == "invalid_expected"
    assert result["details"]["expected_bool"] is None
    assert result["details"]["reason"] == reason


def test_a_valid_response_is_still_read_beside_an_invalid_expected_value():
    assert grade("no", "x")["details"]["actual_bool"] == "false"


@pytest.mark.parametrize(
    ("response", "expected", "match_status"),
    [
        (True, "yes", "match"),
        (False, "true", "mismatch"),
        ("no", False, "match"),
        (1, True, "match"),
        (0, 1, "mismatch"),
    ],
)
def test_json_booleans_and_integers_are_read_as_written(response, expected, match_status):
    assert status(response, expected) == match_status


def test_json_booleans_show_as_json_writes_them():
    details = grade(True, 0)["details"]
    assert (details["actual_original"], details["expected_original"]) == ("true", "0")


def test_an_integer_is_a_boolean_only_where_its_digits_are_an_alias():
    assert status(42, "true") == "invalid_response"
    assert status(1, "true", **YEP) == "invalid_response"
    assert status(42, "true", aliases={"true": ["42"], "false": ["7"]}) == "match"


@pytest.mark.parametrize(
    ("response", "shown"),
    [
        (1.0, "1.0"),
        (float("nan"), "NaN"),
        (["true"], '["true"]'),
        ({"a": True}, '{"a": true}'),
        ([], "[]"),
        (b"true", "<bytes>"),
    ],
)
def test_other_values_are_shown_as_json_and_are_no_booleans(response, shown):
    details = grade(response, "true")["details"]
    assert details["match_status"] == "invalid_response"
    assert details["reason"] == f"Response '{shown}' does not represent a boolean value"
    assert details["actual_original"] == shown
    assert details["normalized_actual"] == ""


def test_a_float_is_no_boolean_even_where_an_alias_reads_like_it():
    assert status(1.0, "true", aliases={"true": ["1.0"], "false": ["0.0"]}) == "invalid_response"


def test_quoted_text_is_cut_at_200_characters_and_kept_whole_in_the_details():
    details = grade("x" * 1_000, "true")["details"]
    assert details["reason"] == f"Response '{'x' * 200}' does not represent a boolean value"
    assert details["actual_original"] == "x" * 1_000
    assert (
        grade("true", "y" * 1_000)["details"]["reason"]
        == f"Expected value '{'y' * 200}' is not a valid boolean"
    )


def test_the_normalized_forms_are_stripped_and_folded():
    details = grade("  YES ", "\tTRUE")["details"]
    assert (details["normalized_actual"], details["normalized_expected"]) == ("yes", "true")


def test_case_sensitive_normalizing_only_strips():
    details = grade("  YES ", "true", case_sensitive=True)["details"]
    assert (details["normalized_actual"], details["actual_bool"]) == ("YES", "true")


@pytest.mark.parametrize(
    ("response", "match_status"),
    [("TRUE", "match"), ("Yes", "match"), ("tRUE", "invalid_response")],
)
def test_case_sensitive_matching_knows_the_listed_spellings_only(response, match_status):
    assert status(response, "true", case_sensitive=True) == match_status


def test_custom_aliases_replace_the_defaults_but_not_the_canonical_words():
    assert status("yes", "true", **YEP) == "invalid_response"
    assert status("1", "true", **YEP) == "invalid_response"
    assert status("true", "yep", **YEP) == "match"
    assert status("FALSE", "nope", **YEP) == "match"
    assert status("FALSE", "nope", **YEP, case_sensitive=True) == "invalid_response"


def test_case_is_folded_on_aliases_too_and_beyond_ascii():
    config = {"aliases": {"true": [" STRASSE "], "false": ["nein"]}}
    assert status("straße", "true", **config) == "match"


def test_a_grader_shows_its_parameters():
    default = TrueFalseGrader()
    assert default.config == {}
    assert default.case_sensitive is False
    assert default.true_aliases == ["true", "True", "TRUE", "yes", "Yes", "YES", "1"]
    assert default.false_aliases == ["false", "False", "FALSE", "no", "No", "NO", "0"]
    custom = TrueFalseGrader("mine", {**YEP, "case_sensitive": True})
    assert custom.config == {**YEP, "case_sensitive": True}
    assert (custom.case_sensitive, custom.true_aliases, custom.false_aliases) == (
        True,
        ["yep"],
        ["nope"],
    )


def test_shown_aliases_are_the_callers_own_to_change():
    grader = TrueFalseGrader()
    grader.true_aliases.append("maybe")
    assert "maybe" not in grader.true_aliases
    assert grader.grade("maybe", "true")["details"]["match_status"] == "invalid_response"


@pytest.mark.parametrize(
    ("config", "error", "says"),
    [
        (
            {"aliasses": {}},
            ValueError,
            "unknown key 'aliasses'; did you mean 'aliases'? Known keys: aliases, case_sens",
        ),
        ({"case_sensitive": 1}, TypeError, "case_sensitive must be true or false, not 1"),
        (
            {"case_sensitive": "false"},
            TypeError,
            "case_sensitive must be true or false, not 'false'",
        ),
        ({"case_sensitive": None}, TypeError, "case_sensitive must be true or false, not null"),
        ({"aliases": ["true"]}, TypeError, "aliases must be an object"),
        ({"aliases": None}, TypeError, "aliases must be an object"),
        ({"aliases": {"true": ["a"]}}, ValueError, "aliases lacks the key 'false'"),
        ({"aliases": {"false": ["a"]}}, ValueError, "aliases lacks the key 'true'"),
        (
            {"aliases": {"true": ["a"], "false": ["b"], "True": ["c"]}},
            ValueError,
            "aliases: unknown key 'True'",
        ),
        (
            {"aliases": {"true": "a", "false": ["b"]}},
            TypeError,
            "aliases.true must be a list, not 'a'",
        ),
        (
            {"aliases": {"true": ["a"], "false": ["b", 0]}},
            TypeError,
            "aliases.false[1] must be a string, not 0",
        ),
        (
            {"aliases": {"true": ["a"], "false": ["b", True]}},
            TypeError,
            "aliases.false[1] must be a string, not true",
        ),
        (
            {"aliases": {"true": [], "false": ["b"]}},
            ValueError,
            "aliases.true must have at least 1 item",
        ),
        (
            {"aliases": {"true": ["a", " "], "false": ["b"]}},
            ValueError,
            "aliases.true has an empty alias",
        ),
        (
            {"aliases": {"true": ["a"], "false": ["A "]}},
            ValueError,
            "alias 'A ' would mean both true and false",
        ),
        (
            {"aliases": {"true": ["a", "FALSE"], "false": ["b"]}},
            ValueError,
            "alias 'FALSE' would mean both",
        ),
        (
            {"aliases": {"true": ["a"], "false": ["true"]}},
            ValueError,
            "alias 'true' would mean both",
        ),
        ({"aliases": {"true": ["\ud800"], "false": ["b"]}}, ValueError, "lone surrogate"),
    ],
)
def test_a_bad_config_is_refused_with_what_is_wrong_and_what_would_work(config, error, says):
    with pytest.raises(error) as refusal:
        TrueFalseGrader(config=config)
    assert says in str(refusal.value)
    assert "pydantic" not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert TrueFalseGrader.validate_config(config) is False


def test_an_alias_differing_in_case_is_no_conflict_where_case_matters():
    config = {"aliases": {"true": ["A", "FALSE"], "false": ["a"]}, "case_sensitive": True}
    assert status("FALSE", "A", **config) == "match"
    assert TrueFalseGrader.validate_config({**config, "case_sensitive": False}) is False


def test_an_alias_may_be_listed_twice_on_one_side():
    assert status("Y", "true", aliases={"true": ["y", "Y", "y"], "false": ["n"]}) == "match"


def test_evidence_names_the_check_the_expected_boolean_and_the_one_seen():
    (evidence,) = grade("no", "true")["evidence"]
    assert evidence == {
        "check": "boolean_match",
        "description": "Response 'no' means false, expected true",
        "passed": False,
        "cause": "false negative",
        "limit": "true",
        "observed": "false",
        "step_ids": [],
        "excerpt": "no",
    }


@pytest.mark.parametrize(
    ("response", "expected", "check"),
    [
        ("yes", "1", "boolean_match"),
        ("perhaps", "true", "response_is_boolean"),
        ("yes", "perhaps", "expected_is_boolean"),
    ],
)
def test_each_kind_of_verdict_rests_on_its_own_check(response, expected, check):
    assert grade(response, expected)["evidence"][0]["check"] == check


@pytest.mark.parametrize(
    ("response", "expected", "cause"),
    [
        ("yes", "false", "false positive"),
        ("no", "true", "false negative"),
        (" ", "true", "empty"),
        (None, "true", "empty"),
        (2.5, "true", "not text"),
        ("true.", "true", "punctuation"),
        ("The answer is yes", "true", "wrapped"),
        ("yes or no", "true", "both"),
        ("perhaps", "true", "other"),
        ("yes", "perhaps", "other"),
        ("yes", None, "null"),
        ("yes", "", "empty"),
        ("yes", " ", "empty"),
        ("yes", [], "not text"),
    ],
)
def test_a_failure_says_of_which_kind_it_is(response, expected, cause):
    assert grade(response, expected)["evidence"][0]["cause"] == cause


def test_a_lone_surrogate_is_shown_as_the_replacement_character():
    details = grade("\ud800", "true")["details"]
    assert details["actual_original"] == details["normalized_actual"] == "\ufffd"


aliases = st.lists(st.sampled_from(["ja", "JA ", "oui", "si", "10", "ß", "SS"]), min_size=1)


@given(response=st.text(), expected=st.text(), case_sensitive=st.booleans())
def test_it_agrees_with_a_table_look_up(response, expected, case_sensitive):
    assert_agrees(response, expected, case_sensitive=case_sensitive)


@given(
    response=st.sampled_from(["ja", "Ja", "no", "ss", "ß", "true", " TRUE\n", "10", "x", ""]),
    expected=st.sampled_from(["nein", "false", "JA", "oui", "ẞ", ""]),
    true=aliases,
    case_sensitive=st.booleans(),
)
def test_it_agrees_with_a_table_look_up_under_custom_aliases(
    response, expected, true, case_sensitive
):
    assert_agrees(
        response, expected, case_sensitive=case_sensitive, true=true, false=["nein", "no"]
    )


def assert_agrees(response, expected, *, case_sensitive, true=None, false=None):
    def fold(text):
        return text.strip() if case_sensitive else text.strip().casefold()

    def meaning(text, grader):
        if fold(text) in {fold(word) for word in [*grader.true_aliases, "true"]}:
            return "true"
        return (
            "false"
            if fold(text) in {fold(word) for word in [*grader.false_aliases, "false"]}
            else None
        )

    config = {"case_sensitive": case_sensitive}
    if true:
        config["aliases"] = {"true": true, "false": false}
    grader = TrueFalseGrader(config=config)
    details = grader.grade(response, expected)["details"]
    assert details["expected_bool"] == meaning(expected, grader)
    assert details["actual_bool"] == meaning(response, grader)

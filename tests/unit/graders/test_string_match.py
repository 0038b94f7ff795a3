"""The string-match grader: what counts as equal under each normalisation, and where two texts part."""

from __future__ import annotations

import re
import string
import unicodedata
from functools import partial

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from support.growth import assert_takes_at_most
from weighbridge.graders import StringMatchGrader
from weighbridge.graders.string_match import without_articles, without_punctuation
from weighbridge.graders.text_difference import WORDS, first_difference

SQUAD = {
    "case_sensitive": False,
    "ignore_punctuation": True,
    "ignore_articles": True,
    "collapse_whitespace": True,
}
DETAILS = [
    "match_status",
    "reason",
    "expected_original",
    "expected_index",
    "actual_original",
    "normalized_expected",
    "normalized_actual",
    "first_difference",
]


def grade(response, expected, **config):
    return StringMatchGrader(config=config or None).grade(response, expected)


def details(response, expected, **config):
    return grade(response, expected, **config)["details"]


def passes(response, expected, **config):
    return grade(response, expected, **config)["passed"]


def test_equal_texts_pass_with_every_detail():
    result = grade("Paris", "Paris")
    assert (result["passed"], result["score"], result["verdict"]) == (True, 1.0, "pass")
    assert result["details"] == {
        "match_status": "match",
        "reason": "Expected and actual values match",
        "expected_original": "Paris",
        "expected_index": 0,
        "actual_original": "Paris",
        "normalized_expected": "Paris",
        "normalized_actual": "Paris",
        "first_difference": None,
    }


def test_texts_of_up_to_160_characters_are_quoted_in_full():
    same = "x" * 159
    full = f"Expected '{same}b' but got '{same}a'"
    assert grade(f"{same}a", f"{same}b")["details"]["reason"] == full
    assert grade(f"x{same}a", f"x{same}b")["details"]["reason"].startswith("Expected '…xxx")


def test_different_texts_fail_with_both_quoted_and_the_place_where_they_part():
    result = grade("Parma", "Paris")
    assert (result["passed"], result["score"], result["verdict"]) == (False, 0.0, "fail")
    assert result["details"]["match_status"] == "mismatch"
    assert result["details"]["reason"] == "Expected 'Paris' but got 'Parma'"
    assert result["details"]["first_difference"] == 3
    (evidence,) = result["evidence"]
    assert evidence["description"] == (
        "Expected 'Paris' but got 'Parma'; the first difference is at index 3 (5 characters, expected 5)"
    )
    assert (evidence["check"], evidence["limit"], evidence["observed"]) == (
        "string_match",
        "Paris",
        "Parma",
    )


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("paris", "Paris"),
        ("Paris ", "Paris"),
        ("Paris.", "Paris"),
        ("the cat", "cat"),
        ("a  b", "a b"),
        ("e\u0301", "é"),
    ],
)
def test_nothing_is_normalised_unless_asked(response, expected):
    assert not passes(response, expected)


@pytest.mark.parametrize(
    ("config", "response", "expected"),
    [
        ({"case_sensitive": False}, "STRASSE", "straße"),
        ({"strip_whitespace": True}, "\u2003Paris\n", "Paris"),
        ({"collapse_whitespace": True}, " a \u2003\n b\t", "a b"),
        ({"ignore_punctuation": True}, "(B).", "B"),
        ({"ignore_articles": True}, "the cat", "cat"),
        ({"ignore_articles": True}, "The cat and AN owl", "cat and owl"),
        ({"unicode_form": "NFC"}, "e\u0301", "é"),
        ({"unicode_form": "NFD"}, "é", "e\u0301"),
        ({"unicode_form": "NFKC"}, "ﬁve \uff15", "five 5"),
        ({"unicode_form": "NFKD"}, "①", "1"),
        (SQUAD, "The  Eiffel Tower!", "eiffel tower"),
    ],
)
def test_each_option_disregards_what_it_says(config, response, expected):
    assert passes(response, expected, **config)
    assert passes(expected, response, **config)


@pytest.mark.parametrize(
    ("config", "response", "expected"),
    [
        ({"strip_whitespace": True}, "a  b", "a b"),
        ({"unicode_form": "NFC"}, "ﬁ", "fi"),
        ({"ignore_punctuation": True}, "“B”", "B"),
        ({"ignore_articles": True}, "theatre", "atre"),
        ({"ignore_articles": True}, "an_b", "b"),
        ({"ignore_punctuation": True}, "a b", "ab"),
    ],
)
def test_no_option_disregards_more_than_it_says(config, response, expected):
    assert not passes(response, expected, **config)


def test_punctuation_goes_before_articles_so_that_an_article_in_brackets_goes_too():
    assert passes("(the) cat", "cat", ignore_punctuation=True, ignore_articles=True)


def test_compatibility_forms_come_before_case_and_punctuation():
    assert passes(
        "\uff21\uff22\uff01",
        "ab",
        unicode_form="NFKC",
        case_sensitive=False,
        ignore_punctuation=True,
    )


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("the cat", "cat"),
        ("cat the", "cat"),
        ("cat  the  dog", "cat dog"),
        ("the", ""),
        ("a an the", ""),
        ("  cat  ", "  cat  "),
        ("  cat the dog  ", "  cat dog  "),
        ("cat  and   dog a", "cat  and   dog"),
        ("a.m.", ".m."),
        ("A", ""),
        ("", ""),
    ],
)
def test_articles_leave_one_space_and_touch_no_other_whitespace(text, rest):
    assert without_articles(text) == rest


@pytest.mark.parametrize(
    ("response", "expected", "config"),
    [
        ("] ) >", "> ) ]", {"ignore_punctuation": True}),
        ("] ) >", "> ) ]", SQUAD),
        ("a", "the", SQUAD),
        ("the a", "an", {"ignore_articles": True}),
        (
            "(a)",
            "[a]",
            {
                "ignore_punctuation": True,
                "ignore_articles": True,
                "case_sensitive": False,
                "expected_any": ["{}"],
            },
        ),
    ],
)
def test_answers_of_nothing_but_what_is_removed_are_not_all_equal(response, expected, config):
    is_same_but_for_brackets = response == "(a)"
    assert passes(response, expected, **config) is is_same_but_for_brackets
    assert passes(response, response, **config)


def test_later_steps_go_on_from_the_restored_forms():
    found = details("( ) ", " ( )", **SQUAD)
    assert (found["match_status"], found["normalized_actual"]) == ("match", "( )")


def test_a_removal_that_empties_one_side_only_is_made():
    found = details("...", "Paris.", ignore_punctuation=True)
    assert (found["normalized_actual"], found["normalized_expected"]) == ("", "Paris")


def test_any_further_answer_passes_and_the_details_show_it():
    found = details(
        "PARIS", "City of Light", case_sensitive=False, expected_any=["Lutetia", "Paris"]
    )
    assert found["match_status"] == "match"
    assert (found["expected_original"], found["normalized_expected"]) == ("Paris", "paris")
    assert found["expected_index"] == 2
    assert details("City of Light", "City of Light", expected_any=["Paris"])["expected_index"] == 0


def test_without_anything_in_common_the_primary_answer_is_shown_and_all_are_counted():
    result = grade("Rome", "Paris", expected_any=["Lutetia", "City of Light"])
    assert result["details"]["expected_original"] == "Paris"
    assert result["evidence"][0]["description"].endswith("none of 3 accepted answers is equal")


@pytest.mark.parametrize(
    ("response", "accepted", "nearest", "cause"),
    [
        ("ANS 39", ["Answer 39", "Ans 39"], "Ans 39", "case"),
        ("ANS 39", ["ans 39.", "no", "Ans 39", "ans 39"], "Ans 39", "case"),
        ("ans 39", ["Ans 39.", "Answer 39", "ans  39", "ans 39!"], "ans  39", "whitespace"),
        ("It is Paris.", ["City of Light", "Paris", "Lutetia"], "Paris", "wrapped"),
        ("-5", ["five", "5", "-5 or so"], "5", "number"),
        ("42.0", ["forty-two", "42"], "42", "notation"),
        ("Par", ["Paris", "Lutetia", "Par is"], "Par is", "partial"),
        (" ", ["Paris", " x"], "Paris", "empty"),
    ],
)
def test_a_mismatch_is_described_by_the_nearest_accepted_answer(response, accepted, nearest, cause):
    result = grade(response, accepted[0], expected_any=accepted[1:])
    [evidence], found = result["evidence"], result["details"]
    assert (evidence["cause"], found["expected_original"]) == (cause, nearest)
    assert found["normalized_expected"] == nearest == accepted[found["expected_index"]]
    assert found["reason"] in evidence["description"]
    assert repr(nearest)[1:-1] in found["reason"]


def test_of_very_many_accepted_answers_the_first_ones_are_classified():
    others = [f"answer {number}" for number in range(20_000)]
    assert grade("ROME", "x", expected_any=["Rome", *others])["evidence"][0]["cause"] == "case"
    assert grade("ROME", "x", expected_any=[*others, "Rome"])["evidence"][0]["cause"] == "other"
    assert passes("Rome", "x", expected_any=[*others, "Rome"])


def test_a_null_expected_value_stays_invalid_beside_further_answers():
    assert details("Paris", None, expected_any=["Paris"])["match_status"] == "invalid_expected"


@pytest.mark.parametrize(
    ("response", "shown"), [(2.5, "2.5"), (["B"], '["B"]'), ({}, "{}"), (b"B", "<bytes>")]
)
def test_a_response_that_is_not_text_is_invalid_and_shown_as_json(response, shown):
    result = grade(response, "B")
    assert result["verdict"] == "fail"
    assert result["details"]["match_status"] == "invalid_response"
    assert result["details"]["reason"] == f"Response '{shown}' is not text"
    assert result["details"]["first_difference"] is None


def test_a_null_response_fails_and_a_null_expected_value_is_ungradable():
    response = grade(None, "B")
    assert (response["verdict"], response["details"]["match_status"]) == (
        "fail",
        "invalid_response",
    )
    assert response["details"]["reason"] == "Response is null"
    for result in (grade("B", None), grade(None, None)):
        assert (result["verdict"], result["score"]) == ("ungradable", 0.0)
        assert result["details"]["match_status"] == "invalid_expected"
        assert result["details"]["reason"] == "Expected value is null"
        assert list(result["details"]) == DETAILS


def test_empty_strings_are_strings():
    assert passes("", "")
    assert details("", "x")["match_status"] == details("x", "")["match_status"] == "mismatch"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        (True, "true"),
        (7, "7"),
        ("7", 7),
        (-3, -3),
        pytest.param(10**5_000, "1" + "0" * 5_000, id="5,001 digits"),
    ],
)
def test_json_booleans_and_integers_are_read_as_written(response, expected):
    assert passes(response, expected)


def test_lone_surrogates_are_compared_as_they_are_and_shown_as_replacements():
    found = details("\ud800", "\ud801")
    assert found["match_status"] == "mismatch"
    assert found["actual_original"] == found["expected_original"] == "\ufffd"


def test_the_excerpt_shows_where_a_long_answer_goes_wrong():
    expected = "x" * 1_000 + "right" + "y" * 1_000
    evidence = grade(expected.replace("right", "wrong"), expected)["evidence"][0]
    assert "wrong" in evidence["excerpt"]
    assert len(evidence["excerpt"]) == len(evidence["limit"]) == len(evidence["observed"]) == 200


@pytest.mark.parametrize(
    ("config", "error", "says"),
    [
        (
            {"case_sensitve": True},
            ValueError,
            "unknown key 'case_sensitve'; did you mean 'case_sensitive'?",
        ),
        (
            {"strip_whitespace": "yes"},
            TypeError,
            "strip_whitespace must be true or false, not 'yes'",
        ),
        ({"ignore_articles": 1}, TypeError, "ignore_articles must be true or false, not 1"),
        (
            {"unicode_form": "nfc"},
            ValueError,
            "unicode_form must be 'NFC', 'NFD', 'NFKC' or 'NFKD', not 'nfc'",
        ),
        ({"unicode_form": 5}, TypeError, "unicode_form must be"),
        ({"expected_any": "x"}, TypeError, "expected_any must be a list, not 'x'"),
        ({"expected_any": ["x", None]}, TypeError, "expected_any[1] must be a string, not null"),
    ],
)
def test_a_bad_config_is_refused_with_what_is_wrong_and_what_would_work(config, error, says):
    with pytest.raises(error) as refusal:
        StringMatchGrader(config=config)
    assert says in str(refusal.value)


def squad_normalize_answer(s):
    """SQuAD v1.1's published `normalize_answer`, unchanged but for layout."""

    def remove_articles(text):
        return re.sub(r"\b(a|an|the)\b", " ", text)

    def white_space_fix(text):
        return " ".join(text.split())

    def remove_punc(text):
        exclude = set(string.punctuation)
        return "".join(ch for ch in text if ch not in exclude)

    def lower(text):
        return text.lower()

    return white_space_fix(remove_articles(remove_punc(lower(s))))


answers = st.lists(
    st.sampled_from(
        [
            "the",
            "The",
            "a",
            "AN",
            "cat",
            "a.",
            "(",
            ")",
            " ",
            "  ",
            "\n",
            "\u2003",
            "-",
            "_a",
            "é",
            "theatre",
            "7",
        ]
    )
).map("".join)


@given(response=answers | st.text(), expected=answers | st.text())
def test_squad_mode_is_squads_normalize_answer_unless_both_sides_are_emptied(response, expected):
    assume(all(text.lower() == text.casefold() for text in (response, expected)))
    theirs = squad_normalize_answer(expected), squad_normalize_answer(response)
    found = details(response, expected, **SQUAD)
    assert found["match_status"] == "match" or theirs == ("", "") or theirs[0] != theirs[1]
    if all(theirs):
        assert (found["normalized_expected"], found["normalized_actual"]) == theirs


@given(text=answers | st.text())
def test_articles_leave_the_words_that_squad_leaves(text):
    assert (
        without_articles(text).split()
        == re.sub(r"\b(a|an|the)\b", " ", text, flags=re.IGNORECASE).split()
    )


@given(text=st.text())
def test_deleting_punctuation_deletes_every_ascii_punctuation_character_and_no_other(text):
    assert without_punctuation(text) == "".join(
        character for character in text if character not in string.punctuation
    )


@given(response=answers, accepted=st.lists(answers, min_size=1, max_size=4))
def test_no_accepted_answer_has_an_earlier_cause_than_the_one_that_is_described(response, accepted):
    assume(response not in accepted)
    cause = grade(response, accepted[0], expected_any=accepted[1:])["evidence"][0]["cause"]
    causes = {grade(response, each)["evidence"][0]["cause"] for each in accepted}
    assert cause == min(causes, key=list(WORDS).index)


configs = st.fixed_dictionaries(
    {},
    optional={
        **{option: st.booleans() for option in (*SQUAD, "strip_whitespace")},
        "unicode_form": st.sampled_from(["NFC", "NFD", "NFKC", "NFKD", None]),
        "expected_any": st.lists(answers, max_size=3),
    },
)


@given(config=configs, text=answers | st.text(st.characters(exclude_categories=())))
def test_a_text_always_equals_itself(config, text):
    assert passes(text, text, **config)


@given(config=configs, response=answers, expected=answers)
def test_equality_has_no_direction(config, response, expected):
    config.pop("expected_any", None)
    assert passes(response, expected, **config) == passes(expected, response, **config)


@given(config=configs, response=answers, expected=answers)
def test_the_verdict_follows_from_the_normalized_forms(config, response, expected):
    found = details(response, expected, **config)
    is_equal = found["normalized_expected"] == found["normalized_actual"]
    assert (found["match_status"] == "match") is is_equal
    assert (found["first_difference"] is None) is is_equal


@given(response=st.text(), expected=st.text())
def test_by_default_a_match_is_code_point_equality(response, expected):
    assert passes(response, expected) is (response == expected)


@given(response=st.text(), expected=st.text(), form=st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_a_unicode_form_compares_as_unicodedata_does(response, expected, form):
    equal = unicodedata.normalize(form, response) == unicodedata.normalize(form, expected)
    assert passes(response, expected, unicode_form=form) is equal


@given(one=st.text("ab", max_size=40), other=st.text("ab", max_size=40))
def test_the_first_difference_is_the_end_of_the_common_beginning(one, other):
    assume(one != other)
    index = first_difference(one, other)
    assert one[:index] == other[:index]
    assert one[index : index + 1] != other[index : index + 1]


class CountedText(str):
    """A text that counts the characters taken out of it."""

    __slots__ = ()
    taken = 0

    def __getitem__(self, place):
        part = super().__getitem__(place)
        CountedText.taken += len(part)
        return part


@pytest.mark.parametrize("place", [0, 1, 49_999, 50_000, 99_999])
def test_the_first_difference_is_found_in_work_proportional_to_the_length(place):
    text = "x" * 100_000
    other = text[:place] + "y" + text[place + 1 :]
    CountedText.taken = 0
    assert first_difference(CountedText(text), other) == place
    assert CountedText.taken <= len(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    ["the ", " ", "a", "a.", "an\n", ". ", "\u0301", "th"],
    ids=lambda unit: unit.encode("unicode_escape").decode(),
)
def test_ten_times_the_text_takes_about_ten_times_as_long(unit):
    grader = StringMatchGrader(config={**SQUAD, "unicode_form": "NFC"})

    def grading(repeats):
        return partial(grader.grade, "b" + unit * repeats + "b", unit * repeats)

    # Quadratic work would take a hundred times as long.
    assert_takes_at_most(40, grading, size=100_000, of=10_000)

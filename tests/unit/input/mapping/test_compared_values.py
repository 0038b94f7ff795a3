"""Answers and expected answers of different notations are noted, with what to write, for a proposal and after a reading."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from weighbridge.jobs.grader_spec import GraderSpec
from weighbridge.settings import Settings
from weighbridge_producer.input.files.input_paths import Paths
from weighbridge_producer.input.mapping.choice_columns import choice_hint
from weighbridge_producer.input.mapping.compared_values import compared_hint
from weighbridge_producer.input.mapping.mapping_text import parse_mapping
from weighbridge_producer.input.recognition import Opened, recognise
from weighbridge_producer.input.source import Source

if TYPE_CHECKING:
    from pathlib import Path

MAPPING = "custom_id=@row,agent_response=output,expected_output=gold"
TEXTS = ("The sun", "A bird", "Paris", "An ox")


def hint(outputs: Any, golds: Any, mapping: str = MAPPING, **more: Any) -> str:
    rows = [{"output": a, "gold": b, **more} for a, b in zip(outputs, golds, strict=True)]
    return compared_hint(rows, parse_mapping([mapping]))


@pytest.mark.parametrize("letters", ["BACB", "bacb"])
def test_letters_beside_texts_are_noted(letters: str) -> None:
    found = hint(TEXTS, letters)
    first = letters[0]
    assert found.startswith(
        f"expected_output has letters such as {first!r}, and agent_response texts such as 'The sun'; no letter equals a text"
    )
    assert hint(letters, TEXTS).startswith("agent_response has letters such as ")


def test_the_column_of_choices_is_named_if_there_is_one() -> None:
    choices = {"label": ["A", "B"], "text": ["The sun", "The moon"]}
    end = "expected_output=choices[gold] to compare the texts"
    assert hint(TEXTS, "BACB", choices=choices).endswith(end)
    assert hint(TEXTS, "BACB", options=orjson.dumps(TEXTS).decode()).endswith(
        "expected_output=options[gold] to compare the texts"
    )
    assert hint("BACB", TEXTS, choices="none").endswith("LIST[COLUMN]")
    assert hint("BACB", TEXTS, choices=list(TEXTS)).endswith(
        "agent_response=choices[output] to compare the texts"
    )
    alternatives = MAPPING.replace("gold", "gold|other")
    assert hint(TEXTS, "BACB", alternatives, choices=choices).endswith("LIST[COLUMN]")


def test_letters_beside_indexes_are_noted() -> None:
    assert hint("BACD", "1023").endswith("write expected_output=letter(gold)")
    assert hint([1, 0, None], ["B", "A", "C"]).endswith("write agent_response=letter(output)")
    assert "seem to count from 1" in hint("BACD", "2134")


def test_indexes_beside_texts_are_noted() -> None:
    found = hint(TEXTS, (1, 0, 2, 0))
    assert "expected_output has numbers such as '1'" in found
    assert "no number equals a text" in found


def test_indexes_that_count_from_0_beside_others_from_1_are_noted() -> None:
    found = hint("213344", (1, 0, 2, 2, 1, 3))
    assert found == (
        "expected_output seems to count from 0 and agent_response from 1: the latter is the next number in 5 of the first"
        " 6 rows; correct one of the columns"
    )
    assert "the latter is the next letter in 3 of the first 4 rows" in hint("BACD", "CBDA")
    often_wrong = hint("2141433412", (1, 0, 2, 3, 0, 3, 1, 2, 0, 1))
    assert "the latter is the next number in 4 of the first 10 rows" in often_wrong
    assert hint((1, 0, 2, 2), "2133").startswith("agent_response seems to count from 0")


@pytest.mark.parametrize("golds", [("42", "7", ""), (42, 7, None)], ids=["texts", "numbers"])
@pytest.mark.parametrize(
    "outputs",
    [("42.0", "7.0", ""), (42.0, 7.0, None), (Decimal("42.0"), Decimal("7.00"), None)],
    ids=["texts", "numbers", "decimals"],
)
def test_whole_numbers_with_a_decimal_point_are_noted(outputs: Any, golds: Any) -> None:
    found = hint(outputs, golds)
    assert "agent_response has whole numbers with a decimal point such as '42.0'" in found
    assert "astype('Int64')" in found
    assert hint(golds, outputs).startswith("expected_output has whole numbers")


def test_booleans_with_a_decimal_point_are_noted() -> None:
    assert "decimal point such as '1.0'" in hint(("1.0", "0.0", ""), ("yes", "no", "no"))
    assert "decimal point such as '1.0'" in hint((1.0, 0.0), (True, False))


def test_texts_in_json_are_noted() -> None:
    quoted = [f'"{text}"' for text in TEXTS]
    assert hint(TEXTS, quoted).endswith("write expected_output=json(gold)")
    assert hint(quoted, TEXTS).endswith("write agent_response=json(output)")
    assert hint(['["a","b"]', '["c"]'], "ab").endswith("write agent_response=output.0")
    template = MAPPING.replace("=gold", "={gold}")
    assert hint(TEXTS, quoted, template).endswith("with json(COLUMN)")


@pytest.mark.parametrize(
    ("outputs", "golds"),
    [
        (TEXTS, TEXTS),
        (("A", "(A)", "the answer is C", "B"), "BACB"),
        (("B. The sun", "(A)", "the answer is C", "**b**"), "BBBB"),
        (("yes", "no", "yes", "no"), "1010"),
        (("positive", "negative", "positive", "negative"), "1010"),
        ("1234", "4321"),
        (("42", "7.5", "3"), ("42.0", "7.5", "4.0")),
        (("42", "7.5", "3", "1", "2"), ("42.0", "7.5", "3.0", "1", "2")),
        (("2024-01-31", "2024-13-31"), ("2024-01-31 00:00:00", "2024-13-31 00:00:00")),
        (("{a}", "{b}"), ("{a}", "{c}")),
        (("The sum is 4", "17 in all", "it is 9"), "497"),
        (("[1]", "[2]"), "12"),
        ((["a"], "b"), "AB"),
        (({"a": 1},), "A"),
        (TEXTS, "TFTF"),
        (("", None, ""), "BAC"),
        ((), ()),
    ],
)
def test_other_values_are_not_noted(outputs: Any, golds: Any) -> None:
    assert hint(outputs, golds) == ""


DAYS = (*map(datetime.fromisoformat, ("2024-01-31T10:00:00", "2024-02-01T11:00:00")), None)


@pytest.mark.parametrize(
    ("outputs", "golds", "pair"),
    [
        (("42", "7.5", "3"), ("42.0", "7.50", "4.0"), ("42", "42.0")),
        (("3", "12.5"), (Decimal("3.00"), Decimal("12.50")), ("3", "3.00")),
        (("1e3",), ("1000",), ("1e3", "1000")),
        (("2024-01-31 10:00", "2024-02-01T11:00:00+00:00", "x"), (*DAYS[:2], "y"), None),
        (
            ("2024-01-31 10:00", "2024-02-01 11:00", "x"),
            DAYS,
            ("2024-01-31 10:00", "2024-01-31T10:00:00"),
        ),
        (("2024-01-31", "2024-02-01"), ("2024-01-31 00:00:00", "2024-02-01T00:00Z"), None),
    ],
)
def test_equal_numbers_and_times_in_different_notations_are_noted(
    outputs: Any, golds: Any, pair: tuple[str, str] | None
) -> None:
    found = hint(outputs, golds)
    start = "agent_response has {!r} where expected_output has {!r}: in "
    assert found.startswith(start.format(*pair)) if pair else found == ""


@pytest.mark.parametrize("cell", ["{Paris, Lutetia}", "{Paris}", '{Paris,"New York"}'])
def test_texts_in_braces_are_noted_because_they_may_be_several_accepted_answers(cell: str) -> None:
    found = hint(("Paris", "Lima"), (cell, "{Lima}"))
    assert found.startswith(
        f"expected_output has texts in braces such as {cell!r}, and agent_response"
    )
    assert found.endswith(
        'write them as a list in JSON, such as ["A", "B"], and map expected_output=json(COLUMN)'
    )


@pytest.mark.parametrize(
    "wrapped",
    [
        ("ANSWER: B", "ANSWER: A", "ANSWER: C", "ANSWER: B"),
        ("The answer is B.", "The answer is A.", "The answer is C.", "So it is (B)"),
        ("B. The sun", "(A)", "the answer is C", "**b**"),
    ],
)
def test_letters_beside_letters_within_text_are_noted(wrapped: tuple[str, ...]) -> None:
    found = hint(wrapped, "BACB")
    assert found.startswith(
        f"expected_output has letters such as 'B', and agent_response letters within other text, such as {wrapped[0]!r}"
    )
    assert "map a column with the letters alone" in found
    assert "agent_response has letters such as 'B'" in hint("BACB", wrapped)


def test_letters_with_marks_alone_are_equal_without_punctuation() -> None:
    found = hint(("(B)", "A.", "C)", "**B**"), "BACB")
    assert found.endswith(
        "only if string-match ignores the marks (--config ignore_punctuation=true)"
    )


@pytest.mark.parametrize("golds", ["1212", (1, 2, 1, 2)], ids=["texts", "numbers"])
def test_indexes_of_two_options_from_1_are_no_booleans(golds: Any) -> None:
    names = ("Sarah", "Maria", "Maria", "Sarah")
    assert hint(names, golds).startswith("expected_output has numbers such as '1'")
    found = hint(names, golds, option1="Sarah", option2="Maria")
    assert found.endswith(
        "the texts are in option1 and option2: write these as a list into one column, CHOICES, and map"
        " expected_output=CHOICES[gold], after subtracting 1 from the numbers, because it counts from 0"
    )


def test_indexes_of_two_options_from_0_are_told_from_booleans_by_the_columns_of_options() -> None:
    names = ("Sarah", "Maria", "Maria", "Sarah")
    assert hint(names, "0110") == ""
    found = hint(names, "0110", ending0="Sarah", ending1="Maria")
    assert found.endswith("into one column, CHOICES, and map expected_output=CHOICES[gold]")


def test_most_values_of_a_column_decide() -> None:
    numbers = [*range(19), "unknown"]
    found = hint(numbers, [f"{number}.0" for number in range(19)] + ["unknown"])
    assert found.startswith(
        "expected_output has mostly whole numbers with a decimal point such as '0.0', and agent_response mostly values such as"
        " '0': save them without it"
    )
    assert "astype('Int64')" in hint(
        [*range(4), "I don't know"], ["0.0", "1.0", "2.0", "3.0", "4.0"]
    )
    found = hint(["A", "B", "C", "D", "I cannot answer"], (0, 1, 2, 3, 0), choices=list("wxyz"))
    assert found == (
        "agent_response has mostly letters such as 'A', and expected_output numbers such as '0': write"
        " expected_output=letter(gold)"
    )
    assert "mostly letters such as 'B'" in hint([*TEXTS, "x"], ["B", "A", "C", "B", "none"])
    assert "in 4 of the first 5 rows" in hint([*"21334", "?"], (1, 0, 2, 2, 1, "-"))
    assert "decimal point" not in hint(("42", "7", "one", "two"), ("42.0", "7.0", "1.5", "2.5"))
    assert hint(("yes", "no", "yes", "no", "unknown"), "10100") == ""


def test_wrong_words_among_whole_numbers_hide_no_decimal_point() -> None:
    found = hint(("42", "seven", "9"), ("42.0", "7.0", "9.0"))
    assert "agent_response mostly values such as '42': save them as integers" in found


def test_rows_without_choices_are_no_obstacle() -> None:
    rows = [
        {"output": text, "gold": n, "choices": choices}
        for text, n, choices in zip(
            "abcdef", (1, 0, 2, 1, 0, 3), [list("wxyz")] * 5 + [None], strict=True
        )
    ]
    mapping = parse_mapping([MAPPING])
    assert compared_hint(rows, mapping).endswith("write expected_output=letter(gold)")
    words = [row | {"output": text} for row, text in zip(rows, "wxyzwx", strict=True)]
    assert compared_hint(words, mapping).endswith(
        "expected_output=choices[gold] to compare the texts"
    )


def test_letters_with_marks_or_words_beside_indexes_are_noted() -> None:
    choices = list("wxyz")
    end = "write expected_output=letter(gold), and"
    found = hint(("(A)", "B.", "**C**"), (0, 1, 2), choices=choices)
    assert f"{end} let string-match ignore the marks" in found
    found = hint(("A. w", "The answer is B", "C: y"), (0, 1, 2), choices=choices)
    assert f"{end} map a column with the letters alone" in found


def test_letters_among_texts_beside_indexes_are_compared_as_texts() -> None:
    found = hint(("B", "w", "A", "z"), (1, 0, 0, 1), choices=list("wxyz"))
    assert found.endswith(
        "write expected_output=choices[gold] and agent_response=choices[output]|output to compare the texts"
    )


def test_texts_of_choices_are_no_indexes_and_no_letters() -> None:
    labels = ["1", "2", "3", "4"]
    rows = [["3", "4", "5", "6"], ["Quito", "Lima", "Rome", "Oslo"], ["a 2", "b 3", "c", "d"]]
    rows = [
        {"output": output, "gold": gold, "choices": {"text": texts, "label": labels}}
        for output, gold, texts in zip(("4", "Quito", "b 3"), "223", rows, strict=True)
    ]
    mapping = parse_mapping([MAPPING])
    assert compared_hint(rows, mapping).endswith(
        "write expected_output=choices[gold] to compare the texts"
    )
    vitamins = ["Vitamin A", "Vitamin B", "Vitamin C"]
    assert hint(vitamins, (0, 1, 1), choices=vitamins).endswith(
        "=choices[gold] to compare the texts"
    )


def test_texts_of_choices_are_not_said_to_be_indexes_from_1() -> None:
    rows = [
        {"output": output, "gold": 1, "choices": ["3", "4", "5", "6"]} for output in ("4", "5", "1")
    ]
    mapping = MAPPING.replace("=output", "=choices[output]|output").replace(
        "=gold", "=choices[gold]"
    )
    assert compared_hint(rows, parse_mapping([mapping])) == ""


def test_expected_texts_of_choices_are_not_said_to_be_indexes() -> None:
    rows = [{"gold": gold, "choices": [*"1234"]} for gold in ("4", "4", "4")]
    assert choice_hint(rows, "gold") == ""
    assert "counts from 1" in choice_hint(
        [row | {"gold": n} for n, row in enumerate(rows, 2)], "gold"
    )


def test_texts_in_json_beside_a_plain_one_are_noted() -> None:
    golds = ['["Paris","Lutetia"]', "['Oslo']", '["Bern"]', "Wien"]
    found = hint(("Paris", "Oslo", "Bern", "Wien"), golds)
    assert "mostly texts in the notation of JSON or Python such as" in found
    assert found.endswith("write expected_output=json(gold)|gold")
    assert hint("abcd", [*golds[:3], "null"]).endswith("write expected_output=json(gold)")
    assert hint([*golds[2:3], '["a","b"]', "x"], "abc").endswith(
        "write agent_response=output.0|output"
    )
    assert hint(TEXTS, [*golds[:2], "Wien", "Rom"]) == ""


def test_a_proposal_has_the_note(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,output,answerKey\nk1,The sun,B\nk2,A bird,A\nk3,An ox,C\n")
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    assert [note.partition(" such")[0] for note in seen.hints()] == ["expected_output has letters"]


def test_labels_of_choices_are_not_said_to_be_the_answer(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    choices = {"text": ["The sun", "A bird"], "label": ["A", "B"]}
    rows = [{"id": f"k{n}", "output": choices["text"][n], "answerKey": "AB"[n], "choices": choices} for n in range(2)]  # fmt: skip
    path.write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    seen = recognise(Opened.first_of(Paths([path])), [GraderSpec("string-match")], Settings())
    assert seen
    assert seen.proposal
    assert seen.proposal.caution == ""
    assert seen.hints()[0].endswith("expected_output=choices[answerKey] to compare the texts")


def test_an_index_in_a_special_form_that_counts_from_1_is_noted() -> None:
    choices = [["Paris", "Rome", "Oslo"]] * 4
    rows = [
        {"output": "x", "gold": gold, "choices": each}
        for gold, each in zip("1323", choices, strict=True)
    ]
    found = "expected_output: gold seems to be an index into choices that counts from 1"
    for written in ("choices[gold]", "letter(choices[gold])", "choices[gold]|gold"):
        mapping = parse_mapping([MAPPING.replace("=gold", f"={written}")])
        assert compared_hint(rows, mapping).startswith(found)
        from_0 = [row | {"gold": "0"} for row in rows[:1]] + rows[1:]
        assert not compared_hint(from_0, mapping).startswith(found)


def test_the_first_rows_of_a_reading_are_noted(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = [f"{TEXTS[n % 4]} ({n}),{'ABCD'[n % 4]}" for n in range(100)]
    path.write_text("\n".join(["output,gold", *rows, *["x,not a letter"] * 900]))
    source = Source(path, Settings(), parse_mapping([MAPPING]))
    for _ in range(2):
        assert sum(bool(line.raw.strip()) for line in source) == 1000
        [note] = source.notes.notes()
        assert note.startswith("expected_output has letters such as 'A'")


DERIVED = ["2+2 is <<2+2=4>>4.\n#### 4", "Half of 24.\n#### 12", "No way.\n#### 1,200"]


def test_derivations_before_a_marked_answer_are_noted_beside_answers_alone() -> None:
    found = hint(["4", "12", "7"], DERIVED)
    assert found == (
        "expected_output has derivations before the answer, such as '2+2 is <<2+2=4>>4.\\n#### 4', and agent_response no ####:"
        " they cannot be equal; keep only what follows the mark in a copy, in JSON Lines with jq -c"
        """ '.gold |= (split("#### ") | last)' FILE > COPY, in pandas with .str.split("#### ").str[-1]"""
    )
    assert hint(["It is 4.", "12", "7"], DERIVED).startswith("expected_output has derivations")
    assert hint(DERIVED, ["4", "12", "7"]).startswith("agent_response has derivations")
    mostly = hint(["4", "12", "7", "5", "6"], [*DERIVED, "#### 5", "unknown"])
    assert mostly.startswith("expected_output has mostly derivations")
    assert "jq -c '.doc.gold |=" in compared_hint(
        [{"output": "4", "doc": {"gold": DERIVED[0]}}],
        parse_mapping([MAPPING.replace("gold", "doc.gold")]),
    )
    assert "jq" not in hint(["4", "12", "7"], DERIVED, MAPPING.replace("gold", "gold|other"))
    joined = compared_hint(
        [{"output": "4", "gold": {"doc": {"answer": DERIVED[0]}}}],
        parse_mapping([MAPPING.replace("gold", "gold.doc.answer")]),
        {"gold": "my gold.jsonl"},
    )
    assert (
        "in a copy of the joined my gold.jsonl, in JSON Lines with jq -c '.doc.answer |=" in joined
    )
    assert "| last)' 'my gold.jsonl' > COPY" in joined
    long = hint(["4"], [f"{'x' * 90}\n#### 4"])
    assert f"such as '...{'x' * 33}\\n#### 4'" in long


@pytest.mark.parametrize(
    ("outputs", "golds"),
    [
        (DERIVED, DERIVED),
        (["4", "12", "#### 1,200"], DERIVED),
        (["4", "12"], ["4", "# 12"]),
        (["x", "y"], ["#### Title\nand text", "#### Other\nand more"]),
    ],
    ids=["both", "some with the mark", "plain", "headings"],
)
def test_marks_on_both_sides_and_headings_are_not_noted(
    outputs: list[str], golds: list[str]
) -> None:
    assert "derivations" not in hint(outputs, golds)


@pytest.mark.parametrize(
    ("output", "gold"),
    [
        ("3.14", "3,14"),
        ("2.50", "2,5"),
        ("1500", "1,500"),
        ("1500.5", "1,500.50"),
        ("1500.5", "1.500,50"),
        ("1234567", "1.234.567"),
        ("-1500", "-1 500"),
        ("1500", "1\u202f500"),
        ("1500000", "1'500'000"),
        ("1,500", "1 500"),
        ("45%", "0.45"),
        ("45 %", "45"),
        ("4,5 %", "4.5%"),
    ],
)
def test_equal_numbers_with_other_separators_or_as_percentages_are_noted(
    output: str, gold: str
) -> None:
    expected = f"agent_response has {output!r} where expected_output has {gold!r}: in 2 of the first 2 rows the same numbers"
    assert hint([output, output], [gold, gold]).startswith(expected)
    counted = "in 2 of the first 2 rows with both answers, the same numbers"
    assert counted in hint([output, "", output, "x"], [gold, gold, gold, ""])


@pytest.mark.parametrize(
    ("output", "gold"),
    [
        ("3.14", "3,15"),
        ("1500", "1.500"),
        ("1500", "1,50"),
        ("1500", "1,5 00"),
        ("1234567", "1,234.567"),
        ("45%", "0.45%"),
        ("45%", "4.5"),
        ("1, 2", "1,2"),
    ],
)
def test_other_numbers_are_not_taken_for_equal_ones(output: str, gold: str) -> None:
    assert hint([output, output], [gold, gold]) == ""

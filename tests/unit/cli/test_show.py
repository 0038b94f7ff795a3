import pytest

from weighbridge_producer.cli.show import print_json, shown, truncated


def test_json_with_the_name_of_a_file_that_is_not_utf_8_has_a_mark_in_its_place(capfdbinary):
    print_json({"file": "a\udcff.jsonl", "count": 1})
    assert capfdbinary.readouterr().out == b'{"file": "a\\ufffd.jsonl", "count": 1}\n'


def test_markup_in_a_text_is_escaped():
    assert shown("[/]") == "\\[/]"


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("abcdef", 6, "abcdef"),
        ("abcdef", 5, "ab…ef"),
        ("abcdef", 4, "ab…f"),
        ("abcdef", 1, "…"),
        ("名前名前", 5, "名…前"),
        ("a" * 1_000_000, 3, "a…a"),
    ],
)
def test_a_text_that_is_too_wide_loses_its_middle(text, most, expected):
    assert truncated(text, most) == expected

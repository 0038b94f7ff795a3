"""The error for an invalid configuration lists all its problems."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge.errors import ConfigError, ConfigTypeError
from weighbridge.graders import default_registry

KNOWN = "max_repeats, similarity_threshold, max_period, step_types, compare_results, fail_on"


def refusal(config: dict[str, Any], grader: str = "loop") -> ConfigError | ConfigTypeError:
    with pytest.raises((ConfigError, ConfigTypeError)) as caught:
        default_registry().create(grader, config)
    return caught.value


def test_every_fault_is_reported() -> None:
    error = refusal({"max_repeats": "3", "max_period": 99, "compare_results": 1})
    assert isinstance(error, ConfigTypeError)
    assert error.path == ("max_repeats",)
    assert error.message == (
        "grader 'loop': 3 faults: (1) max_repeats must be an integer, not '3'; "
        "(2) max_period must be less than or equal to 50, not 99; "
        "(3) compare_results must be true or false, not 1"
    )


def test_an_unknown_key_hides_neither_others_nor_wrong_values() -> None:
    error = refusal({"max_repeat": 3, "max_period": "9", "zzz": 1})
    assert isinstance(error, ConfigError)
    assert error.path == ("max_repeat",)
    assert error.message == (
        "grader 'loop': 3 faults: "
        f"(1) unknown key 'max_repeat'; did you mean 'max_repeats'? Known keys: {KNOWN}; "
        "(2) unknown key 'zzz'; (3) max_period must be an integer, not '9'"
    )


def test_a_misspelt_key_is_not_told_to_be_missing_too() -> None:
    assert "at least one limit" not in refusal({"max_token": 5}, "budget").message
    lists = {"true": ["y"], "flase": ["n"]}
    assert "lacks the key" not in refusal({"aliases": lists}, "true-false").message


@pytest.mark.parametrize(
    ("grader", "key", "meant"),
    [
        ("string-match", "ignore_case", "case_sensitive"),
        ("true-false", "ignore_case", "case_sensitive"),
        ("budget", "max_turns", "max_llm_calls"),
        ("budget", "max_total_tokens", "max_tokens"),
        ("budget", "max_time", "max_duration_ms"),
    ],
)
def test_the_key_of_another_tool_is_told_with_the_one_that_means_the_same(
    grader: str, key: str, meant: str
) -> None:
    assert f"unknown key {key!r}; did you mean {meant!r}?" in refusal({key: 1}, grader).message


def test_a_key_of_another_tool_is_not_told_where_no_key_means_the_same() -> None:
    assert "did you mean" not in refusal({"max_turns": 1}, "loop").message


def test_ten_faults_are_listed_and_the_others_counted() -> None:
    message = refusal({f"key_{number}": 1 for number in range(100_000)}).message
    assert "100,000 faults: (1) unknown key 'key_0'" in message
    assert message.endswith("(10) unknown key 'key_9'; and 99,990 more")
    message = refusal({"expected_any": list(range(25))}, "string-match").message
    assert "(10) expected_any[9] must be a string, not 9" in message
    assert message.endswith("; and 15 more")


@pytest.mark.parametrize("value", ["tool", "[tool"])
def test_a_text_in_the_place_of_a_list_is_shown_as_one(value: str) -> None:
    message = refusal({"step_types": value}).message
    shown = f'["{value}"]'
    assert message == f"grader 'loop': step_types must be a list, not {value!r}; write {shown}"

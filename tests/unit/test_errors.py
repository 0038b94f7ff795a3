"""Errors: each has a code, a message and a hint in all interfaces."""

import pytest

from weighbridge import errors
from weighbridge.errors import BadLine, ConfigError, Fault, InvalidInputError, LineError

FAULT = Fault("INVALID_JSON", "the line is not JSON", "close the object")


def test_an_error_has_its_class_code_and_a_line_error_one_of_its_own() -> None:
    assert ConfigError("no such key").fault == Fault("INVALID_CONFIG", "no such key", "")
    error = LineError(FAULT.code, FAULT.message, FAULT.hint)
    assert error.fault == FAULT
    assert str(error) == "the line is not JSON (close the object)"


@pytest.mark.parametrize(
    ("location", "message"),
    [("", "the line is not JSON"), ("b.jsonl, line 2", "b.jsonl, line 2: the line is not JSON")],
)
def test_a_fault_names_its_location_where_there_is_one(location: str, message: str) -> None:
    assert FAULT.at(location) == Fault(FAULT.code, message, FAULT.hint)


@pytest.mark.parametrize(
    ("message", "is_named"),
    [
        ("line 3: it is odd", True),
        ("lines 3 and 4 are odd", True),
        ("item 1,003: it is odd", True),
        ("item 3 is not an object", False),
        ("step 3: it is odd", False),
    ],
)
def test_a_fault_may_name_the_line_or_the_item_of_the_input_itself(
    message: str, is_named: bool
) -> None:
    assert Fault("INVALID_FIELD", message, "").names_line is is_named


def test_an_invalid_input_lists_its_bad_lines_with_what_would_work() -> None:
    lines = [BadLine(1, FAULT), BadLine(2, Fault("TOO_DEEP", "too deep", ""), "b.jsonl, line 1")]
    assert InvalidInputError("cases", lines, 3).message.splitlines()[1:] == [
        "line 1: INVALID_JSON: the line is not JSON (close the object)",
        "b.jsonl, line 1: TOO_DEEP: too deep",
        "... and 1 more",
    ]


def test_the_tree_in_the_documentation_is_the_tree_of_the_classes() -> None:
    drawn, path = set(), []
    for line in errors.__doc__.splitlines():
        if "── " in line:
            depth = (line.index("── ") - 1) // 4
            name = line.partition("── ")[2].split()[0]
            path[depth:] = [name]
            drawn.add((path[depth - 1] if depth else "WeighbridgeError", name))
    ours = [
        each
        for each in vars(errors).values()
        if isinstance(each, type) and issubclass(each, errors.WeighbridgeError)
    ]
    parents = {each: next(base for base in each.__mro__[1:] if base in ours) for each in ours[1:]}
    assert drawn == {(parent.__name__, each.__name__) for each, parent in parents.items()}

"""The errors that `trace check` prints: one of each kind, with the number of the others."""

from __future__ import annotations

import io

from rich.console import Console

from weighbridge_producer.cli.checked_errors import print_errors


def printed(messages: list[str]) -> list[str]:
    told = io.StringIO()
    errors = [
        {"code": "INVALID_FIELD", "message": message, "hint": "mend it"} for message in messages
    ]
    print_errors(errors, Console(file=told, width=300))
    return told.getvalue().splitlines()


def test_errors_that_differ_only_in_their_places_are_told_once_with_their_number() -> None:
    alike = [
        f"line {line:,}: does not fit run 'r{line}': step {line} is odd"
        for line in range(990, 1_010)
    ]
    assert printed(
        [*alike, "line 7: step 1 has the type 'v1'", "line 8: step 1 has the type 'v2'"]
    ) == [
        "  INVALID_FIELD: line 990: does not fit run 'r990': step 990 is odd",
        "    mend it",
        "    and 19 more of this kind (--json has all)",
        "  INVALID_FIELD: line 7: step 1 has the type 'v1'",
        "    mend it",
        "  INVALID_FIELD: line 8: step 1 has the type 'v2'",
        "    mend it",
    ]


def test_the_first_kinds_of_errors_are_told_with_the_number_of_all_others() -> None:
    kinds = [f"the type is {word}" for word in "abcdefg"]
    assert printed([*kinds, kinds[-1]])[-1] == "  and 3 more errors (--json has all)"

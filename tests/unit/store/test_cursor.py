from __future__ import annotations

import re

import pytest

from weighbridge.errors import StaleCursorError
from weighbridge.store.cursor import AuditCursor, BatchCursor, Cursor, ResultCursor

CURSORS: dict[type[Cursor], list[str]] = {
    ResultCursor: [
        "0.0.1795402330769-0.2_193-301.232d880da9011b89.end",
        "1.2.1-1.17~12001-12501.9f3a2b1c4d5e6f70~1.4711",
    ],
    BatchCursor: ["wb_01a06b0142d_a8c00_4f5ab10c2d15eccca3f2"],
    AuditCursor: ["1795402330769-0", f"{2**63 - 1}-{2**63 - 1}"],
}
PAIRS = [(kind, text) for kind, texts in CURSORS.items() for text in texts]


@pytest.mark.parametrize(("kind", "text"), PAIRS)
def test_a_cursor_has_the_text_that_it_was_parsed_from(kind: type[Cursor], text: str) -> None:
    assert str(kind.parse(text)) == text


@pytest.mark.parametrize(("kind", "text"), PAIRS)
def test_a_cursor_of_one_list_is_refused_by_the_others_which_name_it(
    kind: type[Cursor], text: str
) -> None:
    for other in CURSORS:
        if other is not kind:
            said = f"'{text}' is not a cursor of {other.listing}, but one of {kind.listing}"
            with pytest.raises(StaleCursorError, match=re.escape(said)):
                other.parse(text)


@pytest.mark.parametrize("kind", CURSORS)
@pytest.mark.parametrize("text", ["", "nonsense", f"{2**63}-0", "1-1-1", "wb_1_2_3", "\ud800"])
def test_any_other_text_is_refused(kind: type[Cursor], text: str) -> None:
    with pytest.raises(StaleCursorError, match=f"^{re.escape(repr(text))} is not a cursor"):
        kind.parse(text)

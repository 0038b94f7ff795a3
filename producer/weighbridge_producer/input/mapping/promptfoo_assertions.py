"""The expected output of a promptfoo test: the value of its first `equals` assertion, with templates such as `{{capital}}` rendered.

promptfoo keeps a rendered value, also that of a file, as `renderedAssertionValue` in the assertion's result.
Source: `runAssertion` in `src/assertions/index.ts` of github.com/promptfoo/promptfoo.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from weighbridge.errors import Fault
from weighbridge.jobs.error_codes import ErrorCode
from weighbridge.text import shorten
from weighbridge_producer.input.mapping.row_values import MISSING, Path

if TYPE_CHECKING:
    from weighbridge_producer.input.mapping.row_values import Row

_ASSERTIONS, _RESULTS = Path("testCase.assert"), Path("gradingResult.componentResults")
_RENDERED = Path("metadata.renderedAssertionValue")
_SAME = ("type", "value")  #: keys by which an assertion's result is found
_VARIABLES = ("vars", "testCase.vars")
_TEMPLATE = re.compile(r"\{\{|\{%|\{#")  #: what nunjucks does not take as it is
_VARIABLE = re.compile(r"\{\{-?\s*([A-Za-z_$][\w$]*(?:\.[\w$]+)*)\s*-?\}\}")
_FILE = "file://"
_SHOWN = 80  #: characters of a value


@dataclass(frozen=True, slots=True)
class EqualsAssertion:
    """The value of a promptfoo test's first `equals` assertion, as it was compared."""

    def of(self, row: Row, number: int) -> Any:
        """Return the value; MISSING if the test has none, or one that cannot be rendered."""
        assertion = _first_equals(row, number)
        value = assertion.get("value", MISSING)
        if not _is_rendered_later(value):
            return value
        kept = _kept_value(assertion, row, number)
        return _rendered(value, row, number) if kept is MISSING else kept

    def fault(self, row: Row, number: int) -> Fault | None:
        """Return why a value cannot be rendered; None if it can, or if the test has none."""
        value = _first_equals(row, number).get("value", MISSING)
        if value is MISSING or self.of(row, number) is not MISSING:
            return None
        return Fault(
            ErrorCode.INVALID_FIELD,
            f"the value of the equals assertion, {shorten(repr(value), _SHOWN)}, is not rendered, and the row has neither its"
            " renderedAssertionValue nor the variables for it",
            "map a column with the expected answers: --map expected_output=COLUMN",
        )

    def why_absent(self, row: Row, number: int) -> str:
        """Return what assertions a test has instead; empty if it is not known."""
        assertions = _ASSERTIONS.of(row, number)
        if not isinstance(assertions, list):
            return ""
        types = [str(each.get("type")) for each in assertions if isinstance(each, Mapping)]
        others = ", ".join(dict.fromkeys(types))
        return f"the test has no 'equals' assertion, but {shorten(others or 'none', _SHOWN)}"

    def paths(self) -> Iterable[Path]:
        """Return the paths of the assertions, of their results, and of the variables."""
        return (_ASSERTIONS, _RESULTS, *map(Path, _VARIABLES))

    def __str__(self) -> str:
        return "testCase.assert (the first equals)"


def _first_equals(row: Row, number: int) -> Mapping[str, Any]:
    """Return the assertion; an empty object if the test has none."""
    assertions = _ASSERTIONS.of(row, number)
    for each in assertions if isinstance(assertions, list) else ():
        if isinstance(each, Mapping) and each.get("type") == "equals":
            return each
    return {}


def _is_rendered_later(value: Any) -> bool:
    return isinstance(value, str) and bool(_TEMPLATE.search(value) or value.startswith(_FILE))


def _kept_value(assertion: Mapping[str, Any], row: Row, number: int) -> Any:
    """Return the rendered value in the assertion's result; MISSING if there is none."""
    results = _RESULTS.of(row, number)
    for each in results if isinstance(results, list) else ():
        own = each.get("assertion") if isinstance(each, Mapping) else None
        if isinstance(own, Mapping) and all(own.get(key) == assertion[key] for key in _SAME):
            value = _RENDERED.of(each, number)
            if isinstance(value, str):
                return value
    return MISSING


def _rendered(template: str, row: Row, number: int) -> Any:
    """Return a template with the row's variables; MISSING if it has anything else, or a variable that is no text."""
    texts = [_text_of(name, row, number) for name in _VARIABLE.findall(template)]
    literals = _VARIABLE.split(template)[::2]
    if None in texts or _is_rendered_later("".join(literals)):
        return MISSING
    known = [text for text in texts if text is not None]
    if any(map(_is_rendered_later, known)):
        return MISSING
    pairs = zip(literals, [*known, ""], strict=True)
    return "".join(literal + text for literal, text in pairs)


def _text_of(name: str, row: Row, number: int) -> str | None:
    """Return a variable as nunjucks writes it; None for one that the row lacks, or an object."""
    for around in _VARIABLES:
        value = Path(f"{around}.{name}").of(row, number)
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (str, int)):
            return str(value)
        if isinstance(value, (float, Decimal)):
            whole = int(value) if value == value // 1 else value
            return str(whole)
    return None

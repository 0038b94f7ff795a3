"""Evidence of a verdict, for the page of a result and the page to try a grader."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.graders.values import as_json
from weighbridge.text import cut_after, elapsed, revealed
from weighbridge_producer.trace_view.annotated_json import problems_in
from weighbridge_producer.trace_view.evidence_words import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from weighbridge_producer.trace_view.annotated_json import Problem

_VALUE_CHARACTERS = 2_000
_PARTS = ("before", "expected", "observed", "after")  #: the parts of a text difference
_PART_CHARACTERS = 500
_PLAIN_LIMIT = 1e15  #: larger numbers are shown with an exponent
_STEPS_LISTED = 50
_ENTRIES_SHOWN = 200


class StepLink(NamedTuple):
    """A step named in evidence, and the link to it."""

    id: str
    number: int | None
    href: str | None


class ShownEvidence(NamedTuple):
    """An evidence entry for display."""

    number: int
    check: str
    description: str
    passed: bool
    cause: str
    limit: str | None
    observed: str | None
    problems: tuple[Problem, ...]
    as_json: str  #: the limit and what was observed, if they are lists or objects that are shown in words
    excerpt: str
    difference: dict[str, str] | None  #: of two texts: before, expected, observed, after
    steps: list[StepLink]


def shown_evidence(
    judged: Mapping[str, Any] | None,
    numbers: Mapping[str, int] = MappingProxyType({}),
    step_href: Callable[[int], str] = str,
) -> list[ShownEvidence]:
    """Return the evidence of a verdict for display; steps with a number are linked."""
    listed = (judged or {}).get("evidence")
    entries = listed if type(listed) is list else []
    return [
        _entry(number, entry, numbers, step_href)
        for number, entry in enumerate(entries[:_ENTRIES_SHOWN], 1)
        if type(entry) is dict
    ]


def _entry(
    number: int,
    entry: Mapping[str, Any],
    numbers: Mapping[str, int],
    step_href: Callable[[int], str],
) -> ShownEvidence:
    ids = entry.get("step_ids")
    links = []
    for each in ids[:_STEPS_LISTED] if type(ids) is list else ():
        at = numbers.get(each) if type(each) is str else None
        links.append(StepLink(str(each), at, step_href(at) if at else None))
    problems = problems_in(entry.get("observed"))
    return ShownEvidence(
        number=number,
        check=str(entry.get("check", "")),
        description=str(entry.get("description", "")),
        passed=bool(entry.get("passed")),
        cause=str(entry.get("cause") or ""),
        limit=in_words(entry, "limit") or _brief(entry, "limit"),
        observed=None if problems else in_words(entry, "observed") or _brief(entry, "observed"),
        problems=problems,
        as_json=_folded(entry),
        excerpt=str(entry.get("excerpt") or ""),
        difference=_difference(entry.get("difference")),
        steps=links,
    )


def _difference(value: object) -> dict[str, str] | None:
    if type(value) is not dict:
        return None
    return {part: revealed(str(value.get(part, "")))[:_PART_CHARACTERS] for part in _PARTS}


def _folded(entry: Mapping[str, Any]) -> str:
    """Return a limit and what was observed as JSON, if one of them is shown in other words."""
    both = {name: entry[name] for name in ("limit", "observed") if entry.get(name) is not None}
    is_reworded = any(type(value) in {list, dict} for value in both.values())
    return cut_after(as_json(both), _VALUE_CHARACTERS) if is_reworded else ""


def _brief(entry: Mapping[str, Any], name: str) -> str | None:
    value = entry.get(name)
    if value is None:
        return None
    if type(value) in {int, float} and abs(value) < _PLAIN_LIMIT:
        is_time = str(entry.get("check", "")).endswith("_ms")
        return elapsed(value / 1_000) if is_time else f"{value:,}"
    text = value if type(value) is str else as_json(value)
    return cut_after(text, _VALUE_CHARACTERS)

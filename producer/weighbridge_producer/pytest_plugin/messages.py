"""The message of a failed assertion: what was checked, what was observed, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.text import printable, shorten

if TYPE_CHECKING:
    from collections.abc import Iterator

    from weighbridge.graders.base import Evidence
    from weighbridge.jobs.result_line import ResultRow

_CHECKS_SHOWN = 20
_STEPS_SHOWN = 20
_VALUE_CHARACTERS = 200
_DESCRIPTION_CHARACTERS = 1_000
_LIST = ("Expected value '[", "' is not text")  #: beginning and end of the reason of `string-match`


def message_of(row: ResultRow) -> str:
    """Return the reason why a result did not pass, with its evidence."""
    grader = f" ({row.grader})" if row.grader and row.grader != row.label else ""
    text = f"{row.label or 'weighbridge'}{grader}: {row.outcome.word}"
    if row.error:
        return _line(f"{text}: {row.error.code}: {row.error.message}; {row.error.hint}")
    hint = several_answers_hint(row.reason())
    failed = row.failed_checks
    lines = [_line(f"{text}: {row.reason()}")]
    for check in failed[:_CHECKS_SHOWN]:
        lines += [f"  {line}" for line in _of_check(check)]
    if len(failed) > _CHECKS_SHOWN:
        lines.append(f"  ... and {len(failed) - _CHECKS_SHOWN:,} more failed checks")
    if hint:
        lines.append(f"  {hint}")
    return "\n".join(lines)


def several_answers_hint(reason: str) -> str:
    """Return what to do if the reason of a result is that its expected value is a list; empty otherwise."""
    begins, ends = _LIST
    if not (reason.startswith(begins) and reason.endswith(ends)):
        return ""
    return (
        "to accept several answers, give one of them as expected_output, and the others in the configuration:"
        ' config={"expected_any": [...]}'
    )


def _of_check(check: Evidence) -> Iterator[str]:
    kind = f" ({check['cause']})" if "cause" in check else ""
    yield _line(f"{check['check']}{kind}: {check['description']}")
    if "difference" in check:
        found = check["difference"]
        yield _line(
            f"  expected at {found['index']:,}: {found['before']}[{found['expected']}]{found['after']}"
        )
        yield _line(
            f"  observed at {found['index']:,}: {found['before']}[{found['observed']}]{found['after']}"
        )
    elif "limit" in check and "observed" in check:
        yield _line(f"  limit: {_value(check['limit'])}, observed: {_value(check['observed'])}")
    if steps := check["step_ids"]:
        more = f" and {len(steps) - _STEPS_SHOWN:,} more" if len(steps) > _STEPS_SHOWN else ""
        yield _line(f"  steps: {', '.join(steps[:_STEPS_SHOWN])}{more}")
    if "excerpt" in check and "difference" not in check:
        yield _line(f"  excerpt: {check['excerpt']}")


def _value(value: object) -> str:
    return shorten(repr(value), _VALUE_CHARACTERS)


def _line(text: str) -> str:
    return shorten(printable(text), _DESCRIPTION_CHARACTERS)

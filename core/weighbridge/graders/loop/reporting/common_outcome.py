"""The outcome that several calls of a loop have in common, quoted in its evidence: mostly the error to be mended."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from weighbridge.graders.loop.history.actions import Call
from weighbridge.graders.loop.history.failure_lines import gist_of, is_heading
from weighbridge.text import encodable, revealed, shorten
from weighbridge.traces.fields import parse_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from weighbridge.graders.loop.history.actions import Message
    from weighbridge.graders.loop.history.results import CallResult

_COMPARED_CALLS = 200  #: of one loop
_QUOTED_CHARACTERS = 160
_PARSED_CHARACTERS = 10_000  #: a longer result is quoted as it is
_ERROR_KEYS = ("error", "message")  #: of objects that report an error, as most interfaces write it


class CommonOutcome(NamedTuple):
    """Result that several calls of a loop have, apart from noise."""

    text: str  #: its line that says most, as it was the first time
    times: int
    compared: int  #: number of the loop's results among which it was looked for
    failed: bool
    failures: int  #: of any reason among those compared
    recorded: int  #: number of the loop's results that the trace has
    calls: int  #: of the loop

    def as_dict(self) -> dict[str, object]:
        """Return the outcome as a JSON object."""
        return {field: getattr(self, field) for field in ("text", "times", "compared", "failed")}

    def describe(self) -> str:
        """Describe the outcome: `all 6 failed: "no such column"`, `all 6 failed, 4 of them: "timeout"`, `4 of 6 results: "in transit"`."""
        if not self.failed:
            count = f"{self._share(self.times)} results"
            return f'{count}: "{self.text}"' if self.text else f"{count} are empty"
        count = f"{self._share(self.failures)} failed"
        others = f", {self.times:,} of them" if self.times < self.failures else ""
        return count + others + (f': "{self.text}"' if self.text else " without a message")

    def _share(self, times: int) -> str:
        """Return how many of the results a number is, and which were compared if that is not each call's."""
        first = "first " if self.compared < self.recorded else ""
        recorded = " recorded" if self.recorded < self.calls else ""
        compared = f"{self.compared:,}"
        if first or recorded:
            compared = f"the {first}{compared}{recorded}"
        if times < self.compared:
            return f"{times:,} of {compared}"
        return compared if first or recorded else f"all {compared}"


def common_outcome(steps: Iterable[Call | Message]) -> CommonOutcome | None:
    """Return the most frequent failure of a loop's calls, or else a result that half of them have; None if there is neither."""
    made = [step for step in steps if isinstance(step, Call)]
    calls = [call for call in made if call.result.text is not None]
    first: dict[tuple[bool, str], str] = {}
    times: Counter[tuple[bool, str]] = Counter()
    for call in islice(calls, _COMPARED_CALLS):
        text, masked = _compared_texts(call.result)
        # Failures are one if they have one reason, whatever else they show.
        outcome = call.result.has_failed, gist_of(masked) if call.result.has_failed else masked
        first.setdefault(outcome, text)
        times[outcome] += 1
    repeated = [(each, count) for each, count in times.most_common() if count > 1]
    failures = [(each, count) for each, count in repeated if each[0]]
    for outcome, count in failures or repeated[:1]:
        if outcome[0] or 2 * count >= times.total():
            failed = sum(count for each, count in times.items() if each[0])
            text, compared = _quoted(first[outcome]), times.total()
            of_loop = (failed, len(calls), len(made))
            return CommonOutcome(text, count, compared, outcome[0], *of_loop)
    return None


def _compared_texts(result: CallResult) -> tuple[str, str]:
    """Return a result as text and without noise: its error, if only that says why the call failed."""
    error = result.error_beside
    if error and not is_heading(error):
        return error, result.masked_error_beside
    return result.text or "", result.masked


def _quoted(result: str) -> str:
    """Return the line of a result that says most; of an object with an error, that error."""
    is_small = result[:1] == "{" and len(result) <= _PARSED_CHARACTERS
    held: Any = parse_arguments(result) if is_small else None
    while type(held) is dict:
        held = next((held[key] for key in _ERROR_KEYS if held.get(key)), None)
    said = held if type(held) is str else result
    first, *below = gist_of(said).split("\n")
    if len(below) == 1:
        # The line that reports the failure; a long warning above it may not push it out.
        first = shorten(first, _QUOTED_CHARACTERS // 2)
    return shorten(revealed(encodable("\n".join([first, *below]))), _QUOTED_CHARACTERS)

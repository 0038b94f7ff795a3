"""Numbering of calls: similar calls get one number, and similar calls with equal results another one."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from msgspec import Struct

from weighbridge.graders.loop.history.masking import beginning_of
from weighbridge.graders.loop.history.result_kinds import reports_no_results
from weighbridge.graders.loop.history.similarity import Recent, Threshold
from weighbridge.graders.loop.history.text_forms import ANY_KIND
from weighbridge.graders.loop.history.tool_names import is_thinking_tool
from weighbridge.graders.loop.work_budget import DEFAULT_THRESHOLD, WorkBudget

if TYPE_CHECKING:
    from weighbridge.graders.loop.history.actions import Call, History
    from weighbridge.graders.loop.history.results import CallResult

_UNKNOWN = 0  #: the number of a result that is not in the trace
#: the outcome of results that say so and nothing else, in whatever words
_NOTHING = "nothing found"
_SAYS_NOTHING = re.compile(
    r"\W{0,5}(?:no|nothing|0|zero)(?: (?:search )?(?:results?|matches|match|hits|records|items|documents|entries|rows))?"
    r"(?: (?:was|were))?(?: (?:found|returned|available))?\W{0,5}",
    re.IGNORECASE,
)
_SAYING_CHARACTERS = 60  #: maximum length of such a result
_RESULTS_BITS = 32  #: bits for the result in the number of a pair


# A trace has thousands of actions, so dictionaries are created only when needed, to save the garbage collector work.
class _Action(Struct, eq=False, gc=False):
    """Group of similar calls, with their results."""

    number: int
    call: Call  #: the first
    first: CallResult | None = None  #: the first known result
    last_result: int = _UNKNOWN
    #: number of each result by its text, if there are several
    by_text: dict[str, int] | None = None
    by_masked: dict[str, int] | None = None  #: the same by the text without noise

    def result_of(self, outcome: CallResult) -> int:
        """Return the number of a result, equal for results that differ only by noise; if unknown, the last number."""
        text = outcome.text
        if text is None:
            return self.last_result
        if self.first is None:
            self.first = outcome
        is_first = text == self.first.text
        self.last_result = 1 if is_first else self._later_result(text, outcome, self.first)
        return self.last_result

    def _later_result(self, text: str, outcome: CallResult, first: CallResult) -> int:
        if self.by_text is None or self.by_masked is None:
            self.by_text, self.by_masked = {}, {_outcome_of(first): 1}
        result = self.by_text.get(text)
        if result is None:
            masked = self.by_masked
            result = self.by_text[text] = masked.setdefault(_outcome_of(outcome), len(masked) + 1)
        return result


def _outcome_of(result: CallResult) -> str:
    """Return what is equal for results that differ by noise alone, or that all say that nothing was found, and no more."""
    return _NOTHING if _says_nothing(result.text or "") else result.masked


def _says_nothing(text: str) -> bool:
    return (
        len(text) <= _SAYING_CHARACTERS
        and reports_no_results(text)
        and _SAYS_NOTHING.fullmatch(text) is not None
    )


class CallNumbering:
    """Numbering of calls in which similar calls get equal numbers."""

    def __init__(self, threshold: float, budget: WorkBudget, *, compare_results: bool) -> None:
        self._threshold = threshold
        self._budget = budget
        self._compare_results = compare_results
        #: by tool, digits and gist of the arguments; the only call with some digits has no dictionary
        self._first: defaultdict[str, dict[bytes, Call | dict[bytes, Call]]] = defaultdict(dict)
        self._unknown: defaultdict[str, dict[object, Call]] = defaultdict(dict)
        self._known = 0
        self._made = 0  #: number of actions so far
        self._actions: dict[str, _Action] = {}
        #: by tool and numbers: the only action so far, or None if there are several
        self._only: dict[tuple[str, bytes], _Action | None] = {}
        self._last: dict[int, str] = {}
        self._seen = ("", "")  #: the last result, and its beginning up to a number
        self._pairs: dict[int, int] = {}
        #: actions that may be similar: the only one so far, or the most recent different ones
        self._recent: dict[object, _Action | Recent[_Action]] = {}

    def apply(self, history: History) -> None:
        """Set the numbers of each call in a history, and share the arguments object between calls with equal arguments."""
        for call in history.made_calls():
            call.arguments_id = self._known
            first = self._first_equal(call)
            if first is call:
                self._known += 1
            call.arguments_id, call.arguments = first.arguments_id, first.arguments
            action = self._unmatchable_action(call, is_new=first is call) or self._action_of(call)
            result = action.result_of(call.result) if self._compare_results else _UNKNOWN
            call.action_id = action.number
            pair = action.number << _RESULTS_BITS | result
            call.pair_id = self._pairs.setdefault(pair, len(self._pairs))

    def _unmatchable_action(self, call: Call, *, is_new: bool) -> _Action | None:
        """Return an action for a call that no earlier call can be similar to, or None for any other call.

        Results are compared only once there is a second call that may be similar, because most calls have none.
        """
        given = call.arguments
        if given.value is None or not given.is_comparable or not self._budget.is_left:
            return None
        kind = call.tool, given.numbers
        only = self._only.get(kind)
        if only is not None:
            approximate = self._approximate_result(only.call)
            self._actions[_key_of(only.call, approximate)] = self._recent[*kind, approximate] = only
            self._only[kind] = None
        elif is_new and kind not in self._only:
            return self._only.setdefault(kind, self._new_action(call))
        return None

    def _new_action(self, call: Call) -> _Action:
        self._made += 1
        return _Action(self._made, call)

    def _action_of(self, call: Call) -> _Action:
        approximate = self._approximate_result(call)
        key = _key_of(call, approximate)
        action = self._actions.get(key)
        if action is None:
            action = self._actions[key] = self._action(call, approximate)
        return action

    def _approximate_result(self, call: Call) -> str | None:
        """Return the approximate result of a call; for an unknown result, return the last one."""
        if not self._compare_results:
            return ""
        text = call.result.text
        if text is None:
            return self._last.get(call.arguments_id)
        if text != self._seen[0]:
            self._seen = text, _NOTHING if _says_nothing(text) else beginning_of(text)
        approximate = self._last[call.arguments_id] = self._seen[1]
        return approximate

    def _first_equal(self, call: Call) -> Call:
        """Return the first call with the same arguments, ignoring case and white space, and the same digits."""
        given = call.arguments
        if given.value is None:
            # Calls with unknown arguments but equal long results probably had equal arguments.
            outcome = call.result
            key = outcome.text if outcome.is_long else self._known
            return self._unknown[call.tool].setdefault(key, call)
        by_digits = self._first[call.tool]
        known = by_digits.setdefault(given.digits, call)
        if known is call:
            return call
        if not isinstance(known, dict):
            known = by_digits[given.digits] = {known.arguments.gist: known}
        return known.setdefault(given.gist, call)

    def _action(self, call: Call, approximate: str | None) -> _Action:
        """Return the action of a similar call with about the same result, or a new action."""
        new = self._new_action(call)
        given = call.arguments
        if given.value is None or not given.is_comparable or not self._budget.is_left:
            return new
        key = call.tool, given.numbers, approximate
        recent = self._recent.get(key)
        if recent is None:
            self._recent[key] = new
            return new
        if not isinstance(recent, Recent):
            first, recent = recent, Recent(self._threshold_for(call), self._budget)
            recent.add(first, first.call.arguments.described(self._budget))
            self._recent[key] = recent
        described = given.described(self._budget)
        for match in recent.matches(described):
            action = match.item
            if not match.is_fuzzy or self._have_same_result(call.result, action.call.result):
                return action
        recent.add(new, described)
        return new

    def _threshold_for(self, call: Call) -> Threshold:
        """Return the minimum similarity for calls with this call's result to be the same call.

        Many calls fail for the same reason: short phrases that fail must have the same meaning, longer texts must be
        similar. An answer is specific: questions with the same answer may be less similar, but content must have the
        same meaning. So must calls with the same confirmation. A threshold below the default is a user's choice and
        applies to all calls, as the threshold always does to thoughts.
        """
        if (
            not self._compare_results
            or is_thinking_tool(call.tool)
            or self._threshold < DEFAULT_THRESHOLD
        ):
            return Threshold(self._threshold, ANY_KIND)
        if call.result.has_failed:
            return Threshold(self._threshold, ANY_KIND - {"phrase"})
        if call.result.is_informative:
            return Threshold(max(0.0, 2 * self._threshold - 1), ANY_KIND - {"content"})
        return Threshold(1.0, frozenset())

    def _have_same_result(self, one: CallResult, other: CallResult) -> bool:
        if not self._compare_results:
            return True
        if one.text is None or other.text is None:
            return False
        return one.text == other.text or one.masked == other.masked


def _key_of(call: Call, approximate: str | None) -> str:
    return f"{call.arguments_id}" if approximate is None else f"{call.arguments_id} {approximate}"

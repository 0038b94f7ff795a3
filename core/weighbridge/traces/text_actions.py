"""Detection of tool calls in plain text, so that a run with unread calls is not taken for one without calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.traces.text_action_forms import (
    Form,
    ends_in_a_call,
    form_of,
    is_answer,
    label_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.traces.fields import Notes
    from weighbridge.traces.model import Capability, Step

#: Reason why the tool calls of such a run are missing. A grader that reads the agent's text can still judge the run.
ACTIONS_IN_TEXT = "the agent's actions are written as text, which is not read as tool calls"
_LEFT_BEHIND = (
    "the source has tool calls in fields that are not read: see what was not carried over"
)

#: Reason why calls are missing of which only the results are recorded. A number of calls that the source states replaces it.
UNASKED = "there are tool results whose calls the source does not have"

_MANY = 3  #: calls of a run that consists of them


def missing_calls(
    steps: Sequence[Step], notes: Notes, *, in_text: bool = True
) -> dict[Capability, str]:
    """Return tool calls as missing, with the reason; empty if no call seems to be missing.

    They are missing if most of them are in fields that are not read, if results have no call, or if all are in text.
    `in_text`: whether to search the agent's text, for formats that may have calls there.
    """
    calls = 0
    for step in steps:
        calls += step.type == "tool"
    if notes.calls_left > calls:
        return {"tool_calls": _LEFT_BEHIND}
    if notes.has_unasked_results:
        return {"tool_calls": UNASKED}
    if calls or not in_text or not _acts_in_text(steps):
        return {}
    return {"tool_calls": ACTIONS_IN_TEXT}


def _acts_in_text(steps: Sequence[Step]) -> bool:
    """Return whether a run without tool calls writes them as text.

    A message in the form of a call may be an example for the reader, and one in the form of an observation a user's. Calls of
    the run itself have an answer: an observation, or the next message of the agent, which nobody has asked for. Where the
    answers have no form of their own, as what a terminal shows, they count if they begin with the same label, or if the run
    consists of calls.
    """
    run = _Run()
    for step in steps:
        text = step.output
        if type(text) is str:
            (run.add_message if step.type == "llm" else run.add_reply)(text)
            if run.has_answered_call:
                return True
    return run.consists_of_calls()


class _Run:
    """The messages of a run, as far as they show whether the agent writes calls as text."""

    def __init__(self) -> None:
        self.has_answered_call = False
        self._messages = 0  #: of the agent
        self._calls = 0
        self._last_words = 0  #: calls at the end of a message
        self._went_on = False  #: whether the agent went on after a call, although nobody wrote
        self._labels: set[tuple[str, str]] = set()  #: with which replies to calls begin
        self._before: Form | None = None  #: of the message before, if it is the agent's

    def add_message(self, text: str) -> None:
        """Add a message of the agent."""
        form = form_of(text)
        self._messages += 1
        self._went_on |= self._before is not None and self._before >= Form.DATA
        self._calls += form >= Form.DATA
        self._last_words += form >= Form.CALL and ends_in_a_call(text)
        self.has_answered_call |= form is Form.WHOLE
        self._before = form

    def add_reply(self, text: str) -> None:
        """Add a message that is not the agent's."""
        if self._before is None:
            return
        form, self._before = self._before, None
        label = label_of(text) if form >= Form.DATA else None
        self.has_answered_call |= is_answer(text, form) or label in self._labels
        if label:
            self._labels.add(label)

    def consists_of_calls(self) -> bool:
        """Return whether the agent's calls, none of which has an answer in a form of its own, are the run's all the same."""
        if self._calls < 2:
            return False
        is_all = self._calls >= max(_MANY, self._messages - 1)
        return self._went_on or is_all or self._last_words > 1

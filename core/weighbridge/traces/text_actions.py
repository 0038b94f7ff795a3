"""Detection of tool calls in plain text, so that a run with unread calls is not taken for one without calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weighbridge.traces.text_action_forms import (
    Form,
    ends_in_a_call,
    form_of,
    is_answer,
    label_of,
    may_be_answer,
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
_ANSWERS_LEFT = "the source has tool calls in fields that are not read, and may have model calls there: see what was not carried over"
#: What is missing with a model's answers, unless the source has totals of the run.
_OF_ANSWERS: tuple[Capability, ...] = ("llm_calls", "token_usage", "cost")

#: Reason why calls are missing of which only the results are recorded. A number of calls that the source states replaces it.
UNASKED = "there are tool results whose calls the source does not have"

_CALLS_IF_ALL = 3  #: minimum calls of a run in which almost every message has one


def missing_calls(
    steps: Sequence[Step], notes: Notes, *, in_text: bool = True, has_totals: bool = False
) -> dict[Capability, str]:
    """Return tool calls, and what goes with them, as missing, with the reason; empty if none seem to be.

    They are missing if most of them are in fields that are not read, if results have no call, or if all are in text. Model
    calls are missing as well if those fields have several calls with their results, or are not a message's, and with them
    a part of the tokens and the cost, unless the source has totals of the run (`has_totals`).
    `in_text`: whether to search the agent's text, for formats that may have calls there.
    """
    calls = 0
    for step in steps:
        calls += step.type == "tool"
    if notes.calls_left > calls:
        missing: dict[Capability, str] = {"tool_calls": _LEFT_BEHIND}
        if notes.answers_left:
            lacking = ("llm_calls",) if has_totals else _OF_ANSWERS
            missing |= dict.fromkeys(lacking, _ANSWERS_LEFT)
        return missing
    if notes.has_unasked_results:
        return {"tool_calls": UNASKED}
    if calls or not in_text or not _acts_in_text(steps):
        return {}
    return {"tool_calls": ACTIONS_IN_TEXT}


def _acts_in_text(steps: Sequence[Step]) -> bool:
    """Return whether a run without tool calls writes them as text.

    A message in the form of a call may be an example for the reader, and one in the form of an observation may be a user's.
    So a call counts if an answer to it has a form of its own, or one that people use too for the second time, or begins with
    the same label as an earlier one, or if the message ends in the call in tags or marks. Other answers, such as what a
    terminal shows, are told from a user's by how the agent writes.
    """
    calls = _TextCalls()
    for step in steps:
        text = step.output
        if type(text) is str:
            (calls.add_message if step.type == "llm" else calls.add_reply)(text)
            if calls.are_certain:
                return True
    return calls.are_likely()


class _TextCalls:
    """The calls that the agent of a run seems to write as text."""

    def __init__(self) -> None:
        #: whether one of them has an answer, or is a message's end in tags or marks
        self.are_certain = False
        self._messages = 0  #: number of the agent's messages
        self._calls = 0  #: number of its messages with a call
        self._final_calls = 0  #: number of its messages that end in a call
        #: whether one of them has an answer that people write too
        self._has_possible_answer = False
        #: whether the agent wrote two messages in a row, the first with a call
        self._has_continued = False
        self._labels: set[tuple[str, str]] = set()  #: with which replies to calls begin
        self._before: Form | None = None  #: form of the message before, if it is the agent's

    def add_message(self, text: str) -> None:
        """Add a message of the agent."""
        form = form_of(text)
        self._messages += 1
        self._has_continued |= self._before is not None and self._before >= Form.DATA
        self._calls += form >= Form.DATA
        self._final_calls += form >= Form.SHOWN and ends_in_a_call(text)
        self.are_certain |= form is Form.WHOLE
        self._before = form

    def add_reply(self, text: str) -> None:
        """Add a message that is not the agent's."""
        if self._before is None:
            return
        form, self._before = self._before, None
        label = label_of(text) if form >= Form.DATA else None
        self.are_certain |= is_answer(text, form) or label in self._labels
        if may_be_answer(text, form):
            self.are_certain |= self._has_possible_answer
            self._has_possible_answer = True
        if label:
            self._labels.add(label)

    def are_likely(self) -> bool:
        """Return whether the calls, none of which is certain, are the run's own.

        There are at least two of them, and the agent goes on after one by itself, ends several messages with one, or writes
        one in almost every message.
        """
        if self._calls < 2:
            return False
        are_in_all = self._calls >= max(_CALLS_IF_ALL, self._messages - 1)
        return self._has_continued or are_in_all or self._final_calls > 1

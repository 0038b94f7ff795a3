"""Reads the calls and the messages of an agent from the steps of its trace."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from weighbridge.graders.loop.history.actions import EDIT_TOOL, Call, History, Message
from weighbridge.graders.loop.history.arguments import Arguments, canonical
from weighbridge.graders.loop.history.essential_arguments import common_folder, normalized
from weighbridge.graders.loop.history.framework_messages import prompt_indices, starts_step
from weighbridge.graders.loop.history.listed_items import ListedItems
from weighbridge.graders.loop.history.message_kinds import (
    asks_to_continue,
    is_refusal,
    is_request,
    reports_missing_action,
    user_text,
)
from weighbridge.graders.loop.history.ordered_times import order_in
from weighbridge.graders.loop.history.result_kinds import (
    is_omitted_image,
    reports_failure,
    was_not_run,
)
from weighbridge.graders.loop.history.results import CallResult
from weighbridge.graders.loop.history.speakers import speakers_of
from weighbridge.graders.loop.history.tool_names import is_editing_tool, reads_files
from weighbridge.graders.loop.history.written_actions import action_in, object_in
from weighbridge.graders.loop.history.written_edits import answers_edit, code_in, edit_in
from weighbridge.graders.values import as_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weighbridge.graders.loop.work_budget import WorkBudget
    from weighbridge.traces import Step

_REPLIES = frozenset(("user", "other"))
_PARENTS = frozenset(("llm", "tool", "agent", "user"))
_REPEATED_ID = re.compile(r"#\d{1,9}\Z")  #: what is added to an ID that a trace has again
_OBSERVATION = re.compile(
    r"\A\s{0,9}(?:observation|result|output|tool (?:result|response|output))\s{0,9}\d{0,3}\s{0,9}:\s{0,9}",
    re.IGNORECASE,
)
#: Label of the observation in a prompt that repeats the task and all earlier observations at each step.
_CURRENT = re.compile(
    r"\bcurrent[ _]observation\b[ *_]{0,4}(?:is\b)?[ *_]{0,4}[:\n]\s{0,9}", re.IGNORECASE
)
_PROMPT_CHARACTERS = 200  #: of its beginning, which all prompts share
_SHOWN_CHARACTERS = 20_000  #: of what a harness writes after a call that are kept
_NAME_LINES = 2  #: of arguments as shown that are no content
_RESULT_CHARACTERS = 40  #: a shorter answer is an acknowledgement
_TYPED_CHARACTERS, _LEAST_TYPED = 40, 2  #: characters of a command that a screen shows on one line
_NO_ARGUMENTS = (dict, str, type(None))  #: types that arguments have where a call has none


def history_of(
    steps: Sequence[Step],
    call_types: frozenset[str],
    text_types: frozenset[str],
    budget: WorkBudget,
) -> History:
    """Return the calls and messages in a trace's steps; calls of a simulated user are left out."""
    return _HistoryReader(_with_proxies(steps), call_types, text_types, budget).read()


def _with_proxies(steps: Sequence[Step]) -> Sequence[Step]:
    """Return the steps with prompts to continue by a user's proxy, who also speaks as a model, as those of the user.

    Frameworks of several agents write all messages after the first one as a model's, with the speaker's name.
    """
    proxies = {step.name for step in steps if step.type == "user" and step.name}
    speakers = {step.name for step in steps if step.type == "llm"} if proxies else set()
    if not proxies & speakers or not speakers - proxies:
        return steps
    return [
        replace(step, type="user")
        if step.type == "llm" and step.name in proxies and asks_to_continue(_text_of(step.output))
        else step
        for step in steps
    ]


class _HistoryReader:
    def __init__(
        self,
        steps: Sequence[Step],
        call_types: frozenset[str],
        text_types: frozenset[str],
        budget: WorkBudget,
    ) -> None:
        self._steps = steps
        self._budget = budget
        self._call_types = call_types
        self._text_types = text_types
        self._history = History()
        self._types = {step.id: step.type for step in self._steps if step.type in _PARENTS}
        self._speakers = speakers_of(steps)
        #: by the ids of agents' spans and of the answers in them, the number of calls before the span
        self._began: dict[str, int] = {}
        self._calls: dict[str, Call] = {}
        self._turns: dict[str, Message] = {}
        self._last_result: CallResult | None = None
        self._code = ""  #: code in the agent's texts since the last call
        self._prompt = ""  #: the answer to the last written action
        self._asked = ""  #: the last message in the user's role
        self._requests = 0
        self._prompts = prompt_indices(self._steps)
        self._folder = common_folder(step for step in steps if step.type in call_types)

    def read(self) -> History:
        history, answered = self._history, -1
        turn: Message | None = None
        for index, step in enumerate(self._steps):
            kind = step.type
            if kind == "agent":
                self._began[step.id] = len(history.calls)
            elif kind == "llm" and step.parent_id in self._began:
                self._began[step.id] = self._began[step.parent_id]
            if kind in self._call_types:
                call = self._call(step)
                if call is not None:
                    history.calls.append(call)
                    if turn is not None:
                        turn.calls.append(call)
                continue
            if kind in self._text_types:
                turn = self._turn(step, index) or turn
                if turn is not None and turn.is_action:
                    answered = index + 1
            if kind == "user":
                text = self._asked = user_text(step)
                self._answer(index, text)
                self._add_unrecorded(index, text)
                if index in self._prompts and history.calls:
                    _show(history.calls[-1], text)
                turn = None
                if index != answered and index not in self._prompts:
                    if order := order_in(text):
                        history.ordered[len(history.calls)] = order
                    history.listed[len(history.calls)] = ListedItems(text)
                    history.calls.append(None)
                    self._requests += is_request(step) or starts_step(self._steps, index)
        return history

    def _answer(self, index: int, text: str) -> None:
        """Use a refusal as the result of the call directly before it, if the trace has no result for that call."""
        step = self._steps[index - 1] if index else None
        call = self._calls.get(step.id) if step is not None else None
        if call is not None and call.result.text is None and is_refusal(text):
            call.result = CallResult(text, None, call.arguments.value, self._budget, call.tool)

    def _add_unrecorded(self, index: int, text: str) -> None:
        """Add the answer that a message refuses for its missing action, if the trace does not have it."""
        before = self._steps[index - 1] if index else None
        if before is not None and before.type != "llm" and reports_missing_action(text):
            turn = Message(self._steps[index], "", requests_before=self._requests, reply=text)
            turn.calls_before = len(self._calls)
            self._history.turns.append(turn)

    def _call(self, step: Step) -> Call | None:
        """Return the call of a step, or None for a user's call, a nested span of a call, or a call that was not run."""
        parent = step.parent_id
        kind = self._types.get(parent) if parent is not None else None
        if kind == "user":
            return None
        tool = step.name if type(step.name) is str else as_json(step.name)
        arguments = Arguments(normalized(self._given(step, tool), tool, self._folder))
        if was_not_run(step.error or step.output):
            return None
        outer = self._calls.get(parent) if kind in self._call_types and parent is not None else None
        if outer is not None and outer.tool == tool and outer.arguments.key == arguments.key:
            return None
        message = parent if kind == "llm" else None
        before = self._history.calls[-1] if self._history.calls else None
        if before is not None and message is not None and before.message == message:
            if self._is_delivered_again(before, step, tool, arguments):
                self._calls[step.id] = before
                return None
            self._take_shared_result(before, step, arguments)
        result = self._result(step, tool, arguments)
        speaker = self._speakers.get(parent) if parent is not None else None
        began = self._began.get(parent, -1) if parent is not None else -1
        call = Call(step, tool, arguments, result, message, speaker, began)
        self._calls[step.id] = call
        return call

    def _given(self, step: Step, tool: str) -> Any:
        """Return the arguments of a call; of a name alone, None for what was written, unless it was refused, and a label for what was read."""
        given = step.arguments
        if self._code and type(given) in _NO_ARGUMENTS and not given:
            # A call without arguments is about the code that the agent has just written, such as a run of its tests.
            given = {"code": self._code}
        self._code = ""
        if not step.arguments_as_shown or _shows_content(given):
            return given
        if is_editing_tool(tool):
            is_refused = step.error is not None or reports_failure(_text_of(step.output))
            return given if is_refused else None
        return {"summary": given} if _reads_unseen(step, tool) else given

    def _result(self, step: Step, tool: str, arguments: Arguments) -> CallResult:
        """Return the result of a call, which is unknown if the trace does not have what the call wrote or read."""
        result = CallResult(
            step.output, step.error, arguments.value, self._budget, tool, self._last_result
        )
        self._last_result = result
        is_unseen = _reads_unseen(step, tool) or (
            arguments.value is None
            and is_editing_tool(tool)
            and not (result.has_failed or result.is_informative)
        )
        return CallResult(None, None, None, self._budget, tool) if is_unseen else result

    def _is_delivered_again(
        self, before: Call, step: Step, tool: str, arguments: Arguments
    ) -> bool:
        """Return whether a step is the call before it in its message, which a client has run twice under one ID."""
        own_id = _REPEATED_ID.sub("", step.id)
        return (
            own_id in self._calls
            and own_id != step.id
            and own_id == _REPEATED_ID.sub("", before.step.id)
            and (before.tool, before.arguments.key) == (tool, arguments.key)
        )

    def _take_shared_result(self, before: Call, step: Step, arguments: Arguments) -> None:
        """Leave the screen that several commands of a message share, and that shows each of them, to the last one."""
        if (
            type(step.output) is str
            and step.output == before.step.output
            and step.error is before.step.error is None
            and arguments.key != before.arguments.key
            and all(_is_shown(each, step.output) for each in (before.arguments, arguments))
        ):
            before.result = CallResult(
                None, None, before.arguments.value, self._budget, before.tool
            )

    def _turn(self, step: Step, index: int) -> Message | None:
        """Return the turn of a step, or None for a nested span of an answer."""
        text = _text_of(step.output)
        parent = step.parent_id
        outer = self._turns.get(parent) if parent is not None else None
        if outer is not None and outer.text == text:
            return None
        turn = self._turns[step.id] = Message(step, text, requests_before=self._requests)
        turn.calls_before = len(self._calls)
        turn.number = index
        if index and self._steps[index - 1].type == "user":
            turn.asked = self._asked
        self._code = code_in(text) or self._code
        self._history.turns.append(turn)
        following = self._steps[index + 1] if index + 1 < len(self._steps) else None
        if following is not None and following.type in _REPLIES:
            turn.reply = user_text(following)
            turn.is_reported = following.type != "user"
        if step.type == "llm" and (following is None or following.type == "user"):
            call = self._written_call(
                step, text, following, is_result=self._is_result(following, index + 1)
            )
            if call is not None:
                turn.calls.append(call)
                turn.is_action = True
                self._history.calls.append(call)
        return turn

    def _is_result(self, following: Step | None, index: int) -> bool:
        """Return whether a harness answers, and says more than that something was done."""
        text = user_text(following) if following else ""
        return len(text) >= _RESULT_CHARACTERS and (index in self._prompts or is_refusal(text))

    def _written_call(
        self, step: Step, text: str, following: Step | None, *, is_result: bool
    ) -> Call | None:
        """Return the edit or the action written in a text, with the user's answer as its result.

        An object may also be an answer to a request: it is only an action if what follows `is_result`.
        """
        answer = following.output if following else None
        edit = edit_in(text)
        if edit is not None and (following is None or answers_edit(user_text(following))):
            tool, given = EDIT_TOOL, edit
        else:
            action = action_in(text, is_answered=following is not None)
            if action is None and is_result:
                action = object_in(text)
            if action is None:
                return None
            tool, given = action
        if type(answer) is str:
            answer, self._prompt = _observation_in(answer, self._prompt), answer
        arguments = Arguments(normalized(given))
        result = CallResult(answer, None, arguments.value, self._budget)
        return Call(step, tool, arguments, result, None, self._speakers.get(step.id))


def _reads_unseen(step: Step, tool: str) -> bool:
    """Return whether a call reads a file, and a source has neither which part of it nor what was in it."""
    return (
        step.arguments_as_shown
        and not (step.output or step.error)
        and reads_files(tool)
        and not _shows_content(step.arguments)
    )


def _shows_content(shown: Any) -> bool:
    """Return whether arguments as a file shows them have more than a line or two, which may be the name of a file."""
    return (
        type(shown) is not str
        or len([*filter(None, map(str.strip, shown[:_SHOWN_CHARACTERS].splitlines()))])
        > _NAME_LINES
    )


def _is_shown(arguments: Arguments, screen: str) -> bool:
    """Return whether a screen shows what was typed, as the beginning of the longest argument."""
    given = arguments.value
    texts = [text for text in given.values() if type(text) is str] if type(given) is dict else []
    typed = max(texts, key=len, default="").strip()[:_TYPED_CHARACTERS]
    return len(typed) >= _LEAST_TYPED and typed in screen


def _observation_in(answer: str, before: str) -> str:
    """Return the observation in a harness's message, without its label.

    From a prompt that begins like the one `before` it, which repeats the task and all earlier observations, the current
    one is taken if exactly one part is labelled so.
    """
    beginning = before[:_PROMPT_CHARACTERS]
    if len(beginning) == _PROMPT_CHARACTERS and answer.startswith(beginning):
        labels = [*islice(_CURRENT.finditer(answer, _PROMPT_CHARACTERS), 2)]
        current = answer[labels[0].end() :] if len(labels) == 1 else ""
        if len(current) >= _RESULT_CHARACTERS and not is_omitted_image(current.partition("\n")[0]):
            return current
    return _OBSERVATION.sub("", answer, count=1)


def _show(call: Call | None, text: str) -> None:
    """Add what a harness writes after a call, if it belongs to one."""
    if call is not None and len(call.shown) < _SHOWN_CHARACTERS:
        call.shown = f"{call.shown}\n{text}"[:_SHOWN_CHARACTERS]


def _text_of(output: Any) -> str:
    if type(output) is str:
        return output
    is_structured = type(output) in (dict, list) and len(output) > 0
    return canonical(output).decode("utf-8", "replace") if is_structured else ""

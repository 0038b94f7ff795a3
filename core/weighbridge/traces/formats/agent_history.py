"""Chats of several agents under `history`, as AG2 and Magentic-One write them: each message names its speaker.

Neither separates calls from text, but each has fixed rules for how agents act and report. AG2's executor runs the code
blocks of the message before it and answers `exitcode: ...`. Magentic-One's terminal does the same, with other words. Its
WebSurfer begins each report with its action in the browser. AgentChat, the AutoGen since 0.4, has messages with types; some
programs keep each as it is printed.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from weighbridge.traces.chat.call_parts import Call
from weighbridge.traces.chat.calls import RESULT_ROLES, calls_of, single_messages
from weighbridge.traces.chat.chat_log import ChatLog
from weighbridge.traces.chat.conversation import NO_FACTS, Facts, Run
from weighbridge.traces.chat.roles import ROLES
from weighbridge.traces.fields import (
    added,
    cost_of,
    counted,
    object_of,
    read_usage,
    scalars,
    string_of,
    text_of,
    time_of,
    usage_of,
)
from weighbridge.traces.formats.autogen import MessageReader
from weighbridge.traces.formats.autogen_printed import (
    TASK_RESULT,
    are_printed,
    begins_printed,
    with_printed,
)
from weighbridge.traces.importer import Importer, damaged

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, Trace, Usage

_HISTORIES = ("history", "chat_history")
_ABOUT = (
    *("question", "question_ID", "ground_truth", "level", "is_correct", "is_corrected"),
    *("mistake_agent", "mistake_step", "mistake_reason", "mistake_type", "summary"),
)
_FIELDS = frozenset(
    {*_ABOUT, *_HISTORIES, "id", "conversation_id", "chat_id", "cost", "human_input"}
)
_IDS = ("id", "question_ID", "conversation_id")
_OF_OTHERS = frozenset({"trajectory", "metadata", "messages", "task_completed"})
_LOOKED_AT = 20  #: messages examined to recognise a history
_PERSONS = frozenset({"human", "user", "user_proxy", "userproxy", "admin", "chat_manager"})
#: Beginnings of reports of executed code, by AG2's executor and Magentic-One's terminal.
_EXECUTED = re.compile(
    r"\s{0,20}(?:exitcode|The script ran, then exited with Unix exit code"
    r"|The script ran, then exited with an error \(POSIX exit code"
    r"|The script ran but produced no output to console\. The POSIX exit code was): (-?\d{1,9})\b"
)
_NOT_EXECUTED = (
    *("There is no code from the last ", "No code block detected in the messages"),
    "No code blocks found in the thread",
)
_FENCED = re.compile(
    r"^[ \t]{0,8}```[ \t]{0,8}(\w{0,20})[^\n]{0,80}\n(.*?)^[ \t]{0,8}```", re.MULTILINE | re.DOTALL
)
_ORCHESTRATOR = "Orchestrator"
_THOUGHT, _ANSWER = "Orchestrator (thought)", "Orchestrator (final answer)"
#: Texts that the orchestrator's program writes among the model's answers; printed text may follow them.
_WRITTEN = re.compile(
    r"Next speaker \S{1,100}|Request satisfied\.|Stalled\.{2,8} Replanning\.{2,8}"
    r"|Replan counter exceeded\.{2,8} Terminating\."
)
_PLANS = ("Initial plan:", "New plan:")
_PLANNER, _PLAN = "MagenticOneOrchestrator", "We are working to address the following user request:"
_SEVERAL = "a plan is made of the answers of several model calls"
_WEB_SURFER = "WebSurfer"
_TERMINAL = "ComputerTerminal"
#: Further agents with tools.
_OTHER_TOOL_AGENTS = frozenset({"FileSurfer", _TERMINAL, "Executor"})
#: Phrases in WebSurfer's reports, and the tool of each action.
_BROWSED = (
    (r"typed '(?P<url>.*?)' into the browser address bar", "visit_url"),
    (r"typed '(?P<query>.*?)' into the browser search bar", "web_search"),
    (r"(?:typed|input) '(?P<text_value>.*?)' into '(?P<target>[^'\n]{0,200})", "input_text"),
    (r"input '(?P<text_value>.*?)'", "input_text"),
    (r"clicked the browser back button", "history_back"),
    (r"clicked the control", "click"),
    (r"clicked '(?P<target>.*?)'", "click"),
    (r"hovered over '(?P<target>.*?)'", "hover"),
    (r"scrolled up one page in the browser", "page_up"),
    (r"scrolled down one page in the browser", "page_down"),
    (r"scrolled '(?P<target>[^'\n]{0,200})' (?P<direction>up|down)", "scroll_element"),
    (r"am waiting a short period of time", "sleep"),
)
_BROWSERS = tuple((re.compile(rf"\s{{0,20}}I {form}", re.DOTALL), name) for form, name in _BROWSED)
#: Types of AgentChat's messages whose texts tell what their agents did.
_SPEECHES = frozenset({"TextMessage", "MultiModalMessage"})
_SAID = frozenset({"role", "name", "content"})  #: fields of a message that are carried
_REPORT_CHARACTERS = 1_000  #: length of the beginning of a report in which the action is searched
_ACTIONS_IN_PROSE = "agents that have tools describe in free text what they did with them"
_REASONS: dict[Capability, str] = {
    "token_usage": "this history carries no token counts",
    "timing": "this history carries no times",
    "cost": "this history carries no cost",
    "tool_definitions": "this history does not list the agents' tools",
}


def _matches(value: Any) -> bool:
    if type(value) is list:  # a bare list of AG2's messages has no distinguishing mark
        return any(map(_is_of_orchestrator, value[:_LOOKED_AT])) and all(
            map(_is_said, value[:_LOOKED_AT])
        )
    if type(value) is not dict or not _OF_OTHERS.isdisjoint(value):
        return False
    history = _history(value)
    some = history[:_LOOKED_AT]
    return (
        bool(some)
        and all(map(_is_said, some))
        and (
            any(string_of(each.get("name")) or each["role"] not in ROLES for each in some)
            or are_printed(history)
        )
    )


def _is_of_orchestrator(message: Any) -> bool:
    role = message.get("role") if type(message) is dict else None
    return type(role) is str and role.startswith(_ORCHESTRATOR)


def _history(value: dict[str, Any]) -> list[Any]:
    return next((value[key] for key in _HISTORIES if type(value.get(key)) is list), [])


def _is_said(message: Any) -> bool:
    return (
        type(message) is dict
        and type(message.get("role")) is str
        and "content" in message
        and "action" not in message
        and "agent" not in message
    )


def _read(value: Any) -> list[Trace]:
    value = {"history": value} if type(value) is list else value
    reader = _HistoryReader()
    reader.chat.notes.add_fields(value, _FIELDS, "record")
    entries = with_printed(single_messages(_history(value)))
    for number, (message, printed) in enumerate(entries, 1):
        if not _is_said(message):
            raise damaged(f"message {number} is not an object with a role and content")
        if printed is None:
            reader.add(message, is_first=number == 1)
        else:
            reader.add_printed(message, printed, is_first=number == 1)
    reader.typed.close()
    usage, cost_usd = _spent(value.get("cost"))
    run = Run(
        id=next(filter(None, (string_of(value.get(name)) for name in _IDS)), None),
        usage=usage,
        cost_usd=cost_usd,
        metadata=scalars(**{name: value.get(name) for name in _ABOUT}),
    )
    trace = reader.chat.trace("agent-history", _REASONS, run)
    missing: dict[Capability, str] = {}
    if reader.in_prose:
        missing["tool_calls"] = _ACTIONS_IN_PROSE
    if reader.has_plans:
        missing["llm_calls"] = _SEVERAL
    return [replace(trace, missing={**trace.missing, **missing})]


class _HistoryReader:
    def __init__(self) -> None:
        self.chat = ChatLog()
        self.typed = MessageReader(self.chat, [])  #: reader of messages with types
        #: Whether agents with tools describe what they did in prose of unknown form.
        self.in_prose = False
        self.has_result = False  #: whether the printed result of the run was read
        self.has_plans = False  #: whether the orchestrator planned, which takes several model calls
        self._calls = 0
        self._code = ""  #: code of the last message that has code, until it is run

    def add(self, message: dict[str, Any], *, is_first: bool) -> None:
        """Add a message by its speaker and its text."""
        role, text = message["role"], string_of(message.get("content")) or ""
        speaker = role if role not in ROLES else ""
        if role.casefold() in ROLES:
            speaker = string_of(message.get("name")) or speaker
        is_of_tools = role in RESULT_ROLES or bool(calls_of(message))
        if not is_of_tools:
            self.chat.notes.add_fields(message, _SAID, "message")
        if is_of_tools:
            # The framework's own calls; any agent may make them.
            recorded = "assistant" if role == "user" and role not in RESULT_ROLES else role
            self.chat.say(recorded, **{key: item for key, item in message.items() if key != "role"})
        elif self.has_result and not begins_printed(text):  # a note of the program that recorded
            self.chat.say("event", text, name=speaker)
        elif role not in ROLES and _is_of_program(speaker, text):
            self.chat.say("orchestrator", text, name=speaker)
        elif speaker == _WEB_SURFER:
            self._browsed(text, text)
        elif _EXECUTED.match(text):
            self._executed(text, speaker)
        elif role == "system" or text.startswith(_NOT_EXECUTED):
            self.chat.say("system" if role == "system" else "executor", text, name=speaker)
        elif is_first or speaker.lower() in _PERSONS or (role == "user" and not speaker):
            self.chat.say("user", message.get("content"), name=message.get("name"))
        else:
            self.in_prose = self.in_prose or speaker in _OTHER_TOOL_AGENTS
            self.has_plans |= speaker == _THOUGHT and text.startswith(_PLANS)
            name = _ORCHESTRATOR if speaker in {_THOUGHT, _ANSWER} else speaker
            self.chat.answer(message.get("content"), name=name)
        self._keep_code(text)

    def add_printed(
        self, entry: dict[str, Any], message: dict[str, Any], *, is_first: bool
    ) -> None:
        """Add a message with a type, which is printed in an entry: by its type, or by its source and its text."""
        self.chat.notes.add_fields(entry, _SAID, "message")
        kind, content = message["type"], message.get("content")
        self.has_result = self.has_result or kind == TASK_RESULT
        text, source = text_of(content) or "", string_of(message.get("source")) or ""
        usage = counted(read_usage(message.get("models_usage")))
        time = time_of(message.get("created_at"))
        if kind not in _SPEECHES:
            self.typed.message(message, is_first=is_first)
            return
        if source == _WEB_SURFER:
            self.typed.close()
            self._browsed(text, content, Facts(usage=usage, ended_at=time), message.get("id"))
        elif usage is None and text.startswith(_NOT_EXECUTED):
            self.typed.close()
            self.chat.say("executor", text, Facts(ended_at=time), name=source)
        elif usage is None and (source == _TERMINAL or _EXECUTED.match(text)):
            self.typed.close()
            self._executed(text, source, time)
        else:
            self.in_prose = self.in_prose or source in _OTHER_TOOL_AGENTS
            self.has_plans |= source == _PLANNER and text.lstrip().startswith(_PLAN)
            self.typed.message(message, is_first=is_first)
        self._keep_code(text)

    def _keep_code(self, text: str) -> None:
        code = [block for _, block in _FENCED.findall(text)]
        if code:
            self._code = "\n".join(code)

    def _browsed(
        self, report: str, content: Any, facts: Facts = NO_FACTS, own_id: Any = None
    ) -> None:
        """Add WebSurfer's action, which the first words of its report name."""
        for form, name in _BROWSERS:
            found = form.match(report, 0, _REPORT_CHARACTERS)
            if found:
                call = self._named(name, found.groupdict())
                shown = Facts(arguments_as_shown=True)
                self.chat.answer(None, [call], facts, of_calls=shown, name=_WEB_SURFER, id=own_id)
                self.chat.result(call.id, content, Facts(ended_at=facts.ended_at), _WEB_SURFER)
                return
        # The report is an answer in WebSurfer's own words, or the description of a tool's result.
        self.in_prose = True
        self.chat.answer(content, facts=facts, name=_WEB_SURFER, id=own_id)

    def _executed(self, report: str, speaker: str, ended_at: int | None = None) -> None:
        """Add one call for the run of all code blocks in the message before."""
        code = _EXECUTED.match(report)
        failed = code is not None and code[1] != "0"
        call = self._named("execute_code", {"code": self._code} if self._code else None)
        self.chat.ask(call)
        self.chat.result(call.id, report, Facts(error=failed, ended_at=ended_at), speaker)
        self._code = ""

    def _named(self, name: str, arguments: Any) -> Call:
        self._calls += 1
        return Call(f"call_{self._calls}", name, arguments)


def _is_of_program(speaker: str, text: str) -> bool:
    """Return whether a message of the orchestrator was written or passed on by its program, not answered by the model."""
    if speaker == _THOUGHT:
        return _WRITTEN.fullmatch(text.partition("\n")[0].rstrip()) is not None
    return speaker.startswith(_ORCHESTRATOR) and speaker != _ANSWER


def _spent(value: Any) -> tuple[Usage | None, float | None]:
    """Return the usage that AG2 records for a chat, by model, including cached tokens."""
    recorded = object_of(object_of(value).get("usage_including_cached_inference"))
    models = [held for held in recorded.values() if type(held) is dict]
    counts = [
        usage_of(held.get("prompt_tokens"), held.get("completion_tokens"), held.get("total_tokens"))
        for held in models
    ]
    return added(counts), cost_of(recorded.get("total_cost"))


IMPORTER = Importer(
    id="agent-history",
    name="AG2 and Magentic-One histories",
    matches=_matches,
    read=_read,
    fields=(
        ("id", "id, or question_ID; of a printed message its id"),
        (
            "type",
            "an agent's message is llm, the first and a person's is user, what the orchestrator hands on or notes itself (Next speaker ...) is other; by role and name, or by the type and source of a printed message",
        ),
        (
            "name, arguments",
            "execute_code with the blocks of code before an exit code or ComputerTerminal's text; what WebSurfer says it did; the calls of a printed ToolCallRequestEvent",
        ),
        ("arguments_as_shown", "true for what WebSurfer says it did"),
        ("output", "content; of a tool call, the message that records its outcome"),
        ("error", "an exitcode other than 0; is_error of a printed result"),
        ("usage", "models_usage of a printed message"),
        ("started_at, ended_at", "created_at of a printed message"),
        ("usage, cost_usd of the run", "cost.usage_including_cached_inference"),
        ("metadata", ", ".join(_ABOUT)),
    ),
    tried_on="real runs of AG2 and of Magentic-One, two of them with printed messages; synthetic printed messages of all types",
    lacks="tool definitions; times, unless messages are printed; tokens and cost, unless the chat's cost is stored with it or"
    " printed messages have their tokens; what FileSurfer and others did with their tools",
)

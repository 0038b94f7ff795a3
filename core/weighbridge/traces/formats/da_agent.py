"""Result files of DA-Agent (DA-Code), of Spider-Agent (Spider 2.0), and of agents made from them.

An entry has the observation that the model was shown before it chose the action: the result of an action is in the entry
after it, and that of the last one in none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from weighbridge.traces.fields import (
    Notes,
    StepIds,
    counts_of,
    missing_of,
    scalars,
    string_of,
)
from weighbridge.traces.importer import Importer, damaged
from weighbridge.traces.model import Step, Trace

if TYPE_CHECKING:
    from weighbridge.traces.model import Capability, StepType

#: The first observation of every run, by which it is known that observations come before the actions of their entries.
_OPENING = "You are in the folder now"
_FILE_FIELDS = frozenset({"finished", "steps", "result", "Task", "system_message", "trajectory"})
_ENTRY_FIELDS = frozenset({"observation", "thought", "action", "code", "response"})
_UNREAD = "None"  #: action of an answer in which the agent found none
_TERMINATE = "Terminate"
_REPEATED = "ERROR: Repeated action"  #: result of a run that the agent ended instead of running its last action
#: Names of arguments, at which another one ends. What is in quotes is not escaped.
_NAMES = frozenset(
    {
        *("file_path", "filepath", "command", "output", "sql_query", "is_save", "save_path"),
        *("database_name", "dataset_name", "schema_name", "table", "row_number"),
    }
)
_NEXT = re.compile(rf", (?=(?:{'|'.join(sorted(_NAMES))})=)")
_ANY_NEXT = re.compile(r", (?=\w+=)")
_ALONE = frozenset({"code", "output"})  #: first arguments that are the only ones
_CALL = re.compile(r"(\w+)\((.*)\)", re.DOTALL)
#: An action whose code is below it, which some versions write inside of the parentheses.
_WITH_CODE = re.compile(r"(\w+)(?:\(([^\n]*?)\)?)?:?\n ?(```|''')\w*\n(?:(.*)\n)?\3\)?", re.DOTALL)
_NAME = re.compile(r"\w+")
_QUOTES = ('"""', "'''", '"', "'")
_NUMBER = re.compile(r"[0-9]{1,9}")
_WORDS = {"True": True, "False": False, "None": None}
#: Words of the agent's own tools when an action was not run, or not to its end.
_REFUSED = re.compile(r"The action is the same as the last one, |Action execution time exceeded!")
#: Words of the tools for files and databases when they failed; what a command or a program prints is its own text.
_FAILED = re.compile(
    r"ERROR: |Error occurred while fetching data: |Falied to validate file "
    r"|File [^\n]{1,300} (?:already exists|does not exist)\.\Z"
)
_PROGRAMS = frozenset({"Bash", "Python", "ExecuteCode", "ExecutePythonSnippet"})
_REASONS: dict[Capability, str] = {
    "token_usage": "DA-Agent and Spider-Agent write no tokens",
    "timing": "DA-Agent and Spider-Agent write no times",
    "cost": "DA-Agent and Spider-Agent write no cost, and no tokens to compute it from",
    "tool_definitions": "DA-Agent and Spider-Agent describe their actions in the prompt, not as definitions",
}


def matches(value: Any) -> bool:
    """Return whether a value is a result file, or its entries alone."""
    entries = value.get("trajectory") if type(value) is dict else value
    first = entries[0] if type(entries) is list and entries else None
    if type(first) is not dict or type(first.get("action")) is not str:
        return False
    observation = first.get("observation")
    return type(observation) is str and observation.startswith(_OPENING)


def _read(value: Any) -> list[Trace]:
    if type(value) is list:
        value = {"trajectory": value}
    notes = Notes()
    notes.add_fields(value, _FILE_FIELDS, "file")
    entries = value["trajectory"]
    for number, entry in enumerate(entries, 1):
        if type(entry) is not dict or type(entry.get("action")) is not str:
            raise damaged(f"entry {number} of the trajectory has no text as its action")
        notes.add_fields(entry, _ENTRY_FIELDS, "entry")
    steps = _Run(value).read(entries)
    return [
        Trace(
            id=None,
            steps=steps,
            format="da-agent",
            metadata=scalars(
                task=value.get("Task"),
                finished=value.get("finished"),
                result=value.get("result"),
            ),
            counts=counts_of(llm_calls=value.get("steps")),
            totals_from="steps",
            missing=missing_of(steps, _REASONS),
            not_carried=notes.summaries(),
        )
    ]


class _Run:
    """Collects the steps of a run."""

    def __init__(self, value: dict[str, Any]) -> None:
        self._system = string_of(value.get("system_message"))
        self._task = string_of(value.get("Task"))
        self._result = string_of(value.get("result"))
        self._ids = StepIds()
        self._steps: list[Step] = []

    def read(self, entries: list[dict[str, Any]]) -> tuple[Step, ...]:
        if self._system:
            self._add("system", output=self._system)
        if self._task and self._task not in (self._system or ""):
            self._add("user", output=self._task)
        self._add("user", output=entries[0]["observation"])
        for entry, after in zip(entries, [*entries[1:], None], strict=True):
            self._turn(entry, after)
        return tuple(self._steps)

    def _turn(self, entry: dict[str, Any], after: dict[str, Any] | None) -> None:
        said = string_of(entry.get("response")) or string_of(entry.get("thought"))
        parent_id = self._add("llm", output=said)
        action = entry["action"].strip()
        observation = None if after is None else after.get("observation")
        if action in {"", _UNREAD}:
            if after is not None:
                self._add("user", output=observation)
            return
        name, arguments = _call(action)
        error = _error(name, observation)
        if after is None and self._result == _REPEATED:
            observation = error = _REPEATED
        elif after is None and name == _TERMINATE:
            observation = self._result
        self._add(
            "tool",
            parent_id=parent_id,
            name=name,
            arguments=arguments,
            output=observation,
            error=error,
        )

    def _add(self, kind: StepType, **facts: Any) -> str:
        step = Step(id=self._ids.take(None, len(self._steps) + 1), type=kind, **facts)
        self._steps.append(step)
        return step.id


def _error(name: str | None, observation: Any) -> str | None:
    """Return an observation by which one of the agent's tools says that it failed or did nothing."""
    if type(observation) is not str:
        return None
    has_failed = _REFUSED.match(observation) or (
        name not in _PROGRAMS and _FAILED.match(observation)
    )
    return observation if has_failed else None


def _call(action: str) -> tuple[str | None, dict[str, Any]]:
    """Return the name and the arguments of an action, such as `Bash(code="ls")`; what is no call has only an argument."""
    if found := _WITH_CODE.fullmatch(action):
        arguments = _arguments(found[2] or "")
        if arguments is not None:
            return found[1], {**arguments, "code": found[4] or ""}
    if found := _CALL.fullmatch(action):
        arguments = _arguments(found[2])
        if arguments is not None:
            return found[1], arguments
    named = _NAME.match(action)
    name = named[0] if named else None
    rest = action[len(name or "") :].strip()
    return name, {"argument": rest} if rest else {}


def _arguments(text: str) -> dict[str, Any] | None:
    """Return arguments such as `file_path="a.db", row_number=3`, or None if a text is something else."""
    if not text.strip():
        return {}
    first = text.partition("=")[0].strip()
    if _NAME.fullmatch(first) is None:
        return None
    parts = [text]
    if first not in _ALONE:
        parts = (_NEXT if first in _NAMES else _ANY_NEXT).split(text)
    pairs = (part.partition("=") for part in parts)
    return {name.strip(): _value(written.strip()) for name, _, written in pairs}


def _value(written: str) -> Any:
    for quote in _QUOTES:
        if len(written) >= 2 * len(quote) and written.startswith(quote) and written.endswith(quote):
            return written[len(quote) : -len(quote)]
    if written in _WORDS:
        return _WORDS[written]
    return int(written) if _NUMBER.fullmatch(written) else written


IMPORTER = Importer(
    id="da-agent",
    name="DA-Agent and Spider-Agent results",
    matches=matches,
    read=_read,
    fields=(
        ("id of a step", "its number: s1, s2, ..."),
        (
            "type",
            "an entry of trajectory is llm, and its action tool; system_message is system, the first observation user, and so is the observation after an answer without an action",
        ),
        ("name, arguments", 'action: of Bash(code="ls"), Bash and {"code": "ls"}'),
        (
            "output",
            "response, or thought; of a tool call, observation of the next entry, and of a last Terminate result",
        ),
        (
            "error",
            "an observation in which the agent's own tools say that a query, a file or an action failed, or was refused because it was repeated",
        ),
        ("counts of the run", "steps: its model calls"),
        ("metadata", "Task, finished, result"),
    ),
    tried_on="real results of DA-Agent, with and without responses; synthetic ones of Spider-Agent",
    lacks="tokens, times, cost, tool definitions, the model, the result of the last action of a run without an end, and exit codes",
)

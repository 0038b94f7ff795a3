"""Exit codes that the tools of coding agents write into the results of commands, in whatever format their calls come.

An agent's own sessions may have a field for the code; a model, and so a log of messages or spans, gets the text alone.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import structs

if TYPE_CHECKING:
    from weighbridge.traces.model import Step, Trace

_CHARACTERS = (
    5_000  #: number of characters before a mark, or of the last ones of a result, that may have it
)
_CODE = r"(-?\d{1,10})"
#: What Cline and Roo write before a result, where calls are tags in the text.
_HEADING = re.compile(r"\s{0,20}\[\w{1,40}(?:| for .{0,4000}?)\] Result:\s{0,20}", re.DOTALL)


class _Head(NamedTuple):
    """A mark with which a result begins."""

    start: str
    mark: re.Pattern[str]  #: of the text right after the start

    def code_in(self, text: str) -> int | None:
        """Return the exit code that a result states; None if it has no such mark."""
        heading = _HEADING.match(text)
        begin = heading.end() if heading else 0
        if not text.startswith(self.start, begin):
            return None
        found = self.mark.match(text, begin + len(self.start))
        return int(found[1]) if found else None


class _End(NamedTuple):
    """A mark that is a line at the end of a result."""

    mark: re.Pattern[str]
    after: re.Pattern[str] | None = None  #: lines of the tool that may follow

    def code_in(self, text: str) -> int | None:
        """Return the exit code that a result states; None if it has no such mark."""
        for line in reversed(text[-_CHARACTERS:].rstrip().splitlines()):
            if found := self.mark.fullmatch(line):
                return int(found[1])
            if self.after is None or not self.after.fullmatch(line):
                return None
        return None


_VS_CODE = _End(re.compile(rf"Command exited with code {_CODE}"))  # and pi
_COPILOT = _End(
    re.compile(
        r"<(?:(?:command with id: |shellId: )\S{1,80} )?(?:exited|completed) with exit code "
        rf"{_CODE}>"
    )
)
_GEMINI = _End(
    re.compile(rf"Exit Code: {_CODE}"),
    after=re.compile(r"(?:Signal|Background PIDs|Process Group PGID): .*"),
)
_OPEN_HANDS = _End(
    re.compile(
        rf"\[(?:The command completed|Command finished) with exit code {_CODE}"
        r"(?:\.(?: CTRL\+.{1,9} was sent\.)?)?\]"
    ),
    after=re.compile(r"\[.*\]"),
)
#: Before the mark is the command, which may have several lines, but is no log of other commands.
_ZED = _Head(
    'Command "',
    re.compile(
        rf'(?:(?!Command ").){{0,{_CHARACTERS}}}?" failed with exit code {_CODE}\.(?:\n|\Z)',
        re.DOTALL,
    ),
)
_ROO = _Head(
    "Command executed in terminal",
    re.compile(
        rf".{{0,{_CHARACTERS}}}?Command execution was not successful, inspect the cause and adjust as needed\.\n"
        rf"Exit code: {_CODE}(?:\n|\Z)"
    ),
)
_CLINE = _Head("Command failed with exit code", re.compile(rf"\s?{_CODE}\b"))
#: The marks of the tools that run commands, by their names.
_MARKS: dict[str, tuple[_Head | _End, ...]] = {
    "run_in_terminal": (_VS_CODE,),
    "bash": (_COPILOT, _VS_CODE),
    **dict.fromkeys(
        ("powershell", "read_bash", "read_powershell", "write_bash", "write_powershell"),
        (_COPILOT,),
    ),
    "run_shell_command": (_GEMINI,),
    "execute_bash": (_OPEN_HANDS,),
    "terminal": (_OPEN_HANDS, _ZED),
    "execute_command": (_ROO, _CLINE),
}


def with_failed_commands(trace: Trace) -> Trace:
    """Return a trace with each command that failed, as its result states, with the result as its error.

    The native form is left as it is: its author wrote for this program whether a call failed.
    """
    if trace.format == "native" or _MARKS.keys().isdisjoint(
        [name for step in trace.steps if type(name := step.name) is str]
    ):
        return trace
    failed = {number for number, step in enumerate(trace.steps) if _has_failed(step)}
    if not failed:
        return trace
    steps = (
        structs.replace(step, error=_text_of(step.output)) if number in failed else step
        for number, step in enumerate(trace.steps)
    )
    return replace(trace, steps=tuple(steps))


def _has_failed(step: Step) -> bool:
    marks = _MARKS.get(step.name or "") if step.type == "tool" and step.error is None else None
    text = _text_of(step.output) if marks else ""
    return any(mark.code_in(text) for mark in marks or ())


def _text_of(output: Any) -> str:
    """Return the text of a result, which Gemini's API has under a key."""
    if type(output) is dict and output.keys() == {"output"}:
        output = output["output"]
    return output if type(output) is str else ""

"""mini-SWE-agent's rule for the command in an answer's text: the only fenced block of its language.

Its pattern is a fence with the language, white space up to the end of the line, and the shortest text up to a line that
begins with a fence. The program refuses an answer without exactly one such block; blocks of other languages may stand
beside it.
"""

from __future__ import annotations

import re

_FENCE = "```"
_END = "\n```"
#: Form of the program's own patterns; a run's pattern may name other languages, or several.
_PATTERN = re.compile(
    r"```(?:(?P<one>[\w+-]{1,40})|\(\?:(?P<several>[\w+|-]{1,200})\))(?:\\s\*)?\\n\(\.\*\?\)\\n```"
)
V1_LANGUAGES = ("bash",)
V2_LANGUAGES = ("mswea_bash_command",)


def languages_of(pattern: str) -> tuple[str, ...]:
    """Return the languages in a run's action pattern; empty for another kind of pattern."""
    found = _PATTERN.fullmatch(pattern)
    return tuple((found["one"] or found["several"]).split("|")) if found else ()


def commands_in(text: str, languages: tuple[str, ...]) -> list[str]:
    """Return the commands that the program's pattern finds in an answer's text; it runs only a single one."""
    openings = [_FENCE + language for language in languages]
    last_end = text.rfind(_END)
    commands: list[str] = []
    at = text.find(_FENCE)
    while 0 <= at <= last_end:
        inside = at + 1
        for opening in openings:
            found = _block(text, at + len(opening)) if text.startswith(opening, at) else None
            if found:
                commands.append(text[found[0] : found[1]].strip())
                inside = found[1] + len(_END)
                break
        at = text.find(_FENCE, inside)
    return commands


def _block(text: str, inside: int) -> tuple[int, int] | None:
    """Return the start and end of the content of a block whose opening fence ends at `inside`."""
    filled = inside
    while filled < len(text) and text[filled].isspace():
        filled += 1
    last = text.rfind("\n", inside, filled)
    if last < 0:
        return None
    end = text.find(_END, last + 1)
    if end >= 0:
        return last + 1, end
    # In an empty block, the last line break belongs to the closing fence.
    before = text.rfind("\n", inside, last)
    return (before + 1, last) if before >= 0 and text.startswith(_END, last) else None
